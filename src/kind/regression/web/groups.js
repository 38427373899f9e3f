import {choice, element, legend} from '../../../report/web/dom.js';
import {shortened} from '../../../report/web/names.js';
import {decode, grouped, percent, plural, rounded, significant} from '../../../report/web/numbers.js';
import {Plot, across, curve, dataSets, domainSignal, dots, extent, linear, mark, up} from '../../../report/web/plot.js';

const NAMED = 60; // groups that stand below each other, each with its name; more stand side by side
const NAME = 28; // letters of a name that is a label

/**
 * The groups of a hierarchical regression: their effects by size (a caterpillar), from where the prior pulled them, and what is left
 * of their rows.
 */
export function groups(kind) {
  const {contents, model} = kind;
  const effects = model.groups.map((group) => effectOf(group, contents));
  const holder = element('div', {id: 'group-figures'});
  const open = (i) => {
    const effect = effects[i];
    const residuals = contents.picture?.residuals?.find(({factor}) => model.factors[factor].name === model.factors[effect.factor].name);
    holder.replaceChildren(
      ...[
        element('p', {class: 'note'}, summaryOf(effect, contents.level)),
        caterpillar(effect, contents).figure,
        effect.groups.some(({own}) => Number.isFinite(own)) ? shrinkage(effect).figure : null,
        residuals ? residualsPlot(effect, residuals, contents).figure : null,
      ].filter(Boolean),
    );
  };
  open(0);
  return [
    element(
      'p',
      {},
      'What each group has beside the coefficients that all share, with everything that is not known of it, the spread of the groups included.',
    ),
    effects.length > 1 &&
      element(
        'div',
        {class: 'choices'},
        choice(
          'Effect',
          effects.map(({title}, i) => [i, title]),
          0,
          (i) => open(Number(i)),
        ),
      ),
    holder,
  ];
}

/** The numbers of an effect's groups, with what their rows alone say where the data are here. */
function effectOf({factor, effect, count, level, rank, names, numbers}, {model, picture}) {
  const {name, effects} = model.factors[factor];
  const all = decode(numbers, 4 * level.length);
  const shown = picture?.groups?.find((one) => one.factor === factor && one.effect === effect);
  const own = shown ? decode(shown.own, shown.level.length) : [];
  const ownOf = new Map(shown?.level.map((l, i) => [l, own[i]]));
  return {
    factor,
    name,
    count,
    title: `${effects[effect]} of ${name}`,
    groups: level.map((l, i) => {
      const [mean, sd, lower, upper] = all.subarray(4 * i, 4 * i + 4);
      return {level: l, name: String(names[i]), rank: rank[i], mean, sd, lower, upper, own: ownOf.get(l) ?? NaN};
    }),
  };
}

const some = ({name, count, groups: drawn}) =>
  drawn.length < count ? ` Of ${grouped(count)} of ${name} ${drawn.length} are drawn: the lowest, the highest, and others evenly between.` : '';

const isApart = ({lower, upper}) => lower > 0 || upper < 0;

function summaryOf(effect, level) {
  const apart = effect.groups.filter(isApart).length;
  const pulls = effect.groups.filter(({own}) => Number.isFinite(own) && own !== 0);
  const ratio = pulls.reduce((sum, {own, mean}) => sum + own * mean, 0) / pulls.reduce((sum, {own}) => sum + own * own, 0);
  const kept =
    pulls.length > 1 && Number.isFinite(ratio) ? ` Of what the groups say on their own, ${significant(100 * ratio, 2)} % is left on the whole.` : '';
  return `${apart} of ${plural(effect.groups.length, 'interval')} of ${percent(level)} ${apart === 1 ? 'lies' : 'lie'} apart from zero.${kept}${some(effect)}`;
}

const APART = 'var(--c1)';
const ABOUT = 'var(--muted)';

function caterpillar(effect, {level, response}) {
  const tuples = effect.groups.map((group) => ({
    ...group,
    middle: group.mean,
    low: group.lower,
    high: group.upper,
    least: group.lower,
    most: group.upper,
    colour: isApart(group) ? APART : ABOUT,
    tip: `${shortened(group.name)}: ${rounded(group.mean, group.sd)} (${rounded(group.lower, group.sd)} to ${rounded(group.upper, group.sd)})`,
  }));
  return levelPlot({
    id: 'caterpillar',
    caption: `Effects of the groups: ${effect.title}`,
    description: `Posterior means and ${percent(level)} intervals of the ${effect.title}, from the lowest to the highest: ${words(tuples)}`,
    value: effect.title,
    factor: effect.name,
    tuples,
    entries: [
      [`mean and ${percent(level)} interval${response ? '' : ' of mean field'}, apart from zero`, 'line', APART],
      ['zero is within', 'line', ABOUT],
    ],
  });
}

const words = (tuples) =>
  `${tuples
    .slice(0, 8)
    .map(({tip}) => tip)
    .join(', ')}${tuples.length > 8 ? ' and more' : ''}`;

