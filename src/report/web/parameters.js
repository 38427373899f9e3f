import {choice, element, legend} from './dom.js';
import {normalQuantile, percent, rounded, sourceOf} from './numbers.js';
import {paged} from './pages.js';
import {Plot, across, whiskerMarks} from './plot.js';
import {parameterTable} from './table.js';

const ROWS = 42; // in one figure

/** The table; and what linear response says, over what mean field says, and the exact posterior where it was asked. */
export function parameters(contents) {
  const free = contents.variables.filter(({sd}) => sd > 0);
  return [parameterTable(contents), free.length > 0 && comparison(contents, free)];
}

/** Dot and whisker: every variable about its own mean, so that all intervals can be compared at once. */
function comparison(contents, variables) {
  const source = sourceOf(contents);
  const checked = variables.some((variable) => typeof variable.exact_sd === 'number');
  const entries = [
    [source, 'dot', 'var(--c1)'],
    ['mean field', 'bar', 'var(--c4)'],
    ...(checked ? [['exact posterior', 'diamond', 'var(--ink)']] : []),
  ];
  const z = normalQuantile(0.5 + contents.level / 2);
  const label = ({name, mean, sd}) => `${name} = ${rounded(mean, sd)}`;
  const pages = paged(
    variables,
    ROWS,
    ({name}) => name,
    (some, first) => {
      const rows = some.flatMap((variable) => {
        const inSds = (value) => (value - variable.mean) / variable.sd;
        return whiskers(variable, z).map((line) => ({
          ...line,
          name: label(variable),
          mean: inSds(line.mean),
          lower: inSds(line.lower),
          upper: inSds(line.upper),
        }));
      });
      return whiskerPlot(contents, {id: `whiskers-${first + 1}`, rows, names: some.map(label), entries}).figure;
    },
  );
  const holder = element('div', {id: 'whiskers'});
  const open = (page) => holder.replaceChildren(pages[page].figures());
  open(0);
  return [
    element('h3', {}, 'Beside mean field'),
    element(
      'p',
      {},
      `${percent(contents.level)} intervals. Where mean field\u2019s bar is shorter than the line above it, it hid part of the uncertainty.`,
    ),
    pages.length > 1 &&
      element(
        'div',
        {class: 'choices'},
        choice(
          'Show',
          pages.map(({title}, page) => [page, title]),
          0,
          (page) => open(Number(page)),
        ),
      ),
    holder,
  ];
}

function whiskerPlot(contents, {id, rows, names, entries}) {
  const y = {scale: 'y', field: 'name', band: 0.5, offset: {field: 'offset'}};
  const caption = 'How far the intervals reach, in posterior sds from the mean';
  return new Plot({
    id,
    caption,
    description: `${caption}: means and ${percent(contents.level)} intervals, and those of mean field`,
    extra: [legend(entries)],
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
        across('posterior sds from the mean', {grid: true}),
        {orient: 'left', scale: 'y', domain: false, ticks: false, labelPadding: 8, labelColor: 'var(--ink)'},
      ],
      marks: [
        ...whiskerMarks(y),
      ],
    },
  });
}

/** Up to three lines of a variable, one below the other. */
function whiskers(variable, z) {
  const {name, mean, sd} = variable;
  const line = (what, center, lower, upper, style) => ({
    name,
    mean: center,
    lower,
    upper,
    tip: `${name}, ${what}: ${rounded(center, sd)}, ${rounded(lower, sd)} to ${rounded(upper, sd)}`,
    ...style,
  });
  const lines = [
    line('the posterior', mean, variable.lower ?? mean, variable.upper ?? mean, {
      offset: -5,
      colour: 'var(--c1)',
      width: 2.5,
      dash: [],
      opacity: 1,
      shape: 'circle',
      size: 70,
    }),
    line('mean field', mean, variable.mean_field_lower ?? mean, variable.mean_field_upper ?? mean, {
      offset: 3,
      colour: 'var(--c4)',
      width: 5,
      dash: [],
      opacity: 1,
      shape: 'circle',
      size: 0,
    }),
  ];
  if (typeof variable.exact_sd === 'number' && variable.exact_sd > 0) {
    const [center, reach] = [variable.exact_mean, z * variable.exact_sd];
    lines.push(
      line('exact posterior (mean ± sds)', center, center - reach, center + reach, {
        offset: 10,
        colour: 'var(--ink)',
        width: 1.25,
        dash: [3, 2],
        opacity: 1,
        shape: 'diamond',
        size: 45,
      }),
    );
  }
  return lines;
}
