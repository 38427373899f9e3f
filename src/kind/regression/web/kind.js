import {AnyKind} from '../../../report/web/any_kind.js';
import {colourOf} from '../../../report/web/colours.js';
import {fixed, listed} from '../../../report/web/numbers.js';
import {TRUSTED_SHIFT} from '../../../report/web/trust.js';
import {Regression} from './regression.js';

const TRUSTED_ERROR = 0.1; // posterior sds that a row with a large hat value would add
const TRUSTED_STEP = 0.5; // sds of the noise

/** What the page says of a linear regression. */
export class RegressionKind extends AnyKind {
  constructor(contents, posterior) {
    super(contents, posterior);
    this.regression = new Regression(contents, posterior);
  }

  lead(name, source) {
    const {response, intercept} = this.contents.model;
    const terms = this.regression.terms.map(({column}) => column);
    const columns = terms.length > 0 ? name(listed(terms, 12)) : 'an intercept alone';
    const origin = intercept ? '' : ', without an intercept';
    return ['A linear regression of ', name(response), ' on ', columns, `${origin}, fitted to `, ...source, '.'];
  }

  /** Every column has a unit of its own, and zero means the same for all: that it does nothing. */
  panels() {
    const {variables} = this.contents;
    const isShare = ({group}) => group === 'R2';
    return [
      {title: 'Each on a scale of its own, about zero', variables: variables.filter((one) => !isShare(one)), aboutZero: true},
      {title: 'Share of the variance', variables: variables.filter(isShare), aboutZero: false},
    ].filter(({variables: own}) => own.length > 0);
  }

  rowFacts(n) {
    return this.regression.facts(n);
  }

  priorWords(origin) {
    return origin === 'auto' ? 'automatic, by the spread of the data' : super.priorWords(origin);
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

  get movedWords() {
    return 'Solid is where the means move to, dashed is the fit.';
  }

  get caution() {
    return '';
  }

  get inputWord() {
    return 'response';
  }

  /** For each slope, by its column; for the others, by the fitted response. */
  views() {
    const {posterior, regression} = this;
    const views = posterior.variables.map(({name}, v) => {
      const j = regression.beta.indexOf(v);
      const title = j >= 0 ? regression.slopes[j] : `fitted ${regression.response}`;
      const place = j >= 0 ? (n) => regression.column(n, j) : (n) => regression.fitted(posterior.means, n);
      return {title: name, across: title, slope: j >= 0, series: [{name, v, input: 0, place, colour: colourOf(0)}]};
    });
    return views.sort((a, b) => Number(b.slope) - Number(a.slope));
  }

  /** Its coefficients are one group. */
  blocks() {
    return [];
  }

  /**
   * A row whose response is moved far, or that has high leverage: with a hat value h, dropping it moves the line
   * by 1/(1 − h) of the first order, and counting it twice by 1/(1 + h).
   */
  doubt(n, row) {
    const {posterior, regression} = this;
    const step = Math.abs(row.values[0] - posterior.value(n, 0)) / posterior.means[regression.sigma];
    if (row.times > 0 && step > TRUSTED_STEP) return `has its response ${fixed(step, 2)} sds of the noise away from where it was`;
    if (row.times === 1) return null;
    const hat = Math.min(regression.hat(n), 1 - 1e-9);
    const factor = row.times === 0 ? 1 / (1 - hat) : 1 / (1 + hat);
    const shift = posterior.variables.reduce((most, _, v) => Math.max(most, Math.abs(posterior.dropped(n, v))), 0);
    const error = shift * Math.abs(factor - 1);
    return error > TRUSTED_ERROR || shift * factor > TRUSTED_SHIFT ? `has high leverage (hat value ${fixed(hat, 2)})` : null;
  }
}
