import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The JDK's own compiler on a tree of sources that is made in memory: generic classes that call each other, with lambdas, streams,
 * switches and nested types. The class files stay in memory, too, and their bytes are the result.
 *
 *     java Compile UNITS      units of four source files each
 */
final class Compile {
    private static final int FILES = 4;

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name.replace('.', '/') + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private static final class Classes extends ForwardingJavaFileManager<JavaFileManager> {
        final Map<String, ByteArrayOutputStream> written = new TreeMap<>();

        Classes(JavaFileManager under) {
            super(under);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            written.put(name, bytes);
            return new SimpleJavaFileObject(URI.create("memory:///" + name + ".class"), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return bytes;
                }
            };
        }

        long result() {
            long sum = 0;
            for (Map.Entry<String, ByteArrayOutputStream> one : written.entrySet()) {
                sum = sum * 31 + one.getKey().hashCode() + Arrays.hashCode(one.getValue().toByteArray());
            }
            return sum;
        }
    }

    private Compile() {
    }

    public static void main(String[] args) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (JavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            Fixed.measure((first, count) -> units(compiler, files, first, count), Integer.parseInt(args[0]));
        }
    }

    private static long units(JavaCompiler compiler, JavaFileManager files, int first, int count) {
        long sum = 0;
        for (int unit = first; unit < first + count; unit++) {
            List<Source> sources = new ArrayList<>();
            for (int i = 0; i < FILES; i++) {
                sources.add(new Source("made.Class" + i, text(i, unit)));
            }
            Classes classes = new Classes(files);
            if (!compiler.getTask(null, classes, null, List.of("-proc:none", "-nowarn"), null, sources).call()) {
                throw new IllegalStateException("the made sources do not compile");
            }
            sum += classes.result();
        }
        return sum;
    }

    private static String text(int number, int unit) {
        int next = (number + 1) % FILES;
        StringBuilder text = new StringBuilder();
        text.append("package made;\nimport java.util.*;\nimport java.util.function.*;\nimport java.util.stream.*;\n");
        text.append("public final class Class").append(number).append("<T extends Comparable<T>> {\n");
        text.append("  private final List<T> items = new ArrayList<>();\n  private int state = ").append(unit).append(";\n");
        text.append("  public interface Visitor<R> { R visit(int value); }\n");
        for (int i = 0; i < 10; i++) {
            text.append("  public List<T> group").append(i).append("(Predicate<? super T> wanted) {\n")
                    .append("    List<T> out = new ArrayList<>();\n    for (T item : items) {\n      if (wanted.test(item)) {\n")
                    .append("        out.add(item);\n      }\n    }\n    Collections.sort(out);\n    return out;\n  }\n")
                    .append("  public long count").append(i).append("() {\n    return items.stream().filter(item -> item.hashCode() % ")
                    .append(i + 2).append(" == 0).count();\n  }\n");
            text.append("  public String name").append(i).append("(int value) {\n    StringBuilder out = new StringBuilder();\n")
                    .append("    for (int k = 0; k < value; k++) {\n      switch (k % 5) {\n        case 0: out.append(\"zero\").append(state); break;\n")
                    .append("        case 1: out.append(value * ").append(i * 7 + unit).append("L); break;\n")
                    .append("        case 2: state += k; break;\n        default: int next = new Class").append(next)
                    .append("<String>().<Integer>state(k, x -> x + ").append(i).append("); out.append(next); break;\n      }\n    }\n    return out.toString();\n  }\n");
        }
        text.append("  public <R> R state(int value, Visitor<R> visitor) { return visitor.visit(state + value); }\n");
        return text.append("}\n").toString();
    }
}
