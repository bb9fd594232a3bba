// The dashboard in Debian's chromium: what it shows is what happens, what it offers works, and what others call themselves
// is text.

import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {copyFileSync, mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {createServer, request} from 'node:http';
import {connect} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {after, before} from 'node:test';
import {promisify} from 'node:util';

import {LONG, accessibilityProblems, modules, openPage, source, startBrowser, startServer} from '../browser/browser.mjs';

const cleanups = [];
const whole = {after: cleanup => cleanups.unshift(cleanup)};
const DESKTOP = {viewport: {width: 1280, height: 860}};
const HOSTILE = ['<img src=x onerror="document.title=\'owned\'">', '\u202egnol\u202d <script>alert(1)</script>', `${'W'.repeat(40)}"'&`];
const LONG_NAME = `a-${'very-'.repeat(37)}longer.gate.1`;  // 200 bytes.

/** @type {Awaited<ReturnType<typeof startBrowser>>} */ let browser;
/** @type {Awaited<ReturnType<typeof startServer>>} */ let server;

/** @type {Promise<unknown>} */ let types;

before(async () => {
  types = checkTypes();
  types.catch(() => {});  // Its test says so.
  browser = await startBrowser(whole);
  server = await startServer(whole);
});
after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

// A page of `server`, which must be clean when `look` is done.
async function withPage(path, look, options = DESKTOP) {
  const {page, context, wrongs} = await openPage(browser, options);
  try {
    await page.goto((path.startsWith('http') ? '' : server.url) + path);
    await look(page);
    assert.deepEqual(wrongs, []);
  } finally {
    await context.close();
  }
}

const admit = (gate, body) => server.ask('POST', `/v1/gates/${gate}/admit`, {ttl: '1h', ...body});
const show = async gate => (await server.ask('GET', `/v1/gates/${gate}`)).body;
const rowOf = (page, gate) => page.locator('.rows .row:not([hidden])').filter({has: page.getByRole('link', {name: gate, exact: true})});
const sees = (locator, text) => locator.filter({hasText: text}).first().waitFor({timeout: LONG});

async function until(condition) {
  for (const end = Date.now() + LONG; Date.now() < end;) {
    if (await condition()) return;
    await new Promise(done => setTimeout(done, 50));
  }
  assert.fail(`never: ${condition}`);
}

test('the page is sent with a policy that admits its own files alone', async () => {
  const {headers} = await server.ask('GET', '/');
  const policy = headers.get('content-security-policy');
  for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.split('; ').includes(rule), policy);
  assert.match((await server.ask('GET', '/assets/uPlot.LICENSE.txt')).body, /MIT License/);
});

