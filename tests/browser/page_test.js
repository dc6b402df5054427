/* page_test - what a reader of a flame graph does (explorer_test: of the page over time), and what a hostile recording tries. */
'use strict';
const fs = require('fs');
const path = require('path');
const { check, equal, holds, makePage, openBrowser, openPage, inkOf, out, failures } = require('./harness.js');
const censusTests = require('./census_test.js');
const compareTests = require('./compare_test.js');
const explorerTests = require('./explorer_test.js');
const { known, requests, hostile, hostileRequests, hostileNames, many, deep, wide, MS10 } = require('./profiles.js');

const picture = name => path.join(out, name + '.png');
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, hasTouch: true, isMobile: true };

/* Self and total by title, the slow way: recursion counts once. */
function reference(stacks, titleOf) {
  const sums = new Map();
  const at = title => sums.get(title) || sums.set(title, { self: 0, total: 0 }).get(title);
  for (const { frames, weight } of stacks) {
    const titles = frames.map(titleOf);
    at(titles[titles.length - 1]).self += weight;
    for (const title of new Set(titles))
      at(title).total += weight;
  }
  return sums;
}

async function testShows(browser) {
  const html = makePage('known', known);
  const page = await openPage(browser, html);

  await check('opens from a file without an error, a violation or a request', async () => {
    equal(await page.title(), 'CPU profile', 'title');
    holds(await page.$eval('h1', h1 => h1.scrollWidth <= h1.clientWidth), 'the title is cut');
    page.calm();
  });
  await check('first screen shows the root, as wide as the window', async () => {
    const root = await page.box('all');
    holds(root.y + root.height <= 800 && root.y > 700, `root is at ${root.y}`);
    equal(Math.round(root.width), 1280, 'width of the root');
  });
  await check('every level adds up: widths are shares, totals those of the recording', async () => {
    const boxes = await page.boxes();
    equal(boxes[0].total, 100 * MS10, 'total');
    for (const box of boxes)
      holds(Math.abs(box.width - 1280 * box.total / (100 * MS10)) <= 1.5, `${box.title} is ${box.width} wide`);
    equal((await page.box('java/util/HashMap.get')).type, 'inlined', 'type of most of its time');
    equal((await page.box('vfs_write')).type, 'kernel', 'type');
    equal((await page.box('GCTaskThread::run()')).type, 'C++', 'type');
    equal((await page.box('[unknown_Java]')).type, 'not code', 'type');
    equal((await page.box('[truncated]')).total, MS10, 'truncated');
  });
  await check('hover answers with name, type and shares', async () => {
    const { x, y, width } = await page.box('com/acme/Work.run');
    await page.mouse.move(x + width / 2, y + 5);
    await page.waitForSelector('#tip:not([hidden])');
    const text = await page.textContent('#tip');
    holds(text.includes('com.acme.Work.run') && text.includes('60.0 %') && text.includes('compiled'), text);
    holds((await page.textContent('#where')).includes('com.acme.Work.run'), 'status line');
    await page.screenshot({ path: picture('tooltip') });
  });
  await check('trust badge states the share, and its table every loss', async () => {
    equal(await page.textContent('#trust'), '95.2 % of signals sampled, 10.0 % incomplete', 'badge');
    holds((await page.getAttribute('#trust', 'title')).includes('95.2 % of signals became samples, 10.0 % stand under'), 'the whole of it in the tooltip');
    await page.click('#trust');
    const text = await page.textContent('#dialog');
    holds(/lost: signals on a thread without a record\s*3/.test(text) && text.includes('[unknown_Java]'), text);
    await page.screenshot({ path: picture('trust') });
    await page.keyboard.press('Escape');
    equal(await page.isVisible('#dialog'), false, 'dialog');
  });
  await check('table of methods equals a slow reference', async () => {
    await page.keyboard.press('m');
    const rows = await page.$$eval('#panel tbody tr', all => all.map(row => [...row.cells].map(cell => cell.textContent)));
    const sums = reference(known.stacks, ([, className, method]) => method.startsWith('[') || /^lib|kernel/.test(className) ? method : className.replaceAll('/', '.') + '.' + method);
    equal(rows.length, sums.size - 1, 'rows: all but the mark');
    for (const [self, total, title] of rows) {
      const sum = sums.get(title);
      holds(sum, `no method ${title}`);
      const share = part => part === 0 ? '0 %' : part < 10 * MS10 ? (part / MS10).toFixed(2) + ' %' : (part / MS10).toFixed(1) + ' %';
      equal([self, total], [share(sum.self), share(sum.total)], title);
    }
    await page.screenshot({ path: picture('methods') });
    await page.keyboard.press('m');
    equal(await page.isVisible('#panel'), false, 'panel');
  });
  await check('legend lists the types that are there, and marks them on a click', async () => {
    const types = await page.$$eval('#legend button span:not(.share)', all => all.map(span => span.textContent));
    equal(types, ['compiled', 'inlined', 'interpreted', 'native', 'C++', 'kernel', 'not code'], 'types');
    await page.click('#legend button:has-text("kernel")');
    equal((await page.state()).matches.total, 15 * MS10, 'kernel');
    await page.click('#legend button:has-text("kernel")');
    equal((await page.state()).query, '', 'query');
  });
  page.calm();
  await page.close();
}

