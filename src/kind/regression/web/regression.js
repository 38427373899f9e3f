import {decode} from '../../../report/web/numbers.js';
import {groupsOf} from '../../../report/web/posterior.js';

/** A regression line, drawn along one column with the others held at their centres. */
export class Regression {
  constructor(contents, posterior) {
    this.posterior = posterior;
    this.response = contents.model.response;
    this.slopes = contents.model.slopes;
    this.centre = contents.model.centre;
    const positions = new Map(groupsOf(posterior.variables));
    const slopes = new Map(positions.get('beta')?.map((v) => [posterior.variables[v].indices[0], v]));
    this.intercept = positions.get('intercept')?.[0];
    this.sigma = positions.get('sigma')?.[0];
    this.beta = this.slopes.map((name) => slopes.get(name));
    const rows = contents.rows;
    this.columns = rows ? decode(rows.columns, rows.row.length * this.slopes.length) : null;
  }

  column(n, j) {
    return this.columns[n * this.slopes.length + j];
  }

  /** The mean response at these columns. */
  fitted(means, n) {
    let sum = this.intercept === undefined ? 0 : means[this.intercept];
    this.beta.forEach((v, j) => {
      sum += means[v] * this.column(n, j);
    });
    return sum;
  }

  /** The line along column j. */
  line(means, j, x) {
    let sum = this.intercept === undefined ? 0 : means[this.intercept];
    this.beta.forEach((v, l) => {
      sum += means[v] * (l === j ? x : this.centre[l]);
    });
    return sum;
  }

  lineSd(j, x) {
    const gradient = this.beta.map((v, l) => [v, l === j ? x : this.centre[l]]);
    if (this.intercept !== undefined) gradient.push([this.intercept, 1]);
    return this.posterior.sdAlong(gradient);
  }

  /** How much of a row's fitted value is its own response: its hat value. */
  hat(n) {
    let sum = this.intercept === undefined ? 0 : this.posterior.leverageOf(n, this.intercept, 0);
    this.beta.forEach((v, j) => {
      sum += this.column(n, j) * this.posterior.leverageOf(n, v, 0);
    });
    return sum;
  }

  /** A response less what the other columns explain of it: what the line along column j is fitted to. */
  partial(means, n, j, response) {
    let rest = response;
    this.beta.forEach((v, l) => {
      if (l !== j) rest -= means[v] * (this.column(n, l) - this.centre[l]);
    });
    return rest;
  }
}
