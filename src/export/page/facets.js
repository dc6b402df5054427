/*
 * facets - what samples can be filtered by: thread, group of threads, state, endpoint, operation, attributes. A value
 * shows its share of what the other filters leave.
 */
const FACET_ROWS = 10;
const FACET_WORDS = { pool: 'Thread group', thread: 'Thread', state: 'State', asked: 'Asked to stop by', endpoint: 'Endpoint', operation: 'Operation', attribute: 'Attribute' };
const facetShown = new Map(); /* column key: {all: whether all rows are shown, text: of its own box} */

/* "worker-12 tid=812" is one of "worker-*". */
const poolOf = name => name.replace(/ (tid=|#)\d+$/, '').replace(/\d+/g, '*');

/* Columns as they are filtered: key, values with none of them at number 0, and the number for each context. */
function makeColumns(samples) {
  const width = samples.columns.length;
  const columns = samples.columns.map((column, at) => {
    const labels = new Uint32Array(samples.contexts);
    for (let i = 0; i < samples.contexts; i++)
      labels[i] = samples.labels[i * width + at];
    if (labels.some(label => label > column.values.length))
      throw new Error('contexts have values that are not there');
    return { ...column, key: column.name ? column.kind + '.' + column.name : column.kind, labels };
  });
  const threads = columns.find(column => column.kind === 'thread');
  if (threads) {
    const names = [...new Set(threads.values.map(poolOf))];
    const numbers = new Map(names.map((name, i) => [name, i + 1]));
    const of = [0, ...threads.values.map(name => numbers.get(poolOf(name)))];
    if (names.length < threads.values.length)
      columns.unshift({ kind: 'pool', name: '', key: 'pool', values: names, labels: Uint32Array.from(threads.labels, label => of[label]) });
  }
  return columns;
}

const facetName = (column, number) => number === 0 ? '[none]' : column.values[number - 1] === '' ? '""' : column.values[number - 1];
const facetTitle = column => column.name || FACET_WORDS[column.kind];

/* For each column with filters, whether each context passes it. */
function passesOf(columns, facets) {
  const passes = new Map();
  for (const column of columns) {
    const own = facets.filter(facet => facet.column === column.key);
    if (own.length === 0)
      continue;
    const number = facet => facet.value === null ? 0 : column.values.indexOf(facet.value) + 1 || -1;
    const only = new Set(own.filter(facet => facet.kind === 'only').map(number));
    const without = new Set(own.filter(facet => facet.kind === 'without').map(number));
    passes.set(column.key, Uint8Array.from(column.labels, label => (only.size === 0 || only.has(label)) && !without.has(label) ? 1 : 0));
  }
  /* A link may ask for what no sample here has: then there are none, and the chip says why. */
  for (const { kind, column } of facets) {
    if (kind === 'only' && columns.every(own => own.key !== column))
      passes.set(column, new Uint8Array(app.explorer.samples.contexts));
  }
  return passes;
}

function maskOf(passes, contexts) {
  const mask = new Uint8Array(contexts).fill(1);
  for (const pass of passes.values()) {
    for (let i = 0; i < contexts; i++)
      mask[i] &= pass[i];
  }
  return mask;
}

/* Sums by value of a column, under the filters of all others. */
function sumFacet(column) {
  const { passes, contextSums, samples } = app.explorer;
  const sums = new Float64Array(column.values.length + 1);
  const others = [...passes].filter(([key]) => key !== column.key).map(([, pass]) => pass);
  for (let i = 0; i < samples.contexts; i++) {
    if (others.every(pass => pass[i] === 1))
      sums[column.labels[i]] += contextSums[i];
  }
  return sums;
}

/* A second click takes it back; a first one of the other kind changes it. */
function toggleFacet(column, number, kind) {
  const value = number === 0 ? null : column.values[number - 1];
  const isIt = facet => facet.column === column.key && facet.value === value;
  const before = app.state.facets.find(isIt);
  const rest = app.state.facets.filter(facet => !isIt(facet));
  go({ facets: before && before.kind === kind ? rest : [...rest, { kind, column: column.key, value }] });
}

function facetRow(column, number, sum, whole) {
  const value = number === 0 ? null : column.values[number - 1];
  const facet = app.state.facets.find(own => own.column === column.key && own.value === value);
  const row = element('li', facet ? facet.kind : '');
  const button = row.appendChild(element('button'));
  button.type = 'button';
  button.title = facetName(column, number) + '\nClick: only these. Alt+click: all but these.';
  button.setAttribute('aria-pressed', facet ? (facet.kind === 'only' ? 'true' : 'mixed') : 'false');
  button.style.setProperty('--part', whole > 0 ? 100 * sum / whole + '%' : '0');
  button.append(element('span', 'name', facetName(column, number)), element('span', 'share', share(sum, whole)));
  button.addEventListener('click', event => toggleFacet(column, number, event.altKey ? 'without' : 'only'));
  button.addEventListener('keydown', event => {
    if (event.key === 'Delete') {
      event.preventDefault();
      toggleFacet(column, number, 'without');
    }
  });
  button.addEventListener('contextmenu', event => {
    event.preventDefault();
    toggleFacet(column, number, 'without');
  });
  button.dataset.at = column.key + '\n' + number;
  return row;
}

function facetRows(list, column) {
  const shown = facetShown.get(column.key) || { all: false, text: '' };
  const sums = sumFacet(column);
  const whole = sums.reduce((sum, value) => sum + value, 0);
  const chosen = number => app.state.facets.some(facet => facet.column === column.key && facet.value === (number === 0 ? null : column.values[number - 1]));
  let numbers = [...sums.keys()].filter(number => sums[number] > 0 || chosen(number));
  numbers.sort((a, b) => chosen(b) - chosen(a) || sums[b] - sums[a] || a - b);
  if (shown.text)
    numbers = numbers.filter(number => foldText(facetName(column, number)).includes(foldText(shown.text)));
  const cut = shown.all ? numbers.length : FACET_ROWS;
  list.replaceChildren(...numbers.slice(0, Math.min(cut, PANEL_ROWS)).map(number => facetRow(column, number, sums[number], whole)));
  if (numbers.length > cut) {
    const more = list.appendChild(element('li')).appendChild(element('button', '', `${grouped(numbers.length - cut)} more`));
    more.type = 'button';
    more.addEventListener('click', () => {
      facetShown.set(column.key, { ...shown, all: true });
      showFacets();
    });
  } else if (numbers.length > PANEL_ROWS) {
    list.append(element('li', 'more', `and ${grouped(numbers.length - PANEL_ROWS)} more: name them above`));
  }
}

function showFacets() {
  const panel = byId('facets');
  if (panel.hidden || !app.explorer.samples)
    return;
  const focus = document.activeElement?.dataset?.at;
  const scrolled = panel.querySelector('.list')?.scrollTop || 0;
  const bar = element('div', 'bar');
  const close = element('button', '', 'Close');
  close.type = 'button';
  close.addEventListener('click', toggleFacets);
  bar.append(element('strong', '', 'Filters'), close);
  const list = element('div', 'list');
  for (const column of app.explorer.columns) {
    const heading = list.appendChild(element('h2', '', facetTitle(column)));
    const rows = element('ul');
    heading.title = `${grouped(column.values.length)} values`;
    if (column.values.length > FACET_ROWS) {
      const box = list.appendChild(element('input'));
      box.type = 'search';
      box.placeholder = `${grouped(column.values.length)} values`;
      box.setAttribute('aria-label', 'Values of ' + facetTitle(column));
      box.value = facetShown.get(column.key)?.text || '';
      box.addEventListener('input', () => {
        facetShown.set(column.key, { all: false, ...facetShown.get(column.key), text: box.value });
        facetRows(rows, column);
      });
    }
    facetRows(rows, column);
    list.append(rows);
  }
  if (app.explorer.columns.length === 0)
    list.append(element('p', 'more', 'The samples say nothing of threads, states or requests.'));
  panel.replaceChildren(bar, list);
  list.scrollTop = scrolled;
  if (focus)
    [...list.querySelectorAll('button')].find(button => button.dataset.at === focus)?.focus({ preventScroll: true });
}

function toggleFacets() {
  const panel = byId('facets');
  panel.hidden = !panel.hidden;
  app.explorer.alone('facets');
  byId('facets-open').setAttribute('aria-pressed', String(!panel.hidden));
  showFacets();
  draw();
}
