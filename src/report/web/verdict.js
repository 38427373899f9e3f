import {element} from './dom.js';
import {fixed, grouped, plural, significant} from './numbers.js';

/** The top of the page: what was fitted, to what, did it converge, can it be trusted. */
export function heading(contents) {
  const verdict = verdictOf(contents);
  const warnings = contents.warnings.filter((warning) => warning !== contents.outcome.message); // which is said already
  return [
    element('header', {}, element('h1', {}, contents.title), element('p', {class: 'lead', id: 'fitted'}, fitted(contents))),
    element(
      'div',
      {class: `card verdict ${verdict.level}`, id: 'verdict', role: 'note', 'aria-label': 'Can it be trusted?'},
      element('p', {class: 'headline'}, element('span', {class: 'sign', 'aria-hidden': 'true'}, SIGNS[verdict.level]), verdict.headline),
      verdict.sentences.map((sentence) => element('p', {}, sentence)),
      warnings.length > 0 &&
        element('ul', {id: 'warnings'}, warnings.map((warning) => element('li', {}, capital(warning)))),
    ),
  ];
}

const SIGNS = {good: '✓', careful: '!', bad: '✕'};

function fitted({model, data}) {
  const rows = plural(data.rows, 'row');
  const dropped = data.dropped > 0 ? `, ${plural(data.dropped, 'row')} with missing values left out` : '';
  const weights = data.weights === null ? '' : `, weighted by ${data.weights} (in all ${significant(data.total_weight, 6)})`;
  const source = `${rows} of ${data.name}${dropped}${weights}`;
  if (model.kind === 'regression') {
    const slopes = model.slopes.length > 0 ? model.slopes.join(', ') : 'an intercept alone';
    return `A linear regression of ${model.response} on ${slopes}${model.intercept ? '' : ', without an intercept'}, fitted to ${source}.`;
  }
  const shape = {full: ' with full covariances', diagonal: ' with diagonal covariances'}[model.covariance] ?? '';
  const what = model.components === 1 ? 'A single normal' : `A mixture of ${model.components} normals`;
  const held = model.fixed.length > 0 ? ` The ${model.fixed.join(' and ')} were held fixed.` : '';
  return `${what}${shape}, fitted to ${listed(model.columns)} of ${source}.${held}`;
}

const listed = (names) => (names.length <= 4 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more columns`);

/** In plain words: one headline, and what it rests on. */
function verdictOf({outcome, check, warnings, correction}) {
  if (!outcome.converged) {
    return {
      level: 'bad',
      headline: 'The fit did not converge: do not use these numbers.',
      sentences: [`${capital(outcome.message)}. The sds below are those of mean field, which are too small.`],
    };
  }
  const passes = outcome.passes > 0 ? ` in ${outcome.passes === 1 ? 'one pass' : `${grouped(outcome.passes)} passes`}` : '';
  const converged = `The fit converged${passes}: ${outcome.message.replace(/^converged: /, '')}.`;
  if (correction) {
    return {
      level: warnings.length > 0 ? 'careful' : 'good',
      headline: 'The means and sds are those of draws from the exact posterior.',
      sentences: [
        converged,
        `They were corrected by ${methodName(correction.method)}: ${grouped(correction.draws)} draws, worth ${fixed(correction.ess, 0)} independent ones. What rows and priors do, below, is the linear response.`,
      ],
    };
  }
  if (!check || check.verdict === 'unchecked') {
    const reason = check ? [`${capital(check.message)}.`.replace('..', '.')] : ['Not compared with the exact posterior: lrvb check does that.'];
    if (warnings.length > 0) return {level: 'careful', headline: 'Read the warnings before you use these numbers.', sentences: [converged, ...reason]};
    return {level: 'good', headline: 'The fit converged, and nothing speaks against it.', sentences: [converged, ...reason]};
  }
  const tail = check.k_hat === null || check.k_hat === undefined ? '' : `, Pareto k-hat ${fixed(check.k_hat, 2)}`;
  const rests = `${capital(check.message)}. Compared with ${grouped(check.draws)} draws of the exact posterior by ${methodName(check.method)}, worth ${fixed(check.ess, 0)} independent ones${tail}.`.replace('..', '.');
  const headlines = {
    ok: ['good', 'These means and error bars hold.'],
    off: ['careful', 'Some of these numbers are off.'],
    doubtful: ['careful', 'These numbers are doubtful.'],
  };
  const [sign, headline] = headlines[check.verdict] ?? ['careful', `The check says: ${check.verdict}.`];
  return {level: sign === 'good' && warnings.length > 0 ? 'careful' : sign, headline, sentences: [rests, converged]};
}

const methodName = (method) => (method === 'mh' ? 'Metropolis\u2013Hastings' : 'importance sampling');

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
