/* panel - everything around the graph: numbers of a frame, chips, legend, methods, dialogs. */
const PANEL_ROWS = 200;
const DOUBTFUL_SHARE = 0.95;
const NOTED_SHARE = 0.01;

let sayTimer = 0;
function say(text) {
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => { byId('spoken').textContent = text; }, 250);
}

/* Self and total of a name in the whole graph; recursion counts once. Kept until sums change. */
function sumEverywhere(name) {
  const { tree, everywhere } = app;
  let sum = everywhere.get(name);
  if (sum !== undefined)
    return sum;
  sum = { self: 0, total: 0, places: 0 };
  for (let i = 0, until = 0; i < tree.count; i++) {
    if (tree.name[i] !== name || tree.total[i] === 0)
      continue;
    sum.self += tree.self[i];
    sum.places++;
    if (i >= until) {
      sum.total += tree.total[i];
      until = tree.end[i];
    }
  }
  everywhere.set(name, sum);
  return sum;
}

function kindText(node) {
  const { tree } = app;
  const module = tree.module.get(tree.name[node]);
  const words = [TYPES[tree.type[node]]];
  if (module)
    words.push(module);
  words.push('depth ' + tree.depth[node]);
  return words.join(' \u00b7 ');
}

function numberRow(grid, label, value, whole, all) {
  grid.append(element('span', 'label', label), element('span', '', amount(value)),
    element('span', '', share(value, whole)), element('span', '', share(value, all)));
}

function tierBar(node) {
  const { tree, colours } = app;
  const [inlined, c1, interpreted] = tree.tiers.subarray(3 * node, 3 * node + 3);
  let base = 0;
  for (let i = 0; i < 3; i++)
    base += tree.tiers[3 * node + i];
  /* Tallies are of the unfiltered frame. */
  const whole = Math.max(app.baseTotal[node], base);
  const parts = [[1, whole - base], [2, inlined], [6, c1], [0, interpreted]].filter(part => part[1] > 0);
  const box = element('div', 'tiers');
  const bar = box.appendChild(element('canvas'));
  bar.width = 300;
  bar.height = 6;
  const context = bar.getContext('2d');
  let x = 0;
  for (const [type, value] of parts) {
    const width = Math.max(300 * value / whole, 1);
    context.fillStyle = colours.palette.types[type];
    context.fillRect(x, 0, width, 6);
    x += width;
  }
  box.append(parts.map(([type, value]) => TYPES[type] + ' ' + share(value, whole)).join(', '));
  return box;
}

/* Fills a tooltip or sheet with what is known of a frame, or of a column of dust (under 0). */
function fillDetails(box, node) {
  const { tree, layout, zoom } = app;
  box.replaceChildren();
  if (node < 0) {
    const dust = layout.dust[-1 - node];
    box.append(element('p', 'frame-title', grouped(dust.frames) + (dust.frames === 1 ? ' frame' : ' frames') + ' too narrow to draw'),
      element('p', 'frame-kind', amount(dust.total) + ', ' + share(dust.total, tree.total[zoom]) + ' of view: click to zoom'));
    return;
  }
  const title = readable(tree.titles[tree.name[node]], tree.type[node]);
  box.append(element('p', 'frame-title', title), element('p', 'frame-kind', kindText(node)));
  const grid = box.appendChild(element('div', 'numbers'));
  const whole = tree.total[zoom];
  const all = tree.total[0];
  const everywhere = sumEverywhere(tree.name[node]);
  grid.append(element('span'), element('span'), element('span', 'head', 'of view'), element('span', 'head', 'of all'));
  numberRow(grid, 'Total', tree.total[node], whole, all);
  numberRow(grid, 'Self', tree.self[node], whole, all);
  if (app.before !== null)
    box.append(element('p', 'frame-kind', changeText(tree.total[node], app.before[node])));
  if (everywhere.places > 1) {
    grid.append(element('span', 'label', `In all its ${grouped(everywhere.places)} places: total`), element('span', '', amount(everywhere.total)),
      element('span'), element('span', '', share(everywhere.total, all)));
    grid.append(element('span', 'label', 'self'), element('span', '', amount(everywhere.self)), element('span'), element('span', '', share(everywhere.self, all)));
  }
  if (isJava(tree.type[node]) && tree.type[node] !== TYPE_CLASS && tree === app.whole)
    box.append(tierBar(node));
  if (tree.type[node] === TYPE_MARK)
    box.append(element('p', 'frame-kind', 'Says what is missing here; it is no code.'));
}