async function testZoom(browser) {
  const page = await openPage(browser, path.join(out, 'known.html'));

  await check('a click zooms, a click on a caller goes back to it', async () => {
    await page.clickBox('com/acme/Work.run');
    equal((await page.state()).zoomTitle, 'com/acme/Work.run', 'zoomed frame');
    equal(Math.round((await page.box('com/acme/Work.run')).width), 1280, 'width');
    holds((await page.textContent('#chips')).includes('com.acme.Work.run'), 'chip');
    await page.screenshot({ path: picture('zoomed') });
    await page.clickBox('com/acme/Main.main');
    equal((await page.state()).zoomTitle, 'com/acme/Main.main', 'zoomed frame');
  });
  await check('the browser\'s Back and Forward undo and redo', async () => {
    await page.goBack();
    await page.zoomedTo('com/acme/Work.run');
    await page.goForward();
    await page.zoomedTo('com/acme/Main.main');
  });
  await check('Backspace zooms out by one, 0 and Reset show all', async () => {
    await page.clickBox('com/acme/Io.write');
    await page.keyboard.press('Backspace');
    equal((await page.state()).zoomTitle, 'com/acme/Main.main', 'after Backspace');
    await page.keyboard.press('0');
    equal((await page.state()).zoomTitle, 'all', 'after 0');
    await page.clickBox('com/acme/Io.write');
    await page.click('#reset');
    await page.still();
    equal((await page.box('all')).total, 100 * MS10, 'after Reset');
    equal((await page.state()).zoomTitle, 'all', 'after Reset');
  });
  await check('keys walk the tree and zoom', async () => {
    await page.reload();
    await page.focus('#canvas');
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp'])
      await page.keyboard.press(key);
    equal(await page.textContent('#where'), 'com.acme.Work.run', 'widest callee of the widest callee');
    await page.keyboard.press('ArrowLeft');
    equal(await page.textContent('#where'), 'com.acme.Io.write', 'frame beside');
    await page.keyboard.press('Enter');
    equal((await page.state()).zoomTitle, 'com/acme/Io.write', 'zoomed frame');
    await page.keyboard.press('ArrowDown');
    equal(await page.textContent('#where'), 'com.acme.Main.main', 'caller');
    await page.waitForFunction(() => document.getElementById('spoken').textContent.startsWith('com.acme.Main.main, interpreted'));
  });
  await check('a link finds its view again in a fresh page', async () => {
    const hash = await page.evaluate(() => location.hash);
    const other = await openPage(browser, path.join(out, 'known.html'), { hash });
    equal((await other.state()).zoomTitle, 'com/acme/Io.write', 'zoomed frame');
    other.calm();
    await other.close();
  });
  await check('Ctrl and wheel zoom freely, dragging moves, Backspace returns', async () => {
    await page.keyboard.press('0');
    await page.still();
    await page.mouse.move(640, 400);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    await page.waitForFunction(() => window.jaywalk.state().view.to < 1e9);
    const before = (await page.state()).view;
    holds(before.from > 0, 'zoomed at the pointer');
    await page.mouse.down();
    await page.mouse.move(700, 400);
    await page.mouse.up();
    holds((await page.state()).view.from < before.from, 'moved');
    await page.keyboard.press('Backspace');
    await page.still();
    equal((await page.state()).view, { from: 0, to: 100 * MS10 }, 'view');
  });
  page.calm();
  await page.close();
}

