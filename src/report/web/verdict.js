import {element} from './dom.js';
import {fixed, grouped, plural, sentence, significant} from './numbers.js';
import {optimaHeadline} from './optima.js';

/** The top of the page: what was fitted, to what, did it converge, can it be trusted. */
export function heading(contents, kind) {
  const verdict = verdictOf(contents);
  const warnings = contents.warnings.filter((warning) => warning !== contents.outcome.message); // which is said already
  return [
    element(
      'header',
      {},
      element('h1', {dir: 'auto'}, contents.title),
      element('p', {class: 'lead', id: 'fitted'}, kind.lead(name, sourceOf(contents.data))),
    ),
    element(
      'div',
      {class: `card verdict ${verdict.level}`, id: 'verdict', role: 'note', 'aria-label': 'Can it be trusted?'},
      element(
        'p',
        {class: 'headline'},
        element('span', {class: 'sign', 'aria-hidden': 'true'}, SIGNS[verdict.level]),
        verdict.headline,
      ),
      verdict.sentences.map((text) => element('p', {}, text)),
      warnings.length > 0 &&
        element(
          'ul',
          {id: 'warnings'},
          warnings.map((warning) => element('li', {}, sentence(warning))),
        ),
    ),
  ];
}

const SIGNS = {good: '✓', plain: '?', careful: '!', bad: '✕'};

/** A name from the data, which must not turn the text around it, whichever way it is read. */
const name = (text) => element('bdi', {}, text);

/** Which rows of what, as parts of a sentence. */
function sourceOf(data) {
  const source = [`${plural(data.rows, 'row')} of `, name(data.name)];
  if (data.dropped > 0) source.push(`, ${plural(data.dropped, 'row')} with missing values left out`);
  if (data.weights !== null) source.push(', weighted by ', name(data.weights), ` (in all ${significant(data.total_weight, 6)})`);
  return source;
}

/** In plain words: one headline, and what it rests on. */
function verdictOf({outcome, check, warnings, correction, other_optima: others}) {
  if (!outcome.converged) {
    return {
      level: 'bad',
      headline: 'The fit did not converge: do not use these numbers.',
      sentences: [sentence(outcome.message), 'The sds below are those of mean field, which are too small.'],
    };
  }
  const passes = outcome.passes > 0 ? ` in ${outcome.passes === 1 ? 'one pass' : `${grouped(outcome.passes)} passes`}` : '';
  const converged = sentence(`The fit converged${passes}: ${outcome.message.replace(/^converged: /, '')}`);
  const careful = (level) => (warnings.length > 0 ? 'careful' : level);
  if (check && check.verdict !== 'unchecked') {
    const [level, headline] = HEADLINES[check.verdict] ?? ['careful', `The check says: ${check.verdict}.`];
    return {
      level: level === 'good' ? careful(level) : level,
      headline: optimaHeadline(others) ?? headline,
      sentences: [sentence(check.message), comparedWith(check), converged],
    };
  }
  if (correction) {
    return {
      level: careful('good'),
      headline: 'The means and sds are those of draws from the exact posterior.',
      sentences: [
        converged,
        `${comparedWith(correction).replace('Compared with', 'They were corrected by')} What rows and priors do, below, is the linear response.`,
      ],
    };
  }
  return {
    level: careful('plain'),
    headline:
      optimaHeadline(others) ??
      (warnings.length > 0
        ? 'Read the warnings before you use these numbers.'
        : 'Converged, but not compared with the exact posterior.'),
    sentences: [converged, check ? sentence(check.message) : 'lrvb check compares it with draws of the exact posterior.'],
  };
}

const HEADLINES = {
  ok: ['good', 'These means and error bars hold.'],
  off: ['careful', 'Some of these numbers are off.'],
  doubtful: ['careful', 'These numbers are doubtful.'],
};

function comparedWith({draws, method, ess, k_hat: kHat}) {
  const how = method === 'mh' ? 'Metropolis\u2013Hastings' : 'importance sampling';
  const tail = typeof kHat === 'number' ? `, Pareto k-hat ${fixed(kHat, 2)}` : '';
  return `Compared with ${grouped(draws)} draws of the exact posterior by ${how}, effective sample size ${fixed(ess, 0)}${tail}.`;
}
