// One gate: what is wrong, what it did, who holds it and who waits, and what can be done about it.

import {ApiError, history, showGate} from './api.js';
import {fill, h, setText} from './dom.js';
import {clock, count, duration, plural, rate} from './format.js';
import {isFull, useShare, useText} from './model.js';
import * as people from './people.js';
import {Plots, Series} from './plots.js';

/**
 * @typedef {import('./api.js').GateRow} GateRow
 * @typedef {import('./api.js').Gate} Gate
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./actions.js').Actions} Actions
 */

const RANGES = [
  {key: '1', label: '5 min', span: 300, step: 1, query: '5m'},
  {key: '2', label: '1 hour', span: 3600, step: 1, query: '1h'},
  {key: '3', label: '24 hours', span: 86_400, step: 60, query: '24h'},
];
const LATEST = '1m';       // What is asked for again while the page is open.
const PEOPLE_PERIOD = 2000;
const SHORT = 3;            // Stretches of seconds that are not worth a word.
const SHARE = 10;          // A call that takes long is made after ten times as long.

/** Remembered from one gate to the next. */
const kept = {range: RANGES[0]};

export class GatePage {
  /**
   * @param {HTMLElement} view @param {string} name @param {Model} model @param {Actions} actions @param {() => boolean} mayOperate
   */
  constructor(view, name, model, actions, mayOperate) {
    this.name = name;
    this.model = model;
    this.actions = actions;
    this.mayOperate = mayOperate;
    this.abort = new AbortController();
    /** @type {Gate | undefined} */ this.gate = undefined;
    this.series = new Series(kept.range.step, kept.range.span);
    this.hasHistory = true;
    this.isAsking = false;
    this.isAskingPeople = false;
    this.nextPeople = 0;
    this.nextHistory = 0;
    this.shownHead = '';
    this.shownFacts = '';
    this.badges = h('span', {class: 'badges'});
    this.sentence = h('p', {class: 'sentence'});
    this.buttons = h('div', {class: 'actions', role: 'group', 'aria-label': 'Actions'});
    this.pauses = h('div', {class: 'pauses'});
    this.facts = h('dl', {class: 'facts'});
    this.plotArea = h('div', {class: 'plots'});
    this.note = h('p', {class: 'muted footnote'});
    this.ranges = RANGES.map(range => h('button', {type: 'button', 'aria-pressed': 'false', title: `Key ${range.key}`,
      onclick: () => this.setRange(range)}, range.label));
    this.holders = people.holders(holder => this.mayOperate() && !holder.revoked && h('button', {
      type: 'button', class: 'small', 'aria-label': `Revoke the lease of ${holder.label || holder.visitor}`,
      onclick: () => this.row && this.actions.revoke(this.row, holder).then(() => this.hurry())}, 'Revoke'));
    this.line = people.waiters();
    this.rates = h('section', {class: 'people', hidden: true});
    this.layOut(view);
    this.plots = new Plots(this.plotArea);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.plots.clear();
      this.drawPlots();
    }, {signal: this.abort.signal});
    this.update();
    this.loadRange();
  }

  close() {
    this.abort.abort();
    this.plots.close();
  }

  get row() {
    return this.model.gates.get(this.name);
  }

  /** @param {HTMLElement} view */
  layOut(view) {
    fill(view,
      h('p', {class: 'back'}, h('a', {href: '#/'}, '← All gates')),
      h('div', {class: 'gate-head'}, h('h1', {}, this.name), this.badges), this.sentence, this.pauses, this.buttons, this.facts,
      h('div', {class: 'ranges', role: 'group', 'aria-label': 'Time shown'}, this.ranges), this.plotArea, this.note,
      this.rates, this.holders.element, this.line.element);
  }

  /** There is a new state. */
  update() {
    const {row} = this;
    this.drawHead(row);
    if (row) this.drawFacts(row);
    this.loadPeople();
    if (!this.hasHistory && row) {
      this.series.add(this.model.now, row);
      this.drawPlots();
    } else if (this.series.to !== 0 && Date.now() >= this.nextHistory) {
      this.loadLatest();
    }
  }

  hurry() {
    this.nextPeople = 0;
    this.loadPeople();
  }

  /** @param {GateRow | undefined} row */
  drawHead(row) {
    const concerns = this.model.concerned.get(this.name) ?? [];
    const shown = JSON.stringify([row, concerns, this.mayOperate(), this.model.isKnown]);
    if (shown === this.shownHead) return;
    this.shownHead = shown;
    fill(this.badges, concerns.map(each => h('span', {class: `badge ${each.level}`}, each.text)),
      row && h('span', {class: 'badge kind'}, row.kind));
    setText(this.sentence, row ? sentenceOf(row) : this.model.isKnown ? 'The store knows no such gate. It is there as soon as somebody asks for it.' : '');
    this.drawPauses(row);
    fill(this.buttons, row && this.mayOperate() ? this.buttonsFor(row) : []);
  }

  /** @param {GateRow} row */
  buttonsFor(row) {
    const button = (/** @type {string} */ label, /** @type {() => Promise<void>} */ action, kind = '') =>
      h('button', {type: 'button', class: kind, onclick: () => action().then(() => this.hurry())}, label);
    return [
      row.kind !== 'lock' && button('Set limit …', () => this.actions.setLimit(row)),
      row.override_limit !== undefined && button('Clear limit', () => this.actions.clearLimit(row)),
      button('Pause …', () => this.actions.pause(row)),
      (row.holder_count ?? 0) > 0 && button('Revoke all …', () => this.actions.revoke(row), 'dangerous'),
      button('Purge …', () => this.actions.purge(row), 'dangerous'),
    ];
  }

  /** Who has paused it, and until when. @param {GateRow | undefined} row */
  drawPauses(row) {
    fill(this.pauses, (row?.pauses ?? []).map(pause => h('p', {class: 'pause'},
      h('span', {}, 'Paused by ', h('bdi', {class: 'label'}, pause.reporter), ` until ${clock(pause.until, true)}`),
      row && this.mayOperate() && h('button', {type: 'button', 'aria-label': `Resume: lift the pause by ${pause.reporter}`,
        onclick: () => this.actions.resume(row, pause, this.model.now)}, 'Resume'))));
  }

  /** @param {GateRow} row */
  drawFacts(row) {
    const {gate} = this;
    const p99 = latest(this.series, 'wait_p99_seconds'), p50 = latest(this.series, 'wait_p50_seconds');
    /** @type {[string, string, string?][]} */
    const facts = [
      ['In use', useText(row), share(row)],
      ['Waiting', count(row.waiting ?? 0)],
      ['Wait p50 / p99', p50 === null ? '–' : `${duration(p50)} / ${duration(p99 ?? p50)}`, 'last minute'],
      ['Granted', rate(row.granted_per_second ?? 0), 'per second'],
      ['Refused', rate(row.refused_per_second ?? 0), 'per second'],
      ['Limit', row.limit === undefined ? '–' : count(row.limit),
        row.override_limit !== undefined ? 'set by an operator' : row.limits_disagree ? 'callers disagree' : 'of the callers'],
    ];
    if (gate) facts.push(['Order', gate.order], ['Ended badly', count(gate.counters.expired + gate.counters.died), 'expired or died']);
    const shown = JSON.stringify(facts);
    if (shown === this.shownFacts) return;
    this.shownFacts = shown;
    fill(this.facts, facts.map(([name, value, hint]) => h('div', {}, h('dt', {}, name), h('dd', {}, value,
      hint ? h('span', {class: 'muted'}, hint) : null))));
  }

  async loadPeople() {
    if (this.isAskingPeople || Date.now() < this.nextPeople || !this.model.gates.has(this.name)) return;
    this.isAskingPeople = true;
    const begin = Date.now();
    try {
      this.gate = await showGate(this.name, this.abort.signal);
      this.holders.show(this.gate.holders);
      this.line.show(this.gate.line);
      this.drawRates(this.gate);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        this.holders.show([]);
        this.line.show([]);
      }  // Else what was seen last stays; the banner says that the server or the store is away.
    } finally {
      this.isAskingPeople = false;
      this.nextPeople = begin + Math.max(PEOPLE_PERIOD, SHARE * (Date.now() - begin)) - 100;
    }
  }

  /** @param {Gate} gate */
  drawRates(gate) {
    this.rates.hidden = gate.rates.length === 0;
    fill(this.rates, h('h2', {}, 'Rates'), h('table', {},
      h('thead', {}, h('tr', {}, ['Rate', 'Left', 'Full again'].map(each => h('th', {scope: 'col'}, each)))),
      h('tbody', {}, gate.rates.map(each => h('tr', {}, h('td', {'data-label': 'Rate'}, each.rate),
        h('td', {'data-label': 'Left'}, `${each.remaining} of ${each.limit}`),
        h('td', {'data-label': 'Full again'}, each.reset_after_seconds > 0 ? `in ${duration(each.reset_after_seconds)}` : 'now'))))));
  }

  /** @param {typeof RANGES[0]} range */
  setRange(range) {
    kept.range = range;
    this.series = new Series(range.step, range.span);
    this.plots.clear();
    this.loadRange();
  }

  async loadRange() {
    this.ranges.forEach((button, i) => button.setAttribute('aria-pressed', String(RANGES[i] === kept.range)));
    await this.load(kept.range.query);
  }

  loadLatest() {
    return this.load(kept.range.step === 1 ? LATEST : kept.range.query);
  }

  /** After an interruption: all of it, once more. What this page has seen meanwhile stays. */
  reload() {
    this.nextHistory = 0;
    return this.load(kept.range.query);
  }

  /** @param {string} span */
  async load(span) {
    if (this.isAsking) return;
    this.isAsking = true;
    const {series} = this;
    try {
      const answer = await history([this.name], span, undefined, this.abort.signal);
      series.merge(answer);
      this.remember(answer);
      this.nextHistory = series.step === 1 ? 0 : Date.now() + 30_000;
      if (series === this.series) this.drawPlots();
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) this.hasHistory = false;
    } finally {
      this.isAsking = false;
    }
    if (series !== this.series && !this.abort.signal.aborted) await this.loadRange();
  }

  /** Whether the line grows is seen from what was before this page was opened. @param {import('./api.js').History} answer */
  remember({from, resolution_seconds: step, gates: [gate]}) {
    const recent = this.model.recent.get(this.name);
    if (step === 1 && recent?.isComplete === false) recent.prepend(from, gate.in_use ?? [], gate.waiting ?? []);
  }

  drawPlots() {
    if (this.series.to === 0) return;
    this.plots.draw(this.series);
    setText(this.note, noteOf(this.series, this.hasHistory));
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether it was for this page */
  onKey(event) {
    if (event.key === 'Escape') {
      location.hash = '#/';
      return true;
    }
    const range = RANGES.find(each => each.key === event.key);
    if (range) this.setRange(range);
    return range !== undefined;
  }
}

