import {choice, element, legend} from './dom.js';
import {fixed, located, significant, spreadOf} from './numbers.js';
import {Plot, across, dataSets, domainSignal, extent, linear, mark, up} from './plot.js';
import {tableOf} from './table.js';

const WIDE = 7; // variables that the legend gives a colour each
const FACTS = 4; // of a row, that the table gives a column each
const COLUMNS = 9; // that a wide page has room for, beside the row, its distance and its button

/**
 * Leverage by location, as in the paper's second figure, and the most influential rows. Where no value of a row
 * can be moved, what dropping each does takes the place of leverage.
 */
export function influence(contents, posterior, kind, onMove) {
  if (!posterior.moves) return element('p', {class: 'note'}, 'All parameters were held fixed: no row moves them.');
  const effect = posterior.rowsMove ? leverage(posterior, kind) : dropping(posterior);
  const views = kind.views();
  const plot = effectPlot(effect);
  const {key} = plot;
  const show = ({across: title, series}) => {
    const points = series.flatMap(({name, v, input, place, colour}) => {
      const spread = spreadOf(posterior.rows.row.map((_, n) => place(n)));
      return posterior.rows.row.map((_, n) => {
        const y = effect.of(n, v, input);
        const fill = posterior.isChosen(n) ? 'transparent' : colour; // a ring: the others are an even choice
        return {x: place(n), y, colour, fill, tip: effect.tip(posterior.rowName(n), located(place(n), spread, 4), name, significant(y))};
      });
    });
    const few = series.length <= WIDE;
    const all = `${series[0].name} \u2026 ${series.at(-1).name}: point at one for its name`;
    const names = few ? series.map(({name, colour}) => [name, 'dot', colour]) : [[all, 'dot', 'var(--muted)']];
    const chosen = posterior.rows.all ? [] : [['shown since it is influential, others evenly chosen', 'ring', 'var(--muted)']];
    key.replaceChildren(legend([...names, ...chosen]));
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
    element('h3', {}, 'The most influential rows'),
    element(
      'p',
      {},
      'What dropping each would do to the means, in posterior sds. The distance is that of all of them together: 1 is as far as one posterior sd.',
    ),
    topTable(posterior, kind, contents.label ?? null, onMove),
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
  tip: (row, place, name, y) => `${row} at ${place} moves ${name} by ${y} for each unit`,
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
  tip: (row, place, name, y) => `without ${row} the mean of ${name} moves by ${y} posterior sds`,
});

function effectPlot(effect) {
  const key = element('div');
  const plot = new Plot({
    id: effect.id,
    caption: effect.caption,
    description: effect.description,
    extra: [key],
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
        mark('symbol', 'points', {
          x: {scale: 'x', field: 'x'},
          y: {scale: 'y', field: 'y'},
          size: {value: 26},
          fill: {field: 'fill'},
          fillOpacity: {value: 0.7},
          stroke: {field: 'colour'},
          strokeWidth: {signal: "datum.fill === 'transparent' ? 1 : 0"},
          tooltip: {field: 'tip'},
        }),
      ],
    },
  });
  return Object.assign(plot, {key});
}

/** The rows with what they do, and what they are: their label, values and predictors. */
function topTable(posterior, kind, labelled, onMove) {
  const {rows, variables} = posterior;
  const free = variables.map((_, v) => v).filter((v) => posterior.sd(v) > 0);
  const spreads = rows.inputs.map((_, i) => spreadOf(rows.row.map((_row, n) => posterior.value(n, i))));
  const facts = rows.top.length > 0 ? kind.rowFacts(rows.top[0]) : [];
  const wideFacts = facts.length <= FACTS;
  const room = COLUMNS - rows.inputs.length - Number(labelled !== null) - (wideFacts ? facts.length : 2);
  const number = (id, value, text) => ({id, label: id, value, text});
  const most = (n) =>
    free.reduce((best, v) => (Math.abs(posterior.dropped(n, v)) > Math.abs(posterior.dropped(n, best)) ? v : best), free[0]);
  const words = (id, text) => ({id, label: id, value: text, text, numeric: false});
  const factsText = (n) =>
    kind
      .rowFacts(n)
      .map(({name, text}) => `${name} ${text}`)
      .join(', ');
  const columns = [
    number(
      'row',
      (n) => rows.row[n],
      (n) => String(rows.row[n]),
    ),
    ...(labelled === null ? [] : [words(labelled, (n) => posterior.label(n))]),
    ...rows.inputs.map((name, i) =>
      number(
        name,
        (n) => posterior.value(n, i),
        (n) => located(posterior.value(n, i), spreads[i], 6),
      ),
    ),
    ...(wideFacts
      ? facts.map(({name, isNumber}, f) => ({
          id: name,
          label: name,
          value: (n) => kind.rowFacts(n)[f].value,
          text: (n) => kind.rowFacts(n)[f].text,
          numeric: isNumber,
        }))
      : [words('predictors', factsText)]),
    number(
      'distance',
      (n) => rows.distance[n],
      (n) => fixed(rows.distance[n], 3),
    ),
    ...(free.length <= room
      ? free.map((v) =>
          number(
            variables[v].name,
            (n) => posterior.dropped(n, v),
            (n) => fixed(posterior.dropped(n, v), 3),
          ),
        )
      : [words('moves most', (n) => `${variables[most(n)].name} by ${fixed(posterior.dropped(n, most(n)), 3)}`)]),
    {
      id: 'move',
      label: '',
      copied: false,
      text: () => '',
      cell: (n) =>
        element('button', {type: 'button', click: () => onMove(n), 'aria-label': `Move ${posterior.rowName(n)}`}, 'Move it'),
    },
  ];
  return tableOf({
    id: 'influence-table',
    label: 'Table of the most influential rows',
    columns: columns.map((column) => ({...column, classOf: column.numeric === false ? () => 'words' : undefined})),
    items: rows.top,
    attributes: (n) => ({'data-row': rows.row[n]}),
  });
}
