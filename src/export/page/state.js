/*
 * state - what is shown, how it got into the address, and how it is drawn.
 *
 * A link holds zoom (path of name hashes), query, filters and orientation. The browser's history
 * is the undo list: zoom and filters push, typing replaces.
 */
const app = {
  tree: null, /* that is shown */
  whole: null, /* of the page: the same, but for views of the explorer */
  painter: null, colours: null, shades: null, layout: null,
  zoom: 0, view: { from: 0, to: 1 }, cursor: -1, hover: null,
  fromRoot: 0, version: 0, hit: null, matches: null, forms: new Map(), everywhere: new Map(),
  keep: null, filterText: '', /* leaves that filters of frames leave; null: all */
  other: null, /* a profile to compare with: see compare.js */
  wholeBefore: null, before: null, /* the baseline: {kept, total} of the whole, totals of what is shown */
  explorer: null, /* of the explorer page: which samples the tree is made of */
  state: { zoom: '', query: '', filters: [], isFlipped: meta.inverted, isCompared: true, isSwapped: false, isAbsolute: false },
};
const ANIMATION_MS = 120;
const HISTORY_PAUSE_MS = 250;

function readHash() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const filters = [];
  for (const text of parameters.getAll('f')) {
    const [, kind, rest] = /^(only|without|hide):(.*)$/s.exec(text) || [];
    if (kind === 'hide' || (kind && isQuery(rest)))
      filters.push(kind === 'hide' ? { kind, path: rest } : { kind, query: rest });
  }
  return {
    zoom: parameters.get('zoom') || '', query: parameters.get('q') || '', filters,
    isFlipped: parameters.has('flip') ? parameters.get('flip') === '1' : meta.inverted,
    isCompared: parameters.get('compare') !== '0', isSwapped: parameters.get('swap') === '1', isAbsolute: parameters.get('per') === 'run',
    ...app.explorer?.read(parameters),
  };
}

function hashOf(state) {
  const parameters = new URLSearchParams();
  if (state.zoom)
    parameters.set('zoom', state.zoom);
  if (state.query)
    parameters.set('q', state.query);
  for (const filter of state.filters)
    parameters.append('f', filter.kind + ':' + (filter.kind === 'hide' ? filter.path : filter.query));
  if (state.isFlipped !== meta.inverted)
    parameters.set('flip', state.isFlipped ? '1' : '0');
  if (!state.isCompared)
    parameters.set('compare', '0');
  if (state.isSwapped)
    parameters.set('swap', '1');
  if (state.isAbsolute)
    parameters.set('per', 'run');
  app.explorer?.write(parameters, state);
  const text = parameters.toString();
  return text ? '#' + text : '#';
}

let historyTimer = 0;
function remember(isPush) {
  const hash = hashOf(app.state);
  clearTimeout(historyTimer);
  try {
    if (isPush)
      history.pushState(null, '', hash);
    else /* typing: browsers refuse too many changes a second */
      historyTimer = setTimeout(() => history.replaceState(null, '', hash), HISTORY_PAUSE_MS);
  } catch (refused) {
    /* A sandboxed frame has no history; the page works without. */
  }
}

/* The one way to change what is shown. */
function go(change, isPush = true) {
  const before = hashOf(app.state);
  Object.assign(app.state, change);
  if (hashOf(app.state) !== before)
    remember(isPush);
  apply(before === hashOf(app.state));
}