async function checkTypes() {
  const folder = mkdtempSync(join(tmpdir(), 'airlock-types-'));
  try {
    const web = join(source, 'server/dashboard/web');
    for (const name of readdirSync(web)) if (name.endsWith('.js')) copyFileSync(join(web, name), join(folder, name));
    copyFileSync(join(source, 'build/npm/dashboard/node_modules/uplot/dist/uPlot.d.ts'), join(folder, 'uPlot.d.ts'));
    const files = readdirSync(folder).filter(name => name.endsWith('.js'));
    await promisify(execFile)(process.execPath, [join(modules, 'typescript/bin/tsc'), '--noEmit', '--allowJs', '--checkJs', '--strict', '--noUnusedLocals',
      '--target', 'es2022', '--module', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--allowUmdGlobalAccess', ...files],
    {cwd: folder});
  } catch (error) {
    assert.fail(String(error.stdout ?? error));
  } finally {
    rmSync(folder, {recursive: true});
  }
}

test('without gates it says how to begin', async t => {
  const empty = await startServer(t);
  await withPage(`${empty.url}/`, async page => {
    await sees(page.locator('.empty'), 'This store has no gates yet');
    assert.deepEqual(await accessibilityProblems(page), []);
  });
});

test('the overview follows what happens, and names first what needs attention', async () => {
  for (const gate of ['alpha', 'beta', 'gamma', 'omega']) await admit(gate, {limit: 5});
  await withPage('/', async page => {
    await sees(rowOf(page, 'alpha'), '1 / 5');
    for (let i = 0; i < 4; ++i) await admit('omega', {limit: 5});
    await sees(rowOf(page, 'omega'), '5 / 5');
    await admit('omega', {limit: 5, visitor: 'ann'});
    await sees(rowOf(page, 'omega').locator('.badge.bad'), 'full');
    await server.ask('PUT', '/v1/gates/gamma/pause', {for: '1h'});
    await sees(rowOf(page, 'gamma').locator('.badge.bad'), 'paused');
    await server.ask('PUT', '/v1/gates/beta/limit', {limit: 9});
    await sees(rowOf(page, 'beta').locator('.badge'), 'limit overridden');
    await sees(rowOf(page, 'beta'), '1 / 9');
    const names = () => page.evaluate(() => [...document.querySelectorAll('.rows .row:not([hidden])')]
      .sort((a, b) => Number(a.getAttribute('aria-rowindex')) - Number(b.getAttribute('aria-rowindex')))
      .map(row => row.querySelector('a').textContent));
    await until(async () => (await names()).slice(0, 4).join() === 'gamma,omega,beta,alpha');
    await until(() => page.evaluate(() => document.title.startsWith('(2)')));

    await page.getByRole('button', {name: 'Gate', exact: true}).click();
    await until(async () => (await names()).slice(0, 4).join() === 'alpha,beta,gamma,omega');
    await page.getByRole('button', {name: 'Gate', exact: true}).click();
    await until(async () => (await names()).at(-1) === 'alpha');
    await page.getByRole('button', {name: /Paused/}).click();
    await until(async () => (await names()).join() === 'gamma');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('ET A');
    await until(async () => (await names()).join() === 'beta');  // All words are in the name.
    await page.keyboard.type(' nothing');
    await sees(page.locator('.empty'), 'No gate is like that');
    await page.getByRole('button', {name: 'Show all gates'}).click();

    await sees(page.getByRole('button', {name: /Full/}), '1');
    const painted = () => page.evaluate(() => {
      const row = [...document.querySelectorAll('.rows .row:not([hidden])')].find(each => each.querySelector('a').textContent === 'omega');
      if (row === undefined) return false;
      const canvas = row.querySelector('canvas');
      return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.filter((_, i) => i % 4 === 3).some(alpha => alpha > 0);
    });
    await until(painted);
    assert.deepEqual(await accessibilityProblems(page), []);
  });
});

test('the keyboard alone leads to a gate and back', async () => {
  await withPage('/', async page => {
    await sees(rowOf(page, 'alpha'), '/');
    await page.getByRole('combobox').selectOption('name');
    await page.keyboard.press('Escape');
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await sees(page.getByRole('heading', {level: 1}), 'alpha');
    await page.keyboard.press('2');
    assert.equal(await page.getByRole('button', {name: '1 hour'}).getAttribute('aria-pressed'), 'true');
    await page.keyboard.press('?');
    await sees(page.getByRole('dialog'), 'Keyboard');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({state: 'detached'});
    await page.keyboard.press('Escape');
    await sees(rowOf(page, 'alpha'), '/');
  });
});

test('a gate has plots of what it did, also after a reload', async () => {
  await withPage('/#/gates/omega', async page => {
    const drawn = () => page.evaluate(() => [...document.querySelectorAll('.u-over')].length === 4 &&
      [...document.querySelectorAll('.plot canvas')].slice(0, 2).every(canvas => {
        // The colors of lines, not those of the axes alone.
        const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && Math.abs(data[i] - data[i + 2]) > 60) return true;
        return false;
      }));
    await until(drawn);
    await sees(page.locator('.plot-box').first().locator('.u-legend'), /in use:?\s*5/);
    await page.reload();
    await until(drawn);
    for (let i = 0; i < 3; ++i) await admit('omega', {limit: 5});
    await sees(page.locator('.u-legend'), /full/);
    for (const range of ['1 hour', '24 hours', '5 min']) {
      await page.getByRole('button', {name: range}).click();
      await until(() => page.evaluate(() => document.querySelectorAll('.u-over').length === 4));
    }
    await sees(page.locator('.footnote'), 'Every second');
    assert.deepEqual(await accessibilityProblems(page), []);
  });
});

