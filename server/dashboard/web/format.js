// Numbers and times as people read them.

/** @param {number | null | undefined} value */
export function count(value) {
  if (value === null || value === undefined) return '–';
  if (value < 10_000) return String(value);
  if (value < 1_000_000) return `${(value / 1000).toFixed(value < 100_000 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** Per second. @param {number | null | undefined} value */
export function rate(value) {
  if (value === null || value === undefined) return '–';
  if (value === 0) return '0';
  if (value < 0.1) return value.toFixed(2);
  return value < 10 ? value.toFixed(1) : count(Math.round(value));
}

/** A length of time; null is for ever. @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === undefined) return '–';
  if (seconds === null) return '∞';
  const s = Math.max(0, seconds);
  if (s < 0.0005) return '0';
  if (s < 1) return `${Math.max(1, Math.round(s * 1000))} ms`;
  if (s < 10) return `${Number(s.toFixed(1))} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 >= 1 ? ` ${pad(s % 60)} s` : ''}`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${pad((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/** @param {number} value */
function pad(value) {
  return String(Math.floor(value)).padStart(2, '0');
}

/** Of the day. @param {number} time since 1970 @param {boolean} [hasSeconds] */
export function clock(time, hasSeconds = false) {
  return new Date(time * 1000).toLocaleTimeString([], {hourCycle: 'h23', hour: '2-digit', minute: '2-digit', second: hasSeconds ? '2-digit' : undefined});
}

/** @param {number} number @param {string} one @param {string} [many] */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}
