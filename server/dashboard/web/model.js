// What is known of all gates, which of them need attention, and in which order they are shown.

/**
 * @typedef {import('./api.js').GateRow} GateRow
 * @typedef {import('./api.js').State} State
 * @typedef {{level: 'bad' | 'warn' | 'note', text: string, flag: string}} Concern
 * @typedef {{name: string, descending: boolean}} Sort
 */

const TREND_SECONDS = 20;
const KEPT_SECONDS = 130;
const REFUSING_SECONDS = 15;  // A gate that refuses now and then does not blink.

/** How full a line counts as growing: longer than some seconds ago, and by more than a waiter or two. */
const GROWTH = 1.2;

/** What a gate was like in the last two minutes, for sparklines. Values hold until the next. */
export class Recent {
  constructor() {
    /** @type {number[]} */ this.times = [];
    /** @type {number[]} */ this.use = [];
    /** @type {number[]} */ this.waiting = [];
    this.isComplete = false;  // What was before the page was opened is there as well.
    this.refusedAt = -Infinity;
  }

  /** @param {number} time @param {number} use @param {number} waiting */
  add(time, use, waiting) {
    const last = this.times.length - 1;
    if (last >= 0 && this.use[last] === use && this.waiting[last] === waiting) return;
    this.times.push(time);
    this.use.push(use);
    this.waiting.push(waiting);
    let old = 0;
    while (old + 1 < this.times.length && this.times[old + 1] < time - KEPT_SECONDS) ++old;
    if (old > 60) for (const list of [this.times, this.use, this.waiting]) list.splice(0, old);
  }

  /** What the server remembers, before what this page has seen. @param {number} from @param {(number | null)[]} use @param {(number | null)[]} waiting */
  prepend(from, use, waiting) {
    const older = new Recent();
    const first = this.times[0] ?? Infinity;
    use.forEach((value, i) => {
      if (value !== null && from + i < first) older.add(from + i, value, waiting[i] ?? 0);
    });
    this.times.unshift(...older.times);
    this.use.unshift(...older.use);
    this.waiting.unshift(...older.waiting);
    this.isComplete = true;
  }

  /** @param {number} time */
  waitingAt(time) {
    for (let i = this.times.length - 1; i >= 0; --i) if (this.times[i] <= time) return this.waiting[i];
    return undefined;
  }
}

export class Model {
  constructor() {
    /** @type {Map<string, GateRow>} */ this.gates = new Map();
    /** @type {Map<string, Recent>} */ this.recent = new Map();
    /** @type {import('./api.js').Finding[]} */ this.findings = [];
    /** @type {Map<string, Concern[]>} */ this.concerned = new Map();
    this.now = 0;
    this.period = 1;
    /** @type {string | null} */ this.storeError = null;
    this.isKnown = false;
  }

  /** @param {State} state */
  apply(state) {
    if (state.reset) {
      const still = new Set(state.changed.map(row => row.name));
      for (const name of this.gates.keys()) if (!still.has(name)) this.forget(name);
      // What happened while nothing was heard is asked for again.
      for (const recent of this.recent.values()) recent.isComplete = false;
    }
    this.now = state.now;
    this.period = state.period_seconds;
    this.storeError = state.store_error;
    this.findings = state.findings;
    this.isKnown = true;
    for (const name of state.removed) this.forget(name);
    for (const row of state.changed) {
      this.gates.set(row.name, row);
      let recent = this.recent.get(row.name);
      if (recent === undefined) this.recent.set(row.name, recent = new Recent());
      recent.add(state.now, shownUse(row), row.waiting ?? 0);
      if (row.refused_per_second) recent.refusedAt = state.now;
    }
    this.judge(state.changed);
  }

  /** @param {string} name */
  forget(name) {
    this.gates.delete(name);
    this.recent.delete(name);
    this.concerned.delete(name);
  }

  /** Lines grow and stop growing while their row stays as it is. @param {GateRow[]} changed */
  judge(changed) {
    const names = new Set([...this.concerned.keys(), ...changed.map(row => row.name)]);
    for (const name of names) {
      const row = this.gates.get(name);
      const concerns = row ? this.concerns(row) : [];
      if (concerns.length === 0) this.concerned.delete(name);
      else this.concerned.set(name, concerns);
    }
  }

  /** @param {GateRow} row */
  isGrowing(row) {
    const waiting = row.waiting ?? 0;
    const before = this.recent.get(row.name)?.waitingAt(this.now - TREND_SECONDS);
    return before !== undefined && waiting >= before * GROWTH && waiting > before + 2;
  }

