/* explorer_test - what a reader of the explorer does: windows of time, filters, links; and pages that are damaged. */
'use strict';
const fs = require('fs');
const path = require('path');
const { check, equal, holds, makePage, openPage, openExplorer, inkOf, out } = require('./harness.js');
const { java, known, timed, hostileRequests, hostileNames, MS10 } = require('./profiles.js');

const picture = name => path.join(out, name + '.png');
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, hasTouch: true, isMobile: true };
const profile = timed();

/* Own value of each leaf, the slow way: of samples that `test` lets in. */
function sumsOf(test) {
  const sums = new Map();
  for (const stack of profile.stacks.filter(test)) {
    const leaf = stack.frames.at(-1);
    const title = leaf[1] + '.' + leaf[2];
    sums.set(title, (sums.get(title) || 0) + stack.weight);
  }
  return sums;
}

/* What the page shows is what the slow way says: in all, and of each box of a leaf, where they stand apart. */
async function expectSums(page, test, what) {
  const expected = sumsOf(test);
  const total = [...expected.values()].reduce((sum, value) => sum + value, 0);
  equal(await page.total(), total, `${what}: total`);
  const found = new Map();
  for (const box of await page.boxes()) {
    if (box.title?.startsWith('com/acme/Leaf'))
      found.set(box.title, (found.get(box.title) || 0) + box.self);
  }
  equal([...found].sort(), [...expected].sort(), what);
}

const inBins = (stack, [from, to]) => Math.floor(stack.at / 1e6) >= from && Math.floor(stack.at / 1e6) < to;

async function testWindow(browser) {
  const html = makePage('timed.explorer', profile);
  const page = await openExplorer(browser, html, { viewport: { width: 1280, height: 800 } });

  await check('explorer: opens from a file without an error, a violation or a request; all samples are there', async () => {
    const { samples, bins, binMs, columns, gaps } = await page.explorer();
    equal([samples, bins, binMs], [2000, 5000, 1], 'samples, bins');
    equal(columns.map(column => column.key).sort(), ['attribute.tenant', 'endpoint', 'pool', 'state', 'thread'], 'columns');
    equal(gaps, [1500, 2000, 100, 300], 'where signals were lost');
    await expectSums(page, () => true, 'all');
    holds(await inkOf(page) > 0.05, 'the graph is painted');
    const root = await page.box('all');
    const band = await page.locator('#band').boundingBox();
    holds(root.y >= band.y + band.height && root.y < band.y + band.height + 40, 'the root stands under the timeline');
    await page.screenshot({ path: picture('explorer') });
    page.calm();
  });
  await check('explorer: a dragged window has the samples of its bins, and no others', async () => {
    await page.drag(0.2, 0.5);
    const { time } = await page.state();
    holds(Math.abs(time[0] - 1000) < 10 && Math.abs(time[1] - 2500) < 10, `the window is ${time}`);
    await expectSums(page, stack => inBins(stack, time), 'window');
    holds((await page.textContent('#band-about')).includes('samples'), 'what the window has');
    await page.screenshot({ path: picture('explorer-window') });
    await page.drag(0.35, 0.45); /* inside: moves */
    const moved = (await page.state()).time;
    equal(moved[1] - moved[0], time[1] - time[0], 'length of the window that was moved');
    holds(moved[0] > time[0] + 400, `moved to ${moved}`);
    await expectSums(page, stack => inBins(stack, moved), 'moved window');
    await page.drag(moved[1] / 5000, 0.9); /* an edge */
    const wider = (await page.state()).time;
    equal(wider[0], moved[0], 'the other edge stays');
    holds(Math.abs(wider[1] - 4500) < 10, `the edge is at ${wider[1]}`);
    await page.dblclick('#band-canvas');
    equal((await page.state()).time, null, 'a double click');
    await expectSums(page, () => true, 'all again');
    page.calm();
  });
  await check('explorer: filters of thread, state and attribute, alone and together with a window', async () => {
    await page.keyboard.press('e');
    const click = (text, options) => page.locator('#facets li button', { hasText: text }).first().click(options);
    await click('sleeping');
    await expectSums(page, stack => stack.state === 'STATE_SLEEPING', 'one state');
    await click('acme', { modifiers: ['Alt'] });
    await expectSums(page, stack => stack.state === 'STATE_SLEEPING' && stack.tenant !== 'acme', 'and without a tenant');
    await page.locator('#facets li button', { hasText: 'late tid' }).click();
    await expectSums(page, stack => stack.state === 'STATE_SLEEPING' && stack.tenant !== 'acme' && stack.thread === 'late', 'and one thread');
    await page.screenshot({ path: picture('explorer-filters') });
    const shares = await page.locator('#facets li', { hasText: 'running' }).textContent();
    holds(/running.*%/.test(shares) && !shares.includes('0 %'), 'a value that is filtered out still tells its share: ' + shares);
    await page.drag(0.81, 0.9);
    const { time } = await page.state();
    await expectSums(page, stack => inBins(stack, time) && stack.state === 'STATE_SLEEPING' && stack.tenant !== 'acme' && stack.thread === 'late', 'and a window');
    const hash = await page.evaluate(() => location.hash);
    const other = await openExplorer(browser, html, { hash });
    await expectSums(other, stack => inBins(stack, time) && stack.state === 'STATE_SLEEPING' && stack.tenant !== 'acme' && stack.thread === 'late', 'in a fresh page');
    await other.close();
    await page.goBack();
    await page.waitForFunction(() => window.jaywalk.state().time === null);
    await page.locator('#chips button', { hasText: 'clear all' }).click();
    await expectSums(page, () => true, 'all again');
    await page.locator('#facets li button', { hasText: 'worker-*' }).click();
    await expectSums(page, stack => stack.thread.startsWith('worker'), 'a group of threads');
    await page.click('#reset');
    await page.keyboard.press('e');
    page.calm();
  });
  await check('explorer: heat map, search and zoom work over a window, by keys too', async () => {
    await page.keyboard.press('h');
    equal((await page.state()).isHeat, true, 'heat map');
    await page.keyboard.press('/');
    await page.keyboard.type('flush');
    await page.waitForFunction(() => window.jaywalk.state().matches?.names === 1);
    await page.screenshot({ path: picture('explorer-heat') });
    await page.keyboard.press('Escape');
    const { x, y, width } = await page.locator('#band-canvas').boundingBox();
    await page.mouse.click(x + width / 2, y + 12); /* a cell */
    const cell = (await page.state()).time;
    holds(cell !== null && cell[1] - cell[0] < 50, `a cell is ${cell}`);
    await expectSums(page, stack => inBins(stack, cell), 'cell');
    await page.keyboard.press('h');
    await page.click('#band-all');
    await page.focus('#band-to');
    for (let i = 0; i < 40; i++)
      await page.keyboard.press('ArrowLeft');
    equal((await page.state()).time, [0, 3000], 'forty hundredths from the end');
    await page.focus('#canvas');
    await page.keyboard.press(']');
    equal((await page.state()).time, [2000, 5000], 'one window on, as far as there is time');
    await expectSums(page, stack => inBins(stack, [2000, 5000]), 'by keys');
    await page.clickBox('com/acme/Work.flush');
    equal((await page.state()).zoomTitle, 'com/acme/Work.flush', 'zoomed');
    page.calm();
  });
  await page.context().close();
}

