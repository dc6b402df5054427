/*
 * compare_test - pages that compare two profiles, what they save, and that each cut of the page has the sums that the
 * command prints for it.
 */
'use strict';
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');
const { check, equal, holds, makePage, openPage, openExplorer, out } = require('./harness.js');
const { known, timed, twins, hostile, java, native, MS10 } = require('./profiles.js');

const picture = name => path.join(out, name + '.png');
const DESKTOP = { viewport: { width: 1280, height: 800 } };

/* After `known`: parse is new, Io.write is gone, run has more of it; the rest is as it was. */
const later = {
  stacks: [
    { frames: [java('com/acme/Main', 'main', 'Interpreted'), java('com/acme/Work', 'run'), java('java/util/HashMap', 'get', 'Inlined')], weight: 60 * MS10 },
    { frames: [java('com/acme/Main', 'main', 'Interpreted'), java('com/acme/Work', 'run')], weight: 80 * MS10 },
    { frames: [java('com/acme/Main', 'main', 'Interpreted'), java('com/acme/Parse', 'read')], weight: 30 * MS10 },
    { frames: [native('libc.so.6', 'start_thread'), native('libjvm.so', 'GCTaskThread::run()')], weight: 30 * MS10, thread: 'GC Thread#0' },
  ],
  counters: { signals: 200, samples: 200 },
};

/* Each stack as so many samples of a millisecond: what differs is more than chance. */
const finely = ({ stacks, counters }) => ({
  stacks: stacks.flatMap(stack => Array.from({ length: stack.weight / MS10 * 10 }, () => ({ ...stack, weight: MS10 / 10 }))), counters,
});

/* {stack: value} of collapsed lines. */
function sumsOfLines(text) {
  const sums = {};
  for (const line of text.split('\n').filter(one => one !== '')) {
    const at = line.lastIndexOf(' ');
    sums[line.slice(0, at)] = (sums[line.slice(0, at)] || 0) + Number(line.slice(at + 1));
  }
  return Object.entries(sums).sort();
}

/* What the command prints for a cut of a recording. */
function printed(jfr, ...options) {
  const file = path.join(out, 'printed.collapsed');
  execFileSync(process.env.JW_COMMAND, ['convert', '--quiet', '--total', ...options, path.join(out, jfr), file]);
  return sumsOfLines(fs.readFileSync(file, 'utf8'));
}

/* What a button of the page saves. */
async function saved(page, ending) {
  await page.keyboard.press('s');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-' + ending)]);
  const file = path.join(out, 'saved.' + ending);
  await download.saveAs(file);
  return fs.readFileSync(file, ending === 'png' ? null : 'utf8');
}

/*
 * The same text, taken from the page before the browser gets it: a browser that is asked for more than ten downloads in a
 * second lets the eleventh fall.
 */
async function savedText(page, ending) {
  await page.evaluate(() => {
    const make = URL.createObjectURL.bind(URL);
    window.made = null;
    URL.createObjectURL = blob => make(window.made = blob);
    HTMLAnchorElement.prototype.click = () => {};
  });
  await page.keyboard.press('s');
  await page.click('#save-' + ending);
  await page.waitForFunction(() => window.made !== null);
  return page.evaluate(() => window.made.text());
}

const changeOf = async (page, title) => page.evaluate(node => window.jaywalk.change(node), (await page.box(title)).node);

