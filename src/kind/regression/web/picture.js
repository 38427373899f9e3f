import {cells, cellsOf} from '../../../report/web/cells.js';
import {choice, element, legend} from '../../../report/web/dom.js';
import {normalQuantile, percent, rounded} from '../../../report/web/numbers.js';
import {Plot, across, area, curve, dataSets, domainSignal, extent, linear, mark, up} from '../../../report/web/plot.js';
import {RowMarks} from '../../../report/web/row_marks.js';

const GRID = 60;
const FITTED = -1;
const SPREAD = 0.5; // of a level's room, that its rows take

/**
 * The rows and the fit along one term: what is left of each response when the other terms have explained their part. Along numbers
 * the line and its posterior band; of a factor the mean of each level and its interval. Or the responses against what the fit says
 * they should be. Rows that are too many to be here are drawn as counts of all of them.
 */
export class RegressionPicture {
  constructor(kind, {prefix, movable = false, onSelect, onDrag}) {
    const {contents, posterior, regression} = kind;
    this.contents = contents;
    this.posterior = posterior;
    this.regression = regression;
    this.movable = movable;
    this.z = normalQuantile(0.5 + contents.level / 2);
    this.t = this.regression.terms.length > 0 ? 0 : FITTED;
    this.binned = posterior.rows.all ? null : (contents.picture?.binned ?? null);
    this.marks = new RowMarks(kind, {onSelect, onDrag});
    this.caption = element('span');
    this.key = element('div');
    this.plot = this.linePlot(prefix);
    const options = this.regression.terms.map(({column}, t) => [t, column]);
    this.note = element('p', {class: 'note'});
    this.element = element(
      'div',
      {},
      element(
        'div',
        {class: 'choices'},
        choice('Across', [...options, [FITTED, 'the fitted response']], this.t, (t) => {
          this.t = Number(t);
          this.update(this.moved, this.change, this.selected);
        }),
      ),
      element('div', {class: 'pictures'}, this.plot.figure),
      this.note,
    );
    this.update(null);
  }

  get term() {
    return this.t === FITTED ? null : this.regression.terms[this.t];
  }

  linePlot(prefix) {
    const {response} = this.regression;
    const y = {scale: 'y', field: 'y'};
    const plot = new Plot({
      id: `${prefix}-line`,
      caption: this.caption,
      description:
        'The response along one term, less what the other terms explain, with the fitted line and its posterior band, or the means of the levels with their intervals',
      extra: [this.key],
      spec: {
        height: 340,
        signals: [
          domainSignal('x'),
          domainSignal('y'),
          {name: 'across', value: ''},
          {name: 'levels', value: []},
          {name: 'ticks', value: null},
        ],
        data: dataSets('cells', 'predictive', 'band', 'line', 'before', 'beforeMeans', 'rows', 'means'),
        scales: [linear('x', 'width'), linear('y', 'height')],
        axes: [
          across(
            {signal: 'across'},
            {
              grid: {signal: 'length(levels) === 0'},
              values: {signal: 'ticks'},
              encode: {labels: {update: {text: {signal: 'length(levels) > 0 ? levels[datum.value] : datum.label'}}}},
            },
          ),
          up(response),
        ],
        marks: [
          cells('cells'),
          mark('area', 'predictive', {
            x: {scale: 'x', field: 'x'},
            y: {scale: 'y', field: 'low'},
            y2: {scale: 'y', field: 'high'},
            fill: {value: 'var(--wide-band)'},
          }),
          area('band'),
          curve('before', 'var(--muted)', 1.5, [5, 4]),
          curve('line', 'var(--c1)', 2.5),
          RowMarks.spec({y, cursor: this.movable ? 'grab' : null}),
          mark('symbol', 'beforeMeans', {
            x: {scale: 'x', field: 'x'},
            y,
            shape: {value: 'stroke'},
            size: {value: 900},
            stroke: {value: 'var(--muted)'},
            strokeWidth: {value: 1.5},
            strokeDash: {value: [5, 4]},
          }),
          mark(
            'rule',
            'means',
            {
              x: {scale: 'x', field: 'x'},
              y: {scale: 'y', field: 'least'},
              y2: {scale: 'y', field: 'most'},
              stroke: {value: 'var(--c1)'},
              strokeWidth: {value: 1},
              tooltip: {field: 'tip'},
            },
            {name: 'wideMarks'},
          ),
          mark(
            'rule',
            'means',
            {
              x: {scale: 'x', field: 'x'},
              y: {scale: 'y', field: 'low'},
              y2: {scale: 'y', field: 'high'},
              stroke: {value: 'var(--c1)'},
              strokeWidth: {value: 3},
              strokeCap: {value: 'round'},
              tooltip: {field: 'tip'},
            },
            {name: 'intervalsMarks'},
          ),
          mark('symbol', 'means', {
            x: {scale: 'x', field: 'x'},
            y,
            size: {value: 130},
            fill: {value: 'var(--c1)'},
            stroke: {value: 'var(--paper)'},
            tooltip: {field: 'tip'},
          }),
        ],
      },
    });
    if (this.movable) this.marks.attach(plot, (n, at) => new Map([[0, this.responseAt(n, at.y)]]));
    return plot;
  }