/* What each method has in each part of the window, the slow way: its stacks, each once. */
async function testSparks(browser) {
  await check('explorer: the table of methods has a line over time for each, of the window and its filters alone', async () => {
    const page = await openExplorer(browser, path.join(out, 'timed.explorer.html'), { viewport: { width: 1280, height: 800 } });
    const expectLines = async (from, to, test, what) => {
      const rows = await page.$$eval('#panel tbody tr', all => all.map(row => [row.querySelector('button').textContent, row.querySelector('[data-values]').dataset.values.split(' ').map(Number)]));
      holds(rows.length > 5, `${what}: ${rows.length} rows`);
      for (const [title, values] of rows) {
        const sums = values.map(() => 0);
        for (const stack of profile.stacks.filter(test)) {
          const bin = Math.floor(stack.at / 1e6);
          const part = values.findIndex((value, i) => bin >= from + Math.floor(i * (to - from) / values.length) && bin < from + Math.floor((i + 1) * (to - from) / values.length));
          if (part >= 0 && stack.frames.some(([, owner, method]) => title === owner.replaceAll('/', '.') + '.' + method))
            sums[part] += stack.weight;
        }
        equal(values, sums, `${what}: ${title}`);
      }
    };
    await page.keyboard.press('m');
    await expectLines(0, 5000, () => true, 'all');
    holds(await page.$$eval('#panel .spark polygon', all => all.every(one => one.getAttribute('points').length > 20)), 'pictures');
    await page.screenshot({ path: picture('explorer-sparks') });
    await page.evaluate(() => { location.hash = '#t=3000-5000&only=state:running'; });
    await page.waitForFunction(() => window.jaywalk.state().time !== null);
    await expectLines(3000, 5000, stack => stack.state === 'STATE_RUNNABLE', 'a window of one state');
    await page.keyboard.press('d');
    await page.screenshot({ path: picture('explorer-sparks-dark') });
    page.calm();
    await page.context().close();
    const phone = await openExplorer(browser, path.join(out, 'timed.explorer.html'), PHONE);
    await phone.tap('#methods');
    equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390, 'width of the document');
    await phone.screenshot({ path: picture('explorer-sparks-phone') });
    phone.calm();
    await phone.context().close();
  });
  await check('explorer: no line over time where a sample stands for more than a part of it', async () => {
    const page = await openExplorer(browser, makePage('waits.explorer', twoClocks, '-e', 'wall'), { viewport: { width: 1280, height: 800 } });
    await page.keyboard.press('m');
    equal([await page.locator('#panel .spark').count(), await page.locator('#panel tbody tr').count() > 0], [0, true], 'lines');
    page.calm();
    await page.context().close();
  });
}

