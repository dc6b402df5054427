import java.util.ArrayList;
import java.util.List;

/** A class of a chunk's metadata: how its values are laid out. */
final class RawType {
    static final class Field {
        final String name;
        final long typeId;
        final boolean isArray;
        final boolean isPooled;

        Field(String name, long typeId, boolean isArray, boolean isPooled) {
            this.name = name;
            this.typeId = typeId;
            this.isArray = isArray;
            this.isPooled = isPooled;
        }
    }

    final String name;
    final long id;
    final boolean isEvent;
    final List<Field> fields = new ArrayList<>();

    RawType(String name, long id, boolean isEvent) {
        this.name = name;
        this.id = id;
        this.isEvent = isEvent;
    }

    boolean hasDuration() {
        return fields.size() > 1 && fields.get(1).name.equals("duration");
    }

    /** Names, classes and kinds of the fields: what must not change within a file. */
    String shape(RawChunk chunk) {
        StringBuilder text = new StringBuilder();
        for (Field field : fields) {
            text.append(field.name).append(' ').append(chunk.typeName(field.typeId));
            text.append(field.isArray ? "[]" : "").append(field.isPooled ? "*" : "").append("; ");
        }
        return text.toString();
    }
}
