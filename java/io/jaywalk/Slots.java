package io.jaywalk;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The memory in which threads say what they work for, and the slot of the calling one.
 *
 * <p>A thread alone writes its slot, in an order that a signal between any two instructions may see: not valid, fence, fields,
 * fence, valid. What is kept for a thread are classes of the JDK alone, so that a thread of a pool does not keep the class loader
 * of an application that has long been replaced.
 *
 * <p>Layout, see src/context/context.h; numbers in the order of the machine, but for the ids of the record:
 *
 * <pre>
 *   0  owner 8   8  root span id 8   64  record: trace id 16, span id 8, valid 1, flags 1, bytes of attributes 2,
 *   attributes: key 1, length 1, bytes
 * </pre>
 */
final class Slots {
    static final int BYTES = 704;
    static final int OWNER = 0;
    static final int ROOT = 8;
    static final int TRACE = 64;
    static final int SPAN = TRACE + 16;
    static final int VALID = TRACE + 24;
    static final int SIZE = TRACE + 26;
    static final int ATTRIBUTES = TRACE + 28;
    static final int ROOM = 612;

    private static final boolean IS_LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    /** A view of all slots, positioned at that of the thread. */
    private static final ThreadLocal<ByteBuffer> MINE = new ThreadLocal<>();

    /** Of virtual threads, by slot, as long as they are not known to be gone; the slot of another one ends with its thread. */
    private static final ConcurrentHashMap<Integer, Owner> OWNERS = new ConcurrentHashMap<>();

    private static final ReferenceQueue<Thread> GONE = new ReferenceQueue<>();

    /** The thread worked for nothing. */
    static final Saved NOTHING = new Saved();

    private static volatile ByteBuffer all;

    private Slots() {}

    /** Tells that a virtual thread is gone that still had its slot. */
    private static final class Owner extends PhantomReference<Thread> {
        final int slot;
        final long number;

        Owner(Thread thread, int slot, long number) {
            super(thread, GONE);
            this.slot = slot;
            this.number = number;
        }
    }

    static void open() {
        all = Native.open(BYTES, TRACE, ROOM);
    }

    static boolean isOpen() {
        return all != null;
    }

    /** All slots, in the order of the machine. */
    static ByteBuffer everything() {
        return all.duplicate().order(ByteOrder.nativeOrder());
    }

    /** The slot of this thread, which has one from now on; null: none is left, or there is no agent. */
    static ByteBuffer mine() {
        ByteBuffer mine = MINE.get();
        return mine != null && isStillMine(mine) ? mine : bind();
    }

    /** Likewise; null: it has none. */
    static ByteBuffer mineIfAny() {
        ByteBuffer mine = MINE.get();
        return mine != null && isStillMine(mine) ? mine : null;
    }

    /** Likewise, also where others gave it one: the agent does, while the thread serves a request (endpoints=). */
    static ByteBuffer mineOrKnown() {
        ByteBuffer mine = mineIfAny();
        return mine != null || all == null || Native.find(Thread.currentThread()) < 0 ? mine : bind();
    }

    /** A second copy of these classes may have given the slot of a virtual thread back. */
    private static boolean isStillMine(ByteBuffer mine) {
        return !Platform.HAS_VIRTUAL
            || mine.getLong(mine.position() + OWNER) == Platform.threadId(Thread.currentThread());
    }

    static int number(ByteBuffer slot) {
        return slot == null ? -1 : slot.position() / BYTES;
    }

    private static ByteBuffer bind() {
        if (all == null) {
            return null;
        }
        giveBackOfGone();
        Thread thread = Thread.currentThread();
        boolean isVirtual = Platform.isVirtual(thread);
        int slot = Native.bind(thread, isVirtual);
        if (slot < 0) {
            return null;
        }
        ByteBuffer mine = everything();
        mine.position(slot * BYTES);
        if (isVirtual) {
            OWNERS.put(slot, new Owner(thread, slot, mine.getLong(mine.position() + OWNER)));
        }
        MINE.set(mine);
        return mine;
    }

    private static void giveBackOfGone() {
        for (Owner owner = (Owner) GONE.poll(); owner != null; owner = (Owner) GONE.poll()) {
            OWNERS.remove(owner.slot, owner);
            Native.unbind(owner.slot, owner.number);
        }
    }

    /** A virtual thread whose context is empty needs no slot. */
    private static void giveBackIfEmpty(ByteBuffer b) {
        int at = b.position();
        if (Platform.HAS_VIRTUAL && b.getShort(at + SIZE) == 0
            && (b.getLong(at + TRACE) | b.getLong(at + TRACE + 8) | b.getLong(at + SPAN) | b.getLong(at + ROOT)) == 0
            && Platform.isVirtual(Thread.currentThread())) {
            MINE.set(null);
            OWNERS.remove(at / BYTES);
            Native.unbind(at / BYTES, b.getLong(at + OWNER));
        }
    }

    /** Between these two nobody reads the record. */
    private static void begin(ByteBuffer b, int at) {
        b.put(at + VALID, (byte) 0);
        Platform.releaseFence();
    }

    private static void end(ByteBuffer b, int at) {
        Platform.releaseFence();
        b.put(at + VALID, (byte) 1);
    }

    private static long bigEndian(long id) {
        return IS_LITTLE ? Long.reverseBytes(id) : id;
    }

    private static void putIds(ByteBuffer b, int at, long first, long second, long spanId, long rootSpanId) {
        b.putLong(at + ROOT, rootSpanId);
        b.putLong(at + TRACE, first);
        b.putLong(at + TRACE + 8, second);
        b.putLong(at + SPAN, spanId);
    }

