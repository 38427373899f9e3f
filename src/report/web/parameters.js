import {choice, element, legend} from './dom.js';
import {normalQuantile, percent, rounded} from './numbers.js';
import {Plot, across, mark} from './plot.js';
import {parameterTable} from './table.js';

const PANELS = 12; // at a time
const ROWS = 42; // in one figure

/** Dot and whisker: what linear response says, over what mean field says, and the exact posterior where it was asked. */
export function parameters(contents) {
  const source = contents.correction ? 'draws of the exact posterior' : 'linear response';
  const scales = contents.variables.some(({sd}) => sd > 0)
    ? [
        ['sds', 'in posterior sds from the mean'],
        ['units', 'in their own units'],
      ]
    : [['units', 'in their own units']];
  const holder = element('div', {id: 'whiskers'});
  const pager = element('span');
  const show = (scale) => {
    const pages = scale === 'sds' ? sdPages(contents) : unitPages(contents);
    const open = (page) => holder.replaceChildren(...pages[page].figures());
    open(0);
    const options = pages.map(({title}, page) => [page, title]);
    pager.replaceChildren(...(pages.length > 1 ? [choice('Show', options, 0, (page) => open(Number(page)))] : []));
  };
  show(scales[0][0]);
  const checked = contents.variables.some((variable) => typeof variable.exact_sd === 'number');
  const entries = [
    ...(contents.response ? [[source, 'dot', 'var(--c1)']] : []),
    ['mean field', 'bar', 'var(--c4)'],
    ...(checked ? [['exact posterior', 'diamond', 'var(--ink)']] : []),
  ];
  return [
    element(
      'p',
      {},
      `Means and ${percent(contents.level)} intervals. `,
      contents.response
        ? 'Where mean field\u2019s bar is shorter than the line above it, it hid part of the uncertainty.'
        : 'These are mean field\u2019s, which are too short.',
    ),
    element('div', {class: 'choices'}, scales.length > 1 && choice('Scale', scales, scales[0][0], show), pager),
    legend(entries),
    holder,
    parameterTable(contents),
  ];
}

/** Some at a time: pages of things, with a title from the first to the last of each. */
function paged(things, size, titleOf, figuresOf) {
  return Array.from({length: Math.ceil(things.length / size)}, (_, page) => {
    const own = things.slice(page * size, (page + 1) * size);
    return {title: `${titleOf(own[0])} \u2026 ${titleOf(own.at(-1))}`, figures: () => figuresOf(own, page * size)};
  });
}

/** Every variable about its own mean, so that all intervals can be compared at once. */
function sdPages(contents) {
  const z = normalQuantile(0.5 + contents.level / 2);
  return paged(
    contents.variables.filter(({sd}) => sd > 0),
    ROWS,
    ({name}) => name,
    (variables, first) => {
      const label = ({name, mean, sd}) => `${name} = ${rounded(mean, sd)}`;
      const rows = variables.flatMap((variable) => {
        const inSds = (value) => (value - variable.mean) / variable.sd;
        return whiskers(variable, true, z).map((line) => ({
          ...line,
          name: label(variable),
          mean: inSds(line.mean),
          lower: inSds(line.lower),
          upper: inSds(line.upper),
        }));
      });
      const caption = 'How far the intervals reach, in posterior sds from the mean';
      return [
        whiskerPlot(contents, {
          id: `whiskers-${first + 1}`,
          caption,
          rows,
          names: variables.map(label),
          unit: 'posterior sds from the mean',
        }).figure,
      ];
    },
  );
}

/** Every variable where it lies, beside those of its unit. */
function unitPages(contents) {
  const z = normalQuantile(0.5 + contents.level / 2);
  return paged(
    panelsOf(contents.variables),
    PANELS,
    ({title}) => title,
    (panels, first) => [
      element(
        'div',
        {class: 'panels'},
        panels.map(({title, variables}, i) => {
          const rows = variables.flatMap((variable) => whiskers(variable, contents.response, z));
          const names = variables.map(({name}) => name);
          return whiskerPlot(contents, {id: `whiskers-${first + i + 1}`, caption: title, rows, names, unit: null}).figure;
        }),
      ),
    ],
  );
}

