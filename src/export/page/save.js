/*
 * save - what is shown as a file: collapsed stacks, the table of methods, the picture. Each is made here, of the view
 * with its zoom, filters and window.
 */
const SVG_SPACE = ['http', '//www.w3.org/2000/svg'].join(':'); /* a name; nothing is fetched, and a search for addresses finds none */
const SVG_WIDTH = 1600;
const SVG_ROW = 18;
const SVG_LETTER = 6.7; /* about the width of one */
const PNG_WIDTH = 1600;
const PNG_HEIGHT_MOST = 8000;
const PNG_HEAD = 44;

/* What stands above a picture, and in the names of files. */
function viewWords() {
  const { tree, state, zoom } = app;
  const words = [...byId('chips').querySelectorAll('.chip')].map(one => one.textContent.replace(/\u00d7$/, '')).filter(text => text !== 'clear all');
  return { title: meta.title, summary: `${amount(tree.total[zoom])} of ${amount(app.baseTotal[0])}` + (words.length > 0 ? '; ' + words.join('; ') : '') +
    (state.query !== '' ? `; search: ${state.query}` : '') };
}

/* What ends in each line: all that it has and its callees have not. */
function leafValue(tree, node) {
  let value = tree.total[node];
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
    value -= tree.total[child];
  return value;
}

/* As jaywalk convert -o collapsed --total writes them. */
function collapsedText() {
  const { tree, zoom } = app;
  const line = text => text.replaceAll(';', ':');
  const above = [];
  for (let node = tree.parent[zoom]; node > 0; node = tree.parent[node])
    above.unshift(line(tree.titles[tree.name[node]]));
  const path = [...above];
  const lines = [];
  const base = tree.depth[zoom];
  for (let i = zoom; i < tree.end[zoom]; i++) {
    path.length = above.length + Math.max(tree.depth[i] - Math.max(base, 1), 0);
    if (i > 0)
      path.push(line(tree.titles[tree.name[i]]));
    const value = tree.total[i] > 0 ? leafValue(tree, i) : 0;
    if (value > 0)
      lines.push(`${path.join(';')} ${value}\n`);
  }
  return lines;
}

/* A cell that programs for tables take for text, not for a formula. */
const csvCell = text => `"${(/^[=+\-@]/.test(text) ? "'" : '') + String(text).replaceAll('"', '""')}"`;

function methodsText() {
  const { tree, zoom, before } = app;
  const whole = tree.total[zoom];
  const part = value => whole > 0 ? (value / whole).toFixed(6) : '0';
  const lines = [`method,self_${meta.unit},total_${meta.unit},self_share,total_share${before === null ? '' : ',total_other'}\n`];
  for (const { name, self, total, before: other, type } of listMethods())
    lines.push([csvCell(readable(tree.titles[name], type)), self, total, part(self), part(total), ...(before === null ? [] : [other])].join(',') + '\n');
  return lines;
}


const xmlText = text => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, ' ').replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);
const cssColour = packed => `rgb(${packed & 255},${packed >>> 8 & 255},${packed >>> 16 & 255})`;

/* Text that fits: the longest form, else cut at its end. */
function svgLabel(node, width) {
  const letters = Math.floor((width - 6) / SVG_LETTER);
  const { forms } = labelOf(node);
  const fits = forms.find(form => form.length <= letters);
  return fits !== undefined ? fits : letters < 4 ? '' : [...forms.at(-1)].slice(0, letters - 1).join('') + '\u2026';
}

