import {choice, element, legend} from './dom.js';
import {cells, cellsOfPair} from './cells.js';
import {IN_STRIP, bars, barsOf, endsOf} from './histogram.js';
import {Plot, across, dataSets, domainSignal, extent, linear, up} from './plot.js';
import {RowMarks} from './row_marks.js';

// What can lie along an axis beside a column.
const ROW = -1; // the number of the row
const COUNT = -2; // how many rows
const DISTANCE = -3; // how far all means move without the row

const ENTRIES = [
  ['rows', 'dot', 'var(--muted)'],
  ['chosen or changed', 'dot', 'var(--accent)'],
];

/**
 * The data of a model of which nothing else is known: one column as a histogram, or the rows by two of their values,
 * their number, and how far dropping each would move the answer. A movable picture has rows to click and drag.
 */
export class AnyPicture {
  constructor(kind, {prefix, movable = false, onSelect, onDrag}) {
    const {posterior} = kind;
    this.posterior = posterior;
    this.columns = columnsOf(kind);
    this.movable = movable && posterior.rows !== null;
    [this.x, this.y] = this.first();
    this.marks = posterior.rows ? new RowMarks(kind, {onSelect, onDrag}) : null;
    this.pairs = posterior.rows?.all === false ? (kind.contents.picture?.pairs ?? null) : null;
    this.captions = {histogram: element('span'), scatter: element('span')};
    this.histogram = this.columns.some(({histogram}) => histogram) ? this.histogramPlot(prefix) : null;
    this.scatter = posterior.rows ? this.scatterPlot(prefix) : null;
    this.holder = element('div', {class: 'pictures'});
    this.ups = element('span');
    this.note = element('p', {class: 'note'});
    const acrosses = this.acrosses();
    this.element = element(
      'div',
      {},
      element(
        'div',
        {class: 'choices'},
        acrosses.length > 1 && choice('Across', acrosses, this.x, (x) => this.chooseAcross(Number(x))),
        this.ups,
      ),
      this.holder,
      this.note,
    );
    this.offerUps();
    this.update(null);
  }

  /** A column with all of its rows; if rows are to be clicked one that has them; else two values, or what there is. */
  first() {
    const binned = this.columns.findIndex(({histogram, input}) => histogram && (!this.movable || input >= 0));
    if (binned >= 0) return [binned, COUNT];
    const inputs = this.posterior.rows.inputs.length;
    if (inputs > 1) return [0, 1];
    return inputs === 1 ? [ROW, 0] : [ROW, DISTANCE];
  }

  acrosses() {
    const columns = this.columns.map(({name}, c) => [c, name]);
    return this.posterior.rows ? [...columns, [ROW, 'the row']] : columns;
  }

  /** What can lie up, for what lies across: a column that only its histogram knows has no rows to place. */
  upsFor(x) {
    const options = x >= 0 && this.columns[x].histogram ? [[COUNT, 'how many rows']] : [];
    if (x >= 0 && this.columns[x].input < 0) return options;
    this.columns.forEach(({name, input}, c) => {
      if (input >= 0 && c !== x) options.push([c, name]);
    });
    return this.posterior.rows ? [...options, [DISTANCE, 'what dropping it does']] : options;
  }

  offerUps() {
    const options = this.upsFor(this.x);
    const choose = (y) => {
      this.y = Number(y);
      this.update(this.moved, this.change, this.selected);
    };
    this.ups.replaceChildren(...(options.length > 1 ? [choice('Up', options, this.y, choose)] : []));
  }

  chooseAcross(x) {
    this.x = x;
    const options = this.upsFor(x);
    if (!options.some(([y]) => y === this.y)) [[this.y]] = options;
    this.offerUps();
    this.update(this.moved, this.change, this.selected);
  }

  update(moved, change = null, selected = null) {
    Object.assign(this, {moved, change, selected});
    const plot = this.y === COUNT ? this.histogram : this.scatter;
    if (this.holder.firstChild !== plot.figure) this.holder.replaceChildren(plot.figure);
    this.note.textContent = this.y === COUNT && !this.movable ? '' : this.posterior.note;
    if (this.y === COUNT) this.drawHistogram();
    else this.drawScatter();
  }

  // --- all rows of one column -----------------------------------------------------------------------------------

  histogramPlot(prefix) {
    const plot = new Plot({
      id: `${prefix}-histogram`,
      caption: this.captions.histogram,
      description: 'Histogram of one column of the data: how many rows have which values',
      spec: {
        height: 280,
        signals: [domainSignal('x'), domainSignal('y'), {name: 'title', value: ''}, {name: 'strip', value: 0}],
        data: dataSets('bins', 'rows'),
        scales: [linear('x', 'width'), linear('y', [{signal: 'height - strip'}, 0])],
        axes: [across({signal: 'title'}), up('rows', {tickCount: 5})],
        marks: [bars('bins', 'count'), ...(this.movable ? [RowMarks.spec({y: IN_STRIP, cursor: this.cursor})] : [])],
      },
    });
    if (this.movable) this.marks.attach(plot, (n, at) => this.inputsAt(at));
    return plot;
  }

