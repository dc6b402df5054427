/* band - the timeline on the page: drawn, and dragged over with mouse, finger and keys. */
const EDGE_PX = 7;
const EDGE_TOUCH_PX = 22;
const AXIS_PX = 16;

const band = { sums: null, groups: [], matched: null, matchedOf: null, from: 0, to: 1, most: 0, drag: null, frame: 0 };

/* The window in bins, or all of it. */
const windowOf = (time, bins) => time === null ? [0, bins] : [Math.min(Math.max(time[0], 0), bins - 1), Math.min(Math.max(time[1], 1), bins)];

/* What the bars are made of: states, where samples have several; else one group. */
function chooseGroups() {
  const { samples, columns } = app.explorer;
  const state = columns.find(column => column.kind === 'state' && column.values.length > 1 && column.values.length < 12);
  const kinds = ['light', 'dark'];
  if (!state) {
    band.groups = [{ name: '', colour: { light: '#5f9e6e', dark: '#417a62' } }];
    return new Uint8Array(samples.contexts);
  }
  const order = ['running', 'native', 'blocked', 'waiting', 'parked', 'sleeping'];
  const names = ['[none]', ...state.values];
  const used = names.map((name, i) => i).filter(i => i > 0 || state.labels.includes(0));
  const rank = used.map(i => [order.includes(names[i]) ? order.indexOf(names[i]) : 50 + i, i]).sort((a, b) => a[0] - b[0]).map(pair => pair[1]);
  let other = 0;
  band.groups = rank.map(number => {
    const colour = {};
    const place = STATE_COLOURS.light[names[number]] ? -1 : other++;
    for (const kind of kinds)
      colour[kind] = place < 0 ? STATE_COLOURS[kind][names[number]] : OTHER_COLOURS[kind][place % OTHER_COLOURS[kind].length];
    return { name: names[number], colour };
  });
  const groupOf = new Uint8Array(names.length);
  rank.forEach((number, group) => { groupOf[number] = group; });
  return Uint8Array.from(state.labels, number => groupOf[number]);
}

function sumBand() {
  const { samples, mask, kept } = app.explorer;
  band.group ||= chooseGroups();
  band.sums = sumBins(samples, mask, band.group, band.groups.length, kept);
  band.matchedOf = null;
}

/* Of a search: samples of stacks with a match, summed up again only when it changes. */
function sumMatched() {
  const { samples, mask } = app.explorer;
  if (app.hit === null) {
    band.matched = band.matchedOf = null;
    return;
  }
  if (band.matchedOf === app.hit)
    return;
  const { whole, keep } = app;
  const under = app.tree === whole ? Uint8Array.from(app.hit) : matchFrames(whole, app.goodQuery);
  for (let i = 1; i < whole.count; i++)
    under[i] |= under[whole.parent[i]];
  band.matched = sumBins(samples, mask, new Uint8Array(samples.contexts), 1, Uint8Array.from(samples.leaf, line => under[line] & (keep === null ? 1 : keep[line])));
  band.matchedOf = app.hit;
}

function showBand() {
  byId('band-box').style.setProperty('--lanes', lanesPx() + 'px');
  if (rowsColumn() !== null) { /* as tall as its rows */
    bandView();
    makeRows(canvasPixels());
    byId('band-box').style.setProperty('--picture', bandRows.names.length * BAND_ROW_PX + AXIS_PX + 'px');
  } else {
    byId('band-box').style.removeProperty('--picture');
  }
  cancelAnimationFrame(band.frame);
  band.frame = requestAnimationFrame(drawBand);
}

function bandView() {
  const { samples } = app.explorer;
  const { time, bandZoom } = app.state;
  [band.from, band.to] = bandZoom && time !== null ? windowOf(time, samples.bins) : [0, samples.bins];
}

function drawBand() {
  const { samples } = app.explorer;
  const canvas = byId('band-canvas');
  const ratio = window.devicePixelRatio || 1;
  const width = canvasPixels();
  const height = Math.max(Math.round(canvas.clientHeight * ratio), 1);
  const lanes = lanesPx();
  const picture = height - Math.round((AXIS_PX + lanes) * ratio);
  const context = canvas.getContext('2d');
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  bandView();
  sumMatched();
  context.fillStyle = app.colours.palette.page;
  context.fillRect(0, 0, width, height);
  const told = { ...band, bins: samples.bins, binMs: samples.binMs, gaps: samples.gaps };
  if (rowsColumn() !== null) {
    makeRows(width);
    band.most = paintBandRows(context, width, picture, ratio, app.isDark);
  } else {
    band.most = app.state.isHeat ? paintHeat(context, told, width, picture, ratio, app.isDark) : paintActivity(context, told, width, picture, app.isDark);
  }
  const lost = samples.gaps.length > 0 ? LANE_PX * ratio : 0;
  if (lost > 0)
    paintGaps(context, told, width, picture + ratio, lost - ratio, ratio, app.isDark);
  if (!app.state.isHeat) /* whose columns are periods */
    paintLanes(context, band.from * samples.binMs, band.to * samples.binMs, width, picture + lost, ratio);
  paintAxis(context, width, height, ratio);
  placeWindows();
}

