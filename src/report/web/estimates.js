import {choice, element, legend, tick} from './dom.js';
import {normalQuantile, percent, rounded, sourceOf} from './numbers.js';
import {paged} from './pages.js';
import {Plot, whiskerMarks} from './plot.js';

const PANELS = 12; // at a time
const ROWS = 42; // in one figure
const NARROW = 560; // pixels below which the numbers stand under the names

/**
 * The answer: each variable in its own units, with its interval and its numbers beside it. What mean field and the exact posterior
 * say of the same is there when it is asked for.
 */
export function estimates(contents, kind) {
  const shown = {meanField: !contents.response, exact: false, linear: false};
  const beside = contents.variables.some(({response_sd: sd}) => sd > 0);
  const checked = contents.variables.some(({exact_sd: sd}) => typeof sd === 'number' && sd > 0);
  const pages = paged(
    kind.panels().flatMap(pieces),
    PANELS,
    ({title}) => title,
    (panels, first) => panels.map((panel, i) => new Forest(contents, panel, `estimates-${first + i + 1}`)),
  );
  const holder = element('div', {class: 'panels'});
  let forests = [];
  const draw = () => forests.forEach((forest) => forest.draw(shown));
  const open = (page) => {
    forests = pages[page].figures();
    holder.replaceChildren(...forests.map(({plot}) => plot.figure));
    holder.classList.toggle('alone', forests.length === 1);
    draw();
  };
  const ticked = (key) => (checkedNow) => {
    shown[key] = checkedNow;
    draw();
  };
  open(0);
  return [
    element(
      'div',
      {class: 'choices'},
      element(
        'span',
        {class: 'note'},
        contents.response
          ? `Posterior means and ${percent(contents.level)} intervals.`
          : `Means and ${percent(contents.level)} intervals by mean field, which are too short.`,
      ),
      pages.length > 1 &&
        choice(
          'Show',
          pages.map(({title}, page) => [page, title]),
          0,
          (page) => open(Number(page)),
        ),
      contents.response && beside && tick('linear response', false, ticked('linear')),
      contents.response && tick('mean field', false, ticked('meanField')),
      checked && tick('exact posterior', false, ticked('exact')),
    ),
    holder,
  ];
}

/** A panel of many variables in several figures. */
function pieces({title, variables, ...rest}) {
  return Array.from({length: Math.ceil(variables.length / ROWS)}, (_, piece) => {
    const some = variables.slice(piece * ROWS, (piece + 1) * ROWS);
    const where = variables.length > ROWS ? ` (${piece * ROWS + 1} to ${piece * ROWS + some.length})` : '';
    return {...rest, title: title + where, variables: some};
  });
}

/**
 * One figure of a forest. Variables of one unit share an axis; those of units of their own, which lie about the same zero, have
 * scales of their own, and the numbers beside them say which.
 */
class Forest {
  constructor(contents, {title, variables, aboutZero}, id) {
    this.contents = contents;
    this.variables = variables;
    this.z = normalQuantile(0.5 + contents.level / 2);
    // How long one unit of each is drawn.
    this.units = variables.map((variable) => (aboutZero ? 1 / (Math.max(...ends(variable, this.z).map(Math.abs)) || 1) : 1));
    this.key = element('div');
    const inUnits = variables.flatMap((variable, v) => ends(variable, this.z).map((end) => end * this.units[v]));
    this.plot = this.forestPlot({
      id,
      title,
      domain: aboutZero ? [Math.min(0, ...inUnits), Math.max(0, ...inUnits)] : extremes(inUnits),
      aboutZero,
    });
  }

  forestPlot({id, title, domain, aboutZero}) {
    const {contents, variables} = this;
    const names = variables.map(({name}) => name);
    const texts = variables.map((variable) => numbersOf(variable, contents.response));
    const y = {scale: 'y', field: 'v', band: 0.5, offset: {field: 'offset'}};
    const words = names.slice(0, 12).map((name, v) => `${name} ${texts[v]}`);
    const label = (text) => ({labels: {update: {text: {signal: text}}}});
    return new Plot({
      id,
      caption: title,
      description: `Means and ${percent(contents.level)} intervals: ${words.join(', ')}${names.length > 12 ? ' and more' : ''}`,
      extra: [this.key],
      spec: {
        height: 34 * names.length,
        signals: [
          {name: 'frame', value: 640},
          {name: 'names', value: names},
          {name: 'texts', value: texts},
          {name: 'both', value: names.map((name, v) => [name, texts[v]])},
          {name: 'nothing', value: names.map(() => '')},
        ],
        data: [{name: 'whiskers', values: []}],
        scales: [
          {name: 'x', type: 'linear', range: 'width', domain, zero: false, nice: !aboutZero, padding: 8},
          {name: 'y', type: 'band', range: 'height', domain: names.map((_, v) => v), paddingInner: 0.1},
        ],
        axes: [
          ...(aboutZero ? [] : [{orient: 'bottom', scale: 'x', grid: true, tickCount: {signal: 'max(3, width / 90)'}, labelOverlap: true}]),
          {
            orient: 'left',
            scale: 'y',
            domain: false,
            ticks: false,
            labelPadding: 8,
            labelColor: 'var(--ink)',
            labelLimit: {signal: 'min(220, 0.55 * frame)'},
            labelOffset: {signal: `frame < ${NARROW} ? -6 : 0`},
            encode: label(`frame < ${NARROW} ? both[datum.value] : names[datum.value]`),
          },
          {
            orient: 'right',
            scale: 'y',
            domain: false,
            ticks: false,
            labelPadding: 10,
            labelColor: 'var(--ink)',
            labelLimit: 260,
            encode: label(`frame < ${NARROW} ? nothing[datum.value] : texts[datum.value]`),
          },
        ],
        marks: [
          ...(aboutZero
            ? [
                {
                  type: 'rule',
                  name: 'zeroMarks',
                  encode: {
                    update: {
                      x: {scale: 'x', value: 0},
                      y: {value: 0},
                      y2: {signal: 'height'},
                      stroke: {value: 'var(--edge)'},
                      strokeWidth: {value: 1.25},
                    },
                  },
                  aria: false,
                },
              ]
            : []),
          ...whiskerMarks(y),
        ],
      },
    });
  }