  drawHistogram() {
    const {name, histogram, input} = this.columns[this.x];
    const bins = barsOf(histogram);
    const hasRows = this.movable && input >= 0;
    this.captions.histogram.textContent = `The rows, by ${name}${hasRows ? ', and those that can be changed' : ''}`;
    this.histogram.show(
      {bins, ...(hasRows ? this.rowsIfChanged() : {rows: []})},
      {
        xDomain: extent(endsOf(histogram)),
        yDomain: [0, 1.05 * Math.max(...bins.map(({count}) => count))],
        title: name,
        strip: hasRows ? 38 : 0,
      },
    );
    if (!hasRows) this.drawnRows = null;
  }

  // --- the rows by two numbers ----------------------------------------------------------------------------------

  scatterPlot(prefix) {
    const plot = new Plot({
      id: `${prefix}-rows`,
      caption: this.captions.scatter,
      description: 'Scatter of the rows by two numbers that are chosen above it',
      extra: this.movable ? [legend(ENTRIES)] : [],
      spec: {
        height: 340,
        signals: [domainSignal('x'), domainSignal('y'), {name: 'across', value: ''}, {name: 'up', value: ''}],
        data: dataSets('cells', 'rows'),
        scales: [linear('x', 'width'), linear('y', 'height')],
        axes: [across({signal: 'across'}, {grid: true}), up({signal: 'up'})],
        marks: [cells('cells'), RowMarks.spec({y: {scale: 'y', field: 'y'}, cursor: this.movable ? this.cursor : null})],
      },
    });
    if (this.movable) this.marks.attach(plot, (n, at) => this.inputsAt(at));
    return plot;
  }

  drawScatter() {
    const {posterior} = this;
    this.captions.scatter.textContent = this.scatterCaption();
    // The axes stand still while a row is dragged.
    const along = (axis) => extent(posterior.rows.row.map((_, n) => this.place(axis, n, (i) => posterior.value(n, i))));
    const binned = this.binned();
    this.scatter.show({cells: binned, ...(binned.length > 0 && !this.movable ? {rows: []} : this.rowsIfChanged())}, {
      xDomain: along(this.x),
      yDomain: along(this.y),
      across: this.titleOf(this.x),
      up: this.titleOf(this.y),
    });
  }

  scatterCaption() {
    const after = this.movable ? ', as changed' : '';
    const by = this.x === ROW ? 'in order' : `by ${this.titleOf(this.x)}`;
    if (this.y === DISTANCE) return `What dropping each of the rows does, ${by}${after}`;
    return `The rows, ${by}${this.x === ROW ? ', by' : ' and'} ${this.titleOf(this.y)}${after}`;
  }

  /** The counts of all rows by these two columns, where not all of them are here; nothing where there are none. */
  binned() {
    const [p, q] = [this.x, this.y].map((axis) => this.columns[axis]?.bin ?? -1);
    const binned = p >= 0 && q >= 0 ? cellsOfPair(this.pairs, p, q) : [];
    if (binned.length > 0) this.drawnRows = null;
    if (!this.movable) this.note.textContent = binned.length > 0 ? '' : this.posterior.note;
    return binned;
  }

  // --- both -----------------------------------------------------------------------------------------------------

  get cursor() {
    return this.posterior.rowsMove ? 'grab' : 'pointer';
  }

  titleOf(axis) {
    if (axis === ROW) return 'the row';
    return axis === DISTANCE ? 'distance without it, in posterior sds' : this.columns[axis].name;
  }

  /** Where a row lies along an axis, with its values as they now are. */
  place(axis, n, input) {
    if (axis === ROW) return this.posterior.rows.row[n];
    return axis === DISTANCE ? this.posterior.rows.distance[n] : input(this.columns[axis].input);
  }

  /** The values of a row that lies there; those that do not lie along an axis, or cannot be moved, stay. */
  inputsAt(at) {
    const places = [
      [this.x, at.x],
      [this.y, at.y],
    ];
    const moved = places.filter(([axis]) => this.posterior.rowsMove && this.columns[axis]?.input >= 0);
    return new Map(moved.map(([axis, value]) => [this.columns[axis].input, value]));
  }

  /** The rows for `show`; nothing where they are as they were drawn, since they are many. */
  rowsIfChanged() {
    const state = JSON.stringify([this.x, this.y, this.selected, [...(this.change?.rows ?? [])]]);
    if (state === this.drawnRows) return {};
    this.drawnRows = state;
    const y = this.y === COUNT ? this.x : this.y; // in a histogram's strip it does not matter
    const place = (n, input) => [this.place(this.x, n, input), this.place(y, n, input)];
    return {rows: this.marks.tuples(this.change, this.selected, 0, 0, place)};
  }
}

/** The columns that can be drawn: what rows have as values, and what there are histograms of. */
function columnsOf({histograms, posterior}) {
  const inputs = posterior.rows?.inputs ?? [];
  const columns = inputs.map((name, input) => {
    const bin = histograms.findIndex((one) => one.name === name);
    return {name, input, bin, histogram: histograms[bin] ?? null};
  });
  const others = histograms.filter(({name}) => !inputs.includes(name));
  return [...columns, ...others.map((histogram) => ({name: histogram.name, input: -1, histogram}))];
}
