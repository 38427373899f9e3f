// What a page holds of the question whether the model fits, made from the rows that it holds.
import {Regression} from '../../src/kind/regression/web/regression.js';
import {normalQuantile} from '../../src/report/web/numbers.js';
import {Posterior} from '../../src/report/web/posterior.js';

const ascending = (numbers) => [...numbers].sort((a, b) => a - b);
const quantile = (numbers, share) => ascending(numbers)[Math.round(share * (numbers.length - 1))];

const statistic = (column, name, observed, lower, upper, p) => ({
  column,
  residuals: false,
  statistic: name,
  observed,
  replicated: (lower + upper) / 2,
  lower,
  upper,
  p,
  unusual: p < 0.01,
  words: p < 0.01 ? `${column}: the model does not produce so small a minimum (p = ${p})` : '',
});

/** Of a regression whose rows are all in the page; `points` false leaves groups alone. */
export function regressionCheck(contents, {points = true} = {}) {
  const posterior = new Posterior(contents);
  const regression = new Regression(contents, posterior);
  const rows = contents.rows.row.map((row, n) => {
    const fitted = regression.fitted(posterior.means, n);
    return {row, fitted, residual: posterior.value(n, 0) - fitted};
  });
  const sd = Math.sqrt(rows.reduce((sum, {residual}) => sum + residual ** 2, 0) / (rows.length - regression.beta.length - 1));
  const sorted = [...rows].sort((a, b) => a.fitted - b.fitted);
  const size = Math.ceil(sorted.length / 8);
  const groups = Array.from({length: Math.ceil(sorted.length / size)}, (_, g) => sorted.slice(g * size, (g + 1) * size));
  const of = (share) => groups.map((group) => quantile(group.map(({residual}) => residual), share));
  return {
    replicates: 1000,
    draws: 'exact',
    fits: false,
    message: 'the model does not fit: mpg: the model does not produce so small a minimum (p = 0.002)',
    level: 0.9,
    statistics: [statistic('mpg', 'mean', 20.1, 19.2, 21, 0.97), statistic('mpg', 'min', 10.4, 11, 14, 0.002)],
    response: {
      name: contents.model.response,
      rows: rows.length,
      r2: 0.857,
      residual_sd: sd,
      level: 0.9,
      coverage: 0.91,
      points: points
        ? {
            row: rows.map(({row}) => row),
            fitted: rows.map(({fitted}) => fitted),
            residual: rows.map(({residual}) => residual),
            standardised: rows.map(({residual}) => residual / sd),
          }
        : null,
      groups: {
        fitted: groups.map((group) => group.reduce((sum, {fitted}) => sum + fitted, 0) / group.length),
        lowest: groups.map((group) => group[0].fitted),
        highest: groups.map((group) => group.at(-1).fitted),
        min: of(0),
        q5: of(0.05),
        q50: of(0.5),
        q95: of(0.95),
        max: of(1),
        band: groups.map(() => 1.645 * sd),
      },
      quantiles: {
        normal: rows.map((_, i) => normalQuantile((i + 0.5) / rows.length)),
        residual: ascending(rows.map(({residual}) => residual / sd)),
      },
    },
    columns: [],
  };
}

/** Of a mixture of columns whose rows are all in the page, with its components as the model has them. */
export function mixtureCheck(contents) {
  const posterior = new Posterior(contents);
  const {columns, parts} = contents.model;
  const rows = contents.rows.row.length;
  return {
    replicates: 1000,
    draws: 'response',
    fits: true,
    message: 'nothing unusual among 10 statistics of the data',
    level: 0.9,
    statistics: columns.map((name) => statistic(name, 'mean', 3, 2.5, 3.5, 0.5)),
    response: null,
    columns: columns.map((name, p) => {
      const values = ascending(contents.rows.row.map((_, n) => posterior.value(n, p)));
      const marginal = {weights: parts.pi, means: parts.mu.map((mean) => mean[p]), sds: parts.sigma.map((own) => Math.sqrt(own[p][p]))};
      const start = values[0];
      const step = (values.at(-1) - start) / 30;
      const counts = Array(30).fill(0);
      for (const value of values) ++counts[Math.min(29, Math.floor((value - start) / step))];
      return {
        name,
        rows,
        quantiles: {model: values.map((value) => value + 0.01 * step), data: values},
        histogram: {start, step, counts, expected: counts.map((count) => count + 0.5)},
        marginal,
      };
    }),
  };
}