test('every action does what it says, and can be undone where it can be', async () => {
  for (let i = 0; i < 3; ++i) await admit('acts', {limit: 3, label: `holder-${i}`});
  await admit('acts', {limit: 3, visitor: 'waits', label: 'next'});
  await withPage('/#/gates/acts', async page => {
    const button = (name, within = page) => within.getByRole('button', {name, exact: true});
    const dialog = page.getByRole('dialog');
    await sees(page.locator('.people'), 'holder-0');
    await sees(page.locator('.people'), 'next');

    await button('Set limit …').click();
    await dialog.getByLabel('Limit', {exact: true}).fill('7');
    assert.deepEqual(await accessibilityProblems(page), []);
    await button('Cancel', dialog).click();
    assert.equal((await show('acts')).override_limit, null, 'cancelled');
    await button('Set limit …').click();
    await dialog.getByLabel('Limit', {exact: true}).fill('2');
    await button('Set limit', dialog).click();
    await until(async () => (await show('acts')).override_limit === 2);
    await button('Undo', page.locator('.toast', {hasText: 'is 2 for everybody'})).click();
    await until(async () => (await show('acts')).override_limit === null);

    await server.ask('PUT', '/v1/gates/acts/limit', {limit: 1});
    await button('Clear limit').click();
    await until(async () => (await show('acts')).override_limit === null);

    await button('Pause …').click();
    await dialog.getByLabel('For').fill('soon');
    await button('Pause', dialog).click();
    assert.ok(await dialog.isVisible(), 'a duration has a form');
    await dialog.getByLabel('For').fill('20m');
    await button('Pause', dialog).click();
    await until(async () => (await show('acts')).pauses.length === 1);
    await sees(page.locator('.pause'), 'Paused by operator');
    await page.getByRole('button', {name: /^Resume/}).click();
    await until(async () => (await show('acts')).pauses.length === 0);
    await button('Undo', page.locator('.toast', {hasText: 'is lifted'})).click();
    await until(async () => (await show('acts')).pauses.length === 1);
    assert.ok((await show('acts')).pauses[0].remaining_seconds > 600);
    await page.getByRole('button', {name: /^Resume/}).click();
    await until(async () => (await show('acts')).pauses.length === 0);

    await button('Revoke the lease of holder-1').click();
    await dialog.getByLabel('The slot moves on').selectOption('now');
    await button('Revoke', dialog).click();
    await until(async () => !(await show('acts')).holders.some(each => each.label === 'holder-1'));
    assert.ok((await show('acts')).holders.some(each => each.label === 'holder-0'), 'it alone');

    await button('Revoke all …').click();
    await dialog.getByLabel('The slot moves on').selectOption('now');
    await button('Revoke', dialog).click();
    await until(async () => !(await show('acts')).holders.some(each => each.label === 'holder-0'));

    await button('Purge …').click();
    await button('Purge', dialog).click();
    await until(async () => (await show('acts')).kind === 'unused');
    await sees(page.locator('#toasts'), 'acts is purged');
  });
});

test('who may not operate is told so, and offered nothing', async () => {
  await admit('readonly', {limit: 2});
  await withPage('/#/gates/readonly', async page => {
    await page.route('**/limit', route => route.fulfill({status: 403, contentType: 'application/problem+json', body: '{"detail":"needs the role operate"}'}));
    await page.getByRole('button', {name: 'Set limit …'}).click();
    await page.getByRole('dialog').getByLabel('Limit', {exact: true}).fill('1');
    await page.getByRole('dialog').getByRole('button', {name: 'Set limit'}).click();
    await sees(page.locator('.toast.error'), 'needs the role operate');
    await sees(page.locator('#read-only'), 'read-only');
    assert.equal(await page.getByRole('button', {name: 'Set limit …'}).count(), 0);
    assert.equal(await page.getByRole('button', {name: /^Revoke/}).count(), 0);
  });
});

