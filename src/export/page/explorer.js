/*
 * explorer - the flame graph of a part of the samples: of a window of time, of some threads, states or requests.
 *
 * The rest of the page knows none of it: it asks app.explorer which own value each line of the tree has.
 */
app.explorer = {
  samples: null, lanes: [], columns: [], mask: null, kept: null, passes: new Map(), contextSums: null, count: 0, selected: '', masked: '',
  beforeSelf: null, viewed: '', viewTree: null,
  locks: null, /* of a page with a census of locks: see locks.js */
};
Object.assign(app.state, { time: null, base: null, facets: [], isHeat: false, rowsBy: '', bandZoom: false, view: '', event: '' });

/* ---- address ---- */

/* Bins as milliseconds: a page that is made again may have others. */
function readRange(text) {
  const { binMs, bins } = meta.explorer;
  const found = /^(\d+)-(\d+)$/.exec(text || '');
  if (!found)
    return null;
  const from = Math.min(Math.floor(Number(found[1]) / binMs), bins - 1);
  const to = Math.min(Math.max(Math.ceil(Number(found[2]) / binMs), from + 1), bins);
  return from === 0 && to === bins ? null : [from, to];
}

const rangeText = range => `${range[0] * meta.explorer.binMs}-${range[1] * meta.explorer.binMs}`;

app.explorer.read = parameters => {
  const facets = [];
  for (const kind of ['only', 'without']) {
    for (const text of parameters.getAll(kind)) {
      const [, column, hasValue, value] = /^([^:]*)(:?)(.*)$/s.exec(text);
      facets.push({ kind, column: column.replaceAll('%3A', ':').replaceAll('%25', '%'), value: hasValue ? value : null });
    }
  }
  const time = readRange(parameters.get('t'));
  const view = parameters.get('view') || '';
  return {
    event: parameters.get('event') || '', time, base: readRange(parameters.get('base')), facets,
    view: view === 'locks' && app.explorer.locks === null ? '' : view, ...app.explorer.locks?.read(parameters), isHeat: parameters.get('band') === 'heat', rowsBy: parameters.get('band') === 'rows' ? parameters.get('by') || 'pool' : '', bandZoom: time !== null && parameters.get('bz') === '1',
  };
};

app.explorer.write = (parameters, state) => {
  if (state.event)
    parameters.set('event', state.event);
  if (state.time !== null)
    parameters.set('t', rangeText(state.time));
  if (state.base !== null)
    parameters.set('base', rangeText(state.base));
  for (const facet of state.facets) {
    const column = facet.column.replaceAll('%', '%25').replaceAll(':', '%3A'); /* an attribute's name may hold one */
    parameters.append(facet.kind, facet.value === null ? column : column + ':' + facet.value);
  }
  if (state.view)
    parameters.set('view', state.view);
  if (state.isHeat)
    parameters.set('band', 'heat');
  if (state.rowsBy !== '') {
    parameters.set('band', 'rows');
    parameters.set('by', state.rowsBy);
  }
  if (state.bandZoom && state.time !== null)
    parameters.set('bz', '1');
  app.explorer.locks?.write(parameters, state);
};

/* ---- selection ---- */

/* True: own values of the tree are others than before. */
app.explorer.select = state => {
  const { explorer, whole: tree } = app;
  const { samples } = explorer;
  if (samples === null)
    return false;
  const masked = JSON.stringify([state.facets, app.filterText]);
  const selected = JSON.stringify([state.time, state.base, masked]);
  if (selected === explorer.selected)
    return false;
  const [from, to] = windowOf(state.time, samples.bins);
  if (masked !== explorer.masked) {
    explorer.passes = passesOf(explorer.columns, state.facets);
    explorer.mask = maskOf(explorer.passes, samples.contexts);
    explorer.kept = app.keep === null ? null : Uint8Array.from(samples.leaf, line => app.keep[line]);
    explorer.masked = masked;
    sumBand();
  }
  tree.baseSelf = selfOf(samples, tree, from, to, explorer.mask);
  explorer.beforeSelf = state.base === null ? null : selfOf(samples, tree, ...windowOf(state.base, samples.bins), explorer.mask);
  explorer.contextSums = sumContexts(samples, from, to, explorer.kept);
  explorer.count = countSamples(samples, from, to, explorer.mask, explorer.kept);
  explorer.selected = selected;
  return true;
};

app.explorer.prepare = tree => {
  prepareEvents();
  prepareViews(tree);
};

/* Another tree, in which line i of the one before is of[i]. */
app.explorer.adopt = (tree, of) => {
  const { explorer } = app;
  prepareViews(tree);
  explorer.selected = explorer.masked = explorer.viewed = '';
  explorer.lineOf = of;
  if (explorer.samples !== null)
    explorer.samples.leaf = explorer.samples.line.map(line => of[line]);
};

