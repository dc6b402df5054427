import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One chunk of a recording, read byte by byte with no help from jdk.jfr, whose reader forgives what
 * others do not: a reference to a missing constant, for instance, is a silent null there.
 * Source: the OpenJDK's format, version 2 (modules jdk.jfr of 17 and 25).
 */
final class RawChunk {
    static final int HEADER_BYTES = 68;
    static final int FLAG_COMPRESSED = 1;
    static final int FLAG_FINAL = 2;
    private static final int MAGIC = 0x464c5200;

    final ByteBuffer bytes; /* of this chunk alone, big-endian */
    final int major;
    final long startNanos;
    final long durationNanos;
    final long startTicks;
    final long ticksPerSecond;
    final int state;
    final int flags;
    final Map<Long, RawType> types = new HashMap<>();
    final Map<String, Long> eventCounts = new LinkedHashMap<>();
    /** Numbers of the events of some types, in the order of the file; "" holds the name of the type. */
    final List<Map<String, Object>> numbers = new ArrayList<>();
    /** class id -> key -> the bytes of the constant. */
    final Map<Long, Map<Long, ByteBuffer>> pools = new HashMap<>();

    private final long checkpointOffset;
    private final long metadataOffset;
    private final Problems problems;
    private final String name;
    private final Map<Long, Set<Long>> references = new HashMap<>();
    private final Map<String, String> referenceFrom = new HashMap<>();

    /** Splits a file into chunks. A file that is not made of whole chunks is a problem. */
    static List<RawChunk> split(ByteBuffer file, String fileName, Problems problems) {
        List<RawChunk> chunks = new ArrayList<>();
        int at = 0;
        while (at < file.limit()) {
            String name = fileName + " chunk " + chunks.size();
            if (file.limit() - at < HEADER_BYTES || file.getInt(at) != MAGIC) {
                problems.add("%s: no chunk header at byte %d of %d", name, at, file.limit());
                return chunks;
            }
            long size = file.getLong(at + 8);
            if (size < HEADER_BYTES || size > file.limit() - at) {
                problems.add("%s: size %d does not fit the file", name, size);
                return chunks;
            }
            chunks.add(new RawChunk(file.slice(at, (int) size), name, problems));
            at += (int) size;
        }
        return chunks;
    }

    private RawChunk(ByteBuffer bytes, String name, Problems problems) {
        this.bytes = bytes;
        this.name = name;
        this.problems = problems;
        major = bytes.getShort(4);
        checkpointOffset = bytes.getLong(16);
        metadataOffset = bytes.getLong(24);
        startNanos = bytes.getLong(32);
        durationNanos = bytes.getLong(40);
        startTicks = bytes.getLong(48);
        ticksPerSecond = bytes.getLong(56);
        state = bytes.get(64) & 0xff;
        flags = bytes.get(67) & 0xff;
    }

    String typeName(long id) {
        RawType type = types.get(id);
        return type == null ? "undeclared class " + id : type.name;
    }

    /** Reads everything; what is wrong goes to the problems. */
    void check() {
        problems.addUnless(major == 2, "%s: major version %d", name, major);
        problems.addUnless((flags & FLAG_COMPRESSED) != 0, "%s: integers not compressed", name);
        problems.addUnless(durationNanos > 0, "%s: duration %d ns", name, durationNanos);
        problems.addUnless(ticksPerSecond > 0, "%s: %d ticks a second", name, ticksPerSecond);
        problems.addUnless(bytes.getShort(65) == 0, "%s: padding of the header not 0", name);
        try {
            readMetadata();
            Set<Integer> chain = readCheckpoints();
            readEvents(chain);
            checkReferences();
        } catch (RuntimeException e) {
            problems.add("%s: cannot be parsed: %s", name, e);
        }
    }

    // Events --------------------------------------------------------------------------------------

    private void readEvents(Set<Integer> chain) {
        long endTicks = startTicks + (long) Math.ceil(durationNanos * (ticksPerSecond / 1e9)) + 1;
        for (int at = HEADER_BYTES; at < bytes.limit();) {
            Cursor in = new Cursor(at);
            long size = in.varint();
            long typeId = in.varint();
            if (size < 2 || size > bytes.limit() - at) {
                throw new IllegalStateException("event of " + size + " bytes at byte " + at);
            }
            int end = at + (int) size;
            if (typeId == 1) {
                problems.addUnless(chain.contains(at) || isWithoutPools(at),
                        "%s: checkpoint at byte %d is in no chain", name, at);
            } else if (typeId != 0) {
                readEvent(in, typeId, at, end, endTicks);
            }
            at = end;
        }
    }

