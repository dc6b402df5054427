/*
 * search - queries over names, and what they match in the tree.
 *
 * Names are tested, not frames: 20,000 of them for a million frames. Plain text is a substring, so
 * that a longer text never matches more.
 */

/* Text compared without case, and with / and . alike. */
const foldText = text => text.toLowerCase().replaceAll('/', '.');

/* One term: a function of (title, type, module, folded title), or an Error that says what is wrong. */
function parseTerm(text) {
  const term = text.trim();
  if (term.length > 1 && term.startsWith('-')) {
    const inner = parseTerm(term.slice(1));
    return (...frame) => !inner(...frame);
  }
  const regex = /^\/(.+)\/(i?)$/.exec(term);
  if (regex) {
    const expression = new RegExp(regex[1], regex[2] + 'u');
    return title => expression.test(title);
  }
  if (term.length > 3 && term.startsWith('="') && term.endsWith('"')) {
    const exact = term.slice(2, -1).replaceAll('/', '.'); /* a.A and a.a are two classes */
    return title => title.replaceAll('/', '.') === exact;
  }
  const keyed = /^(type|module|pkg):(.+)$/i.exec(term);
  if (keyed) {
    const wanted = foldText(keyed[2].trim());
    if (keyed[1].toLowerCase() === 'type')
      return (title, type) => foldText(TYPES[type]).startsWith(wanted);
    if (keyed[1].toLowerCase() === 'module')
      return (title, type, module) => foldText(module).includes(wanted);
    return (title, type, module, folded) => folded.startsWith(wanted) && (folded[wanted.length] === '.' || folded.length === wanted.length);
  }
  const wanted = foldText(term);
  return (title, type, module, folded) => folded.includes(wanted);
}

/* Terms stand between " | ", which a name in ="..." may hold as well. */
function splitQuery(query) {
  const term = /(\s*-?="[^]*?"\s*|[^]*?)( \| |$)/y;
  const terms = [];
  for (let found = null; found === null || found[2] !== '';) {
    found = term.exec(query);
    terms.push(found[1]);
  }
  return terms.filter(text => text.trim() !== '');
}

function parseQuery(query) {
  const terms = splitQuery(query).map(parseTerm);
  return (...frame) => terms.some(term => term(...frame));
}

/* Whether a query means something: a regular expression in a link may be broken. */
function isQuery(query) {
  try {
    return parseQuery(query) !== null;
  } catch (wrong) {
    return false;
  }
}

/* Frames by themselves: a name may be C1 here and inlined there, so type: tests each frame. */
function matchFrames(tree, query) {
  const test = parseQuery(query);
  const hit = new Uint8Array(tree.count);
  const known = new Int8Array(tree.titles.length * TYPES.length).fill(-1);
  tree.folded ||= tree.titles.map(foldText);
  for (let i = 1; i < tree.count; i++) {
    const name = tree.name[i];
    const slot = name * TYPES.length + tree.type[i];
    if (known[slot] < 0)
      known[slot] = test(tree.titles[name], tree.type[i], tree.module.get(name) || '', tree.folded[name]) ? 1 : 0;
    hit[i] = known[slot];
  }
  return hit;
}

/* What a match amounts to below `root`: a frame inside a matched one is not counted again. */
function sumMatches(tree, hit, root) {
  const names = new Set();
  const outer = [];
  let places = 0;
  let total = 0;
  let self = 0;
  let until = root;
  for (let i = root; i < tree.end[root]; i++) {
    if (!hit[i] || tree.total[i] === 0)
      continue;
    names.add(tree.name[i]);
    places++;
    self += tree.self[i];
    if (i >= until) {
      total += tree.total[i];
      until = tree.end[i];
      outer.push(i);
    }
  }
  return { names, places, total, self, outer };
}

/* Leaves that stay under a list of filters; null: all of them. */
function keepLeaves(tree, filters) {
  if (filters.length === 0)
    return null;
  const keep = new Uint8Array(tree.count).fill(1);
  for (const filter of filters) {
    if (filter.kind === 'hide') {
      const { node, isWhole } = findPath(tree, filter.path);
      if (node > 0 && isWhole) /* of another profile: it hides nothing here, least of all its caller */
        keep.fill(0, node, tree.end[node]);
      continue;
    }
    const hit = matchFrames(tree, filter.query);
    const under = new Uint8Array(tree.count);
    const wanted = filter.kind === 'only' ? 1 : 0;
    for (let i = 0; i < tree.count; i++) {
      under[i] = hit[i] | (i > 0 ? under[tree.parent[i]] : 0);
      if (under[i] !== wanted)
        keep[i] = 0;
    }
  }
  return keep;
}

/*
 * A frame is named by the hashes of the titles that lead to it, so that links outlive an export; "~1" is the second one
 * of siblings that read the same.
 */
function pathOf(tree, node) {
  const parts = [];
  for (; node > 0; node = tree.parent[node])
    parts.push(hashTitle(tree.titles[tree.name[node]]).toString(36) + (tree.twin?.[node] ? '~' + tree.twin[node] : ''));
  return parts.reverse().join('.');
}

function findPath(tree, path) {
  let node = 0;
  for (const part of path ? path.split('.') : []) {
    const [code, twin = '0'] = part.split('~');
    const hash = parseInt(code, 36);
    let before = Number(twin);
    let child = node + 1;
    while (child < tree.end[node] && (hashTitle(tree.titles[tree.name[child]]) !== hash || before-- > 0))
      child = tree.end[child];
    if (child >= tree.end[node])
      return { node, isWhole: false };
    node = child;
  }
  return { node, isWhole: true };
}