function spokenText(node) {
  const { tree, zoom } = app;
  return `${readable(tree.titles[tree.name[node]], tree.type[node])}, ${TYPES[tree.type[node]]}, ` +
    `${share(tree.total[node], tree.total[zoom])} total, ${share(tree.self[node], tree.total[zoom])} self, depth ${tree.depth[node]}`;
}

function showStatus() {
  const { tree, zoom, hover, cursor } = app;
  if (app.explorer?.locks?.isOn()) {
    byId('where').textContent = 'Arrows move, Enter opens, a heading sorts, / to search, K for the graph';
    byId('figures').textContent = '';
    return;
  }
  const node = hover !== null ? hover : cursor >= 0 ? cursor : zoom;
  if (node <= 0) {
    byId('where').textContent = node === 0 ? 'Click a frame to zoom, right click for more, / to search, ? for help' : '';
    byId('figures').textContent = node === 0 ? `${amount(tree.total[0])} in all` : '';
    return;
  }
  byId('where').textContent = readable(tree.titles[tree.name[node]], tree.type[node]);
  byId('figures').textContent = `${amount(tree.total[node])}, ${share(tree.total[node], tree.total[zoom])} of view`;
}

function showFound() {
  const { tree, matches, zoom, queryError } = app;
  const found = byId('found');
  found.replaceChildren();
  byId('only').hidden = byId('without').hidden = !matches || matches.places === 0 || Boolean(app.explorer?.locks?.isOn());
  if (queryError) {
    found.textContent = found.title = queryError;
    return;
  }
  if (app.explorer?.locks?.isOn()) {
    showFoundLocks(found);
    return;
  }
  if (!matches)
    return;
  found.append(element('b', '', share(matches.total, tree.total[zoom])), ' of view');
  found.title = `${grouped(matches.names.size)} names, ${grouped(matches.places)} places; total ${amount(matches.total)}, self ${amount(matches.self)}`;
  say(`${grouped(matches.names.size)} names match, ${share(matches.total, tree.total[zoom])} of view`);
}

function showEmpty() {
  const filters = app.state.filters;
  byId('empty').textContent = filters.length > 0
    ? `0 of ${amount(app.baseTotal[0])} is left. Remove the last filter to see more.`
    : meta.filtered > 0 ? `No samples. The filters of the conversion left nothing of ${grouped(meta.filtered)}.`
    : 'No samples. Nothing that was looked for ran while this was recorded, or every sample was lost' +
      (meta.trust ? ': see the losses above.' : '.');
}

function chip(kind, text, title, remove) {
  const button = element('button', 'chip');
  button.type = 'button';
  button.title = title;
  button.append(element('i', '', kind), element('span', '', text), element('i', '', '\u00d7'));
  button.addEventListener('click', remove);
  return button;
}

function showChips() {
  const { tree, state, zoom } = app;
  const bar = byId('chips');
  const wasHidden = bar.hidden;
  const nameIn = (of, node) => readable(of.titles[of.name[node]], of.type[node]);
  const nameOf = node => nameIn(tree, node);
  bar.replaceChildren();
  state.filters.forEach((filter, i) => {
    const found = filter.kind === 'hide' ? findPath(app.whole, filter.path) : null;
    const text = found === null ? filter.query : found.isWhole ? nameIn(app.whole, found.node) : '[a frame that this profile has not]';
    bar.append(chip(filter.kind === 'hide' ? 'without stacks under' : filter.kind === 'only' ? 'only' : 'without', text, 'Remove this filter',
      () => go({ filters: state.filters.filter((other, at) => at !== i) })));
  });
  app.explorer?.chips(bar);
  comparisonChips(bar);
  if (zoom > 0)
    bar.append(chip('zoom', nameOf(zoom), 'Leave the zoom', () => go({ zoom: '' })));
  if (bar.childElementCount > 1)
    bar.append(chip('clear all', '', 'Remove all', () => go({ filters: [], zoom: '', query: '', ...app.explorer?.none })));
  bar.hidden = bar.childElementCount === 0;
  if (wasHidden !== bar.hidden)
    draw();
}

