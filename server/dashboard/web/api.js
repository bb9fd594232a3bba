// Calls of the server, relative to where this page is: it may be behind a proxy, under a path of its own.

/**
 * @typedef {{reporter: string, until: number}} Pause
 * @typedef {{name: string, kind: string, lock_state?: string, in_use?: number, limit?: number, override_limit?: number,
 *   holder_count?: number, waiting?: number, limits_disagree?: boolean, pauses?: Pause[], granted_per_second?: number,
 *   refused_per_second?: number, rate_limit?: number, rate_remaining?: number, error?: string}} GateRow
 * @typedef {{level: string, what: string, remedy: string}} Finding
 * @typedef {{now: number, period_seconds: number, reset: boolean, store_error: string | null, findings: Finding[],
 *   changed: GateRow[], removed: string[]}} State
 * @typedef {{name: string, missing: {from: number, to: number, because: string}[], in_use?: (number | null)[],
 *   limit?: (number | null)[], waiting?: (number | null)[], granted_per_second?: (number | null)[],
 *   refused_per_second?: Record<string, (number | null)[]>, wait_p50_seconds?: (number | null)[],
 *   wait_p99_seconds?: (number | null)[]}} GateHistory
 * @typedef {{from: number, to: number, resolution_seconds: number, gates: GateHistory[]}} History
 * @typedef {{visitor: string, label: string, fence: number, weight: number, slot: number | null, age_seconds: number,
 *   remaining_seconds: number | null, claimed: boolean, revoked: boolean, hold: string}} Holder
 * @typedef {{visitor: string, label: string, weight: number, priority: number, waited_seconds: number, present: boolean,
 *   hold: string}} Waiter
 * @typedef {{rate: string, limit: number, remaining: number, reset_after_seconds: number}} Rate
 * @typedef {{name: string, kind: string, order: string, last_fence: number, holders: Holder[], line: Waiter[], rates: Rate[],
 *   counters: {granted: number, refused: Record<string, number>, expired: number, revoked: number, died: number,
 *     missed: number, abandoned: number}}} Gate
 */

const TOKEN = 'airlock-token';

/** What the server said no with. */
export class ApiError extends Error {
  /** @param {number} status 0: it did not answer. @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** A bearer token, kept until the tab is closed. */
export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? '',
  /** @param {string} text */
  set: text => sessionStorage.setItem(TOKEN, text),
};

/** `group~name` stands for group/name in a path. @param {string} gate */
export function gatePath(gate) {
  return `v1/gates/${encodeURIComponent(gate.replace('/', '~'))}`;
}

/**
 * @param {string} method @param {string} path @param {object} [body] @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
export async function request(method, path, body, signal) {
  /** @type {Record<string, string>} */
  const headers = {'Airlock-Dashboard': '1'};
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let answer;
  try {
    answer = await fetch(path, {
      method, headers, signal, cache: 'no-store', credentials: 'same-origin',
      body: body === undefined ? undefined : JSON.stringify(body)});
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'The server does not answer.');
  }
  if (answer.ok) return answer;
  let detail = `The server answered ${answer.status}.`;
  try {
    const problem = await answer.json();
    detail = `${problem.field ? `${problem.field}: ` : ''}${problem.detail}`;
  } catch {
    // Not from the server itself, but from a proxy before it.
  }
  throw new ApiError(answer.status, detail);
}

/** @param {string} path @param {AbortSignal} [signal] */
export async function get(path, signal) {
  return (await request('GET', path, undefined, signal)).json();
}

/**
 * @param {string[]} gates @param {string} span @param {string} [columns] @param {AbortSignal} [signal]
 * @returns {Promise<History>}
 */
export function history(gates, span, columns, signal) {
  const names = gates.map(encodeURIComponent).join(',');
  return get(`v1/history?gates=${names}&span=${span}${columns ? `&columns=${columns}` : ''}`, signal);
}

/** @param {string} gate @param {AbortSignal} [signal] @returns {Promise<Gate>} */
export function showGate(gate, signal) {
  return get(gatePath(gate), signal);
}

/**
 * Whether this caller may change a gate; without one, any gate.
 * @param {string} [gate] @returns {Promise<boolean>}
 */
export async function mayOperate(gate) {
  try {
    const me = await get(`v1/me${gate ? `?gate=${encodeURIComponent(gate)}` : ''}`);
    return me.roles.includes('operate');
  } catch (error) {
    // What else went wrong is shown where it is tried.
    return !(error instanceof ApiError && (error.status === 401 || error.status === 403));
  }
}
