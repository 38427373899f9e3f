import {choice, element, legend} from './dom.js';
import {fixed, significant} from './numbers.js';
import {Plot, across, colourOf, dataSets, domainSignal, dots, extent, linear, up} from './plot.js';
import {partsOf} from './posterior.js';
import {Regression} from './regression.js';

const WIDE = 7; // variables that the table gives a column each, and the legend a colour

/** Leverage by location, as in the paper's second figure, and the rows that hold up the answer. */
export function influence(contents, posterior, onMove) {
  if (!posterior.moves) return element('p', {class: 'note'}, 'All parameters were held fixed: no row moves them.');
  const views = contents.model.kind === 'mixture' ? mixtureViews(contents, posterior) : regressionViews(contents, posterior);
  const plot = leveragePlot();
  const key = element('div');
  const show = ({across: title, series}) => {
    const points = series.flatMap(({name, v, input, place, colour}) =>
      posterior.rows.row.map((row, n) => {
        const y = posterior.leverageOf(n, v, input);
        return {
          x: place(n),
          y,
          colour,
          tip: `row ${row} at ${significant(place(n), 4)} moves ${name} by ${significant(y)} for each unit`,
        };
      }),
    );
    const few = series.length <= WIDE;
    const all = `${series[0].name} \u2026 ${series.at(-1).name}: point at one for its name`;
    key.replaceChildren(legend(few ? series.map(({name, colour}) => [name, 'dot', colour]) : [[all, 'dot', 'var(--muted)']]));
    plot.show(
      {points},
      {xDomain: extent(points.map(({x}) => x)), yDomain: extent([0, ...points.map(({y}) => y)], 0.06), across: title},
    );
  };
  show(views[0]);
  const {rows} = posterior;
  const options = views.map(({title}, i) => [i, title]);
  return [
    element(
      'p',
      {},
      `How much a posterior mean moves when a row’s ${contents.model.kind === 'mixture' ? 'value' : 'response'} moves by one unit, by where the row lies.`,
      ` ${posterior.note}`,
    ),
    options.length > 1 &&
      element(
        'div',
        {class: 'choices'},
        choice('Leverage on', options, 0, (i) => show(views[Number(i)])),
      ),
    plot.figure,
    key,
    element('h3', {}, 'The most influential rows'),
    element(
      'p',
      {},
      'What dropping each would do to the means, in posterior sds. The distance is that of all of them together: 1 is as far as one posterior sd.',
    ),
    topTable(contents, posterior, onMove),
  ];
}

function leveragePlot() {
  return new Plot({
    id: 'leverage',
    caption: 'Leverage by location',
    description: 'How much each posterior mean moves with each row, by where the row lies',
    spec: {
      height: 280,
      signals: [domainSignal('x'), domainSignal('y'), {name: 'across', value: ''}],
      data: dataSets('points'),
      scales: [linear('x', 'width'), linear('y', 'height')],
      axes: [across({signal: 'across'}), up('d mean / d x')],
      marks: [
        {
          type: 'rule',
          encode: {update: {x: {value: 0}, x2: {signal: 'width'}, y: {scale: 'y', value: 0}, stroke: {value: 'var(--line)'}}},
          aria: false,
        },
        dots('points', {size: 26, fill: {field: 'colour'}, opacity: 0.7}),
      ],
    },
  });
}

/** For each kind and column, the variables of all components. */
function mixtureViews({model}, posterior) {
  const views = new Map();
  const order = {mu: 0, pi: 1, sigma: 2, Sigma: 2};
  posterior.variables.forEach(({name}, v) => {
    if (!(posterior.sd(v) > 0)) return;
    const {kind, indices} = partsOf(name);
    const [k, p = 1, q = p] = indices;
    if (p !== q) return;
    const columns = kind === 'pi' ? model.columns.map((_, i) => i) : [p - 1];
    for (const column of columns) {
      const title = `${kind}${model.columns.length > 1 ? `, by ${model.columns[column]}` : ''}`;
      if (!views.has(title)) views.set(title, {title, kind, across: model.columns[column], series: []});
      views.get(title).series.push({name, v, input: column, place: (n) => posterior.value(n, column), colour: colourOf(k - 1)});
    }
  });
  return [...views.values()].sort((a, b) => order[a.kind] - order[b.kind]);
}

/** For each slope, by its column; for the others, by the fitted response. */
function regressionViews(contents, posterior) {
  const regression = new Regression(contents, posterior);
  const views = posterior.variables.map(({name}, v) => {
    const j = regression.beta.indexOf(v);
    const title = j >= 0 ? regression.slopes[j] : `fitted ${regression.response}`;
    const place = j >= 0 ? (n) => regression.column(n, j) : (n) => regression.fitted(posterior.means, n);
    return {title: name, across: title, slope: j >= 0, series: [{name, v, input: 0, place, colour: colourOf(0)}]};
  });
  return views.sort((a, b) => Number(b.slope) - Number(a.slope));
}

function topTable(contents, posterior, onMove) {
  const {rows, variables} = posterior;
  const free = variables.map((_, v) => v).filter((v) => posterior.sd(v) > 0);
  const wide = free.length <= WIDE;
  const heads = ['row', ...rows.inputs, 'distance', ...(wide ? free.map((v) => variables[v].name) : ['moves most']), ''];
  return element(
    'div',
    {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of the most influential rows'},
    element(
      'table',
      {id: 'influence-table'},
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          heads.map((head) => element('th', {scope: 'col'}, head)),
        ),
      ),
      element(
        'tbody',
        {},
        rows.top.map((n) => {
          const most = free.reduce(
            (best, v) => (Math.abs(posterior.dropped(n, v)) > Math.abs(posterior.dropped(n, best)) ? v : best),
            free[0],
          );
          const cells = wide
            ? free.map((v) => element('td', {}, fixed(posterior.dropped(n, v), 3)))
            : [element('td', {}, `${variables[most].name} by ${fixed(posterior.dropped(n, most), 3)}`)];
          return element(
            'tr',
            {'data-row': rows.row[n]},
            element('th', {scope: 'row'}, String(rows.row[n])),
            rows.inputs.map((_, i) => element('td', {}, significant(posterior.value(n, i), 6))),
            element('td', {}, fixed(rows.distance[n], 3)),
            cells,
            element(
              'td',
              {},
              element('button', {type: 'button', click: () => onMove(n), 'aria-label': `Move row ${rows.row[n]}`}, 'Move it'),
            ),
          );
        }),
      ),
    ),
  );
}
