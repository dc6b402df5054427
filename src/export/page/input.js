/* input - mouse, touch and keys. Each ends in go(), moveTo() or a change of the cursor. */
const DRAG_PX = 4;
const LONG_PRESS_MS = 450;
const WHEEL_STEP = 1.2;

/* What lies under a point of the window: {node, level} (node under 0: dust), or null. */
function frameAt(clientX, clientY) {
  const box = byId('canvas').getBoundingClientRect();
  const y = clientY - box.top + byId('scroller').scrollTop;
  const level = levelAt(y);
  const found = app.layout && level >= 0 ? boxAt(app.layout, level, Math.floor((clientX - box.left) * app.painter.ratio())) : null;
  return found === null ? null : { node: found[2], level };
}

function placeMark(mark, node, level) {
  const { layout, painter, tree } = app;
  const box = node === null || layout === null ? null
    : node < 0 ? (layout.levels[level] || []).reduce((found, value, i, all) => i % 3 === 2 && value === node ? all.slice(i - 2, i + 1) : found, null)
      : boxOf(layout, tree, node);
  mark.hidden = box === null;
  if (box === null)
    return;
  const ratio = painter.ratio();
  mark.style.transform = `translate(${box[0] / ratio}px, ${levelTop(level)}px)`;
  mark.style.width = Math.max((box[1] - box[0]) / ratio, 3) + 'px';
}

function showMarks() {
  const { hover, hoverLevel, cursor, tree } = app;
  placeMark(byId('hover'), hover, hoverLevel);
  placeMark(byId('cursor'), cursor < 0 ? null : cursor, cursor < 0 ? 0 : tree.depth[cursor]);
  byId('canvas').classList.toggle('has-cursor', !byId('cursor').hidden); /* its frame shows the focus */
}

function setHover(found) {
  app.hover = found === null ? null : found.node;
  app.hoverLevel = found === null ? 0 : found.level;
  byId('canvas').classList.toggle('over', found !== null);
  placeMark(byId('hover'), app.hover, app.hoverLevel);
  showStatus();
}

function showTip(clientX, clientY) {
  const tip = byId('tip');
  if (app.hover === null) {
    tip.hidden = true;
    return;
  }
  if (tip.hidden || app.tipNode !== app.hover) {
    app.tipNode = app.hover;
    fillDetails(tip, app.hover);
    tip.hidden = false;
  }
  const { width, height } = tip.getBoundingClientRect();
  const x = Math.min(clientX + 14, innerWidth - width - 6);
  const y = clientY + 18 + height > innerHeight - 6 ? clientY - height - 12 : clientY + 18;
  tip.style.transform = `translate(${Math.max(x, 6)}px, ${Math.max(y, 6)}px)`;
}

function hideTip() {
  byId('tip').hidden = true;
  app.tipNode = undefined;
}

function zoomTo(node) {
  if (node < 0) {
    const dust = app.layout.dust[-1 - node];
    moveTo(dust.from, dust.to, true);
    return;
  }
  hideTip();
  app.cursor = node;
  go({ zoom: pathOf(app.tree, node) });
}

function zoomOut() {
  const isFree = app.target.from !== app.tree.left[app.zoom] || app.target.to !== app.tree.left[app.zoom] + app.tree.total[app.zoom];
  if (isFree)
    apply();
  else if (app.zoom > 0)
    go({ zoom: pathOf(app.tree, app.tree.parent[app.zoom]) });
}

/* Zooms by a factor around a place of the window, or moves by a share of it. */
function zoomBy(factor, at) {
  const { from, to } = app.target;
  const { total } = app.tree;
  const middle = from + (to - from) * at;
  const width = Math.min(Math.max((to - from) / factor, Math.min(total[0], 1)), total[0]);
  const start = Math.min(Math.max(middle - width * at, 0), total[0] - width);
  moveTo(start, start + width, false);
}

function panBy(part) {
  const { from, to } = app.target;
  const width = to - from;
  const start = Math.min(Math.max(from + width * part, 0), Math.max(app.tree.total[0] - width, 0));
  moveTo(start, start + width, false);
}

