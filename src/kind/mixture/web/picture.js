import {colourOf, dashOf} from '../../../report/web/colours.js';
import {choice, element, legend} from '../../../report/web/dom.js';
import {cells, cellsOfPair} from '../../../report/web/cells.js';
import {IN_STRIP, bars, barsOf, endsOf} from '../../../report/web/histogram.js';
import {decode, fixed, grouped, located, normalQuantile, percent, significant, spreadOf} from '../../../report/web/numbers.js';
import {
  Plot,
  across,
  area,
  curve,
  curves,
  dataSets,
  domainSignal,
  dots,
  extent,
  linear,
  mark,
  up,
} from '../../../report/web/plot.js';
import {RowMarks} from '../../../report/web/row_marks.js';
import {Mixture} from './mixture.js';

const GRID = 240;
const SHARES = [0.5, 0.9];
const MANY = 7; // components that a legend still lists one by one

/**
 * The data and the mixture over them: one column as a histogram with densities, two as a scatter with ellipses. A
 * movable picture shows what was fitted dashed and what it moved to in colour, and has the rows that can be moved.
 */
export class MixturePicture {
  constructor(kind, {prefix, movable = false, onSelect, onDrag}) {
    const {contents, posterior, mixture} = kind;
    this.kind = kind;
    this.contents = contents;
    this.posterior = posterior;
    this.mixture = mixture;
    this.histograms = contents.picture?.histograms ?? null;
    this.columns = mixture.columns;
    this.movable = movable && posterior.rows !== null;
    this.x = 0;
    this.y = this.columns.length > 1 ? 1 : 0;
    this.points = pointsOf(kind);

    this.holder = element('div', {class: 'pictures'});
    this.note = element('p', {class: 'note'});
    this.element = element('div', {}, this.columns.length > 1 && this.choices(), this.holder, this.note);
    this.marks = this.movable ? new RowMarks(kind, {onSelect, onDrag, colourOfRow: (n) => this.rowColour(n)}) : null;
    this.density = this.densityPlot(prefix);
    this.scatter = this.columns.length > 1 ? this.scatterPlot(prefix) : null;
    this.update(null);
  }

  choices() {
    const options = this.columns.map((name, p) => [p, name]);
    return element(
      'div',
      {class: 'choices'},
      choice('Across', options, this.x, (p) => this.choose('x', Number(p))),
      choice('Up', [[-1, 'the density'], ...options], this.y, (p) => this.choose('y', Number(p))),
    );
  }

  choose(axis, p) {
    this[axis] = p;
    this.update(this.moved, this.change, this.selected);
  }

  get isDensity() {
    return this.scatter === null || this.y < 0 || this.y === this.x;
  }

  update(moved, change = null, selected = null) {
    Object.assign(this, {moved, change, selected});
    const plot = this.isDensity ? this.density : this.scatter;
    if (this.holder.firstChild !== plot.figure) this.holder.replaceChildren(plot.figure);
    if (this.isDensity) this.drawDensity();
    else this.drawScatter();
  }

  // --- one column -----------------------------------------------------------------------------------------------

  densityPlot(prefix) {
    const entries = [
      ['rows', 'block', 'var(--bar)'],
      ['density', 'line', 'var(--ink)'],
    ];
    const band = `its ${percent(this.contents.level)} posterior band${this.movable ? ', as wide as fitted' : ''}`;
    if (this.contents.response) entries.push([band, 'block', 'var(--band)']);
    if (this.movable) entries.push(['before', 'dashed', 'var(--muted)']);
    if (this.histograms === null) entries.shift();
    const plot = new Plot({
      id: `${prefix}-density`,
      caption: element('span', {}, this.movable ? 'The density, moved' : 'The density'),
      description: this.description(
        'Histogram of the rows with the fitted density, its components and a band for its posterior uncertainty',
      ),
      extra: [legend([...entries, ...this.componentEntries('line')])],
      spec: {
        height: 300,
        signals: [domainSignal('x'), domainSignal('y'), {name: 'title', value: ''}, {name: 'strip', value: this.movable ? 38 : 0}],
        data: dataSets('bins', 'band', 'total', 'parts', 'before', 'rows'),
        scales: [linear('x', 'width'), linear('y', [{signal: 'height - strip'}, 0])],
        axes: [across({signal: 'title'}), up('density', {tickCount: 5})],
        marks: [
          bars('bins', 'density'),
          area('band'),
          curve('before', 'var(--muted)', 1.5, [5, 4]),
          curves('parts', 'k'),
          curve('total', 'var(--ink)', 1.5),
          ...(this.movable ? [RowMarks.spec({y: IN_STRIP})] : []),
        ],
      },
    });
    this.marks?.attach(plot, (n, at) => new Map([[this.x, at.x]]));
    return plot;
  }

