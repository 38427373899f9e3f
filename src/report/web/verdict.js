import {command, element, folded} from './dom.js';
import {shellQuoted} from './formats.js';
import {fixed, grouped, listed, plural, sentence, significant} from './numbers.js';
import {optimaHeadline} from './optima.js';

/** The top of the page: what was fitted, to what, and in one line whether it can be trusted. What that rests on is folded away. */
export function heading(contents, kind) {
  const verdict = verdictOf(contents);
  const notes = contents.notes ?? [];
  const warnings = [
    ...misfitOf(contents),
    ...contents.warnings.filter((warning) => warning !== contents.outcome.message).map(sentence), // which is said already
  ];
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
      verdict.command && command(verdict.command),
      folded(
        'What this rests on',
        verdict.sentences.map((text) => element('p', {}, text)),
        notes.length > 0 && [
          element('p', {}, 'How columns were taken that could have been taken otherwise:'),
          listOf(
            notes.map((note) => element('bdi', {}, note)),
            'notes',
          ),
        ],
      ),
    ),
    warnings.length > 0 &&
      element(
        'div',
        {class: 'card careful', id: 'warnings', role: 'note', 'aria-label': 'Warnings'},
        listOf(warnings.slice(0, WARNINGS)),
        warnings.length > WARNINGS &&
          folded(`${plural(warnings.length - WARNINGS, 'warning')} more`, listOf(warnings.slice(WARNINGS))),
      ),
  ].filter(Boolean);
}

const WARNINGS = 2; // that are not folded away

const listOf = (lines, id = null) =>
  element(
    'ul',
    {id},
    lines.map((line) => element('li', {}, line)),
  );

