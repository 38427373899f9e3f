import {element} from './dom.js';
import {fixed, rounded} from './numbers.js';
import {tableOf} from './table.js';

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
  const line = (name, values, text) => ({name, values, text});
  const items = [
    line('bound', [outcome.bound, ...others.map(({bound}) => bound)], (bound) => fixed(bound, 4)),
    line('share', [1 - sharedBy(others), ...others.map(({share}) => share)], shareText),
    ...variables
      .filter(({name}) => there.some((values) => values.has(name)))
      .map(({name, mean, sd}) => {
        const own = [{mean, sd}, ...there.map((values) => values.get(name))];
        return line(name, own, (value) => (value ? rounded(value.mean, value.sd) : ''));
      }),
  ];
  const columns = [
    {id: 'optimum', label: 'optimum', value: ({name}) => name, text: ({name}) => name},
    ...['this one', ...others.map((_, i) => String(i + 2))].map((label, i) => ({
      id: label,
      label,
      value: ({values}) => (typeof values[i] === 'object' ? (values[i]?.mean ?? null) : values[i]),
      text: ({values, text}) => text(values[i]),
    })),
  ];
  return element(
    'div',
    {},
    element(
      'p',
      {class: 'note'},
      'All other numbers of this page are those of this optimum alone. The shares are those that the bounds give: report both, or give a prior that decides between them.',
    ),
    tableOf({
      id: 'optima-table',
      label: 'Table of the optima',
      columns,
      items,
      attributes: ({name}) => ({'data-variable': name}),
    }),
  );
}
