/*
 * paint - boxes as pixel spans, then labels.
 *
 * One scan line per row is filled in a 32-bit buffer, copied down the row, and the whole is put on
 * the canvas at once: 100,000 boxes take some milliseconds, where a rectangle each takes forty.
 * The canvas is as large as its window, never as the tree.
 */
const LABEL_LIMIT = 600;
const LABEL_MIN_PX = 22;
const HATCH_PX = 6;

function makePainter(canvas) {
  const context = canvas.getContext('2d', { alpha: false });
  const widths = new Map();
  let image = null;
  let pixels = null;
  let ratio = 1;
  let font = '';

  function resize(widthCss, heightCss) {
    ratio = window.devicePixelRatio || 1;
    const width = Math.max(Math.round(widthCss * ratio), 1);
    const height = Math.max(Math.round(heightCss * ratio), 1);
    if (canvas.width !== width || canvas.height !== height || image === null) {
      canvas.width = width;
      canvas.height = height;
      image = context.createImageData(width, height);
      pixels = new Uint32Array(image.data.buffer);
    }
    canvas.style.height = heightCss + 'px';
    const wanted = `${Math.round(12 * ratio)}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif`;
    if (wanted !== font) {
      font = wanted;
      widths.clear();
    }
  }

  function measure(text, isBold) {
    const key = (isBold ? '\u0001' : '') + text;
    let width = widths.get(key);
    if (width === undefined) {
      width = context.measureText(text).width;
      widths.set(key, width);
    }
    return width;
  }

  /* The longest form that fits: all, without the class, cut in the middle; '' under three letters. */
  function fit(forms, isBold, room) {
    for (const form of forms) {
      if (measure(form, isBold) <= room)
        return form;
    }
    const letters = [...forms[forms.length - 1]];
    let keep = Math.floor(letters.length * room / measure(forms[forms.length - 1], isBold));
    for (; keep >= 3; keep--) {
      const head = Math.ceil(keep / 2);
      const cut = letters.slice(0, head).join('') + '\u2026' + letters.slice(letters.length - (keep - head)).join('');
      if (context.measureText(cut).width <= room)
        return cut;
    }
    return '';
  }

  /*
   * rows: {top, bottom, boxes} in device pixels; a row may begin above or end below the canvas.
   * look(frame): {colour, hatch, text} of a box, hatch being 0 or the second colour.
   */
  function paint(rows, colours, look, label) {
    const width = canvas.width;
    const height = canvas.height;
    const labels = [];
    pixels.fill(colours.page);
    for (const { top, bottom, boxes } of rows) {
      const first = Math.max(top, 0);
      const last = Math.min(bottom - Math.max(Math.round(ratio), 1), height); /* a line apart */
      if (first >= last)
        continue;
      const line = first * width;
      const hatched = [];
      for (let i = 0; i < boxes.length; i += 3) {
        const x0 = boxes[i];
        const x1 = boxes[i + 1];
        const node = boxes[i + 2];
        const { colour, hatch, text } = look(node);
        const isWide = x1 - x0 >= 3 * ratio;
        pixels.fill(colour, line + x0, line + (isWide ? x1 - Math.round(ratio) : x1));
        if (hatch !== 0 && isWide)
          hatched.push(x0, x1 - Math.round(ratio), hatch);
        if (node >= 0 && x1 - x0 >= LABEL_MIN_PX * ratio)
          labels.push({ x0, x1, middle: (top + bottom) / 2, node, text });
      }
      for (let y = first + 1; y < last; y++)
        pixels.copyWithin(y * width, line, line + width);
      paintHatch(hatched, first, last, top, width);
    }
    context.putImageData(image, 0, 0);
    if (label !== null)
      paintLabels(labels, label);
  }

  function paintHatch(hatched, first, last, top, width) {
    const period = Math.round(HATCH_PX * ratio);
    const thick = Math.max(Math.round(1.5 * ratio), 1);
    for (let i = 0; i < hatched.length; i += 3) {
      for (let y = first; y < last; y++) {
        const shift = (y - top) % period;
        for (let x = hatched[i]; x < hatched[i + 1]; x++) {
          if ((x + shift) % period < thick)
            pixels[y * width + x] = hatched[i + 2];
        }
      }
    }
  }

  function paintLabels(labels, label) {
    if (labels.length > LABEL_LIMIT) {
      labels.sort((a, b) => b.x1 - b.x0 - (a.x1 - a.x0));
      labels.length = LABEL_LIMIT;
    }
    const inset = 4 * ratio;
    context.textBaseline = 'middle';
    for (const { x0, x1, middle, node, text } of labels) {
      const { forms, isBold } = label(node);
      context.font = isBold ? 'bold ' + font : font;
      const shown = fit(forms, isBold, x1 - x0 - 2 * inset);
      if (shown === '')
        continue;
      context.fillStyle = text;
      context.fillText(shown, x0 + inset, middle);
    }
  }

  return { resize, paint, ratio: () => ratio };
}

/* Marks above the graph for matches too narrow to be noticed in it. */
function paintRail(canvas, tree, layout, outer, colours) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = layout.widthPx;
  canvas.height = Math.round(6 * ratio);
  const context = canvas.getContext('2d');
  const scale = layout.widthPx / (layout.to - layout.from);
  context.fillStyle = colours.palette.match;
  let marks = 0;
  for (const node of outer) {
    const x = (tree.left[node] - layout.from) * scale;
    const width = tree.total[node] * scale;
    if (width >= 3 * ratio || x + width < 0 || x > layout.widthPx)
      continue;
    context.fillRect(Math.min(Math.floor(x), layout.widthPx - 2), 0, Math.max(2 * ratio, Math.round(width)), canvas.height);
    marks++;
  }
  return marks;
}
