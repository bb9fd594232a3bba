// Takes the pictures of docs/images: node tests/browser/dashboard_pictures.mjs AIRLOCK_SERVER. Takes six minutes, so that the
// plots have something to show.

import {join} from 'node:path';
import test from 'node:test';

import {openPage, source, startBrowser, startServer} from './browser.mjs';
import {playScene} from './scene.mjs';

const SECONDS = Number(process.argv[3] ?? 330);
const DESKTOP = {viewport: {width: 1200, height: 760}};
const PHONE = {viewport: {width: 360, height: 720}, deviceScaleFactor: 2};

test('pictures', {timeout: 3_600_000}, async t => {
  const server = await startServer(t);
  const stop = await playScene(server);
  t.after(stop);
  await new Promise(done => setTimeout(done, SECONDS * 1000));
  const browser = await startBrowser(t);
  for (const [name, path, options] of [
    ['overview-light', '', DESKTOP], ['overview-dark', '', {...DESKTOP, colorScheme: 'dark'}], ['overview-phone', '', PHONE], ['overview-small', '', {viewport: {width: 1000, height: 420}, deviceScaleFactor: 0.75}],
    ['gate-light', '#/gates/erp', DESKTOP], ['gate-dark', '#/gates/erp', {...DESKTOP, colorScheme: 'dark'}], ['gate-phone', '#/gates/erp', PHONE]]) {
    const {page, context} = await openPage(browser, options);
    await page.goto(`${server.url}/${path}`);
    await page.locator(path ? '.u-over' : '.rows .badge').first().waitFor();
    await page.waitForTimeout(3000);
    await page.screenshot({path: join(source, `docs/images/dashboard-${name}.png`)});
    await context.close();
  }
  await stop();
});
