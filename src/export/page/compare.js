/*
 * compare - another profile beside this one: of the page (convert --diff), or of a file that the reader opens: a page of
 * jaywalk or collapsed stacks. It is read here and goes nowhere. The two trees become one, which has the frames of both.
 *
 * app.other: {name, about, self: own values by line of that tree, each: what a sample stands for}
 */

/*
 * What reads the same but for the kind of dot is the same: collapsed stacks may have been written with another one. So is a
 * lambda, whose number is another one in each run.
 */
const sameText = title => title.replaceAll('/', '.').replace(/\$\$Lambda(\$\d+)?(\.(0x[0-9a-f]+|\d+))?/g, '$$$$Lambda');

/* Numbers of b's titles among those of both, and for each of both the first that reads the same. */
function mergeTitles(a, b) {
  const first = new Map();
  const titles = [...a.titles];
  const same = [];
  titles.forEach((title, i) => {
    const text = sameText(title);
    if (!first.has(text))
      first.set(text, i);
    same.push(first.get(text));
  });
  const numbers = Uint32Array.from(b.titles, (title, i) => {
    const text = sameText(title);
    if (i === 0) /* the root, whatever it is called */
      return 0;
    if (!first.has(text)) {
      first.set(text, titles.length);
      same.push(titles.length);
      titles.push(title);
    }
    return first.get(text);
  });
  const special = new Uint8Array(titles.length);
  b.special.forEach((type, i) => { special[numbers[i]] = type; });
  special.set(a.special);
  const module = new Map([...b.module].map(([name, text]) => [numbers[name], text]));
  for (const [name, text] of a.module)
    module.set(name, text);
  return { titles, same, numbers, special, module };
}

function* childrenIn(tree, node) {
  for (let child = node + 1; node >= 0 && child < tree.end[node]; child = tree.end[child])
    yield child;
}

/* Children of a node of a and of one of b (-1: none) in pairs; those that a has not stand where their names belong. */
function pairChildren(a, b, x, y, names) {
  const width = names.titles.length;
  const waiting = new Map();
  const pairs = [];
  for (const child of childrenIn(b, y)) {
    const key = names.same[names.numbers[b.name[child]]] + width * (b.twin?.[child] || 0);
    if (waiting.has(key))
      pairs.push([-1, child]);
    else
      waiting.set(key, child);
  }
  for (const child of childrenIn(a, x)) {
    const key = names.same[a.name[child]] + width * (a.twin?.[child] || 0);
    pairs.push([child, waiting.get(key) ?? -1]);
    waiting.delete(key);
  }
  for (const child of waiting.values())
    pairs.push([-1, child]);
  if (x >= 0 && pairs.some(pair => pair[0] < 0)) {
    const title = ([one, other]) => one >= 0 ? a.titles[a.name[one]] : b.titles[b.name[other]];
    pairs.sort((one, other) => title(one) < title(other) ? -1 : title(one) > title(other) ? 1 : 0);
  }
  return pairs;
}

/* One tree of two; `ofA` and `ofB` tell the line of each line of these. */
function mergeTrees(a, b) {
  const names = mergeTitles(a, b);
  const most = a.count + b.count;
  const tree = {
    titles: names.titles, special: names.special, module: names.module,
    name: new Uint32Array(most), type: new Uint8Array(most), depth: new Uint32Array(most), parent: new Uint32Array(most),
    end: new Uint32Array(most), baseSelf: new Float64Array(most), tiers: new Float32Array(3 * most), self: null, total: null,
  };
  const ofA = new Uint32Array(a.count);
  const ofB = new Uint32Array(b.count);
  const open = [[0, 0, 0, 0]];
  let count = 0;
  while (open.length > 0) {
    const [x, y, parent, depth] = open.pop();
    const at = count++;
    tree.name[at] = x >= 0 ? a.name[x] : names.numbers[b.name[y]];
    tree.type[at] = x >= 0 ? a.type[x] : b.type[y];
    tree.parent[at] = parent;
    tree.depth[at] = depth;
    if (x >= 0) {
      ofA[x] = at;
      tree.baseSelf[at] = a.baseSelf[x];
      tree.tiers.set(a.tiers.subarray(3 * x, 3 * x + 3), 3 * at);
    }
    if (y >= 0)
      ofB[y] = at;
    for (const [one, other] of pairChildren(a, b, x, y, names).reverse())
      open.push([one, other, at, depth + 1]);
  }
  tree.count = count;
  for (const key of ['name', 'type', 'depth', 'parent', 'end', 'baseSelf'])
    tree[key] = tree[key].slice(0, count);
  tree.tiers = tree.tiers.slice(0, 3 * count);
  tree.left = new Float64Array(count);
  for (let i = count - 1; i >= 0; i--) {
    tree.end[i] = Math.max(tree.end[i], i + 1);
    tree.end[tree.parent[i]] = Math.max(tree.end[tree.parent[i]], tree.end[i]);
  }
  countTwins(tree);
  return { tree, ofA, ofB };
}

