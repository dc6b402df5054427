import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * A program that works on data, in one thread: lines of a log are made, parsed with a regular expression, sorted, grouped with
 * streams, compressed and decompressed again. All of it allocates.
 *
 *     java Data UNITS
 */
final class Data {
    private static final int LINES = 400;
    private static final Pattern LINE =
            Pattern.compile("(\\d+) (GET|PUT|POST) (/[a-z/]+)\\?id=(\\d+) status=(\\d{3}) took=(\\d+)us");
    private static final String[] METHODS = {"GET", "PUT", "POST"};
    private static final String[] PATHS = {"/orders", "/orders/lines", "/stock", "/users/login", "/search"};

    private static final class Entry {
        final long time;
        final String path;
        final int status;
        final int tookUs;

        Entry(long time, String path, int status, int tookUs) {
            this.time = time;
            this.path = path;
            this.status = status;
            this.tookUs = tookUs;
        }
    }

    private Data() {
    }

    public static void main(String[] args) throws Exception {
        Fixed.measure(Data::units, Integer.parseInt(args[0]));
    }

    private static long units(int first, int count) throws Exception {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += unit(first + i);
        }
        return sum;
    }

    private static long unit(int number) throws Exception {
        String log = made(new Random(number));
        List<Entry> entries = Arrays.stream(log.split("\n")).map(Data::parsed).collect(Collectors.toList());
        entries.sort(Comparator.comparingInt((Entry entry) -> entry.tookUs).thenComparingLong(entry -> entry.time));
        Map<String, Long> byPath = entries.stream().filter(entry -> entry.status < 500).collect(
                Collectors.groupingBy(entry -> entry.path, TreeMap::new, Collectors.summingLong(entry -> entry.tookUs)));
        byte[] packed = deflated(log.getBytes(StandardCharsets.UTF_8));
        CRC32 crc = new CRC32();
        crc.update(inflated(packed, log.length()));
        return byPath.hashCode() + entries.get(LINES / 2).time + crc.getValue();
    }

    private static String made(Random random) {
        StringBuilder log = new StringBuilder();
        long time = 1_700_000_000_000L;
        for (int i = 0; i < LINES; i++) {
            time += random.nextInt(1000);
            log.append(time).append(' ').append(METHODS[random.nextInt(METHODS.length)]).append(' ')
                    .append(PATHS[random.nextInt(PATHS.length)]).append("?id=").append(random.nextInt(1 << 20))
                    .append(" status=").append(random.nextInt(20) == 0 ? 503 : 200).append(" took=")
                    .append(random.nextInt(100_000)).append("us\n");
        }
        return log.toString();
    }

    private static Entry parsed(String line) {
        Matcher matcher = LINE.matcher(line);
        if (!matcher.matches()) {
            throw new IllegalStateException(line);
        }
        return new Entry(Long.parseLong(matcher.group(1)), matcher.group(3), Integer.parseInt(matcher.group(5)),
                Integer.parseInt(matcher.group(6)));
    }

    private static byte[] deflated(byte[] bytes) {
        Deflater deflater = new Deflater();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] piece = new byte[4096];
        deflater.setInput(bytes);
        deflater.finish();
        while (!deflater.finished()) {
            out.write(piece, 0, deflater.deflate(piece));
        }
        deflater.end();
        return out.toByteArray();
    }

    private static byte[] inflated(byte[] packed, int length) throws Exception {
        Inflater inflater = new Inflater();
        byte[] bytes = new byte[length];
        inflater.setInput(packed);
        int count = 0;
        while (!inflater.finished()) {
            count += inflater.inflate(bytes, count, length - count);
        }
        inflater.end();
        return bytes;
    }
}
