/*
 * columns - numbers of the page: base64, raw deflate, seven bits a byte.
 *
 * Each column is an inert element of its own, with its length and a checksum: a page that was cut or changed on its
 * way says so instead of showing wrong numbers.
 */
function bytesOf64(text) {
  if (Uint8Array.fromBase64)
    return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/* FNV-1a over words of four bytes, the lowest first as browsers have them, and then the bytes that are left: as export_columns.c has it. */
function checkOf(bytes) {
  const words = new Uint32Array(bytes.buffer, 0, bytes.length >> 2);
  let hash = 0x811c9dc5;
  for (let i = 0; i < words.length; i++)
    hash = Math.imul(hash ^ words[i], 0x01000193);
  for (let i = 4 * words.length; i < bytes.length; i++)
    hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash >>> 0;
}

/* What the page says of a column; null where it has none of this name. Its element is emptied. */
function takeColumn(name, elementBy) {
  const box = elementBy('c-' + name);
  if (box === null)
    return null;
  const text = box.textContent;
  box.textContent = '';
  return { name, text, length: Number(box.dataset.bytes), check: Number(box.dataset.check) };
}

/* Runs in workers, too: so do bytesOf64, checkOf and numbersOf. */
async function unpackColumn({ name, text, length, check }) {
  const unpacked = new Blob([bytesOf64(text)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
  if (bytes.length !== length || checkOf(bytes) !== check)
    throw new Error(`the column "${name}" is damaged`);
  return bytes;
}

/* The bytes of a column, or null. */
async function readColumn(name, elementBy = byId) {
  const column = takeColumn(name, elementBy);
  return column === null ? null : unpackColumn(column);
}

/* So many numbers; with `isWide` also those of more than 32 bits. Each is less than `limit`, where that is told. */
function numbersOf(bytes, count, isWide = false, limit = Infinity) {
  const numbers = isWide ? new Float64Array(count) : limit <= 65536 ? new Uint16Array(count) : new Uint32Array(count);
  let isPast = false;
  let at = 0;
  for (let i = 0; i < count; i++) {
    let value = bytes[at++];
    if (value > 127) {
      value &= 127;
      for (let factor = 128; ; factor *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * factor;
        if (!(byte > 127))
          break;
      }
    }
    numbers[i] = value;
    isPast ||= value >= limit;
  }
  if (at !== bytes.length)
    throw new Error('a column is cut');
  if (isPast)
    throw new Error('samples have stacks that are not there');
  return numbers;
}

/* Lets the page answer between two long steps. */
const breathe = () => new Promise(resolve => setTimeout(resolve));