test('with tokens it asks for one, and shows what its role may see and do', async t => {
  const tokens = {observer: 'o'.repeat(40), operator: 'p'.repeat(40)};
  const hash = name => createHash('sha256').update(tokens[name]).digest('hex');
  const guarded = await startServer(t, {config: `[[principal]]\nname = "observer"\ntokens = ["sha256:${hash('observer')}"]\nobserve = ["in/*"]\n` +
    `[[principal]]\nname = "operator"\ntokens = ["sha256:${hash('operator')}"]\nadmit = "*"\ndefine = "*"\nobserve = "*"\noperate = "*"\n`});
  for (const gate of ['in~a', 'out']) {
    const answer = await fetch(`${guarded.url}/v1/gates/${gate}/admit`, {method: 'POST', body: '{"limit":3,"ttl":"1h"}',
      headers: {'Content-Type': 'application/json', Authorization: `Bearer ${tokens.operator}`}});
    assert.equal(answer.status, 200);
  }
  for (const name of ['observer', 'operator']) {
    await withPage(`${guarded.url}/#/gates/in%2Fa`, async page => {
      await page.getByLabel('Token').fill(tokens[name]);
      await page.getByRole('button', {name: 'Sign in'}).click();
      await sees(page.locator('.facts'), '1 / 3');
      const setLimit = page.getByRole('button', {name: 'Set limit …'});
      await (name === 'observer' ? page.locator('#read-only') : setLimit).waitFor();  // Its roles are known.
      assert.equal(await setLimit.count(), name === 'operator' ? 1 : 0);
      await page.getByRole('link', {name: '← All gates'}).click();
      await rowOf(page, name === 'operator' ? 'out' : 'in/a').waitFor();
      assert.equal(await rowOf(page, 'out').count(), name === 'operator' ? 1 : 0);
    });
  }
});

test('labels, reporters and names of others are text', async () => {
  for (const label of HOSTILE) await admit('hostile', {limit: 3, label});
  for (const label of HOSTILE) await admit('hostile', {limit: 3, label, visitor: label});
  await server.ask('PUT', '/v1/gates/hostile/pause', {for: '1h', reporter: HOSTILE[0].slice(0, 64)});
  assert.equal((await admit(LONG_NAME, {limit: 1})).status, 200);
  for (const options of [DESKTOP, {viewport: {width: 320, height: 640}}]) {
    await withPage('/#/gates/hostile', async page => {
      for (const label of HOSTILE) await until(async () => await page.locator('bdi', {hasText: label}).count() >= 2);
      await sees(page.locator('.pause'), HOSTILE[0].slice(0, 64));
      assert.equal(await page.locator('#view img, #view script').count(), 0);
      await sees(page.locator('.rows, .people'), 'gnol');
      assert.ok(await page.evaluate(() => document.title.startsWith('hostile')));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the window');
      await page.goto(`${server.url}/#/gates/${LONG_NAME}`);
      await sees(page.getByRole('heading', {level: 1}), LONG_NAME);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'a name of 200 bytes is wrapped');
      await page.goto(`${server.url}/#/`);
      await page.locator('#search').fill('very-');
      await page.getByRole('link', {name: LONG_NAME}).waitFor();
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      assert.deepEqual(await accessibilityProblems(page), []);
      // A name that no gate has, in the address: as text as well.
      await page.goto(`${server.url}/#/gates/${encodeURIComponent(HOSTILE[0])}`);
      await sees(page.locator('.sentence'), 'knows no such gate');
      assert.equal(await page.locator('#view img').count(), 0);
    }, options);
  }
});