/* A line of the legend: a click marks the frames that `query` finds. `sum`: self; null: it is no part of the view. */
function legendLine(type, text, query, sum) {
  const { tree, zoom, colours } = app;
  const button = element('button');
  button.type = 'button';
  button.title = (sum !== null ? 'Self, of view; click' : 'Click') + ' to mark these frames';
  drawSwatch(button.appendChild(element('canvas')), colours, type);
  button.append(element('span', '', text));
  if (sum !== null)
    button.append(element('span', 'share', share(sum, tree.total[zoom])));
  button.addEventListener('click', () => go({ query: app.state.query === query ? '' : query }));
  const line = element('li');
  line.append(button);
  return line;
}

/* Share of self by type in the view; a click searches the type. What lies in frames too narrow to keep is of types that nobody knows any more. */
function showLegend() {
  const { tree, zoom } = app;
  const sums = new Float64Array(TYPES.length);
  const seen = new Uint8Array(TYPES.length);
  let folded = 0;
  for (let i = zoom; i < tree.end[zoom]; i++) {
    if (tree.type[i] === TYPE_MARK && tree.titles[tree.name[i]] === '[folded]') {
      folded += tree.self[i];
    } else {
      sums[tree.type[i]] += tree.self[i];
      seen[tree.type[i]] = 1;
    }
  }
  const list = byId('legend').querySelector('ul');
  list.replaceChildren();
  byId('legend').querySelector('summary').textContent = app.before !== null ? 'Change' : 'Frame types';
  if (app.before !== null) {
    list.append(...diffLegend());
    return;
  }
  for (const type of [TYPE_ENDPOINT, TYPE_OPERATION, TYPE_ATTRIBUTE, 1, 2, 6, 0, 3, 4, 5, TYPE_CLASS, TYPE_MARK])
    if (seen[type] !== 0)
      list.append(legendLine(type, TYPES[type], 'type:' + TYPES[type], type < TYPE_THREAD ? sums[type] : null));
  if (folded > 0)
    list.append(legendLine(TYPE_MARK, 'too narrow, folded', '="[folded]"', folded));
}

/* Methods ---------------------------------------------------------------------------------------- */

const panelOrder = { by: 'self' };

function listMethods() {
  const { tree, zoom, hit } = app;
  const self = new Float64Array(tree.titles.length);
  const total = new Float64Array(tree.titles.length);
  const until = new Uint32Array(tree.titles.length);
  const type = new Uint8Array(tree.titles.length);
  const best = new Float64Array(tree.titles.length).fill(-1);
  const matched = new Uint8Array(tree.titles.length);
  const then = app.before; /* totals of a baseline */
  const before = new Float64Array(tree.titles.length);
  for (let i = zoom; i < tree.end[zoom]; i++) {
    const name = tree.name[i];
    self[name] += tree.self[i];
    if (hit !== null && hit[i])
      matched[name] = 1;
    if (tree.self[i] > best[name]) {
      best[name] = tree.self[i];
      type[name] = tree.type[i];
    }
    if (i >= until[name]) {
      total[name] += tree.total[i];
      before[name] += then === null ? 0 : then[i];
      until[name] = tree.end[i];
    }
  }
  const rows = [];
  for (let name = 1; name < tree.titles.length; name++) {
    if (total[name] + before[name] > 0 && tree.special[name] < TYPE_MARK && (hit === null || matched[name]))
      rows.push({ name, self: self[name], total: total[name], before: before[name], type: type[name] });
  }
  if (panelOrder.by === 'change' && then !== null) {
    const size = row => Math.abs(changeOf(row.total, row.before).change);
    return rows.sort((a, b) => size(b) - size(a) || a.name - b.name);
  }
  const [first, second] = panelOrder.by !== 'total' ? ['self', 'total'] : ['total', 'self'];
  return rows.sort((a, b) => b[first] - a[first] || b[second] - a[second] || a.name - b.name);
}