/* ---- files ---- */

const COLLAPSED_TYPES = { 0: 0, 1: 6, i: 2, j: 1, k: 5 }; /* "_[j]" behind a name */

/* A guess, for what has no type: Java, C++ or native. */
const guessType = title => title.includes('::') ? 4 : /[\w$)][./][\w$<]/.test(title) && !title.includes('.so') ? 1 : 3;

function readCollapsed(text) {
  const root = { title: 'all', type: TYPE_ROOT, self: 0, below: new Map() };
  let [count, samples, number] = [1, 0, 0];
  for (const line of text.split('\n')) {
    number++;
    if (line.trim() === '')
      continue;
    const found = /^(.*) (\d+)\r?$/.exec(line);
    if (!found)
      throw new Error(`line ${number} is no stack with a number`);
    let node = root;
    for (const part of found[1] === '' ? [] : found[1].split(';')) {
      const [, title, mark] = /^(.*?)(?:_\[([01ijk])\])?$/.exec(part);
      if (!node.below.has(title)) {
        node.below.set(title, { title, type: mark === undefined ? guessType(title) : COLLAPSED_TYPES[mark], self: 0, below: new Map() });
        count++;
      }
      node = node.below.get(title);
    }
    node.self += Number(found[2]);
    samples += Number(found[2]);
  }
  if (samples === 0)
    throw new Error('it has no samples');
  return { tree: layCollapsed(root, count), about: { title: '', unit: 'samples', samples, reverse: meta.reverse } };
}

function layCollapsed(root, count) {
  const titles = ['all'];
  const numbers = new Map([['all', 0]]);
  const tree = {
    count, titles, name: new Uint32Array(count), type: new Uint8Array(count), depth: new Uint32Array(count), parent: new Uint32Array(count),
    end: new Uint32Array(count), baseSelf: new Float64Array(count), tiers: new Float32Array(3 * count), module: new Map(),
  };
  const open = [[root, 0, 0]];
  for (let at = 0; open.length > 0; at++) {
    const [node, parent, depth] = open.pop();
    if (!numbers.has(node.title)) {
      numbers.set(node.title, titles.length);
      titles.push(node.title);
    }
    tree.name[at] = numbers.get(node.title);
    tree.type[at] = node.type;
    tree.parent[at] = parent;
    tree.depth[at] = depth;
    tree.baseSelf[at] = node.self;
    for (const child of [...node.below.values()].sort((one, other) => one.title < other.title ? 1 : -1))
      open.push([child, at, depth + 1]);
  }
  for (let i = count - 1; i >= 0; i--) {
    tree.end[i] = Math.max(tree.end[i], i + 1);
    tree.end[tree.parent[i]] = Math.max(tree.end[tree.parent[i]], tree.end[i]);
  }
  tree.special = new Uint8Array(titles.length);
  countTwins(tree);
  return tree;
}

/* Elements of another page, as text: nothing of it becomes a document. Their contents cannot hold an end of theirs. */
function elementsOf(text) {
  return id => {
    const begin = new RegExp(`\\x3cscript type="[a-z/]+" id="${id}"(?: data-bytes="(\\d+)" data-check="(\\d+)")?>`).exec(text);
    const end = begin === null ? -1 : text.indexOf('\x3c/script>', begin.index);
    return end < 0 ? null : { textContent: text.slice(begin.index + begin[0].length, end), dataset: { bytes: begin[1], check: begin[2] } };
  };
}

/* A tree of a page, this one or another: what begins with `prefix`. */
async function readPage(elementBy, prefix = '') {
  const about = JSON.parse(elementBy(prefix + 'meta').textContent);
  const data = elementBy(prefix + 'data');
  const text = data !== null ? data.textContent : new TextDecoder().decode(await readColumn(prefix + 'tree', elementBy));
  return { tree: readTree(text, about), about };
}

async function readOther(text, name) {
  let read;
  if (text.startsWith('FLR\0') || text.startsWith('(\ufffd/\ufffd'))
    throw new Error('it is a recording; make a page of it first: jaywalk convert ' + name + ' x.html');
  if (/^\s*</.test(text)) {
    const elementBy = elementsOf(text);
    if (elementBy('meta') === null || (elementBy('data') === null && elementBy('c-tree') === null))
      throw new Error('it is no page of jaywalk');
    const { explorer } = JSON.parse(elementBy('meta').textContent);
    const same = explorer?.events?.find(([, event]) => event === meta.event); /* of its events this one */
    read = await readPage(elementBy, same ? same[0] : '');
  } else {
    read = readCollapsed(text);
  }
  if (read.about.reverse !== meta.reverse)
    throw new Error('the stacks of one of the two are reversed');
  return { ...read, name };
}