function hideUnder(node) {
  if (app.tree !== app.whole)
    say('Frames are left out in the whole graph alone.');
  else if (node > 0)
    go({ filters: [...app.state.filters, { kind: 'hide', path: pathOf(app.tree, node) }] });
}

function filterMatches(kind) {
  if (app.state.query !== '' && app.matches && app.matches.places > 0)
    go({ filters: [...app.state.filters, { kind, query: app.state.query }], query: '' });
}

/* Cursor ------------------------------------------------------------------------------------------ */

function setCursor(node) {
  app.cursor = node;
  const top = levelTop(app.tree.depth[node]);
  const scroller = byId('scroller');
  if (top < scroller.scrollTop)
    scroller.scrollTop = top;
  else if (top + app.rowCss > scroller.scrollTop + app.windowCss)
    scroller.scrollTop = top + app.rowCss - app.windowCss;
  const { left, total } = app.tree;
  if (left[node] + total[node] <= app.target.from || left[node] >= app.target.to) { /* out of view: show it */
    const width = app.target.to - app.target.from;
    const start = Math.min(Math.max(left[node] + total[node] / 2 - width / 2, 0), Math.max(total[0] - width, 0));
    moveTo(start, start + width, false);
  }
  showMarks();
  showStatus();
  say(spokenText(node));
}

function widestChild(node) {
  const { tree } = app;
  let best = -1;
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
    if (tree.total[child] > 0 && (best < 0 || tree.total[child] > tree.total[best]))
      best = child;
  }
  return best;
}

function sibling(node, step) {
  const { tree } = app;
  const all = [];
  const up = tree.parent[node];
  for (let child = up + 1; child < tree.end[up]; child = tree.end[child]) {
    if (tree.total[child] > 0)
      all.push(child);
  }
  return all[all.indexOf(node) + step] ?? -1;
}

function moveCursor(key) {
  const { tree, cursor, zoom, state } = app;
  if (cursor < 0) {
    setCursor(zoom);
    return;
  }
  const towardsRoot = state.isFlipped ? 'ArrowUp' : 'ArrowDown';
  const node = key === 'ArrowLeft' || key === 'ArrowRight'
    ? (cursor === 0 ? -1 : sibling(cursor, key === 'ArrowLeft' ? -1 : 1))
    : key === towardsRoot ? tree.parent[cursor] : widestChild(cursor);
  if (node >= 0)
    setCursor(node);
}

function nextMatch(step) {
  const { matches, cursor } = app;
  if (!matches || app.explorer?.locks?.isOn() || matches.outer.length === 0)
    return;
  const { outer } = matches;
  const after = outer.findIndex(node => node > cursor);
  const at = step > 0 ? (after < 0 ? 0 : after)
    : (outer.findLastIndex(node => node < cursor) + outer.length) % outer.length;
  setCursor(outer[at]);
}

/* Menu and sheet ---------------------------------------------------------------------------------- */

function stackText(node) {
  const lines = [];
  for (; node > 0; node = app.tree.parent[node])
    lines.push(readable(app.tree.titles[app.tree.name[node]], app.tree.type[node]));
  return lines.join('\n');
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied.');
  } catch (refused) {
    openDialog('Copy this', element('pre', '', text));
  }
}

function actionsOf(node) {
  const title = readable(app.tree.titles[app.tree.name[node]], app.tree.type[node]);
  return [
    ['Zoom', 'Enter', () => zoomTo(node)],
    ['Search for it', '', () => go({ query: `="${title}"` })],
    ['Only stacks with it', '', () => go({ filters: [...app.state.filters, { kind: 'only', query: `="${title}"` }] })],
    ...(app.tree === app.whole ? [['Leave out stacks under it', 'X', () => hideUnder(node)]] : []),
    ...(app.explorer === null ? [] : app.explorer.actions(node)),
    ['Copy name', '', () => copy(title)],
    ['Copy stack', '', () => copy(stackText(node))],
  ];
}