async function testSearch(browser) {
  const page = await openPage(browser, path.join(out, 'known.html'));
  const total = async query => {
    await page.fill('#query', query);
    return (await page.state()).matches?.total / MS10;
  };

  await check('a search shows its share, and counts a frame inside a match once', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('hashmap.get');
    equal(await page.textContent('#found'), '40.0 % of view', 'found');
    equal((await page.state()).matches, { names: 1, places: 2, total: 40 * MS10, self: 40 * MS10 }, 'matches');
    equal(await total('Work.run'), 60, 'recursion counts once');
    await page.screenshot({ path: picture('search') });
  });
  await check('nothing in the header covers anything else, at any width, however long the title', async () => {
    const html = makePage('header', known, '--title', 'Checkout service under load, second run after the fix');
    const wide = await openPage(browser, html, { viewport: { width: 1400, height: 800 } });
    for (const query of ['', 'hashmap.get', '/Hash(/'])
      for (const width of [1400, 1280, 1100, 1099, 900, 700, 699, 390]) {
        await wide.setViewportSize({ width, height: 800 });
        await wide.fill('#query', query);
        const boxes = await wide.$$eval('#about, #trust, #query, #found, #only, #without, #tools', all => all.map(item => ({ id: item.id, box: item.getBoundingClientRect().toJSON() })).filter(({ box }) => box.width > 0));
        for (const { id, box } of boxes) {
          holds(box.left >= 0 && box.right <= width + 0.5, `${id} leaves the page at ${width} with '${query}'`);
          for (const other of boxes)
            holds(other.id <= id || box.right <= other.box.left + 0.5 || other.box.right <= box.left + 0.5 || box.bottom <= other.box.top + 0.5 || other.box.bottom <= box.top + 0.5,
              `${id} covers ${other.id} at ${width} with '${query}'`);
        }
        if (width > 699)
          holds(boxes.find(({ id }) => id === 'query').box.width >= 140, `the search is narrow at ${width} with '${query}'`);
        if (query === 'hashmap.get')
          holds(await wide.$eval('#found', found => found.scrollWidth <= found.clientWidth), `the share is cut at ${width}`);
        if (width === 1400 && query === 'hashmap.get')
          await wide.screenshot({ path: picture('header') });
      }
    await wide.context().close();
  });
  await check('a title of usual length is never cut, nor is the badge', async () => {
    const html = makePage('title', known, '--title', 'CPU profile, wall clock left out');
    for (const colorScheme of ['light', 'dark']) {
      const usual = await openPage(browser, html, { viewport: { width: 1400, height: 900 }, colorScheme });
      for (const query of ['', 'hashmap.get'])
        for (const width of [1400, 1280, 1279, 1100, 1000, 900, 700, 400]) {
          await usual.setViewportSize({ width, height: 900 });
          await usual.fill('#query', query);
          for (const id of ['h1', '#trust'])
            holds(await usual.$eval(id, item => item.scrollWidth <= item.clientWidth), `${id} is cut at ${width} with '${query}'`);
          if (query === '' && [1400, 1000, 400].includes(width))
            await usual.screenshot({ path: picture(`title-${width}-${colorScheme}`) });
        }
      await usual.context().close();
    }
  });
  await check('queries mean what they say', async () => {
    for (const [query, expected] of [['com/acme', 76], ['COM.ACME', 76], ['/acme/', 76], ['/ACME/', 0], ['/ACME/i', 76], ['="com.acme.Io.write"', 15], ['="acme"', 0],
      ['type:native', 30], ['module:libjvm', 15], ['pkg:com.acme', 76], ['pkg:com.ac', 0], ['write | GC', 30], ['-acme', 80], ['unknown_', 9]])
      equal(await total(query), expected, query);
  });
  await check('a longer text never matches more', async () => {
    let before = Infinity;
    for (let i = 1; i <= 'hashmap.get'.length; i++) {
      const found = await total('hashmap.get'.slice(0, i));
      holds(found <= before, `${i} letters match ${found}`);
      before = found;
    }
  });
  await check('a broken regex says so and keeps the last result', async () => {
    const good = await total('/Hash/');
    equal(await total('/Hash(/'), good, 'result');
    holds((await page.textContent('#found')).length > 5, 'message');
    equal(await page.getAttribute('#query', 'aria-invalid'), 'true', 'aria-invalid');
  });
  await check('N walks the matches, Esc ends the search', async () => {
    await page.fill('#query', 'write');
    await page.focus('#canvas');
    await page.keyboard.press('n');
    equal(await page.textContent('#where'), 'com.acme.Io.write', 'first match');
    await page.keyboard.press('Escape');
    equal((await page.state()).query, '', 'query');
    equal(await page.textContent('#found'), '', 'found');
  });
  await check('F keeps matching stacks, Shift+F the others, X drops those under a frame', async () => {
    await page.fill('#query', 'HashMap');
    await page.focus('#canvas');
    await page.keyboard.press('f');
    equal(await page.evaluate(() => window.jaywalk.total()), 40 * MS10, 'only');
    await page.click('#chips button');
    equal(await page.evaluate(() => window.jaywalk.total()), 100 * MS10, 'all');
    await page.fill('#query', 'HashMap');
    await page.focus('#canvas');
    await page.keyboard.press('Shift+F');
    equal(await page.evaluate(() => window.jaywalk.total()), 60 * MS10, 'without');
    await page.still();
    const { x, y } = await page.box('com/acme/Io.write');
    await page.keyboard.down('Alt');
    await page.mouse.click(x + 5, y + 5);
    await page.keyboard.up('Alt');
    equal(await page.evaluate(() => window.jaywalk.total()), 45 * MS10, 'hidden');
    await page.goBack();
    await page.waitForFunction(total => window.jaywalk.total() === total, 60 * MS10);
  });
  await check('what is too narrow to see has a mark in the rail', async () => {
    const html = makePage('narrow', { stacks: [{ frames: known.stacks[0].frames, weight: 1e12 }, { frames: [['JIT compiled', 'x/Pluto', 'tiny']], weight: 1e6 }] });
    const narrow = await openPage(browser, html);
    await narrow.fill('#query', 'pluto');
    const marked = await narrow.evaluate(() => {
      const rail = document.getElementById('rail');
      return rail.getContext('2d').getImageData(0, 0, rail.width, rail.height).data.some(value => value !== 0);
    });
    holds(marked, 'no mark');
    equal(await narrow.textContent('#found'), '< 0.01 % of view', 'found');
    narrow.calm();
    await narrow.close();
  });
  page.calm();
  await page.close();
}