  draw(shown) {
    const {response} = this.contents;
    const whiskers = this.variables.flatMap((variable, v) =>
      linesOf(variable, {...shown, response}, this.z).map((line) => ({
        ...line,
        v,
        mean: line.mean * this.units[v],
        lower: line.lower * this.units[v],
        upper: line.upper * this.units[v],
      })),
    );
    const entries = [
      response && [sourceOf(this.contents), 'line', 'var(--c1)'],
      shown.linear && ['linear response, mean ± sds', 'dashed', 'var(--c2)'],
      shown.meanField && ['mean field', 'bar', 'var(--line)'],
      shown.exact && ['exact posterior', 'dashed', 'var(--ink)'],
    ].filter(Boolean);
    this.key.replaceChildren(...(entries.length > 1 ? [legend(entries)] : []));
    this.plot.show({whiskers});
  }
}

/** All numbers that may be drawn of a variable, so that its place does not move when more of them are shown. */
function ends(variable, z) {
  const exact = variable.exact_sd > 0 ? [-z, z].map((sds) => variable.exact_mean + sds * variable.exact_sd) : [];
  const linear = variable.response_sd > 0 ? [-z, z].map((sds) => variable.response_mean + sds * variable.response_sd) : [];
  return [
    variable.mean,
    variable.lower,
    variable.upper,
    variable.mean_field_lower,
    variable.mean_field_upper,
    ...exact,
    ...linear,
  ].filter((end) => typeof end === 'number');
}

/** A domain that is not empty. */
function extremes(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const more = low === high ? Math.abs(low) * 0.1 || 1 : 0;
  return [low - more, high + more];
}

/** "−4.36 (−5.54 to −3.18)". */
function numbersOf({mean, sd, lower, upper, mean_field_sd: own, mean_field_lower: low, mean_field_upper: high}, response) {
  const [size, from, to] = response ? [sd, lower, upper] : [own, low, high];
  if (!(size > 0)) return `${rounded(mean, 0)}, fixed`;
  return `${rounded(mean, size)} (${rounded(from, size)} to ${rounded(to, size)})`;
}

/** Up to three lines of a variable: the posterior in front, and what is asked for beside it below. */
function linesOf(variable, {response, linear, meanField, exact}, z) {
  const {name, mean, sd} = variable;
  const line = (what, center, lower, upper, style) => ({
    mean: center,
    lower,
    upper,
    dash: [],
    shape: 'circle',
    opacity: 1,
    tip: `${name}, ${what}: ${rounded(center, sd)}, ${rounded(lower, sd)} to ${rounded(upper, sd)}`,
    ...style,
  });
  const lines = [];
  if (linear && variable.response_sd > 0) {
    const [center, reach] = [variable.response_mean, z * variable.response_sd];
    lines.push(
      line('linear response (mean ± sds)', center, center - reach, center + reach, {
        offset: -7,
        colour: 'var(--c2)',
        width: 1.5,
        dash: [4, 2],
        shape: 'diamond',
        size: 40,
      }),
    );
  }
  if (meanField) {
    const style = response ? {offset: 6, width: 5, opacity: 0.8, size: 0} : {offset: 0, width: 3, size: 60};
    lines.push(
      line('mean field', mean, variable.mean_field_lower ?? mean, variable.mean_field_upper ?? mean, {colour: 'var(--line)', ...style}),
    );
  }
  if (exact && variable.exact_sd > 0) {
    const [center, reach] = [variable.exact_mean, z * variable.exact_sd];
    lines.push(
      line('exact posterior (mean ± sds)', center, center - reach, center + reach, {
        offset: -7,
        colour: 'var(--ink)',
        width: 1.25,
        dash: [3, 2],
        shape: 'diamond',
        size: 40,
      }),
    );
  }
  if (response) {
    lines.push(
      line('the posterior', mean, variable.lower ?? mean, variable.upper ?? mean, {offset: 0, colour: 'var(--c1)', width: 2.5, size: 80}),
    );
  }
  return lines;
}
