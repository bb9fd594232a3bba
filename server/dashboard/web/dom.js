// Builds elements. Text is always text: what gates and people call themselves is never read as HTML.

/**
 * @typedef {string | number | Node | null | undefined | false} Child
 * @typedef {Record<string, unknown>} Properties
 */

/**
 * An element. Properties that begin with `on` are listeners, others attributes; true is an empty one, false and null none.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  append(element, children.flat());
  return element;
}

/** @param {Element} element @param {Child[]} children */
export function append(element, children) {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(typeof child === 'number' ? String(child) : child);
    }
  }
}

/** Puts other children in. @param {Element} element @param {...(Child | Child[])} children */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children.flat());
}

/** Changes the text only if it differs, so that nothing is announced or painted again. @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {string} id */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`no element ${id}`);
  return element;
}

/** A color of the style sheet. @param {string} name */
export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
