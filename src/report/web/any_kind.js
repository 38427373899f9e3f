import {COLOURS, colourOf} from './colours.js';
import {fixed} from './numbers.js';
import {groupsOf} from './posterior.js';
import {TRUSTED_SHIFT} from './trust.js';

// How far the first order holds depends on the model, so that where nothing is known of it these are tighter than what
// the kinds with rules of their own were tested with.
const TRUSTED_STEP = 0.1; // of the reach of what is moved
const TRUSTED_ROW = 0.25; // posterior sds that dropping a row, or counting it twice, moves a mean by
const TRUSTED_SHARE = 0.1; // of the data that one row is

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

  get dataTitle() {
    return this.histograms.length > 0 || this.posterior.rows?.inputs.length > 0 ? 'The data' : 'The rows';
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
    if (row.times > 0 && posterior.rowsMove) {
      const steps = row.values.map((value, i) => Math.abs(value - posterior.value(n, i)) / reach[i]);
      const longest = steps.indexOf(Math.max(...steps));
      if (!(steps[longest] <= TRUSTED_STEP))
        return `has its ${inputs[longest]} moved by ${inPercent(steps[longest])} of how far all rows reach, more than ${inPercent(TRUSTED_STEP)}`;
    }
    if (row.times === 1) return null;
    const share = posterior.weight(n) / this.totalWeight;
    if (share > TRUSTED_SHARE) return `is ${inPercent(share)} of the data, more than ${inPercent(TRUSTED_SHARE)}`;
    const most = (sizeOf) => {
      const sizes = posterior.variables.map((_, v) => (posterior.sd(v) > 0 ? sizeOf(v) : 0));
      const size = Math.max(...sizes);
      return {size, name: posterior.variables[sizes.indexOf(size)].name};
    };
    const effect = most((v) => Math.abs(posterior.dropped(n, v)));
    if (effect.size > TRUSTED_ROW) return `alone moves ${effect.name} by ${fixed(effect.size, 2)} posterior sds, more than ${TRUSTED_ROW}`;
    if (!posterior.rowsMove) return null;
    // A row that the fit goes through moves nothing to first order, and may yet hold it up: then its values have a grip.
    const step = (v, i) => Math.abs(posterior.leverageOf(n, v, i)) * TRUSTED_STEP * reach[i];
    const grip = most((v) => Math.max(...inputs.map((_, i) => step(v, i) / posterior.sd(v))));
    return grip.size > TRUSTED_SHIFT
      ? `has a grip on ${grip.name}, which ${inPercent(TRUSTED_STEP)} of how far all rows reach would move by ${fixed(grip.size, 2)} posterior sds`
      : null;
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
