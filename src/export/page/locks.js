/*
 * locks - the census of locks: which places take a lock never, by one thread only, or after a wait, and what follows. What is said of
 * each place is the command's (jaywalk locks); here it is sorted, searched and opened. It is of the whole recording: no window and no filter
 * of samples is about it.
 *
 * Places of one class are one row that opens, and each place opens to all that is known of it.
 */
const LOCK_FIELDS = ['place', 'line', 'kind', 'lock', 'thread', 'acquisitions', 'threads', 'timed', 'weight', 'held', 'mean', 'longest', 'waits', 'waited', 'longestWait', 'follows', 'callers', 'error', 'holds', 'waitTimes', 'owners', 'objects', 'taken'];
/* Key, heading, the same in a line of its own, whether it is a time. */
const LOCK_COLUMNS = [['acquisitions', 'Acquisitions', 'acquisitions', false], ['threads', 'Threads', 'threads', false], ['mean', 'Mean hold', 'mean hold', true],
  ['longest', 'Longest hold', 'longest hold', true], ['waits', 'Waits', 'waits', false], ['waited', 'Waited', 'waited', true], ['longestWait', 'Longest wait', 'longest wait', true]];
const LOCK_WORDS = { contended: 'Waited at', alone: 'One thread only', confined: 'One thread each', never: 'Never', shared: 'Several, no waits', jdk: 'In the JDK' };
const LOCK_LETTERS = ['k', 'd', 's', 'c', '?', '/']; /* that mean something here: no graph is on the screen */

const census = { tables: null, lines: [], note: '', rows: [], at: 0, shown: '', test: null };
Object.assign(app.state, { lockTable: '', lockSort: '', lockOpen: [] });

const hasLocks = () => census.tables !== null && app.state.view === 'locks';
const lockTable = () => census.tables.find(table => table.key === app.state.lockTable) || census.tables.find(table => table.sites.length > 0) || census.tables[0];
const lockClass = site => site.place.slice(0, Math.max(site.place.lastIndexOf('.'), 0));
const lockMethod = site => site.place.slice(site.place.lastIndexOf('.') + 1) + (site.line > 0 ? ':' + site.line : '');
const lockKind = site => site.kind + (site.lock === '' ? '' : ' of ' + site.lock);

/* ---- what is read ---- */

function readCensus(bytes) {
  const { tables, lines, note } = JSON.parse(new TextDecoder().decode(bytes));
  Object.assign(census, { lines, note });
  census.tables = tables.map(({ key, title, rows }) => {
    const keys = new Map(); /* two locks may be taken in one line */
    const sites = rows.map(row => {
      const site = Object.fromEntries(LOCK_FIELDS.map((field, i) => [field, row[i]]));
      const name = `${site.place}:${site.line} ${site.kind}`;
      keys.set(name, (keys.get(name) || 0) + 1);
      site.key = name + (keys.get(name) > 1 ? ' ' + keys.get(name) : '');
      site.callers ||= [];
      site.owners ||= [];
      site.objects ||= '';
      site.taken ||= '';
      site.folded = foldText([site.place, site.kind, site.lock, site.thread, ...site.callers.map(caller => caller.slice(caller.indexOf('  ')))].join(' '));
      return site;
    });
    /* What is said of all of them is said once. */
    return { key, title, sites, follows: sites.length > 0 && sites.every(site => site.follows === sites[0].follows) ? sites[0].follows : '' };
  });
}

/* ---- rows ---- */

/* Several places as one: of threads only the most at one place is known, since two places may see the same ones. */
function groupOf(name, sites) {
  const sum = key => sites.reduce((all, site) => all + site[key], 0);
  const most = key => sites.reduce((all, site) => Math.max(all, site[key]), 0);
  const weight = sum('weight');
  return {
    key: name, name, sites, acquisitions: sum('acquisitions'), threads: most('threads'), timed: sum('timed'), mean: weight === 0 ? 0 : Math.floor(sum('held') / weight), longest: most('longest'),
    waits: sum('waits'), waited: sum('waited'), longestWait: most('longestWait'), follows: sites.every(site => site.follows === sites[0].follows) ? sites[0].follows : '',
  };
}

