import {shortened} from './names.js';
import {decode, grouped, plural} from './numbers.js';
import {groupsBy} from './pages.js';

/**
 * The posterior of the report, and how it moves.
 *
 * To first order a change moves the means by dm = S dh + Σ_n (C_n dw_n + L_n dx_n), where S holds the derivatives with
 * respect to the numbers h of the prior, C_n with respect to the weight of a row, and L_n with respect to its values.
 * Where nothing in a row is continuous there is no L_n: its rows can be dropped and counted twice, but not moved.
 */
export class Posterior {
  constructor(contents) {
    this.variables = contents.variables;
    this.means = Float64Array.from(this.variables, (variable) => variable.mean);
    this.priors = contents.priors ?? [];
    this.rows = contents.rows ?? null;

    this.moves = this.variables.some(({sd}) => sd > 0); // not all are held
    this.rowsMove = Boolean(this.rows?.leverage) && this.rows.inputs.length > 0;
    const count = this.variables.length;
    this.correlated = contents.correlated ?? [];
    this.correlations = decode(contents.correlations, (this.correlated.length * (this.correlated.length + 1)) / 2);
    this.places = new Map(this.correlated.map((v, place) => [v, place]));
    this.sensitivities = decode(contents.sensitivities, count * this.priors.length);
    this.note = '';
    if (this.rows) {
      const {row, inputs} = this.rows;
      if (!this.rows.all)
        this.note = `${plural(row.length, 'row')} of ${grouped(contents.data.rows)} are here: the most influential, and others evenly spaced.`;
      this.values = decode(this.rows.values, row.length * inputs.length);
      this.leverage = this.rowsMove ? decode(this.rows.leverage, row.length * count * inputs.length) : null;
      this.caseWeights = decode(this.rows.case, row.length * count);
    }
  }

  sd(v) {
    return this.variables[v].sd ?? NaN;
  }

  /** Of what is held, and of what left no room for its correlations, it is zero. */
  correlation(a, b) {
    if (a === b) return 1;
    const [i, j] = [this.places.get(a), this.places.get(b)].sort((one, other) => one - other);
    if (i === undefined || j === undefined) return 0;
    return this.correlations[i * this.correlated.length - (i * (i - 1)) / 2 + j - i]; // an upper triangle, row by row
  }

  covariance(a, b) {
    const r = this.correlation(a, b);
    return r === 0 ? 0 : r * this.sd(a) * this.sd(b);
  }

  /** The sd of Σ g_v x_v, by the delta method, for a gradient of [position, derivative] pairs. */
  sdAlong(gradient) {
    let variance = 0;
    for (const [a, ga] of gradient) {
      for (const [b, gb] of gradient) variance += ga * gb * this.covariance(a, b);
    }
    return Math.sqrt(Math.max(0, variance));
  }

  sensitivity(v, h) {
    return this.sensitivities[v * this.priors.length + h];
  }

  value(n, i) {
    return this.values[n * this.rows.inputs.length + i];
  }

  /** "row 84", or with a label "row 84 (Merc 240D)". */
  rowName(n) {
    const label = this.label(n);
    return `row ${this.rows.row[n]}${label ? ` (${label})` : ''}`;
  }

  /** Empty where rows have none. */
  label(n) {
    return shortened(this.rows.label?.[n] ?? '');
  }

  /** Is it one of those that are here since they are influential, and not by an even choice? */
  isChosen(n) {
    if (!this.rows || this.rows.all) return false;
    this.chosen ??= new Set(
      [...this.rows.row.keys()].sort((a, b) => this.rows.distance[b] - this.rows.distance[a]).slice(0, this.rows.most_influential ?? 0),
    );
    return this.chosen.has(n);
  }

  weight(n) {
    return this.rows.weights ? this.rows.weights[n] : 1;
  }

  /** d mean / d x. In the page it is in posterior sds for a step as long as the rows reach. */
  leverageOf(n, v, i) {
    const sds = this.leverage[(n * this.variables.length + v) * this.rows.inputs.length + i];
    return (sds * this.sd(v)) / this.rows.reach[i];
  }

  /** d mean / d weight. In the page it is in posterior sds. */
  caseWeight(n, v) {
    return this.caseWeights[n * this.variables.length + v] * this.sd(v);
  }

  /** What dropping a row does, in posterior sds. */
  dropped(n, v) {
    return -this.weight(n) * this.caseWeights[n * this.variables.length + v];
  }

  /** The shift of every mean under a change. */
  shifts(change) {
    const shifts = new Float64Array(this.variables.length);
    for (const [h, value] of change.priors) {
      const by = value - this.priors[h].value;
      for (let v = 0; v < shifts.length; ++v) shifts[v] += this.sensitivity(v, h) * by;
    }
    for (const [n, row] of change.rows) {
      const weight = (row.times - 1) * this.weight(n);
      for (let v = 0; v < shifts.length; ++v) {
        shifts[v] += weight * this.caseWeight(n, v);
        if (row.times === 0 || !this.rowsMove) continue; // where a dropped row lies does not matter
        for (let i = 0; i < row.values.length; ++i) {
          shifts[v] += row.times * this.leverageOf(n, v, i) * (row.values[i] - this.value(n, i));
        }
      }
    }
    return shifts;
  }

  /** For each mean, how far the changes would move it if all pulled the same way, in posterior sds. */
  strain(change) {
    const strain = new Float64Array(this.variables.length);
    for (const one of singles(change)) {
      this.shifts(one).forEach((shift, v) => {
        if (this.sd(v) > 0) strain[v] += Math.abs(shift) / this.sd(v);
      });
    }
    return strain;
  }
}

/** Variables by the group they are of, in the order of the groups' first ones: pairs of a group and its positions. */
export function groupsOf(variables, chosen = variables.map((_, v) => v)) {
  return groupsBy(chosen, (v) => variables[v].group);
}

/** Nothing changed: the numbers of the prior by position, and the rows with how often they count and where they lie. */
export const noChange = () => ({priors: new Map(), rows: new Map()});

/** A change as changes of one thing each. */
function singles(change) {
  const priors = [...change.priors].map((prior) => ({priors: new Map([prior]), rows: new Map()}));
  const rows = [...change.rows].map((row) => ({priors: new Map(), rows: new Map([row])}));
  return [...priors, ...rows];
}
