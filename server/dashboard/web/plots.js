// What a gate did: four plots over one stretch of time, with one cursor.

/// <reference types="./uPlot" />

import {color, h} from './dom.js';
import {clock, count, duration, rate} from './format.js';

/**
 * @typedef {import('./api.js').History} History
 * @typedef {(number | null)[]} Column
 * @typedef {{label: string, column: string, stroke: string, fill?: string, stepped?: boolean, isRate?: boolean, isSparse?: boolean, dash?: number[]}} Line
 * @typedef {{title: string, lines: Line[], value: (value: number | null) => string, hint: string}} Plot
 */

const REASONS = ['full', 'rate', 'paused', 'line_full', 'late', 'never'];
const HEIGHT = 150;
const MEAN = 5;
const WHOLE = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000].flatMap(each => [each, 2 * each, 5 * each]);

/** Columns in equal steps. What the server does not know, but this page has seen, stays. */
export class Series {
  /** @param {number} step @param {number} span */
  constructor(step, span) {
    this.step = step;
    this.span = span;
    this.to = 0;
    /** @type {Record<string, Column>} */ this.columns = {};
    /** @type {{from: number, to: number, because: string}[]} */ this.missing = [];
  }

  get length() {
    return this.span / this.step;
  }

  /** @param {number} to */
  moveTo(to) {
    if (to <= this.to) return;
    const steps = this.to === 0 ? this.length : Math.min(this.length, (to - this.to) / this.step);
    for (const column of Object.values(this.columns)) {
      column.splice(0, steps);
      while (column.length < this.length) column.push(null);
    }
    this.to = to;
  }

  /** @param {string} name @returns {Column} */
  column(name) {
    return this.columns[name] ??= Array(this.length).fill(null);
  }

  /** @param {History} history */
  merge(history) {
    if (history.resolution_seconds !== this.step) return;
    const [gate] = history.gates;
    this.moveTo(history.to);
    const offset = this.length - 1 - (this.to - history.from) / this.step;
    const take = (/** @type {string} */ name, /** @type {Column | undefined} */ values) => {
      const column = this.column(name);
      values?.forEach((value, i) => {
        if (value !== null && offset + i >= 0 && offset + i < column.length) column[offset + i] = value;
      });
    };
    for (const name of /** @type {const} */ (['in_use', 'limit', 'waiting', 'granted_per_second', 'wait_p50_seconds', 'wait_p99_seconds']))
      take(name, gate[name]);
    // A reason that did not come up is not in the answer: it was 0 wherever grants are known.
    for (const reason of REASONS) {
      const values = gate.refused_per_second?.[reason];
      if (values || this.columns[reason])
        take(reason, values ?? gate.granted_per_second?.map(value => value === null ? null : 0));
    }
    if (history.to - history.from + this.step >= this.span) this.missing = gate.missing;
  }

  /** What a row of an event says, where the server keeps no history. @param {number} now @param {import('./api.js').GateRow} row */
  add(now, row) {
    if (this.step !== 1) return;
    this.moveTo(now);
    const at = this.length - 1 - (this.to - now);
    if (at < 0) return;
    this.column('in_use')[at] = row.in_use ?? 0;
    this.column('limit')[at] = row.limit ?? null;
    this.column('waiting')[at] = row.waiting ?? 0;
    this.column('granted_per_second')[at] = row.granted_per_second ?? 0;
    this.column('refused')[at] = row.refused_per_second ?? 0;
  }

  times() {
    const first = this.to - this.span + this.step;
    return Array.from({length: this.length}, (_, i) => first + i * this.step);
  }
}

/** @returns {Plot[]} */
function plots() {
  return [
    {title: 'In use', hint: 'against the limit', value: count, lines: [
      {label: 'in use', column: 'in_use', stroke: 'use-line', fill: 'use-fill', stepped: true},
      {label: 'limit', column: 'limit', stroke: 'limit', stepped: true, dash: [5, 4]}]},
    {title: 'Line', hint: 'who waits', value: count, lines: [
      {label: 'waiting', column: 'waiting', stroke: 'line', fill: 'line-fill', stepped: true}]},
    {title: 'Grants and refusals', hint: 'per second; refusals by reason', value: rate, lines: [
      {label: 'granted', column: 'granted_per_second', stroke: 'granted', isRate: true},
      {label: 'refused', column: 'refused', stroke: 'reason-full', isRate: true},
      ...REASONS.map(reason => ({label: reason.replace('_', ' '), column: reason, stroke: `reason-${reason.replace('_', '-')}`, isRate: true}))]},
    {title: 'Wait', hint: 'of those who were granted', value: value => value === null ? '–' : duration(value), lines: [
      {label: 'p50', column: 'wait_p50_seconds', stroke: 'use-line', isSparse: true},
      {label: 'p99', column: 'wait_p99_seconds', stroke: 'line', isSparse: true}]},
  ];
}