/* By the state's column; without one as the command has it, which leaves places where they are, and puts classes among them. */
function sortLocks(list) {
  const { lockSort } = app.state;
  const isUp = lockSort.startsWith('-');
  const by = lockSort.replace('-', '');
  if (by === 'where')
    return list.sort((a, b) => (isUp ? -1 : 1) * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  if (LOCK_COLUMNS.some(([key]) => key === by))
    return list.sort((a, b) => (isUp ? 1 : -1) * (a[by] - b[by]));
  return list.sort((a, b) => b.waited - a.waited || b.acquisitions - a.acquisitions);
}

function testLocks() {
  const query = app.queryError ? app.goodQuery || '' : app.state.query;
  if (query === '')
    return null;
  const test = parseQuery(query);
  return site => test(site.place, 1, '', site.folded);
}

/* Rows on the screen: {row, level, isOpen}, the details of an open place belong to it. */
function listLocks(table) {
  const open = new Set(app.state.lockOpen);
  const found = census.test === null ? table.sites : table.sites.filter(census.test);
  const classes = new Map();
  for (const site of found) {
    const name = lockClass(site);
    if (classes.has(name))
      classes.get(name).push(site);
    else
      classes.set(name, [site]);
  }
  const top = sortLocks([...classes].map(([name, sites]) => sites.length > 1 ? groupOf(name, sites) : sites[0]));
  const rows = [];
  for (const row of top.slice(0, PANEL_ROWS)) {
    rows.push({ row, level: 1, isOpen: open.has(row.key) });
    if (row.sites && open.has(row.key)) {
      for (const site of sortLocks([...row.sites]))
        rows.push({ row: site, level: 2, isOpen: open.has(site.key) });
    }
  }
  return { rows, found: found.length, more: Math.max(top.length - PANEL_ROWS, 0) };
}

/* ---- pictures of them ---- */

function lockText(row, key, isTime) {
  if (isTime)
    return row[key] > 0 || (key === 'mean' && row.timed > 0) ? amount(row[key], 'ns') : '';
  if (key === 'waits' && row.waits === 0)
    return '';
  return (key === 'threads' && row.sites ? '\u2265 ' : '') + grouped(row[key]);
}

function lockName(row) {
  const name = element('span', 'name');
  const pack = row.sites ? row.name : lockClass(row);
  const cut = pack.lastIndexOf('.') + 1;
  name.append(breakable(pack.slice(0, cut), 'package'), breakable(pack.slice(cut) + (row.sites ? '' : '.')));
  if (row.sites)
    name.append(element('span', 'kind', ` ${grouped(row.sites.length)} places`));
  else
    name.append(breakable(lockMethod(row)), element('span', 'kind', ` ${lockKind(row)}`));
  return name;
}

/* Evidence, where a row has it: name, what is known. */
function lockEvidence(site) {
  const times = ns => amount(ns, 'ns');
  return [
    ['Acquisitions', site.acquisitions === 0 ? 'none' : `${grouped(site.acquisitions)} by ${grouped(site.threads)} ${site.threads === 1 ? 'thread' : 'threads'}`],
    ...(site.taken === '' ? [] : [['Objects', site.taken]]),
    ...(site.thread === '' ? [] : [['First thread', site.thread]]),
    ...(site.timed === 0 ? [] : [['Holds', site.holds], ['', `${times(site.mean)} at the mean, ${times(site.longest)} the longest; ` +
      `${grouped(site.timed)} were timed${site.weight > site.timed ? `, which stand for ${grouped(site.weight)}` : ''}`]]),
    ...(site.waits === 0 ? [] : [['Waits', `${grouped(site.waits)}, ${times(site.waited)} in all; ${times(site.longestWait)} the longest`], ['', site.waitTimes], ...(site.objects ? [['For', site.objects]] : []), ...site.owners.map((owner, i) => [i === 0 ? 'Behind' : '', owner])]),
    ['Lock', lockKind(site)],
    ...site.callers.map((caller, i) => [i === 0 ? 'By calls of' : '', caller]),
    ...(site.follows === '' ? [] : [['What follows', site.follows]]),
  ];
}

/* Filters of the graph that are about a place: its method in the stacks, waits for its lock. */
function lockLinks(site) {
  const links = [];
  const link = (text, change) => {
    const button = element('button', '', text);
    button.type = 'button';
    button.addEventListener('click', () => go({ view: '', zoom: '', query: '', ...change }));
    links.push(button);
  };
  const only = name => ({ kind: 'only', query: `="${name}"` });
  const isThere = parseQuery(only(site.place).query);
  const { events } = app.explorer;
  if (!site.place.includes('"') && app.whole.titles.some((title, i) => i > 0 && isThere(title, 1, '', '')))
    link('Stacks with this method', { filters: [only(site.place)] });
  const waits = events.findIndex(item => item.event === 'lock');
  if (site.lock !== '' && !site.lock.includes('"') && waits >= 0)
    link(`Waits for ${site.lock}`, { event: waits === 0 ? '' : 'lock', filters: [only(site.lock)] });
  return links;
}

function lockDetails(site, columns) {
  const row = element('tr', 'details');
  row.setAttribute('role', 'presentation');
  const cell = row.appendChild(element('td'));
  cell.colSpan = columns;
  const list = cell.appendChild(element('dl'));
  for (const [term, text] of lockEvidence(site))
    list.append(element('dt', '', term), element('dd', '', text));
  const links = lockLinks(site);
  if (links.length > 0)
    cell.appendChild(element('p', 'links')).append(...links);
  return row;
}

function lockRow({ row, level, isOpen }, i, columns, most, table) {
  const line = element('tr', row.sites ? 'group' : 'place');
  line.id = 'lock-' + i;
  line.setAttribute('role', 'row');
  line.setAttribute('aria-level', String(level));
  line.setAttribute('aria-expanded', String(isOpen));
  line.classList.toggle('current', i === census.at);
  const cell = (className, text) => {
    const made = line.appendChild(element('td', className, text));
    made.setAttribute('role', 'gridcell');
    return made;
  };
  for (const [key, , word, isTime] of columns) {
    const made = cell('number', lockText(row, key, isTime));
    made.dataset.word = !isTime && row[key] === 1 ? word.replace(/s$/, '') : word;
    if (key === most.key && most.value > 0)
      made.style.setProperty('--part', Math.round(10000 * row[key] / most.value) / 100 + '%');
  }
  const where = cell('where');
  where.classList.toggle('inner', level > 1);
  where.append(element('i', '', isOpen ? '\u25be' : '\u25b8'), lockName(row));
  if (row.follows !== '' && row.follows !== table.follows)
    where.append(element('span', 'follows', row.follows));
  line.title = row.sites ? `${row.name}: ${grouped(row.sites.length)} places` : `${row.place}${row.line > 0 ? ':' + row.line : ''} (${lockKind(row)})`;
  return line;
}

/* A heading sorts by its column, the largest first; a second time the other way round. */
function lockSortBy(key) {
  const { lockSort } = app.state;
  go({ lockSort: lockSort === key ? '-' + key : key });
}

function lockHeads(columns) {
  const head = element('thead');
  const row = head.appendChild(element('tr'));
  row.setAttribute('role', 'row');
  const { lockSort } = app.state;
  for (const [key, text] of [...columns, ['where', 'Where']]) {
    const cell = row.appendChild(element('th'));
    const isUp = lockSort === (key === 'where' ? key : '-' + key);
    cell.setAttribute('role', 'columnheader');
    if (lockSort.replace('-', '') === key)
      cell.setAttribute('aria-sort', isUp ? 'ascending' : 'descending');
    const button = cell.appendChild(element('button', '', text));
    button.type = 'button';
    button.dataset.key = key;
    button.addEventListener('click', () => lockSortBy(key));
  }
  return head;
}

/* Where there is no room for headings. */
function showLockOrder(columns) {
  const box = byId('locks-sort');
  box.replaceChildren(...[['', 'as they come'], ...columns, ['where', 'Where']].map(([key, text]) => {
    const option = element('option', '', text);
    option.value = key;
    return option;
  }));
  box.value = app.state.lockSort.replace('-', '');
}

function showLockTables(shown) {
  const box = byId('locks-tables');
  const had = box.contains(document.activeElement);
  box.replaceChildren(...census.tables.map(table => {
    const button = element('button', '', LOCK_WORDS[table.key] || table.title);
    const count = census.test === null ? table.sites.length : table.sites.filter(census.test).length;
    button.type = 'button';
    button.append(element('b', '', grouped(count)));
    button.title = `${table.title}: ${grouped(count)} places`;
    button.setAttribute('aria-pressed', String(table === shown));
    button.addEventListener('click', () => go({ lockTable: table.key }));
    return button;
  }));
  if (had)
    box.querySelector('[aria-pressed="true"]').focus({ preventScroll: true });
}

function showLockAbout(table) {
  const box = byId('locks-about');
  const sums = element('dl');
  for (const [name, text] of census.lines)
    sums.append(element('dt', '', name), element('dd', '', text));
  const { time, facets, filters } = app.state;
  const isCut = time !== null || facets.length > 0 || filters.length > 0;
  box.replaceChildren(sums, element('p', isCut ? 'whole cut' : 'whole', 'Of the whole recording: no window of time and no filter of samples holds for the census.'), element('h2', '', table.title));
  if (table.follows !== '')
    box.append(element('p', 'follows', table.follows));
}

function showLockRows(table) {
  const grid = byId('locks-grid');
  const at = census.rows[census.at];
  const had = document.activeElement?.closest?.('#locks-grid th button')?.dataset.key;
  const scrolled = census.shown === table.key ? grid.scrollTop : 0;
  const { rows, found, more } = listLocks(table);
  const again = at && census.shown === table.key ? rows.findIndex(({ row, level }) => row.key === at.row.key && level === at.level) : -1;
  Object.assign(census, { rows, shown: table.key, at: again >= 0 ? again : 0 });
  /* Columns in which nothing stands are not there. */
  const columns = LOCK_COLUMNS.filter(([key]) => table.sites.some(site => site[key] > 0));
  const by = app.state.lockSort.replace('-', '') || (columns.find(([key]) => key === 'waited') || columns[0] || [''])[0];
  const most = { key: by, value: rows.reduce((all, { row }) => Math.max(all, row[by] || 0), 0) };
  const made = element('table');
  made.setAttribute('role', 'treegrid');
  made.setAttribute('aria-label', table.title);
  made.append(lockHeads(columns));
  const body = made.appendChild(element('tbody'));
  rows.forEach((item, i) => {
    body.append(lockRow(item, i, columns, most, table));
    if (item.isOpen && !item.row.sites)
      body.append(lockDetails(item.row, columns.length + 1));
  });
  const list = [made];
  if (found === 0)
    list.push(element('p', 'more', census.test === null ? 'None.' : `0 of ${grouped(table.sites.length)} places match the search.`));
  if (more > 0)
    list.push(element('p', 'more', `and ${grouped(more)} more; search to see them`));
  list.push(element('p', 'more note', census.note));
  grid.replaceChildren(...list);
  grid.scrollTop = scrolled;
  grid.setAttribute('aria-activedescendant', rows.length > 0 ? 'lock-' + census.at : '');
  if (had)
    grid.querySelector(`th button[data-key="${had}"]`)?.focus({ preventScroll: true });
  showLockOrder(columns);
}

/* In place of what a search found in the graph. */
function showFoundLocks(found) {
  if (app.state.query === '')
    return;
  const test = testLocks();
  const all = census.tables.reduce((sum, table) => sum + table.sites.length, 0);
  const left = census.tables.reduce((sum, table) => sum + table.sites.filter(test).length, 0);
  found.append(element('b', '', grouped(left)), ` of ${grouped(all)} places`);
  found.title = 'Places of all questions, by class, method, kind, lock, thread and caller';
  say(`${grouped(left)} of ${grouped(all)} places match`);
}

/* ---- what is done with them ---- */

function setLock(index) {
  const { rows } = census;
  if (rows.length === 0)
    return;
  byId('lock-' + census.at)?.classList.remove('current');
  census.at = Math.min(Math.max(index, 0), rows.length - 1);
  const line = byId('lock-' + census.at);
  line.classList.add('current');
  line.scrollIntoView({ block: 'nearest' });
  byId('locks-grid').setAttribute('aria-activedescendant', line.id);
  const { row } = rows[census.at];
  say([line.title, `${grouped(row.acquisitions)} acquisitions`, row.waits > 0 ? `${grouped(row.waits)} waits` : '', row.follows].filter(text => text !== '').join(', '));
}

function toggleLock(index, isOpen) {
  const { key } = census.rows[index].row;
  const { lockOpen } = app.state;
  census.at = index;
  const rest = lockOpen.filter(other => other !== key);
  go({ lockOpen: isOpen ?? rest.length === lockOpen.length ? [...rest, key] : rest }, false);
}

function locksKey(event) {
  const { rows, at } = census;
  if (event.target !== byId('locks-grid') || rows.length === 0 || event.ctrlKey || event.metaKey || event.altKey)
    return;
  const { level, isOpen } = rows[at];
  const toggle = () => toggleLock(at);
  const acts = {
    ArrowDown: () => setLock(at + 1), ArrowUp: () => setLock(at - 1), PageDown: () => setLock(at + 10), PageUp: () => setLock(at - 10),
    Home: () => setLock(0), End: () => setLock(rows.length - 1),
    ArrowRight: () => isOpen ? setLock(at + 1) : toggleLock(at, true),
    ArrowLeft: () => isOpen ? toggleLock(at, false) : level > 1 ? setLock(rows.findLastIndex((row, i) => i < at && row.level === 1)) : undefined,
    Enter: toggle, ' ': toggle,
  };
  if (!acts[event.key])
    return;
  event.preventDefault();
  event.stopPropagation();
  acts[event.key]();
}

function toggleLocks() {
  const { view, zoom } = app.state;
  go(view === 'locks' ? { view: '' } : { view: 'locks', zoom: view === '' ? zoom : '' });
  byId(hasLocks() ? 'locks-grid' : 'canvas').focus({ preventScroll: true });
}

function locksText() {
  const lines = ['question,' + LOCK_FIELDS.join(',') + '\n'];
  for (const table of census.tables) {
    for (const site of census.test === null ? table.sites : table.sites.filter(census.test))
      lines.push([table.key, ...LOCK_FIELDS.map(field => typeof site[field] === 'number' ? site[field] : csvCell(Array.isArray(site[field]) ? site[field].join('; ') : site[field]))].join(',') + '\n');
  }
  return lines;
}

/* ---- what the rest of the page asks ---- */

app.explorer.locks = {
  isOn: hasLocks,
  takes: letter => LOCK_LETTERS.includes(letter),
  csv: locksText,
  read: parameters => ({ lockTable: parameters.get('locks') || '', lockSort: parameters.get('sort') || '', lockOpen: parameters.getAll('open') }),
  write(parameters, state) {
    if (state.view !== 'locks')
      return;
    if (state.lockTable)
      parameters.set('locks', state.lockTable);
    if (state.lockSort)
      parameters.set('sort', state.lockSort);
    for (const key of state.lockOpen)
      parameters.append('open', key);
  },
  async begin() {
    readCensus(await readColumn('locks'));
    byId('locks-open').hidden = false;
    byId('locks-open').addEventListener('click', toggleLocks);
    byId('locks-grid').addEventListener('keydown', locksKey);
    byId('locks-grid').addEventListener('click', event => {
      const line = event.target.closest('tr[id]');
      if (line !== null && getSelection().isCollapsed)
        toggleLock(Number(line.id.slice(5)));
    });
    byId('locks-sort').addEventListener('change', event => go({ lockSort: event.target.value }));
    letters.k = toggleLocks;
  },
  show() {
    const isOn = hasLocks();
    byId('graph').hidden = isOn;
    byId('locks').hidden = !isOn;
    byId('locks-open').setAttribute('aria-pressed', String(isOn));
    document.documentElement.classList.toggle('of-locks', isOn);
    for (const id of ['flip', 'methods', 'facets-open', 'rows-open'])
      byId(id).disabled = isOn;
    if (!isOn)
      return;
    census.test = testLocks();
    const table = lockTable();
    showLockTables(table);
    showLockAbout(table);
    showLockRows(table);
  },
  describe: () => census.tables && { table: lockTable().key, at: census.at, lines: census.lines,
    rows: census.rows.map(({ row, level, isOpen }) => ({ level, isOpen, ...row, folded: undefined, sites: row.sites?.length })), tables: census.tables.map(table => ({ key: table.key, title: table.title, sites: table.sites.map(site => ({ ...site, folded: undefined })) })) },
};