test('an interruption is shown, and nothing that was seen is lost', async t => {
  let own = await startServer(t);
  const {port} = own;
  await own.ask('POST', '/v1/gates/erp/admit', {limit: 3, ttl: '1h'});
  await withPage(`${own.url}/#/gates/erp`, async page => {
    await sees(page.locator('.facts'), '1 / 3');
    const known = () => page.evaluate(() => document.querySelector('.plot-box').getAttribute('aria-label'));
    await until(async () => /now 1/.test(await known()));
    await own.stop('SIGKILL');
    await sees(page.locator('.banner.bad'), 'Not connected');
    await sees(page.locator('#status'), 'reconnecting');
    own = await startServer(t, {port});
    for (let i = 0; i < 2; ++i) await own.ask('POST', '/v1/gates/erp/admit', {limit: 2, ttl: '1h'});
    await page.getByRole('button', {name: 'Try now'}).click().catch(() => {});  // It may be there again by then.
    await sees(page.locator('#status'), 'live');
    await sees(page.locator('.facts'), '2 / 2');
    await page.locator('.banner').waitFor({state: 'detached'});
    // The new server knows nothing of the limit of 3; the page does.
    await until(async () => /limit: now 2, at most 3/.test(await known()));
  });
});

test('it works under a path of a proxy, in the dark and on a phone', async t => {
  const proxy = createServer((from, to) => {
    if (!from.url.startsWith('/tools/airlock/')) return to.writeHead(404).end();
    const onward = request(server.url + from.url.slice('/tools/airlock'.length), {method: from.method, headers: from.headers}, answer => {
      to.writeHead(answer.statusCode, answer.headers);
      answer.pipe(to);
    });
    to.on('close', () => onward.destroy());
    onward.on('error', () => to.destroy());
    from.pipe(onward);
  });
  await new Promise(done => proxy.listen(0, '127.0.0.1', done));
  t.after(() => { proxy.closeAllConnections(); proxy.close(); });
  const base = `http://127.0.0.1:${proxy.address().port}/tools/airlock/`;
  await withPage(base, async page => {
    await rowOf(page, 'omega').waitFor();
    assert.deepEqual(await accessibilityProblems(page), []);
    await page.getByRole('link', {name: 'omega'}).click();
    await until(() => page.evaluate(() => document.querySelectorAll('.u-over').length === 4));
    await sees(page.locator('.people'), 'Holders');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(await accessibilityProblems(page), []);
    assert.ok(page.url().startsWith(base));
  }, {viewport: {width: 320, height: 640}, colorScheme: 'dark', reducedMotion: 'reduce'});
});

// As many gates, over one connection: the next request does not wait for the answer before.
function fillStore(port, gates) {
  const body = '{"rates":["10/s"]}';
  const requests = Array.from({length: gates}, (_, i) => `POST /v1/gates/gate-${String(i).padStart(5, '0')}/take HTTP/1.1\r\n` +
    `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  return new Promise((done, fail) => {
    let answered = 0;
    const socket = connect(port, '127.0.0.1', () => socket.write(requests.join('')));
    socket.on('error', fail);
    socket.on('data', data => {
      answered += data.toString().split('HTTP/1.1 200').length - 1;
      if (answered >= gates - 1) socket.end(done);  // One may be cut by the end of a piece.
    });
  });
}

test('ten thousand gates scroll smoothly', async t => {
  const many = await startServer(t);
  await fillStore(many.port, 10_000);
  await withPage(`${many.url}/`, async page => {
    await until(() => page.evaluate(() => document.querySelector('.tile b').textContent === '10.0k'));
    const frames = await page.evaluate(() => new Promise(done => {
      const times = [];
      const step = document.documentElement.scrollHeight / 120;
      let last = performance.now();
      requestAnimationFrame(function next(now) {
        times.push(now - last);
        last = now;
        scrollBy(0, step);
        if (times.length < 120) requestAnimationFrame(next);
        else done(times.slice(2).sort((a, b) => a - b));
      });
    }));
    const at = share => frames[Math.floor(share * (frames.length - 1))].toFixed(1);
    const rows = await page.locator('.rows .row').count();
    t.diagnostic(`frames while scrolling through 10 000 gates: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms; ${rows} rows drawn`);
    assert.ok(rows < 100, `only what can be seen is drawn: ${rows}`);
    assert.ok(Number(at(0.5)) < 100, `half of the frames take ${at(0.5)} ms or less`);
    await page.getByRole('link', {name: 'gate-09999'}).waitFor();
  });
});

test('types are right', () => types);