/* ---- comparing ---- */

/* The tree of the page becomes one with that of the other; what is shown stays where it was. */
function setOther({ tree: other, about, name }) {
  const { explorer } = app;
  app.original ||= app.whole;
  const { tree, ofA, ofB } = mergeTrees(app.original, other);
  const self = new Float64Array(tree.count);
  for (let i = 0; i < other.count; i++)
    self[ofB[i]] += other.baseSelf[i];
  const all = self.reduce((sum, value) => sum + value, 0);
  app.other = { name, about, self, each: all / Math.max(about.samples, 1) };
  if (explorer !== null)
    explorer.adopt(tree, ofA);
  app.whole = tree;
  app.filterText = app.comparedAs = '';
  sumTree(tree, null);
  app.baseTotal = tree.total;
  app.shades = makeShades(tree);
  app.forms.clear();
  app.state.isCompared = true;
}

async function compareWith(file) {
  try {
    setOther(await readOther(await file.text(), file.name));
  } catch (wrong) {
    openDialog('This file cannot be compared with', element('p', '', `${file.name}: ${wrong.message}.`),
      element('p', '', 'What can: a page that jaywalk made (flame graph or explorer), or collapsed stacks.'));
    return;
  }
  byId('dialog').close();
  say(`Compared with ${file.name}`);
  go({ isCompared: true, ...(app.explorer === null ? {} : { base: null }) });
  apply(true);
}

/* Own values of what is compared with, or null; and what that depends on. */
function beforeSelf(state) {
  if (app.explorer !== null && app.explorer.beforeSelf !== null)
    return app.explorer.beforeSelf;
  return app.other !== null && state.isCompared ? app.other.self : null;
}

const comparedAs = state => `${app.other !== null && state.isCompared} ${state.isSwapped}`;
const isWithOther = () => app.before !== null && (app.explorer === null || app.explorer.beforeSelf === null);

function openCompare() {
  const input = element('input');
  input.type = 'file';
  input.id = 'compare-file';
  input.setAttribute('aria-label', 'File to compare with');
  input.addEventListener('change', () => input.files.length > 0 && compareWith(input.files[0]));
  const back = element('button', '', app.other === null ? '' : 'Compare with ' + app.other.name + ' again');
  back.type = 'button';
  back.addEventListener('click', () => {
    byId('dialog').close();
    go({ isCompared: true });
  });
  openDialog('Compare with', element('p', '', 'Another profile: a page that jaywalk made, or collapsed stacks. It is read here and goes nowhere; dropping it on the page does the same.'),
    input, ...(app.other !== null && !app.state.isCompared ? [back] : []),
    ...(app.explorer === null ? [] : [element('p', '', 'Shift+drag over the timeline compares with another window of this one.')]));
}

function comparisonChips(bar) {
  const { state } = app;
  if (app.before === null)
    return;
  if (isWithOther())
    bar.append(chip('compared with', app.other.name + (app.explorer !== null && (state.facets.length > 0 || state.time !== null) ? ', all of it' : ''),
      'No comparison', () => go({ isCompared: false, isSwapped: false })));
  const toggle = (text, title, change) => {
    const button = element('button', 'chip', text);
    button.type = 'button';
    button.title = title;
    button.addEventListener('click', () => go(change));
    bar.append(button);
  };
  toggle(state.isAbsolute ? 'amounts' : 'shares', 'Compare shares of each side, or amounts as they are (P)', { isAbsolute: !state.isAbsolute });
  toggle(state.isSwapped ? 'widths: baseline' : 'widths: this profile', 'Whose frames are drawn: also those that are gone (W)', { isSwapped: !state.isSwapped });
}

function wireCompare() {
  byId('compare').addEventListener('click', openCompare);
  document.addEventListener('dragover', event => event.preventDefault());
  document.addEventListener('drop', event => {
    event.preventDefault();
    if (event.dataTransfer.files.length > 0)
      compareWith(event.dataTransfer.files[0]);
  });
  Object.assign(letters, {
    p: () => app.before !== null && go({ isAbsolute: !app.state.isAbsolute }),
    w: () => app.before !== null && go({ isSwapped: !app.state.isSwapped }),
    b: () => app.other !== null && go({ isCompared: !app.state.isCompared }),
  });
}
