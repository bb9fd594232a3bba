// What an operator can do to a gate. Each is asked about before, and can be undone where the server can.

import {ApiError, gatePath, request} from './api.js';
import {ask, toast} from './dialogs.js';
import {count, duration, plural} from './format.js';

/** @typedef {import('./api.js').GateRow} GateRow */

const OPERATOR = 'operator';

export class Actions {
  /** @param {() => void} refused called when the server says that this caller may not */
  constructor(refused) {
    this.refused = refused;
  }

  /** Whether it was done. @param {string} method @param {string} path @param {object} [body] @returns {Promise<any>} */
  async send(method, path, body) {
    try {
      const answer = await request(method, path, body);
      return answer.status === 204 ? {} : await answer.json();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 403) this.refused();
      toast(error.status === 403 ? `You may not do this. ${error.message}` : `Not done. ${error.message}`, {isError: true});
      return undefined;
    }
  }

  /** @param {string} gate @param {number | undefined} limit undefined: none */
  putLimit(gate, limit) {
    return limit === undefined ? this.send('DELETE', `${gatePath(gate)}/limit`) : this.send('PUT', `${gatePath(gate)}/limit`, {limit});
  }

  /** @param {GateRow} row */
  async setLimit(row) {
    const {name: gate, override_limit: before} = row;
    const answer = await ask({
      title: `Limit of ${gate}`, action: 'Set limit',
      text: ['Replaces the limit that callers bring, until it is cleared. Raising it admits waiters at once; lowering it ends no lease. 0 closes the gate.'],
      fields: [{label: 'Limit', name: 'limit', type: 'number', min: 0, value: String(row.limit ?? '')}]});
    if (answer === undefined) return;
    const limit = Number(answer.limit);
    if (await this.putLimit(gate, limit)) {
      toast(`The limit of ${gate} is ${count(limit)} for everybody.`, {undo: () => this.restoreLimit(gate, before)});
    }
  }

  /** @param {GateRow} row */
  async clearLimit(row) {
    const {name: gate, override_limit: before} = row;
    if (await this.putLimit(gate, undefined))
      toast(`The limit of ${gate} is what its callers bring.`, {undo: () => this.restoreLimit(gate, before)});
  }

  /** @param {string} gate @param {number | undefined} limit */
  async restoreLimit(gate, limit) {
    if (await this.putLimit(gate, limit)) toast(`The limit of ${gate} is as it was.`);
  }

  /** @param {string} gate @param {string} time @param {string} [reporter] */
  putPause(gate, time, reporter = OPERATOR) {
    return this.send('PUT', `${gatePath(gate)}/pause`, {for: time, reporter});
  }

  /** @param {string} gate @param {string} reporter */
  deletePause(gate, reporter) {
    return this.send('DELETE', `${gatePath(gate)}/pause?reporter=${encodeURIComponent(reporter)}`);
  }

  /** @param {GateRow} row */
  async pause(row) {
    const gate = row.name;
    const answer = await ask({
      title: `Pause ${gate}`, action: 'Pause',
      text: ['Admits nobody for this time. Those who hold a slot keep it; those who wait keep their places.'],
      fields: [{label: 'For', name: 'for', type: 'text', value: '10m', pattern: '\\s*([0-9.]+(ms|s|m|h|d))+\\s*', hint: 'such as 30s, 10m or 1h30m'}]});
    if (answer === undefined) return;
    if (await this.putPause(gate, answer.for)) {
      toast(`${gate} admits nobody for ${answer.for}.`, {undo: async () => {
        if (await this.deletePause(gate, OPERATOR)) toast(`${gate} admits again.`);
      }});
    }
  }

  /** @param {GateRow} row @param {import('./api.js').Pause} pause @param {number} now */
  async resume(row, pause, now) {
    const left = Math.max(1, Math.round(pause.until - now));
    if (await this.deletePause(row.name, pause.reporter)) {
      toast(`The pause of ${row.name} by ${pause.reporter} is lifted.`, {
        undo: async () => {
          if (await this.putPause(row.name, `${left}s`, pause.reporter)) toast(`${row.name} is paused for ${duration(left)} again.`);
        }});
    }
  }

  /** One holder, or all. @param {GateRow} row @param {import('./api.js').Holder} [holder] */
  async revoke(row, holder) {
    const gate = row.name;
    const whom = holder ? `${holder.label || holder.visitor}` : plural(row.holder_count ?? 0, 'holder');
    const answer = await ask({
      title: holder ? `Revoke the lease of ${whom}` : `Revoke all leases of ${gate}`, action: 'Revoke', isDangerous: true,
      text: [holder ? `It holds ${gate} since ${duration(holder.age_seconds)}.` : `${whom} will be told to stop.`,
        'This cannot be undone: a holder has to ask again, at the end of the line.'],
      fields: [{label: 'The slot moves on', name: 'now', type: 'select', options: [
        ['', 'when it is released, or after a third of the ttl'], ['now', 'at once, even while the holder still works']]}]});
    if (answer === undefined) return;
    const body = {...(holder ? {visitor: holder.visitor} : {}), now: answer.now === 'now'};
    const done = await this.send('POST', `${gatePath(gate)}/revoke`, body);
    if (done) toast(`${plural(done.revoked, 'lease')} of ${gate} revoked.`);
  }

  /** @param {GateRow} row */
  async purge(row) {
    const gate = row.name;
    const answer = await ask({
      title: `Purge ${gate}`, action: 'Purge', isDangerous: true,
      text: [`Forgets everything about ${gate}: ${plural(row.holder_count ?? 0, 'holder')}, ${plural(row.waiting ?? 0, 'waiter')}, rates, pauses, limit and counters. Those who hold a slot go on working without one.`,
        'This cannot be undone.']});
    if (answer !== undefined && await this.send('DELETE', gatePath(gate))) toast(`${gate} is purged.`);
  }
}
