/*
 * rows - the tree as rows: total, self and name, the heaviest callee first. Only rows in the window are made.
 *
 * Rows that are open are kept as paths, so that they stay open when time or filters change.
 */
const ROW_PX = 22;
const ROW_PX_TOUCH = 44;
const rowsOf = { open: new Set(), list: [], at: 0, tree: null, zoom: -1 };

const rowPx = () => matchMedia('(max-width: 699px)').matches ? ROW_PX_TOUCH : ROW_PX;

function childrenOf(tree, node) {
  const children = [];
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
    if (tree.total[child] > 0)
      children.push(child);
  }
  return children.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
}

/* Opens the heaviest callee of each row on the way down, as long as it has most of its caller. */
function openHeaviest(tree, node) {
  for (let children; (children = childrenOf(tree, node)).length > 0; node = children[0]) {
    rowsOf.open.add(pathOf(tree, node));
    if (tree.total[children[0]] * 2 < tree.total[node])
      break;
  }
}

/* The rows that there are, from the zoomed frame on: [node, level, place among its siblings, how many they are]. */
function listRows() {
  const { tree, zoom } = app;
  const list = [];
  const open = [[zoom, 0, 1, 1]];
  while (open.length > 0) {
    const row = open.pop();
    list.push(row);
    if (!rowsOf.open.has(pathOf(tree, row[0])))
      continue;
    const children = childrenOf(tree, row[0]);
    for (let i = children.length - 1; i >= 0; i--)
      open.push([children[i], row[1] + 1, i + 1, children.length]);
  }
  return list;
}

function rowElement(index) {
  const { tree, zoom, hit } = app;
  const [node, level, place, count] = rowsOf.list[index];
  const whole = tree.total[zoom];
  const row = element('div', 'row');
  const isOpen = rowsOf.open.has(pathOf(tree, node));
  const hasChildren = childrenOf(tree, node).length > 0;
  row.id = 'row-' + index;
  row.setAttribute('role', 'row');
  row.setAttribute('aria-level', String(level + 1));
  row.setAttribute('aria-posinset', String(place));
  row.setAttribute('aria-setsize', String(count));
  if (hasChildren)
    row.setAttribute('aria-expanded', String(isOpen));
  row.classList.toggle('current', index === rowsOf.at);
  row.classList.toggle('match', hit !== null && hit[node] === 1);
  row.style.top = index * rowPx() + 'px';
  row.style.setProperty('--part', whole > 0 ? 100 * tree.total[node] / whole + '%' : '0');
  const cell = (className, text) => {
    const made = row.appendChild(element('span', className, text));
    made.setAttribute('role', 'gridcell');
    return made;
  };
  cell('number', share(tree.total[node], whole));
  cell('number', tree.self[node] > 0 ? share(tree.self[node], whole) : '');
  const name = cell('name', '');
  name.style.paddingLeft = Math.min(level, 40) * 0.75 + 'rem';
  name.append(element('i', '', hasChildren ? (isOpen ? '\u25be' : '\u25b8') : ''), readable(tree.titles[tree.name[node]], tree.type[node]));
  row.title = `${readable(tree.titles[tree.name[node]], tree.type[node])}\n${amount(tree.total[node])} total, ${amount(tree.self[node])} self`;
  return row;
}

function paintRows() {
  const grid = byId('rows-grid');
  const first = Math.max(Math.floor(grid.scrollTop / rowPx()) - 4, 0);
  const last = Math.min(Math.ceil((grid.scrollTop + grid.clientHeight) / rowPx()) + 4, rowsOf.list.length);
  const box = byId('rows-box');
  const made = [];
  for (let i = first; i < last; i++)
    made.push(rowElement(i));
  box.style.height = rowsOf.list.length * rowPx() + 'px';
  box.replaceChildren(...made);
  grid.setAttribute('aria-activedescendant', 'row-' + rowsOf.at);
}