    private void readEvent(Cursor in, long typeId, int at, int end, long endTicks) {
        RawType type = types.get(typeId);
        if (type == null || !type.isEvent) {
            /* An unknown type is padding: every reader steps over it. */
            eventCounts.merge("(padding)", 1L, Long::sum);
            return;
        }
        eventCounts.merge(type.name, 1L, Long::sum);
        problems.addUnless(!type.fields.isEmpty() && type.fields.get(0).name.equals("startTime"),
                "%s: first field of %s is not startTime", name, type.name);
        Cursor times = new Cursor(in.at);
        long start = times.varint();
        long duration = type.hasDuration() ? times.varint() : 0;
        long ended = start + duration; /* an event lies in the chunk in which it ended */
        problems.addUnless(ended >= startTicks && ended <= endTicks,
                "%s: %s at byte %d at tick %d, outside %d..%d", name, type.name, at, ended,
                startTicks, endTicks);
        problems.addUnless(duration >= 0, "%s: %s at byte %d lasts %d ticks", name, type.name, at,
                duration);
        in.where = type.name;
        if (Conservation.reads(type.name)) {
            numbers.add(new Cursor(in.at).numbers(type));
        }
        in.struct(type);
        problems.addUnless(in.at == end, "%s: %s at byte %d: %d bytes of content in %d", name,
                type.name, at, in.at - at, end - at);
    }

    // Constant pools ------------------------------------------------------------------------------

    private Set<Integer> readCheckpoints() {
        Set<Integer> chain = new LinkedHashSet<>();
        long at = checkpointOffset;
        while (at != 0) {
            if (at < HEADER_BYTES || at >= bytes.limit() || !chain.add((int) at)) {
                throw new IllegalStateException("checkpoint chain leads to byte " + at);
            }
            at = readCheckpoint((int) at);
        }
        return chain;
    }

    /** Offset of the checkpoint before it; 0 when it is the first. */
    private long readCheckpoint(int at) {
        Cursor in = new Cursor(at);
        long size = in.varint();
        problems.addUnless(in.varint() == 1, "%s: no checkpoint at byte %d", name, at);
        in.varint();
        in.varint();
        long delta = in.varint();
        in.at++; /* mask */
        long poolCount = in.varint();
        for (long pool = 0; pool < poolCount; pool++) {
            readPool(in);
        }
        problems.addUnless(in.at == at + size,
                "%s: checkpoint at byte %d: %d bytes of content in %d", name, at, in.at - at, size);
        return delta == 0 ? 0 : at + delta;
    }

    /** Nothing is lost of such a checkpoint: it is padding. */
    private boolean isWithoutPools(int at) {
        Cursor in = new Cursor(at);
        for (int i = 0; i < 5; i++) { /* size, type, start, duration, delta */
            in.varint();
        }
        in.at++; /* mask */
        return in.varint() == 0;
    }

    private void readPool(Cursor in) {
        long typeId = in.varint();
        RawType type = types.get(typeId);
        if (type == null) {
            throw new IllegalStateException("pool of undeclared class " + typeId);
        }
        long count = in.varint();
        problems.addUnless(count > 0, "%s: empty pool of %s", name, type.name);
        Map<Long, ByteBuffer> pool = pools.computeIfAbsent(typeId, id -> new HashMap<>());
        for (long i = 0; i < count; i++) {
            long key = in.varint();
            int start = in.at;
            in.where = type.name + " " + key;
            in.plain(type);
            ByteBuffer value = bytes.slice(start, in.at - start);
            ByteBuffer before = pool.put(key, value);
            problems.addUnless(before == null || before.equals(value), "%s: %s %d has two contents",
                    name, type.name, key);
        }
    }

    private void checkReferences() {
        references.forEach((typeId, keys) -> {
            Map<Long, ByteBuffer> pool = pools.getOrDefault(typeId, Map.of());
            for (long key : keys) {
                problems.addUnless(key == 0 || pool.containsKey(key),
                        "%s: %s refers to %s %d, which is missing", name,
                        referenceFrom.get(typeId + " " + key), typeName(typeId), key);
            }
        });
    }

    // Metadata ------------------------------------------------------------------------------------

    private void readMetadata() {
        Cursor in = new Cursor((int) metadataOffset);
        long size = in.varint();
        problems.addUnless(in.varint() == 0, "%s: no metadata at byte %d", name, metadataOffset);
        in.varint();
        in.varint();
        in.varint();
        String[] strings = new String[(int) in.varint()];
        for (int i = 0; i < strings.length; i++) {
            strings[i] = in.string();
        }
        readElement(in, strings, null);
        problems.addUnless(in.at == metadataOffset + size,
                "%s: metadata: %d bytes of content in %d", name, in.at - metadataOffset, size);
    }

