import {fixed, significant} from './numbers.js';

// The response is the first order of a change: good while the change is small. Within these limits it is close to
// refits, as tests/report/trust_test.mjs shows; beyond them the page says so.
export const TRUSTED_SHIFT = 0.5; // posterior sds of any mean, of all changes together if they pulled the same way

/** Reasons not to trust a change, in plain words; none where it is small. What it asks of a row, the kind of model knows. */
export function doubts(posterior, kind, change) {
  const reasons = [];
  const strain = posterior.strain(change);
  const largest = strain.reduce((worst, size, v) => (size > strain[worst] ? v : worst), 0);
  if (strain[largest] > TRUSTED_SHIFT) {
    const several = change.priors.size + change.rows.size > 1 ? ', counted one by one' : '';
    reasons.push(
      `${posterior.variables[largest].name} moves by ${fixed(strain[largest], 2)} posterior sds${several}, more than ${TRUSTED_SHIFT}`,
    );
  }
  for (const [h, value] of change.priors) {
    const prior = posterior.priors[h];
    if (value < prior.trusted_low || value > prior.trusted_high)
      reasons.push(`${prior.name} is far from the ${significant(prior.value, 6)} that was fitted`);
  }
  for (const [n, row] of change.rows) {
    const reason = kind.doubt(n, row);
    if (reason) reasons.push(`${posterior.rowName(n)} ${reason}`);
  }
  return reasons;
}
