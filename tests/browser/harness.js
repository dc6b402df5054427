/* harness - a browser, pages made by the command, and lines of results. */
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { execFileSync } = require('child_process');
const { chromium } = require('playwright-core');
const { writeRecording } = require('./recording.js');

const out = path.resolve(process.env.JW_OUT);
const PATIENCE_MS = Number(process.env.JW_PATIENCE_MS || 300000); /* a guard against what hangs: the machine may be busy */
let failures = 0;

/* Runs one test; what it throws is its failure. */
async function check(name, body) {
  try {
    await body();
    console.log(`ok browser: ${name}`);
  } catch (wrong) {
    failures++;
    console.log(`not ok browser: ${name}: ${String(wrong.stack || wrong).split('\n').slice(0, 3).join(' | ')}`);
  }
}

function equal(found, expected, what = 'value') {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b)
    throw new Error(`${what} is ${a}, not ${b}`);
}

function holds(condition, what) {
  if (!condition)
    throw new Error(what);
}

/* Makes a recording and converts it; the path of the page. */
function makePage(name, recording, ...options) {
  const jfr = path.join(out, name + '.jfr');
  const html = path.join(out, name + '.html'); /* x.explorer: the explorer page */
  writeRecording(jfr, recording);
  execFileSync(process.env.JW_COMMAND, ['convert', '--quiet', ...options, jfr, html]);
  return html;
}

async function openBrowser() {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'jaywalk-browser-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.JW_CHROMIUM, headless: true, viewport: { width: 1280, height: 800 }, timeout: PATIENCE_MS,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  return { browser, profile };
}

/*
 * A page from file://, watched: every request but the page itself, every error and every violation
 * of its policy is noted, and `calm` throws when there was one.
 */
async function openPage(browser, html, { hash = '', ...more } = {}) {
  const context = Object.keys(more).length > 0 ? await browser.browser().newContext(more) : browser;
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const noted = [];
  page.on('pageerror', error => noted.push('error: ' + error.message));
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning')
      noted.push('console: ' + message.text());
  });
  page.on('dialog', dialog => { noted.push('dialog: ' + dialog.message()); dialog.dismiss(); });
  page.on('request', request => {
    if (!request.url().startsWith('file://' + html) && !request.url().startsWith('data:') && !request.url().startsWith('blob:'))
      noted.push('request: ' + request.url());
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', event => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI));
  });
  await page.goto('file://' + html + hash);
  return Object.assign(page, {
    calm: () => equal(noted, [], 'what the page did wrong'),
    noted,
    boxes: () => page.evaluate(() => window.jaywalk.boxes()),
    state: () => page.evaluate(() => window.jaywalk.state()),
    still: () => page.waitForFunction(() => !window.jaywalk.state().isMoving),
    /* The browser tells of steps in its history when it gets to it. */
    async zoomedTo(title) {
      await page.waitForFunction(wanted => window.jaywalk.state().zoomTitle === wanted, title);
      await this.still();
    },
    async box(title) {
      const found = (await this.boxes()).find(box => box.title === title);
      holds(found, `no box of ${title}`);
      return found;
    },
    async clickBox(title, options) {
      const { x, y, width, height } = await this.box(title);
      await page.mouse.click(x + Math.min(width / 2, 40), y + height / 2, options);
      await this.still();
    },
  });
}

/* An explorer page, once its samples are there. */
async function openExplorer(browser, html, more = {}) {
  const page = await openPage(browser, html, more);
  await page.waitForFunction(() => window.jaywalk && window.jaywalk.isReady());
  return Object.assign(page, {
    explorer: () => page.evaluate(() => window.jaywalk.explorer()),
    total: () => page.evaluate(() => document.querySelector('h1') && window.jaywalk.boxes()[0]?.total || 0),
    /* Drags over the timeline, from one share of its width to another. */
    async drag(from, to, keys = []) {
      const { x, y, width } = await page.locator('#band-canvas').boundingBox();
      for (const key of keys)
        await page.keyboard.down(key);
      await page.mouse.move(x + width * from, y + 20);
      await page.mouse.down();
      await page.mouse.move(x + width * (from + to) / 2, y + 30);
      await page.mouse.move(x + width * to, y + 25);
      await page.mouse.up();
      for (const key of keys)
        await page.keyboard.up(key);
    },
  });
}

/* Share of pixels of a picture of the canvas that are not the colour of its upper left corner. */
async function inkOf(page) {
  return page.evaluate(() => {
    const canvas = document.getElementById('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const pixels = new Uint32Array(data.buffer);
    const style = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
    const empty = (0xff000000 | style[2] << 16 | style[1] << 8 | style[0]) >>> 0;
    return pixels.reduce((sum, pixel) => sum + (pixel !== empty), 0) / pixels.length;
  });
}

module.exports = { check, equal, holds, makePage, openBrowser, openPage, openExplorer, inkOf, out, failures: () => failures };
