// The page as a whole: which view is shown, what the connection is like, and the keyboard.

import {Actions} from './actions.js';
import {mayOperate, token} from './api.js';
import {ask} from './dialogs.js';
import {byId, fill, h, setText} from './dom.js';
import {clock, duration} from './format.js';
import {GatePage} from './gate.js';
import {Model} from './model.js';
import {Overview, gateLink, summary} from './overview.js';
import {readColors} from './sparkline.js';
import {Stream} from './stream.js';

/** @typedef {import('./api.js').ApiError} ApiError */

const KEYS = [['/', 'search'], ['j, k or ↓, ↑', 'next, previous gate'], ['Enter', 'open the gate'], ['Esc', 'back; show all gates'],
  ['1, 2, 3', '5 minutes, 1 hour, 24 hours'], ['?', 'this help']];

const model = new Model();
const view = byId('view');
const actions = new Actions(() => setMayOperate(false));
let operates = true;
/** @type {Overview | GatePage | undefined} */ let page;
/** @type {{error: ApiError, retryAt: number, since: number} | undefined} */ let lost;
let isAskingToken = false;

const stream = new Stream({
  state: state => {
    const wasLost = lost !== undefined;
    lost = undefined;
    model.apply(state);
    if (wasLost && page instanceof GatePage) page.reload();
    page?.update();
    drawStatus();
    drawBanners();
    document.title = page instanceof GatePage ? `${page.name} · ${summary(model)}` : summary(model);
  },
  lost: (error, retryAt) => {
    lost = {error, retryAt, since: lost?.since ?? Date.now()};
    drawStatus();
    drawBanners();
    if (error.status === 401) askToken();
  },
});

/** @param {boolean} may */
function setMayOperate(may) {
  operates = may;
  byId('read-only').hidden = may;
  page?.update();
}

function route() {
  const found = /^#\/gates\/(.+)$/.exec(location.hash);
  page?.close();
  page = undefined;
  view.classList.toggle('is-gate', found !== null);
  if (found) {
    let name = found[1];
    try {
      name = decodeURIComponent(name);
    } catch {
      // A name that was typed: as it is.
    }
    page = new GatePage(view, name, model, actions, () => operates);
    scrollTo(0, 0);
    askRights(name);
  } else {
    page = new Overview(view, model, gate => { location.hash = gateLink(gate); });
    askRights();
  }
}

/** What may be done differs from gate to gate. @param {string} [gate] */
async function askRights(gate) {
  const shown = page;
  const may = await mayOperate(gate);
  if (page === shown) setMayOperate(may);
}

function drawStatus() {
  const status = byId('status');
  const slow = model.period > 1.5 ? `, every ${duration(model.period)}` : '';
  const [kind, text] = lost ? ['bad', 'reconnecting'] : !model.isKnown ? ['', 'connecting']
    : model.storeError ? ['bad', 'store away'] : ['good', `live${slow}`];
  status.className = `status ${kind}`;
  setText(status, text);
  document.body.classList.toggle('stale', lost !== undefined || model.storeError !== null);
}

function drawBanners() {
  const banners = [];
  if (lost && Date.now() - lost.since > 900 && lost.error.status !== 401) {
    banners.push(banner('bad', 'Not connected.', `${lost.error.message} What you see is from ${clock(model.now, true)}.`,
      h('button', {type: 'button', onclick: () => stream.start()}, 'Try now')));
  }
  if (!lost && model.storeError) banners.push(banner('bad', 'The store does not answer.', model.storeError));
  for (const {level, what, remedy} of model.findings)
    banners.push(banner(level === 'problem' ? 'bad' : 'warn', what, remedy));
  const shown = JSON.stringify(banners.map(each => each.textContent));
  if (shown === drawBanners.shown) return;
  drawBanners.shown = shown;
  fill(byId('banners'), banners);
}
drawBanners.shown = '[]';

/** @param {string} level @param {string} what @param {string} text @param {HTMLElement} [button] */
function banner(level, what, text, button) {
  return h('div', {class: `banner ${level}`, role: level === 'bad' ? 'alert' : null}, h('b', {}, what), ' ', h('span', {}, text), button);
}

async function askToken() {
  if (isAskingToken) return;
  isAskingToken = true;
  const answer = await ask({title: 'Sign in', action: 'Sign in', text: ['This server asks for a token. It is kept until this tab is closed.'],
    fields: [{label: 'Token', name: 'token', type: 'password'}]});
  isAskingToken = false;
  if (answer === undefined) return;
  token.set(answer.token);
  stream.start();
  askRights(page instanceof GatePage ? page.name : undefined);
}

function showHelp() {
  ask({title: 'Keyboard', action: '', text: KEYS.map(([key, what]) => `${key}: ${what}`)});
}

addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  const isTyping = target.matches('input, select, textarea');
  if (isTyping && event.key !== 'Escape' && !(event.key === 'Enter' && target.id === 'search')) return;
  if (event.key === 'Enter' && target.matches('a, button')) return;
  if (event.key === '?') {
    event.preventDefault();
    showHelp();
  } else if (event.key === 'Enter' && target.id === 'search') {
    target.blur();
    page?.onKey(new KeyboardEvent('keydown', {key: 'j'}));
  } else if (page?.onKey(event)) {
    event.preventDefault();
  }
});
addEventListener('hashchange', route);
byId('help-button').addEventListener('click', showHelp);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  readColors();
  page?.update();
});

readColors();
route();
drawStatus();
stream.start();
setInterval(drawBanners, 1000);  // How long it has been so.
