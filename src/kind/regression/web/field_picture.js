import {cells, cellsOf} from '../../../report/web/cells.js';
import {element, legend} from '../../../report/web/dom.js';
import {grouped, normalQuantile, percent, plural, significant} from '../../../report/web/numbers.js';
import {Plot, across, curve, dataSets, domainSignal, extent, linear, mark, up} from '../../../report/web/plot.js';
import {RowMarks} from '../../../report/web/row_marks.js';

/**
 * The responses by what the fit says of them, group effects included, with the line where they are the same. Where rows are not
 * normal, also the means of rows that lie side by side, with how far chance alone would take these. Rows that are too many to
 * be here are drawn as counts of all of them.
 */
export class FieldPicture {
  constructor(kind, {prefix, movable = false, onSelect, onDrag}) {
    const {contents, posterior} = kind;
    this.kind = kind;
    this.posterior = posterior;
    this.movable = movable;
    this.binned = posterior.rows.all ? null : (contents.picture?.binned?.fitted ?? null);
    this.calibration = contents.picture?.calibration ?? null;
    this.marks = new RowMarks(kind, {onSelect, onDrag});
    const {response, likelihood} = kind.model;
    this.isShare = likelihood.is_share;
    const level = percent(contents.level);
    const z = normalQuantile(0.5 + contents.level / 2);
    this.means = this.calibration
      ? this.calibration.fitted.map((x, i) => {
          const [y, sd, rows] = [this.calibration.observed[i], this.calibration.sd[i], this.calibration.rows[i]];
          return {x, y, low: y - z * sd, high: y + z * sd, tip: `${plural(rows, 'row')}: ${significant(y)} observed, ${significant(x)} fitted`};
        })
      : [];
    const entries = [
      this.binned && [`all ${grouped(contents.data.rows)} rows, counted`, 'block', 'var(--muted)'],
      (!this.binned || movable) && ['rows', 'dot', 'var(--muted)'],
      ['observed as fitted', 'line', 'var(--c1)'],
      this.calibration && [`means of rows side by side, with ${level} of what chance does`, 'dot', 'var(--c2)'],
    ].filter(Boolean);
    this.plot = new Plot({
      id: `${prefix}-fit`,
      caption: this.isShare ? 'Observed shares by fitted probabilities' : `${response} by what the fit says`,
      description: 'What was observed of each row by what the fit says of it, with the line where these are the same',
      extra: [legend(entries)],
      spec: {
        height: 340,
        signals: [domainSignal('x'), domainSignal('y')],
        data: dataSets('cells', 'line', 'rows', 'means'),
        scales: [linear('x', 'width'), linear('y', 'height')],
        axes: [
          across(this.isShare ? 'fitted probability' : `fitted ${response}`, {grid: true}),
          up(this.isShare ? 'observed share' : response),
        ],
        marks: [
          cells('cells'),
          curve('line', 'var(--c1)', 2),
          RowMarks.spec({y: {scale: 'y', field: 'y'}, cursor: movable ? (kind.isNormal ? 'grab' : 'pointer') : null}),
          mark('rule', 'means', {
            x: {scale: 'x', field: 'x'},
            y: {scale: 'y', field: 'low'},
            y2: {scale: 'y', field: 'high'},
            stroke: {value: 'var(--c2)'},
            strokeWidth: {value: 3},
            strokeCap: {value: 'round'},
            tooltip: {field: 'tip'},
          }),
          mark(
            'symbol',
            'means',
            {
              x: {scale: 'x', field: 'x'},
              y: {scale: 'y', field: 'y'},
              size: {value: 90},
              fill: {value: 'var(--c2)'},
              stroke: {value: 'var(--paper)'},
              tooltip: {field: 'tip'},
            },
            {name: 'meanDotMarks'},
          ),
        ],
      },
    });
    // What is counted is not dragged about.
    if (movable) this.marks.attach(this.plot, (n, at) => (kind.isNormal ? new Map([[0, at.y]]) : new Map()));
    const note = posterior.rows.all || (this.binned && !movable) ? '' : posterior.note;
    this.element = element('div', {}, element('div', {class: 'pictures'}, this.plot.figure), element('p', {class: 'note'}, note));
    this.update(null);
  }

  /** Up, where the row now lies; its own value is what it observed. */
  placeOf(n, value) {
    const {kind, posterior} = this;
    return [kind.fitted(n), kind.isNormal ? value : kind.observed(n) + value - posterior.value(n, 0)];
  }

  update(_, change = null, selected = null) {
    const {kind, posterior} = this;
    const hidden = this.binned && !this.movable; // rows that were chosen for their influence would deceive
    const rows = hidden ? [] : this.marks.tuples(change, selected, 0, 0, (n, input) => this.placeOf(n, input(0)));
    const drawn = this.binned ? cellsOf(this.binned) : [];
    const still = posterior.rows.row.map((_row, n) => [kind.fitted(n), kind.observed(n)]);
    const acrosses = [...still.map(([x]) => x), ...drawn.flatMap(({x, x2}) => [x, x2])];
    const ups = [...still.map(([, y]) => y), ...drawn.flatMap(({y, y2}) => [y, y2]), ...this.means.flatMap(({low, high}) => [low, high])];
    const xDomain = extent(acrosses);
    const line = [...xDomain].map((x) => ({x, y: x}));
    this.plot.show({cells: drawn, line, rows, means: this.means}, {xDomain, yDomain: extent([...ups, ...xDomain], 0.04)});
  }
}