  /** What is drawn depends on the term. */
  entries() {
    const {term} = this;
    const level = percent(this.contents.level);
    const fixedWidth = this.movable ? ', as wide as fitted' : '';
    const counted = this.binned && [`all ${this.contents.data.rows.toLocaleString('en')} rows, counted`, 'block', 'var(--muted)'];
    const rows = (!this.binned || this.movable) && ['rows', 'dot', 'var(--muted)'];
    return [
      counted,
      rows,
      term?.levels
        ? [`mean of each level and its ${level} posterior interval${fixedWidth}`, 'dot', 'var(--c1)']
        : ['line', 'line', 'var(--c1)'],
      term && !term.levels && this.contents.response && [`its ${level} posterior band${fixedWidth}`, 'block', 'var(--band)'],
      this.hasNoise && [`${level} of new responses`, term?.levels ? 'line' : 'block', term?.levels ? 'var(--c1)' : 'var(--wide-band)'],
      this.movable && ['before', 'dashed', 'var(--muted)'],
    ].filter(Boolean);
  }

  /** Is the band of a new response known? By the noise it has, the posterior mean of its sd. */
  get hasNoise() {
    return this.contents.response && this.term !== null && this.regression.sigma !== undefined;
  }

  /** How far new responses lie from the line, at a place along the term. */
  reach(x) {
    const noise = this.hasNoise ? this.posterior.means[this.regression.sigma] : 0;
    return this.z * Math.hypot(this.regression.lineSd(this.term, x), noise);
  }

  get means() {
    return this.moved ?? this.posterior.means;
  }

  /** The response that lies there: the picture less the other terms, undone. */
  responseAt(n, y) {
    return this.t === FITTED ? y : y - this.regression.partial(this.means, n, this.term, 0);
  }

  /** Where a row lies: across and up. Rows of a level lie beside each other. */
  placeOf(n, means, response) {
    const {regression, term} = this;
    if (!term) return [regression.fitted(means, n), response];
    const jitter = term.levels ? SPREAD * ((((n + 1) * 0.6180339887498949) % 1) - 0.5) : 0;
    return [regression.place(n, term) + jitter, regression.partial(means, n, term, response)];
  }