function openMenu(node, clientX, clientY) {
  const menu = byId('menu');
  menu.replaceChildren();
  for (const [text, key, act] of actionsOf(node)) {
    const button = element('button');
    button.type = 'button';
    button.setAttribute('role', 'menuitem');
    button.append(element('span', '', text), element('kbd', '', key));
    button.addEventListener('click', () => {
      closeMenu();
      act();
    });
    menu.appendChild(element('li')).append(button);
    menu.lastChild.setAttribute('role', 'none');
  }
  hideTip();
  menu.hidden = false;
  const { width, height } = menu.getBoundingClientRect();
  menu.style.transform = `translate(${Math.max(Math.min(clientX, innerWidth - width - 6), 6)}px, ${Math.max(Math.min(clientY, innerHeight - height - 6), 6)}px)`;
  menu.querySelector('button').focus();
}

function closeMenu() {
  if (byId('menu').hidden)
    return;
  byId('menu').hidden = true;
  byId('canvas').focus({ preventScroll: true });
}

function openMenuAtCursor() {
  const box = byId('cursor').getBoundingClientRect();
  if (app.cursor >= 0)
    openMenu(app.cursor, box.left + 8, box.bottom);
}

/* On a touch screen: what a tooltip shows, with buttons; at the end that does not hide the frame. */
function openSheet(node, clientY) {
  const sheet = byId('sheet');
  sheet.classList.toggle('above', clientY > innerHeight / 2);
  fillDetails(sheet, node);
  const row = sheet.appendChild(element('div', 'row'));
  const actions = node < 0 ? [['Zoom', '', () => zoomTo(node)]] : actionsOf(node);
  for (const [text, , act] of [...actions, ['Close', '', () => {}]]) {
    const button = row.appendChild(element('button', '', text));
    button.type = 'button';
    button.addEventListener('click', () => {
      closeSheet();
      act();
    });
  }
  sheet.hidden = false;
}

function closeSheet() {
  byId('sheet').hidden = true;
  app.sheetNode = undefined;
}

/* Pointers ---------------------------------------------------------------------------------------- */

const pointers = new Map();
let gesture = null;

function pointerDown(event) {
  if (event.button !== 0)
    return;
  closeMenu();
  pointers.set(event.pointerId, event);
  if (pointers.size === 1)
    gesture = { x: event.clientX, y: event.clientY, view: { ...app.target }, scroll: byId('scroller').scrollTop, isDrag: false, type: event.pointerType };
  if (pointers.size === 2) {
    const [one, two] = pointers.values();
    gesture.isDrag = true;
    gesture.spread = Math.max(Math.abs(one.clientX - two.clientX), 1);
  }
}

function pointerMove(event) {
  if (pointers.has(event.pointerId))
    pointers.set(event.pointerId, event);
  if (!gesture || pointers.size === 0) {
    if (event.pointerType !== 'touch') {
      setHover(frameAt(event.clientX, event.clientY));
      showTip(event.clientX, event.clientY);
    }
    return;
  }
  const width = byId('canvas').clientWidth;
  if (pointers.size === 2) {
    const [one, two] = pointers.values();
    const spread = Math.max(Math.abs(one.clientX - two.clientX), 1);
    const middle = ((one.clientX + two.clientX) / 2 - byId('canvas').getBoundingClientRect().left) / width;
    zoomBy(spread / gesture.spread, Math.min(Math.max(middle, 0), 1));
    gesture.spread = spread;
    return;
  }
  const byX = event.clientX - gesture.x;
  const byY = event.clientY - gesture.y;
  if (!gesture.isDrag && Math.hypot(byX, byY) < DRAG_PX)
    return;
  if (!gesture.isDrag) {
    gesture.isDrag = true;
    byId('canvas').setPointerCapture(event.pointerId);
    hideTip();
    setHover(null);
  }
  const span = gesture.view.to - gesture.view.from;
  const start = Math.min(Math.max(gesture.view.from - span * byX / width, 0), Math.max(app.tree.total[0] - span, 0));
  if (start !== app.target.from)
    moveTo(start, start + span, false);
  if (gesture.type !== 'touch') /* a finger scrolls by itself */
    byId('scroller').scrollTop = gesture.scroll - byY;
}