    private void readElement(Cursor in, String[] strings, RawType parent) {
        String element = strings[(int) in.varint()];
        Map<String, String> attributes = new HashMap<>();
        for (long left = in.varint(); left > 0; left--) {
            String key = strings[(int) in.varint()];
            attributes.put(key, strings[(int) in.varint()]);
        }
        RawType type = parent;
        if (element.equals("class")) {
            long id = Long.parseLong(attributes.get("id"));
            type = new RawType(attributes.get("name"), id,
                    "jdk.jfr.Event".equals(attributes.get("superType")));
            problems.addUnless(
                    types.put(id, type) == null, "%s: class id %d declared twice", name, id);
        } else if (element.equals("field")) {
            parent.fields.add(new RawType.Field(attributes.get("name"),
                    Long.parseLong(attributes.get("class")),
                    "1".equals(attributes.get("dimension")),
                    "true".equals(attributes.get("constantPool"))));
        }
        for (long left = in.varint(); left > 0; left--) {
            readElement(in, strings, type);
        }
    }

    // Values --------------------------------------------------------------------------------------

    /** A place in the chunk, and how to step over what lies there. */
    private final class Cursor {
        int at;
        String where = "";

        Cursor(int at) {
            this.at = at;
        }

        long varint() {
            long value = 0;
            for (int i = 0; i < 8; i++) {
                byte b = bytes.get(at++);
                value |= (b & 0x7fL) << (7 * i);
                if (b >= 0) {
                    return value;
                }
            }
            return value | (bytes.get(at++) & 0xffL) << 56;
        }

        /** The text; for one in the pool null, after the reference was noted. */
        String string() {
            int encoding = bytes.get(at++);
            switch (encoding) {
            case 0:
                return null;
            case 1:
                return "";
            case 2:
                reference(stringTypeId());
                return null;
            case 3:
                return text(StandardCharsets.UTF_8);
            case 4:
                StringBuilder units = new StringBuilder();
                for (long left = varint(); left > 0; left--) {
                    units.append((char) varint());
                }
                return units.toString();
            case 5:
                return text(StandardCharsets.ISO_8859_1);
            default:
                throw new IllegalStateException(
                        "string encoding " + encoding + " at byte " + (at - 1));
            }
        }

        private String text(java.nio.charset.Charset charset) {
            byte[] text = new byte[(int) varint()];
            bytes.get(at, text);
            at += text.length;
            return new String(text, charset);
        }

        private long stringTypeId() {
            for (RawType type : types.values()) {
                if (type.name.equals("java.lang.String")) {
                    return type.id;
                }
            }
            throw new IllegalStateException("no class java.lang.String");
        }

        private void reference(long typeId) {
            long key = varint();
            if (references.computeIfAbsent(typeId, id -> new LinkedHashSet<>()).add(key)) {
                referenceFrom.put(typeId + " " + key, where);
            }
        }

        /** Plain integers of an event, by name, up to the first field of another kind that is no reference. */
        Map<String, Object> numbers(RawType type) {
            Map<String, Object> values = new HashMap<>();
            values.put("", type.name);
            for (RawType.Field field : type.fields) {
                String kind = types.get(field.typeId).name;
                if (field.isArray || !(field.isPooled || kind.equals("long") || kind.equals("int"))) {
                    break;
                }
                values.put(field.name, varint());
            }
            return values;
        }

        void struct(RawType type) {
            for (RawType.Field field : type.fields) {
                RawType fieldType = types.get(field.typeId);
                if (fieldType == null) {
                    throw new IllegalStateException(
                            type.name + "." + field.name + " is of no declared class");
                }
                for (long left = field.isArray ? varint() : 1; left > 0; left--) {
                    if (field.isPooled) {
                        reference(field.typeId);
                    } else {
                        plain(fieldType);
                    }
                }
            }
        }

        /** A value in place, of a primitive class or laid out by its fields. */
        void plain(RawType type) {
            switch (type.name) {
            case "boolean":
            case "byte":
                at++;
                break;
            case "char":
            case "short":
            case "int":
            case "long":
                varint();
                break;
            case "float":
                at += 4;
                break;
            case "double":
                at += 8;
                break;
            case "java.lang.String":
                string();
                break;
            default:
                problems.addUnless(!type.fields.isEmpty(), "%s: value of %s, which has no fields",
                        name, type.name);
                struct(type);
            }
        }
    }
}
