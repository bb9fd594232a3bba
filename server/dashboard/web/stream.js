// /v1/events, connected again whenever it ends.

import {ApiError, request} from './api.js';

/** @typedef {import('./api.js').State} State */

const FIRST_RETRY = 1000;
const LAST_RETRY = 15_000;
const SILENCE = 20_000;  // The server says something every 15 s at least.

export class Stream {
  /**
   * @param {{state: (state: State) => void, lost: (error: ApiError, retryAt: number) => void}} listener
   */
  constructor(listener) {
    this.listener = listener;
    this.failures = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {AbortController | undefined} */
    this.connection = undefined;
    // A laptop that slept, or a network that is back: no reason to wait any longer.
    addEventListener('online', () => this.hurry());
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && this.hurry());
  }

  start() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.connection?.abort();
    const connection = new AbortController();
    this.connection = connection;
    this.read(connection).catch(error => {
      if (this.connection === connection) this.retry(error);
    });
  }

  hurry() {
    if (this.timer !== undefined) this.start();
  }

  /** @param {unknown} error */
  retry(error) {
    const failure = error instanceof ApiError ? error : new ApiError(0, 'The connection to the server ended.');
    const longest = Math.min(LAST_RETRY, FIRST_RETRY * 2 ** this.failures++);
    const delay = longest * (0.5 + Math.random() / 2);  // Not all viewers at once.
    this.timer = setTimeout(() => this.start(), delay);
    this.listener.lost(failure, Date.now() + delay);
  }

  /** @param {AbortController} connection */
  async read(connection) {
    const answer = await request('GET', 'v1/events', undefined, connection.signal);
    if (answer.body === null) throw new ApiError(0, 'The server sent no events.');
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let unread = '';
    for (;;) {
      const alarm = setTimeout(() => connection.abort(), SILENCE);
      const {value, done} = await reader.read().finally(() => clearTimeout(alarm));
      if (done) throw new ApiError(0, 'The connection to the server ended.');
      const events = (unread + value).split('\n\n');
      unread = /** @type {string} */ (events.pop());
      for (const event of events) this.take(event);
    }
  }

  /** @param {string} event */
  take(event) {
    if (!event.startsWith('event: state\n')) return;
    this.failures = 0;
    this.listener.state(JSON.parse(event.slice(event.indexOf('data: ') + 6)));
  }
}
