import java.nio.ByteBuffer;

/** A storm of libchaos.so (chaos.h): rounds of a second, of which each tells what went wrong. */
class NativeStorm implements Storm {
    static {
        System.loadLibrary("chaos");
    }

    private static final int ROUND_MS = 1000;

    private final String name;

    NativeStorm(String name) {
        this.name = name;
    }

    /** Lines: `did N`, then `violated ...` and `skipped ...`. */
    private static native String round(String storm, long ms, long seed, int intensity, String directory);

    @Override
    public String name() {
        return name;
    }

    @Override
    public void run(Run run) {
        while (run.goesOn()) {
            if (!tell(run, round(name, ROUND_MS, run.random().nextLong(), run.intensity(),
                    run.directory().toString()))) {
                return;
            }
        }
    }

    /** False when the storm cannot go on here. */
    private static boolean tell(Run run, String report) {
        boolean goesOn = true;
        for (String line : report.split("\n")) {
            String[] parts = line.split(" ", 2);
            switch (parts[0]) {
                case "did":
                    run.did(Long.parseLong(parts[1]));
                    break;
                case "skipped":
                    run.skipped(parts[1]);
                    goesOn = false;
                    break;
                default:
                    run.violated(parts.length > 1 ? parts[1] : line);
            }
        }
        return goesOn;
    }

    /* Called from C: */

    /** The number that a thread is told, by way of the Java heap. */
    static int up(int number) {
        int[] boxed = new int[8 + (number & 7)];
        boxed[number & 7] = number;
        return boxed[number & 7] * 3 + 1;
    }

    /** Who the caller is: name, and whether it is a daemon. */
    static String self() {
        Thread thread = Thread.currentThread();
        return (thread.isDaemon() ? "daemon " : "user ") + thread.getName();
    }

    /** As deep in Java frames, with the answer of `up` at the end. */
    static int deep(int depth, int number) {
        return depth == 0 ? up(number) : deep(depth - 1, number);
    }

    /** Of the references storm: an exception thrown in C at the bottom is caught on its way, not everywhere. */
    static int bounce(int depth, int number) {
        try {
            return bounceNative(depth, number);
        } catch (ArithmeticException e) {
            if (depth % 4 != number % 4) {
                throw e;
            }
            return number + depth;
        }
    }

    private static native int bounceNative(int depth, int number);

    /** Registered by C, as one or the other. */
    private static native int registered();

    static int callRegistered(int times) {
        int sum = 0;
        for (int i = 0; i < times; i++) {
            sum += registered();
        }
        return sum;
    }

    static long sumAndWipe(ByteBuffer buffer) {
        long sum = 0;
        for (int i = 0; i < buffer.capacity(); i++) {
            sum += buffer.get(i) & 0xff;
            buffer.put(i, (byte) 0);
        }
        return sum;
    }

    /** Of the overflow storm: down by way of C, as deep as it goes; answers how deep that was. */
    static int fall() {
        return down(4);
    }

    static int down(int depth) {
        try {
            return downNative(depth);
        } catch (StackOverflowError e) {
            if (depth % 4 != 0) {
                throw e;
            }
            return depth;
        }
    }

    private static native int downNative(int depth);

    /** Of the segv storm: every second object is null, and the JVM notices by a fault. */
    static int nulls(int times) {
        int caught = 0;
        for (int i = 0; i < times; i++) {
            int[] some = (i & 1) == 0 ? null : new int[i & 15];
            try {
                if (some.length > 15) {
                    return -1;
                }
            } catch (NullPointerException e) {
                caught++;
            }
        }
        return caught;
    }
}

/** Native threads come, attach or not, and go in every way there is. */
class AttachStorm extends NativeStorm {
    AttachStorm() {
        super("attach");
    }
}

/** Thread-local storage: keys, destructors that set keys again, blocks of libraries that came later. */
class TlsStorm extends NativeStorm {
    TlsStorm() {
        super("tls");
    }
}

/** Libraries come, are called and go, while others ask the dynamic linker and unwind. */
class LibrariesStorm extends NativeStorm {
    LibrariesStorm() {
        super("libraries");
    }
}

/** The C library's heap, passed from thread to thread, and from process to child. */
class MallocStorm extends NativeStorm {
    MallocStorm() {
        super("malloc");
    }
}

/** The smallest stacks, those of coroutines, those that signals have of their own. */
class StacksStorm extends NativeStorm {
    StacksStorm() {
        super("stacks");
    }
}

/** Frame pointers that are none, stack pointers elsewhere, and every register back as it was. */
class FramesStorm extends NativeStorm {
    FramesStorm() {
        super("frames");
    }
}

/** Code in memory that nobody described, which calls Java. */
class GeneratedStorm extends NativeStorm {
    GeneratedStorm() {
        super("generated");
    }
}

/** Threads that block signals, wait for them, and are sent those of others. */
class BlockedStorm extends NativeStorm {
    BlockedStorm() {
        super("blocked");
    }
}

/** A library that takes SIGSEGV for itself. */
class SegvStorm extends NativeStorm {
    SegvStorm() {
        super("segv");
    }

    @Override
    public boolean isOnlyByName() {
        return true;
    }
}

/** Arrays and strings held against the collector, while processors burn. */
class CriticalStorm extends NativeStorm {
    CriticalStorm() {
        super("critical");
    }
}

/** References of JNI, exceptions through it, natives registered anew, memory seen by both. */
class ReferencesStorm extends NativeStorm {
    ReferencesStorm() {
        super("references");
    }
}

/** Children of every kind, and what they inherit. */
class ChildrenStorm extends NativeStorm {
    ChildrenStorm() {
        super("children");
    }
}

/** System calls that wait: none ends with EINTR, none early. */
class WaitsStorm extends NativeStorm {
    WaitsStorm() {
        super("waits");
    }
}

/** Bytes through pipes, sockets and descriptors of events: each comes once. */
class BytesStorm extends NativeStorm {
    BytesStorm() {
        super("bytes");
    }
}

/** Timers and clocks of the program's own. */
class ClocksStorm extends NativeStorm {
    ClocksStorm() {
        super("clocks");
    }
}

/** Numbers of descriptors used again at once, and nearly used up. */
class DescriptorsStorm extends NativeStorm {
    DescriptorsStorm() {
        super("descriptors");
    }
}

/** Stacks that end in C that Java called. */
class OverflowStorm extends NativeStorm {
    OverflowStorm() {
        super("overflow");
    }
}

/** Long and rare system calls: memory for files, several messages at once, rings. */
class KernelStorm extends NativeStorm {
    KernelStorm() {
        super("kernel");
    }
}