  drawDensity() {
    const p = this.x;
    const {contents, posterior, mixture} = this;
    const histogram = this.histograms?.[p] ?? null;
    const domain = this.domain(p);
    const xs = this.grid(p, domain);
    const {parts, total} = mixture.densities(this.moved ?? posterior.means, p, xs);
    const before = mixture.densities(posterior.means, p, xs).total;
    const z = normalQuantile(0.5 + contents.level / 2);
    const sds = contents.response ? this.densitySds(p, xs) : null;
    const bins = histogram ? barsOf(histogram) : [];
    const spread = sds ? xs.map((x, i) => ({x, low: Math.max(0, total[i] - z * sds[i]), high: total[i] + z * sds[i]})) : [];
    const highest = Math.max(...before, ...spread.map(({high}) => high), ...bins.map(({density}) => density));
    const through = (ys) => xs.map((x, i) => ({x, y: ys[i]}));
    this.note.textContent = this.uncorrelated(p)
      ? 'Not all correlations found room in this report: the band takes those that did not to be zero.'
      : '';
    this.density.show(
      {
        bins,
        band: spread,
        total: through(total),
        before: this.movable ? through(before) : [],
        parts: parts.flatMap((ys, k) =>
          xs.map((x, i) => ({x, y: ys[i], k, colour: colourOf(k), dash: dashOf(k), width: 5})).filter(({y}) => y > 2e-3 * highest),
        ),
        ...this.rowsIfChanged(p, p),
      },
      {xDomain: domain, yDomain: [0, highest * 1.05], title: this.columns[p]},
    );
  }

  /** Even steps, and finer ones about each component, however narrow it is. */
  grid(p, domain) {
    const xs = Array.from({length: GRID}, (_, i) => domain[0] + ((domain[1] - domain[0]) * i) / (GRID - 1));
    for (const {mean, covariance} of this.mixture.components(this.posterior.means)) {
      const sd = Math.sqrt(covariance[p][p]);
      for (let z = -4; z <= 4; z += 0.25) xs.push(mean[p] + z * sd);
    }
    return xs.filter((x) => x >= domain[0] && x <= domain[1]).sort((a, b) => a - b);
  }

  /** They do not move: computed once for each column. */
  densitySds(p, xs) {
    this.sds ??= new Map();
    if (!this.sds.has(p)) this.sds.set(p, this.mixture.densitySds(p, xs));
    return this.sds.get(p);
  }

  // --- two columns ----------------------------------------------------------------------------------------------

  scatterPlot(prefix) {
    const shares = SHARES.map((share) => percent(share)).join(' and ');
    const entries = this.movable ? [['before', 'dashed', 'var(--muted)']] : [];
    const plot = new Plot({
      id: `${prefix}-scatter`,
      caption: `The components${this.movable ? ', moved' : ''}: ellipses hold ${shares} of each`,
      description: this.description(`Scatter of two columns with the ellipses that hold ${shares} of each component`),
      extra: [legend([...entries, ...this.componentEntries('line')])],
      spec: {
        height: 420,
        signals: [domainSignal('x'), domainSignal('y'), {name: 'across', value: ''}, {name: 'up', value: ''}],
        data: dataSets('cells', 'points', 'before', 'ellipses', 'centres', 'rows'),
        scales: [linear('x', 'width'), linear('y', 'height')],
        axes: [across({signal: 'across'}, {grid: true}), up({signal: 'up'})],
        marks: [
          cells('cells'),
          dots('points', {size: 22, fill: {field: 'colour'}, opacity: 0.6}),
          curves('before', 'loop'),
          curves('ellipses', 'loop'),
          mark('symbol', 'centres', {
            x: {scale: 'x', field: 'x'},
            y: {scale: 'y', field: 'y'},
            shape: {value: 'cross'},
            size: {value: 110},
            fill: {field: 'colour'},
            stroke: {value: 'var(--paper)'},
            tooltip: {field: 'tip'},
          }),
          ...(this.movable ? [RowMarks.spec({y: {scale: 'y', field: 'y'}})] : []),
        ],
      },
    });
    this.marks?.attach(
      plot,
      (n, at) =>
        new Map([
          [this.x, at.x],
          [this.y, at.y],
        ]),
    );
    return plot;
  }

  drawScatter() {
    const [p, q] = [this.x, this.y];
    const after = this.mixture.components(this.moved ?? this.posterior.means);
    const before = this.movable ? this.mixture.components(this.posterior.means) : [];
    const outlines = (components, style) =>
      components.flatMap((component, k) =>
        SHARES.flatMap((share) =>
          Mixture.ellipse(component, p, q, share).map((at) => ({...at, loop: `${k} ${share}`, ...style(k)})),
        ),
      );
    const ellipses = outlines(after, (k) => ({colour: colourOf(k), dash: dashOf(k), width: 2}));
    const centres = after.map(({mean, weight, covariance}, k) => ({
      x: mean[p],
      y: mean[q],
      colour: colourOf(k),
      tip: `component ${k + 1}, weight ${significant(weight)}: ${located(mean[p], Math.sqrt(covariance[p][p]))}, ${located(mean[q], Math.sqrt(covariance[q][q]))}`,
    }));
    const points = this.movable && this.points?.all ? [] : (this.points?.of(p, q) ?? []);
    const pairs = this.contents.picture?.pairs ?? null;
    const binned = !this.points ? cellsOfPair(pairs, p, q, (x, y) => colourOf(this.mixture.likeliest([x, y], [p, q]))) : [];
    const paired = pairs?.columns ?? 0;
    const unseen = paired > 0 && Math.max(p, q) >= paired;
    this.note.textContent = unseen ? `Rows are drawn for pairs of the first ${paired} columns.` : '';
    this.scatter.show(
      {
        cells: binned,
        points,
        ellipses,
        centres,
        before: outlines(before, () => ({colour: 'var(--muted)', dash: [5, 4], width: 1.25})),
        ...this.rowsIfChanged(p, q),
      },
      {
        xDomain: this.domain(p),
        yDomain: this.domain(q),
        across: this.columns[p],
        up: this.columns[q],
      },
    );
  }

