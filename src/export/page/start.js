/* start - reads the tree, wires the page, shows the first picture. */
function isDarkWanted() {
  let kept = null;
  try {
    kept = localStorage.getItem('jaywalk.theme');
  } catch (refused) {
    /* Storage is off: the system's wish holds. */
  }
  return kept === null ? matchMedia('(prefers-color-scheme: dark)').matches : kept === 'dark';
}

function setTheme(isDark) {
  app.isDark = isDark;
  app.colours = makeColours(isDark);
  document.documentElement.classList.toggle('dark', isDark);
}

function toggleTheme() {
  setTheme(!app.isDark);
  try {
    localStorage.setItem('jaywalk.theme', app.isDark ? 'dark' : 'light');
  } catch (refused) {
    /* Storage is off: the choice lasts as long as the page. */
  }
  showLegend();
  draw();
  app.explorer?.show();
}

function wire() {
  const canvas = byId('canvas');
  canvas.addEventListener('pointerdown', pointerDown);
  canvas.addEventListener('pointermove', pointerMove);
  canvas.addEventListener('pointerup', pointerUp);
  canvas.addEventListener('pointercancel', pointerUp);
  canvas.addEventListener('touchend', event => { /* no click on what has just appeared under the finger */
    if (event.cancelable)
      event.preventDefault();
  }, { passive: false });
  canvas.addEventListener('pointerleave', () => {
    if (gesture === null || !gesture.isDrag) {
      setHover(null);
      hideTip();
    }
  });
  canvas.addEventListener('wheel', wheel, { passive: false });
  canvas.addEventListener('contextmenu', event => {
    const found = frameAt(event.clientX, event.clientY);
    event.preventDefault();
    if (found !== null && found.node >= 0 && event.pointerType !== 'touch') {
      app.cursor = found.node;
      showMarks();
      openMenu(found.node, event.clientX, event.clientY);
    }
  });
  byId('scroller').addEventListener('scroll', () => {
    noteScroll();
    hideTip();
    paintVisible();
  });
  document.addEventListener('keydown', keyDown);
  byId('menu').addEventListener('keydown', menuKey);
  document.addEventListener('pointerdown', event => {
    if (!byId('menu').hidden && !byId('menu').contains(event.target))
      closeMenu();
  });
  byId('query').addEventListener('input', event => go({ query: event.target.value.trim() }, false));
  byId('query').addEventListener('keydown', event => {
    if (event.key === 'Enter')
      nextMatch(event.shiftKey ? -1 : 1);
  });
  byId('find').addEventListener('submit', event => event.preventDefault());
  byId('only').addEventListener('click', () => filterMatches('only'));
  byId('without').addEventListener('click', () => filterMatches('without'));
  byId('reset').addEventListener('click', () => go({ zoom: '', query: '', filters: [], ...app.explorer?.none }));
  byId('flip').addEventListener('click', () => go({ isFlipped: !app.state.isFlipped }));
  byId('methods').addEventListener('click', toggleMethods);
  byId('theme').addEventListener('click', toggleTheme);
  byId('help').addEventListener('click', openHelp);
  byId('trust').addEventListener('click', openTrust);
  window.addEventListener('popstate', () => {
    app.state = readHash();
    apply();
  });
  new ResizeObserver(() => draw()).observe(byId('scroller'));
}