async function testHostile(browser) {
  await check('endpoints and attributes never become elements, script or style', async () => {
    const page = await openPage(browser, makePage('hostile_requests', hostileRequests, '--by', 'endpoint', '--by', 'attribute:tenant', '--attribute', 'tenant=*', '--endpoint', '*</script>*', '--endpoint', '*'));
    await page.click('#legend button:has-text("endpoint")');
    for (const box of (await page.boxes()).slice(0, 40)) {
      await page.mouse.move(box.x + box.width / 2, box.y + 5);
      equal(await page.evaluate(() => document.querySelectorAll('img, iframe, object, embed, link[rel=stylesheet]').length), 0, 'elements');
    }
    equal(await page.evaluate(() => [...document.scripts].filter(script => !script.type).length), 1, 'scripts');
    page.calm();
    await page.close();
  });
  await check('names never become elements, script or style', async () => {
    const page = await openPage(browser, makePage('hostile', hostile, '--threads', '--title', '</title><script>alert(3)</script>'));
    await page.keyboard.press('m');
    await page.click('#trust');
    await page.keyboard.press('Escape');
    for (const box of (await page.boxes()).slice(0, 40)) {
      await page.mouse.move(box.x + box.width / 2, box.y + 5);
      equal(await page.evaluate(() => document.querySelectorAll('img, iframe, object, embed, link[rel=stylesheet]').length), 0, 'elements');
    }
    equal(await page.evaluate(() => [...document.scripts].filter(script => !script.type).length), 1, 'scripts');
    equal(await page.title(), '</title><script>alert(3)</script>', 'title');
    await page.screenshot({ path: picture('hostile') });
    page.calm();
    await page.close();
  });
  await check('names arrive as they are, but for controls', async () => {
    const page = await openPage(browser, path.join(out, 'hostile.html'));
    const titles = new Set((await page.boxes()).map(box => box.title));
    for (const name of hostileNames)
      holds(titles.has(name), `lost: ${JSON.stringify(name)}`);
    await page.close();
  });
  await check('a page with a damaged tree shows the table and a sentence', async () => {
    const html = path.join(out, 'damaged.html');
    fs.writeFileSync(html, fs.readFileSync(path.join(out, 'known.html'), 'utf8').replace(/\n[fun]\([^)]*\)\n/, '\n'));
    const page = await openPage(browser, html);
    holds((await page.textContent('#broken')).includes('cannot be drawn'), 'sentence');
    holds(await page.isVisible('#plain table'), 'table');
    await page.close();
  });
  await check('without scripts the page has totals, losses and the hottest methods', async () => {
    const page = await openPage(browser, path.join(out, 'known.html'), { javaScriptEnabled: false });
    holds(await page.isVisible('#plain table'), 'table');
    const text = await page.innerText('body');
    holds(text.includes('1.00 s of CPU time') && text.includes('3 lost') && text.includes('java.util.HashMap.get') && text.includes('scripts are off'), text.slice(0, 400));
    await page.screenshot({ path: picture('noscript') });
    await page.context().close();
  });
}