function showRows() {
  if (byId('rows').hidden)
    return;
  const { tree, zoom } = app;
  if (rowsOf.tree !== tree || rowsOf.zoom !== zoom) {
    rowsOf.tree = tree;
    rowsOf.zoom = zoom;
    rowsOf.at = 0;
    openHeaviest(tree, zoom);
  }
  rowsOf.list = listRows();
  rowsOf.at = Math.min(rowsOf.at, rowsOf.list.length - 1);
  paintRows();
}

function toggleRows() {
  byId('rows').hidden = !byId('rows').hidden;
  app.explorer.alone('rows');
  byId('rows-open').setAttribute('aria-pressed', String(!byId('rows').hidden));
  showRows();
  draw();
  if (!byId('rows').hidden)
    byId('rows-grid').focus({ preventScroll: true });
}

function setRow(index) {
  const grid = byId('rows-grid');
  rowsOf.at = Math.min(Math.max(index, 0), rowsOf.list.length - 1);
  const top = rowsOf.at * rowPx();
  if (top < grid.scrollTop)
    grid.scrollTop = top;
  else if (top + rowPx() > grid.scrollTop + grid.clientHeight)
    grid.scrollTop = top + rowPx() - grid.clientHeight;
  paintRows();
  const [node] = rowsOf.list[rowsOf.at];
  say(spokenText(node));
}

function toggleRow(index, isOpen) {
  const path = pathOf(app.tree, rowsOf.list[index][0]);
  if (isOpen ?? !rowsOf.open.has(path))
    rowsOf.open.add(path);
  else
    rowsOf.open.delete(path);
  rowsOf.list = listRows();
  setRow(index);
}

function rowsKey(event) {
  const [node, level] = rowsOf.list[rowsOf.at];
  const isOpen = rowsOf.open.has(pathOf(app.tree, node));
  const page = Math.max(Math.floor(byId('rows-grid').clientHeight / rowPx()) - 1, 1);
  const acts = {
    ArrowDown: () => setRow(rowsOf.at + 1),
    ArrowUp: () => setRow(rowsOf.at - 1),
    PageDown: () => setRow(rowsOf.at + page),
    PageUp: () => setRow(rowsOf.at - page),
    Home: () => setRow(0),
    End: () => setRow(rowsOf.list.length - 1),
    ArrowRight: () => isOpen ? setRow(rowsOf.at + 1) : toggleRow(rowsOf.at, true),
    ArrowLeft: () => isOpen && childrenOf(app.tree, node).length > 0 ? toggleRow(rowsOf.at, false)
      : setRow(rowsOf.list.findLastIndex((row, i) => i < rowsOf.at && row[1] < level)),
    Enter: () => zoomTo(node),
    '*': () => {
      openHeaviest(app.tree, node);
      rowsOf.list = listRows();
      setRow(rowsOf.at);
    },
  };
  if (event.ctrlKey || event.metaKey || event.altKey || !acts[event.key])
    return;
  event.preventDefault();
  event.stopPropagation();
  acts[event.key]();
}

function wireRows() {
  const grid = byId('rows-grid');
  byId('rows-open').addEventListener('click', toggleRows);
  byId('rows-close').addEventListener('click', toggleRows);
  grid.addEventListener('scroll', paintRows);
  grid.addEventListener('keydown', rowsKey);
  const indexOf = event => {
    const row = event.target.closest('.row');
    return row === null ? -1 : Number(row.id.slice(4));
  };
  grid.addEventListener('click', event => {
    if (indexOf(event) >= 0)
      toggleRow(indexOf(event));
  });
  grid.addEventListener('dblclick', event => {
    if (indexOf(event) >= 0)
      zoomTo(rowsOf.list[indexOf(event)][0]);
  });
  grid.addEventListener('contextmenu', event => {
    event.preventDefault();
    if (indexOf(event) >= 0)
      openMenu(rowsOf.list[indexOf(event)][0], event.clientX, event.clientY);
  });
  new ResizeObserver(() => { if (!byId('rows').hidden) paintRows(); }).observe(grid);
}