async function testCompare(browser) {
  makePage('known', known);
  makePage('before', finely(known));
  const html = makePage('diff', finely(later), '--diff', path.join(out, 'before.jfr'));

  await check('compare: a page of two profiles has shares of both, and draws those of the later one', async () => {
    const page = await openPage(browser, html, DESKTOP);
    equal(await page.evaluate(() => window.jaywalk.other()), { name: 'before.jfr', total: 100 * MS10 }, 'the baseline');
    equal((await page.box('all')).total, 200 * MS10, 'width');
    const run = await changeOf(page, 'com/acme/Work.run');
    equal([Math.round(run.change * 1e6), run.before, run.isSure], [100000, 60 * MS10, true], 'of 60 to 70 %');
    const read = await changeOf(page, 'com/acme/Parse.read');
    equal([Math.round(read.change * 1e6), read.before, read.part], [150000, 0, 1], 'new');
    const thread = await changeOf(page, 'start_thread');
    equal([Math.abs(thread.change) < 1e-12, thread.isSure], [true, false], 'as it was');
    holds((await page.textContent('#legend')).includes('35.0 % of the baseline is gone'), await page.textContent('#legend'));
    await page.keyboard.press('m');
    const row = page.locator('#panel tbody tr', { hasText: 'Io.write' });
    equal(await row.locator('td').nth(2).textContent(), '-15.0', 'what is gone stands in the table');
    await page.screenshot({ path: picture('diff') });
    await page.keyboard.press('m');
    page.calm();
    await page.context().close();
  });
  await check('compare: P compares amounts, W draws the baseline, B leaves it; a link has it all', async () => {
    const page = await openPage(browser, html, DESKTOP);
    await page.keyboard.press('p');
    equal((await changeOf(page, 'com/acme/Work.run')).change, 80 * MS10, 'amount');
    await page.keyboard.press('w');
    equal((await page.box('all')).total, 100 * MS10, 'width of the baseline');
    equal((await changeOf(page, 'com/acme/Work.run')).change, 80 * MS10, 'the same change');
    equal((await changeOf(page, 'com/acme/Io.write')).change, -15 * MS10, 'what is gone is drawn');
    await page.screenshot({ path: picture('diff-baseline') });
    const hash = await page.evaluate(() => location.hash);
    const other = await openPage(browser, html, { ...DESKTOP, hash });
    equal((await changeOf(other, 'com/acme/Io.write')).change, -15 * MS10, 'in a fresh page');
    await other.context().close();
    await page.keyboard.press('b');
    equal(await page.evaluate(() => window.jaywalk.change(0)), null, 'no comparison');
    equal((await page.box('all')).total, 200 * MS10, 'width');
    page.calm();
    await page.context().close();
  });
  await check('compare: filters of frames hold for both sides; dark and phone', async () => {
    const page = await openPage(browser, html, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, hasTouch: true, isMobile: true, colorScheme: 'dark', hash: '#f=only:Work.run' });
    const run = await changeOf(page, 'com/acme/Work.run');
    equal([run.before, run.shareBefore, run.change], [60 * MS10, 1, 0], 'all of both');
    equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'width of the document');
    await page.screenshot({ path: picture('diff-phone') });
    page.calm();
    await page.context().close();
  });
  await check('compare: with a file: collapsed stacks, a flame graph, an explorer; what is none says so', async () => {
    const explorer = makePage('known.explorer', known);
    const collapsed = path.join(out, 'known.collapsed');
    execFileSync(process.env.JW_COMMAND, ['convert', '--quiet', '--total', '--dot', '-a', path.join(out, 'known.jfr'), collapsed]);
    fs.writeFileSync(path.join(out, 'broken.txt'), 'no stack\n');
    makePage('later', later);
    const page = await openPage(browser, path.join(out, 'later.html'), DESKTOP);
    for (const file of [collapsed, path.join(out, 'known.html'), explorer]) {
      await page.click('#compare');
      await page.setInputFiles('#compare-file', file);
      await page.waitForFunction(name => window.jaywalk.other()?.name === name, path.basename(file));
      const run = await changeOf(page, 'com/acme/Work.run');
      equal([Math.round(run.change * 1e6), run.before], [100000, 60 * MS10], path.basename(file));
      equal((await changeOf(page, 'GCTaskThread::run()')).before, 15 * MS10, path.basename(file));
    }
    await page.click('#compare');
    await page.setInputFiles('#compare-file', path.join(out, 'broken.txt'));
    await page.waitForFunction(() => document.getElementById('dialog').textContent.includes('line 1 is no stack'));
    await page.keyboard.press('Escape');
    await page.click('#compare');
    await page.setInputFiles('#compare-file', path.join(out, 'known.jfr'));
    await page.waitForFunction(() => document.getElementById('dialog').textContent.includes('it is a recording'));
    page.calm();
    await page.context().close();
  });
  await check('compare: an explorer with a baseline, and a hostile one', async () => {
    const page = await openExplorer(browser, makePage('diff.explorer', finely(later), '--diff', path.join(out, 'before.jfr')), DESKTOP);
    equal((await changeOf(page, 'com/acme/Work.run')).before, 60 * MS10, 'before');
    await page.keyboard.press('c');
    const get = await changeOf(page, 'java/util/HashMap.get');
    equal([get.before, Math.round(get.change * 1e6)], [40 * MS10, -100000], 'of callers');
    await page.screenshot({ path: picture('diff-explorer') });
    page.calm();
    await page.context().close();
    makePage('hostile', hostile, '--threads');
    const bad = await openPage(browser, makePage('diff-hostile', known, '--diff', path.join(out, 'hostile.jfr')), DESKTOP);
    await bad.keyboard.press('w');
    await bad.keyboard.press('m');
    equal(await bad.evaluate(() => document.querySelectorAll('img, iframe, object, embed, link[rel=stylesheet]').length), 0, 'elements');
    equal(await bad.evaluate(() => window.jaywalk.boxes().length > 10), true, 'boxes of hostile names');
    bad.calm();
    await bad.context().close();
  });
}