function pointerUp(event) {
  pointers.delete(event.pointerId);
  const ended = gesture;
  if (pointers.size === 0)
    gesture = null;
  if (!ended || ended.isDrag || event.type === 'pointercancel')
    return;
  const found = frameAt(event.clientX, event.clientY);
  if (found === null) {
    closeSheet();
    return;
  }
  if (ended.type === 'touch') {
    if (app.sheetNode === found.node) {
      closeSheet();
      zoomTo(found.node);
      return;
    }
    if (found.node >= 0)
      setCursor(found.node);
    openSheet(found.node, event.clientY);
    app.sheetNode = found.node;
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey)
    hideUnder(found.node);
  else
    zoomTo(found.node);
}

function wheel(event) {
  const width = byId('canvas').clientWidth;
  const delta = event.deltaY || event.deltaX;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    const at = (event.clientX - byId('canvas').getBoundingClientRect().left) / width;
    zoomBy(delta < 0 ? WHEEL_STEP : 1 / WHEEL_STEP, at);
  } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    panBy((event.deltaX || event.deltaY) / width);
  } else {
    return;
  }
  hideTip();
}

/* Keys -------------------------------------------------------------------------------------------- */

const letters = {
  i: () => go({ isFlipped: !app.state.isFlipped }),
  m: () => toggleMethods(),
  d: () => toggleTheme(),
  l: () => { byId('legend').open = !byId('legend').open; },
  f: event => filterMatches(event.shiftKey ? 'without' : 'only'),
  n: event => nextMatch(event.shiftKey ? -1 : 1),
  x: () => hideUnder(app.cursor),
  0: () => go({ zoom: '' }),
  '/': event => { event.preventDefault(); byId('query').select(); byId('query').focus(); },
  '?': () => openHelp(),
  '+': () => zoomBy(1.5, 0.5),
  '=': () => zoomBy(1.5, 0.5),
  '-': () => zoomBy(1 / 1.5, 0.5),
  home: event => { event.preventDefault(); go({ zoom: '' }); },
  backspace: event => { event.preventDefault(); zoomOut(); },
};

function keyDown(event) {
  const isTyping = /^(input|textarea|select)$/i.test(event.target.tagName);
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f' && !isTyping) { /* the second one is the browser's */
    event.preventDefault();
    byId('query').focus();
    byId('query').select();
    return;
  }
  if (event.key === 'Escape') {
    closeMenu();
    closeSheet();
    hideTip();
    if (!byId('dialog').open && app.state.query !== '')
      go({ query: '' });
    if (isTyping)
      byId(app.explorer?.locks?.isOn() ? 'locks-grid' : 'canvas').focus();
    return;
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || byId('dialog').open || !byId('menu').hidden)
    return;
  const letter = letters[event.key.toLowerCase()];
  if (app.explorer?.locks?.isOn() && !app.explorer.locks.takes(event.key.toLowerCase()))
    return;
  if (letter) {
    letter(event);
    return;
  }
  if (event.target === byId('canvas'))
    canvasKey(event);
}

function canvasKey(event) {
  if (event.key.startsWith('Arrow')) {
    event.preventDefault();
    if (event.shiftKey && /Left|Right/.test(event.key))
      panBy(event.key === 'ArrowLeft' ? -0.2 : 0.2);
    else
      moveCursor(event.key);
  } else if (event.key === 'Enter' && app.cursor >= 0) {
    zoomTo(app.cursor);
  } else if (event.key === 'PageUp' || event.key === 'PageDown') {
    event.preventDefault();
    byId('scroller').scrollTop += (event.key === 'PageUp' ? -0.9 : 0.9) * app.windowCss;
  } else if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
    event.preventDefault();
    openMenuAtCursor();
  }
}

function menuKey(event) {
  const buttons = [...byId('menu').querySelectorAll('button')];
  const at = buttons.indexOf(document.activeElement);
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    buttons[(at + (event.key === 'ArrowDown' ? 1 : -1) + buttons.length) % buttons.length].focus();
  }
}