    static boolean setIds(long traceIdHigh, long traceIdLow, long spanId, long rootSpanId) {
        ByteBuffer b = mine();
        if (b == null) {
            return false;
        }
        int at = b.position();
        begin(b, at);
        putIds(b, at, bigEndian(traceIdHigh), bigEndian(traceIdLow), bigEndian(spanId), rootSpanId);
        end(b, at);
        return true;
    }

    /** Ids and attributes. */
    static void clear() {
        ByteBuffer b = mineIfAny();
        if (b == null) {
            return;
        }
        int at = b.position();
        begin(b, at);
        putIds(b, at, 0, 0, 0, 0);
        b.putShort(at + SIZE, (short) 0);
        end(b, at);
        giveBackIfEmpty(b);
    }

    /** Sets the attribute {@code key} to a value, or with null to none. False: there is no slot or no room; then it has none. */
    static boolean setAttribute(int key, Text value) {
        ByteBuffer b = value == null ? mineIfAny() : mine();
        if (b == null) {
            return value == null;
        }
        int at = b.position();
        int size = b.getShort(at + SIZE);
        int found = find(b, at + ATTRIBUTES, size, key);
        if (found == size && value == null) {
            return true;
        }

        begin(b, at);
        boolean isSet = value == null;
        int others = size;
        if (found < size) {
            int behind = found + 2 + lengthAt(b, at, found);
            /* One that keeps its length, or is the last one anyway, keeps its place. */
            if (value != null && behind < size && behind - found == 2 + value.length) {
                putBytes(b, at + ATTRIBUTES + found + 2, value);
                end(b, at);
                return true;
            }
            others = behind < size ? remove(b, at, found, behind, size) : found;
        }
        if (value != null && others + 2 + value.length <= ROOM) {
            append(b, at + ATTRIBUTES + others, at + BYTES, key, value);
            others += 2 + value.length;
            isSet = true;
        }
        b.putShort(at + SIZE, (short) others);
        end(b, at);
        if (value == null) {
            giveBackIfEmpty(b);
        }
        return isSet;
    }

    private static int lengthAt(ByteBuffer b, int at, int offset) {
        return b.get(at + ATTRIBUTES + offset + 1) & 0xff;
    }

    /** Where the attribute lies; {@code size}: nowhere. */
    private static int find(ByteBuffer b, int from, int size, int key) {
        int offset = 0;
        while (offset < size && b.get(from + offset) != key) {
            offset += 2 + (b.get(from + offset + 1) & 0xff);
        }
        return Math.min(offset, size);
    }

    /** Closes the gap, and gives the size that is left. */
    private static int remove(ByteBuffer b, int at, int offset, int behind, int size) {
        int from = at + ATTRIBUTES;
        for (int i = behind; i < size; i++) {
            b.put(from + i - (behind - offset), b.get(from + i));
        }
        return size - (behind - offset);
    }

    private static void append(ByteBuffer b, int to, int limit, int key, Text value) {
        b.put(to, (byte) key);
        b.put(to + 1, (byte) value.length);
        if (to + 2 + value.words.length * 8 > limit) {
            putBytes(b, to + 2, value);
            return;
        }
        /* Behind the last attribute is nothing that whole words could overwrite. */
        for (int i = 0; i < value.words.length; i++) {
            b.putLong(to + 2 + i * 8, value.words[i]);
        }
    }

    private static void putBytes(ByteBuffer b, int to, Text value) {
        for (int i = 0; i < value.length; i++) {
            int shift = (IS_LITTLE ? i & 7 : 7 - (i & 7)) * 8;
            b.put(to + i, (byte) (value.words[i >> 3] >>> shift));
        }
    }

    /** What a scope puts back. */
    static final class Saved {
        private final long first;
        private final long second;
        private final long spanId;
        private final long rootSpanId;
        private final short size;
        private final long[] attributes;

        Saved(ByteBuffer b) {
            int at = b.position();
            first = b.getLong(at + TRACE);
            second = b.getLong(at + TRACE + 8);
            spanId = b.getLong(at + SPAN);
            rootSpanId = b.getLong(at + ROOT);
            size = b.getShort(at + SIZE);
            attributes = size == 0 ? null : new long[(size + 7) >> 3];
            for (int i = 0; i << 3 < size; i++) {
                attributes[i] = wordAt(b, at + ATTRIBUTES + (i << 3), at + BYTES);
            }
        }

        private Saved() {
            first = second = spanId = rootSpanId = 0;
            size = 0;
            attributes = null;
        }

        void putBack() {
            ByteBuffer b = this == NOTHING ? mineIfAny() : mine();
            if (b == null) {
                return;
            }
            int at = b.position();
            begin(b, at);
            putIds(b, at, first, second, spanId, rootSpanId);
            for (int i = 0; i << 3 < size; i++) {
                putWord(b, at + ATTRIBUTES + (i << 3), at + BYTES, attributes[i]);
            }
            b.putShort(at + SIZE, size);
            end(b, at);
            giveBackIfEmpty(b);
        }
    }

    /** The last four bytes of a slot are half a word. */
    private static long wordAt(ByteBuffer b, int from, int limit) {
        return from + 8 <= limit ? b.getLong(from) : b.getInt(from);
    }

    private static void putWord(ByteBuffer b, int to, int limit, long word) {
        if (to + 8 <= limit) {
            b.putLong(to, word);
        } else {
            b.putInt(to, (int) word);
        }
    }
}
