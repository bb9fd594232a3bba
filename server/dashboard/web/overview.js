// All gates: what needs attention first. Only the rows that can be seen are there.

import {ApiError, history} from './api.js';
import {fill, h, setText} from './dom.js';
import {count, plural, rate} from './format.js';
import {useShare, useText} from './model.js';
import {SPAN, drawSparkline} from './sparkline.js';

/**
 * @typedef {import('./api.js').GateRow} GateRow
 * @typedef {import('./model.js').Model} Model
 * @typedef {{element: HTMLElement, link: HTMLAnchorElement, badges: HTMLElement, bar: HTMLElement, use: HTMLElement,
 *   waiting: HTMLElement, granted: HTMLElement, refused: HTMLElement, spark: HTMLCanvasElement, shown: GateRow | undefined,
 *   concerns: unknown, index: number}} RowView
 */

const TILES = [
  {flag: '', label: 'Gates', level: ''}, {flag: 'full', label: 'Full', level: 'bad'},
  {flag: 'waiting', label: 'Waiting', level: ''}, {flag: 'growing', label: 'Growing', level: 'bad'},
  {flag: 'paused', label: 'Paused', level: 'bad'}, {flag: 'overridden', label: 'Overridden', level: ''},
  {flag: 'refusing', label: 'Refusing', level: 'warn'}, {flag: 'disagree', label: 'Disagree', level: 'warn'},
];
const COLUMNS = [
  {key: 'name', label: 'Gate'}, {key: 'use', label: 'In use'}, {key: 'waiting', label: 'Waiting'},
  {key: 'granted', label: 'Granted/s'}, {key: 'refused', label: 'Refused/s'}, {key: '', label: 'Last 2 min'},
];
const OVERSCAN = 8;
const ORDER_PERIOD = 3000;  // Rows do not change places under somebody's hand more often than that.
const BATCH = 20;

/** What stays as it is while another page is shown. */
const kept = {search: '', flag: '', sort: {name: 'urgency', descending: true}, selected: '', scroll: 0};

export class Overview {
  /** @param {HTMLElement} view @param {Model} model @param {(gate: string) => void} open */
  constructor(view, model, open) {
    this.model = model;
    this.open = open;
    /** @type {GateRow[]} */ this.rows = [];
    /** @type {RowView[]} */ this.views = [];
    this.orderedAt = 0;
    this.touchedAt = 0;
    this.frame = 0;
    this.abort = new AbortController();
    this.isLoading = false;
    this.hasNoHistory = false;
    this.known = 0;
    this.search = h('input', {
      type: 'search', id: 'search', placeholder: 'Search gates', 'aria-label': 'Search gates', autocomplete: 'off',
      spellcheck: 'false', oninput: () => { kept.search = this.search.value; this.update(true); }});
    this.search.value = kept.search;
    this.tiles = TILES.map(({flag, label, level}) => {
      const value = h('b', {}, '–');
      const button = h('button', {type: 'button', class: `tile ${level}`, 'aria-pressed': 'false', onclick: () => {
        kept.flag = kept.flag === flag ? '' : flag;
        this.update(true);
      }}, value, h('span', {}, label));
      return {flag, button, value};
    });
    this.grantedTotal = h('b', {}, '–');
    this.refusedTotal = h('b', {}, '–');
    this.headers = COLUMNS.map(({key, label}) => h('span', {role: 'columnheader', class: `c-${key || 'spark'}`},
      key ? h('button', {type: 'button', onclick: () => this.sortBy(key)}, label) : label));
    this.body = h('div', {class: 'rows', role: 'rowgroup'});
    this.table = h('div', {class: 'table', role: 'table', 'aria-label': 'Gates'},
      h('div', {role: 'rowgroup', class: 'head'}, h('div', {role: 'row', class: 'row'}, this.headers)), this.body);
    this.empty = h('div', {class: 'empty', hidden: true});
    const options = [['urgency', 'Attention first'], ['name', 'Name'], ['use', 'Use'], ['waiting', 'Waiting'],
      ['granted', 'Granted/s'], ['refused', 'Refused/s']];
    this.sortChoice = h('select', {id: 'sort', onchange: () => {
      kept.sort = {name: this.sortChoice.value, descending: this.sortChoice.value !== 'name'};
      this.update(true);
    }}, options.map(([value, label]) => h('option', {value}, label)));
    this.layOut(view);
    const scroll = kept.scroll;
    this.update(true);
    scrollTo(0, scroll);
    const {signal} = this.abort;
    addEventListener('scroll', () => this.draw(), {signal, passive: true});
    addEventListener('resize', () => this.draw(), {signal});
    this.body.addEventListener('pointermove', () => this.touchedAt = Date.now(), {signal, passive: true});
    this.body.addEventListener('focusin', () => this.touchedAt = Date.now(), {signal});
  }

  close() {
    kept.scroll = scrollY;
    cancelAnimationFrame(this.frame);
    this.abort.abort();
  }

