import {element} from './dom.js';
import {significant} from './numbers.js';

export function about({program, fit_file: file, prior, outcome, data, correction}, kind) {
  const facts = [
    ['Fit', `${file}, by lrvb ${program}`],
    ['Data', data.name],
    prior && ['Prior', kind.priorWords(prior)],
    ['Bound', significant(outcome.bound, 8)],
    ['Seed', `${outcome.seed}${outcome.restarts > 1 ? `, the best of ${outcome.restarts} starts` : ''}`],
  ].filter(Boolean);
  const moments = correction?.how
    ? `Means, sds, intervals and correlations are of ${correction.how}; leverage and sensitivities`
    : correction
    ? 'Means, sds, intervals and correlations by draws of the exact posterior; leverage and sensitivities'
    : 'Means by mean-field variational Bayes; sds, correlations, leverage and sensitivities';
  return element(
    'footer',
    {},
    element(
      'dl',
      {},
      facts.flatMap(([term, text]) => [element('dt', {}, term), element('dd', {dir: 'auto'}, text)]),
    ),
    element(
      'p',
      {},
      `${moments} by linear response (Giordano and Broderick, 2014): Σ̂ = (I − VH)⁻¹V, the derivative of the fitted means. The whole report is in this file.`,
    ),
  );
}