/* `spark`: a cell of what it had over time; or null. */
function methodRow({ name, self, total, before, type }, whole, spark) {
  const row = element('tr');
  const { pack, owner, method } = splitTitle(app.tree.titles[name]);
  const button = element('button');
  button.type = 'button';
  const title = readable(app.tree.titles[name], type);
  if (title !== app.tree.titles[name] && (pack || owner)) {
    if (pack)
      button.append(breakable(pack + '.', 'package'));
    button.append(breakable((owner ? owner + '.' : '') + method));
  } else {
    button.append(breakable(title));
  }
  button.title = 'Search for it';
  button.addEventListener('click', () => go({ query: `="${title}"` }));
  row.append(element('td', '', share(self, whole)), element('td', '', share(total, whole)));
  if (app.before !== null)
    row.append(element('td', '', changeBrief(total, before)));
  if (spark !== null)
    row.append(spark);
  row.appendChild(element('td')).append(button);
  return row;
}

function showMethods() {
  const panel = byId('panel');
  if (panel.hidden)
    return;
  const { tree, zoom, hit } = app;
  const rows = listMethods();
  const scrolled = panel.querySelector('.list')?.scrollTop || 0;
  const bar = element('div', 'bar');
  const close = element('button', '', 'Close');
  close.type = 'button';
  close.addEventListener('click', toggleMethods);
  bar.append(element('strong', '', `${grouped(rows.length)} ${hit === null ? 'methods' : 'matching methods'}, of view`), close);
  const table = element('table');
  const columns = table.appendChild(element('colgroup'));
  const orders = app.before !== null ? ['self', 'total', 'change'] : ['self', 'total'];
  const shown = rows.slice(0, PANEL_ROWS);
  const sparks = app.explorer === null ? null : app.explorer.sparks(shown);
  columns.append(...orders.map(() => element('col', 'number')), ...(sparks === null ? [] : [element('col', 'number')]), element('col'));
  const head = table.appendChild(element('thead')).appendChild(element('tr'));
  for (const by of orders) {
    const cell = head.appendChild(element('th'));
    const button = cell.appendChild(element('button', '', by[0].toUpperCase() + by.slice(1)));
    button.type = 'button';
    if (panelOrder.by === by)
      cell.setAttribute('aria-sort', 'descending');
    button.addEventListener('click', () => {
      panelOrder.by = by;
      showMethods();
    });
  }
  head.append(...(sparks === null ? [] : [element('th', '', 'Trend')]), element('th', '', 'Method'));
  const body = table.appendChild(element('tbody'));
  shown.forEach((row, i) => body.append(methodRow(row, tree.total[zoom], sparks === null ? null : sparks[i])));
  const list = element('div', 'list');
  list.append(table);
  if (rows.length > PANEL_ROWS)
    list.append(element('p', 'more', `and ${grouped(rows.length - PANEL_ROWS)} more; search to see them`));
  let noCode = 0;
  for (let i = zoom; i < tree.end[zoom]; i++)
    noCode += tree.type[i] >= TYPE_MARK ? tree.self[i] : 0;
  if (noCode > 0)
    list.append(element('p', 'more', `${share(noCode, tree.total[zoom])} of view is in no method: unknown, folded or without frames.`));
  panel.replaceChildren(bar, list);
  list.scrollTop = scrolled;
}

function toggleMethods() {
  const panel = byId('panel');
  panel.hidden = !panel.hidden;
  app.explorer?.alone('panel');
  byId('methods').setAttribute('aria-pressed', String(!panel.hidden));
  showMethods();
  draw();
}

/* Dialogs ---------------------------------------------------------------------------------------- */

function openDialog(title, ...content) {
  const dialog = byId('dialog');
  const close = element('button', 'close', 'Close');
  const heading = element('h2', '', title);
  close.type = 'button';
  close.addEventListener('click', () => dialog.close());
  heading.id = 'dialog-title';
  dialog.replaceChildren(close, heading, ...content);
  dialog.showModal();
}

function tableOf(heads, rows) {
  const table = element('table');
  const head = table.appendChild(element('thead')).appendChild(element('tr'));
  head.append(...heads.map(text => element('th', '', text)));
  const body = table.appendChild(element('tbody'));
  for (const row of rows)
    body.appendChild(element('tr')).append(...row.map(text => element('td', '', text)));
  return table;
}