function svgText() {
  const { tree, view, state, zoom } = app;
  const { levels, dust } = layOut(tree, view.from, view.to, SVG_WIDTH);
  const { title, summary } = viewWords();
  const height = levels.length * SVG_ROW + 48;
  const parts = [`<svg xmlns="${SVG_SPACE}" width="${SVG_WIDTH}" height="${height}" viewBox="0 0 ${SVG_WIDTH} ${height}" font-family="system-ui,sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${app.colours.palette.page}"/>
<text x="8" y="20" font-size="15" fill="${app.colours.text}">${xmlText(title)}</text>
<text x="8" y="38" fill="${app.colours.text}">${xmlText(summary)}</text>
`];
  levels.forEach((boxes, level) => {
    const y = 46 + (state.isFlipped ? level : levels.length - 1 - level) * SVG_ROW;
    for (let i = 0; i < boxes.length; i += 3) {
      const [x, width, node] = [boxes[i], boxes[i + 1] - boxes[i], boxes[i + 2]];
      const { colour, text } = lookOf(node);
      const own = node < 0 ? dust[-1 - node].total : tree.total[node];
      const name = node < 0 ? `${grouped(dust[-1 - node].frames)} frames too narrow to draw` : readable(tree.titles[tree.name[node]], tree.type[node]);
      const label = node < 0 ? '' : svgLabel(node, width);
      parts.push(`<g><title>${xmlText(name)}: ${xmlText(amount(own))}, ${share(own, tree.total[zoom])}</title><rect x="${x}" y="${y}" width="${Math.max(width - 0.5, 0.5)}" height="${SVG_ROW - 1}" fill="${cssColour(colour)}"/>` +
        (label === '' ? '' : `<text x="${x + 3}" y="${y + 13}" fill="${text}">${xmlText(label)}</text>`) + '</g>\n');
    }
  });
  parts.push('</svg>\n');
  return parts;
}

/* The whole of the view, not only what the window has room for. */
function pngBlob() {
  const { tree, view, state } = app;
  const ratio = window.devicePixelRatio || 1;
  const shown = layOut(tree, view.from, view.to, Math.round(PNG_WIDTH * ratio));
  const fit = Math.floor(PNG_HEIGHT_MOST / app.rowCss);
  const levels = shown.levels.slice(0, fit);
  const canvas = element('canvas');
  const painter = makePainter(canvas);
  const kept = app.layout;
  painter.resize(PNG_WIDTH, Math.max(levels.length, 1) * app.rowCss);
  app.layout = shown; /* looks ask for its dust */
  painter.paint(levels.map((boxes, level) => {
    const row = state.isFlipped ? level : levels.length - 1 - level;
    return { top: Math.round(row * app.rowCss * ratio), bottom: Math.round((row + 1) * app.rowCss * ratio), boxes };
  }), app.colours, lookOf, labelOf);
  app.layout = kept;
  const whole = element('canvas');
  whole.width = canvas.width;
  whole.height = canvas.height + Math.round(PNG_HEAD * ratio);
  const context = whole.getContext('2d');
  const { title, summary } = viewWords();
  context.fillStyle = app.colours.palette.page;
  context.fillRect(0, 0, whole.width, whole.height);
  context.fillStyle = app.colours.text;
  context.font = `bold ${Math.round(14 * ratio)}px system-ui, sans-serif`;
  context.fillText(title, 8 * ratio, 18 * ratio);
  context.font = `${Math.round(12 * ratio)}px system-ui, sans-serif`;
  context.fillText(summary + (levels.length < shown.levels.length ? `; the first ${grouped(levels.length)} of ${grouped(shown.levels.length)} levels` : ''), 8 * ratio, 36 * ratio);
  context.drawImage(canvas, 0, PNG_HEAD * ratio);
  return new Promise(resolve => whole.toBlob(resolve, 'image/png'));
}

function saveAs(blob, ending) {
  const link = element('a');
  link.href = URL.createObjectURL(blob);
  link.download = (meta.title.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 60) || 'profile') + ending;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function openSave() {
  const list = element('div', 'choices');
  const choice = (text, about, make, ending) => {
    const button = list.appendChild(element('button', '', text));
    button.type = 'button';
    button.id = 'save-' + ending.slice(1);
    list.append(element('span', '', about));
    button.addEventListener('click', async () => {
      const made = await make();
      saveAs(made instanceof Blob ? made : new Blob(made, { type: 'text/plain' }), ending);
      byId('dialog').close();
    });
  };
  choice('Picture', 'the graph as PNG, as on the screen, all levels of it', pngBlob, '.png');
  choice('Drawing', 'the graph as SVG: text stays text, each frame tells its name', svgText, '.svg');
  choice('Stacks', 'collapsed, one a line, in ' + meta.unit, collapsedText, '.collapsed');
  choice('Methods', 'the table of methods as CSV', methodsText, '.csv');
  if (app.explorer?.locks)
    choice('Locks', 'the census of locks as CSV, of what the search leaves', app.explorer.locks.csv, '.locks.csv');
  openDialog('Save what is shown', element('p', '', viewWords().summary), list);
}

function wireSave() {
  byId('save').addEventListener('click', openSave);
  letters.s = openSave;
}
