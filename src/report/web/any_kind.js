import {COLOURS, colourOf} from './colours.js';
import {fixed} from './numbers.js';
import {panelsOf} from './pages.js';
import {groupsOf, noChange} from './posterior.js';
import {TRUSTED_SHIFT} from './trust.js';

// How far the first order holds depends on the model, so that where nothing is known of it these are tight enough for
// a mixture, the most crooked of the models that have rules of their own: tests/report/trust_test.mjs compares with refits.
const TRUSTED_STEP = 0.03; // of the reach of what is moved
const TRUSTED_MOVE = 0.15; // posterior sds that one row moves a mean by when it is moved,
const TRUSTED_ROW = 0.25; // and when it is dropped or counted twice
const TRUSTED_SHARE = 0.1; // of the data that a row is which is dropped or counted twice
const GRIP = 0.1; // of the reach: a step in a value of such a row that must not move a mean by more than is trusted

/**
 * What the page asks of a kind of model, and what it says of one that it knows nothing about: only what any contents
 * hold. Kinds with words of their own inherit it, and answer what they know better.
 */
export class AnyKind {
  constructor(contents, posterior) {
    this.contents = contents;
    this.posterior = posterior;
  }

  /** What was fitted, as parts of a sentence: `source` says to what, and `name` marks what is named in the data. */
  lead(name, source) {
    const what = (this.contents.description ?? '').trim().replace(/[.\s]+$/, '');
    return what === '' ? ['A model fitted to ', ...source, '.'] : [name(what), ', fitted to ', ...source, '.'];
  }

  /** Where the numbers of the prior come from, as the program calls it, in words. */
  priorWords(origin) {
    return {auto: 'automatic, by the data', explicit: 'given'}[origin] ?? origin;
  }

  get dataTitle() {
    return this.histograms.length > 0 || this.posterior.rows?.inputs.length > 0 ? 'The data' : 'The rows';
  }

  /** The variables as the estimates show them: {title, variables, aboutZero}, each panel with one axis unless its variables lie about zero. */
  panels() {
    return panelsOf(this.contents.variables);
  }

  /** What a kind has to show beside what every page has, after the picture of the data: [id, title, what builds it]. */
  sections() {
    return [];
  }

  /** Can data be drawn from the model, to see whether it fits? */
  get drawsRows() {
    return false;
  }

  /** What is known of a row besides what moves: {name, text} pairs. */
  rowFacts() {
    return [];
  }

  get histograms() {
    return this.contents.picture?.histograms ?? [];
  }

  /** Is there something for the kind's picture to draw? */
  get hasPicture() {
    return this.posterior.rows !== null || this.histograms.length > 0;
  }

  /** How the picture shows what has moved. */
  get movedWords() {
    return 'The table says where the means move to.';
  }

  /** What should be known before the first order is trusted; nothing of kinds whose limits were tested. */
  get caution() {
    return 'How far the first order holds depends on the model. Nothing is known of this one, so that the limits here are tight ones: a refit is the proof.';
  }

  /** What of a row moves, in one word. */
  get inputWord() {
    const {inputs} = this.posterior.rows;
    return inputs.length === 1 ? inputs[0] : 'value';
  }

  /**
   * What rows do to the means, in views that each show some variables: {title, across, series}, where a series has the
   * `name`, position `v` and `colour` of a variable, the `input` that moves it, and for each row its `place` across.
   * Here a view is a group of variables, as many as there are colours, by each of the inputs; without inputs by the
   * number of the row.
   */
  views() {
    const {posterior} = this;
    const {rows, variables} = posterior;
    const places =
      rows.inputs.length > 0
        ? rows.inputs.map((across, input) => ({across, input, place: (n) => posterior.value(n, input)}))
        : [{across: 'the row', input: null, place: (n) => rows.row[n]}];
    const free = variables.map((_, v) => v).filter((v) => posterior.sd(v) > 0);
    return groupsOf(variables, free).flatMap(([group, own]) =>
      places.flatMap(({across, input, place}) =>
        inPieces(own, COLOURS).map((piece) => {
          const [first, last] = [variables[piece[0]].name, variables[piece.at(-1)].name];
          const what = own.length <= COLOURS ? group : piece.length > 1 ? `${first} \u2026 ${last}` : first;
          const title = places.length > 1 ? `${what}, by ${across}` : what;
          const series = piece.map((v, i) => ({name: variables[v].name, v, input, place, colour: colourOf(i)}));
          return {title, across, series};
        }),
      ),
    );
  }

  /** Sets of variables whose correlations are worth a look beside those of their groups: {title, variables}. */
  blocks() {
    const {variables, correlated} = this.posterior;
    const alone = groupsOf(variables, correlated).flatMap(([, own]) => (own.length === 1 ? own : []));
    return alone.length > 1 ? [{title: 'those alone in their group', variables: alone}] : [];
  }

  /** Why a row that is moved, dropped or counted twice is beyond what linear response knows; null if it is not. */
  doubt(n, row) {
    const {posterior} = this;
    const {inputs, reach} = posterior.rows;
    const steps =
      row.times > 0 && posterior.rowsMove
        ? row.values.map((value, i) => Math.abs(value - posterior.value(n, i)) / reach[i])
        : [0];
    const step = Math.max(...steps);
    if (step > TRUSTED_STEP)
      return `has its ${inputs[steps.indexOf(step)]} moved by ${inPercent(step)} of the range of all rows, more than ${inPercent(TRUSTED_STEP)}`;
    const trusted = step > 0 ? TRUSTED_MOVE : TRUSTED_ROW;
    const shifts = posterior.shifts({...noChange(), rows: new Map([[n, row]])});
    const effect = this.largest((v) => Math.abs(shifts[v]) / posterior.sd(v));
    if (effect.size > trusted) return `alone moves ${effect.name} by ${fixed(effect.size, 2)} posterior sds, more than ${trusted}`;
    if (row.times === 1) return null;
    const share = posterior.weight(n) / this.totalWeight;
    if (share > TRUSTED_SHARE) return `is ${inPercent(share)} of the data, more than ${inPercent(TRUSTED_SHARE)}`;
    if (!posterior.rowsMove) return null;
    // A row that the fit goes through moves nothing to first order, and may yet hold it up: then its values have a grip.
    const grip = this.largest((v) =>
      Math.max(...inputs.map((_, i) => (Math.abs(posterior.leverageOf(n, v, i)) * GRIP * reach[i]) / posterior.sd(v))),
    );
    return grip.size > TRUSTED_SHIFT
      ? `has high leverage on ${grip.name}, which a step of ${inPercent(GRIP)} of the range of all rows would move by ${fixed(grip.size, 2)} posterior sds`
      : null;
  }

  /** The variable, of those that are not held, for which something is largest. */
  largest(sizeOf) {
    const {variables} = this.posterior;
    const sizes = variables.map(({sd}, v) => (sd > 0 ? sizeOf(v) : 0));
    const size = sizes.reduce((most, one) => Math.max(most, one), 0);
    return {size, name: variables[sizes.indexOf(size)].name};
  }

  get totalWeight() {
    const {data} = this.contents;
    return data.weights === null ? data.rows : data.total_weight;
  }
}

const inPercent = (share) => `${fixed(100 * share, 0)} %`;

function inPieces(things, size) {
  return Array.from({length: Math.ceil(things.length / size)}, (_, piece) => things.slice(piece * size, (piece + 1) * size));
}