function trustSums() {
  const { signals, samples, losses } = meta.trust;
  const lost = losses.reduce((sum, loss) => sum + loss[2], 0);
  return { signals, samples, lost, isWhole: samples + lost === signals };
}

/* CPU time that no sample stands for, of threads that should have some. */
function unsampled() {
  return meta.cpu.process - meta.cpu.lines[0][1] - meta.cpu.leftOut;
}

/* Times and shares may be negative: samples can stand for more than a clock says. */
function signed(value, text) {
  return (value < 0 ? '-' : '') + text(Math.abs(value));
}

function cpuTable() {
  const { process, lines } = meta.cpu;
  const row = (name, ns) => [name, signed(ns, size => amount(size, 'ns')), signed(ns, size => share(size, process))];
  return tableOf(['CPU time', 'Time', 'Share'], [...lines.filter(line => line[1] !== 0).map(line => row(...line)), row('by the clock of the process', process)]);
}

function badgeMain([figure, of]) {
  const main = element('span', 'main');
  main.append(element('b', '', figure), of);
  return main;
}

function showTrust() {
  byId('trust').hidden = true;
  if (!meta.trust)
    return;
  const { signals, samples, isWhole } = trustSums();
  const badge = byId('trust');
  const unknown = sumUnknown(0);
  const all = app.tree.total[0];
  const said = [`${share(samples, signals)} of signals became samples`];
  const notes = [];
  const note = (part, whole, short, long) => {
    if (part > 0 && part >= NOTED_SHARE * whole) {
      notes.push({ part: part / whole, text: `, ${share(part, whole)} ${short}` });
      said.push(`${share(part, whole)} ${long}`);
    }
  };
  let main = [share(samples, signals), ' of signals'];
  if (meta.cpu) {
    const wanted = meta.cpu.process - meta.cpu.leftOut;
    const sampled = wanted - Math.max(0, unsampled());
    main = [share(sampled, wanted), ' of CPU time'];
    said.push(`samples stand for ${share(sampled, wanted)} of the CPU time`);
    note(signals - samples, signals, 'of signals lost', 'were lost');
  }
  note(unknown, all, 'incomplete', 'stand under stacks that are not whole');
  /* The worst of it; the rest is a click away. */
  notes.sort((a, b) => b.part - a.part);
  if (isWhole)
    badge.replaceChildren(badgeMain(main), element('span', 'long', ' sampled' + (notes.length > 0 ? notes[0].text : '')));
  else
    badge.textContent = 'Counts do not add up';
  badge.title = `How far to trust this profile: ${said.join(', ')}`;
  badge.dataset.brief = notes.length > 0 ? notes[0].text.slice(2) : '';
  badge.classList.toggle('noted', notes.length > 0); /* where there is no room for both, what is wrong is told */
  badge.classList.toggle('poor', !isWhole || samples < DOUBTFUL_SHARE * signals || unknown > (1 - DOUBTFUL_SHARE) * all * 2);
  badge.hidden = false;
}

/* What stands under or in frames that say what is missing, below `root`. What --minwidth folded is known. */
function sumUnknown(root) {
  const { tree } = app;
  let sum = 0;
  for (let i = root, until = root; i < tree.end[root]; i++) {
    if (tree.type[i] !== TYPE_MARK || i < until || tree.titles[tree.name[i]] === '[folded]')
      continue;
    sum += tree.total[i];
    until = tree.end[i];
  }
  return sum;
}

/* Frames that say what is missing, by their share of all. */
function listMarks() {
  const { tree } = app;
  return meta.marks.map(name => ({ title: tree.titles[name], total: sumEverywhere(name).total }))
    .filter(mark => mark.total > 0).sort((a, b) => b.total - a.total);
}

