// Questions before something is done, and what is said afterwards.

import {byId, h} from './dom.js';

const TOAST_TIME = 12_000;

/**
 * @typedef {{label: string, name: string, type: string, value?: string, min?: number, placeholder?: string, pattern?: string,
 *   hint?: string, required?: boolean, options?: [string, string][]}} Field
 */

/**
 * Asks; nothing where it was cancelled, else the values of the fields.
 * @param {{title: string, text: string[], fields?: Field[], action: string, isDangerous?: boolean}} question
 * @returns {Promise<Record<string, string> | undefined>}
 */
export function ask({title, text, fields = [], action, isDangerous = false}) {
  return new Promise(answered => {
    const inputs = fields.map(field => ({field, input: field.options
      ? h('select', {name: field.name, id: `field-${field.name}`}, field.options.map(([value, label]) => h('option', {value}, label)))
      : h('input', {name: field.name, id: `field-${field.name}`, type: field.type, min: field.min, placeholder: field.placeholder,
        pattern: field.pattern, required: field.required ?? true, autocomplete: 'off'})}));
    for (const {field, input} of inputs) if (field.value !== undefined) input.value = field.value;
    const dialog = h('dialog', {'aria-labelledby': 'dialog-title'},
      h('form', {method: 'dialog', onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        dialog.close('yes');
      }},
      h('h2', {id: 'dialog-title'}, title), text.map(each => h('p', {}, each)),
      inputs.map(({field, input}) => h('p', {class: 'field'}, h('label', {for: input.id}, field.label), input,
        field.hint && h('span', {class: 'muted'}, field.hint))),
      h('div', {class: 'buttons'},
        h('button', {type: 'button', onclick: () => dialog.close('')}, action ? 'Cancel' : 'Close'),
        action && h('button', {type: 'submit', class: isDangerous ? 'danger' : 'primary'}, action))));
    dialog.addEventListener('close', () => {
      dialog.remove();
      answered(dialog.returnValue !== 'yes' ? undefined
        : Object.fromEntries(inputs.map(({field, input}) => [field.name, input.value.trim()])));
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** @param {string} text @param {{undo?: () => void, isError?: boolean}} [options] */
export function toast(text, {undo, isError = false} = {}) {
  const close = () => element.remove();
  const element = h('div', {class: `toast${isError ? ' error' : ''}`}, h('span', {}, text),
    undo && h('button', {type: 'button', onclick: () => { close(); undo(); }}, 'Undo'),
    h('button', {type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: close}, '×'));
  const all = byId('toasts');
  all.append(element);
  while (all.children.length > 3) all.firstElementChild?.remove();
  setTimeout(close, isError ? 2 * TOAST_TIME : TOAST_TIME);
}
