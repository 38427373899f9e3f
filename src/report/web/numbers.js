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

const power = (value) => Math.floor(Math.log10(Math.abs(value)));

/**
 * As many digits as the sd (without one, the value) is worth: two of its own, in the shorter of both notations, and no
 * more than a double has.
 */
export function rounded(value, sd) {
  if (!isNumber(value)) return 'NA';
  const hasSd = isNumber(sd) && sd > 0;
  if (value === 0 && !hasSd) return '0';
  if (!hasSd && Math.abs(value) >= 1e3) return plain(String(Number(value.toPrecision(12)))); // held: known as it is
  const ofSd = power(hasSd ? sd : value);
  const ofValue = value === 0 ? ofSd : power(value);
  const places = Math.max(0, Math.min(1 - ofSd, 16 - ofValue));
  const isPlain = places <= 8 && Math.abs(value) < 1e7;
  const scientific = value.toExponential(Math.max(1, Math.min(16, 1 + ofValue - ofSd)));
  if (!isPlain && (ofValue >= 17 || places > 40)) return plain(scientific);
  const fixedPoint = value.toFixed(places);
  return plain(isPlain || fixedPoint.length <= scientific.length ? fixedPoint : scientific);
}

/** For a field: as few digits as tell apart what lies a hundred thousandth of `step` from each other. */
export function typed(value, step) {
  if (value === 0) return '0';
  const needed = 6 + Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(step || Math.abs(value)));
  return String(Number(value.toPrecision(Math.max(6, Math.min(17, needed)))));
}

export function significant(value, digits = 3) {
  if (!isNumber(value)) return 'NA';
  if (value === 0) return '0';
  const size = Math.abs(value);
  return plain(size >= 1e-4 && size < 1e6 ? String(Number(value.toPrecision(digits))) : value.toExponential(digits - 1));
}

/** The same for one of several numbers that differ by about `spread`: far from zero, with the digits that tell them apart. */
export function located(value, spread, digits = 3) {
  const more = isNumber(value) && value !== 0 && spread > 0 ? power(value) - power(spread) : 0;
  if (more <= 1) return significant(value, digits);
  return plain(String(Number(value.toPrecision(Math.min(17, digits + more)))));
}

/** How far numbers lie apart. */
export const spreadOf = (numbers) => numbers.reduce((most, x) => Math.max(most, x), -Infinity) - numbers.reduce((least, x) => Math.min(least, x), Infinity);

export function fixed(value, decimals) {
  if (!isNumber(value)) return 'NA';
  return plain(Math.abs(value) < 1e6 ? value.toFixed(decimals) : value.toExponential(2));
}

/** The double, so that it reads back as the same. */
export const exact = (value) => (isNumber(value) ? String(value) : 'NA');

/** With a true minus sign, and no negative zero. */
function plain(text) {
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replaceAll('-', '\u2212');
}

export const grouped = (count) => (isNumber(count) ? count.toLocaleString('en') : 'NA');

/** A few names, and how many more there are. */
export function listed(names, most = 4) {
  return names.length <= most
    ? names.join(', ')
    : `${names.slice(0, most - 1).join(', ')} and ${grouped(names.length - most + 1)} more`;
}

/** With a capital and one full stop. */
export const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/[.\s]*$/, '.');

export const plural = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;

export const percent = (share) => `${Number((100 * share).toFixed(6))} %`;

/** Where the numbers come from, in a word or two. */
export function sourceOf({correction}) {
  if (!correction) return 'linear response';
  return correction.how ? 'the posterior, integrated' : 'draws of the exact posterior';
}

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