function openTrust() {
  const { signals, samples, lost, isWhole } = trustSums();
  const rows = [['became samples', grouped(samples), share(samples, signals)],
    ...meta.trust.losses.map(([name, text, count]) => ['lost: ' + (text || name), grouped(count), share(count, signals)]),
    ['signals', grouped(signals), share(samples + lost, signals)]];
  const content = [element('p', '', 'Every profiling signal ends in a sample or in exactly one named loss.'), tableOf(['Outcome', 'Count', 'Share'], rows)];
  if (!isWhole)
    content.push(element('p', 'bad', `Samples and losses are ${grouped(samples + lost)}, not ${grouped(signals)}: something was lost without a name.`));
  if (meta.cpu)
    content.push(element('h3', '', 'Where the CPU time went'), cpuTable());
  if (meta.cost)
    content.push(element('p', '', `The profiler itself took ${meta.cost}.`));
  const marks = listMarks();
  content.push(element('h3', '', 'Stacks that are not whole'));
  content.push(marks.length === 0 ? element('p', '', 'None: every stack is complete.')
    : tableOf(['What the frame says', 'Total', 'Share of all'], marks.map(mark => [mark.title, amount(mark.total), share(mark.total, app.tree.total[0])])));
  openDialog('How far to trust this profile', ...content);
}

function openHelp() {
  const list = (tag, rows) => {
    const made = element('dl');
    for (const [keys, text] of rows) {
      const term = made.appendChild(element('dt'));
      for (const key of keys)
        term.append(element(tag, '', key), ' ');
      made.append(element('dd', '', text));
    }
    return made;
  };
  openDialog('Keys and search',
    element('p', '', 'Width is ' + (meta.unit === 'ns' ? timeWords(meta)[0] : meta.unit) + '. Siblings stand in the order of their names, not of time.'),
    list('kbd', [[['click', 'Enter'], 'zoom into a frame; click a caller to go back to it'], [['Backspace', '0'], 'zoom out by one, show all'],
      [['arrows'], 'to the caller, the widest callee, the frames beside'], [['Ctrl+wheel', '+', '-'], 'zoom freely; drag or Shift+arrows to move'],
      [['/', 'Ctrl+F'], 'search'], [['N', 'Shift+N', 'Esc'], 'next match, previous one, end the search'],
      [['F', 'Shift+F'], 'only stacks with a match, only those without'], [['X', 'Alt+click'], 'leave out the stacks under a frame'],
      [['right click'], 'menu'], [['I', 'M', 'D', 'L'], 'flip, methods, light or dark, frame types'], [['S'], 'save what is shown'], [['P', 'W', 'B'], 'of a comparison: shares or amounts, whose frames are drawn, with or without it'], [['browser Back'], 'undo']]),
    ...(app.explorer === null ? [] : [element('h3', '', 'Time and filters'),
      list('kbd', [[['drag'], 'over the timeline: a window, whose edges and middle can be dragged'], [['[', ']'], 'one window back or on'],
        [['double click'], 'the whole time'], [['H', 'R'], 'heat map; a row for each thread, state, endpoint (click: only these)'], [['Z', 'Ctrl+wheel'], 'show the window alone; less or more of the time'], [['Tab'], 'to the ends of the window, which arrows move (Shift: by one bin)'],
        [['Shift+drag', 'B'], 'compare with another window, with this one or no more'],
        [['C'], 'callers of what ran; the menu of a frame has callers and callees of its method'],
        ...(app.explorer.events.length > 1 ? [[['V'], 'the next event']] : []),
        ...(app.explorer.locks === null ? [] : [[['K'], 'locks: arrows move, Enter opens a class or a place, headings sort']]),
        [['T'], 'call tree: arrows open and close, Enter zooms, * opens the heaviest path'],
        [['E'], 'filters: click for only these samples, Alt+click or Delete for all others']])]),
    element('h3', '', 'Search'),
    list('code', [[['text'], 'part of a name, upper and lower case alike'], [['/regex/', '/regex/i'], 'regular expression'], [['="java.lang.String.hashCode"'], 'this name exactly'],
      [['type:kernel'], 'frames of a type'], [['module:libjvm'], 'native frames of a library'], [['pkg:java.util'], 'a package'], [['-text'], 'what does not match'], [['a | b'], 'either']]),
    element('h3', '', 'This profile'),
    element('p', '', document.querySelector('meta[name=generator]').content + '. ' + byId('summary').textContent +
      (meta.foldedStacks > 0 ? `. ${grouped(meta.foldedStacks)} stacks in frames too narrow to keep are shown as [folded].` : '.') +
      (byId('fit') === null ? '' : ' ' + byId('fit').textContent) +
      (meta.reverse ? ' Stacks are reversed: from the methods that ran, at the root, to their callers.' : '')));
}