/* The tree that the state asks for, made again when sums or view are others. */
app.explorer.view = state => {
  const { explorer, whole } = app;
  const wanted = app.version + state.view;
  if (state.view === '' || explorer.samples === null) {
    explorer.viewed = '';
    return whole;
  }
  if (explorer.viewed !== wanted) {
    explorer.viewed = wanted;
    explorer.viewTree = makeView(whole, state.view);
  }
  return explorer.viewTree;
};

app.explorer.beforeOf = tree => app.wholeBefore === null ? null : tree === app.whole ? app.wholeBefore.total : tree.before;

app.explorer.selfOfName = name => {
  const { whole } = app;
  let sum = 0;
  for (let i = 1; i < whole.count; i++)
    sum += whole.canon[whole.name[i]] === name ? whole.self[i] : 0;
  return sum;
};

app.explorer.actions = node => {
  const { tree, state } = app;
  const title = tree.titles[tree.name[node]];
  if (node === 0 && state.view === '')
    return [['Callers of what ran', 'C', () => showView('callers')]];
  if (tree.type[node] >= TYPE_THREAD || title === VIEW_CUT)
    return [];
  return [['Callers of it', '', () => go({ view: 'callers:' + title, zoom: '' })], ['All that it calls', '', () => go({ view: 'callees:' + title, zoom: '' })]];
};

/* Where panels lie over the graph, one that opens closes the others. */
app.explorer.alone = opened => {
  const panels = { panel: 'methods', facets: 'facets-open', rows: 'rows-open' };
  if (byId(opened).hidden || !matchMedia('(max-width: 1199px)').matches)
    return;
  for (const [id, button] of Object.entries(panels)) {
    if (id !== opened) {
      byId(id).hidden = true;
      byId(button).setAttribute('aria-pressed', 'false');
    }
  }
};

app.explorer.show = () => {
  if (app.explorer.samples === null)
    return;
  showEvents();
  showBandHead();
  showFacets();
  showRows();
  showBand();
  app.explorer.locks?.show();
};

app.explorer.chips = bar => {
  const { samples, columns } = app.explorer;
  const { state } = app;
  if (samples === null)
    return;
  const text = range => `${clockText(range[0] * samples.binMs)} \u2013 ${clockText(range[1] * samples.binMs)}`;
  if (state.view !== '')
    bar.append(chip(...viewText(state.view), 'The whole graph', () => go({ view: '', zoom: '' })));
  if (state.time !== null)
    bar.append(chip('time', text(state.time), 'The whole time', () => go({ time: null, bandZoom: false })));
  if (state.base !== null)
    bar.append(chip('compared with', text(state.base), 'No comparison', () => go({ base: null })));
  for (const facet of state.facets) {
    const column = columns.find(own => own.key === facet.column);
    const name = (column ? facetTitle(column).toLowerCase() : facet.column) + ' ';
    bar.append(chip((facet.kind === 'only' ? '' : 'without ') + name, facet.value === null ? '[none]' : facet.value, 'Remove this filter',
      () => go({ facets: state.facets.filter(other => other !== facet) })));
  }
};

app.explorer.none = { time: null, base: null, facets: [], bandZoom: false, view: '' };

/* Compares with the window; without one, or a second time, no longer. */
function toggleBase() {
  const { time, base } = app.state;
  if (time === null && base === null && app.other !== null)
    go({ isCompared: !app.state.isCompared });
  if (base !== null && (time === null || JSON.stringify(base) === JSON.stringify(time)))
    go({ base: null });
  else if (time !== null)
    go({ base: time });
}

/* ---- start ---- */

/* The graph of all is on the screen; samples come when they are unpacked. */
app.explorer.begin = async () => {
  const { explorer } = app;
  await breathe();
  const samples = await readSamples(meta.explorer, app.original || app.whole, app.baseTotal[0]);
  const columns = makeColumns(samples);
  explorer.lanes = await readLanes(meta.explorer);
  await explorer.locks?.begin();
  /* All at once: a page with samples is one that answers. */
  samples.line = samples.leaf;
  if (explorer.lineOf)
    samples.leaf = samples.line.map(line => explorer.lineOf[line]);
  explorer.columns = columns;
  explorer.samples = samples;
  byId('band').hidden = false;
  byId('facets-open').addEventListener('click', toggleFacets);
  wireBand();
  wireRows();
  Object.assign(letters, {
    c: () => showView('callers'),
    e: toggleFacets,
    t: toggleRows,
    h: toggleHeat,
    r: toggleRowsBand,
    z: () => go({ bandZoom: !app.state.bandZoom && app.state.time !== null }, false),
    b: toggleBase,
    v: nextEvent,
    '[': () => stepWindow(-1),
    ']': () => stepWindow(1),
  });
  explorer.selected = explorer.masked = '';
  apply(true);
};