async function testShapes(browser) {
  await check('no samples: a sentence, not an empty page', async () => {
    const page = await openPage(browser, makePage('empty', { stacks: [], counters: { signals: 5, samples: 0, lostNoThread: 5 } }));
    holds((await page.textContent('#empty')).startsWith('No samples'), 'sentence');
    equal(await page.getAttribute('#trust', 'class'), 'poor', 'badge');
    page.calm();
    await page.close();
  });
  await check('no samples left by filters: the page blames them', async () => {
    const page = await openPage(browser, makePage('filtered', known, '--include=zzzz'));
    const text = await page.textContent('#empty');
    holds(text.includes('filters of the conversion left nothing of 7.') && !text.includes('lost'), text);
    await page.close();
  });
  await check('counts that do not add up are said to', async () => {
    const page = await openPage(browser, makePage('mismatch', { ...known, counters: { signals: 105, samples: 100, lostReentry: 1 } }));
    equal(await page.textContent('#trust'), 'Counts do not add up', 'badge');
    await page.close();
  });
  await check('a stack of 10,000 frames opens at its root, on a canvas as large as the window', async () => {
    const page = await openPage(browser, makePage('deep', deep(10000)));
    const root = await page.box('all');
    holds(root.y > 700 && root.y < 800, `root is at ${root.y}`);
    const size = await page.evaluate(() => [document.getElementById('canvas').width, document.getElementById('canvas').height]);
    holds(size[0] <= 1280 && size[1] <= 800, `canvas is ${size}`);
    await page.evaluate(() => { document.getElementById('scroller').scrollTop = 0; });
    await page.waitForFunction(() => window.jaywalk.boxes().some(box => box.level === 10000 && box.y >= 0));
    page.calm();
    await page.close();
  });
  await check('50,000 frames side by side become dust that adds up, and a click goes into it', async () => {
    const page = await openPage(browser, makePage('wide', wide(50000)));
    const boxes = await page.boxes();
    const dust = boxes.filter(box => box.title === null);
    equal(dust.reduce((sum, box) => sum + box.total, 0), 50000 * MS10, 'dust');
    await page.mouse.click(640, dust[0].y + 5);
    await page.still();
    page.calm();
    await page.close();
  });
  await check('--minwidth folds, and totals stay', async () => {
    const recording = many(2000, 300, 30);
    const page = await openPage(browser, makePage('folded', recording, '--minwidth', '1'));
    const whole = recording.stacks.reduce((sum, stack) => sum + stack.weight, 0);
    const boxes = await page.boxes();
    equal(boxes[0].total, whole, 'total');
    const folded = boxes.filter(box => box.title === '[folded]' && box.type === 'not code');
    holds(folded.length > 0, 'a folded frame');
    /* It is code, of a type that the page does not have: the legend says so, and takes it for nothing else. */
    const lines = await page.$$eval('#legend button', all => all.map(line => line.textContent));
    holds(lines.some(line => line.startsWith('too narrow, folded')) && !lines.some(line => line.startsWith('not code')), lines.join());
    await page.click('#legend button:has-text("folded")');
    const marked = (await page.state()).matches.total;
    const told = parseFloat(lines.find(line => line.startsWith('too narrow')).replace('too narrow, folded', ''));
    holds(marked >= folded.reduce((sum, box) => sum + box.total, 0), `${marked} marked, of which the drawn ones are a part`);
    holds(Math.abs(100 * marked / whole - told) < 0.1, `${marked} marked, ${told} % told`);
    page.calm();
    await page.close();
  });
  await check('--inverted puts the root at the top, and I flips', async () => {
    const page = await openPage(browser, makePage('inverted', known, '--inverted'));
    const top = (await page.box('all')).y;
    holds(top < 100, `root is at ${top}`);
    await page.keyboard.press('i');
    holds((await page.box('all')).y > 700, 'flipped');
    await page.screenshot({ path: picture('inverted') });
    page.calm();
    await page.close();
  });
  await check('--reverse grows from the methods that ran, root at the top, and their self times stay', async () => {
    const page = await openPage(browser, makePage('reverse', known, '--reverse'));
    holds((await page.box('all')).y < 100, 'root is not at the top');
    const boxes = await page.boxes();
    const first = boxes.filter(box => box.level === 1).map(box => box.title);
    holds(first.includes('vfs_write') && first.includes('java/util/HashMap.get') && !first.includes('com/acme/Main.main'), first.join());
    await page.keyboard.press('m');
    const rows = await page.$$eval('#panel tbody tr', all => all.map(row => [...row.cells].map(cell => cell.textContent)));
    const sums = reference(known.stacks, ([, className, method]) => method.startsWith('[') || /^lib|kernel/.test(className) ? method : className.replaceAll('/', '.') + '.' + method);
    equal(rows.length, sums.size - 1, 'rows: all but the mark');
    for (const [self, total, title] of rows) {
      const share = part => part === 0 ? '0 %' : part < 10 * MS10 ? (part / MS10).toFixed(2) + ' %' : (part / MS10).toFixed(1) + ' %';
      equal([self, total], [share(sums.get(title).self), share(sums.get(title).total)], title);
    }
    await page.screenshot({ path: picture('reverse') });
    page.calm();
    await page.close();
  });
  await check('--reverse --inverted --threads: root at the bottom, then threads, then what ran in them', async () => {
    const page = await openPage(browser, makePage('reverse_threads', known, '--reverse', '--inverted', '--threads', '--simple', '--lib', '--dot'));
    holds((await page.box('all')).y > 700, 'root is not at the bottom');
    const boxes = await page.boxes();
    const level = n => boxes.filter(box => box.level === n).map(box => box.title);
    holds(level(1).every(title => /^\[.*\]$/.test(title)) && level(1).some(title => title.startsWith('[GC Thread#0')), level(1).join());
    holds(level(2).includes('HashMap.get') && level(2).includes('libjvm.so`GCTaskThread::run()'), level(2).join());
    await page.screenshot({ path: picture('reverse_threads') });
    page.calm();
    await page.close();
  });
  await check('--by endpoint --by attribute: boxes of their own kinds, no methods, told in the legend', async () => {
    const page = await openPage(browser, makePage('requests', requests, '--by', 'endpoint', '--by', 'attribute:tenant', '--endpoint', '*orders*', '--endpoint', '[no endpoint]'));
    const boxes = await page.boxes();
    const level = n => boxes.filter(box => box.level === n).map(box => box.title + ' ' + box.type).sort();
    equal(level(1), ['GET /orders endpoint', 'POST /orders endpoint', '[no endpoint] missing value'], 'endpoints');
    equal([...new Set(level(2))], ['[no tenant] missing value', 'tenant=acme attribute'], 'tenants');
    equal(boxes.find(box => box.title === 'GET /orders').total, 50 * MS10, 'total');
    equal(await page.title(), 'CPU profile: *orders* or [no endpoint]', 'title');
    const legend = await page.$$eval('#legend button', all => all.slice(0, 2).map(button => button.textContent));
    equal(legend, ['endpoint', 'attribute'], 'legend');
    await page.click('#legend button:has-text("endpoint")');
    equal((await page.state()).matches.total, 60 * MS10, 'marked');
    await page.keyboard.press('m');
    const rows = await page.$$eval('#panel tbody tr', all => all.map(row => row.textContent));
    holds(!rows.some(row => row.includes('orders') || row.includes('tenant')), rows.join('; '));
    await page.screenshot({ path: picture('requests') });
    page.calm();
    await page.close();
  });
  await check('--by with --reverse: methods begin above the boxes', async () => {
    const page = await openPage(browser, makePage('requests_reverse', requests, '--by', 'endpoint', '--reverse'));
    const boxes = await page.boxes();
    const level = n => boxes.filter(box => box.level === n).map(box => box.title).sort();
    equal(level(1), ['GET /orders', 'POST /orders', '[no context]', '[no endpoint]'], 'endpoints');
    holds(level(2).includes('java/util/HashMap.get') && level(2).includes('[unknown_Java]'), level(2).join());
    equal(boxes.find(box => box.title === 'java/util/HashMap.get').self, 30 * MS10, 'self');
    page.calm();
    await page.close();
  });
  await check('a big tree: every level covers what its callers do', async () => {
    const page = await openPage(browser, makePage('big', many(20000, 3000, 60)));
    let before = { total: Infinity, width: Infinity };
    for (let level = 0, boxes = await page.boxes(); ; level++) {
      const here = boxes.filter(box => box.level === level);
      const sum = part => here.reduce((all, box) => all + box[part], 0);
      if (here.length === 0)
        break;
      holds(sum('total') <= before.total && sum('width') <= before.width, `level ${level} is wider than its callers`);
      here.slice(1).forEach((box, i) => holds(box.x >= here[i].x + here[i].width, `boxes of level ${level} overlap`));
      before = { total: sum('total'), width: sum('width') };
    }
    const ink = await inkOf(page);
    holds(ink >= 0.1, `a first screen with ${ink} of ink`);
    await page.screenshot({ path: picture('big') });
    const times = await page.evaluate(() => {
      const begin = performance.now();
      document.getElementById('query').value = 'class1';
      document.getElementById('query').dispatchEvent(new Event('input'));
      const { domInteractive, loadEventEnd } = performance.getEntriesByType('navigation')[0];
      return { search: performance.now() - begin, loaded: loadEventEnd, domInteractive };
    });
    console.log(`# big tree: ${await page.evaluate(() => window.jaywalk.frames())} frames, loaded in ${times.loaded.toFixed(0)} ms, search and repaint ${times.search.toFixed(1)} ms`);
    page.calm();
    await page.close();
  });
}

