/* census_test - the census of locks in the explorer: what the command says, sorted, searched and opened. */
'use strict';
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');
const { check, equal, holds, makePage, openExplorer, openPage, out } = require('./harness.js');
const { java, timed, hostileNames, MS10 } = require('./profiles.js');

const picture = name => path.join(out, name + '.png');
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, hasTouch: true, isMobile: true };
const WIDE = { viewport: { width: 1280, height: 800 } };
const [SITE, ENTER, CALLER] = [131, 132, 133];

/* A site as the recording has it; what is not told is nothing. */
const site = (owner, method, line, kind, more = {}) => ({ owner, method, line, kind, isPlatform: 0, isCounted: 1, acquisitions: 0, threads: 0, thread: '', timed: 0, weight: 0, held: 0, longest: 0, ...more });

const sites = [
  site('com/acme/shop/Shelf', 'take', 12, 'monitor', { acquisitions: 52000, threads: 8, thread: 'http-1', timed: 3000, weight: 52000, held: 13000000000, longest: 41000000 }),
  site('com/acme/shop/Shelf', 'put', 31, 'monitor', { acquisitions: 9100, threads: 3, thread: 'http-2', timed: 9100, weight: 9100, held: 45500000, longest: 800000 }),
  site('com/acme/shop/Orders', 'next', 12, 'synchronized', { acquisitions: 41, threads: 4, thread: 'http-4', timed: 41, weight: 41, held: 82000, longest: 9000 }),
  site('com/acme/shop/Cart', 'add', 88, 'synchronized', { acquisitions: 1234567, threads: 1, thread: 'worker-1', timed: 1000, weight: 1234567, held: 123456700, longest: 7000, error: 3400000, histogram: '0:1234000 1000:567' }),
  site('com/acme/shop/Cart', 'size', 95, 'synchronized', { acquisitions: 7, threads: 1, thread: 'worker-2', timed: 7, weight: 7, held: 700, longest: 300 }),
  site('com/acme/shop/Cart', 'sum', 99, 'ReentrantLock', { acquisitions: 640, threads: 1, thread: 'worker-1' }),
  site('com/acme/io/Pool', 'borrow', 14, 'StampedLock read', { acquisitions: 90, threads: 1, thread: 'io' }),
  site('com/acme/shop/Cart', 'all', 7, 'static synchronized'),
  site('com/acme/legacy/Registry', 'find', 40, 'monitor'),
  site('com/acme/legacy/Registry', 'find', 40, 'monitor'), /* two in one line */
  site('com/acme/shop/Prices', 'of', 21, 'ReadLock', { acquisitions: 45000, threads: 8, thread: 'http-1', timed: 900, weight: 45000, held: 9000000, longest: 2000 }),
  site('com/acme/shop/Huge', 'switchboard', 1, 'monitor', { isCounted: 0 }),
  site('java/util/Vector', 'add', 60, 'synchronized', { acquisitions: 500000, threads: 1, thread: 'main', isPlatform: 1, timed: 10, weight: 500000, held: 4000000, longest: 100,
    callers: [['com/acme/shop/Basket', 'fill', 30, 375000, 6000], ['', '[others]', 10, 125000, 6000]] }),
  site('java/lang/StringBuffer', 'append', 700, 'synchronized', { acquisitions: 800, threads: 2, thread: 'main', isPlatform: 1 }),
  site('java/util/Hashtable', 'get', 400, 'synchronized', { isPlatform: 1 }),
];

