package io.jaywalk;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A string in UTF-8, ready to be copied. What cannot be written so, half of a surrogate pair, is a question mark. */
final class Text {
    /** Whose encoding this is. */
    private final String string;

    final byte[] bytes;
    final int length;
    /** The same bytes, eight at a time in the order of the machine, the last ones filled up with zeroes. */
    final long[] words;

    private Text(String string, byte[] bytes) {
        this.string = string;
        this.bytes = bytes;
        this.length = bytes.length;
        ByteBuffer padded = ByteBuffer.wrap(Arrays.copyOf(bytes, (bytes.length + 7) & ~7)).order(ByteOrder.nativeOrder());
        this.words = new long[padded.capacity() / 8];
        padded.asLongBuffer().get(words);
    }

    /** At most so many bytes; longer strings are cut before the character that does not fit. */
    static byte[] encode(String string, int maxBytes) {
        /* A character is a byte at least, so that no more of them are looked at, and a pair cut here does not fit anyway. */
        byte[] bytes = (string.length() > maxBytes + 1 ? string.substring(0, maxBytes + 1) : string)
            .getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= maxBytes) {
            return bytes;
        }
        int end = maxBytes;
        while (end > 0 && (bytes[end] & 0xc0) == 0x80) {
            end--;
        }
        return Arrays.copyOf(bytes, end);
    }

    /**
     * Encodings of the strings that were used last: of those that fall into one place, one. Threads may race here; what one of
     * them reads is whole, for its fields are final.
     */
    static final class Cache {
        private static final int PLACES = 512;

        private final int maxBytes;
        private final Text[] places = new Text[PLACES];

        Cache(int maxBytes) {
            this.maxBytes = maxBytes;
        }

        Text get(String string) {
            int hash = string.hashCode();
            int place = (hash ^ hash >>> 16) & (PLACES - 1);
            Text text = places[place];
            if (text != null && text.string.equals(string)) {
                return text;
            }
            text = new Text(string, encode(string, maxBytes));
            /* A giant string is not kept alive for the sake of its first bytes. */
            if (string.length() <= maxBytes) {
                places[place] = text;
            }
            return text;
        }
    }
}
