import {choice, element, legend} from './dom.js';
import {bars, barsOf, endsOf} from './histogram.js';
import {fixed, grouped, located, percent, sentence, significant, spreadOf} from './numbers.js';
import {Plot, across, curve, dataSets, domainSignal, dots, extent, linear, mark, up} from './plot.js';
import {tableOf} from './table.js';

const GRID = 400;

/** Is the model right, beside whether its posterior is: residuals, quantiles, and what data drawn from it look like. */
export function modelCheck({model_check: found, robust}, posterior) {
  return [
    element(
      'p',
      {class: `model-verdict ${found.fits ? 'is-ok' : 'is-off'}`, id: 'model-verdict'},
      `${found.fits ? '\u2713' : '!'} ${sentence(found.message)}`,
    ),
    (robust?.warnings ?? []).map((warning) => element('p', {class: 'is-off robust'}, sentence(warning))),
    found.response && responseCheck(found.response, posterior),
    found.columns.length > 0 && columnCheck(found.columns),
    found.statistics.length > 0 && statisticsTable(found),
  ];
}

// --- a response ---------------------------------------------------------------------------------------------------

function responseCheck(response, posterior) {
  const {name, r2, residual_sd: sd, level, coverage, rows} = response;
  return element(
    'div',
    {},
    element(
      'p',
      {id: 'response-facts'},
      `R\u00b2 is ${fixed(r2, 3)}, the residual sd ${significant(sd)}. Of ${grouped(rows)} rows ${fixed(100 * coverage, 0)} % have their `,
      element('bdi', {}, name),
      ` within the ${percent(level)} predictive band.`,
    ),
    element('div', {class: 'panels'}, residualPlot(response, posterior).figure, quantilePlot(response).figure),
  );
}

/** Residuals by fitted values, within the band of a new response: rows where they are few, else the spread of groups of them. */
function residualPlot({name, level, points, groups}, posterior) {
  const rowNames = new Map(posterior.rows?.row.map((row, n) => [row, posterior.rowName(n)]));
  const dotsOf = () => {
    const spreads = [spreadOf(points.fitted), spreadOf(points.residual)];
    return points.row.map((row, i) => ({
      x: points.fitted[i],
      y: points.residual[i],
      tip: `${rowNames.get(row) ?? `row ${row}`}: fitted ${located(points.fitted[i], spreads[0], 4)}, residual ${located(points.residual[i], spreads[1], 4)}`,
    }));
  };
  const each = (low, high) => groups.fitted.map((x, i) => ({x, y: low[i], y2: high[i], tip: `from ${significant(low[i])} to ${significant(high[i])}`}));
  const band = groups.fitted.map((x, i) => ({x, low: -groups.band[i], high: groups.band[i]}));
  // As far as the rows reach, not only the middles of their groups.
  band.unshift({...band[0], x: groups.lowest[0]});
  band.push({...band.at(-1), x: groups.highest.at(-1)});
  const few = points !== null;
  const plot = new Plot({
    id: 'residuals',
    caption: 'Residuals by fitted values',
    description: `The response ${name} less its fitted value, by the fitted value, with the ${percent(level)} predictive band of the response`,
    extra: [
      legend([
        few ? ['rows', 'dot', 'var(--muted)'] : [`${percent(0.9)} of each group of rows, its median, and all of it`, 'bar', 'var(--muted)'],
        [`${percent(level)} predictive band`, 'block', 'var(--band)'],
      ]),
    ],
    spec: {
      height: 280,
      signals: [domainSignal('x'), domainSignal('y')],
      data: dataSets('band', 'points', 'whole', 'most', 'middle'),
      scales: [linear('x', 'width'), linear('y', 'height')],
      axes: [across(`fitted ${name}`), up('residual')],
      marks: [
        mark('area', 'band', {
          x: {scale: 'x', field: 'x'},
          y: {scale: 'y', field: 'low'},
          y2: {scale: 'y', field: 'high'},
          fill: {value: 'var(--band)'},
        }),
        zeroRule(),
        span('whole', 1),
        span('most', 4),
        dots('middle', {size: 26, fill: {value: 'var(--ink)'}, opacity: 1}),
        dots('points', {size: 34, fill: {value: 'var(--muted)'}, opacity: 0.6}),
      ],
    },
  });
  return plot.show(
    {
      band,
      points: few ? dotsOf() : [],
      whole: few ? [] : each(groups.min, groups.max),
      most: few ? [] : each(groups.q5, groups.q95),
      middle: few ? [] : groups.fitted.map((x, i) => ({x, y: groups.q50[i], tip: `median ${significant(groups.q50[i])}`})),
    },
    {
      xDomain: extent([...groups.lowest, ...groups.highest]),
      yDomain: extent([...groups.min, ...groups.max, ...band.flatMap(({low, high}) => [low, high])], 0.06),
    },
  );
}