/* Times below the picture, as many as have room; what the most is, in its corner. */
function paintAxis(context, width, height, ratio) {
  const { samples } = app.explorer;
  const span = (band.to - band.from) * samples.binMs;
  const wanted = span / Math.max(width / ratio / 110, 1);
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000, 300000, 600000, 1200000, 1800000, 3600000]
    .find(length => length >= wanted) || Math.ceil(wanted / 3600000) * 3600000;
  const begin = band.from * samples.binMs;
  const rate = rateText(band.most, samples.binMs);
  context.font = `${Math.round(11 * ratio)}px system-ui, sans-serif`;
  context.textBaseline = 'bottom';
  context.fillStyle = app.colours.textFaded;
  if (!app.state.isHeat) {
    for (let at = Math.ceil(begin / step) * step; at < begin + span; at += step) {
      const x = (at - begin) / span * width;
      context.fillRect(Math.round(x), height - AXIS_PX * ratio, ratio, 4 * ratio);
      const text = clockText(at);
      const room = context.measureText(text).width;
      context.fillText(text, Math.min(Math.max(x - room / 2, 0), width - room), height);
    }
  } else {
    const { rows, each } = heatShape(band.from, band.to, canvasWidth(), pictureHeight());
    context.fillText(`a column is ${amount(rows * each * samples.binMs * 1e6, 'ns')}, a cell ${amount(each * samples.binMs * 1e6, 'ns')}, the strongest ${rate}; from ${clockText(begin)} to ${clockText(begin + span)}`, 0, height);
  }
  if (rate && !app.state.isHeat && rowsColumn() === null) {
    context.textBaseline = 'top';
    context.fillStyle = app.colours.palette.page;
    context.globalAlpha = 0.75;
    context.fillRect(0, 0, context.measureText('max ' + rate).width + 8 * ratio, 15 * ratio);
    context.globalAlpha = 1;
    context.fillStyle = app.colours.text;
    context.fillText('max ' + rate, 4 * ratio, 2 * ratio);
  }
}

const canvasWidth = () => byId('band-canvas').clientWidth;
const canvasPixels = () => Math.max(Math.round(canvasWidth() * (window.devicePixelRatio || 1)), 1);
const pictureHeight = () => byId('band-canvas').clientHeight - AXIS_PX - lanesPx();

/* Where a bin begins, in CSS pixels; in the heat map: its column. */
function bandX(bin) {
  if (!app.state.isHeat)
    return (bin - band.from) / (band.to - band.from) * canvasWidth();
  const { rows, each, columns } = heatShape(band.from, band.to, canvasWidth(), pictureHeight());
  return Math.floor((bin - band.from) / each / rows) / columns * canvasWidth();
}

/* The bin at a place; and the one after it, as a window of one cell or pixel. */
function binsAt(clientX, clientY) {
  bandView(); /* the picture may not have been drawn yet */
  const box = byId('band-canvas').getBoundingClientRect();
  const x = Math.min(Math.max((clientX - box.left) / box.width, 0), 1);
  if (!app.state.isHeat) {
    const bin = band.from + x * (band.to - band.from);
    return [Math.min(Math.floor(bin), band.to - 1), Math.min(Math.max(Math.ceil(bin), band.from + 1), band.to)];
  }
  const { rows, each, columns } = heatShape(band.from, band.to, canvasWidth(), pictureHeight());
  const column = Math.min(Math.floor(x * columns), columns - 1);
  const row = Math.min(Math.max(Math.floor((clientY - box.top) / pictureHeight() * rows), 0), rows - 1);
  const first = Math.min(band.from + (column * rows + row) * each, band.to - 1);
  return [first, Math.min(first + each, band.to)];
}