  /** @param {HTMLElement} view */
  layOut(view) {
    fill(view,
      h('h1', {class: 'hidden'}, 'Gates'),
      h('div', {class: 'tiles', role: 'group', 'aria-label': 'Show only'}, this.tiles.map(each => each.button),
        h('div', {class: 'tile still'}, this.grantedTotal, h('span', {}, 'Granted/s')),
        h('div', {class: 'tile still'}, this.refusedTotal, h('span', {}, 'Refused/s'))),
      h('div', {class: 'bar-of-search'}, this.search,
        h('label', {class: 'sort'}, h('span', {class: 'hidden'}, 'Sort by'), this.sortChoice)),
      this.table, this.empty);
  }

  /** @param {string} key */
  sortBy(key) {
    const isSame = kept.sort.name === key;
    kept.sort = {name: key, descending: isSame ? !kept.sort.descending : key !== 'name'};
    this.update(true);
  }

  /** There is a new state, or (at once) somebody wants to see something else. @param {boolean} [atOnce] */
  update(atOnce = false) {
    const now = Date.now();
    const mayOrder = now - this.orderedAt >= ORDER_PERIOD && now - this.touchedAt >= ORDER_PERIOD;
    if (atOnce || mayOrder || this.known !== this.model.gates.size) {
      this.rows = this.model.select(kept.search, kept.flag, kept.sort);
      this.orderedAt = now;
      this.known = this.model.gates.size;
    } else {
      this.rows = this.rows.flatMap(row => this.model.gates.get(row.name) ?? []);
    }
    this.drawTotals();
    this.drawEmpty();
    this.draw();
    this.loadSparklines();
  }

  drawTotals() {
    const totals = this.model.totals();
    for (const {flag, button, value} of this.tiles) {
      const number = flag === '' ? totals.gates : flag === 'waiting' ? totals.waiting : totals.flags[flag] ?? 0;
      setText(value, count(number));
      button.classList.toggle('zero', number === 0);
      button.setAttribute('aria-pressed', String(kept.flag === flag && flag !== ''));
    }
    setText(this.grantedTotal, rate(totals.granted));
    setText(this.refusedTotal, rate(totals.refused));
    COLUMNS.forEach(({key}, i) => this.headers[i].setAttribute('aria-sort',
      key !== kept.sort.name ? 'none' : kept.sort.descending ? 'descending' : 'ascending'));
    this.sortChoice.value = kept.sort.name;
  }

  drawEmpty() {
    const isEmpty = this.rows.length === 0;
    this.empty.hidden = !isEmpty;
    this.table.hidden = isEmpty;
    if (!isEmpty) return;
    if (!this.model.isKnown) fill(this.empty, 'Connecting …');
    else if (this.model.gates.size > 0) fill(this.empty, h('p', {}, 'No gate is like that.'),
      h('button', {type: 'button', onclick: () => this.clear()}, 'Show all gates'));
    else fill(this.empty, h('p', {}, 'This store has no gates yet.'),
      h('p', {class: 'muted'}, 'A gate is there as soon as somebody asks for it, for example:'),
      h('pre', {}, `curl --json '{"limit": 10}' ${location.origin}${location.pathname}v1/gates/erp/admit`));
  }

  clear() {
    kept.search = this.search.value = '';
    kept.flag = '';
    this.update(true);
  }

  /** Of the rows, as the style sheet has it. */
  rowHeight() {
    return matchMedia('(max-width: 640px)').matches ? 76 : 40;
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  /** The rows in the window. */
  range() {
    const height = this.rowHeight();
    const top = this.body.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(-top / height) - OVERSCAN);
    const last = Math.min(this.rows.length, Math.ceil((innerHeight - top) / height) + OVERSCAN);
    return {first, last, height};
  }

  paint() {
    const {first, last, height} = this.range();
    this.body.style.height = `${this.rows.length * height}px`;
    this.table.setAttribute('aria-rowcount', String(this.rows.length + 1));
    while (this.views.length < last - first) this.views.push(this.makeView());
    // A row keeps its element while it moves, so that focus and pointer stay with it.
    for (let index = first; index < last; ++index) {
      const view = this.views[index % this.views.length];
      this.paintRow(view, this.rows[index], index, height);
    }
    for (let i = 0; i < this.views.length; ++i) {
      const {index} = this.views[i];
      if (index < first || index >= last || index % this.views.length !== i) this.views[i].element.hidden = true;
    }
  }

  /** @returns {RowView} */
  makeView() {
    const link = h('a', {});
    const badges = h('span', {class: 'badges'});
    const bar = h('i', {});
    const use = h('span', {class: 'number'});
    const waiting = h('span', {role: 'cell', class: 'c-waiting number'});
    const granted = h('span', {role: 'cell', class: 'c-granted number'});
    const refused = h('span', {role: 'cell', class: 'c-refused number'});
    const spark = h('canvas', {role: 'img', 'aria-label': 'use and line of the last two minutes'});
    const element = h('div', {class: 'row', role: 'row'},
      h('span', {role: 'cell', class: 'c-name'}, link, badges),
      h('span', {role: 'cell', class: 'c-use'}, h('span', {class: 'bar'}, bar), use),
      waiting, granted, refused, h('span', {role: 'cell', class: 'c-spark'}, spark));
    this.body.append(element);
    return {element, link, badges, bar, use, waiting, granted, refused, spark, shown: undefined, concerns: undefined, index: -1};
  }