const zeroRule = () => ({
  type: 'rule',
  encode: {update: {x: {value: 0}, x2: {signal: 'width'}, y: {scale: 'y', value: 0}, stroke: {value: 'var(--edge)'}}},
  aria: false,
});

const span = (data, width) =>
  mark('rule', data, {
    x: {scale: 'x', field: 'x'},
    y: {scale: 'y', field: 'y'},
    y2: {scale: 'y', field: 'y2'},
    stroke: {value: 'var(--muted)'},
    strokeWidth: {value: width},
    strokeCap: {value: 'round'},
    tooltip: {field: 'tip'},
  });

function quantilePlot({quantiles}) {
  return diagonalPlot({
    id: 'normal-quantiles',
    caption: 'Normal quantiles of the residuals',
    description: 'Standardised residuals in order, by the normal quantiles that they should have: they follow the line where the noise is normal',
    xs: quantiles.normal,
    ys: quantiles.residual,
    titles: ['normal quantile', 'standardised residual'],
  });
}

/** Points that lie on the diagonal where the model is right. */
function diagonalPlot({id, caption, description, xs, ys, titles}) {
  const ends = extent([...xs, ...ys]);
  const plot = new Plot({
    id,
    caption,
    description,
    extra: [legend([['as the model has it', 'line', 'var(--c1)']])],
    spec: {
      height: 280,
      signals: [domainSignal('x'), domainSignal('y'), {name: 'across', value: titles[0]}, {name: 'up', value: titles[1]}],
      data: dataSets('diagonal', 'points'),
      scales: [linear('x', 'width'), linear('y', 'height')],
      axes: [across({signal: 'across'}), up({signal: 'up'})],
      marks: [curve('diagonal', 'var(--c1)', 2), dots('points', {size: 26, fill: {value: 'var(--muted)'}, opacity: 0.7})],
    },
  });
  return plot.show(diagonalData(xs, ys), {xDomain: ends, yDomain: ends});
}

function diagonalData(xs, ys) {
  const ends = extent([...xs, ...ys]);
  const spread = ends[1] - ends[0];
  return {
    diagonal: ends.map((x) => ({x, y: x})),
    points: xs.map((x, i) => ({x, y: ys[i], tip: `${located(x, spread, 4)} by the model, ${located(ys[i], spread, 4)} in the data`})),
  };
}

// --- columns that have a distribution -----------------------------------------------------------------------------

function columnCheck(columns) {
  const histogram = histogramPlot();
  const [first] = columns;
  const quantiles = diagonalPlot({
    id: 'column-quantiles',
    caption: 'Quantiles of the data by those of the model',
    description: 'Quantiles of one column by the quantiles that the fitted model has: they follow the line where it has the right shape',
    xs: first.quantiles.model,
    ys: first.quantiles.data,
    titles: ['of the model', 'of the data'],
  });
  const show = ({name, rows, quantiles: own, histogram: bins, marginal}) => {
    const heights = barsOf(bins).map((bar, i) => ({
      ...bar,
      middle: (bar.from + bar.to) / 2,
      expected: bins.expected[i],
      tip: `${bar.tip}, of ${significant(bins.expected[i])} expected`,
    }));
    const [from, to] = endsOf(bins);
    const xs = Array.from({length: GRID}, (_, i) => from + ((to - from) * i) / (GRID - 1));
    const density = xs.map((x) => ({x, y: rows * bins.step * densityAt(marginal, x)}));
    const expected = heights.map(({middle, expected: y}) => ({x: middle, y, tip: `${significant(y)} rows expected`}));
    const highest = Math.max(...heights.map(({count}) => count), ...density.map(({y}) => y), ...bins.expected);
    histogram.show({bins: heights, density, expected}, {xDomain: extent([from, to]), yDomain: [0, 1.05 * highest], title: name});
    const ends = extent([...own.model, ...own.data]);
    quantiles.show(diagonalData(own.model, own.data), {xDomain: ends, yDomain: ends, across: `${name}, of the model`, up: `${name}, of the data`});
  };
  show(first);
  return element(
    'div',
    {},
    columns.length > 1 &&
      element(
        'div',
        {class: 'choices'},
        choice(
          'Column',
          columns.map(({name}, i) => [i, name]),
          0,
          (i) => show(columns[Number(i)]),
        ),
      ),
    element('div', {class: 'panels'}, histogram.figure, quantiles.figure),
  );
}

