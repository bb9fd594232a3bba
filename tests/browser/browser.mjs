// What the browser tests share: an airlock-server of their own, Debian's chromium, and a record of what pages must not do.
//
//   node tests/server/dashboard_test.mjs AIRLOCK_SERVER
//
// AIRLOCK_NODE_MODULES names the folder with what package-lock.json lists; ctest sets it.

import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

export const source = fileURLToPath(new URL('../..', import.meta.url));
export const modules = process.env.AIRLOCK_NODE_MODULES ?? join(source, 'build/npm/browser/node_modules');
const require = createRequire(join(modules, 'x.js'));
const {chromium} = require('playwright-core');

// For what must happen, on a machine that does much else.
export const LONG = 1000 * Number(process.env.AIRLOCK_TEST_LONG ?? 120);

// Starts a server at a free port of 127.0.0.1. `t` is the context of a test of node:test, with which the server ends.
//
//   const server = await startServer(t, {store: 'memory:', config: '[[gate]]\nmatch = "*"\nlimit = 3\n'});
//   await server.ask('POST', '/v1/gates/erp/admit', {limit: 3});
export async function startServer(t, {binary = process.argv[2], store = 'memory:', config = '', port = 0, args = []} = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'airlock-browser-'));
  const options = ['--store', store, '--listen', `tcp:127.0.0.1:${port}`, ...args];
  if (config) {
    writeFileSync(join(folder, 'airlock.toml'), config);
    options.push('--config', join(folder, 'airlock.toml'));
  }
  const process_ = spawn(resolve(binary), options, {stdio: ['ignore', 'pipe', 'inherit']});
  const ended = new Promise(done => process_.once('exit', done));
  const stop = async (signal = 'SIGTERM') => {
    if (process_.exitCode === null && process_.signalCode === null) process_.kill(signal);
    return ended;
  };
  t.after(async () => {
    await stop('SIGKILL');
    rmSync(folder, {recursive: true});
  });
  const line = await new Promise((done, fail) => {
    let text = '';
    process_.stdout.on('data', data => (text += data).includes('\n') && done(text));
    ended.then(status => fail(new Error(`the server ended with ${status}: ${text}`)));
  });
  const url = `http://127.0.0.1:${/tcp:127\.0\.0\.1:(\d+)/.exec(line)[1]}`;
  return {url, port: Number(new URL(url).port), process: process_, stop, ask: (...call) => ask(url, ...call)};
}

// One call; the answer's status, headers and body, parsed where it is JSON.
export async function ask(url, method, path, body) {
  const answer = await fetch(url + path, {
    method,
    headers: body === undefined ? {} : {'Content-Type': 'application/json'},
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  const isJson = /json/.test(answer.headers.get('content-type') ?? '');
  return {status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text};
}

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];

// Ends with the test.
export async function startBrowser(t) {
  const browser = await chromium.launch({
    executablePath: process.env.AIRLOCK_CHROMIUM ?? '/usr/bin/chromium', args: FLAGS, timeout: LONG});
  t.after(() => browser.close());
  return browser;
}

// A page in a context of its own. `wrongs` lists what no page may do: errors, violations of its Content-Security-Policy,
// requests to other hosts. `options` are those of browser.newContext().
export async function openPage(browser, options = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(LONG);
  const page = await context.newPage();
  const wrongs = [];
  page.on('pageerror', error => wrongs.push(`error: ${error.stack ?? error}`));
  page.on('console', message => {
    if (/Content Security Policy/i.test(message.text())) wrongs.push(`CSP: ${message.text()}`);
  });
  context.on('request', request => {
    const {protocol, hostname} = new URL(request.url());
    if (!['data:', 'blob:', 'about:'].includes(protocol) && !['127.0.0.1', 'localhost'].includes(hostname)) {
      wrongs.push(`leaves the host: ${request.url()}`);
    }
  });
  return {page, context, wrongs};
}

// What axe-core finds wrong with the page as it is now; [] is clean. It is put in past the page's CSP, by the debugger.
export async function accessibilityProblems(page) {
  await page.evaluate(readFileSync(join(modules, 'axe-core/axe.min.js'), 'utf8'));
  const found = await page.evaluate(() => globalThis.axe.run());
  return found.violations.map(({id, impact, help, nodes}) =>
    `${id} (${impact}): ${help}: ${nodes.slice(0, 3).map(each => each.html + ' ' + (each.any[0]?.message ?? '')).join(' | ')}`);
}