  /** @param {RowView} view @param {GateRow} row @param {number} index @param {number} height */
  paintRow(view, row, index, height) {
    const {element} = view;
    if (element.hidden) element.hidden = false;
    if (view.index !== index) {
      view.index = index;
      element.setAttribute('aria-rowindex', String(index + 2));
    }
    element.style.transform = `translateY(${index * height}px)`;
    element.classList.toggle('selected', row.name === kept.selected);
    const concerns = this.model.concerned.get(row.name);
    if (view.shown !== row || view.concerns !== concerns) this.fillRow(view, row);
    view.shown = row;
    view.concerns = concerns;
    drawSparkline(view.spark, this.model.recent.get(row.name), row.limit, this.model.now);
  }

  /** @param {RowView} view @param {GateRow} row */
  fillRow(view, row) {
    const concerns = this.model.concerned.get(row.name) ?? [];
    setText(view.link, row.name);
    view.link.setAttribute('href', gateLink(row.name));
    view.link.setAttribute('title', row.name);
    fill(view.badges, concerns.map(each => h('span', {class: `badge ${each.level}`}, each.text)));
    view.element.classList.toggle('bad', concerns[0]?.level === 'bad');
    view.element.classList.toggle('warn', concerns[0]?.level === 'warn');
    const share = Math.min(1, useShare(row));
    view.bar.style.transform = `scaleX(${share})`;
    view.bar.className = concerns.some(each => each.flag === 'full' && each.level === 'bad') ? 'full' : '';
    setText(view.use, useText(row));
    const isGrowing = concerns.some(each => each.flag === 'growing');
    setText(view.waiting, row.waiting ? `${count(row.waiting)}${isGrowing ? ' ↑' : ''}` : '');
    view.waiting.classList.toggle('alarming', isGrowing);
    setText(view.granted, row.granted_per_second ? rate(row.granted_per_second) : '');
    setText(view.refused, row.refused_per_second ? rate(row.refused_per_second) : '');
  }

  /** What the server remembers of the gates that can be seen, some at a time. */
  async loadSparklines() {
    if (this.isLoading || this.hasNoHistory) return;
    const {first, last} = this.range();
    let size = 0;  // A head has room for 8 kB.
    const wanted = this.rows.slice(first, last).map(row => row.name)
      .filter(name => this.model.recent.get(name)?.isComplete === false)
      .slice(0, BATCH).filter(name => (size += encodeURIComponent(name).length + 1) < 4000);
    if (wanted.length === 0) return;
    this.isLoading = true;
    try {
      const answer = await history(wanted, `${SPAN}s`, 'in_use,waiting,granted', this.abort.signal);
      for (const gate of answer.gates) {
        const isRate = this.model.gates.get(gate.name)?.kind === 'rate';
        const use = isRate ? gate.granted_per_second : gate.in_use;
        this.model.recent.get(gate.name)?.prepend(answer.from, use ?? [], gate.waiting ?? []);
      }
      this.draw();
    } catch (error) {
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) this.hasNoHistory = true;
      return;  // Tried again with the next state.
    } finally {
      this.isLoading = false;
    }
    this.loadSparklines();
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether it was for this page */
  onKey(event) {
    switch (event.key) {
      case '/':
        this.search.focus();
        this.search.select();
        return true;
      case 'j': case 'ArrowDown':
        return this.move(1);
      case 'k': case 'ArrowUp':
        return this.move(-1);
      case 'Enter':
        if (!kept.selected || !this.model.gates.has(kept.selected)) return false;
        this.open(kept.selected);
        return true;
      case 'Escape':
        this.search.blur();
        this.clear();
        return true;
      default:
        return false;
    }
  }

  /** @param {number} step */
  move(step) {
    if (this.rows.length === 0) return false;
    this.touchedAt = Date.now();
    const at = this.rows.findIndex(row => row.name === kept.selected);
    const index = Math.min(this.rows.length - 1, Math.max(0, at < 0 ? 0 : at + step));
    kept.selected = this.rows[index].name;
    const height = this.rowHeight();
    const top = this.body.getBoundingClientRect().top + index * height;
    const headHeight = 100;
    if (top < headHeight) scrollBy(0, top - headHeight);
    else if (top + height > innerHeight) scrollBy(0, top + height - innerHeight);
    this.draw();
    return true;
  }
}

/** @param {string} gate */
export function gateLink(gate) {
  return `#/gates/${encodeURIComponent(gate)}`;
}

/** What the title of the window says. @param {Model} model */
export function summary(model) {
  let bad = 0;
  for (const concerns of model.concerned.values()) bad += concerns[0].level === 'bad' ? 1 : 0;
  return bad > 0 ? `(${count(bad)}) airlock` : `airlock: ${plural(model.gates.size, 'gate')}`;
}