function placeWindows() {
  bandView();
  const { samples } = app.explorer;
  const place = (box, time) => {
    box.hidden = time === null;
    if (time === null)
      return;
    const [from, to] = windowOf(time, samples.bins);
    const x0 = Math.max(bandX(from), 0);
    const { rows, each, columns } = heatShape(band.from, band.to, canvasWidth(), pictureHeight());
    const x1 = app.state.isHeat ? Math.floor((to - 1 - band.from) / each / rows + 1) / columns * canvasWidth() : bandX(to);
    box.style.left = x0 + 'px';
    box.style.width = Math.max(Math.min(x1, canvasWidth()) - x0, 3) + 'px';
  };
  place(byId('band-window'), app.state.bandZoom ? null : app.state.time);
  place(byId('band-before'), app.state.base);
}

/* What stands above the band: the window, its samples and its rate; what the colours mean. */
function showBandHead() {
  const { samples, count } = app.explorer;
  const { time, base, isHeat, bandZoom } = app.state;
  const [from, to] = windowOf(time, samples.bins);
  const ms = (to - from) * samples.binMs;
  const value = app.whole.total[0];
  byId('band-about').textContent = (time === null ? 'All ' : `${clockText(from * samples.binMs)} \u2013 ${clockText(to * samples.binMs)}: `) +
    `${clockText(ms)}, ${grouped(count)} samples, ${rateText(value, ms)}`;
  byId('band-about').title = `${new Date(samples.startMs + from * samples.binMs).toLocaleString()} \u2013 ${new Date(samples.startMs + to * samples.binMs).toLocaleString()}`;
  byId('band-heat').setAttribute('aria-pressed', String(isHeat));
  showRowsChoice();
  byId('band-zoom').setAttribute('aria-pressed', String(bandZoom));
  byId('band-base').setAttribute('aria-pressed', String(base !== null));
  byId('band-zoom').hidden = byId('band-all').hidden = time === null;
  byId('band-base').hidden = time === null && base === null;
  const legend = byId('band-legend');
  legend.replaceChildren();
  for (const group of band.groups.length > 1 && rowsColumn() === null ? band.groups : []) {
    const item = legend.appendChild(element('span'));
    item.appendChild(element('i')).style.background = group.colour[app.isDark ? 'dark' : 'light'];
    item.append(group.name);
  }
  if (samples.gaps.length > 0) {
    const item = legend.appendChild(element('span'));
    item.append(element('i', 'lost'), 'signals lost');
    item.title = 'Here signals became no samples: what is missing is not idleness. The badge in the head says why.';
  }
  if (byId('fit') !== null) {
    const item = legend.appendChild(element('span', '', `made to fit ${amount(samples.fit.most, 'bytes')}`));
    item.title = byId('fit').textContent;
  }
  laneLegend(legend, from * samples.binMs, to * samples.binMs);
  for (const [id, at] of [['band-from', from], ['band-to', to]]) {
    const input = byId(id);
    input.max = samples.bins;
    input.value = at;
    input.setAttribute('aria-valuetext', clockText(at * samples.binMs));
  }
}

/* A window that is all of it is none. */
function setWindow(from, to, isPush) {
  const { bins } = app.explorer.samples;
  const first = Math.min(Math.max(Math.min(from, to), 0), bins - 1);
  const last = Math.min(Math.max(Math.max(from, to), first + 1), bins);
  go({ time: first === 0 && last === bins ? null : [first, last] }, isPush);
}

/* ---- pointers ---- */

function bandDown(event) {
  if (event.button !== 0)
    return;
  const { time, isHeat, bandZoom } = app.state;
  const { bins } = app.explorer.samples;
  const box = byId('band-canvas').getBoundingClientRect();
  const x = event.clientX - box.left;
  const edge = event.pointerType === 'touch' ? EDGE_TOUCH_PX : EDGE_PX;
  const at = binsAt(event.clientX, event.clientY);
  let kind = 'new';
  if (time !== null && !isHeat && !bandZoom && !event.shiftKey) {
    const [from, to] = windowOf(time, bins);
    const [x0, x1] = [bandX(from), bandX(to)];
    kind = Math.abs(x - x0) <= edge ? 'from' : Math.abs(x - x1) <= edge ? 'to' : x > x0 && x < x1 ? 'move' : 'new';
  }
  band.drag = { kind: event.shiftKey ? 'base' : kind, at, row: rowAt(event.clientY), time: windowOf(time, bins), before: hashOf(app.state), x: event.clientX, isMoved: false };
  byId('band-canvas').setPointerCapture(event.pointerId);
}