/** Whether the posterior is right, the verdict says; whether the model is, a line of its own that leads to the section that shows it. */
function misfitOf({model_check: found, robust}) {
  const vary = robust?.warnings ?? [];
  if (!found) return vary.map(sentence);
  const unusual = found.statistics.filter((one) => one.unusual).length;
  const see = element('a', {href: '#model'}, 'See where.');
  if (!found.fits) return [[`The model does not fit: ${unusual} of ${plural(found.statistics.length, 'statistic')} of the data are unusual for it. `, see]];
  return vary.length > 0 ? [['The rows vary otherwise than the model says. ', see]] : [];
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

/** The files of a fit and its data, as words of a command; null where they came through a pipe. */
function filesOf({paths}) {
  if (!paths?.fit || !paths.data || paths.fit === '-' || paths.data === '-') return null;
  return `${shellQuoted(paths.fit)} ${shellQuoted(paths.data)}`;
}

/** The command that asks whether the model fits. */
export function modelCommand(contents) {
  const files = filesOf(contents);
  return files && `lrvb check ${files} --model`;
}

/** The command that compares a fit with the exact posterior, and shows what came of it in a page like this one. */
function checkCommand(contents, options = '') {
  const files = filesOf(contents);
  if (!files || contents.correction) return null;
  return `lrvb check ${files}${options} --format json > check.json && lrvb report ${files} --check check.json`;
}

/** In plain words: one headline, what it rests on, and what to do where it rests on too little. Its colour is that of the headline. */
export function verdictOf(contents) {
  const {outcome, check, correction, other_optima: others} = contents;
  if (!outcome.converged) {
    return {
      level: 'bad',
      headline: 'The fit did not converge: do not use these numbers.',
      sentences: [sentence(outcome.message), 'The sds below are those of mean field, which are too small.'],
    };
  }
  const passes = outcome.passes > 0 ? ` in ${outcome.passes === 1 ? 'one pass' : `${grouped(outcome.passes)} passes`}` : '';
  const converged = sentence(`The fit converged${passes}: ${outcome.message.replace(/^converged: /, '')}`);
  const elsewhere = optimaHeadline(others);
  if (check && check.verdict !== 'unchecked') {
    const found = checkWords(contents);
    return {
      level: elsewhere ? 'careful' : found.level,
      headline: elsewhere ?? found.headline,
      sentences: [...(elsewhere ? [] : found.sentences), comparedWith(check), converged],
    };
  }
  if (correction?.how) {
    const isExact = correction.how.startsWith('the exact');
    return {
      level: 'good',
      headline: isExact ? 'These means and error bars hold: they are exact.' : 'The posterior was integrated: these are its means and sds.',
      sentences: [
        sentence(`What is quoted is ${correction.how}`),
        'The linear response is beside it: in the table of the parameters, and in what rows and priors do.',
        converged,
      ],
    };
  }
  if (correction) {
    return {
      level: 'good',
      headline: 'The means and sds are those of draws from the exact posterior.',
      sentences: [
        converged,
        `${comparedWith(correction).replace('Compared with', 'They were corrected by')} What rows and priors do, below, is the linear response.`,
      ],
    };
  }
  const tried = check ? [sentence('The draws of a check were not good enough to tell')] : [];
  return {
    level: elsewhere ? 'careful' : 'plain',
    headline: elsewhere ?? 'Converged, but not compared with the exact posterior.',
    sentences: [...tried, converged],
    command: checkCommand(contents, check ? MORE_TIME : ''),
  };
}

/** What a check says of the variables that this page shows; of others it says only that there are some. */
function checkWords({check, variables}) {
  const those = (wanted) => variables.filter(({verdict}) => wanted.test(verdict ?? ''));
  const off = those(/^(sd|mean) off/);
  const unresolved = those(/^not resolved/);
  const namesOf = (some) => listed(some.map((variable) => variable.name));
  const each = (some) => some.slice(0, 6).map((variable) => `${variable.name}: ${variable.verdict}.`);
  const are = (some, one, many) => (some.length === 1 ? one : many);
  if (check.verdict === 'ok') {
    return {level: 'good', headline: 'These means and error bars hold.', sentences: [HOLDS]};
  }
  if (check.verdict === 'off') {
    return off.length > 0
      ? {level: 'careful', headline: `${namesOf(off)} ${are(off, 'is', 'are')} off.`, sentences: each(off)}
      : {
          level: 'good',
          headline: 'The means and error bars on this page hold.',
          sentences: [HOLDS, 'Of what the fit has besides, something is off: lrvb check lists it.'],
        };
  }
  if (off.length > 0) {
    return {
      level: 'careful',
      headline: `${namesOf(off)} ${are(off, 'seems', 'seem')} off, as far as the draws can tell.`,
      sentences: each(off),
    };
  }
  if (unresolved.length > 0) {
    return {
      level: 'careful',
      headline: `The draws were too few to tell of ${namesOf(unresolved)}.`,
      sentences: [...each(unresolved), 'lrvb check takes half a minute to tell, or what --seconds says.'],
    };
  }
  return {
    level: 'careful',
    headline: 'Nothing seems off, but the draws of the check are doubtful.',
    sentences: ['lrvb check with more --seconds may tell.'],
  };
}

// After draws that were of no use.
const MORE_TIME = ' --seconds 120';

const HOLDS = 'No mean is off by more than 0.1 sd and no sd by more than 10 %, Monte Carlo error allowed for.';

const METHODS = {importance: 'importance sampling', nuts: 'the no-U-turn sampler', mh: 'Metropolis\u2013Hastings'};

function comparedWith({draws, method, ess, k_hat: kHat, r_hat: rHat}) {
  const how = METHODS[method] ?? method;
  const tail = typeof kHat === 'number' ? `, Pareto k-hat ${fixed(kHat, 2)}` : typeof rHat === 'number' ? `, R-hat ${fixed(rHat, 3)}` : '';
  return `Compared with ${grouped(draws)} draws of the exact posterior by ${how}, effective sample size ${fixed(ess, 0)}${tail}.`;
}