const field = (name, kind, more = {}, inner = []) => ['field', { name, class: kind, ...more }, inner];
const pooled = { constantPool: 'true' };
const isEvent = { superType: 'jdk.jfr.Event' };
const types = [
  ['class', { name: 'jaywalk.LockSite', id: String(SITE), ...isEvent }, [field('startTime', '10'), field('lockedIn', '12'), field('method', '12'), field('lineNumber', '11'), field('kind', '12'), field('isPlatform', '13'),
    field('isCounted', '13'), field('acquisitions', '10'), field('threads', '10'), field('thread', '12'), field('timedHolds', '10'), field('weight', '10'), field('holdTime', '10'), field('longestHold', '10'),
    field('holdError', '10'), field('holdHistogram', '12')]],
  ['class', { name: 'jaywalk.LockCaller', id: String(CALLER), ...isEvent }, [field('startTime', '10'), field('lockedIn', '12'), field('method', '12'), field('lineNumber', '11'), field('kind', '12'), field('callerClass', '12'),
    field('caller', '12'), field('samples', '10'), field('acquisitions', '10'), field('error', '10')]],
  ['class', { name: 'jdk.JavaMonitorEnter', id: String(ENTER), ...isEvent }, [field('startTime', '10'), field('duration', '10', {}, [['annotation', { class: '29', value: 'TICKS' }, []]]),
    field('eventThread', '20', pooled), field('stackTrace', '21', pooled), field('monitorClass', '25', pooled), field('instance', '10')]],
];
const values = one => [one.owner, one.method, one.line, one.kind, one.isPlatform, one.isCounted, one.acquisitions, one.threads, one.thread, one.timed, one.weight, one.held, one.longest, one.error || 0, one.histogram || ''];

/* Stacks whose keys are those of their order: 1 is Shelf.take, 2 Orders.next; class 1 is Shelf, 2 Main, 3 Orders. */
const first = [
  { frames: [java('com/acme/shop/Main', 'main'), java('com/acme/shop/Shelf', 'take')], at: 1, thread: 'http-1', weight: MS10 },
  { frames: [java('com/acme/shop/Main', 'main'), java('com/acme/shop/Orders', 'next')], at: 2, thread: 'http-2', weight: MS10 },
];
const wait = (at, length, stack, klass, number) => [ENTER, [at, length, 1, stack, klass, number]];
const waits = [wait(1000000000, 30000000, 1, 1, 7), wait(2000000000, 10000000, 1, 1, 8), ...[1, 2, 3, 4, 5].map(i => wait(i * 100000000, 1000000, 2, 3, 0))];
const census = (list, more = []) => ({ types, pools: [], events: [...more, ...list.flatMap(one => [[SITE, [4000000000, ...values(one)]],
  ...(one.callers || []).map(caller => [CALLER, [4000000000, one.owner, one.method, one.line, one.kind, ...caller]])])] });
const profile = { ...timed(), stacks: [...first, ...timed().stacks], extra: census(sites, waits) };

const command = (name, ...options) => execFileSync(process.env.JW_COMMAND, ['locks', ...options, path.join(out, name + '.jfr')], { encoding: 'utf8', maxBuffer: 1 << 28 });
const locksOf = async page => (await page.explorer()).locks;
const shown = async page => (await locksOf(page)).rows.map(row => (row.sites ? row.name.split('.').at(-1) : row.place.split('.').slice(-2).join('.')));
const press = async (page, ...keys) => {
  for (const key of keys)
    await page.keyboard.press(key);
};
/* What is in the row on the screen: its cells by their words, and what follows. */
const rowText = (page, name) => page.locator('#locks tbody tr[id]', { hasText: name }).first().evaluate(row => ({
  ...Object.fromEntries([...row.querySelectorAll('td.number')].map(cell => [cell.dataset.word, cell.textContent])), follows: row.querySelector('.follows')?.textContent || '' }));

