import {AnyKind} from '../../../report/web/any_kind.js';
import {colourOf} from '../../../report/web/colours.js';
import {fixed, listed} from '../../../report/web/numbers.js';
import {Mixture} from './mixture.js';

const TRUSTED_SHARE = 0.1; // of a moved row, that goes from one component to another
const TRUSTED_STEP = 0.5; // sds of the component that has most of a moved row

/** What the page says of a mixture of normals. */
export class MixtureKind extends AnyKind {
  constructor(contents, posterior) {
    super(contents, posterior);
    this.mixture = new Mixture(contents, posterior);
  }

  lead(name, source) {
    const {components, covariance, columns, fixed: kept} = this.contents.model;
    const shape = {full: ' with full covariances', diagonal: ' with diagonal covariances'}[covariance] ?? '';
    const what = components === 1 ? 'A single normal' : `A mixture of ${components} normals`;
    const held = kept.length > 0 ? ` The ${kept.join(' and ')} were held fixed.` : '';
    return [`${what}${shape}, fitted to `, name(listed(columns)), ' of ', ...source, `.${held}`];
  }

  priorWords(origin) {
    return {auto: 'automatic, by the spread of the data', paper: 'that of the paper'}[origin] ?? super.priorWords(origin);
  }

  get drawsRows() {
    return this.contents.data.weights === null;
  }

  get dataTitle() {
    return this.histograms.length > 0 ? 'The data and the fit' : 'The fit';
  }

  /** Its density can be drawn without the data. */
  get hasPicture() {
    return true;
  }

  get movedWords() {
    return 'Solid is where the means move to, dashed is the fit.';
  }

  get caution() {
    return '';
  }

  get inputWord() {
    return 'value';
  }

  /** For each group and column, the variables of all components. */
  views() {
    const {posterior, mixture} = this;
    const {columns} = mixture;
    const views = new Map();
    const order = {mu: 0, pi: 1, sigma: 2, Sigma: 2};
    mixture.parts.forEach(({group, k, p, q}, v) => {
      if (!(posterior.sd(v) > 0) || p !== q) return;
      for (const column of group === 'pi' ? columns.keys() : [p]) {
        const title = `${group}${columns.length > 1 ? `, by ${columns[column]}` : ''}`;
        if (!views.has(title)) views.set(title, {title, group, across: columns[column], series: []});
        const {name} = posterior.variables[v];
        views.get(title).series.push({name, v, input: column, place: (n) => posterior.value(n, column), colour: colourOf(k)});
      }
    });
    return [...views.values()].sort((a, b) => order[a.group] - order[b.group]);
  }

  /** Each component. */
  blocks() {
    const {correlated} = this.posterior;
    return Array.from({length: this.mixture.count}, (_, own) => ({
      title: `component ${own + 1}`,
      variables: correlated.filter((v) => this.mixture.parts[v].k === own),
    }));
  }

  /** A row that is moved far, or from one component to another. */
  doubt(n, row) {
    if (row.times === 0) return null;
    const components = this.mixture.components(this.posterior.means);
    const from = row.values.map((_, i) => this.posterior.value(n, i));
    const before = Mixture.shares(components, from);
    const after = Mixture.shares(components, row.values);
    const turned = before.findIndex((share, k) => !(Math.abs(share - after[k]) <= TRUSTED_SHARE));
    if (turned >= 0)
      return `changes sides: component ${turned + 1} had ${fixed(100 * before[turned], 0)} % of it, and would have ${fixed(100 * after[turned], 0)} %`;
    const {covariance} = components[before.indexOf(Math.max(...before))];
    const step = Math.max(...from.map((x, p) => Math.abs(row.values[p] - x) / Math.sqrt(covariance[p][p])));
    return step > TRUSTED_STEP ? `is ${fixed(step, 2)} sds of its component away from where it was` : null;
  }
}