function bandMove(event) {
  const { drag } = band;
  if (drag === null)
    return;
  if (!drag.isMoved && Math.abs(event.clientX - drag.x) < DRAG_PX)
    return;
  drag.isMoved = true;
  const { bins } = app.explorer.samples;
  const [first, after] = binsAt(event.clientX, event.clientY);
  if (drag.kind === 'new' || drag.kind === 'base') {
    const range = [Math.min(drag.at[0], first), Math.max(drag.at[1], after)];
    if (drag.kind === 'new')
      setWindow(range[0], range[1], false);
    else
      go({ base: range }, false);
  } else if (drag.kind === 'from') {
    setWindow(first, drag.time[1], false);
  } else if (drag.kind === 'to') {
    setWindow(drag.time[0], after, false);
  } else {
    const length = drag.time[1] - drag.time[0];
    const start = Math.min(Math.max(drag.time[0] + first - drag.at[0], 0), bins - length);
    setWindow(start, start + length, false);
  }
}

function bandUp(event) {
  const { drag } = band;
  band.drag = null;
  if (drag === null)
    return;
  if (!drag.isMoved && app.state.isHeat)
    setWindow(drag.at[0], drag.at[1], true);
  else if (!drag.isMoved)
    toggleBandRow(drag.row, event.altKey ? 'without' : 'only');
  else if (drag.isMoved && drag.before !== hashOf(app.state))
    remember(true);
}

function stepWindow(direction) {
  const { bins } = app.explorer.samples;
  if (app.state.time === null)
    return;
  const [from, to] = windowOf(app.state.time, bins);
  const length = to - from;
  const start = Math.min(Math.max(from + direction * length, 0), bins - length);
  setWindow(start, start + length, false);
}

const toggleHeat = () => go({ isHeat: !app.state.isHeat, rowsBy: '' }, false);

/* Ctrl+wheel: less or more of the time, around the place of the pointer; the picture shows that alone. */
function bandWheel(event) {
  if (!event.ctrlKey)
    return;
  event.preventDefault();
  const { bins } = app.explorer.samples;
  const [first, after] = binsAt(event.clientX, event.clientY);
  const [from, to] = [band.from, band.to];
  const length = Math.min(Math.max((to - from) * 1.5 ** (event.deltaY / 100), 1), bins); /* several turns may come as one */
  const middle = (first + after) / 2;
  const start = Math.min(Math.max(Math.round(middle - (middle - from) / (to - from) * length), 0), bins - Math.ceil(length));
  const range = [start, Math.min(start + Math.ceil(length), bins)];
  go(range[0] === 0 && range[1] === bins ? { time: null, bandZoom: false } : { time: range, bandZoom: true }, false);
}

function wireBand() {
  const canvas = byId('band-canvas');
  canvas.addEventListener('pointerdown', bandDown);
  canvas.addEventListener('pointermove', bandMove);
  canvas.addEventListener('pointermove', showSpan);
  canvas.addEventListener('pointerleave', hideTip);
  canvas.addEventListener('pointerup', bandUp);
  canvas.addEventListener('pointercancel', () => { band.drag = null; });
  canvas.addEventListener('wheel', bandWheel, { passive: false });
  canvas.addEventListener('dblclick', () => go({ time: null, bandZoom: false }));
  for (const id of ['band-from', 'band-to']) {
    byId(id).addEventListener('input', () => setWindow(Number(byId('band-from').value), Number(byId('band-to').value), false));
    byId(id).addEventListener('keydown', event => { /* a bin may be a hundred-thousandth of the whole: a step is a hundredth */
      const { bins } = app.explorer.samples;
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (!by || event.ctrlKey || event.altKey)
        return;
      event.preventDefault();
      const size = event.shiftKey ? 1 : Math.max(Math.round(bins / 100), 1);
      const [from, to] = windowOf(app.state.time, bins);
      if (id === 'band-from')
        setWindow(Math.min(from + by * size, to - 1), to, false);
      else
        setWindow(from, Math.max(to + by * size, from + 1), false);
    });
  }
  byId('band-heat').addEventListener('click', toggleHeat);
  byId('band-rows').addEventListener('click', toggleRowsBand);
  byId('band-by').addEventListener('change', event => go({ rowsBy: event.target.value }, false));
  byId('band-zoom').addEventListener('click', () => go({ bandZoom: !app.state.bandZoom }, false));
  byId('band-all').addEventListener('click', () => go({ time: null, bandZoom: false }));
  byId('band-base').addEventListener('click', toggleBase);
  new ResizeObserver(showBand).observe(byId('band-box'));
}
