// Who holds a gate, and who waits for it.

import {fill, h} from './dom.js';
import {count, duration, plural} from './format.js';

/**
 * @typedef {import('./api.js').Holder} Holder
 * @typedef {import('./api.js').Waiter} Waiter
 */

const PAGE = 100;
const ACTION = 'Action';

/** @template T */
export class People {
  /**
   * @param {string} title @param {string} nobody @param {string[]} headers
   * @param {(person: T, index: number) => import('./dom.js').Child[]} cells
   */
  constructor(title, nobody, headers, cells) {
    this.cells = cells;
    this.nobody = nobody;
    this.shown = PAGE;
    this.headers = headers;
    this.number = h('span', {class: 'muted'});
    this.body = h('tbody');
    this.more = h('button', {type: 'button', hidden: true, onclick: () => {
      this.shown += 5 * PAGE;
      this.show(this.people);
    }});
    this.table = h('table', {}, h('thead', {}, h('tr', {}, headers.map(each => h('th', {scope: 'col'}, each === ACTION ? h('span', {class: 'hidden'}, each) : each)))), this.body);
    this.empty = h('p', {class: 'muted'}, nobody);
    this.element = h('section', {class: 'people'}, h('h2', {}, title, ' ', this.number),
      h('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': title}, this.table), this.empty, this.more);
    /** @type {T[]} */ this.people = [];
  }

  /** @param {T[]} people */
  show(people) {
    this.people = people;
    this.number.textContent = people.length > 0 ? count(people.length) : '';
    this.table.hidden = people.length === 0;
    this.empty.hidden = people.length !== 0;
    const rows = people.slice(0, this.shown);
    // The focus would be lost with the button that has it.
    const focused = [...this.body.rows].findIndex(row => row.contains(document.activeElement));
    fill(this.body, rows.map((person, i) => h('tr', {}, this.cells(person, i).map((cell, column) =>
      h('td', {'data-label': this.headers[column] === ACTION ? '' : this.headers[column]}, cell)))));
    if (focused >= 0) this.body.rows[focused]?.querySelector('button')?.focus();
    this.more.hidden = people.length <= this.shown;
    this.more.textContent = `Show more: ${plural(people.length - this.shown, 'is', 'are')} not shown`;
  }
}

/** @param {{label: string, visitor: string}} person @param {number} [place] in the line */
function named(person, place) {
  return h('span', {class: 'person'}, place !== undefined && h('span', {class: 'place'}, place), h('bdi', {class: 'label'}, person.label || '(no label)'),
    ' ', h('code', {title: 'digest of the visitor'}, person.visitor));
}

/** @param {Holder} holder */
function stateOf(holder) {
  if (holder.revoked) return h('span', {class: 'badge warn'}, 'revoked');
  if (!holder.claimed) return h('span', {class: 'badge note'}, 'not yet claimed');
  return holder.hold === 'detached' ? 'token' : 'connected';
}

/** @param {(holder: Holder) => import('./dom.js').Child} action @returns {People<Holder>} */
export function holders(action) {
  return new People('Holders', 'Nobody holds this gate.', ['Holder', 'Age', 'Remaining', 'Slot', 'Weight', 'Held by', ACTION],
    holder => [named(holder), duration(holder.age_seconds), duration(holder.remaining_seconds), holder.slot ?? '', holder.weight === 1 ? '' : holder.weight,
      stateOf(holder), action(holder)]);
}

/** @returns {People<Waiter>} */
export function waiters() {
  return new People('Waiting line', 'Nobody waits.', ['Waiter', 'Waited', 'Weight', 'Priority', 'State'],
    (waiter, i) => [named(waiter, i + 1), duration(waiter.waited_seconds), waiter.weight === 1 ? '' : waiter.weight, waiter.priority || '',
      waiter.present ? '' : h('span', {class: 'badge note', title: 'passed over until it asks again'}, 'absent')]);
}