/* What tests and scripts may ask; nothing of it changes the page. */
function describe() {
  return Object.freeze({
    boxes: () => app.layout.levels.flatMap((boxes, level) => {
      const found = [];
      const area = byId('canvas').getBoundingClientRect();
      for (let i = 0; i < boxes.length; i += 3) {
        const node = boxes[i + 2];
        found.push({
          level, node, title: node < 0 ? null : app.tree.titles[app.tree.name[node]], type: node < 0 ? null : TYPES[app.tree.type[node]],
          total: node < 0 ? app.layout.dust[-1 - node].total : app.tree.total[node], self: node < 0 ? 0 : app.tree.self[node],
          x: area.left + boxes[i] / app.painter.ratio(), width: (boxes[i + 1] - boxes[i]) / app.painter.ratio(),
          y: area.top + levelTop(level) - byId('scroller').scrollTop, height: app.rowCss,
        });
      }
      return found;
    }),
    state: () => ({ ...app.state, zoomTitle: app.tree.titles[app.tree.name[app.zoom]], cursor: app.cursor,
      view: { ...app.view }, isMoving: app.view.from !== app.target.from || app.view.to !== app.target.to, matches: app.matches && { names: app.matches.names.size, places: app.matches.places, total: app.matches.total, self: app.matches.self } }),
    unpacked: () => app.explorer && { ...unpacked },
    isReady: () => app.explorer === null || (app.explorer.samples !== null && app.explorer.event === eventOf(app.state)),
    explorer: () => app.explorer && app.explorer.samples && { event: meta.event, events: app.explorer.events.map(item => item.event), count: app.explorer.count, bins: app.explorer.samples.bins, binMs: app.explorer.samples.binMs,
      startMs: app.explorer.samples.startMs, samples: app.explorer.samples.samples, before: app.wholeBefore && app.wholeBefore.total[0], view: app.state.view,
      columns: app.explorer.columns.map(({ key, values }) => ({ key, values })), gaps: [...app.explorer.samples.gaps],
      rows: rowsColumn() && { by: bandRows.by, names: bandRows.names, totals: bandRows.totals, columns: bandRows.columns, sums: [...bandRows.sums.subarray(0, bandRows.names.length * bandRows.columns)] },
      locks: app.explorer.locks && app.explorer.locks.describe(), most: rateText(band.most, app.explorer.samples.binMs), lanes: app.explorer.lanes.map(lane => [lane.name, lane.from.length, lane.texts[0]]) },
    frames: () => app.tree.count,
    total: () => app.tree.total[0],
    other: () => app.other && { name: app.other.name, total: app.wholeBefore && app.wholeBefore.total[0] },
    change: node => app.before && changeOf(app.tree.total[node], app.before[node]),
  });
}

function start(tree, other) {
  app.tree = app.whole = tree;
  app.samples = meta.samples;
  app.explorer?.prepare(app.tree);
  sumTree(app.tree, null);
  app.filterText = '[]';
  app.baseTotal = app.tree.total;
  app.shades = makeShades(app.tree);
  app.painter = makePainter(byId('canvas'));
  app.wasFlipped = undefined;
  setTheme(isDarkWanted());
  if (other !== null) {
    setOther(other);
    app.tree = app.whole;
  }
  app.state = readHash();
  document.documentElement.classList.add('live');
  for (const id of ['find', 'tools', 'stage', 'status'])
    byId(id).hidden = false;
  byId('legend').open = matchMedia('(min-width: 900px)').matches;
  showTrust();
  wire();
  wireCompare();
  wireSave();
  apply(true);
  window.jaywalk = describe();
}

/* The table in plain HTML stays, and says so. */
function giveUp(wrong) {
  document.documentElement.classList.remove('live');
  for (const id of ['find', 'tools', 'stage', 'status', 'chips', 'band', 'trust']) {
    if (byId(id) !== null)
      byId(id).hidden = true;
  }
  byId('broken').textContent = `The graph cannot be drawn (${wrong.message}): the file is damaged, or the browser too old (needs Chromium 103, Firefox 113 or Safari 16.4). The table below is complete.`;
  byId('broken').hidden = false;
  console.error(wrong);
}

async function run() {
  try {
    const { tree } = await readPage(byId);
    const other = byId('base-meta') === null ? null : await readPage(byId, 'base-');
    start(tree, other && { ...other, name: other.about.name });
    await app.explorer?.begin();
  } catch (wrong) {
    giveUp(wrong);
  }
}

run();