/* What a row has in each column, the slow way. Samples of the wall clock are spread over the time that they stand for. */
async function testRows(browser) {
  const html = path.join(out, 'timed.explorer.html');
  const rowsOf = page => page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve(window.jaywalk.explorer().rows)))));
  const expectRows = async (page, [from, to], nameOf, test, what) => {
    const { names, totals, columns, sums } = await rowsOf(page);
    const expected = new Map();
    for (const stack of profile.stacks.filter(stack => inBins(stack, [from, to]) && test(stack))) {
      const name = nameOf(stack);
      if (!expected.has(name))
        expected.set(name, new Array(columns).fill(0));
      expected.get(name)[Math.floor((Math.floor(stack.at / 1e6) - from) * columns / (to - from))] += stack.weight;
    }
    equal([...names].sort(), [...expected.keys()].sort(), `${what}: names`);
    names.forEach((name, row) => {
      equal(sums.slice(row * columns, (row + 1) * columns), expected.get(name), `${what}: ${name}`);
      equal(totals[row], expected.get(name).reduce((sum, value) => sum + value), `${what}: all of ${name}`);
    });
    equal([...totals].sort((a, b) => b - a), totals, `${what}: the most first`);
  };
  const threadOf = stack => `${stack.thread} tid=${100 + ['worker-0', 'worker-1', 'late'].indexOf(stack.thread)}`;

  await check('explorer: rows of groups, threads and endpoints over time; a click filters by one, a drag makes a window', async () => {
    const page = await openExplorer(browser, html, { viewport: { width: 1280, height: 800 } });
    await page.keyboard.press('r');
    equal((await rowsOf(page)).names.sort(), ['late', 'worker-*'], 'groups');
    await page.selectOption('#band-by', 'thread');
    await expectRows(page, [0, 5000], threadOf, () => true, 'threads');
    await page.screenshot({ path: picture('explorer-rows') });
    const late = (await rowsOf(page)).names.findIndex(name => name.startsWith('late'));
    const clickLate = modifiers => page.locator('#band-canvas').click({ position: { x: 600, y: late * 16 + 8 }, modifiers });
    await clickLate([]);
    await expectSums(page, stack => stack.thread === 'late', 'a click on a row');
    await expectRows(page, [0, 5000], threadOf, () => true, 'the other rows stay');
    await clickLate(['Alt']);
    await expectSums(page, stack => stack.thread !== 'late', 'all but that row');
    await page.screenshot({ path: picture('explorer-rows-filter') });
    await page.locator('#band-canvas').hover({ position: { x: 600, y: 8 } });
    await page.waitForFunction(() => /CPU.* in all /.test(document.getElementById('tip').textContent));
    await clickLate(['Alt']);
    await page.drag(0.2, 0.5);
    const { time } = await page.state();
    holds(Math.abs(time[0] - 1000) < 10 && Math.abs(time[1] - 2500) < 10, `the window is ${time}`);
    await expectSums(page, stack => inBins(stack, time), 'window');
    await page.keyboard.press('z');
    await page.selectOption('#band-by', 'endpoint');
    await expectRows(page, time, stack => stack.endpoint, () => true, 'endpoints of the window alone');
    await page.waitForFunction(() => location.hash.includes('by=endpoint'));
    const other = await openExplorer(browser, html, { hash: await page.evaluate(() => location.hash) });
    await expectRows(other, time, stack => stack.endpoint, () => true, 'by a link');
    await other.keyboard.press('h');
    equal([(await other.state()).isHeat, (await rowsOf(other))], [true, null], 'heat map in their place');
    await other.close();
    page.calm();
    await page.context().close();
  });
  await check('explorer: Ctrl+wheel over the timeline goes into the time at the pointer, and out again', async () => {
    const page = await openExplorer(browser, html, { viewport: { width: 1280, height: 800 } });
    const { width } = await page.locator('#band-canvas').boundingBox();
    for (const key of ['', 'h', 'r']) { /* bars, heat map, rows */
      if (key)
        await page.keyboard.press(key);
      await page.locator('#band-canvas').hover({ position: { x: width / 2, y: 20 } });
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -300);
      await page.waitForFunction(() => window.jaywalk.state().time !== null);
      const { time, bandZoom } = await page.state();
      equal([bandZoom, time[1] - time[0]], [true, 1482], 'length of the window');
      holds(key === 'h' || (time[0] > 1700 && time[1] < 3300), `the window is ${time}`); /* columns of a heat map are periods */
      await expectSums(page, stack => inBins(stack, time), 'what is shown');
      await page.locator('#band-canvas').hover({ position: { x: width / 2, y: 20 } });
      await page.mouse.wheel(0, 400);
      await page.waitForFunction(() => window.jaywalk.state().time === null);
      await page.keyboard.up('Control');
    }
    page.calm();
    await page.context().close();
  });
  await check('explorer: rows of the wall clock lie over the time that their samples stand for; many threads fit', async () => {
    const stacks = [];
    for (let i = 0; i < 40; i++)
      stacks.push({ frames: [java('com/acme/Pool', 'run')], thread: 'pool-' + i, at: 1000000000, weight: (40 - i) * 1e8, isWall: true, state: 'STATE_SLEEPING' });
    stacks.push({ frames: [java('com/acme/Pool', 'run')], thread: 'pool-0', at: 4999000000, weight: 1e6, isWall: true });
    const page = await openExplorer(browser, makePage('pool.explorer', { stacks }, '-e', 'wall'), { viewport: { width: 1280, height: 800 } });
    await page.evaluate(() => { location.hash = '#band=rows&by=thread'; });
    await page.waitForFunction(() => window.jaywalk.explorer().rows !== null);
    const { names, totals, columns, sums } = await rowsOf(page);
    equal([names.length, names[0], names[13]], [14, 'pool-0 tid=100', '27 more'], 'names');
    equal(totals[13], stacks.slice(13).reduce((sum, stack) => sum + stack.weight, 0) - 1e6, 'what the others have');
    const filled = row => sums.slice(row * columns, (row + 1) * columns).filter(value => value > 0).length / columns;
    const spans = [0, 1, 2].map(row => Math.min(4 - row * 0.1, 4) / 5);
    spans.forEach((span, row) => holds(Math.abs(filled(row) - span) < 0.01, `row ${row} fills ${filled(row)}, not ${span}`));
    const inPicture = sums.slice(columns, 2 * columns).reduce((sum, value) => sum + value, 0);
    holds(Math.abs(inPicture - 3.9e9) < 3.9e6, `3.9 s are ${inPicture}`);
    await page.screenshot({ path: picture('explorer-rows-wall') });
    page.calm();
    await page.context().close();
    const phone = await openExplorer(browser, path.join(out, 'pool.explorer.html'), { ...PHONE, hash: '#band=rows&by=thread' });
    equal((await rowsOf(phone)).names.length, 7, 'rows of a phone');
    const box = await phone.locator('#band-canvas').boundingBox();
    await phone.touchscreen.tap(box.x + 200, box.y + 3 * 16 + 8);
    await phone.waitForFunction(() => window.jaywalk.state().facets.length === 1);
    equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390, 'width of the document');
    await phone.screenshot({ path: picture('explorer-rows-phone') });
    phone.calm();
    await phone.context().close();
  });
}

