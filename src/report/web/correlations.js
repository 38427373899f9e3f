import {choice, element, legend} from './dom.js';
import {fixed} from './numbers.js';
import {Plot, dataSets, mark} from './plot.js';
import {groupsOf} from './posterior.js';
import {tableButtons} from './table.js';

const AT_ONCE = 32;
const WITH_NUMBERS = 10; // variables whose cells still have room for a number

/** A heat map of the posterior correlations that mean field takes to be zero. */
export function correlations(posterior, kind) {
  const groups = pieces(posterior, kind);
  const plot = heatMap();
  const columns = [];
  let shown = [];
  const show = (group) => {
    const chosen = group.variables;
    const names = chosen.map((v) => posterior.variables[v].name);
    const cells = chosen.flatMap((a, i) =>
      chosen.map((b, j) => {
        const r = posterior.correlation(a, b);
        const size = Math.min(1, Math.abs(r));
        return {
          a: names[i],
          b: names[j],
          size,
          colour: r < 0 ? 'var(--negative)' : 'var(--positive)',
          text: chosen.length <= WITH_NUMBERS ? fixed(r, 2) : '',
          tip: `${names[i]} and ${names[j]}: ${fixed(r, 3)}`,
        };
      }),
    );
    plot.show({cells}, {names});
    const nameOf = (v) => posterior.variables[v].name;
    shown = chosen;
    columns.splice(0, Infinity, {id: 'variable', label: 'variable', value: nameOf, text: nameOf});
    chosen.forEach((b, j) =>
      columns.push({
        id: names[j],
        label: names[j],
        value: (a) => posterior.correlation(a, b),
        text: (a) => fixed(posterior.correlation(a, b), 2),
      }),
    );
  };
  show(groups[0]);
  const left = posterior.variables.filter(({sd}) => sd > 0).length - posterior.correlated.length;
  const options = groups.map(({title}, g) => [g, title]);
  return [
    element('p', {}, 'Mean field takes all of these between its blocks to be zero. Point at a cell for its value.'),
    groups.length > 1 &&
      element(
        'div',
        {class: 'choices'},
        choice('Show', options, 0, (g) => show(groups[Number(g)])),
      ),
    plot.figure,
    tableButtons(columns, () => shown),
    left > 0 && element('p', {class: 'note'}, `The correlations of ${left} more were left out for size: lrvb covariance has them.`),
  ];
}

function heatMap() {
  const scale = (name, range) => ({name, type: 'band', range, domain: {signal: 'names'}, padding: 0});
  const axis = (orient, name, more) => ({orient, scale: name, domain: false, ticks: false, labelColor: 'var(--ink)', ...more});
  const plot = new Plot({
    id: 'heat-map',
    caption: 'Posterior correlations',
    description: 'Heat map of the posterior correlations of the parameters; the button below copies them as a table',
    extra: [
      legend([
        ['positive', 'block', 'var(--positive)'],
        ['negative', 'block', 'var(--negative)'],
      ]),
    ],
    spec: {
      signals: [
        {name: 'names', value: []},
        // Not the width of the cells: that hangs on the labels, and a height that hangs on it never settles where these are long.
        {name: 'room', value: 640},
        {name: 'height', value: 300, update: 'max(180, min(0.7 * room, length(names) * 44, 620))'},
      ],
      data: dataSets('cells'),
      scales: [scale('x', 'width'), scale('y', 'height')],
      axes: [
        axis('bottom', 'x', {labelAngle: -45, labelAlign: 'right', labelBaseline: 'top', labelOverlap: false}),
        axis('left', 'y', {}),
      ],
      marks: [
        mark('rect', 'cells', {
          x: {scale: 'x', field: 'b'},
          width: {scale: 'x', band: 1, offset: -1},
          y: {scale: 'y', field: 'a'},
          height: {scale: 'y', band: 1, offset: -1},
          fill: {field: 'colour'},
          fillOpacity: {signal: '0.65 * datum.size'}, // so that numbers can be read on it
          stroke: {value: 'var(--grid)'},
          tooltip: {field: 'tip'},
        }),
        mark(
          'text',
          'cells',
          {
            x: {scale: 'x', field: 'b', band: 0.5},
            y: {scale: 'y', field: 'a', band: 0.5},
            align: {value: 'center'},
            baseline: {value: 'middle'},
            fontSize: {value: 11},
            fill: {value: 'var(--ink)'},
            text: {signal: "width > 420 ? datum.text : ''"},
          },
          {name: 'numberMarks', interactive: false},
        ),
      ],
    },
  });
  new ResizeObserver(([entry]) => plot.view.signal('room', Math.floor(entry.contentRect.width)).runAsync()).observe(plot.frame);
  return plot;
}

/** All of them where there is room; otherwise each group, locations first, and the kind's own blocks, in pieces that fit. */
function pieces(posterior, kind) {
  const all = posterior.correlated;
  if (all.length <= AT_ONCE) return [{title: 'all', variables: all}];
  const groups = [];
  const add = (title, variables) => {
    for (let first = 0; first < variables.length; first += AT_ONCE) {
      const piece = variables.slice(first, first + AT_ONCE);
      const where = variables.length > AT_ONCE ? ` (${first + 1} to ${first + piece.length})` : '';
      if (piece.length > 1) groups.push({title: title + where, variables: piece});
    }
  };
  const isLocation = ([, [first]]) => Number(posterior.variables[first].role === 'location');
  const byGroup = groupsOf(posterior.variables, all).sort((a, b) => isLocation(b) - isLocation(a));
  for (const [group, variables] of byGroup) add(group, variables);
  for (const {title, variables} of kind.blocks()) add(title, variables);
  if (groups.length === 0) add('all', all);
  return groups;
}
