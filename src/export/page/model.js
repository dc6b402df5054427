/*
 * model - the call tree as typed arrays, read from the lines of the page's data.
 *
 * Lines f( u( n( are scanned by character code and never executed. Frames stand in pre-order: the
 * children of i begin at i + 1 and end before end[i].
 */
let meta = JSON.parse(document.getElementById('meta').textContent);

const TYPES = ['interpreted', 'compiled', 'inlined', 'native', 'C++', 'kernel', 'C1', 'class', 'not code', 'thread', 'endpoint', 'operation',
  'attribute', 'missing value', 'all'];
const TYPE_CLASS = 7;
const TYPE_MARK = 8;
const TYPE_THREAD = 9; /* from here on boxes that stand between the root and the frames, and the root */
const TYPE_ENDPOINT = 10;
const TYPE_OPERATION = 11;
const TYPE_ATTRIBUTE = 12;
const TYPE_MISSING = 13;
const TYPE_ROOT = 14;

function unescapeTitle(text) {
  return text.replace(/\\(x[0-9a-f]{2}|u[0-9a-f]{4}|.)/g, (all, code) =>
    code.length > 1 ? String.fromCharCode(parseInt(code.slice(1), 16)) : code);
}

/* The pool: each title begins with how much of the one before it shares. Returns where it ends. */
function readPool(text, titles) {
  const end = text.indexOf('\n];', 0);
  if (!text.startsWith('\nconst cpool = [\n') || end < 0)
    throw new Error('the pool of names is cut');
  let before = '';
  for (const line of text.slice(17, end).split('\n')) {
    let title = line.slice(1, line.endsWith(',') ? -2 : -1);
    if (title.includes('\\'))
      title = unescapeTitle(title);
    if (titles.length > 0)
      title = before.slice(0, title.charCodeAt(0) - 32) + title.slice(1);
    titles.push(title);
    before = title;
  }
  return end;
}

/* `about`: what the page says of the tree, as `meta` of its own. */
function readTree(text, about = meta) {
  const titles = [];
  let at = readPool(text, titles);
  const count = about.frames;
  const tree = {
    count, titles,
    name: new Uint32Array(count), type: new Uint8Array(count), depth: new Uint32Array(count),
    parent: new Uint32Array(count), end: new Uint32Array(count),
    baseSelf: new Float64Array(count), tiers: new Float32Array(3 * count),
    self: null, total: null, left: new Float64Array(count),
  };
  const total = new Float64Array(count);
  const open = [];
  const numbers = [0, 0, 0, 0, 0, 0, 0];
  let node = 0;
  let level = 0;
  let width = 0;

  for (at = text.indexOf('(', text.indexOf('unpack(cpool);', at) + 14); at > 0; at = text.indexOf('(', at)) {
    const kind = text.charCodeAt(at - 1);
    let used = 0;
    let value = 0;
    for (;;) {
      const code = text.charCodeAt(++at);
      if (code >= 48 && code <= 57) {
        value = value * 10 + code - 48;
      } else if (code === 44 || code === 41) {
        numbers[used++] = value;
        value = 0;
        if (code === 41)
          break;
      } else {
        throw new Error('the tree is cut');
      }
    }
    for (let i = used; i < 7; i++)
      numbers[i] = 0;

    const isFull = kind === 102; /* f: level and left stand between key and width */
    if (isFull)
      level = numbers[1];
    else if (kind === 117)
      level++;
    const rest = isFull ? 3 : 1;
    width = numbers[rest] * about.scale || width;
    if (node >= count || level > open.length || (level === 0 && node > 0))
      throw new Error('the tree has no sense');
    while (open.length > level)
      tree.end[open.pop()] = node;
    tree.name[node] = numbers[0] >>> 3;
    tree.type[node] = numbers[0] & 7;
    tree.depth[node] = level;
    tree.parent[node] = level === 0 ? 0 : open[level - 1];
    total[node] = width;
    tree.tiers[3 * node] = numbers[rest + 1] * about.scale;
    tree.tiers[3 * node + 1] = numbers[rest + 2] * about.scale;
    tree.tiers[3 * node + 2] = numbers[rest + 3] * about.scale;
    tree.baseSelf[node] += width;
    if (level > 0)
      tree.baseSelf[open[level - 1]] -= width;
    open.push(node++);
  }
  while (open.length > 0)
    tree.end[open.pop()] = node;
  if (node !== count || tree.name.some(name => name >= titles.length))
    throw new Error('the tree is cut');
  setTypes(tree, about);
  countTwins(tree);
  return tree;
}