async function testDiff(browser) {
  await check('explorer: a window against a baseline: more, less, new, gone, and what may be chance', async () => {
    const page = await openExplorer(browser, path.join(out, 'timed.explorer.html'), { viewport: { width: 1280, height: 800 }, hash: '#t=3750-4500' });
    await page.drag(0.1, 0.3, ['Shift']); /* half a second of each worker, none of "late" */
    const { base, time } = await page.state();
    equal(time, [3750, 4500], 'window');
    const { before } = await page.explorer();
    equal(before, profile.stacks.filter(stack => inBins(stack, base)).length * MS10, 'samples of the baseline');
    await page.keyboard.press('m');
    const change = title => page.locator('#panel tbody tr', { hasText: title }).locator('td').nth(2).textContent();
    const share = (test, range) => {
      const of = profile.stacks.filter(stack => inBins(stack, range));
      return of.filter(test).length / of.length * 100;
    };
    const is = method => stack => stack.frames[1][2] === method;
    for (const method of ['flush', 'compute', 'parse']) {
      const points = share(is(method), time) - share(is(method), base);
      equal((await change('Work.' + method)).replace('~', ''), (points > 0 ? '+' : '') + points.toFixed(Math.abs(points) < 10 ? 2 : 1), 'change of ' + method);
    }
    equal(await change('Main.main'), '~0.00', 'what has not changed may be chance');
    await page.keyboard.press('m');
    const { x, y, width } = await page.box('com/acme/Work.flush');
    await page.mouse.move(x + width / 2, y + 5);
    await page.waitForSelector('#tip:not([hidden])');
    holds((await page.textContent('#tip')).includes('0.00 % in the baseline: 66.'), await page.textContent('#tip'));
    await page.screenshot({ path: picture('explorer-diff') });
    await page.keyboard.press('b'); /* another baseline, and none */
    equal((await page.state()).base, [3750, 4500], 'the window as baseline');
    await page.keyboard.press('b');
    equal((await page.state()).base, null, 'no baseline');
    page.calm();
    await page.context().close();
  });
}