async function testSave(browser) {
  await check('save: stacks equal those of the command, of a filtered and zoomed view too', async () => {
    const page = await openPage(browser, makePage('known', known), DESKTOP);
    equal(sumsOfLines(await saved(page, 'collapsed')), printed('known.jfr'), 'all');
    await page.fill('#query', 'HashMap');
    await page.click('#only');
    equal(sumsOfLines(await saved(page, 'collapsed')), printed('known.jfr', '--include=*HashMap*'), 'only');
    await page.clickBox('com/acme/Work.run');
    equal(sumsOfLines(await saved(page, 'collapsed')), printed('known.jfr', '--include=*HashMap*'), 'zoomed: all stacks go through it');
    page.calm();
    await page.context().close();
  });
  await check('save: methods as CSV, the graph as SVG and PNG', async () => {
    const page = await openPage(browser, makePage('hostile', hostile, '--threads'), DESKTOP);
    const rows = (await saved(page, 'csv')).split('\n');
    equal(rows[0], 'method,self_ns,total_ns,self_share,total_share', 'head');
    holds(rows.includes('"a.B.root",0,1360000000,0.000000,1.000000'), rows[1]);
    holds(rows.some(row => row.startsWith('"quote\'s ""both"" ')), 'quotes are doubled');
    const svg = await saved(page, 'svg');
    const sum = await page.evaluate(text => {
      const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
      return [parsed.querySelectorAll('parsererror, script, image, foreignObject').length, parsed.querySelectorAll('g').length, parsed.querySelectorAll('a, img').length];
    }, svg);
    equal([sum[0], sum[2]], [0, 0], 'it is a drawing, and no more');
    holds(sum[1] === (await page.boxes()).length, `boxes: ${sum[1]}`);
    fs.writeFileSync(path.join(out, 'saved-known.png'), await saved(page, 'png'));
    const png = fs.readFileSync(path.join(out, 'saved-known.png'));
    equal([png.subarray(1, 4).toString(), png.readUInt32BE(16)], ['PNG', 1600], 'picture');
    holds(png.readUInt32BE(20) > 60, 'its height');
    page.calm();
    await page.context().close();
  });
}

