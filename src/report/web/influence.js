import {choice, element, legend} from './dom.js';
import {fixed, located, significant, spreadOf} from './numbers.js';
import {Plot, across, dataSets, domainSignal, dots, extent, linear, up} from './plot.js';

const WIDE = 7; // variables that the table gives a column each, and the legend a colour

/**
 * Leverage by location, as in the paper's second figure, and the most influential rows. Where no value of a row
 * can be moved, what dropping each does takes the place of leverage.
 */
export function influence(posterior, kind, onMove) {
  if (!posterior.moves) return element('p', {class: 'note'}, 'All parameters were held fixed: no row moves them.');
  const effect = posterior.rowsMove ? leverage(posterior, kind) : dropping(posterior);
  const views = kind.views();
  const plot = effectPlot(effect);
  const key = element('div');
  const show = ({across: title, series}) => {
    const points = series.flatMap(({name, v, input, place, colour}) => {
      const spread = spreadOf(posterior.rows.row.map((_, n) => place(n)));
      return posterior.rows.row.map((row, n) => {
        const y = effect.of(n, v, input);
        return {x: place(n), y, colour, tip: effect.tip(row, located(place(n), spread, 4), name, significant(y))};
      });
    });
    const few = series.length <= WIDE;
    const all = `${series[0].name} \u2026 ${series.at(-1).name}: point at one for its name`;
    key.replaceChildren(legend(few ? series.map(({name, colour}) => [name, 'dot', colour]) : [[all, 'dot', 'var(--muted)']]));
    plot.show(
      {points},
      {xDomain: extent(points.map(({x}) => x)), yDomain: extent([0, ...points.map(({y}) => y)], 0.06), across: title},
    );
  };
  show(views[0]);
  const options = views.map(({title}, i) => [i, title]);
  return [
    element('p', {}, effect.words, ` ${posterior.note}`),
    options.length > 1 &&
      element(
        'div',
        {class: 'choices'},
        choice(effect.choice, options, 0, (i) => show(views[Number(i)])),
      ),
    plot.figure,
    key,
    element('h3', {}, 'The most influential rows'),
    element(
      'p',
      {},
      'What dropping each would do to the means, in posterior sds. The distance is that of all of them together: 1 is as far as one posterior sd.',
    ),
    topTable(posterior, onMove),
  ];
}

/** d mean / d x, and how the page speaks of it. */
const leverage = (posterior, kind) => ({
  id: 'leverage',
  caption: 'Leverage by location',
  description: 'How much each posterior mean moves with each row, by where the row lies',
  words: `How much a posterior mean moves when a row’s ${kind.inputWord} moves by one unit, by where the row lies.`,
  choice: 'Leverage on',
  up: 'd mean / d x',
  of: (n, v, input) => posterior.leverageOf(n, v, input),
  tip: (row, place, name, y) => `row ${row} at ${place} moves ${name} by ${y} for each unit`,
});

/** The same of the weight of a row. */
const dropping = (posterior) => ({
  id: 'dropping',
  caption: 'What dropping each row does',
  description: 'How far each posterior mean moves, in posterior sds, when a row is dropped',
  words: 'How far dropping a row moves each posterior mean.',
  choice: 'Effect on',
  up: 'posterior sds',
  of: (n, v) => posterior.dropped(n, v),
  tip: (row, place, name, y) => `without row ${row} the mean of ${name} moves by ${y} posterior sds`,
});

function effectPlot(effect) {
  return new Plot({
    id: effect.id,
    caption: effect.caption,
    description: effect.description,
    spec: {
      height: 280,
      signals: [domainSignal('x'), domainSignal('y'), {name: 'across', value: ''}],
      data: dataSets('points'),
      scales: [linear('x', 'width'), linear('y', 'height')],
      axes: [across({signal: 'across'}), up(effect.up)],
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

function topTable(posterior, onMove) {
  const {rows, variables} = posterior;
  const free = variables.map((_, v) => v).filter((v) => posterior.sd(v) > 0);
  const wide = free.length <= WIDE;
  const spreads = rows.inputs.map((_, i) => spreadOf(rows.row.map((_row, n) => posterior.value(n, i))));
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
            rows.inputs.map((_, i) => element('td', {}, located(posterior.value(n, i), spreads[i], 6))),
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
