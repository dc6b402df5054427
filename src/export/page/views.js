/*
 * views - the tree turned round: callers from what ran, callers of one method, and all that one method calls, wherever
 * it stands. A view is a tree of its own, made from the sums of the one in the page.
 */
const VIEW_LEAST = 1 / 5000; /* of the view: callers of less are not followed, and a mark says so */
const VIEW_CUT = '[too narrow to follow]';

/* Gives the tree the name of the mark; before any shade or label is made of its titles. */
function prepareViews(tree) {
  const special = new Uint8Array(tree.titles.length + 1);
  special.set(tree.special);
  special[tree.titles.length] = TYPE_MARK;
  tree.titles.push(VIEW_CUT);
  tree.canon = Uint32Array.from(tree.titles, (title, i) => i < tree.canon.length ? tree.canon[i] : i);
  tree.special = special;
}

/* Nodes in pre-order, while they are found. */
function makeGrowing() {
  return { name: [], type: [], parent: [], depth: [], end: [], total: [], self: [], before: [] };
}

function grow(growing, name, type, parent, total, self, before) {
  growing.name.push(name);
  growing.type.push(type);
  growing.parent.push(Math.max(parent, 0));
  growing.depth.push(parent < 0 ? 0 : growing.depth[parent] + 1);
  growing.end.push(0);
  growing.total.push(total);
  growing.self.push(self);
  growing.before.push(before);
  return growing.name.length - 1;
}

function finish(growing, whole) {
  const count = growing.name.length;
  const tree = {
    isView: true, count, titles: whole.titles, canon: whole.canon, twin: null, special: whole.special, module: whole.module, folded: whole.folded,
    name: Uint32Array.from(growing.name), type: Uint8Array.from(growing.type), depth: Uint32Array.from(growing.depth),
    parent: Uint32Array.from(growing.parent), end: new Uint32Array(count), total: Float64Array.from(growing.total),
    self: Float64Array.from(growing.self), before: Float64Array.from(growing.before), left: new Float64Array(count), tiers: new Float32Array(0),
  };
  for (let i = count - 1; i >= 0; i--) {
    tree.end[i] = Math.max(tree.end[i], i + 1);
    if (i > 0)
      tree.end[tree.parent[i]] = Math.max(tree.end[tree.parent[i]], tree.end[i]);
  }
  const next = new Float64Array(count);
  for (let i = 1; i < count; i++) {
    tree.left[i] = next[i] = next[tree.parent[i]];
    next[tree.parent[i]] += tree.total[i];
  }
  return tree;
}

/* Where this name stands outermost: what it has there counts once. */
function outermost(whole, name) {
  const found = [];
  for (let i = 1, until = 0; i < whole.count; i++) {
    if (whole.canon[whole.name[i]] === name && i >= until) {
      found.push(i);
      until = whole.end[i];
    }
  }
  return found;
}

/* Of several nodes the type of the heaviest. */
function typeOfAll(whole, nodes) {
  let best = nodes[0];
  for (const node of nodes) {
    if (whole.total[node] > whole.total[best])
      best = node;
  }
  return whole.type[best];
}

/* All that a method calls, from all of its places. */
function calleesOf(whole, name, before) {
  const growing = makeGrowing();
  const open = [{ nodes: outermost(whole, name), parent: -1 }];
  const has = node => whole.total[node] > 0 || (before !== null && before[node] > 0);
  while (open.length > 0) {
    const { nodes, parent } = open.pop();
    let [total, self, then] = [0, 0, 0];
    const children = new Map();
    for (const node of nodes) {
      total += whole.total[node];
      self += whole.self[node];
      then += before === null ? 0 : before[node];
      for (let child = node + 1; child < whole.end[node]; child = whole.end[child]) {
        if (!has(child))
          continue;
        const own = whole.canon[whole.name[child]];
        const same = children.get(own);
        if (same)
          same.push(child);
        else
          children.set(own, [child]);
      }
    }
    const at = grow(growing, name, nodes.length > 0 ? typeOfAll(whole, nodes) : TYPE_MARK, parent, total, self, then);
    if (parent >= 0)
      growing.name[at] = whole.canon[whole.name[nodes[0]]];
    /* The last that is pushed comes first. */
    for (const [, list] of [...children].sort((a, b) => b[0] - a[0]))
      open.push({ nodes: list, parent: at });
  }
  return finish(growing, whole);
}

/* From some nodes, with what each stands for, to their callers. Self is what ran there: of the first box of each path. */
function callersFrom(whole, items, weight, then, rootName) {
  const growing = makeGrowing();
  const sum = (list, of) => list.reduce((all, item) => all + of(item.from), 0);
  const all = sum(items, weight);
  const open = [];
  const push = (list, parent) => {
    const groups = new Map();
    for (const item of list) {
      const name = whole.canon[whole.name[item.at]];
      const group = groups.get(name);
      if (group)
        group.push(item);
      else
        groups.set(name, [item]);
    }
    for (const [name, group] of [...groups].sort((a, b) => b[0] - a[0]))
      open.push({ name, group, parent });
  };
  const isOfOne = rootName !== 0;
  if (isOfOne) {
    open.push({ name: rootName, group: items, parent: -1 });
  } else {
    grow(growing, 0, TYPE_ROOT, -1, all, 0, sum(items, then));
    push(items, 0);
  }
  while (open.length > 0) {
    const { name, group, parent } = open.pop();
    const total = sum(group, weight);
    const isFirst = parent < 0 || (!isOfOne && parent === 0);
    const self = !isFirst ? 0 : isOfOne ? app.explorer.selfOfName(name) : total;
    const type = group.length > 0 ? typeOfAll(whole, group.map(item => item.at)) : TYPE_MARK;
    const at = grow(growing, name, type, parent, total, self, sum(group, then));
    const callers = group.filter(item => whole.parent[item.at] > 0).map(item => ({ at: whole.parent[item.at], from: item.from }));
    if (callers.length === 0)
      continue;
    if (total < VIEW_LEAST * all)
      grow(growing, whole.titles.length - 1, TYPE_MARK, at, sum(callers, weight), 0, sum(callers, then));
    else
      push(callers, at);
  }
  return finish(growing, whole);
}

/* The tree that a view shows; the whole where there is none of that name. */
function makeView(whole, view) {
  const [, kind, title] = /^(callers|callees)(?::(.*))?$/s.exec(view) || [];
  const name = title === undefined ? 0 : whole.titles.indexOf(title);
  const before = app.wholeBefore && app.wholeBefore.total;
  if (!kind || name < 0 || (kind === 'callees' && name === 0))
    return whole;
  if (kind === 'callees')
    return calleesOf(whole, name, before);
  if (name > 0)
    return callersFrom(whole, outermost(whole, name).map(node => ({ at: node, from: node })), node => whole.total[node], node => before === null ? 0 : before[node], name);
  const ran = [];
  const then = app.wholeBefore && app.wholeBefore.kept;
  for (let i = 1; i < whole.count; i++) {
    if (whole.self[i] > 0 || (then !== null && then[i] > 0))
      ran.push({ at: i, from: i });
  }
  return callersFrom(whole, ran, node => whole.self[node], node => then === null ? 0 : then[node], 0);
}

function viewText(view) {
  if (view === 'locks')
    return ['locks', 'of the whole recording'];
  const [, kind, title] = /^(callers|callees)(?::(.*))?$/s.exec(view) || [];
  return kind === 'callees' ? ['called by', title] : title === undefined ? ['callers', 'of what ran'] : ['callers of', title];
}

const showView = view => go({ view: app.state.view === view ? '' : view, zoom: '' });
