import java.io.File;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.Checksum;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Code that lives in the JVM's generated stubs, where a stack is hardest to walk: copies, fills,
 * checksums, ciphers, digests, big integers, mathematics, base 64, megamorphic calls, allocation,
 * monitors, exceptions, sorting. Each kind is one `kernel` method. The thread's own clock, read
 * around each slice, says what each kernel used, and what the thread used elsewhere.
 *
 *     java Stubs [SECONDS [FILE]]        CPU seconds of each of two threads, at least, and until the file is there; with the
 *                                        profiler's jar on the class path: from when it can walk the JVM's own frames
 *     -XX:CompileCommand=dontinline,Stubs::kernel*
 */
final class Stubs implements Runnable {
    private static final int THREADS = 2;

    static volatile long sink;
    private static final Object SHARED = new Object();
    private static final Map<String, Long> ACCOUNT = new TreeMap<>();

    private final BooleanSupplier goesOn;
    private final Random random;
    private final Map<String, IntConsumer> kernels = new TreeMap<>();
    private final byte[] bytes = new byte[8_192];
    private final byte[] copy = new byte[8_192];
    private final int[] ints = new int[1_024];
    private final int[] unsorted = new int[1_024];
    private final Object[] objects = new Object[512];
    private final Object[] objectCopy = new Object[512];

    Stubs(BooleanSupplier goesOn, long seed) throws Exception {
        this.goesOn = goesOn;
        random = new Random(seed);
        random.nextBytes(bytes);
        Arrays.fill(objects, "object");
        for (int i = 0; i < unsorted.length; i++) {
            unsorted[i] = random.nextInt();
        }
        addKernels();
    }

    private void addKernels() throws Exception {
        Checksum crc32 = new CRC32();
        Checksum adler32 = new Adler32();
        Cipher encrypt = cipher(Cipher.ENCRYPT_MODE);
        Cipher decrypt = cipher(Cipher.DECRYPT_MODE);
        MessageDigest md5 = MessageDigest.getInstance("MD5");
        MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
        MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
        MessageDigest sha512 = MessageDigest.getInstance("SHA-512");
        BigInteger left = new BigInteger(2_048, random);
        BigInteger right = new BigInteger(2_048, random);
        BigInteger modulus = new BigInteger(512, random).setBit(0);

        kernels.put("kernelArrayCopy", this::kernelArrayCopy);
        kernels.put("kernelObjectCopy", this::kernelObjectCopy);
        kernels.put("kernelFill", this::kernelFill);
        kernels.put("kernelCrc32", rounds -> kernelCrc32(crc32, rounds));
        kernels.put("kernelAdler32", rounds -> kernelAdler32(adler32, rounds));
        kernels.put("kernelEncrypt", rounds -> kernelEncrypt(encrypt, rounds));
        kernels.put("kernelDecrypt", rounds -> kernelDecrypt(decrypt, rounds));
        kernels.put("kernelMd5", rounds -> kernelMd5(md5, rounds));
        kernels.put("kernelSha1", rounds -> kernelSha1(sha1, rounds));
        kernels.put("kernelSha256", rounds -> kernelSha256(sha256, rounds));
        kernels.put("kernelSha512", rounds -> kernelSha512(sha512, rounds));
        kernels.put("kernelMultiply", rounds -> kernelMultiply(left, right, rounds));
        kernels.put("kernelSquare", rounds -> kernelSquare(left, rounds));
        kernels.put("kernelModPow", rounds -> kernelModPow(left, right, modulus, rounds));
        kernels.put("kernelSine", this::kernelSine);
        kernels.put("kernelPower", this::kernelPower);
        kernels.put("kernelBase64", this::kernelBase64);
        kernels.put("kernelVirtual", this::kernelVirtual);
        kernels.put("kernelInterface", this::kernelInterface);
        kernels.put("kernelAllocation", this::kernelAllocation);
        kernels.put("kernelMonitor", this::kernelMonitor);
        kernels.put("kernelException", this::kernelException);
        kernels.put("kernelSort", this::kernelSort);
        kernels.put("kernelString", this::kernelString);
        Checksum crc32c = crc32c();
        if (crc32c != null) {
            kernels.put("kernelCrc32c", rounds -> kernelCrc32c(crc32c, rounds));
        }
    }

