import {Mixture} from './mixture.js';
import {fixed} from './numbers.js';

// The response is the first order of a change: good while the change is small. Within these limits it is close to
// refits, as tests/report/trust_test.mjs shows; beyond them the page says so.
export const TRUSTED_SHIFT = 0.5; // posterior sds of any mean
const TRUSTED_SHARE = 0.1; // of a moved row, that goes from one component to another
const TRUSTED_STEP = 0.5; // sds of the component that has most of the row

/** Reasons not to trust a change, in plain words; none where it is small. */
export function doubts(posterior, mixture, change, shifts) {
  const reasons = [];
  let worst = -1;
  let largest = TRUSTED_SHIFT;
  shifts.forEach((shift, v) => {
    const size = Math.abs(shift) / posterior.sd(v);
    if (size > largest) [worst, largest] = [v, size];
  });
  if (worst >= 0) reasons.push(`${posterior.variables[worst].name} moves by ${fixed(largest, 2)} posterior sds, more than ${TRUSTED_SHIFT}`);
  for (const [h, value] of change.priors) {
    const prior = posterior.priors[h];
    if (value < prior.trusted_low || value > prior.trusted_high) reasons.push(`${prior.name} is far from the ${prior.value} that was fitted`);
  }
  if (!mixture) return reasons;
  const components = mixture.components(posterior.means);
  for (const [n, row] of change.rows) {
    if (row.times === 0) continue;
    const from = row.values.map((_, i) => posterior.value(n, i));
    const reason = stepTooLong(components, from, row.values);
    if (reason) reasons.push(`row ${posterior.rows.row[n]} ${reason}`);
  }
  return reasons;
}

function stepTooLong(components, from, to) {
  const before = Mixture.shares(components, from);
  const after = Mixture.shares(components, to);
  const k = before.indexOf(Math.max(...before));
  const turned = before.findIndex((share, i) => !(Math.abs(share - after[i]) <= TRUSTED_SHARE));
  if (turned >= 0) return `changes sides: component ${turned + 1} had ${fixed(100 * before[turned], 0)} % of it, and would have ${fixed(100 * after[turned], 0)} %`;
  const {covariance} = components[k];
  const step = Math.max(...from.map((x, p) => Math.abs(to[p] - x) / Math.sqrt(covariance[p][p])));
  return step > TRUSTED_STEP ? `is ${fixed(step, 2)} sds of its component away from where it was` : null;
}
