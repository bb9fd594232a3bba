// The waiting room in a real browser: joining, waiting, getting in, with two tabs, after a reload, without JavaScript.
//
//   node tests/server/room_test.mjs AIRLOCK_SERVER [FOLDER]
//
// With FOLDER it also stores there what docs/waiting-room.md shows.

import assert from 'node:assert/strict';
import {randomBytes} from 'node:crypto';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {after} from 'node:test';

import {LONG, accessibilityProblems, openPage, startBrowser, startServer} from '../browser/browser.mjs';

const folder = process.argv[3];
const keys = mkdtempSync(join(tmpdir(), 'airlock-room-'));
after(() => rmSync(keys, {recursive: true}));
writeFileSync(join(keys, 'keys'), `test ${randomBytes(32).toString('base64url')}\n`);
const CONFIG = `
[[room]]
gate = "shop"
limit = 1
ttl = "1h"
site = "Harbour Tickets"
refresh = "2s"
keys = "${join(keys, 'keys')}"
target = "/live"

[[room]]
gate = "soon"
limit = 1
opens_at = "${new Date(Date.now() + 25 * 60_000).toISOString().slice(0, 19)}Z"
order = "priority"
site = "Harbour Tickets"

[[room]]
gate = "over"
limit = 1
ends_at = "2020-01-01T00:00:00Z"
site = "Harbour Tickets"
`;

// A visitor without a browser.
class Visitor {
  constructor(url, gate = 'shop') {
    this.url = `${url}/room/${gate}`;
  }

  async ask(path = '/status', method = 'GET') {
    const answer = await fetch(this.url + path, {method, headers: this.cookie ? {Cookie: this.cookie} : {}});
    const cookie = answer.headers.get('set-cookie');
    if (cookie) this.cookie = cookie.split(';')[0];
    return answer;
  }

  async join() {
    await this.ask();
    return (await this.ask()).json();
  }

  leave() {
    return this.ask('/session', 'DELETE');
  }
}

// `localhost` is a secure context, as a site with TLS is.
async function start(t, options = {}) {
  const server = await startServer(t, {config: CONFIG, ...options});
  server.url = server.url.replace('127.0.0.1', 'localhost');
  return server;
}

async function enter(server) {
  const visitor = new Visitor(server.url);
  assert.equal((await visitor.join()).state, 'admitted');
  return visitor;
}

const state = (page, wanted) => page.waitForSelector(`main[data-state="${wanted}"]`, {timeout: LONG});
const text = (page, name) => page.textContent(`[data-room="${name}"]`);

async function shot(page, name) {
  if (!folder) return;
  await page.evaluate(() => document.getAnimations().forEach(each => { each.currentTime = 900; each.pause(); }));
  await page.screenshot({path: join(folder, `room-${name}.png`)});
}

const browser = await startBrowser({after});
const arrival = page => page.waitForURL(url => url.pathname === '/live', {timeout: LONG});

test('a visitor joins, sees the position fall and gets in by itself', async t => {
  const server = await start(t);
  const inside = await enter(server);
  const ahead = new Visitor(server.url);
  await ahead.join();
  const {page, wrongs} = await openPage(browser, {viewport: {width: 640, height: 600}});
  const violations = [];
  await page.exposeFunction('report', value => violations.push(value));
  await page.addInitScript(() => addEventListener('securitypolicyviolation', each => globalThis.report(each.violatedDirective)));
  await page.goto(`${server.url}/room/shop?to=/live?a=1&b=2`);
  await state(page, 'waiting');
  assert.equal(await text(page, 'position'), '2');
  assert.equal(await text(page, 'ahead'), '1');
  assert.deepEqual(await accessibilityProblems(page), []);
  assert.equal(await page.title(), '2 · Waiting room');
  await inside.leave();
  await page.waitForFunction(() => document.querySelector('[data-room="position"]').textContent === '1');
  assert.equal(await text(page, 'headline'), 'You are next');
  assert.equal(await page.locator('[role="status"]').textContent() !== '', true);
  await ahead.ask();  // Claims.
  await ahead.leave();
  await state(page, 'admitted');
  assert.equal(await page.title(), 'It is your turn · Waiting room');
  assert.deepEqual(await accessibilityProblems(page), []);
  await shot(page, 'admitted');
  await arrival(page);
  assert.equal(new URL(page.url()).search, '?a=1&b=2');
  const cookies = await page.context().cookies();
  assert.equal(cookies.length, 1);
  assert.deepEqual([cookies[0].secure, cookies[0].httpOnly, cookies[0].sameSite], [true, true, 'Lax']);
  assert.match(cookies[0].value, /!airlock2~p~/);
  assert.deepEqual([wrongs, violations], [[], []]);
});