  /** What is wrong with a gate, the worst first. @param {GateRow} row @returns {Concern[]} */
  concerns(row) {
    /** @type {Concern[]} */
    const found = [];
    const waiting = row.waiting ?? 0;
    const isRefusing = this.now - (this.recent.get(row.name)?.refusedAt ?? -Infinity) < REFUSING_SECONDS;
    if (row.kind === 'unreadable') found.push({level: 'bad', flag: 'unreadable', text: 'unreadable'});
    if (row.pauses?.length) found.push({level: 'bad', flag: 'paused', text: 'paused'});
    else if (row.limit === 0) found.push({level: 'bad', flag: 'paused', text: 'closed'});
    if (waiting > 0 && this.isGrowing(row)) found.push({level: 'bad', flag: 'growing', text: 'line growing'});
    if (row.limit !== undefined && row.limit > 0 && (row.in_use ?? 0) > row.limit) {
      found.push({level: 'warn', flag: 'over', text: 'over the limit'});
    } else if (isFull(row)) {
      // One slot that is in use is what it is for.
      const level = waiting > 0 || isRefusing ? 'bad' : row.limit === 1 ? undefined : 'warn';
      if (level) found.push({level, flag: 'full', text: 'full'});
    }
    if (isRefusing) found.push({level: 'warn', flag: 'refusing', text: 'refusing'});
    if (row.limits_disagree) found.push({level: 'warn', flag: 'disagree', text: 'limits disagree'});
    if (row.override_limit !== undefined) found.push({level: 'note', flag: 'overridden', text: 'limit overridden'});
    return found;
  }

  /** How urgent: higher is first. @param {GateRow} row */
  urgency(row) {
    const weights = {bad: 100, warn: 10, note: 1};
    let sum = 0;
    for (const each of this.concerned.get(row.name) ?? []) sum += weights[each.level];
    return sum;
  }

  /** How many gates each flag has, and the sums of all. */
  totals() {
    /** @type {Record<string, number>} */
    const flags = {};
    let waiting = 0, granted = 0, refused = 0;
    for (const concerns of this.concerned.values()) {
      for (const {flag} of concerns) flags[flag] = (flags[flag] ?? 0) + 1;
    }
    for (const row of this.gates.values()) {
      waiting += row.waiting ?? 0;
      granted += row.granted_per_second ?? 0;
      refused += row.refused_per_second ?? 0;
    }
    return {flags, waiting, granted, refused, gates: this.gates.size};
  }

  /** @param {string} search @param {string} flag @param {Sort} sort @returns {GateRow[]} */
  select(search, flag, sort) {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [];
    for (const row of this.gates.values()) {
      if (flag === 'waiting' ? !row.waiting : flag && !this.concerned.get(row.name)?.some(each => each.flag === flag)) continue;
      if (words.every(word => row.name.toLowerCase().includes(word))) rows.push(row);
    }
    const key = this.sortKey(sort.name);
    const sign = sort.descending ? -1 : 1;
    const keyed = rows.map(row => ({row, key: key(row)}));
    keyed.sort((a, b) => sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) || (a.row.name < b.row.name ? -1 : 1));
    return keyed.map(each => each.row);
  }

  /** @param {string} name @returns {(row: GateRow) => number | string} */
  sortKey(name) {
    switch (name) {
      case 'name': return row => row.name;
      case 'use': return row => useShare(row);
      case 'waiting': return row => row.waiting ?? 0;
      case 'granted': return row => row.granted_per_second ?? 0;
      case 'refused': return row => row.refused_per_second ?? 0;
      default: return row => this.urgency(row);
    }
  }
}

/** What a sparkline shows: of a rate, how much it grants. @param {GateRow} row */
function shownUse(row) {
  return row.kind === 'rate' ? row.granted_per_second ?? 0 : row.in_use ?? 0;
}

/** @param {GateRow} row */
export function isFull(row) {
  return row.kind !== 'lock' && row.limit !== undefined && row.limit > 0 && (row.in_use ?? 0) >= row.limit;
}

/** Between 0 and 1, or more where a limit was lowered. @param {GateRow} row */
export function useShare(row) {
  if (row.limit) return (row.in_use ?? 0) / row.limit;
  if (row.rate_limit) return 1 - (row.rate_remaining ?? 0) / row.rate_limit;
  return row.in_use ? 1 : 0;
}

/** "9 / 10". @param {GateRow} row */
export function useText(row) {
  if (row.kind === 'lock') return (row.lock_state === 'shared' ? `shared by ${row.holder_count ?? 0}` : row.lock_state) ?? 'lock';
  if (row.limit !== undefined) return `${row.in_use ?? 0} / ${row.limit}`;
  if (row.rate_limit) return `${row.rate_limit - (row.rate_remaining ?? 0)} / ${row.rate_limit}`;
  return row.in_use ? String(row.in_use) : '–';
}