    /** java.util.zip.CRC32C came with JDK 9; null before. */
    private static Checksum crc32c() throws Exception {
        try {
            return (Checksum) Class.forName("java.util.zip.CRC32C").getConstructor().newInstance();
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    private static Cipher cipher(int mode) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/CBC/NoPadding");
        cipher.init(
                mode, new SecretKeySpec(new byte[16], "AES"), new IvParameterSpec(new byte[16]));
        return cipher;
    }

    public static void main(String[] args) throws Exception {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 10;
        if (Profiler.isAsked()) {
            Profiler.awaitRows();
        }
        File until = args.length > 1 ? new File(args[1]) : null;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            long cpuNs = (long) (seconds * 1e9);
            BooleanSupplier goesOn = until == null ? () -> Threads.cpuNs() < cpuNs
                                                   : () -> Threads.cpuNs() < cpuNs || !until.exists();
            Thread thread = new Thread(new Stubs(goesOn, i), "stubs-" + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        // An emulator is so slow that the agent's thread, which names what was sampled, could not keep up.
        if (Boolean.getBoolean("stubs.lingers")) {
            Threads.awaitRest("jaywalk");
        }
        ACCOUNT.forEach((kernel, usedNs)
                                -> System.out.println("share "
                                        + (kernel.equals("elsewhere") ? "" : "Stubs.") + kernel
                                        + " " + usedNs));
    }

    @Override
    public void run() {
        List<String> names = new ArrayList<>(kernels.keySet());
        Map<String, Long> usedNs = new TreeMap<>();
        Map<String, Long> roundNs = new TreeMap<>();
        while (goesOn.getAsBoolean()) {
            String name = names.get(random.nextInt(names.size()));
            /* So long that what lies between two of them is well below a hundredth, on a busy machine too. */
            long wantedNs = 600_000 + random.nextInt(10_000_000);
            int rounds =
                    (int) Math.max(1, wantedNs / Math.max(20, roundNs.getOrDefault(name, 20_000L)));
            long before = Threads.cpuNs();
            kernels.get(name).accept(rounds);
            long took = Threads.cpuNs() - before;
            usedNs.merge(name, took, Long::sum);
            roundNs.merge(name, took / rounds, (known, now) -> (known * 3 + now) / 4);
        }
        long inKernels = usedNs.values().stream().mapToLong(Long::longValue).sum();
        synchronized (ACCOUNT) {
            ACCOUNT.merge("elsewhere", Threads.cpuNs() - inKernels, Long::sum);
            usedNs.forEach((name, used) -> ACCOUNT.merge(name, used, Long::sum));
        }
    }

    // Kernels -------------------------------------------------------------------------------------

    private void kernelArrayCopy(int rounds) {
        for (int i = 0; i < rounds; i++) {
            System.arraycopy(bytes, i & 63, copy, i & 31, 4_096 + (i & 1_023));
            System.arraycopy(ints, 0, ints, 1 + (i & 15), 512);
            System.arraycopy(bytes, 3, copy, 5, 40 + (i & 31));
        }
    }

    private void kernelObjectCopy(int rounds) {
        for (int i = 0; i < rounds; i++) {
            System.arraycopy(objects, 0, objectCopy, i & 15, 400);
        }
    }

    private void kernelFill(int rounds) {
        for (int i = 0; i < rounds; i++) {
            Arrays.fill(copy, (byte) i);
            Arrays.fill(ints, i);
        }
    }

    private void kernelCrc32(Checksum checksum, int rounds) {
        for (int i = 0; i < rounds; i++) {
            checksum.update(bytes, 0, bytes.length);
        }
        sink = checksum.getValue();
    }

    private void kernelCrc32c(Checksum checksum, int rounds) {
        for (int i = 0; i < rounds; i++) {
            checksum.update(bytes, 0, bytes.length);
        }
        sink = checksum.getValue();
    }

    private void kernelAdler32(Checksum checksum, int rounds) {
        for (int i = 0; i < rounds; i++) {
            checksum.update(bytes, 0, bytes.length);
        }
        sink = checksum.getValue();
    }

    private void kernelEncrypt(Cipher cipher, int rounds) {
        crypt(cipher, rounds);
    }

    private void kernelDecrypt(Cipher cipher, int rounds) {
        crypt(cipher, rounds);
    }

    private void crypt(Cipher cipher, int rounds) {
        try {
            for (int i = 0; i < rounds; i++) {
                cipher.doFinal(bytes, 0, bytes.length, copy, 0);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void kernelMd5(MessageDigest digest, int rounds) {
        for (int i = 0; i < rounds; i++) {
            digest.update(bytes);
        }
    }

    private void kernelSha1(MessageDigest digest, int rounds) {
        for (int i = 0; i < rounds; i++) {
            digest.update(bytes);
        }
    }

    private void kernelSha256(MessageDigest digest, int rounds) {
        for (int i = 0; i < rounds; i++) {
            digest.update(bytes);
        }
    }

    private void kernelSha512(MessageDigest digest, int rounds) {
        for (int i = 0; i < rounds; i++) {
            digest.update(bytes);
        }
    }

    private void kernelMultiply(BigInteger left, BigInteger right, int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink = left.multiply(right).signum();
        }
    }

    private void kernelSquare(BigInteger value, int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink = value.multiply(value).signum();
        }
    }

    private void kernelModPow(
            BigInteger base, BigInteger exponent, BigInteger modulus, int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink = base.modPow(exponent, modulus).signum();
        }
    }

    private void kernelSine(int rounds) {
        double sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += Math.sin(sum + i) + Math.cos(i) + Math.tan(i);
        }
        sink = (long) sum;
    }

    private void kernelPower(int rounds) {
        double sum = 1;
        for (int i = 0; i < rounds; i++) {
            sum += Math.pow(1.0001, i & 255) + Math.log(sum) + Math.exp(-sum) + Math.log10(sum);
        }
        sink = (long) sum;
    }

    private void kernelBase64(int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink = Base64.getDecoder().decode(Base64.getEncoder().encode(bytes)).length;
        }
    }