export class Plots {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.parent = parent;
    /** @type {{plot: Plot, uplot: uPlot, lines: Line[], box: HTMLElement}[]} */ this.drawn = [];
    this.lines = '';
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(parent);
    this.sync = `gate-${Math.random()}`;
  }

  close() {
    this.observer.disconnect();
    this.clear();
  }

  /** Colors may be others now. */
  clear() {
    for (const {uplot} of this.drawn) uplot.destroy();
    this.drawn = [];
    this.lines = '';
    this.parent.replaceChildren();
  }

  /** @param {Series} series */
  draw(series) {
    const wanted = plots().map(plot => ({...plot, lines: plot.lines.filter(line => has(series, line.column))}));
    const lines = JSON.stringify([series.step, wanted]);
    if (lines !== this.lines) {
      this.clear();
      this.lines = lines;
      for (const plot of wanted) this.add(plot, series);
    }
    const times = series.times();
    for (const {uplot, plot, box} of this.drawn) {
      uplot.setData([times, ...plot.lines.map(line => shownColumn(series, line))]);
      // What is newest, while nobody points at anything.
      if (uplot.cursor.left === undefined || uplot.cursor.left < 0) uplot.setLegend({idx: lastKnown(uplot)});
      box.setAttribute('aria-label', description(plot, series));
    }
  }

  /** @param {Plot} plot @param {Series} series */
  add(plot, series) {
    const box = h('div', {class: 'plot-box', role: 'img'});
    this.parent.append(h('section', {class: 'plot'},
      h('h2', {}, plot.title, ' ', h('span', {class: 'muted'}, plot.hint)), box));
    const axis = {
      stroke: color('muted'), font: '11px system-ui, sans-serif', grid: {stroke: color('rule'), width: 1}, ticks: {show: false}};
    const uplot = new uPlot({
      width: this.width(), height: HEIGHT, cursor: {sync: {key: this.sync}, drag: {x: false, y: false}, points: {size: 6}},
      legend: {live: true}, padding: [8, 8, 0, 0],
      scales: {y: {range: (_, _least, most) => [0, most > 0 ? most * 1.1 : 1]}},
      axes: [{...axis, size: 26, space: 60, values: (_, ticks) => ticks.map(tick => clock(tick, ticks[1] - ticks[0] < 60))}, {...axis, size: 58, space: 28, incrs: plot.value === count ? WHOLE : undefined, values: (_, ticks) => ticks.map(tick => plot.value(tick))}],
      series: [{label: 'at', value: (_, time) => time === null ? '–' : clock(time, series.step < 60)},
        ...plot.lines.map(line => ({
          label: line.label, stroke: color(line.stroke), width: 1.5, dash: line.dash, points: {show: line.isSparse ?? false, size: 4},
          fill: line.fill ? color(line.fill) : undefined, value: (/** @type {uPlot} */ _, /** @type {number | null} */ value) => plot.value(value),
          paths: line.stepped ? uPlot.paths.stepped?.({align: -1}) : undefined, spanGaps: line.isSparse ?? false}))],
    }, [[], ...plot.lines.map(() => [])], box);
    this.drawn.push({plot, uplot, lines: plot.lines, box});
  }

  width() {
    const style = getComputedStyle(this.parent);
    const columns = style.gridTemplateColumns.split(' ').length;
    const gap = parseFloat(style.columnGap) || 0;
    return Math.max(200, Math.floor((this.parent.clientWidth - gap * (columns - 1)) / columns) - 26);
  }

  resize() {
    const width = this.width();
    for (const {uplot} of this.drawn) if (uplot.width !== width) uplot.setSize({width, height: HEIGHT});
  }
}

/** Whether anything was seen; what always belongs to a plot is drawn in any case. @param {Series} series @param {string} column */
function has(series, column) {
  if (['in_use', 'waiting', 'granted_per_second', 'wait_p50_seconds', 'wait_p99_seconds'].includes(column)) return true;
  return series.columns[column]?.some(value => value !== null && (value > 0 || column === 'limit')) ?? false;
}

/** Of single events in single seconds the eye makes nothing: the mean of some. @param {Series} series @param {Line} line @returns {Column} */
function shownColumn(series, line) {
  const column = series.column(line.column);
  if (!line.isRate || series.step > 1) return column;
  return column.map((value, i) => {
    if (value === null) return null;
    let sum = 0, known = 0;
    for (let j = Math.max(0, i - MEAN + 1); j <= i; ++j) {
      const each = column[j];
      if (each !== null) sum += each, ++known;
    }
    return sum / known;
  });
}

/** @param {uPlot} uplot */
function lastKnown(uplot) {
  const [times, first] = uplot.data;
  for (let i = times.length - 1; i >= 0; --i) if (first?.[i] !== null) return i;
  return times.length - 1;
}

/** What those hear who do not see it. @param {Plot} plot @param {Series} series */
function description(plot, series) {
  const parts = plot.lines.map(line => {
    const known = series.column(line.column).filter(value => value !== null);
    if (known.length === 0) return `${line.label}: nothing known`;
    return `${line.label}: now ${plot.value(known[known.length - 1])}, at most ${plot.value(Math.max(...known))}`;
  });
  return `${plot.title}. ${parts.join('; ')}`;
}