/** Variables of one unit share a panel; many share several. */
function panelsOf(variables) {
  const panels = new Map();
  for (const variable of variables) {
    if (!panels.has(variable.panel)) panels.set(variable.panel, []);
    panels.get(variable.panel).push(variable);
  }
  return [...panels].flatMap(([title, own]) =>
    Array.from({length: Math.ceil(own.length / ROWS)}, (_, piece) => {
      const some = own.slice(piece * ROWS, (piece + 1) * ROWS);
      const where = own.length > ROWS ? ` (${piece * ROWS + 1} to ${piece * ROWS + some.length})` : '';
      return {title: title + where, variables: some};
    }),
  );
}

function whiskerPlot(contents, {id, caption, rows, names, unit}) {
  const y = {scale: 'y', field: 'name', band: 0.5, offset: {field: 'offset'}};
  return new Plot({
    id,
    caption,
    description: `${caption}: means and ${percent(contents.level)} intervals, and those of mean field`,
    spec: {
      height: 34 * names.length,
      data: [{name: 'whiskers', values: rows}],
      scales: [
        {
          name: 'x',
          type: 'linear',
          range: 'width',
          zero: false,
          nice: true,
          domain: {
            fields: [
              {data: 'whiskers', field: 'lower'},
              {data: 'whiskers', field: 'upper'},
            ],
          },
        },
        {name: 'y', type: 'band', range: 'height', domain: names, paddingInner: 0.1},
      ],
      axes: [
        across(unit, {grid: true}),
        {orient: 'left', scale: 'y', domain: false, ticks: false, labelPadding: 8, labelColor: 'var(--ink)'},
      ],
      marks: [
        mark('rule', 'whiskers', {
          x: {scale: 'x', field: 'lower'},
          x2: {scale: 'x', field: 'upper'},
          y,
          stroke: {field: 'colour'},
          strokeWidth: {field: 'width'},
          strokeCap: {value: 'round'},
          strokeDash: {field: 'dash'},
          tooltip: {field: 'tip'},
        }),
        mark(
          'symbol',
          'whiskers',
          {
            x: {scale: 'x', field: 'mean'},
            y,
            shape: {field: 'shape'},
            size: {field: 'size'},
            fill: {field: 'colour'},
            tooltip: {field: 'tip'},
          },
          {name: 'dotMarks'},
        ),
      ],
    },
  });
}

/** Up to three lines of a variable, one below the other. */
function whiskers(variable, response, z) {
  const {name, mean, sd} = variable;
  const line = (what, center, lower, upper, style) => ({
    name,
    mean: center,
    lower,
    upper,
    tip: `${name}, ${what}: ${rounded(center, sd)}, ${rounded(lower, sd)} to ${rounded(upper, sd)}`,
    ...style,
  });
  const lines = [];
  if (response) {
    lines.push(
      line('the posterior', mean, variable.lower ?? mean, variable.upper ?? mean, {
        offset: -5,
        colour: 'var(--c1)',
        width: 2.5,
        dash: [],
        shape: 'circle',
        size: 70,
      }),
    );
  }
  lines.push(
    line('mean field', mean, variable.mean_field_lower ?? mean, variable.mean_field_upper ?? mean, {
      offset: response ? 3 : 0,
      colour: 'var(--c4)',
      width: 5,
      dash: [],
      shape: 'circle',
      size: 0,
    }),
  );
  if (typeof variable.exact_sd === 'number' && variable.exact_sd > 0) {
    const [center, reach] = [variable.exact_mean, z * variable.exact_sd];
    lines.push(
      line('exact posterior (mean ± sds)', center, center - reach, center + reach, {
        offset: 10,
        colour: 'var(--ink)',
        width: 1.25,
        dash: [3, 2],
        shape: 'diamond',
        size: 45,
      }),
    );
  }
  return lines;
}
