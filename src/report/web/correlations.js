import {choice, element, legend} from './dom.js';
import {fixed} from './numbers.js';
import {Plot, dataSets, mark} from './plot.js';
import {partsOf} from './posterior.js';

const AT_ONCE = 32;
const WITH_NUMBERS = 10; // variables whose cells still have room for a number

/** A heat map of the posterior correlations that mean field takes to be zero. */
export function correlations(contents, posterior) {
  const groups = groupsOf(contents, posterior);
  const plot = heatMap();
  const show = (group) => {
    const chosen = group.variables;
    const names = chosen.map((v) => posterior.variables[v].name);
    const cells = chosen.flatMap((a, i) =>
      chosen.map((b, j) => {
        const r = posterior.covariance(a, b) / (posterior.sd(a) * posterior.sd(b));
        const size = Math.min(1, Math.abs(r));
        return {
          a: names[i],
          b: names[j],
          size,
          colour: r < 0 ? 'var(--negative)' : 'var(--positive)',
          text: chosen.length <= WITH_NUMBERS ? fixed(r, 2) : '',
          ink: size > 0.55 ? 'var(--on-colour)' : 'var(--ink)',
          tip: `${names[i]} and ${names[j]}: ${fixed(r, 3)}`,
        };
      }),
    );
    plot.show({cells}, {names});
  };
  show(groups[0]);
  const options = groups.map(({title}, g) => [g, title]);
  return [
    element('p', {}, 'Mean field takes all of these between its blocks to be zero. Point at a cell for its value.'),
    groups.length > 1 && element('div', {class: 'choices'}, choice('Show', options, 0, (g) => show(groups[Number(g)]))),
    plot.figure,
  ];
}

function heatMap() {
  const scale = (name, range) => ({name, type: 'band', range, domain: {signal: 'names'}, padding: 0});
  const axis = (orient, name, more) => ({orient, scale: name, domain: false, ticks: false, labelColor: 'var(--ink)', ...more});
  return new Plot({
    id: 'heat-map',
    caption: 'Posterior correlations',
    description: 'Heat map of the posterior correlations of the parameters, by linear response',
    extra: [legend([['positive', 'block', 'var(--positive)'], ['negative', 'block', 'var(--negative)']])],
    spec: {
      signals: [
        {name: 'names', value: []},
        {name: 'height', value: 300, update: 'max(180, min(width, length(names) * 44, 620))'},
      ],
      data: dataSets('cells'),
      scales: [scale('x', 'width'), scale('y', 'height')],
      axes: [axis('bottom', 'x', {labelAngle: -45, labelAlign: 'right', labelBaseline: 'top', labelOverlap: false}), axis('left', 'y', {})],
      marks: [
        mark('rect', 'cells', {
          x: {scale: 'x', field: 'b'},
          width: {scale: 'x', band: 1, offset: -1},
          y: {scale: 'y', field: 'a'},
          height: {scale: 'y', band: 1, offset: -1},
          fill: {field: 'colour'},
          fillOpacity: {field: 'size'},
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
            fill: {field: 'ink'},
            text: {signal: "width > 420 ? datum.text : ''"},
          },
          {name: 'numberMarks', interactive: false},
        ),
      ],
    },
  });
}

/** All of them where there is room; otherwise the first, and each kind and each component, in pieces that fit. */
function groupsOf({model}, posterior) {
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
  const part = (v) => partsOf(posterior.variables[v].name);
  for (const kind of new Set(all.map((v) => part(v).kind))) add(kind, all.filter((v) => part(v).kind === kind));
  for (let k = 1; k <= (model.components ?? 0); ++k) add(`component ${k}`, all.filter((v) => part(v).indices[0] === k));
  return groups;
}
