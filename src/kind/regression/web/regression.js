import {decode, located, spreadOf} from '../../../report/web/numbers.js';
import {groupsOf} from '../../../report/web/posterior.js';

/**
 * A regression line, drawn along one term with the others held at their centres. A term is a column of numbers, or a factor, of
 * which every level but the first has a slope.
 */
export class Regression {
  constructor(contents, posterior) {
    this.posterior = posterior;
    this.response = contents.model.response;
    this.slopes = contents.model.slopes;
    this.centre = contents.model.centre;
    const positions = new Map(groupsOf(posterior.variables));
    const slopes = new Map(positions.get('beta')?.map((v) => [String(posterior.variables[v].indices[0]), v]));
    this.intercept = positions.get('intercept')?.[0];
    this.sigma = positions.get('sigma')?.[0];
    this.beta = this.slopes.map((name) => slopes.get(name));
    this.terms = termsOf(contents.model);
    const rows = contents.rows;
    this.columns = rows ? decode(rows.columns, rows.row.length * this.slopes.length) : null;
  }

  column(n, j) {
    return this.columns[n * this.slopes.length + j];
  }

  /** The slopes of a term at a place along it: [position in the design, value] pairs; of a factor the place is a level. */
  along({levels, first, width}, x) {
    return Array.from({length: width}, (_, l) => [first + l, levels ? Number(x === l + 1) : x]);
  }

  /** Where a row lies along a term. */
  place(n, {levels, first, width}) {
    if (!levels) return this.column(n, first);
    for (let l = 0; l < width; ++l) if (this.column(n, first + l) !== 0) return l + 1;
    return 0;
  }

  /** What a row has in each term: {name, value, text} . */
  facts(n) {
    this.spreads ??= this.terms.map((term) =>
      term.levels ? 0 : spreadOf(this.posterior.rows.row.map((_, row) => this.column(row, term.first))),
    );
    return this.terms.map((term, t) => {
      const place = this.place(n, term);
      return term.levels
        ? {name: term.column, value: term.levels[place], text: term.levels[place], isNumber: false}
        : {name: term.column, value: place, text: located(place, this.spreads[t], 5), isNumber: true};
    });
  }

  /** The mean response at these columns. */
  fitted(means, n) {
    let sum = this.intercept === undefined ? 0 : means[this.intercept];
    this.beta.forEach((v, j) => {
      sum += means[v] * this.column(n, j);
    });
    return sum;
  }

  /** The gradient, in the variables, of the mean response at a place along a term. */
  gradient(term, x) {
    const values = [...this.centre];
    for (const [j, value] of this.along(term, x)) values[j] = value;
    const gradient = this.beta.map((v, j) => [v, values[j]]);
    if (this.intercept !== undefined) gradient.push([this.intercept, 1]);
    return gradient;
  }

  /** The line along a term; of a factor, the mean response at a level. */
  line(means, term, x) {
    return this.gradient(term, x).reduce((sum, [v, value]) => sum + means[v] * value, 0);
  }

  lineSd(term, x) {
    return this.posterior.sdAlong(this.gradient(term, x));
  }

  /** How much of a row's fitted value is its own response: its hat value. */
  hat(n) {
    let sum = this.intercept === undefined ? 0 : this.posterior.leverageOf(n, this.intercept, 0);
    this.beta.forEach((v, j) => {
      sum += this.column(n, j) * this.posterior.leverageOf(n, v, 0);
    });
    return sum;
  }

  /** A response less what the other terms explain of it: what the line along this one is fitted to. */
  partial(means, n, {first, width}, response) {
    let rest = response;
    this.beta.forEach((v, l) => {
      if (l < first || l >= first + width) rest -= means[v] * (this.column(n, l) - this.centre[l]);
    });
    return rest;
  }
}

/** The terms with the slopes that they have: {column, levels, first, width}, levels null for numbers. */
function termsOf({terms, slopes}) {
  const all = terms ?? slopes.map((column) => ({column, levels: []}));
  let first = 0;
  return all.map(({column, levels}) => {
    const width = levels.length > 0 ? levels.length - 1 : 1;
    first += width;
    return {column, levels: levels.length > 0 ? levels : null, first: first - width, width};
  });
}