async function testViews(browser) {
  /* Stacks with a recursion, as the flame graph's tests have them: shares are known by heart. */
  const html = makePage('known.explorer', known);
  const boxesOf = async page => (await page.boxes()).map(({ level, title, total, self }) => `${level} ${title} ${total / MS10} ${self / MS10}`);
  await check('explorer: callers of what ran: every method that ran, then who called it', async () => {
    const page = await openExplorer(browser, html, { viewport: { width: 1280, height: 800 } });
    await page.keyboard.press('c');
    const boxes = await boxesOf(page);
    for (const box of ['0 all 100 0', '1 java/util/HashMap.get 40 40', '2 com/acme/Work.run 40 0', '3 com/acme/Main.main 30 0', '3 com/acme/Work.run 10 0',
      '4 com/acme/Main.main 10 0', '1 com/acme/Work.run 20 20', '1 vfs_write 15 15', '1 [unknown_Java] 9 9'])
      holds(boxes.includes(box), `${box} is not in ${boxes}`);
    const rows = await page.evaluate(() => { document.getElementById('methods').click(); return document.querySelector('#panel tbody tr').textContent; });
    holds(rows.startsWith('40.0 %40.0 %java.util.HashMap.get'), rows);
    await page.screenshot({ path: picture('explorer-callers') });
    await page.keyboard.press('c');
    holds((await boxesOf(page)).includes('1 com/acme/Main.main 75 0'), 'the whole again');
    page.calm();
    await page.context().close();
  });
  await check('explorer: the call tree as rows: the heaviest path open, more by keys, a search marked', async () => {
    const page = await openExplorer(browser, html, { viewport: { width: 1280, height: 800 } });
    const rows = () => page.$$eval('#rows .row', all => all.map(row => [row.getAttribute('aria-level'), row.getAttribute('aria-expanded'), ...[...row.children].map(cell => cell.textContent)].join(' ')));
    await page.keyboard.press('t');
    equal((await rows()).slice(0, 7), ['1 true 100 %  \u25beall', '2 true 75.0 %  \u25becom.acme.Main.main', '3 true 60.0 % 20.0 % \u25becom.acme.Work.run',
      '4  30.0 % 30.0 % java.util.HashMap.get', '4 false 10.0 %  \u25b8com.acme.Work.run', '3 false 15.0 %  \u25b8com.acme.Io.write', '2 false 15.0 %  \u25b8start_thread'], 'rows');
    for (const key of ['End', 'Home', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight'])
      await page.keyboard.press(key);
    equal(await page.$eval('#rows .current', row => row.textContent), '10.0 %10.0 %java.util.HashMap.get', 'opened, and into it');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    equal((await rows())[4], '4 false 10.0 %  \u25b8com.acme.Work.run', 'closed again');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    equal((await page.state()).zoomTitle, 'com/acme/Work.run', 'zoomed by Enter');
    holds((await rows())[0].startsWith('1 true 100 % 33.3 %'), 'of view: ' + (await rows())[0]);
    await page.keyboard.press('/');
    await page.keyboard.type('hashmap');
    await page.waitForFunction(() => document.querySelectorAll('#rows .row.match').length === 1);
    await page.screenshot({ path: picture('explorer-rows') });
    await page.keyboard.press('Escape');
    await page.keyboard.press('t');
    page.calm();
    await page.context().close();
  });
  await check('explorer: callers and callees of one method, by its menu, with recursion counted once', async () => {
    const page = await openExplorer(browser, html, { viewport: { width: 1280, height: 800 } });
    await page.clickBox('com/acme/Work.run', { button: 'right' });
    await page.locator('#menu button', { hasText: 'All that it calls' }).click();
    equal((await boxesOf(page)).sort(), ['0 com/acme/Work.run 60 20', '1 com/acme/Work.run 10 0', '1 java/util/HashMap.get 30 30', '2 java/util/HashMap.get 10 10'], 'callees');
    const { hash } = new URL(page.url());
    await page.clickBox('com/acme/Work.run', { button: 'right' });
    await page.locator('#menu button', { hasText: 'Callers of it' }).click();
    equal(await boxesOf(page), ['0 com/acme/Work.run 60 20', '1 com/acme/Main.main 60 0'], 'callers');
    await page.goBack();
    await page.waitForFunction(() => window.jaywalk.explorer().view.startsWith('callees'));
    await page.goto('file://' + html + hash);
    await page.reload();
    await page.waitForFunction(() => window.jaywalk && window.jaywalk.isReady());
    equal((await boxesOf(page)).length, 4, 'boxes of the link');
    page.calm();
    await page.context().close();
  });
}

/* Of two clocks: what waits is seen by one of them alone. */
const twoClocks = {
  stacks: [
    ...Array.from({ length: 40 }, (_, i) => ({ frames: [java('com/acme/Main', 'main'), java('com/acme/Work', i < 30 ? 'compute' : 'parse')], at: i * 1e8 + 1e6, weight: MS10 })),
    ...Array.from({ length: 100 }, (_, i) => ({ isWall: true, frames: [java('com/acme/Main', 'main'), java('java/lang/Thread', 'sleep')], at: i * 5e7 + 1.5e6, weight: 5 * MS10, state: 'STATE_SLEEPING', thread: 'sleeper' })),
  ],
  counters: { signals: 140, samples: 140 },
  pauses: [[500e6, 20e6, 'Pause Young'], [1500e6, 30e6, 'Pause Young'], [1700e6, 200000, 'Pause Remark']],
};

async function testEvents(browser) {
  const html = makePage('events.explorer', twoClocks);
  await check('explorer: two events in one page, each with its own sums, filters and rates, in one window', async () => {
    const page = await openExplorer(browser, html, { viewport: { width: 1280, height: 800 } });
    const ready = () => page.waitForFunction(() => window.jaywalk.isReady());
    const { event, events, bins } = await page.explorer();
    equal([event, events], ['cpu', ['cpu', 'wall']], 'events');
    equal(await page.total(), 40 * MS10, 'CPU time');
    await page.evaluate(() => { location.hash = '#t=1000-2000'; });
    await page.waitForFunction(() => window.jaywalk.state().time !== null);
    equal(await page.total(), 10 * MS10, 'CPU time of a second');
    await page.locator('#band-events button', { hasText: 'Wall clock' }).click();
    await ready();
    equal([(await page.explorer()).event, (await page.explorer()).bins], ['wall', bins], 'event, bins');
    equal(await page.total(), 20 * 5 * MS10, 'wall-clock time of the same second');
    equal(await page.textContent('h1'), 'Wall clock profile', 'title');
    holds((await page.textContent('#summary')).startsWith('5.00 s of wall-clock time, 100 samples'), await page.textContent('#summary'));
    holds((await page.textContent('#band-about')).includes('1.0 threads'), await page.textContent('#band-about'));
    equal((await page.explorer()).columns.find(column => column.key === 'thread').values.length, 1, 'threads of this event');
    await page.clickBox('java/lang/Thread.sleep');
    await page.screenshot({ path: picture('explorer-events') });
    await page.waitForFunction(() => window.jaywalk.explorer().most === '1.0 threads'); /* fifty, where each began */
    equal((await page.explorer()).lanes, [['GC pauses', 3, 'Pause Young']], 'lanes');
    holds((await page.textContent('#band-legend')).includes('GC pauses: 2, 30.2 ms'), 'pauses of the window: ' + await page.textContent('#band-legend'));
    const band = await page.locator('#band-canvas').boundingBox();
    await page.mouse.move(band.x + band.width * 1.51 / 5, band.y + band.height - 16 - 4);
    equal(await page.textContent('#tip'), 'Pause Young at 1.50 s: 30.0 msGC pauses', 'what a lane says');
    await page.mouse.move(band.x + band.width * 1.6 / 5, band.y + band.height - 16 - 4);
    equal(await page.isVisible('#tip'), false, 'between two pauses');
    await page.focus('#canvas');
    await page.keyboard.press('v');
    equal([(await page.explorer()).event, await page.total()], ['cpu', 10 * MS10], 'back by key');
    equal(await page.textContent('h1'), 'CPU profile', 'title');
    await page.goBack();
    await page.waitForFunction(() => window.jaywalk.explorer().event === 'wall');
    const hash = await page.evaluate(() => location.hash);
    const other = await openExplorer(browser, html, { hash });
    equal([(await other.explorer()).event, (await other.state()).zoomTitle], ['wall', 'java/lang/Thread.sleep'], 'a link names the event');
    other.calm();
    page.calm();
    await other.close();
    await page.context().close();
  });
  await check('explorer: waits for locks have a lane of their own, with what was waited for', async () => {
    const field = (name, kind, more = {}, inner = []) => ['field', { name, class: kind, ...more }, inner];
    const pooled = { constantPool: 'true' };
    const enter = ['class', { name: 'jdk.JavaMonitorEnter', id: '130', superType: 'jdk.jfr.Event' }, [field('startTime', '10'),
      field('duration', '10', {}, [['annotation', { class: '29', value: 'TICKS' }, []]]), field('eventThread', '20', pooled), field('monitorClass', '25', pooled)]];
    const waits = { types: [enter], pools: [], events: [[130, [2000000000, 40000000, 1, 1]], [130, [3000000000, 2000000, 1, 1]]] };
    const page = await openExplorer(browser, makePage('locks.explorer', { ...twoClocks, extra: waits }, '-e', 'cpu'), { viewport: { width: 1280, height: 800 } });
    const { lanes } = await page.explorer();
    equal(lanes.map(([name, count]) => [name, count]).sort(), [['GC pauses', 3], ['waits for locks', 2]], 'lanes');
    const [, , text] = lanes.find(([name]) => name === 'waits for locks');
    holds(/^[a-z][a-zA-Z.]+ for /.test(text), 'what a wait says: ' + text);
    holds((await page.textContent('#band-legend')).includes('waits for locks: 2, 42.0 ms'), await page.textContent('#band-legend'));
    await page.screenshot({ path: picture('explorer-locks') });
    page.calm();
    await page.context().close();
  });
  await check('explorer: slow safepoints have a lane of their own, and samples a filter by what their thread was asked to stop for', async () => {
    const field = (name, kind, more = {}, inner = []) => ['field', { name, class: kind, ...more }, inner];
    const pooled = { constantPool: 'true' };
    const isEvent = { superType: 'jdk.jfr.Event' };
    const delay = ['class', { name: 'jaywalk.SafepointDelay', id: '130', ...isEvent }, [field('startTime', '10'),
      field('duration', '10', {}, [['annotation', { class: '29', value: 'TICKS' }, []]]), field('eventThread', '20', pooled), field('operation', '12')]];
    const byPoll = ['class', { name: 'jaywalk.PollSample', id: '131', ...isEvent }, [field('startTime', '10'), field('sampledThread', '20', pooled), field('reason', '12')]];
    const bySafepoint = ['class', { name: 'jaywalk.SafepointSample', id: '132', ...isEvent }, [field('startTime', '10'), field('sampledThread', '20', pooled)]];
    /* Each stands right before its sample; the thread is the one of the CPU samples. */
    const sample = at => [101, [at, 1, 1, 1, MS10, 0, 0, 0]];
    const events = [[130, [2000000000, 30000000, 1, 'G1CollectFull']], [131, [2500000000, 1, 'handshake']], sample(2500000000),
      [132, [2600000000, 1]], sample(2600000000), [132, [2700000000, 1]], sample(2700000000)];
    const page = await openExplorer(browser, makePage('safepoints.explorer', { ...twoClocks, extra: { types: [delay, byPoll, bySafepoint], pools: [], events } }, '-e', 'cpu'), { viewport: { width: 1280, height: 800 } });
    const { lanes } = await page.explorer();
    equal(lanes.map(([name, count]) => [name, count]).sort(), [['GC pauses', 3], ['slow safepoints', 1]], 'lanes');
    equal(lanes.find(([name]) => name === 'slow safepoints')[2], 'G1CollectFull, for main', 'what a safepoint says');
    holds((await page.textContent('#band-legend')).includes('slow safepoints: 1, 30.0 ms'), await page.textContent('#band-legend'));
    equal(await page.total(), 43 * MS10, 'CPU time');
    await page.keyboard.press('e');
    holds((await page.textContent('#facets')).includes('Asked to stop by'), await page.textContent('#facets'));
    await page.locator('#facets li button', { hasText: 'handshake' }).first().click();
    equal(await page.total(), MS10, 'asked by a handshake');
    await page.click('#reset');
    await page.locator('#facets li button', { hasText: 'safepoint' }).first().click();
    equal(await page.total(), 2 * MS10, 'asked by a safepoint');
    page.calm();
    await page.context().close();
  });
  await check('explorer: of its events a page has those that are asked for', async () => {
    const page = await openExplorer(browser, makePage('wall.explorer', twoClocks, '-e', 'wall'));
    equal([(await page.explorer()).events, await page.isVisible('#band-events'), await page.total()], [['wall'], false, 500 * MS10], 'one event');
    page.calm();
    await page.close();
  });
}

async function testScreens(browser) {
  const html = path.join(out, 'timed.explorer.html');
  await check('explorer: phone: fits, a finger selects time, filters fill the screen', async () => {
    const page = await openExplorer(browser, html, PHONE);
    equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'width of the document');
    await page.screenshot({ path: picture('explorer-phone') });
    await page.tap('#facets-open');
    await page.screenshot({ path: picture('explorer-phone-filters') });
    await page.tap('#rows-open');
    equal([await page.isVisible('#facets'), await page.isVisible('#rows')], [false, true], 'one panel at a time');
    const box = await page.locator('#band-canvas').boundingBox();
    const swipe = (type, part) => page.dispatchEvent('#band-canvas', type, { pointerId: 7, pointerType: 'touch', isPrimary: true, button: 0, clientX: box.x + box.width * part, clientY: box.y + 30 });
    await page.evaluate(() => { document.getElementById('band-canvas').setPointerCapture = () => {}; }); /* there is no such finger */
    await swipe('pointerdown', 0.2);
    await swipe('pointermove', 0.4);
    await swipe('pointerup', 0.4);
    const { time } = await page.state();
    holds(Math.abs(time[0] - 1000) < 30 && Math.abs(time[1] - 2000) < 30, `a finger selected ${time}`);
    const targets = await page.$$eval('#facets button, #band-tools button', all => all.filter(button => button.offsetParent !== null).map(button => button.offsetHeight));
    holds(targets.every(tall => tall >= 44), `touch targets are ${targets}`);
    page.calm();
    await page.context().close();
  });
  await check('explorer: dark where the system is', async () => {
    const page = await openExplorer(browser, html, { colorScheme: 'dark', viewport: { width: 1280, height: 800 }, hash: '#t=1000-2500' });
    equal((await page.state()).time, [1000, 2500], 'window of the link');
    await page.screenshot({ path: picture('explorer-dark') });
    page.calm();
    await page.context().close();
  });
}

/* 40,000 samples of 150 threads in a page that has room for a part of what is known of them. */
async function testFit(browser) {
  const many = timed(40000);
  many.stacks.forEach((stack, i) => { stack.thread = 'worker-' + i % 150; });
  const all = many.stacks.reduce((sum, stack) => sum + stack.weight, 0);
  await check('explorer: a page that is made to fit is no larger, shows all samples, and says what it gave up', async () => {
    const html = makePage('fit.explorer', many, '--max-size=300k');
    const page = await openExplorer(browser, html, { viewport: { width: 1280, height: 800 } });
    holds(fs.statSync(html).size <= 300 * 1024, `${fs.statSync(html).size} bytes`);
    const { samples, count, columns } = await page.explorer();
    holds(samples < 40000, `${samples} rows`);
    equal(count, 40000, 'samples of the whole');
    equal(await page.total(), all, 'total');
    holds((await page.textContent('#band-legend')).includes('made to fit 300 KiB'), 'the legend says it');
    await page.keyboard.press('?');
    holds((await page.textContent('#dialog')).includes('Made coarser to fit into 300 KiB'), 'the help says what was given up');
    await page.keyboard.press('Escape');
    /* What every context has together is the whole, and a filter of one thread has a part of it. */
    const threads = columns.find(column => column.key === 'thread').values;
    equal(columns.find(column => column.key === 'state').values.sort(), ['running', 'sleeping'], 'states of all are kept');
    holds(threads.length <= 151 && threads.includes('[folded]'), threads.join());
    await page.evaluate(name => { location.hash = '#only=' + encodeURIComponent('thread:' + name); }, threads[0]);
    await page.waitForFunction(() => window.jaywalk.state().facets.length === 1);
    const part = await page.total();
    holds(part > 0 && part < all, `${part} of one thread`);
    await page.evaluate(() => { location.hash = '#t=1000-2500'; });
    await page.waitForFunction(() => window.jaywalk.state().facets.length === 0 && window.jaywalk.state().time !== null);
    const ratio = await page.total() / all;
    holds(ratio > 0.28 && ratio < 0.32, `${ratio} of the time in 1.5 of 5 seconds`);
    await page.screenshot({ path: picture('explorer-fit') });
    page.calm();
    await page.context().close();
  });
}

/* With more than 131,072 samples: see page/unpack.js. */
async function testWorkers(browser) {
  const large = timed(135000, 11);
  const html = makePage('large.explorer', large);
  const total = large.stacks.length * MS10;
  const text = fs.readFileSync(html, 'utf8');

  await check('explorer: large columns are unpacked in workers, small ones on the page; nothing is fetched', async () => {
    const page = await openExplorer(browser, html, { viewport: { width: 1280, height: 800 } });
    const { inWorkers, here } = await page.evaluate(() => window.jaywalk.unpacked());
    holds(inWorkers === 2 && here >= 3, `${inWorkers} in workers, ${here} here`);
    equal([await page.total(), (await page.explorer()).samples], [total, large.stacks.length], 'samples');
    page.calm();
    await page.context().close();
  });
  const refusals = {
    'there are none': () => { delete window.Worker; },
    'refused at once': () => { window.Worker = class { constructor() { throw new DOMException('no', 'SecurityError'); } }; },
    'refused later': () => { window.Worker = class { constructor() { setTimeout(() => this.onerror(new Event('error'))); } postMessage() {} terminate() {} }; },
  };
  await check('explorer: where workers are refused the page unpacks its columns itself', async () => {
    for (const [name, refuse] of Object.entries(refusals)) {
      const context = await browser.browser().newContext({ viewport: { width: 1280, height: 800 } });
      await context.addInitScript(refuse);
      const page = await openExplorer(context, html);
      equal([await page.total(), (await page.evaluate(() => window.jaywalk.unpacked())).inWorkers], [total, 0], name);
      page.calm();
      await context.close();
    }
  });
  await check('explorer: a column that a worker finds damaged leaves the table and says so', async () => {
    const damaged = path.join(out, 'damaged-large.html');
    fs.writeFileSync(damaged, text.replace(/(id="c-samples"[^>]*>.{4000})(.)/, (all, head, one) => head + (one === 'A' ? 'B' : 'A')));
    const page = await openPage(browser, damaged);
    await page.waitForSelector('#broken:not([hidden])');
    holds((await page.textContent('#broken')).includes('cannot be drawn') && await page.isVisible('#plain table'), await page.textContent('#broken'));
    await page.close();
  });
}

async function testDamage(browser) {
  await check('explorer: no name becomes an element, and every name can be filtered by', async () => {
    const html = makePage('hostile.explorer', hostileRequests);
    const page = await openExplorer(browser, html, { viewport: { width: 1280, height: 800 } });
    await page.keyboard.press('e');
    equal(await page.$$eval('img', all => all.length), 0, 'images');
    const { columns } = await page.explorer();
    equal(columns.find(column => column.key === 'endpoint').values.length, hostileNames.length, 'endpoints');
    await page.evaluate(name => { location.hash = '#only=' + encodeURIComponent('endpoint:' + name); }, hostileNames[0]);
    await page.waitForFunction(() => window.jaywalk.state().facets.length === 1);
    equal(await page.total(), MS10, 'samples of the first name');
    page.calm();
    await page.context().close();
  });
  await check('explorer: a damaged column leaves the table and says so', async () => {
    const whole = fs.readFileSync(path.join(out, 'timed.explorer.html'), 'utf8');
    const column = /(id="c-samples"[^>]*>)([^<]*)/;
    const damages = {
      changed: whole.replace(column, (all, head, text) => head + text.replace(/^(.{400})(.)/, (some, begin, one) => begin + (one === 'A' ? 'B' : 'A'))),
      cut: whole.replace(column, (all, head, text) => head + text.slice(0, text.length / 2 & ~3)),
      missing: whole.replace(/<script type="text\/plain" id="c-contexts"[^]*?<\/script>/, ''),
    };
    for (const [name, text] of Object.entries(damages)) {
      holds(text !== whole, name);
      const html = path.join(out, `damaged-${name}.html`);
      fs.writeFileSync(html, text);
      const page = await openPage(browser, html);
      await page.waitForSelector('#broken:not([hidden])');
      holds((await page.textContent('#broken')).includes('cannot be drawn') && await page.isVisible('#plain table'), name);
      equal(await page.isVisible('#stage'), false, 'graph of a page that is ' + name);
      await page.close();
    }
  });
  await check('explorer: a profile without samples says so', async () => {
    const html = makePage('none.explorer', { stacks: [{ frames: [], at: 5 }] });
    const page = await openExplorer(browser, html);
    page.calm();
    await page.close();
  });
}

module.exports = [testWindow, testSparks, testRows, testDiff, testViews, testEvents, testScreens, testFit, testWorkers, testDamage];
