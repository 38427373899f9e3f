import {AnyKind} from '../../../report/web/any_kind.js';
import {colourOf} from '../../../report/web/colours.js';
import {decode, grouped, located, spreadOf} from '../../../report/web/numbers.js';
import {groups} from './groups.js';

// What of a row stands beside its response, in this order, then a level for each factor, then columns.
const OBSERVED = 0;
const FITTED = 1;
const FIRST = 2;

/** What the page says of a regression by formula, hierarchical or not. */
export class FieldKind extends AnyKind {
  constructor(contents, posterior) {
    super(contents, posterior);
    this.model = contents.model;
    this.width = FIRST + this.model.factors.length + this.model.columns.length;
    this.beside = posterior.rows ? decode(posterior.rows.columns, posterior.rows.row.length * this.width) : null;
  }

  get isNormal() {
    return this.model.likelihood.has_sigma;
  }

  /** Of a binomial row the share of its trials. */
  observed(n) {
    return this.beside[n * this.width + OBSERVED];
  }

  fitted(n) {
    return this.beside[n * this.width + FITTED];
  }

  level(n, f) {
    return this.beside[n * this.width + FIRST + f];
  }

  column(n, j) {
    return this.beside[n * this.width + FIRST + this.model.factors.length + j];
  }

  /** The factors that group, each once. */
  get factors() {
    return this.model.factors.map((factor, f) => ({...factor, f})).filter(({name, f}, _, all) => all.findIndex((one) => one.name === name) === f);
  }

  lead(name, source) {
    const {likelihood, formula} = this.model;
    const factors = this.factors.flatMap(({name: factor, count}, i) => [i > 0 ? ' and ' : ' with ', `${grouped(count)} of `, name(factor)]);
    const what = `A ${factors.length > 0 ? 'hierarchical ' : ''}${likelihood.title}`;
    const linked = likelihood.link ? ` (${likelihood.link})` : '';
    return [`${what}${linked}, `, name(formula), ...(factors.length > 0 ? [',', ...factors] : []), ', fitted to ', ...source, '.'];
  }

  priorWords(origin) {
    return origin === 'auto' ? 'automatic, by the spread of the data' : super.priorWords(origin);
  }

  /** Every coefficient and every sd has a unit of its own, and zero means the same for all; correlations and shares have none. */
  panels() {
    const {variables} = this.contents;
    const of = (...names) => variables.filter(({group}) => names.includes(group));
    const known = ['intercept', 'beta', 'sd', 'sigma', 'cor', 'nu'];
    return [
      {title: 'Coefficients, each on a scale of its own, about zero', variables: of('intercept', 'beta'), aboutZero: true},
      {title: 'Standard deviations, each on a scale of its own, from zero', variables: of('sd', 'sigma'), aboutZero: true},
      {title: 'Correlations of effects', variables: of('cor'), aboutZero: false},
      {title: 'Degrees of freedom of the errors', variables: of('nu'), aboutZero: false},
      {title: 'Shares of the variance', variables: variables.filter(({group}) => !known.includes(group)), aboutZero: false},
    ].filter(({variables: own}) => own.length > 0);
  }

  /** The level of each factor, and the columns. */
  rowFacts(n) {
    const {model} = this;
    this.spreads ??= model.columns.map((_, j) => spreadOf(this.posterior.rows.row.map((_row, row) => this.column(row, j))));
    const levels = this.factors
      .filter(({levels: names}) => names)
      .map(({name, levels: names, f}) => ({name, value: names[this.level(n, f)], text: names[this.level(n, f)], isNumber: false}));
    const columns = model.columns.map((name, j) => ({
      name,
      value: this.column(n, j),
      text: located(this.column(n, j), this.spreads[j], 5),
      isNumber: true,
    }));
    return [...levels, ...columns];
  }

  get drawsRows() {
    return this.contents.data.weights === null;
  }

  get dataTitle() {
    return 'The data and the fit';
  }

  get hasPicture() {
    return this.posterior.rows !== null;
  }

  get inputWord() {
    return 'response';
  }

  sections() {
    return this.model.groups.length > 0 ? [['groups', 'The groups', () => groups(this)]] : [];
  }

  /** For each slope, by its column; for the others, by what is fitted. */
  views() {
    const {variables} = this.posterior;
    const {columns, response, likelihood} = this.model;
    const fitted = likelihood.is_share ? 'fitted probability' : `fitted ${response}`;
    const views = variables
      .map(({name, group, indices}, v) => {
        const j = group === 'beta' ? columns.indexOf(String(indices[0])) : -1;
        const place = j >= 0 ? (n) => this.column(n, j) : (n) => this.fitted(n);
        const series = [{name, v, input: 0, place, colour: colourOf(0)}];
        return {title: name, across: j >= 0 ? columns[j] : fitted, slope: j >= 0, series};
      })
      .filter((_, v) => variables[v].sd > 0);
    return views.sort((a, b) => Number(b.slope) - Number(a.slope));
  }
}
