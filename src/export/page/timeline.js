/*
 * timeline - the samples over time as a picture: bars of what went on, or a heat map in which each column is a period
 * and each row a place in it. Where signals were lost is hatched: no data is not idleness.
 */
const STATE_COLOURS = {
  light: { running: '#5f9e6e', native: '#c9878e', blocked: '#c8502f', waiting: '#8a93b8', parked: '#a9b2d3', sleeping: '#cbd0e6' },
  dark: { running: '#417a62', native: '#8f4a55', blocked: '#b4502f', waiting: '#535d86', parked: '#444c70', sleeping: '#363c5a' },
};
const OTHER_COLOURS = { light: ['#5b8fd1', '#7a6fc4', '#b0a04a', '#999999'], dark: ['#4a78b0', '#6a60ad', '#7c7032', '#6a6a6a'] };
/* From little to much; the first is next to the page. */
const HEAT = { light: [[238, 240, 247], [120, 158, 220], [66, 72, 156], [40, 10, 60]], dark: [[34, 34, 42], [60, 70, 130], [170, 110, 190], [255, 215, 160]] };
const HEAT_CELL_PX = 5;

/* How the band says a length of time: "1.2 s", "3:04", "1:02:03". */
function clockText(ms) {
  if (ms < 60000)
    return (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + ' s';
  const seconds = Math.round(ms / 1000);
  const pad = number => String(number).padStart(2, '0');
  const rest = pad(Math.floor(seconds / 60) % 60) + ':' + pad(seconds % 60);
  return seconds >= 3600 ? Math.floor(seconds / 3600) + ':' + rest : Math.floor(seconds / 60) + ':' + pad(seconds % 60);
}

/* A rate in words: CPU time in a time is a number of CPUs. */
function rateText(value, ms) {
  if (ms <= 0)
    return '';
  if (meta.unit === 'ns') {
    const rate = value / (ms * 1e6);
    return (rate >= 10 ? rate.toFixed(0) : rate >= 0.1 ? rate.toFixed(1) : rate.toFixed(2)) + ' ' + timeWords(meta)[1];
  }
  return amount(value * 1000 / ms) + '/s';
}

/* Cells of a heat map for a range of bins: a cell is one bin or several. */
function heatShape(from, to, widthCss, heightCss) {
  const rows = Math.max(Math.floor(heightCss / HEAT_CELL_PX), 4);
  const most = Math.max(Math.floor(widthCss / HEAT_CELL_PX), 1) * rows;
  const each = Math.max(Math.ceil((to - from) / most), 1);
  const cells = Math.ceil((to - from) / each);
  return { rows, each, cells, columns: Math.max(Math.ceil(cells / rows), 1) };
}

function heatColour(table, part) {
  const place = Math.min(Math.max(part, 0), 1) * (table.length - 1);
  const step = Math.min(Math.floor(place), table.length - 2);
  return mix(table[step], table[step + 1], place - step);
}

/* Sums of all groups between two bins. */
function sumRange(sums, groups, bins, from, to) {
  let sum = 0;
  for (let group = 0; group < groups; group++) {
    for (let bin = from; bin < to; bin++)
      sum += sums[group * bins + bin];
  }
  return sum;
}

/*
 * band: {sums, groups: [{name}], matched (one group) or null, bins, binMs, gaps, from, to}. Returns what the most of a
 * column is, for the axis: {value, ms}.
 */
function paintActivity(context, band, width, height, isDark) {
  const { sums, groups, matched, bins, from, to } = band;
  const kind = isDark ? 'dark' : 'light';
  const columns = Math.min(width, to - from);
  const heights = new Float64Array(columns * groups.length);
  const hits = new Float64Array(columns);
  let most = 0;
  for (let x = 0; x < columns; x++) {
    const first = from + Math.floor(x * (to - from) / columns);
    const last = Math.max(from + Math.floor((x + 1) * (to - from) / columns), first + 1);
    let all = 0;
    for (let group = 0; group < groups.length; group++) {
      let sum = 0;
      for (let bin = first; bin < last; bin++)
        sum += sums[group * bins + bin];
      heights[x * groups.length + group] = sum / (last - first);
      all += sum / (last - first);
    }
    if (matched !== null)
      hits[x] = sumRange(matched, 1, bins, first, last) / (last - first);
    most = Math.max(most, all);
  }
  if (most === 0)
    return 0;
  for (let x = 0; x < columns; x++) {
    const x0 = Math.round(x * width / columns);
    const x1 = Math.round((x + 1) * width / columns);
    let y = height;
    for (let group = 0; group < groups.length; group++) {
      const size = heights[x * groups.length + group] / most * height;
      context.fillStyle = groups[group].colour[kind];
      context.globalAlpha = matched === null ? 1 : 0.45;
      context.fillRect(x0, y - size, x1 - x0, size);
      y -= size;
    }
    context.globalAlpha = 1;
    if (matched !== null && hits[x] > 0) {
      const size = Math.max(hits[x] / most * height, 1);
      context.fillStyle = app.colours.palette.match;
      context.fillRect(x0, height - size, x1 - x0, size);
    }
  }
  return most;
}

function paintHeat(context, band, width, height, ratio, isDark) {
  const { sums, groups, matched, bins, from, to } = band;
  const { rows, each, cells, columns } = heatShape(from, to, width / ratio, height / ratio);
  const table = HEAT[isDark ? 'dark' : 'light'];
  const values = new Float64Array(cells);
  for (let cell = 0; cell < cells; cell++) {
    const first = from + cell * each;
    const last = Math.min(first + each, to);
    values[cell] = (matched === null ? sumRange(sums, groups.length, bins, first, last) : sumRange(matched, 1, bins, first, last)) / (last - first);
  }
  const sorted = Float64Array.from(values).sort();
  const most = sorted[Math.floor((cells - 1) * 0.995)] || sorted[cells - 1] || 1;
  for (let cell = 0; cell < cells; cell++) {
    const column = Math.floor(cell / rows);
    const row = cell % rows;
    const x0 = Math.round(column * width / columns);
    const y0 = Math.round(row * height / rows);
    const [red, green, blue] = heatColour(table, values[cell] === 0 ? 0 : 0.12 + 0.88 * Math.sqrt(values[cell] / most));
    context.fillStyle = `rgb(${red} ${green} ${blue})`;
    context.fillRect(x0, y0, Math.round((column + 1) * width / columns) - x0, Math.round((row + 1) * height / rows) - y0);
  }
  return most;
}

/* Spans in which signals were lost, under the picture; darker the greater their share. */
function paintGaps(context, band, width, top, height, ratio, isDark) {
  const { gaps, from, to } = band;
  for (let i = 0; i < gaps.length; i += 4) {
    const x0 = (gaps[i] - from) / (to - from) * width;
    const x1 = (gaps[i + 1] + 1 - from) / (to - from) * width;
    if (x1 < 0 || x0 > width)
      continue;
    const share = gaps[i + 2] / Math.max(gaps[i + 3], 1);
    context.save();
    context.beginPath();
    context.rect(x0, top, Math.max(x1 - x0, 2 * ratio), height);
    context.clip();
    context.globalAlpha = Math.min(0.25 + 0.75 * Math.sqrt(share), 1);
    context.strokeStyle = isDark ? '#ff8a80' : '#b3261e';
    context.lineWidth = ratio;
    for (let x = Math.max(x0, 0) - height; x < Math.min(x1, width) + height; x += 4 * ratio) {
      context.beginPath();
      context.moveTo(x, top + height);
      context.lineTo(x + height, top);
      context.stroke();
    }
    context.restore();
  }
}
