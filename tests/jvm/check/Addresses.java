import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Checks the addresses on top of stacks against what was mapped: the first line of the list is where `hot_loop` lies, the others are
 * those of /proc/self/maps.
 *
 *     java Addresses recording maps
 */
final class Addresses {
    private static final String TYPE = "Address";

    private record Mapping(long start, long end, boolean isCode, String file) {
        boolean holds(long address) {
            return Long.compareUnsigned(address, start) >= 0 && Long.compareUnsigned(address, end) < 0;
        }
    }

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        List<Mapping> maps = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[1]))) {
            String[] words = line.split("\\s+");
            String[] ends = words[0].split("-");
            String path = words.length > 5 ? words[5] : "";
            maps.add(new Mapping(Long.parseUnsignedLong(ends[0], 16), Long.parseUnsignedLong(ends[1], 16),
                    words[1].contains("x"), path.substring(path.lastIndexOf('/') + 1)));
        }
        Mapping hot = maps.remove(0);
        int inHot = 0;
        int inLibraries = 0;
        int inJava = 0;
        int elsewhere = 0;
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            List<RecordedFrame> frames = Samples.frames(sample);
            long count = frames.stream().filter(frame -> TYPE.equals(frame.getType())).count();
            String text = frames.get(0).getMethod().getName();
            if (count != 1 || !TYPE.equals(frames.get(0).getType()) || frames.size() < 2 || !text.matches("0x[0-9a-f]+")) {
                problems.add("%d addresses in a stack of %d frames, on top %s", count, frames.size(), text);
                continue;
            }
            long address = Long.parseUnsignedLong(text.substring(2), 16);
            RecordedFrame top = frames.get(1);
            String type = top.getMethod().getType().getName();
            Mapping mapping = maps.stream().filter(one -> one.isCode && one.holds(address)).findFirst().orElse(null);
            if (top.getMethod().getName().equals("hot_loop")) {
                inHot++;
                problems.addUnless(hot.holds(address), "%s is not in hot_loop", text);
            } else if (mapping == null) {
                elsewhere++;
            } else if (type.startsWith("lib") && type.contains(".so")) {
                inLibraries++;
                elsewhere += mapping.file.equals(type) ? 0 : 1;
            } else if (Samples.isJavaFrame(top) && !"Native".equals(top.getType())) {
                inJava++;
                elsewhere += mapping.file.isEmpty() ? 0 : 1;
            }
        }
        problems.addUnless(inHot > 0, "no sample in hot_loop");
        /* A library that was gone by then, a stack that begins below what could not be walked. */
        problems.addUnless(elsewhere * 10 <= inHot + inLibraries + inJava, "%d of %d addresses are not in what is named below them", elsewhere,
                inHot + inLibraries + inJava);
        problems.addUnless(inJava > 0, "no sample in code of Java");
        problems.finish(String.format("%d in hot_loop, %d in libraries, %d in code of Java, %d elsewhere%n", inHot, inLibraries, inJava,
                elsewhere));
    }
}