/** The newest value of the last minute. @param {Series} series @param {string} name */
function latest(series, name) {
  const column = series.columns[name]?.slice(-60) ?? [];
  for (let i = column.length - 1; i >= 0; --i) if (column[i] !== null) return column[i];
  return null;
}

/** @param {GateRow} row */
function share(row) {
  return row.kind === 'lock' || (!row.limit && !row.rate_limit) ? undefined : `${Math.round(100 * useShare(row))} %`;
}

/** What an operator has to know, in words. @param {GateRow} row */
function sentenceOf(row) {
  if (row.kind === 'unreadable') return `The store cannot read this gate: ${row.error}`;
  const parts = [];
  if (row.pauses?.length) parts.push('Paused: nobody is admitted.');
  else if (row.limit === 0) parts.push('Closed by an operator: the limit is 0.');
  else if (row.kind === 'lock') parts.push(row.holder_count ? `Held (${useText(row)}).` : 'Free.');
  else if (isFull(row)) parts.push(`Full: all ${row.limit} in use.`);
  else if (row.limit !== undefined) parts.push(`${plural(row.limit - (row.in_use ?? 0), 'slot')} free.`);
  if (row.waiting) parts.push(`${plural(row.waiting, 'waits', 'wait')} in line.`);
  if (row.refused_per_second) parts.push(`${rate(row.refused_per_second)} refused per second.`);
  if (row.limits_disagree) parts.push('Callers bring different limits; a limit that is set here counts for all.');
  return parts.join(' ');
}

/** What is not shown, and why. @param {Series} series @param {boolean} hasHistory */
function noteOf(series, hasHistory) {
  if (!hasHistory) return 'This server keeps no history: the plots begin when this page was opened.';
  const texts = {
    not_sampled: 'the server did not run or could not read the store', not_known: 'there was no such gate',
    dropped: 'forgotten, because the memory for history is full'};
  const parts = series.missing.filter(each => each.to - each.from >= SHORT).map(each => `${clock(each.from, true)} to ${clock(each.to, true)}: ${texts[/** @type {keyof texts} */ (each.because)] ?? each.because}`);
  const resolution = series.step === 1 ? 'Every second.' : 'Every minute, with the highest use and the longest line in it.';
  return parts.length > 0 ? `${resolution} Not known: ${parts.slice(0, 3).join('; ')}${parts.length > 3 ? ' …' : ''}.` : resolution;
}
