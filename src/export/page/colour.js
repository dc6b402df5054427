/*
 * colour - one table of colours: frame types, chosen for distance under normal and colour-blind
 * vision, and how they change for a match, for what is faded, for a shade of a class.
 */
const PALETTE = {
  light: {
    types: ['#c5fde2', '#b0e0b9', '#66e5f7', '#c9878e', '#fedf71', '#f8b670', '#96a944', '#859bf7', '#bab8b9', '#e4e4ea',
      '#d3dff2', '#dfe7f1', '#e8def0', '#e4e4ea', '#e4e4ea'],
    match: '#d63ad6', dust: '#cfcfd4', page: '#fbfbfc', text: '#111111', matchText: '#111111', border: null,
  },
  dark: {
    types: ['#515d48', '#417a62', '#0d5e6f', '#56023a', '#684700', '#9b6311', '#213800', '#7f619e', '#444343', '#2b2b33',
      '#26354d', '#2a3340', '#392d45', '#2b2b33', '#2b2b33'],
    match: '#e66be6', dust: '#3c3c42', page: '#16161a', text: '#f5f5f5', matchText: '#111111', border: '#000000',
  },
};
const SHADES = 7;

const rgb = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
const mix = (from, to, part) => from.map((value, i) => Math.round(value + (to[i] - value) * part));
const pack = ([red, green, blue]) => (0xff000000 | blue << 16 | green << 8 | red) >>> 0;

/* Every colour that a pixel may have, packed; and those of text. */
function makeColours(isDark) {
  const palette = isDark ? PALETTE.dark : PALETTE.light;
  const page = rgb(palette.page);
  const shades = palette.types.map((hex, type) => Array.from({ length: SHADES }, (_, shade) => {
    const step = (shade - (SHADES - 1) / 2) / ((SHADES - 1) / 2);
    return type >= TYPE_MARK ? rgb(hex) : mix(rgb(hex), step > 0 ? [255, 255, 255] : [0, 0, 0], Math.abs(step) * (isDark ? 0.05 : 0.06));
  }));
  const table = (change) => shades.map(list => Uint32Array.from(list, colour => pack(change(colour))));
  return {
    plain: table(colour => colour),
    faded: table(colour => mix(colour, page, 0.6)),
    hatch: table(colour => mix(colour, rgb(palette.text), 0.2)),
    match: pack(rgb(palette.match)),
    matchFaded: pack(mix(rgb(palette.match), page, 0.6)),
    dust: pack(rgb(palette.dust)),
    dustFaded: pack(mix(rgb(palette.dust), page, 0.5)),
    page: pack(page),
    palette,
    text: palette.text,
    textFaded: `rgb(${mix(rgb(palette.text), page, isDark ? 0.35 : 0.4).join(' ')})`,
    matchText: palette.matchText,
  };
}

/* One shade for a class: the same code looks the same at every load. */
function makeShades(tree) {
  return Uint8Array.from(tree.titles, title => hashTitle(title.slice(0, Math.max(title.lastIndexOf('.'), 0)) || title) % SHADES);
}

/* A small picture of a type, hatched where frames of it are. */
function drawSwatch(canvas, colours, type) {
  const size = 28;
  canvas.width = canvas.height = size;
  const context = canvas.getContext('2d');
  context.fillStyle = colours.palette.types[type];
  context.fillRect(0, 0, size, size);
  if (type === TYPE_MARK) {
    context.strokeStyle = colours.textFaded;
    context.lineWidth = 3;
    for (let x = -size; x < size; x += 10) {
      context.beginPath();
      context.moveTo(x, size);
      context.lineTo(x + size, 0);
      context.stroke();
    }
  }
}