/* A hundred thousand stacks: what the page's own thread takes until they are painted, by its clock of processor time, whatever else runs. */
async function testSpeed(browser) {
  await check('a hundred thousand stacks are painted within two seconds', async () => {
    const page = await openPage(browser, makePage('stacks', many(100000, 5, 20)));
    const client = await page.context().newCDPSession(page);
    const busy = async () => (await client.send('Performance.getMetrics')).metrics.find(metric => metric.name === 'TaskDuration').value;
    await client.send('Performance.enable', { timeDomain: 'threadTicks' });
    const before = await busy();
    await page.reload();
    await page.evaluate(() => new Promise(painted => requestAnimationFrame(() => requestAnimationFrame(painted))));
    const seconds = await busy() - before;
    const frames = await page.evaluate(() => window.jaywalk.frames());
    console.log(`# ${frames} frames of a hundred thousand stacks: painted in ${seconds.toFixed(2)} s of processor time`);
    holds(frames > 4e5 && seconds > 0 && seconds <= 2, `${frames} frames in ${seconds} s`);
    const ink = await inkOf(page);
    await page.screenshot({ path: picture('stacks') });
    holds(ink >= 0.1, `a first screen with ${ink} of ink`);
    page.calm();
    await page.close();
  });
}

async function testScreens(browser) {
  await check('phone: fits, a tap tells, a second tap zooms', async () => {
    const page = await openPage(browser, path.join(out, 'known.html'), PHONE);
    equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'width of the document');
    const { x, y, height } = await page.box('com/acme/Work.run');
    equal(height, 28, 'height of a row');
    await page.screenshot({ path: picture('phone') });
    await page.touchscreen.tap(x + 20, y + 10);
    await page.waitForSelector('#sheet:not([hidden])');
    await page.screenshot({ path: picture('phone-sheet') });
    await page.touchscreen.tap(x + 20, y + 10);
    await page.waitForFunction(() => window.jaywalk.state().zoomTitle === 'com/acme/Work.run');
    const targets = await page.$$eval('button', all => all.filter(button => button.offsetParent !== null && button.closest('#tools, #sheet, #find, #head')).map(button => button.offsetHeight));
    holds(targets.every(tall => tall >= 44), `touch targets are ${targets}`);
    page.calm();
    await page.context().close();
  });
  await check('dark where the system is, and D changes it', async () => {
    const page = await openPage(browser, path.join(out, 'known.html'), { colorScheme: 'dark', viewport: { width: 1280, height: 800 } });
    equal(await page.evaluate(() => document.documentElement.classList.contains('dark')), true, 'dark');
    await page.screenshot({ path: picture('dark') });
    await page.keyboard.press('d');
    equal(await page.evaluate(() => document.documentElement.classList.contains('dark')), false, 'dark');
    page.calm();
    await page.context().close();
  });
  await check('reduced motion: a zoom is there at once', async () => {
    const page = await openPage(browser, path.join(out, 'known.html'), { reducedMotion: 'reduce', viewport: { width: 1280, height: 800 } });
    const { x, y } = await page.box('com/acme/Work.run');
    await page.mouse.click(x + 20, y + 5);
    equal((await page.state()).view.to - (await page.state()).view.from, 60 * MS10, 'view');
    await page.context().close();
  });
  await check('help opens by key and closes; every control has a name', async () => {
    const page = await openPage(browser, path.join(out, 'known.html'));
    await page.keyboard.press('?');
    await page.waitForSelector('#dialog[open]');
    await page.screenshot({ path: picture('help') });
    await page.keyboard.press('Escape');
    const nameless = await page.$$eval('button, input, canvas[tabindex]', all => all.filter(one => !one.textContent.trim() && !one.getAttribute('aria-label') && !one.title).map(one => one.outerHTML));
    equal(nameless.filter(html => !html.includes('hidden')), [], 'controls without a name');
    page.calm();
    await page.close();
  });
}

(async () => {
  const { browser, profile } = await openBrowser();
  const only = process.argv[2]; /* the name of one test: for whoever works on it */
  for (const test of [testShows, testZoom, testSearch, testHostile, testShapes, testSpeed, testScreens, ...explorerTests, ...censusTests, ...compareTests])
    await (only === undefined || only === test.name ? test(browser) : undefined);
  await browser.close();
  /* A process of the browser that ends a moment later may still write there. */
  fs.rmSync(profile, { recursive: true, force: true, maxRetries: 100, retryDelay: 10 });
  process.exitCode = failures() > 0 ? 1 : 0;
})().catch(wrong => {
  console.log('not ok browser: ' + (wrong.stack || wrong));
  process.exitCode = 1;
});