  /** The rows for `show`; nothing where they are as they were drawn, since they are many. */
  rowsIfChanged(p, q) {
    if (!this.movable) return {};
    const state = JSON.stringify([p, q, this.isDensity, this.selected, [...(this.change?.rows ?? [])]]);
    if (state === this.drawnRows) return {};
    this.drawnRows = state;
    return {rows: this.marks.tuples(this.change, this.selected, p, q)};
  }

  // --- both -----------------------------------------------------------------------------------------------------

  /** The range of a column: of its rows, and without them of its components. */
  domain(p) {
    const histogram = this.histograms?.[p];
    if (histogram) return extent(endsOf(histogram));
    return extent(
      this.mixture.components(this.posterior.means).flatMap(({mean, covariance}) => {
        const reach = 3.5 * Math.sqrt(covariance[p][p]);
        return [mean[p] - reach, mean[p] + reach];
      }),
      0,
    );
  }

  /** Does the band lack correlations of what it depends on? */
  uncorrelated(p) {
    if (!this.contents.response) return false;
    return this.mixture.parts.some(({group, p: a, q: b}, v) => {
      const matters = group === 'pi' || (a === p && b === p);
      return matters && this.posterior.sd(v) > 0 && !this.posterior.places.has(v);
    });
  }

  componentEntries(swatch) {
    const count = this.mixture.count;
    if (count === 1) return [];
    if (count > MANY) return [[`${count} components`, swatch, colourOf(0)]];
    return Array.from({length: count}, (_, k) => [`component ${k + 1}: ${this.sizeOf(k)}`, swatch, colourOf(k)]);
  }

  /** How many rows are its, and which share of all. */
  sizeOf(k) {
    const {weight} = this.mixture.components(this.posterior.means)[k];
    const rows = weight * this.kind.totalWeight;
    return `about ${rows < 9.5 ? fixed(rows, 1) : grouped(Math.round(rows))} ${this.contents.data.weights === null ? 'rows' : 'of the weight'} (${fixed(100 * weight, 0)} %)`;
  }

  rowColour(n) {
    this.rowColours ??= this.posterior.rows.row.map((_, row) =>
      colourOf(this.mixture.likeliest(this.columns.map((_name, p) => this.posterior.value(row, p)))),
    );
    return this.rowColours[n];
  }

  /** For those who do not see it: the components in words. */
  description(what) {
    const components = this.mixture.components(this.posterior.means);
    const words = components.slice(0, MANY).map(({weight, mean, covariance}, k) => {
      const places = mean
        .slice(0, 4)
        .map((m, p) => `${this.columns[p]} ${located(m, Math.sqrt(covariance[p][p]))} with sd ${significant(Math.sqrt(covariance[p][p]))}`);
      return `Component ${k + 1} has ${significant(100 * weight)} % of the rows, ${places.join(', ')}.`;
    });
    const more = components.length > MANY ? ` And ${components.length - MANY} more components.` : '';
    return `${what}. ${words.join(' ')}${more}`;
  }
}

/** All rows as points: the ones that were embedded to be drawn, or to be moved. Nothing where they are too many. */
function pointsOf({contents, posterior, mixture}) {
  const count = contents.model.columns.length;
  if (count < 2) return null;
  const rows = contents.rows?.all ? contents.rows.row : null;
  const points = contents.picture?.points ?? null;
  if (!rows && !points) return null;
  const size = rows ? rows.length : contents.data.rows;
  const values = rows ? posterior.values : decode(points.values, size * count);
  const likeliest = Array.from({length: size}, (_, n) => mixture.likeliest(values.slice(n * count, (n + 1) * count)));
  return {
    all: rows !== null,
    of: (p, q) => {
      const [acrossSpread, upSpread] = [p, q].map((i) => spreadOf(Array.from({length: size}, (_, n) => values[n * count + i])));
      return Array.from({length: size}, (_, n) => {
        const [x, y] = [values[n * count + p], values[n * count + q]];
        const place = `${located(x, acrossSpread, 5)}, ${located(y, upSpread, 5)}`;
        const component = mixture.count > 1 ? `, component ${likeliest[n] + 1}` : '';
        return {x, y, colour: colourOf(likeliest[n]), tip: `${rows ? `${posterior.rowName(n)}: ` : ''}${place}${component}`};
      });
    },
  };
}