/* Brings everything in line with app.state. */
function apply(isSame = false) {
  const { state } = app;
  if (app.explorer !== null && !app.explorer.enter(state))
    return;
  const { whole } = app;
  const filterText = JSON.stringify(state.filters);
  const isFiltered = filterText !== app.filterText;
  if (isFiltered) {
    app.keep = keepLeaves(whole, state.filters);
    app.filterText = filterText;
  }
  const isSelected = app.explorer !== null && app.explorer.select(state);
  if (isSelected || isFiltered || app.comparedAs !== comparedAs(state))
    sumAll(state);
  const shown = app.tree;
  app.tree = app.explorer === null ? whole : app.explorer.view(state);
  if (app.tree !== shown) {
    app.everywhere.clear();
    app.hover = null;
    app.cursor = -1;
  }
  app.before = app.explorer === null ? app.wholeBefore && app.wholeBefore.total : app.explorer.beforeOf(app.tree);
  const { tree } = app;
  let { node, isWhole } = findPath(tree, state.zoom);
  while (node > 0 && tree.total[node] === 0)
    node = tree.parent[node];
  if (!isWhole)
    say('The zoomed frame is not in this profile; its nearest caller is shown.');
  app.zoom = node;
  if (app.cursor >= 0 && tree.total[app.cursor] === 0)
    app.cursor = -1;
  search();
  document.documentElement.classList.toggle('top-root', state.isFlipped);
  byId('flip').setAttribute('aria-pressed', String(state.isFlipped !== meta.inverted));
  byId('empty').hidden = tree.total[0] > 0;
  if (tree.total[0] === 0)
    showEmpty();
  moveTo(tree.left[node], tree.left[node] + Math.max(tree.total[node], 1), !isSame && !isSelected && app.tree === shown);
  showChips();
  showLegend();
  showMethods();
  showStatus();
  app.explorer?.show();
}

/* Sums of the whole under all filters, and those of what it is compared with. */
function sumAll(state) {
  const { whole, keep } = app;
  const before = beforeSelf(state);
  const [wide, other] = state.isSwapped && before !== null ? [before, whole.baseSelf] : [whole.baseSelf, before];
  app.comparedAs = comparedAs(state);
  sumTree(whole, keep, wide);
  app.wholeBefore = null;
  if (other !== null) {
    const kept = keptOf(other, keep);
    app.wholeBefore = { kept, total: totalsOf(whole, kept) };
  }
  app.everywhere.clear();
  app.version++;
}

function search() {
  const { tree, state } = app;
  const box = byId('query');
  if (document.activeElement !== box || box.value.trim() !== state.query)
    box.value = state.query;
  try {
    app.hit = state.query === '' ? null : matchFrames(tree, state.query);
    app.goodQuery = state.query;
    box.removeAttribute('aria-invalid');
    app.queryError = '';
  } catch (wrong) { /* the last good result stays */
    if (app.hit !== null && app.hitOf !== tree)
      app.hit = matchFrames(tree, app.goodQuery);
    box.setAttribute('aria-invalid', 'true');
    app.queryError = wrong.message.replace(/^Invalid regular expression: /, '');
  }
  app.hitOf = tree;
  app.matches = app.hit === null ? null : sumMatches(tree, app.hit, app.zoom);
  showFound();
}

/* Moves the ends of the view, at once or in a short animation of the boxes alone. */
let animation = 0;
function moveTo(from, to, isAnimated) {
  const start = { ...app.view };
  cancelAnimationFrame(animation);
  const isStill = !isAnimated || app.layout === null || matchMedia('(prefers-reduced-motion: reduce)').matches ||
    (start.from === from && start.to === to);
  app.target = { from, to };
  if (isStill) {
    app.view = { from, to };
    draw();
    return;
  }
  const begin = performance.now();
  const step = now => {
    const part = Math.min(Math.max((now - begin) / ANIMATION_MS, 0), 1);
    const eased = 1 - (1 - part) ** 3;
    app.view = part === 1 ? { from, to } : {
      from: start.from + (from - start.from) * eased,
      to: start.to + (to - start.to) * eased,
    };
    draw(part < 1);
    if (part < 1)
      animation = requestAnimationFrame(step);
  };
  animation = requestAnimationFrame(step);
}

const rowHeight = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row'));

/* Where a level begins, in CSS pixels of the scrolled content. */
function levelTop(level) {
  const { rowCss, contentCss, state } = app;
  return state.isFlipped ? level * rowCss : contentCss - (level + 1) * rowCss;
}