    private void kernelVirtual(int rounds) {
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            for (Animal animal : ANIMALS) {
                sum += animal.legs(i);
            }
        }
        sink = sum;
    }

    private void kernelInterface(int rounds) {
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            for (Singer singer : ANIMALS) {
                sum += singer.sing(i);
            }
        }
        sink = sum;
    }

    private void kernelAllocation(int rounds) {
        for (int i = 0; i < rounds; i++) {
            objects[i & 511] = new long[32 + (i & 63)];
            objects[i * 7 & 511] = new ArrayList<Object>(4);
        }
        Arrays.fill(objects, "object");
    }

    private void kernelMonitor(int rounds) {
        for (int i = 0; i < rounds; i++) {
            synchronized (SHARED) {
                sink++;
            }
            synchronized (this) {
                sink++;
            }
        }
    }

    private void kernelException(int rounds) {
        for (int i = 0; i < rounds; i++) {
            try {
                thrower(i);
            } catch (IllegalStateException e) {
                sink += e.getMessage().length();
            }
        }
    }

    private static void thrower(int i) {
        throw new IllegalStateException(i % 2 == 0 ? "even" : "odd");
    }

    private void kernelSort(int rounds) {
        for (int i = 0; i < rounds; i++) {
            System.arraycopy(unsorted, 0, ints, 0, ints.length);
            Arrays.sort(ints);
        }
    }

    private void kernelString(int rounds) {
        for (int i = 0; i < rounds; i++) {
            String text = new String(bytes, 0, 200, StandardCharsets.ISO_8859_1);
            sink += text.indexOf("xyz") + text.hashCode() + text.toUpperCase().compareTo(text) +
                    (text + i).getBytes(StandardCharsets.UTF_8).length;
        }
    }

    // Receivers -----------------------------------------------------------------------------------

    private static final Animal[] ANIMALS = {
            new Cat(), new Bird(), new Ant(), new Snail(), new Crab()};

    private interface Singer {
        int sing(int n);
    }

    private abstract static class Animal implements Singer { abstract int legs(int n); }

    private static final class Cat extends Animal {
        @Override
        int legs(int n) {
            return 4 + n;
        }

        @Override
        public int sing(int n) {
            return n ^ 1;
        }
    }

    private static final class Bird extends Animal {
        @Override
        int legs(int n) {
            return 2 - n;
        }

        @Override
        public int sing(int n) {
            return n ^ 2;
        }
    }

    private static final class Ant extends Animal {
        @Override
        int legs(int n) {
            return 6 ^ n;
        }

        @Override
        public int sing(int n) {
            return n ^ 3;
        }
    }

    private static final class Snail extends Animal {
        @Override
        int legs(int n) {
            return n;
        }

        @Override
        public int sing(int n) {
            return n ^ 4;
        }
    }

    private static final class Crab extends Animal {
        @Override
        int legs(int n) {
            return 10 * n;
        }

        @Override
        public int sing(int n) {
            return n ^ 5;
        }
    }
}