async function testCensus(browser) {
  const html = makePage('census.explorer', profile);
  const page = await openExplorer(browser, html, WIDE);

  await check('census: every number and every word is that of the command', async () => {
    await press(page, 'k');
    equal([await page.isVisible('#locks'), await page.isVisible('#graph'), await page.isVisible('#band')], [true, false, false], 'locks, graph, timeline');
    const { tables, lines } = await locksOf(page);
    const report = JSON.parse(command('census.explorer', '--json'));
    const text = command('census.explorer', '--top=0');
    const verdicts = { contended: 'contended', alone: 'one thread', never: 'never', shared: 'shared' };
    for (const { key, title, sites: found } of tables) {
      const expected = report.sites.filter(one => key === 'jdk' ? one.is_platform && one.acquisitions > 0 : !one.is_platform && one.verdict === verdicts[key]);
      const numbers = one => [one.place, one.line, one.kind, one.thread, one.acquisitions, one.threads, one.timed_holds, one.weight, one.hold_ns, one.longest_hold_ns, one.waits, one.waited_ns, one.longest_wait_ns, one.hold_error_ns];
      const same = one => numbers({ ...one, timed_holds: one.timed, hold_ns: one.held, longest_hold_ns: one.longest, waited_ns: one.waited, longest_wait_ns: one.longestWait, hold_error_ns: one.error });
      equal(found.map(same).map(String).sort(), expected.map(numbers).map(String).sort(), title);
      holds(text.includes(`\n${title} (${found.length} of ${found.length})\n`), `the command says ${title} of ${found.length}`);
      for (const one of found) {
        equal(one.mean, one.weight === 0 ? 0 : Math.floor(one.held / one.weight), 'mean hold of ' + one.place);
        holds(one.holds === '' || text.includes(`\n               held ${one.holds}\n`), `the command says '${one.holds}'`);
        for (const owner of one.owners)
          holds(text.includes(`       ${owner}\n`) || text.includes(`behind ${owner}\n`), `the command says '${owner}'`);
        equal(one.owners.length > 0, one.waits > 0, 'owners of ' + one.place);
        holds(one.waitTimes === '' || text.includes(`\n               waited ${one.waitTimes}\n`), `the command says '${one.waitTimes}'`);
        equal(one.objects !== '', one.place.endsWith('Shelf.take'), 'objects of ' + one.place);
        holds(one.objects === '' || text.includes(`\n               for ${one.objects}\n`), `the command says '${one.objects}'`);
        holds(one.follows === '' || text.includes(`\n               ${one.follows}\n`), `the command says '${one.follows}'`);
      }
      /* In the order of the command. */
      const places = text.slice(text.indexOf(`\n${title} (`)).split('\n\n')[1].split('\n').map(line => /(\S+) \([^()]*\)$/.exec(line)?.[1]).filter(Boolean);
      equal(found.map(one => one.place + ':' + one.line), places, 'order of ' + title);
    }
    equal(tables.map(table => [table.key, table.sites.length]), [['contended', 2], ['alone', 4], ['never', 3], ['shared', 2], ['jdk', 2]], 'places');
    equal(lines.length, 2, 'lines');
    for (const [name, line] of lines) {
      holds(text.includes(`  ${name.padEnd(12)} ${line}\n`), `the command says '${line}'`);
      holds((await page.textContent('#locks-about')).includes(line), `the page says '${line}'`);
    }
    holds(lines[0][1].endsWith('; 1 cannot be counted'), 'what could not be counted: ' + lines[0][1]);
    const note = await page.textContent('#locks .note');
    holds(text.replace(/\s+/g, ' ').includes(note), 'how to read it, as the command says it');
    page.calm();
  });
  await check('census: the first question is who waits; each other one is a click away', async () => {
    equal(await shown(page), ['Shelf.take', 'Orders.next'], 'waited at');
    equal(await rowText(page, 'take'), { acquisitions: '52,000', threads: '8', 'mean hold': '250 \u00b5s', 'longest hold': '41.0 ms', waits: '2', waited: '40.0 ms', 'longest wait': '30.0 ms',
      follows: 'held for long: do less while it is held; a read-write lock where most only read' }, 'a place');
    equal((await rowText(page, 'next')).follows, 'many wait for short holds: split it, or use something without a lock', 'what follows');
    await page.screenshot({ path: picture('census') });
    await page.locator('#locks-tables button', { hasText: 'One thread only' }).click();
    equal(await shown(page), ['Cart', 'Pool.borrow'], 'by one thread only');
    equal(await rowText(page, '3 places'), { acquisitions: '1,235,214', thread: '\u2265 1', 'mean hold': '100 ns', 'longest hold': '7.00 \u00b5s', follows: '' }, 'a class');
    holds((await rowText(page, 'borrow')).follows.startsWith('by io alone: if it alone takes this lock elsewhere'), 'what follows');
    await page.locator('#locks-tables button', { hasText: 'Never' }).click();
    equal(await shown(page), ['Registry', 'Cart.all'], 'never');
    holds((await page.textContent('#locks-about .follows')).startsWith('no run comes here'), 'what follows is said once');
    equal(await page.locator('#locks td.number').count(), 0, 'columns without a number');
    await page.goBack();
    await page.waitForFunction(() => window.jaywalk.explorer().locks.table === 'alone');
    page.calm();
  });
  await check('census: a heading sorts, a second time the other way round; a link holds it all', async () => {
    await page.locator('#locks-tables button', { hasText: 'One thread only' }).click();
    const head = text => page.locator('#locks th button', { hasText: text });
    await page.locator('#locks tbody tr', { hasText: '3 places' }).click();
    equal(await shown(page), ['Cart', 'Cart.add', 'Cart.sum', 'Cart.size', 'Pool.borrow'], 'as they come');
    await head('Acquisitions').click();
    equal(await shown(page), ['Cart', 'Cart.add', 'Cart.sum', 'Cart.size', 'Pool.borrow'], 'most acquisitions first');
    await head('Acquisitions').click();
    equal([await shown(page), await page.locator('#locks th[aria-sort]').getAttribute('aria-sort')], [['Pool.borrow', 'Cart', 'Cart.size', 'Cart.sum', 'Cart.add'], 'ascending'], 'fewest first');
    equal(await page.evaluate(() => document.activeElement.dataset.key), 'acquisitions', 'the heading keeps the focus');
    await head('Longest hold').click();
    equal(await shown(page), ['Cart', 'Cart.add', 'Cart.size', 'Cart.sum', 'Pool.borrow'], 'longest hold');
    await head('Where').click();
    equal(await shown(page), ['Pool.borrow', 'Cart', 'Cart.add', 'Cart.size', 'Cart.sum'], 'by name');
    await page.locator('#locks tbody tr[aria-level="2"]', { hasText: 'add' }).click();
    await page.waitForFunction(() => location.hash.includes('open=com.acme.shop.Cart.add'));
    await page.screenshot({ path: picture('census-open') });
    const other = await openExplorer(browser, html, { hash: await page.evaluate(() => location.hash) });
    equal([await shown(other), (await locksOf(other)).table], [['Pool.borrow', 'Cart', 'Cart.add', 'Cart.size', 'Cart.sum'], 'alone'], 'in a fresh page');
    holds((await other.textContent('#locks .details')).includes('Holds123.4 ms in all +- 2.8 %: < 1 us 100.0 %, 1-10 us < 0.1 %'), await other.textContent('#locks .details'));
    holds((await other.textContent('#locks .details')).includes('1,000 were timed, which stand for 1,234,567'), await other.textContent('#locks .details'));
    other.calm();
    await other.close();
    page.calm();
  });
  await check('census: the search leaves places of all questions, by class, method, kind, lock and thread', async () => {
    await page.evaluate(() => { location.hash = '#view=locks'; });
    await page.waitForFunction(() => window.jaywalk.explorer().locks.table === 'contended');
    const counts = () => page.$$eval('#locks-tables b', all => all.map(one => Number(one.textContent)));
    const search = async text => {
      await page.fill('#query', text);
      await page.waitForFunction(wanted => window.jaywalk.state().query === wanted, text);
      return [await counts(), await page.textContent('#found')];
    };
    equal(await search('CART'), [[0, 3, 1, 0, 0], '4 of 13 places'], 'a class');
    holds((await page.textContent('#locks-grid')).includes('0 of 2 places match the search'), 'nothing of this question');
    equal(await search('shop/shelf'), [[1, 0, 0, 1, 0], '2 of 13 places'], 'with a slash');
    equal(await search('worker-1'), [[0, 2, 0, 0, 0], '2 of 13 places'], 'a thread');
    equal(await search('reentrant | stamped'), [[0, 2, 0, 0, 0], '2 of 13 places'], 'kinds');
    equal(await search('pkg:java.util'), [[0, 0, 0, 0, 1], '1 of 13 places'], 'a package');
    equal(await search('="com.acme.shop.Shelf.put"'), [[0, 0, 0, 1, 0], '1 of 13 places'], 'one name exactly');
    equal(await search('basket.fill'), [[0, 0, 0, 0, 1], '1 of 13 places'], 'a caller');
    await page.locator('#locks-tables button', { hasText: 'In the JDK' }).click();
    await page.locator('#locks tbody tr[id]', { hasText: 'add' }).click();
    holds((await page.textContent('#locks .details')).includes('By calls of75.0 % +- 1.2  com.acme.shop.Basket.fill25.0 % +- 1.2  [others]'), await page.textContent('#locks .details'));
    await page.locator('#locks-tables button', { hasText: 'Waited at' }).click();
    equal(await search('-acme'), [[0, 0, 0, 0, 1], '1 of 13 places'], 'all others');
    equal(await search('/Cart\\.(add|all)$/'), [[0, 1, 1, 0, 0], '2 of 13 places'], 'a regular expression');
    equal((await search('/Cart\\.(add/'))[0], [0, 1, 1, 0, 0], 'a broken one keeps the last result');
    equal(await page.getAttribute('#query', 'aria-invalid'), 'true', 'and says so');
    equal(await page.isVisible('#only'), false, 'filters of stacks');
    await press(page, 'Escape');
    equal(await counts(), [2, 4, 3, 2, 2], 'all again');
    page.calm();
  });
  await check('census: all of it by keys', async () => {
    await page.locator('#locks-tables button', { hasText: 'One thread only' }).focus();
    await press(page, 'Enter');
    equal(await page.evaluate(() => document.activeElement.textContent), 'One thread only4', 'the switch keeps the focus');
    await page.focus('#locks-grid');
    const at = async () => { const { rows, at: index } = await locksOf(page); return [index, rows[index].key]; };
    await press(page, 'Home');
    equal(await at(), [0, 'com.acme.shop.Cart'], 'first');
    await press(page, 'ArrowRight');
    equal(await shown(page), ['Cart', 'Cart.add', 'Cart.sum', 'Cart.size', 'Pool.borrow'], 'opened');
    await press(page, 'ArrowRight', 'ArrowDown');
    equal((await at())[0], 2, 'into it');
    await press(page, 'Enter');
    equal(await page.locator('#locks .details').count(), 1, 'what is known of it');
    await page.waitForFunction(() => document.getElementById('spoken').textContent.includes('Cart.sum:99 (ReentrantLock), 640 acquisitions'));
    await press(page, 'ArrowLeft');
    equal(await page.locator('#locks .details').count(), 0, 'closed');
    await press(page, 'ArrowLeft');
    equal((await at())[0], 0, 'back to its class');
    await press(page, 'ArrowLeft', 'End');
    equal([await shown(page), (await at())[1]], [['Cart', 'Pool.borrow'], 'com.acme.io.Pool.borrow:14 StampedLock read'], 'closed, last');
    await press(page, 'PageUp', 'm', 't', 'e', 'i', '+', 'Backspace', 'n', 'x');
    equal([await page.isVisible('#panel'), await page.isVisible('#locks'), (await page.state()).isFlipped, (await page.state()).filters], [false, true, true, []], 'keys of the graph do nothing');
    await press(page, '/');
    await page.keyboard.type('borrow');
    equal(await shown(page), ['Pool.borrow'], 'found');
    await press(page, 'Escape');
    await press(page, 'k');
    equal([await page.isVisible('#locks'), await page.isVisible('#graph'), await page.isVisible('#band')], [false, true, true], 'the graph again');
    await press(page, 'm');
    equal(await page.isVisible('#panel'), true, 'and its keys');
    await press(page, 'm', 'k');
    page.calm();
  });
  await check('census: it is of the whole recording, and says so; a place leads to its stacks and to waits for its lock', async () => {
    await page.evaluate(() => { location.hash = '#t=1000-2000&only=thread:late'; });
    await page.waitForFunction(() => window.jaywalk.state().time !== null);
    await press(page, 'k');
    equal(await page.locator('#locks-about .whole.cut').count(), 1, 'of the whole');
    equal((await locksOf(page)).rows.map(row => row.acquisitions), [52000, 41], 'numbers stay');
    await page.locator('#chips button', { hasText: 'clear all' }).click();
    await press(page, 'k');
    equal(await page.locator('#locks-about .whole.cut').count(), 0, 'of the whole');
    await page.locator('#locks tbody tr[id]', { hasText: 'take' }).click();
    await page.waitForFunction(() => location.hash.includes('open=')); /* what is opened is told a moment later */
    equal(await page.$$eval('#locks .links button', all => all.map(one => one.textContent)), ['Stacks with this method', 'Waits for com.acme.shop.Shelf'], 'links');
    await page.click('#locks .links button >> nth=0');
    equal([await page.total(), await page.isVisible('#locks')], [MS10, false], 'its stacks');
    await page.goBack();
    await page.waitForFunction(() => window.jaywalk.explorer().view === 'locks');
    await page.click('#locks .links button >> nth=1');
    await page.waitForFunction(() => window.jaywalk.explorer().event === 'lock');
    equal(await page.total(), 40000000, 'waits for its lock');
    holds((await page.boxes()).some(box => box.title?.includes('Shelf')), 'and their stacks');
    await page.goBack();
    await page.waitForFunction(() => window.jaywalk.explorer().view === 'locks');
    page.calm();
  });
  await check('census: saved as a table', async () => {
    await press(page, 's');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('[id="save-locks.csv"]')]);
    const lines = fs.readFileSync(await download.path(), 'utf8').trim().split('\n');
    equal([lines.length, lines[0].split(',').slice(0, 3)], [14, ['question', 'place', 'line']], 'lines');
    holds(lines.some(line => /^alone,"?com\.acme\.shop\.Cart\.add"?,88,/.test(line) && line.includes(',1234567,1,1000,1234567,123456700,100,7000,')), 'a line: ' + lines[3]);
    page.calm();
  });
  await page.context().close();
}