function levelAt(y) {
  const { rowCss, contentCss, state } = app;
  return Math.floor((state.isFlipped ? y : contentCss - y) / rowCss);
}

/* How far the window has moved from the root: what stays when the height of either changes. */
function noteScroll() {
  const { scrollTop, clientHeight } = byId('scroller');
  app.fromRoot = Math.max(app.state.isFlipped ? scrollTop : app.contentCss - clientHeight - scrollTop, 0);
}

/* Lays out the view anew, and paints. The end at the root keeps its place on the screen. */
function draw(isMoving = false) {
  const scroller = byId('scroller');
  const { tree, painter } = app;
  const widthCss = scroller.clientWidth;
  const heightCss = scroller.clientHeight;
  if (widthCss === 0 || heightCss === 0)
    return;
  painter.resize(widthCss, heightCss);
  app.layout = layOut(tree, app.view.from, app.view.to, byId('canvas').width);
  app.rowCss = rowHeight();
  app.windowCss = heightCss;
  app.contentCss = Math.max(app.layout.levels.length * app.rowCss, heightCss);
  byId('height').style.height = app.contentCss + 'px';
  if (app.wasFlipped !== app.state.isFlipped)
    app.fromRoot = 0;
  app.wasFlipped = app.state.isFlipped;
  scroller.scrollTop = app.state.isFlipped ? app.fromRoot : app.contentCss - heightCss - app.fromRoot;
  paintVisible(isMoving);
  paintRail(byId('rail'), tree, app.layout, app.matches ? app.matches.outer : [], app.colours);
}

function paintVisible(isMoving = false) {
  const { layout, painter } = app;
  if (layout === null)
    return;
  const scroll = byId('scroller').scrollTop;
  const ratio = painter.ratio();
  const rows = [];
  for (let level = 0; level < layout.levels.length; level++) {
    const top = levelTop(level) - scroll;
    if (top < app.windowCss && top + app.rowCss > 0)
      rows.push({ top: Math.round(top * ratio), bottom: Math.round((top + app.rowCss) * ratio), boxes: layout.levels[level] });
  }
  painter.paint(rows, app.colours, lookOf, isMoving && rows.length > 40 ? null : labelOf);
  showMarks();
}

const look = { colour: 0, hatch: 0, text: '' }; /* one, used again for each box */
function lookOf(node) {
  const { tree, colours, hit, shades, zoom } = app;
  look.hatch = 0;
  if (node < 0) {
    look.colour = hit === null ? colours.dust : colours.dustFaded;
    return look;
  }
  const type = tree.type[node];
  const shade = shades[tree.name[node]];
  const isAround = node < zoom && zoom < tree.end[node];
  const isMatch = hit !== null && hit[node] === 1;
  const isFaded = isAround || (hit !== null && !isMatch);
  if (isMatch)
    look.colour = isAround ? colours.matchFaded : colours.match;
  else
    look.colour = (isFaded ? colours.faded : colours.plain)[type][shade];
  look.text = isMatch && !isAround ? colours.matchText : isFaded ? colours.textFaded : colours.text;
  if (!isMatch && app.before !== null)
    lookOfDiff(node, isFaded, look);
  if (type === TYPE_MARK && !isMatch && !isFaded)
    look.hatch = colours.hatch[type][shade];
  return look;
}

function labelOf(node) {
  const { tree, forms } = app;
  const name = tree.name[node];
  let label = forms.get(name);
  if (label === undefined) {
    const title = tree.titles[name];
    const type = tree.type[node];
    label = { forms: [title], isBold: type >= TYPE_THREAD };
    if (isJava(type) || (type === 3 && title.includes('/'))) {
      const { owner, method } = splitTitle(title);
      const brief = owner.replace(/\$\$Lambda.*/, '$$$$Lambda'); /* its address says nothing */
      label.forms = owner ? [brief + '.' + method, method] : [method];
    }
    forms.set(name, label);
  }
  return label;
}
