/*
 * bandrows - the timeline as rows: one for each group of threads, thread, state, endpoint or value of an attribute, the darker
 * the more it had. Which column the rows are of is app.state.rowsBy; what filters of that column leave out stays, and is pale.
 *
 * Sums are of columns of pixels, not of bins: a row of each thread with all bins would be more than the samples.
 */
const BAND_ROW_PX = 16;
const ROWS_MOST = 14;
const ROWS_MOST_PHONE = 7;

const bandRows = { by: '', names: [], numbers: [], left: 0, columns: 0, bins: null, sums: null, totals: null, most: 0, made: '' };

const rowsColumn = () => app.state.rowsBy === '' ? null : app.explorer.columns.find(column => column.key === app.state.rowsBy) || null;

/* Bins to columns of equal length, but for what does not divide. */
const columnOf = (bin, from, to, columns) => Math.floor((bin - from) * columns / (to - from));

/* The first bin of each column, and of one behind the last. */
const beginsOf = (from, to, columns) => Float64Array.from({ length: columns + 1 }, (_, at) => from + Math.ceil(at * (to - from) / columns));

/* What each row has in each column between two bins: sums[row * columns + column]. `pass`: 1 for the contexts that count. */
function sumRows(samples, pass, rowOf, rows, from, to, columns, kept) {
  if (meta.event === 'wall' && meta.unit === 'ns')
    return spreadRows(samples, pass, rowOf, rows, from, to, columns, kept);
  const { context, stack, value, first, scale } = samples;
  const sums = new Float64Array(rows * columns);
  for (let bin = from; bin < to; bin++) {
    const at = columnOf(bin, from, to, columns);
    for (let i = first[bin]; i < first[bin + 1]; i++) {
      const rank = context[i];
      sums[rowOf[rank] * columns + at] += pass[rank] * (value === null ? 1 : value[i]) * (kept === null ? 1 : kept[stack[i]]);
    }
  }
  for (let i = 0; i < sums.length; i++)
    sums[i] *= scale;
  return sums;
}

/* The same of samples that stand for a time from their bin on: see spreadBins. Columns that one fills are noted by its ends alone. */
function spreadRows(samples, pass, rowOf, rows, from, to, columns, kept) {
  const { context, stack, value, first, scale, binMs, counts } = samples;
  const sums = new Float64Array(rows * columns);
  const steps = new Float64Array(rows * (columns + 1)); /* of what a bin has, in columns that are filled */
  const begins = beginsOf(from, to, columns);
  const binNs = binMs * 1e6;
  for (let bin = 0; bin < to; bin++) {
    for (let i = first[bin]; i < first[bin + 1]; i++) {
      const rank = context[i];
      const own = pass[rank] * (value === null ? 1 : value[i]) * scale * (kept === null ? 1 : kept[stack[i]]);
      const length = Math.max(Math.round(own / (counts === null ? 1 : counts[i]) / binNs), 1);
      const [begin, end] = [Math.max(bin, from), Math.min(bin + length, to)];
      if (begin >= end || own === 0)
        continue;
      const row = rowOf[rank];
      const head = columnOf(begin, from, to, columns);
      const tail = columnOf(end - 1, from, to, columns);
      const each = own / length;
      sums[row * columns + head] += each * (Math.min(begins[head + 1], end) - begin);
      if (tail > head)
        sums[row * columns + tail] += each * (end - begins[tail]);
      if (tail > head + 1) {
        steps[row * (columns + 1) + head + 1] += each;
        steps[row * (columns + 1) + tail] -= each;
      }
    }
  }
  for (let row = 0; row < rows; row++) {
    let level = 0;
    for (let at = 0; at < columns; at++) {
      level += steps[row * (columns + 1) + at];
      sums[row * columns + at] += level < 1e-3 ? 0 : level * (begins[at + 1] - begins[at]); /* what rounding left of nothing */
    }
  }
  return sums;
}

/* The values with the most first, as many as have room; the last row is all others together, where there are any. */
function chooseRows(column, totals) {
  const room = matchMedia('(max-width: 699px)').matches ? ROWS_MOST_PHONE : ROWS_MOST;
  const numbers = [...totals.keys()].filter(number => totals[number] > 0).sort((a, b) => totals[b] - totals[a] || a - b);
  const shown = numbers.length <= room ? numbers : numbers.slice(0, room - 1);
  const rowOf = new Uint32Array(totals.length).fill(shown.length);
  shown.forEach((number, row) => { rowOf[number] = row; });
  return { shown, left: numbers.length - shown.length, rowOf };
}

