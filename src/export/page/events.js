/*
 * events - several events of one recording in one page: each has a tree, samples and sums of its own, and all have the
 * same bins, so that a window is the same time in each. One is on the page; another is unpacked when it is first asked for.
 */
const EVENT_WORDS = { cpu: 'CPU', wall: 'Wall clock', alloc: 'Allocations', live: 'Live objects', lock: 'Lock waits' };

const eventWord = event => EVENT_WORDS[event] || event;

/* As the page says it in its head. */
function summaryOf(about, total) {
  const samples = `${grouped(about.samples)} samples`;
  const value = about.unit === 'samples' ? '' : amount(total, about.unit) + (about.unit === 'ns' ? ` of ${timeWords(about)[0]}, ` : ', ');
  return value + samples + (about.durationNs > 0 ? ' in ' + amount(about.durationNs, 'ns') : '');
}

function prepareEvents() {
  const { explorer } = app;
  explorer.events = (meta.explorer.events || [['', meta.event]]).map(([prefix, event]) => ({
    prefix, event, about: prefix === '' ? meta : JSON.parse(byId(prefix + 'meta').textContent), kept: null, isRead: prefix === '', reading: null,
  }));
  explorer.event = explorer.events[0];
}

/* The event that a state asks for; a link may name one that this page has not. */
const eventOf = state => app.explorer.events.find(item => item.event === state.event) || app.explorer.events[0];

async function readEvent(item) {
  const { prefix, about } = item;
  const { tree } = await readPage(byId, prefix);
  const other = byId(prefix + 'base-meta') === null ? null : await readPage(byId, prefix + 'base-');
  await breathe();
  prepareViews(tree);
  const total = totalsOf(tree, tree.baseSelf);
  const samples = await readSamples(about.explorer, tree, total[0], prefix);
  item.kept = { whole: tree, baseTotal: total, shades: null, samples, columns: makeColumns(samples), other: null, original: null, lineOf: null,
    waiting: other && { ...other, name: other.about.name } };
  item.isRead = true;
}

/* What belongs to the event that is on the page. */
function leaveEvent() {
  const { explorer } = app;
  explorer.event.kept = { whole: app.whole, baseTotal: app.baseTotal, shades: app.shades, samples: explorer.samples, columns: explorer.columns,
    other: app.other, original: app.original || null, lineOf: explorer.lineOf || null, waiting: null };
}

function takeEvent(item) {
  const { explorer, state } = app;
  const { kept } = item;
  const { isCompared } = state;
  explorer.event = item;
  meta = item.about;
  Object.assign(app, { whole: kept.whole, tree: kept.whole, baseTotal: kept.baseTotal, other: kept.other, original: kept.original, samples: meta.samples,
    zoom: 0, cursor: -1, hover: null, hit: null, matches: null, before: null, wholeBefore: null, filterText: '', comparedAs: '' });
  Object.assign(explorer, { samples: kept.samples, columns: kept.columns, lineOf: kept.lineOf, selected: '', masked: '', viewed: '', viewTree: null });
  app.version++;
  band.group = null;
  app.forms.clear();
  app.everywhere.clear();
  app.shades = kept.shades || makeShades(app.whole);
  if (kept.waiting !== null)
    setOther(kept.waiting);
  sumTree(app.whole, null); /* the badge is of all */
  app.tree = app.whole;
  state.isCompared = isCompared;
  document.title = byId('about').querySelector('h1').textContent = meta.title;
  byId('summary').textContent = summaryOf(meta, app.baseTotal[0]);
  showTrust();
}

/* Brings in the event of a state. False: it is being read, and what was on the page stays until then. */
app.explorer.enter = state => {
  const { explorer } = app;
  const item = eventOf(state);
  if (item === explorer.event || explorer.samples === null)
    return true;
  if (!item.isRead) {
    say(`Reading ${eventWord(item.event)}`);
    item.reading ||= readEvent(item).then(() => apply(true), giveUp);
    showEvents();
    return false;
  }
  leaveEvent();
  takeEvent(item);
  return true;
};

function nextEvent() {
  const { events } = app.explorer;
  const next = events[(events.indexOf(eventOf(app.state)) + 1) % events.length];
  go({ event: next === events[0] ? '' : next.event });
}

/* The switch above the timeline, where there is something to choose. */
function showEvents() {
  const { events } = app.explorer;
  const box = byId('band-events');
  const wanted = eventOf(app.state);
  box.hidden = events.length < 2;
  if (box.hidden)
    return;
  const had = box.contains(document.activeElement);
  box.replaceChildren(...events.map((item, i) => {
    const button = element('button', item.reading !== null && !item.isRead ? 'reading' : '', eventWord(item.event));
    button.type = 'button';
    button.title = `${item.about.title}: ${grouped(item.about.samples)} samples (V: the next event)`;
    button.setAttribute('aria-pressed', String(item === wanted));
    button.addEventListener('click', () => go({ event: i === 0 ? '' : item.event }));
    return button;
  }));
  if (had)
    box.querySelector('[aria-pressed="true"]').focus();
}