async function testCensusScreens(browser) {
  const html = path.join(out, 'census.explorer.html');
  await check('census: dark', async () => {
    const page = await openExplorer(browser, html, { colorScheme: 'dark', ...WIDE, hash: '#view=locks&locks=alone&open=com.acme.shop.Cart&open=com.acme.shop.Cart.add%3A88%20synchronized' });
    equal(await page.evaluate(() => document.documentElement.classList.contains('dark')), true, 'dark');
    await page.screenshot({ path: picture('census-dark') });
    await press(page, 'd');
    equal([await page.evaluate(() => document.documentElement.classList.contains('dark')), await page.isVisible('#locks .details')], [false, true], 'light');
    page.calm();
    await page.context().close();
  });
  await check('census: phone: fits, a finger opens, a list sorts', async () => {
    const page = await openExplorer(browser, html, PHONE);
    await page.tap('#locks-open');
    equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'width of the document');
    await page.screenshot({ path: picture('census-phone') });
    await page.tap('#locks tbody tr[id] >> nth=0');
    await page.screenshot({ path: picture('census-phone-open') });
    holds((await page.textContent('#locks .details')).includes('Holds13.0 s in all, estimated'), await page.textContent('#locks .details'));
    equal(await page.evaluate(() => document.getElementById('locks-grid').scrollWidth <= innerWidth), true, 'rows fit');
    await page.locator('#locks-tables button', { hasText: 'One thread only' }).tap();
    await page.selectOption('#locks-sort', 'where');
    equal(await shown(page), ['Pool.borrow', 'Cart'], 'sorted');
    const targets = await page.$$eval('#locks button, #locks select, #locks tbody tr[id]', all => all.filter(one => one.offsetParent !== null).map(one => one.offsetHeight));
    holds(targets.length > 6 && targets.every(tall => tall >= 44), `touch targets are ${targets}`);
    await page.screenshot({ path: picture('census-phone-alone') });
    page.calm();
    await page.context().close();
  });
}

