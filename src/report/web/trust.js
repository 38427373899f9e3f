import {Mixture} from './mixture.js';
import {fixed, significant} from './numbers.js';

// The response is the first order of a change: good while the change is small. Within these limits it is close to
// refits, as tests/report/trust_test.mjs shows; beyond them the page says so.
export const TRUSTED_SHIFT = 0.5; // posterior sds of any mean, of all changes together if they pulled the same way
const TRUSTED_ERROR = 0.1; // posterior sds that a row with a large hat value would add
const TRUSTED_SHARE = 0.1; // of a moved row, that goes from one component to another
const TRUSTED_STEP = 0.5; // sds of the component that has most of a moved row, or of the noise

/** Reasons not to trust a change, in plain words; none where it is small. */
export function doubts(posterior, model, change) {
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
    const reason = model instanceof Mixture ? doubtOfComponents(posterior, model, n, row) : doubtOfLine(posterior, model, n, row);
    if (reason) reasons.push(`row ${posterior.rows.row[n]} ${reason}`);
  }
  return reasons;
}

/** A row that is moved far, or from one component to another. */
function doubtOfComponents(posterior, mixture, n, row) {
  if (row.times === 0) return null;
  const components = mixture.components(posterior.means);
  const from = row.values.map((_, i) => posterior.value(n, i));
  const before = Mixture.shares(components, from);
  const after = Mixture.shares(components, row.values);
  const turned = before.findIndex((share, k) => !(Math.abs(share - after[k]) <= TRUSTED_SHARE));
  if (turned >= 0)
    return `changes sides: component ${turned + 1} had ${fixed(100 * before[turned], 0)} % of it, and would have ${fixed(100 * after[turned], 0)} %`;
  const {covariance} = components[before.indexOf(Math.max(...before))];
  const step = Math.max(...from.map((x, p) => Math.abs(row.values[p] - x) / Math.sqrt(covariance[p][p])));
  return step > TRUSTED_STEP ? `is ${fixed(step, 2)} sds of its component away from where it was` : null;
}

/**
 * A row whose response is moved far, or that draws the line to itself: with a hat value h, dropping it moves the line by
 * 1/(1 − h) of the first order, and counting it twice by 1/(1 + h).
 */
function doubtOfLine(posterior, regression, n, row) {
  const sigma = posterior.means[posterior.position('sigma')];
  const step = Math.abs(row.values[0] - posterior.value(n, 0)) / sigma;
  if (row.times > 0 && step > TRUSTED_STEP) return `has its response ${fixed(step, 2)} sds of the noise away from where it was`;
  if (row.times === 1) return null;
  const hat = Math.min(regression.hat(n), 1 - 1e-9);
  const factor = row.times === 0 ? 1 / (1 - hat) : 1 / (1 + hat);
  const shift = posterior.variables.reduce((most, _, v) => Math.max(most, Math.abs(posterior.dropped(n, v))), 0);
  const error = shift * Math.abs(factor - 1);
  return error > TRUSTED_ERROR || shift * factor > TRUSTED_SHIFT ? `draws the line to itself (hat value ${fixed(hat, 2)})` : null;
}