/* Each cut that the page and the command both know: the same stacks with the same sums. */
async function testCuts(browser) {
  const html = makePage('timed.explorer', timed());
  const worker = /^worker-1 /;
  const cuts = {
    'from and to': ['#t=1000-2500', ['--from=1s', '--to=2500ms']],
    'from': ['#t=4250-5000', ['--from=4250ms']],
    'thread': ['#only=thread:THREAD', ['--thread=worker-1']],
    'state': ['#only=state:sleeping', ['--state=sleeping']],
    'endpoint': ['#only=endpoint:GET+%2Fa', ['--endpoint=GET /a']],
    'attribute': ['#only=attribute.tenant:acme', ['--attribute=tenant=acme']],
    'two attributes': ['#only=attribute.tenant:acme&only=attribute.tenant:initech', ['--attribute=tenant=acme', '--attribute=tenant=initech']],
    'frame': ['#f=only:compute', ['--include=*compute*']],
    'without a frame': ['#f=without:compute', ['--exclude=*compute*']],
    'all together': ['#t=500-4500&only=thread:THREAD&only=state:running&only=endpoint:GET+%2Fb&only=attribute.tenant:initech&f=only:parse&f=without:Leaf.m1',
      ['--from=500ms', '--to=4500ms', '--thread=worker-1', '--state=running', '--endpoint=GET /b', '--attribute=tenant=initech', '--include=*parse*', '--exclude=*Leaf.m1*']],
  };
  await check('cuts: each filter of the explorer leaves what the command prints for it', async () => {
    const page = await openExplorer(browser, html, DESKTOP);
    const thread = (await page.explorer()).columns.find(column => column.key === 'thread').values.find(name => worker.test(name));
    equal(sumsOfLines(await savedText(page, 'collapsed')), printed('timed.explorer.jfr'), 'all');
    for (const [name, [hash, options]] of Object.entries(cuts)) {
      await page.evaluate(text => { location.hash = text; }, hash.replace('THREAD', encodeURIComponent(thread)));
      await page.waitForFunction(text => location.hash === text, hash.replace('THREAD', encodeURIComponent(thread)));
      await page.evaluate(() => new Promise(resolve => requestAnimationFrame(resolve)));
      const expected = printed('timed.explorer.jfr', ...options);
      holds(expected.length > 0, `${name}: nothing is left`);
      equal(sumsOfLines(await savedText(page, 'collapsed')), expected, name);
      const samples = expected.reduce((sum, [, value]) => sum + value, 0) / MS10;
      equal((await page.explorer()).count, samples, `${name}: samples`);
      holds((await page.textContent('#band-about')).includes(`${samples.toLocaleString('en-US')} samples`), `${name}: ${await page.textContent('#band-about')}`);
    }
    page.calm();
    await page.context().close();
  });
  await check('cuts: shares of a facet are of what filters of frames leave', async () => {
    const page = await openExplorer(browser, html, { ...DESKTOP, hash: '#f=only:flush' });
    await page.keyboard.press('e');
    equal(await page.locator('#facets li', { hasText: 'late tid' }).locator('.share').textContent(), '100 %', 'all of it ran in one thread');
    await page.context().close();
  });
  await check('cuts: links to what this profile has not: a filter of nothing says so, a broken one is left', async () => {
    const page = await openExplorer(browser, html, { ...DESKTOP, hash: '#only=attribute.nobody:x' });
    equal(await page.total(), 0, 'no sample has it');
    await page.context().close();
    const plain = await openPage(browser, path.join(out, 'known.html'), { ...DESKTOP, hash: '#f=only:%2F(%2F&f=hide:zzz.yyy' });
    equal((await plain.box('all')).total, 100 * MS10, 'a broken expression filters nothing, an unknown frame hides nothing');
    holds((await plain.textContent('#chips')).includes('has not'), 'and says so');
    const run = (await plain.box('com/acme/Work.run')).node;
    holds(run > 0, 'Work.run is there');
    plain.calm();
    await plain.context().close();
  });
}

/* Frames that read the same, side by side. */
async function testTwins(browser) {
  await check('frames that read alike stay apart: zoom, search by exact name, names with a bar', async () => {
    const page = await openPage(browser, makePage('twins', twins), DESKTOP);
    const boxes = (await page.boxes()).filter(box => box.title === 'read');
    equal(boxes.map(box => box.total / MS10).sort(), [10, 20], 'two functions');
    const second = boxes.at(-1);
    await page.mouse.click(second.x + 20, second.y + 5);
    await page.still();
    equal((await page.box('all')).width > 0 && (await page.state()).view.to - (await page.state()).view.from, second.total, 'the one that was clicked');
    await page.click('#reset');
    await page.fill('#query', '="a.b.c"');
    equal((await page.state()).matches, { names: 1, places: 1, total: 5 * MS10, self: 5 * MS10 }, 'a.b.c is not a.B.c');
    await page.fill('#query', '="operator | (x)"');
    equal((await page.state()).matches.total, 7 * MS10, 'a bar in a name');
    await page.fill('#query', '="a.b.c" | ="a.B.c"');
    equal((await page.state()).matches.total, 11 * MS10, 'either');
    page.calm();
    await page.context().close();
  });
}

async function testLambdas(browser) {
  const withLambda = number => ({ stacks: [{ frames: [java('a/Main', 'main'), java('a/Main$$Lambda/0x' + number, 'run'), java('a/Work', 'do')], weight: 500 * MS10 }] });
  const share = page => page.evaluate(() => window.jaywalk.change(window.jaywalk.boxes().find(box => box.title === 'a/Work.do').node).shareBefore);
  await check('compare: a lambda that has another number in each run is one, by --diff and in files that are opened', async () => {
    makePage('lambda-before', withLambda('0000f1'));
    const page = await openPage(browser, makePage('lambda', withLambda('0000a2'), '--diff', path.join(out, 'lambda-before.jfr')));
    equal(await share(page), 1, 'share of the baseline');
    await page.close();
    const alone = await openPage(browser, makePage('lambda-alone', withLambda('0000a2')));
    await alone.click('#compare');
    await alone.setInputFiles('#compare-file', path.join(out, 'lambda-before.html'));
    await alone.waitForFunction(() => window.jaywalk.other() !== null);
    equal(await share(alone), 1, 'share of the file');
    alone.calm();
    await alone.close();
  });
}

module.exports = [testLambdas, testCompare, testSave, testCuts, testTwins];
