// Numbers as they travel in the page, and as people read them.

/** A base64 matrix of `count` numbers: float64 or float32, whichever its length says. */
export function decode(text, count) {
  if (!text) return new Float64Array(0);
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const numbers = bytes.length === 8 * count ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
  if (numbers.length !== count) throw new Error(`a matrix has ${numbers.length} numbers instead of ${count}`);
  return numbers;
}

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

/** As many digits as the sd is worth: two of its own. */
export function rounded(value, sd) {
  if (!isNumber(value)) return 'NA';
  const size = isNumber(sd) && sd > 0 ? sd : Math.abs(value);
  if (size === 0) return '0';
  const decimals = 1 - Math.floor(Math.log10(size));
  if (decimals > 8 || Math.abs(value) >= 1e9) return plain(value.toExponential(3));
  return plain(value.toFixed(Math.max(0, decimals)));
}

export function significant(value, digits = 3) {
  if (!isNumber(value)) return 'NA';
  if (value === 0) return '0';
  const size = Math.abs(value);
  return plain(size >= 1e-4 && size < 1e6 ? String(Number(value.toPrecision(digits))) : value.toExponential(digits - 1));
}

export function fixed(value, decimals) {
  return isNumber(value) ? plain((value + 0).toFixed(decimals)) : 'NA';
}

/** The double, so that it reads back as the same. */
export const exact = (value) => (isNumber(value) ? String(value) : 'NA');

/** With a true minus sign, and no negative zero. */
function plain(text) {
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace('-', '\u2212');
}

export const grouped = (count) => (isNumber(count) ? count.toLocaleString('en') : 'NA');

export const plural = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;

export const percent = (share) => `${Number((100 * share).toFixed(6))} %`;

/** The standard normal quantile, by bisection of its distribution function. */
export function normalQuantile(probability) {
  let [low, high] = [-9, 9];
  for (let i = 0; i < 80; ++i) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** By Marsaglia's series, exact to rounding for the few sds that a picture needs. */
function normalCdf(x) {
  let sum = x;
  let term = x;
  for (let i = 3; Math.abs(term) > 1e-17 * Math.abs(sum); i += 2) sum += term *= (x * x) / i;
  return 0.5 + (sum * Math.exp(-0.5 * x * x)) / Math.sqrt(2 * Math.PI);
}
