import {element} from './dom.js';
import {fixed, rounded} from './numbers.js';

/** "50 %", or "less than 1 %". */
export const shareText = (share) => (share < 0.01 ? 'less than 1\u00a0%' : `${fixed(100 * share, 0)}\u00a0%`);

/** What the optima beside this one hold of the posterior, all together. */
export const sharedBy = (others) => others.reduce((sum, {share}) => sum + share, 0);

/** One headline; null where this optimum is the only one that was found. */
export function optimaHeadline(others) {
  if (others.length === 0) return null;
  const share = sharedBy(others);
  const about = share < 0.01 ? shareText(share) : `about ${shareText(share)}`;
  return others.length === 1
    ? `Another optimum holds ${about} of the posterior.`
    : `${others.length} other optima hold ${about} of the posterior.`;
}

/** This optimum beside the others: bounds, shares and means. */
export function optimaTable({other_optima: others, outcome, variables}) {
  const there = others.map((other) => new Map(other.variables.map((value) => [value.name, value])));
  const row = (head, cells, attributes = {}) =>
    element(
      'tr',
      attributes,
      element('th', {scope: 'row'}, head),
      cells.map((cell) => element('td', {}, cell)),
    );
  return element(
    'div',
    {},
    element(
      'p',
      {class: 'note'},
      'All other numbers of this page are those of this optimum alone. The shares are those that the bounds give: report both, or give a prior that decides between them.',
    ),
    element(
      'div',
      {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of the optima'},
      element(
        'table',
        {id: 'optima-table'},
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            ['optimum', 'this one', ...others.map((_, i) => String(i + 2))].map((head) => element('th', {scope: 'col'}, head)),
          ),
        ),
        element(
          'tbody',
          {},
          row('bound', [outcome.bound, ...others.map(({bound}) => bound)].map((bound) => fixed(bound, 4))),
          row('share', [1 - sharedBy(others), ...others.map(({share}) => share)].map(shareText)),
          variables
            .filter(({name}) => there.some((values) => values.has(name)))
            .map(({name, mean, sd}) =>
              row(
                name,
                [{mean, sd}, ...there.map((values) => values.get(name))].map((value) => (value ? rounded(value.mean, value.sd) : '')),
                {'data-variable': name},
              ),
            ),
        ),
      ),
    ),
  );
}