  update(moved, change = null, selected = null) {
    Object.assign(this, {moved, change, selected});
    const {regression, posterior, term} = this;
    const {response} = regression;
    const others = regression.terms.length > 1 ? ', less what the other columns explain' : '';
    this.caption.textContent = `${response}${term ? others : ' by what the fit says'}${this.movable ? ', moved' : ''}`;
    this.key.replaceChildren(legend(this.entries()));
    const counts = this.binned && (term ? this.binned.terms[this.t] : this.binned.fitted);
    this.note.textContent = this.noteOf(counts);
    const hidden = Boolean(counts) && !this.movable; // rows that were chosen for their influence would deceive
    const rows = hidden ? [] : this.marks.tuples(change, selected, 0, 0, (n, input) => this.placeOf(n, this.means, input(0)));
    // The axes stand still while a row is dragged.
    const still = posterior.rows.row.map((_, n) => this.placeOf(n, posterior.means, posterior.value(n, 0)));
    const drawn = counts ? cellsOf(counts).map((cell) => (term?.levels ? within(cell) : cell)) : [];
    const ups = [...still.map(([, y]) => y), ...drawn.flatMap(({y, y2}) => [y, y2])];
    const shown = {cells: drawn, rows, ...(term?.levels ? this.groups() : this.lines(still, drawn))};
    const reach = [
      ...[...(shown.band ?? []), ...(shown.predictive ?? [])].flatMap(({low, high}) => [low, high]),
      ...(shown.means ?? []).flatMap(({least, most}) => [least, most]),
    ];
    this.plot.show(
      {predictive: [], band: [], line: [], before: [], means: [], beforeMeans: [], ...shown},
      {
        xDomain: this.domain(still, drawn),
        yDomain: extent([...ups, ...reach], 0.06),
        across: term ? term.column : 'the fitted response',
        levels: term?.levels ?? [],
        ticks: term?.levels ? term.levels.map((_, l) => l) : null,
      },
    );
  }

  noteOf(counts) {
    if (this.posterior.rows.all) return '';
    if (!this.binned) return this.posterior.note;
    if (!counts) return `All rows are counted for the first ${this.binned.terms.length} terms. ${this.posterior.note}`;
    return this.movable ? this.posterior.note : '';
  }

  domain(still, drawn) {
    const {term} = this;
    if (term?.levels) return [-0.5, term.levels.length - 0.5];
    return extent([...still.map(([x]) => x), ...drawn.flatMap(({x, x2}) => [x, x2])]);
  }

  /** The line along numbers, and its band. */
  lines(still, drawn) {
    const {regression, posterior, term} = this;
    const domain = this.domain(still, drawn);
    const xs = Array.from({length: GRID}, (_, i) => domain[0] + ((domain[1] - domain[0]) * i) / (GRID - 1));
    const along = (means) => xs.map((x) => ({x, y: term ? regression.line(means, term, x) : x}));
    const line = along(this.means);
    const band =
      term && this.contents.response
        ? line.map(({x, y}) => ({x, low: y - this.z * regression.lineSd(term, x), high: y + this.z * regression.lineSd(term, x)}))
        : [];
    const predictive = this.hasNoise ? line.map(({x, y}) => ({x, low: y - this.reach(x), high: y + this.reach(x)})) : [];
    return {line, band, predictive, before: this.movable && term ? along(posterior.means) : []};
  }

  /** The mean of each level of a factor, and its interval. */
  groups() {
    const {regression, posterior, term} = this;
    const means = term.levels.map((level, x) => {
      const y = regression.line(this.means, term, x);
      const sd = this.contents.response ? regression.lineSd(term, x) : 0;
      const [low, high] = [y - this.z * sd, y + this.z * sd];
      const wide = this.hasNoise ? this.reach(x) : 0;
      return {x, y, low, high, least: y - wide, most: y + wide, tip: `${level}: ${rounded(y, sd)} (${rounded(low, sd)} to ${rounded(high, sd)})`};
    });
    return {
      means,
      beforeMeans: this.movable ? term.levels.map((_, x) => ({x, y: regression.line(posterior.means, term, x)})) : [],
    };
  }
}

/** A cell of a level with room about it. */
const within = (cell) => ({...cell, x: cell.x + 0.15, x2: cell.x2 - 0.15});