test('a reload, a second tab and a return keep the place; a page that is closed is passed over', async t => {
  const server = await start(t);
  const inside = await enter(server);
  const {page, context} = await openPage(browser);
  const url = `${server.url}/room/shop`;
  await page.goto(url);
  await state(page, 'waiting');
  const later = new Visitor(server.url);
  assert.equal((await later.join()).position, 2);
  await page.reload();
  await state(page, 'waiting');
  assert.equal(await text(page, 'position'), '1');
  const second = await context.newPage();
  await second.goto(url);
  await state(second, 'waiting');
  assert.equal(await text(second, 'position'), '1');
  await second.close();
  await page.close();
  const line = async () => (await server.ask('GET', '/v1/gates/shop')).body.line;
  while ((await line())[0].present) ;
  const again = await context.newPage();
  await again.goto(url);
  await state(again, 'waiting');
  assert.equal(await text(again, 'position'), '1');
  await inside.leave();
  await state(again, 'admitted');
  await arrival(again);
  await again.goto(url);  // In already: straight through.
  assert.equal(new URL(again.url()).pathname, '/live');
});

test('without JavaScript the page reloads itself and gets in', async t => {
  const server = await start(t);
  const inside = await enter(server);
  const {page, wrongs} = await openPage(browser, {javaScriptEnabled: false});
  await page.goto(`${server.url}/room/shop?to=/live`);
  await state(page, 'waiting');
  assert.match(await page.textContent('.note'), /reloads every 2 seconds/);
  assert.equal(await text(page, 'position'), '1');
  await inside.leave();
  await arrival(page);
  assert.deepEqual(wrongs, []);
});

test('a browser that keeps no cookie takes no place', async t => {
  const server = await start(t);
  const {page, context} = await openPage(browser);
  const answerWithoutCookie = async route => {
    const request = route.request();
    const answer = await fetch(request.url(), {headers: {Accept: await request.headerValue('accept')}});
    const headers = Object.fromEntries(answer.headers);
    delete headers['set-cookie'];
    await route.fulfill({status: answer.status, headers, body: await answer.text()});
  };
  let isOver = false;  // The page goes on asking while the test ends, and the server with it.
  await context.route('**/room/shop**', route => answerWithoutCookie(route).catch(error => {
    if (!isOver) throw error;
  }));
  await page.goto(`${server.url}/room/shop?back=1`, {waitUntil: 'domcontentloaded'});
  await state(page, 'cookies');
  assert.equal(await text(page, 'headline'), 'Please allow cookies');
  await page.waitForResponse(answer => new URL(answer.url()).pathname.endsWith('/status'));
  await state(page, 'cookies');
  assert.deepEqual((await server.ask('GET', '/v1/gates')).body, []);
  isOver = true;
});

test('the server is killed and started again: the page finds its place', async t => {
  const store = `shm:room?dir=${keys}`;
  const first = await start(t, {store});
  const keeper = await enter(first);
  const {page} = await openPage(browser);
  await page.goto(`${first.url}/room/shop`);
  await state(page, 'waiting');
  await first.stop('SIGKILL');
  await page.waitForSelector('main[data-lost]', {state: 'attached'});
  const second = await start(t, {store, port: first.port});
  await page.waitForSelector('main:not([data-lost])', {state: 'attached'});
  assert.equal(await text(page, 'position'), '1');
  await keeper.leave();
  await arrival(page);
});

test('light, dark and narrow; every state is accessible', async t => {
  const server = await start(t);
  let inside = await enter(server);
  const others = [];
  for (let i = 0; i < 42; ++i) others.push(new Visitor(server.url));
  for (const each of others) await each.join();
  const viewport = {width: 640, height: 600};
  const phone = {viewport: {width: 320, height: 620}, deviceScaleFactor: 1, locale: 'de-DE'};
  const views = {
    'waiting': {viewport},
    'waiting-dark': {viewport, colorScheme: 'dark'},
    'waiting-phone': phone,
  };
  const pages = {};
  for (const [name, options] of Object.entries(views)) {
    pages[name] = (await openPage(browser, options)).page;
    await pages[name].goto(`${server.url}/room/shop`);
    await state(pages[name], 'waiting');
  }
  // People come in, so that the wait is known.
  for (const each of others.slice(0, 5)) {
    await inside.leave();
    while ((await (await each.ask()).json()).state !== 'admitted') ;
    inside = each;
    await new Promise(done => setTimeout(done, folder ? 4000 : 50));
  }
  for (const [name, page] of Object.entries(pages)) {
    await page.waitForFunction(() => !/Not known|Noch nicht/.test(document.querySelector('[data-room="wait"]').textContent));
    assert.deepEqual(await accessibilityProblems(page), [], name);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, name);
    await page.bringToFront();
    await shot(page, name);
  }
  await server.ask('PUT', '/v1/gates/shop/pause', {for: '1h'});
  await state(pages.waiting, 'paused');
  assert.deepEqual(await accessibilityProblems(pages.waiting), []);
  await shot(pages.waiting, 'paused');
  for (const [gate, name] of [['over', 'ended'], ['soon', 'early']]) {
    const {page} = await openPage(browser, {viewport});
    await page.goto(`${server.url}/room/${gate}`);
    await state(page, name);
    assert.deepEqual(await accessibilityProblems(page), [], name);
    await shot(page, name);
  }
});