async function testCensusShapes(browser) {
  await check('census: a recording without one has no page of it, whatever a link says', async () => {
    const html = makePage('nocensus.explorer', timed());
    const page = await openExplorer(browser, html, { ...WIDE, hash: '#view=locks&locks=alone' });
    equal([await page.locator('#locks-open').count(), await page.locator('#locks').count(), (await page.explorer()).locks], [0, 0, null], 'button, section, data');
    equal([await page.isVisible('#graph'), (await page.explorer()).view, await page.locator('#chips button').count()], [true, '', 0], 'the graph');
    await press(page, 'k');
    equal(await page.isVisible('#graph'), true, 'K');
    equal(['c-locks', 'locks-open', 'readCensus', '#locks-grid'].filter(text => fs.readFileSync(html, 'utf8').includes(text)), [], 'what the file has of it');
    page.calm();
    await page.context().close();
  });
  await check('census: hostile names are text, in rows, details, links and the saved table', async () => {
    const list = hostileNames.map((name, i) => site(i % 2 ? name : 'a/B', name, i, name, { thread: name, acquisitions: i % 3, threads: i % 3 }));
    const html = makePage('hostilecensus.explorer', { ...timed(20), extra: census(list) });
    const page = await openExplorer(browser, html, { ...WIDE, hash: '#view=locks&locks=alone' });
    const { tables } = await locksOf(page);
    const report = JSON.parse(command('hostilecensus.explorer', '--json'));
    equal(tables.flatMap(table => table.sites.map(one => [one.place, one.kind, one.thread].join('\n'))).sort(), report.sites.map(one => [one.place, one.kind, one.thread].join('\n')).sort(), 'names');
    for (const table of ['contended', 'alone', 'never', 'shared']) {
      const keys = tables.find(one => one.key === table).sites.flatMap(one => [one.key, one.place.slice(0, one.place.lastIndexOf('.'))]);
      await page.evaluate(([key, open]) => { location.hash = '#' + new URLSearchParams([['view', 'locks'], ['locks', key], ...open.map(one => ['open', one])]); }, [table, keys]);
      await page.waitForFunction(key => window.jaywalk.explorer().locks.table === key, table);
      const rows = (await locksOf(page)).rows.filter(row => !row.sites);
      equal(await page.locator('#locks .details').count(), rows.length, 'details of ' + table);
    }
    equal(await page.$$eval('#locks img, #locks script, #locks b b', all => all.length), 0, 'elements that names made');
    await page.screenshot({ path: picture('census-hostile') });
    page.calm();
    await page.context().close();
  });
  await check('census: a class stands where its sums belong', async () => {
    const of = (owner, method, acquisitions) => site(owner, method, 1, 'monitor', { acquisitions, threads: 1, thread: 'one' });
    const list = [of('a/One', 'x', 90), of('a/Two', 'p', 60), of('a/Two', 'q', 50), of('a/Six', 'x', 100)];
    const page = await openExplorer(browser, makePage('classcensus.explorer', { ...timed(20), extra: census(list) }), { ...WIDE, hash: '#view=locks&open=a.Two' });
    equal(await shown(page), ['Two', 'Two.p', 'Two.q', 'Six.x', 'One.x'], 'rows');
    page.calm();
    await page.context().close();
  });
  await check('census: thousands of places: the first classes are shown, and the search finds the others', async () => {
    const list = Array.from({ length: 6000 }, (_, i) => site('org/many/Class' + i % 1500, 'method' + i, 10, 'monitor', { acquisitions: 6000 - i, threads: 1, thread: 'one' }));
    const page = await openExplorer(browser, makePage('manycensus.explorer', { ...timed(20), extra: census(list) }), { ...WIDE, hash: '#view=locks' });
    equal([(await locksOf(page)).table, (await locksOf(page)).rows.length, (await page.textContent('#locks .more')).startsWith('and 1,300 more')], ['alone', 200, true], 'classes');
    await page.fill('#query', 'method5999');
    await page.waitForFunction(() => window.jaywalk.explorer().locks.rows.length === 1);
    equal(await shown(page), ['Class1499.method5999'], 'found');
    page.calm();
    await page.context().close();
  });
  await check('census: one that was damaged on its way leaves the plain table, and says so', async () => {
    const text = fs.readFileSync(path.join(out, 'census.explorer.html'), 'utf8');
    const at = text.indexOf('>', text.indexOf('id="c-locks"')) + 40;
    const html = path.join(out, 'damagedcensus.explorer.html');
    fs.writeFileSync(html, text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1));
    const page = await openPage(browser, html, { hash: '#view=locks' });
    await page.waitForSelector('#broken:not([hidden])');
    equal([await page.isVisible('#plain table'), await page.isVisible('#locks'), await page.isVisible('#stage')], [true, false, false], 'table, locks, graph');
    await page.close();
  });
}

module.exports = [testCensus, testCensusScreens, testCensusShapes];
