import {choice, element, legend} from '../../../report/web/dom.js';
import {normalQuantile, percent} from '../../../report/web/numbers.js';
import {Plot, across, area, curve, dataSets, domainSignal, extent, linear, up} from '../../../report/web/plot.js';
import {RowMarks} from '../../../report/web/row_marks.js';

const GRID = 60;
const FITTED = -1;

/**
 * The rows and the line along one column: what is left of each response when the other columns have explained their
 * part, and the posterior band of the line. Or the responses against what the fit says they should be.
 */
export class RegressionPicture {
  constructor({contents, posterior, regression}, {prefix, movable = false, onSelect, onDrag}) {
    this.contents = contents;
    this.posterior = posterior;
    this.regression = regression;
    this.movable = movable;
    this.j = this.regression.slopes.length > 0 ? 0 : FITTED;
    this.marks = new RowMarks(posterior, {onSelect, onDrag});
    this.plot = this.linePlot(prefix);
    const options = this.regression.slopes.map((name, j) => [j, name]);
    this.element = element(
      'div',
      {},
      element(
        'div',
        {class: 'choices'},
        choice('Across', [...options, [FITTED, 'the fitted response']], this.j, (j) => {
          this.j = Number(j);
          this.update(this.moved, this.change, this.selected);
        }),
      ),
      element('div', {class: 'pictures'}, this.plot.figure),
      posterior.note && element('p', {class: 'note'}, posterior.note),
    );
    this.update(null);
  }

  linePlot(prefix) {
    const {response} = this.regression;
    const entries = [
      ['rows', 'dot', 'var(--muted)'],
      ['line', 'line', 'var(--c1)'],
      [`its ${percent(this.contents.level)} posterior band${this.movable ? ', as wide as fitted' : ''}`, 'block', 'var(--band)'],
    ];
    if (this.movable) entries.push(['before', 'dashed', 'var(--muted)']);
    const plot = new Plot({
      id: `${prefix}-line`,
      caption: `${response}, less what the other columns explain${this.movable ? ', moved' : ''}`,
      description: 'Partial residuals of the response along one column, with the fitted line and its posterior band',
      extra: [legend(entries)],
      spec: {
        height: 340,
        signals: [domainSignal('x'), domainSignal('y'), {name: 'across', value: ''}],
        data: dataSets('band', 'line', 'before', 'rows'),
        scales: [linear('x', 'width'), linear('y', 'height')],
        axes: [across({signal: 'across'}, {grid: true}), up(response)],
        marks: [
          area('band'),
          curve('before', 'var(--muted)', 1.5, [5, 4]),
          curve('line', 'var(--c1)', 2.5),
          RowMarks.spec({y: {scale: 'y', field: 'y'}, cursor: this.movable ? 'grab' : null}),
        ],
      },
    });
    if (this.movable) this.marks.attach(plot, (n, at) => new Map([[0, this.responseAt(n, at.y)]]));
    return plot;
  }

  get means() {
    return this.moved ?? this.posterior.means;
  }

  /** The response that lies there: the picture less the other columns, undone. */
  responseAt(n, y) {
    return this.j === FITTED ? y : y - this.regression.partial(this.means, n, this.j, 0);
  }

  update(moved, change = null, selected = null) {
    Object.assign(this, {moved, change, selected});
    const {regression, posterior, j} = this;
    const rows = this.marks.tuples(change, selected, 0, 0, (n, input) =>
      j === FITTED
        ? [regression.fitted(this.means, n), input(0)]
        : [regression.column(n, j), regression.partial(this.means, n, j, input(0))],
    );
    // The axes stand still while a row is dragged.
    const still = posterior.rows.row.map((_, n) =>
      j === FITTED
        ? [regression.fitted(posterior.means, n), posterior.value(n, 0)]
        : [regression.column(n, j), regression.partial(posterior.means, n, j, posterior.value(n, 0))],
    );
    const domain = extent(still.map(([x]) => x));
    const xs = Array.from({length: GRID}, (_, i) => domain[0] + ((domain[1] - domain[0]) * i) / (GRID - 1));
    const along = (means) => xs.map((x) => ({x, y: j === FITTED ? x : regression.line(means, j, x)}));
    const z = normalQuantile(0.5 + this.contents.level / 2);
    const line = along(this.means);
    const spread =
      j === FITTED || !this.contents.response
        ? []
        : line.map(({x, y}) => ({x, low: y - z * regression.lineSd(j, x), high: y + z * regression.lineSd(j, x)}));
    this.plot.show(
      {rows, line, band: spread, before: this.movable && j !== FITTED ? along(posterior.means) : []},
      {
        xDomain: domain,
        yDomain: extent([...still.map(([, y]) => y), ...spread.flatMap(({low, high}) => [low, high])], 0.06),
        across: j === FITTED ? 'the fitted response' : regression.slopes[j],
      },
    );
  }
}
