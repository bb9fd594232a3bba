// The last two minutes of a gate, small: its use as an area below its limit, its line above that in another color.

import {color} from './dom.js';

/** @typedef {import('./model.js').Recent} Recent */

export const SPAN = 120;
const palette = {use: '', line: '', full: ''};

export function readColors() {
  palette.use = color('use');
  palette.line = color('line');
  palette.full = color('rule');
}

/**
 * @param {HTMLCanvasElement} canvas @param {Recent | undefined} recent @param {number | undefined} limit @param {number} now
 */
export function drawSparkline(canvas, recent, limit, now) {
  const ratio = Math.min(2, devicePixelRatio || 1);
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (width === 0) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.fillStyle = palette.full;
  context.fillRect(0, height - 1, width, 1);
  if (recent === undefined || recent.times.length === 0) return;
  const first = now - SPAN;
  const x = (/** @type {number} */ time) => Math.max(0, (time - first) / SPAN * width);
  const top = (/** @type {number} */ most) => (/** @type {number} */ value) =>
    height - 1 - Math.min(1, value / most) * (height - 3);

  const mostUse = Math.max(limit ?? 0, ...recent.use, 1);
  context.fillStyle = palette.use;
  stepPath(context, recent.times, recent.use, x, top(mostUse), now, height - 1);
  context.fill();
  const mostWaiting = Math.max(...recent.waiting);
  if (mostWaiting > 0) {
    context.strokeStyle = palette.line;
    context.lineWidth = 1.5;
    stepPath(context, recent.times, recent.waiting, x, top(mostWaiting), now);
    context.stroke();
  }
}

/**
 * Values hold until the next. With `base` the path is closed along it.
 * @param {CanvasRenderingContext2D} context @param {number[]} times @param {number[]} values
 * @param {(time: number) => number} x @param {(value: number) => number} y @param {number} now @param {number} [base]
 */
function stepPath(context, times, values, x, y, now, base) {
  context.beginPath();
  const begin = x(times[0]);
  context.moveTo(begin, base ?? y(values[0]));
  for (let i = 0; i < times.length; ++i) {
    context.lineTo(x(times[i]), y(values[i]));
    context.lineTo(x(times[i + 1] ?? now), y(values[i]));
  }
  if (base !== undefined) {
    context.lineTo(x(now), base);
    context.closePath();
  }
}