/* Sums up what is not yet: for other filters, another piece of time or another width. */
function makeRows(width) {
  const { samples, passes, masked, kept } = app.explorer;
  const column = rowsColumn();
  const columns = Math.max(Math.min(width, band.to - band.from), 1);
  const made = [masked, column.key, band.from, band.to, columns, meta.event, matchMedia('(max-width: 699px)').matches].join(' ');
  if (bandRows.made === made)
    return;
  const pass = maskOf(new Map([...passes].filter(([key]) => key !== column.key)), samples.contexts);
  const totals = new Float64Array(column.values.length + 1);
  sumContexts(samples, band.from, band.to, kept).forEach((sum, rank) => { totals[column.labels[rank]] += pass[rank] * sum; });
  const { shown, left, rowOf } = chooseRows(column, totals);
  const rows = shown.length + (left > 0 ? 1 : 0);
  /* Where nothing passes there is one row more, which nothing is added to. */
  const sums = sumRows(samples, pass, Uint32Array.from(column.labels, label => rowOf[label]), rows + 1, band.from, band.to, columns, kept);
  const begins = beginsOf(band.from, band.to, columns);
  const bins = Float64Array.from({ length: columns }, (_, at) => begins[at + 1] - begins[at]);
  Object.assign(bandRows, {
    made, by: column.key, columns, sums, left, numbers: shown, totals: Array.from({ length: rows }, (_, row) =>
      row < shown.length ? totals[shown[row]] : totals.reduce((sum, value, number) => sum + (rowOf[number] === row ? value : 0), 0)),
    names: [...shown.map(number => facetName(column, number)), ...left > 0 ? [`${grouped(left)} more`] : []],
    /* Of a bin: some columns have one more than others. The last row may be of thousands, and is no measure. */
    bins, most: sums.subarray(0, shown.length * columns).reduce((most, value, at) => Math.max(most, value / bins[at % columns]), 0),
  });
}

/* Whether the filters of the column itself let a row in. */
function isRowIn(column, row) {
  const pass = app.explorer.passes.get(column.key);
  return pass === undefined || row >= bandRows.numbers.length || column.labels.some((label, rank) => label === bandRows.numbers[row] && pass[rank] === 1);
}

function paintBandRows(context, width, height, ratio, isDark) {
  const column = rowsColumn();
  const { names, columns, bins, sums, most } = bandRows;
  const table = HEAT[isDark ? 'dark' : 'light'];
  context.font = `${Math.round(11 * ratio)}px system-ui, sans-serif`;
  context.textBaseline = 'middle';
  names.forEach((name, row) => {
    const [y0, y1] = [row, row + 1].map(at => Math.round(at * BAND_ROW_PX * ratio));
    context.globalAlpha = isRowIn(column, row) ? 1 : 0.3;
    context.fillStyle = `rgb(${table[0].join(' ')})`;
    context.fillRect(0, y0, width, y1 - y0 - ratio);
    for (let at = 0; at < columns; at++) {
      const value = sums[row * columns + at];
      if (value === 0)
        continue;
      const x0 = Math.round(at * width / columns);
      context.fillStyle = `rgb(${heatColour(table, 0.12 + 0.88 * Math.sqrt(value / bins[at] / most)).join(' ')})`;
      context.fillRect(x0, y0, Math.max(Math.round((at + 1) * width / columns) - x0, ratio), y1 - y0 - ratio);
    }
    const room = Math.min(context.measureText(name).width + 8 * ratio, width / 2);
    context.fillStyle = app.colours.palette.page;
    context.globalAlpha *= 0.8;
    context.fillRect(0, y0, room, y1 - y0 - ratio);
    context.globalAlpha = isRowIn(column, row) ? 1 : 0.6;
    context.save();
    context.beginPath();
    context.rect(0, y0, room, y1 - y0);
    context.clip();
    context.fillStyle = app.colours.text;
    context.fillText(name, 4 * ratio, (y0 + y1) / 2);
    context.restore();
  });
  context.globalAlpha = 1;
  return most;
}

/* The row under a pointer; -1: none. */
function rowAt(clientY) {
  const row = Math.floor((clientY - byId('band-canvas').getBoundingClientRect().top) / BAND_ROW_PX);
  return rowsColumn() !== null && row >= 0 && row < bandRows.names.length ? row : -1;
}

/* Only its samples, or all but them; a second time all again, as in the list of filters. */
function toggleBandRow(row, kind) {
  if (row >= 0 && row < bandRows.numbers.length)
    toggleFacet(rowsColumn(), bandRows.numbers[row], kind);
}

/* What a row has at a place: {title, kind} for the box at the pointer; null: no row. */
function rowText(clientX, clientY) {
  const row = rowAt(clientY);
  if (row < 0)
    return null;
  const box = byId('band-canvas').getBoundingClientRect();
  const { columns, sums, names, totals } = bandRows;
  const { binMs } = app.explorer.samples;
  const at = Math.min(Math.max(Math.floor((clientX - box.left) / box.width * columns), 0), columns - 1);
  const ms = bandRows.bins[at] * binMs;
  return {
    title: names[row],
    kind: `${rateText(sums[row * columns + at], ms)} at ${clockText(band.from * binMs + at * (band.to - band.from) * binMs / columns)}; in all ${amount(totals[row])}` +
      (row < bandRows.numbers.length ? '. Click: only these. Alt+click: all but these.' : ''),
  };
}

/* Which columns there are to choose from, beside the switch. */
function showRowsChoice() {
  const { columns } = app.explorer;
  const choice = byId('band-by');
  const column = rowsColumn();
  byId('band-rows').hidden = columns.length === 0;
  byId('band-rows').setAttribute('aria-pressed', String(column !== null));
  choice.hidden = column === null || columns.length < 2;
  choice.replaceChildren(...columns.map(own => {
    const option = element('option', '', facetTitle(own));
    option.value = own.key;
    option.selected = own === column;
    return option;
  }));
}

/* With the column that was looked at last; at first with the one of most use. */
function toggleRowsBand() {
  const { columns } = app.explorer;
  const last = columns.find(column => column.key === bandRows.by) || columns[0];
  if (last)
    go({ rowsBy: rowsColumn() === null ? last.key : '', isHeat: false }, false);
}