/** From where the groups' own rows have them to where the posterior has them. */
function shrinkage(effect) {
  const points = effect.groups
    .filter(({own}) => Number.isFinite(own))
    .map(({name, own, mean, sd}) => ({x: own, y: mean, tip: `${shortened(name)}: ${rounded(own, sd)} on its own, ${rounded(mean, sd)} in the posterior`}));
  const xDomain = extent([0, ...points.map(({x}) => x)]);
  const yDomain = extent([0, ...points.map(({y}) => y)], 0.08);
  // The diagonal, as far as the picture goes.
  const ends = [Math.max(xDomain[0], yDomain[0]), Math.min(xDomain[1], yDomain[1])];
  const plot = new Plot({
    id: 'shrinkage',
    caption: `Shrinkage: ${effect.title}`,
    description: `The posterior mean of each group by what its rows alone say, a diagonal where these are the same, and zero, which the prior pulls to`,
    extra: [
      legend([
        ['groups', 'dot', 'var(--c1)'],
        ['as the group’s own rows say', 'dashed', 'var(--muted)'],
        ['as all groups together', 'line', 'var(--edge)'],
      ]),
    ],
    spec: {
      height: 300,
      signals: [domainSignal('x'), domainSignal('y')],
      data: dataSets('zero', 'diagonal', 'points'),
      scales: [linear('x', 'width'), linear('y', 'height')],
      axes: [across('what the group’s own rows say', {grid: true}), up('posterior mean')],
      marks: [
        curve('zero', 'var(--edge)', 1.25),
        curve('diagonal', 'var(--muted)', 1.5, [5, 4]),
        dots('points', {size: 46, fill: {value: 'var(--c1)'}, opacity: 0.75}),
      ],
    },
  });
  return plot.show(
    {points, zero: xDomain.map((x) => ({x, y: 0})), diagonal: ends.map((x) => ({x, y: x}))},
    {xDomain, yDomain},
  );
}

/** What is left of the rows of each group, in the order of the caterpillar. */
function residualsPlot(effect, {level, count, numbers}, {model, picture}) {
  const all = decode(numbers, 5 * level.length);
  const places = new Map(effect.groups.map((group) => [group.level, group]));
  const tuples = level.flatMap((l, i) => {
    const group = places.get(l);
    const [least, low, middle, high, most] = all.subarray(5 * i, 5 * i + 5);
    if (!group || !Number.isFinite(middle)) return [];
    const tip = `${shortened(group.name)}, ${plural(count[i], 'row')}: median ${significant(middle)}, half of them from ${significant(low)} to ${significant(high)}`;
    return [{name: group.name, rank: group.rank, least, low, middle, high, most, colour: 'var(--c1)', tip}];
  });
  const what = picture.standardised ? 'residual, in sds of the response' : `residual of ${model.response}`;
  return levelPlot({
    id: 'group-residuals',
    caption: `Residuals by ${effect.name}, in the same order`,
    description: `What the fit leaves of the rows of each group: the median, the middle half and all of them. ${words(tuples)}`,
    value: what,
    factor: effect.name,
    tuples: tuples.sort((a, b) => a.rank - b.rank),
    entries: [['median, middle half, and all rows of the group', 'bar', 'var(--c1)']],
  });
}

/** An interval in an interval for each group: below each other with their names, or where they are many side by side. */
function levelPlot({id, caption, description, value, factor, tuples, entries}) {
  const isDown = tuples.length <= NAMED;
  const [along, beside] = isDown ? ['x', 'y'] : ['y', 'x'];
  const place = isDown ? {scale: 'y', field: 'place', band: 0.5} : {scale: 'x', field: 'rank'};
  const rule = (from, to, width, name) =>
    mark(
      'rule',
      'groups',
      {
        [along]: {scale: along, field: from},
        [`${along}2`]: {scale: along, field: to},
        [beside]: place,
        stroke: {field: 'colour'},
        strokeWidth: {value: width},
        strokeCap: {value: 'round'},
        tooltip: {field: 'tip'},
      },
      {name},
    );
  const zero = {
    type: 'rule',
    encode: {
      update: {
        [along]: {scale: along, value: 0},
        [beside]: {value: 0},
        [`${beside}2`]: {signal: isDown ? 'height' : 'width'},
        stroke: {value: 'var(--edge)'},
        strokeWidth: {value: 1.25},
      },
    },
    aria: false,
  };
  const domain = extent([0, ...tuples.flatMap(({least, most}) => [least, most])]);
  const ranks = tuples.map(({rank}) => rank);
  const names = tuples.map(({name}) => shortened(name, NAME));
  const wide = isDown ? 3.5 : Math.max(1.25, Math.min(3, 600 / tuples.length));
  const plot = new Plot({
    id,
    caption,
    description,
    extra: [legend(entries)],
    spec: {
      height: isDown ? 17 * tuples.length + 10 : 320,
      signals: [{name: 'names', value: names}],
      data: dataSets('groups'),
      scales: isDown
        ? [linear('x', 'width', domain), {name: 'y', type: 'band', range: [{signal: 'height'}, 0], domain: tuples.map((_, i) => i)}]
        : [linear('x', 'width', extent(ranks, 0.02)), linear('y', 'height', domain)],
      axes: isDown
        ? [
            across(value, {grid: true}),
            {
              orient: 'left',
              scale: 'y',
              domain: false,
              ticks: false,
              labelPadding: 8,
              labelColor: 'var(--ink)',
              labelLimit: {signal: 'max(60, 0.3 * width)'},
              encode: {labels: {update: {text: {signal: 'names[datum.value]'}}}},
            },
          ]
        : [across(`${factor}, by the mean of the effect: from the lowest to the highest`, {tickMinStep: 1}), up(value)],
      marks: [
        zero,
        rule('least', 'most', Math.min(1, wide), 'wideMarks'),
        rule('low', 'high', wide, 'intervalMarks'),
        mark('symbol', 'groups', {
          [along]: {scale: along, field: 'middle'},
          [beside]: place,
          size: {value: isDown ? 60 : 14},
          fill: {field: 'colour'},
          stroke: {value: 'var(--paper)'},
          strokeWidth: {value: isDown ? 1 : 0},
          tooltip: {field: 'tip'},
        }),
      ],
    },
  });
  return plot.show({groups: tuples.map((tuple, i) => ({...tuple, place: i}))});
}
