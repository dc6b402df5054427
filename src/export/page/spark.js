/*
 * spark - the table of methods over time: for each row a small line of what the method had, with what it calls, in each part
 * of the window. All rows of a table are summed up together, one pass over the tree for each part.
 *
 * Samples of the wall clock have none: one of them may stand for more time than a part, and would be a peak where a wait began.
 */
const SPARK_PARTS = 24;
const SPARK_PX = [60, 16];
const SPARK_LINES = 200000; /* of a larger tree fewer parts are looked at */

/* Totals of these names (numbers of titles) in each part of the window: sums[row * parts + part]. */
function sumParts(names, parts) {
  const { whole: tree, zoom, keep, state } = app;
  const { samples, mask } = app.explorer;
  const [from, to] = windowOf(state.time, samples.bins);
  const row = new Int32Array(tree.titles.length).fill(-1);
  names.forEach((name, i) => { row[name] = i; });
  const sums = new Float64Array(names.length * parts);
  const until = new Uint32Array(tree.titles.length);
  for (let part = 0; part < parts; part++) {
    const self = selfOf(samples, tree, from + Math.floor(part * (to - from) / parts), from + Math.floor((part + 1) * (to - from) / parts), mask);
    const total = totalsOf(tree, keptOf(self, keep));
    until.fill(0);
    for (let i = zoom; i < tree.end[zoom]; i++) {
      const name = tree.name[i];
      if (row[name] < 0 || i < until[name])
        continue;
      sums[row[name] * parts + part] += total[i];
      until[name] = tree.end[i];
    }
  }
  return sums;
}

function sparkOf(values) {
  const [width, height] = SPARK_PX;
  const make = (name, attributes) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  };
  const most = Math.max(...values);
  const step = width / values.length;
  const points = [...values].flatMap((value, i) => {
    const y = (height - 1 - (most > 0 ? value / most : 0) * (height - 2)).toFixed(1);
    return [`${(i * step).toFixed(1)},${y}`, `${((i + 1) * step).toFixed(1)},${y}`];
  });
  const picture = make('svg', { class: 'spark', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' });
  picture.append(make('polygon', { points: `0,${height} ${points.join(' ')} ${width},${height}` }));
  return picture;
}

/* A cell for each row, or null where there is nothing to show: one bin, another view, the wall clock. */
app.explorer.sparks = rows => {
  const { samples } = app.explorer;
  const { whole, tree, state } = app;
  if (samples === null || tree !== whole || meta.event === 'wall' || rows.length === 0)
    return null;
  const [from, to] = windowOf(state.time, samples.bins);
  const most = Math.floor(SPARK_PARTS * SPARK_LINES / Math.max(tree.count, SPARK_LINES));
  const parts = Math.min(Math.max(most, 8), to - from);
  if (parts < 2)
    return null;
  const sums = sumParts(rows.map(row => row.name), parts);
  return rows.map((row, i) => {
    const values = sums.subarray(i * parts, (i + 1) * parts);
    const cell = element('td');
    const peak = values.indexOf(Math.max(...values));
    const begin = (from + Math.floor(peak * (to - from) / parts)) * samples.binMs;
    const length = (to - from) / parts * samples.binMs;
    cell.title = `With what it calls, over the window: most, ${rateText(values[peak], length)}, at ${clockText(begin)}`;
    cell.append(sparkOf(values));
    cell.dataset.values = [...values].join(' ');
    return cell;
  });
};