/* What is no code has a type of its own; the lines know only those of code. */
function setTypes(tree, about) {
  const special = new Uint8Array(tree.titles.length);
  const kinds = [
    [TYPE_CLASS, about.classes], [TYPE_MARK, about.marks], [TYPE_THREAD, about.threads], [TYPE_ENDPOINT, about.endpoints],
    [TYPE_OPERATION, about.operations], [TYPE_ATTRIBUTE, about.attributes], [TYPE_MISSING, about.missing], [TYPE_ROOT, [0]],
  ];
  for (const [type, names] of kinds) {
    for (const name of names)
      special[name] = type;
  }
  for (let i = 0; i < tree.count; i++) {
    if (special[tree.name[i]] !== 0)
      tree.type[i] = special[tree.name[i]];
  }
  tree.special = special;
  tree.module = new Map();
  for (let i = 0; i < about.modules.length; i += 2)
    tree.module.set(about.modules[i], about.modules[i + 1]);
}

/*
 * Names may read alike: functions of two libraries, a method and a function. canon[] is the first of those; twin[] says
 * of a node how many siblings before it read the same (null: all names are different).
 */
function countTwins(tree) {
  const { count, titles, name, parent } = tree;
  const first = new Map();
  tree.canon = Uint32Array.from(titles, (title, i) => {
    if (!first.has(title))
      first.set(title, i);
    return first.get(title);
  });
  tree.twin = null;
  if (first.size === titles.length)
    return;
  const isShared = new Uint8Array(titles.length);
  tree.canon.forEach((canon, i) => {
    if (canon !== i)
      isShared[canon] = isShared[i] = 1;
  });
  const seen = new Map();
  tree.twin = new Uint32Array(count);
  for (let i = 1; i < count; i++) {
    if (isShared[name[i]] === 0)
      continue;
    const key = parent[i] * titles.length + tree.canon[name[i]];
    tree.twin[i] = seen.get(key) || 0;
    seen.set(key, tree.twin[i] + 1);
  }
}

/* Own values that `keep` leaves, all without it; and what each node has with all below it. */
const keptOf = (values, keep) => keep === null ? values : values.map((value, i) => keep[i] ? value : 0);

function totalsOf(tree, self) {
  const total = Float64Array.from(self);
  for (let i = tree.count - 1; i > 0; i--)
    total[tree.parent[i]] += total[i];
  return total;
}

/*
 * Sums up the tree from the leaves that `keep` leaves, and lays frames side by side: left[] is where each begins, in
 * the unit of the profile.
 */
function sumTree(tree, keep, values = tree.baseSelf) {
  const { count, parent, left } = tree;
  const self = keptOf(values, keep);
  const total = totalsOf(tree, self);
  const next = new Float64Array(count);
  for (let i = 1; i < count; i++) {
    const up = parent[i];
    left[i] = next[i] = next[up];
    next[up] += total[i];
  }
  tree.self = meta.reverse ? whatRan(tree, total) : self;
  tree.total = total;
}

/* Of reversed stacks: what ran is where they begin, under the root or what they are taken apart by. */
function whatRan(tree, total) {
  const { count, parent, type } = tree;
  const self = new Float64Array(count);
  for (let i = 1; i < count; i++) {
    if (type[i] < TYPE_THREAD && type[parent[i]] >= TYPE_THREAD)
      self[i] = total[i];
  }
  return self;
}

/* A name in parts: package, class, method. Only the first dot before parameters counts. */
function splitTitle(title) {
  const round = title.indexOf('(');
  const head = round < 0 ? title : title.slice(0, round);
  const dot = head.lastIndexOf('.');
  if (dot <= 0)
    return { pack: '', owner: '', method: title };
  let cut = Math.max(head.lastIndexOf('/', dot - 1), head.lastIndexOf('.', dot - 1));
  if (cut > 0 && /^[./](0x|\d+$)/.test(head.slice(cut, dot))) /* the number of a hidden class */
    cut = Math.max(head.lastIndexOf('/', cut - 1), head.lastIndexOf('.', cut - 1));
  return {
    pack: head.slice(0, Math.max(cut, 0)).replaceAll('/', '.'),
    owner: head.slice(cut + 1, dot).replaceAll('/', '.'),
    method: title.slice(dot + 1),
  };
}

/* How a name reads: Java's with dots. */
const isJava = type => type <= 2 || type === 6 || type === TYPE_CLASS;
function readable(title, type) {
  if (!isJava(type) && !(type === 3 && title.includes('/')))
    return title;
  const { pack, owner, method } = splitTitle(title);
  return (pack ? pack + '.' : '') + (owner ? owner + '.' : '') + (type === TYPE_CLASS ? method.replaceAll('/', '.') : method);
}

function hashTitle(title) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < title.length; i++)
    hash = Math.imul(hash ^ title.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