const densityAt = ({weights, means, sds}, x) =>
  weights.reduce((sum, weight, k) => {
    const z = (x - means[k]) / sds[k];
    return sum + (weight * Math.exp(-0.5 * z * z)) / (sds[k] * Math.sqrt(2 * Math.PI));
  }, 0);

function histogramPlot() {
  return new Plot({
    id: 'expected-rows',
    caption: 'Rows, and as many as the model expects',
    description: 'Histogram of one column with the numbers of rows that the fitted model expects in its bins',
    extra: [
      legend([
        ['rows', 'block', 'var(--bar)'],
        ['expected', 'line', 'var(--c1)'],
      ]),
    ],
    spec: {
      height: 280,
      signals: [domainSignal('x'), domainSignal('y'), {name: 'title', value: ''}],
      data: dataSets('bins', 'density', 'expected'),
      scales: [linear('x', 'width'), linear('y', 'height')],
      axes: [across({signal: 'title'}), up('rows', {tickCount: 5})],
      marks: [
        bars('bins', 'count'),
        curve('density', 'var(--c1)', 2),
        dots('expected', {size: 14, fill: {value: 'var(--c1)'}, opacity: 1}),
      ],
    },
  });
}

// --- data drawn from the model ------------------------------------------------------------------------------------

function statisticsTable({statistics, replicates, draws, level}) {
  const number = (id, label, title, value) => ({
    id,
    label,
    title,
    value,
    text: (one) => located(value(one), one.upper - one.lower, 3),
  });
  const tail = (100 * (1 - level)) / 2;
  const quantile = (share) => `q${Number(share.toFixed(4))}`;
  const nameOf = ({column, residuals, statistic}) => `${statistic} of ${column}${residuals ? ', residuals' : ''}`;
  const source = draws === 'exact' ? 'draws of the exact posterior' : 'the linear response';
  return element(
    'div',
    {},
    element('h3', {}, 'Data drawn from the model'),
    element(
      'p',
      {},
      `${grouped(replicates)} data sets as large as this one, drawn from the model with parameters of ${source}: where the data lie outside of what these show, the model does not produce such data. p is two-sided.`,
    ),
    tableOf({
      id: 'statistics-table',
      label: 'Table of statistics of the data and of data drawn from the model',
      columns: [
        {id: 'statistic', label: 'statistic', value: nameOf, text: nameOf},
        number('observed', 'observed', 'Of the data', (one) => one.observed),
        number('replicated', 'drawn', 'Mean of the data sets drawn', (one) => one.replicated),
        number('lower', quantile(tail), 'Lower end of the range of the data sets drawn', (one) => one.lower),
        number('upper', quantile(100 - tail), 'Upper end of the range of the data sets drawn', (one) => one.upper),
        {id: 'p', label: 'p', title: 'Share of the data sets drawn that are as unusual', value: ({p}) => p, text: ({p}) => fixed(p, 3)},
        {
          id: 'unusual',
          label: 'check',
          value: ({unusual}) => (unusual ? 'unusual' : 'ok'),
          text: ({unusual}) => (unusual ? 'unusual' : 'ok'),
          classOf: ({unusual}) => (unusual ? 'is-off' : 'is-ok'),
          numeric: false,
        },
      ],
      items: statistics,
    }),
    statistics.some(({words}) => words) &&
      element(
        'ul',
        {id: 'unusual'},
        statistics.filter(({words}) => words).map(({words}) => element('li', {}, words.replace(/[.\s]*$/, '.'))),
      ),
  );
}
