// What the page computes, without a browser.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {MixtureKind} from '../../src/kind/mixture/web/kind.js';
import {Mixture} from '../../src/kind/mixture/web/mixture.js';
import {RegressionKind} from '../../src/kind/regression/web/kind.js';
import {Regression} from '../../src/kind/regression/web/regression.js';
import {AnyKind} from '../../src/report/web/any_kind.js';
import {asCsv, asLatex, asMarkdown, latexText, shellQuoted} from '../../src/report/web/formats.js';
import {decode, fixed, listed, located, normalQuantile, rounded, sentence, significant, typed} from '../../src/report/web/numbers.js';
import {harmless} from '../../src/report/web/names.js';
import {Posterior, groupsOf, noChange} from '../../src/report/web/posterior.js';
import {compare} from '../../src/report/web/table.js';
import {doubts} from '../../src/report/web/trust.js';
import {verdictOf} from '../../src/report/web/verdict.js';
import {RATE, SHAPE, countContents, countPosterior, countRows} from './counts.mjs';

const base64 = (numbers, Type = Float64Array) => Buffer.from(Type.from(numbers).buffer).toString('base64');
// The upper triangle of a matrix, row by row.
const triangle = (size, entry) =>
  base64(Array.from({length: size}, (_, i) => Array.from({length: size - i}, (_, j) => entry(i, i + j))).flat());
const close = (a, b, tolerance) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

// Two components, some of whose variables hang together.
function contents() {
  const variables = [
    {name: 'pi[1]', group: 'pi', indices: [1], mean: 0.4, sd: 0.03},
    {name: 'pi[2]', group: 'pi', indices: [2], mean: 0.6, sd: 0.03},
    {name: 'mu[1]', group: 'mu', indices: [1], mean: -1, sd: 0.1},
    {name: 'mu[2]', group: 'mu', indices: [2], mean: 2, sd: 0.08},
    {name: 'sigma[1]', group: 'sigma', indices: [1], mean: 0.7, sd: 0.06},
    {name: 'sigma[2]', group: 'sigma', indices: [2], mean: 1.1, sd: 0.05},
  ];
  const size = variables.length;
  const correlations = triangle(size, (i, j) => {
    if (i === j) return 1;
    if (i < 2 && j < 2) return -1;
    return 0.05 * (((i + 1) * (j + 1)) % 4);
  });
  return {
    kind: 'mixture',
    model: {
      components: 2,
      columns: ['x'],
      covariance: 'univariate',
      fixed: [],
      parts: {pi: [0.4, 0.6], mu: [[-1], [2]], sigma: [[[0.49]], [[1.21]]]},
    },
    variables,
    correlated: variables.map((_, v) => v),
    correlations,
    priors: [
      {name: 'alpha', value: 1, trusted_low: 0.5, trusted_high: 2},
      {name: 'rate', value: 0.1, trusted_low: 0.05, trusted_high: 0.2},
    ],
    sensitivities: base64(Array.from({length: size * 2}, (_, i) => 0.01 * (i + 1))),
    rows: {
      inputs: ['x'],
      all: true,
      row: [3, 4],
      values: base64([0.5, -1.2]),
      weights: [1, 2],
      reach: [2],
      leverage: base64(
        Array.from({length: 2 * size}, (_, i) => 0.03 * (i + 1)),
        Float32Array,
      ),
      case: base64(
        Array.from({length: 2 * size}, (_, i) => 0.02 * (i - 3)),
        Float32Array,
      ),
      distance: [0.1, 0.2],
      top: [1, 0],
    },
  };
}

test('numbers are read in either width, and a wrong count is refused', () => {
  assert.deepEqual([...decode(base64([1.5, -2]), 2)], [1.5, -2]);
  assert.deepEqual([...decode(base64([1.5, -2], Float32Array), 2)], [1.5, -2]);
  assert.throws(() => decode(base64([1.5, -2]), 3), /instead of 3/);
});

test('numbers have as many digits as their sd is worth', () => {
  assert.equal(rounded(2.01987, 0.0264), '2.020');
  assert.equal(rounded(-14123.4, 210), '\u221214123');
  assert.equal(rounded(-0.00001, 0.1), '0.00');
  assert.equal(rounded(null, 1), 'NA');
  assert.equal(significant(0.000012345), '1.23e\u22125');
  assert.equal(fixed(-1e-9, 3), '0.000');
  assert.equal(rounded(1600000000.123, 0.05), '1600000000.123');
  assert.equal(typed(1600000000.12345, 2), '1600000000.12345');
  assert.equal(typed(0.1, 0.375), '0.1');
  assert.equal(listed(['a', 'b', 'c', 'd', 'e']), 'a, b, c and 2 more');
  assert.equal(sentence('it holds.. '), 'It holds.');
});

test('numbers keep the digits that their sd is worth, however large or small they are', () => {
  assert.equal(rounded(1700000100.947, 0.795), '1700000100.95');
  assert.equal(rounded(1700000000.26, 0.842), '1700000000.26');
  assert.equal(rounded(1, 1e-12), '1.0000000000000');
  assert.equal(rounded(1e-12, 1e-12), '1.0e\u221212');
  assert.equal(rounded(1.2345e-10, 1e-15), '1.234500e\u221210');
  assert.equal(rounded(1e-200, 1e-201), '1.00e\u2212200');
  assert.equal(rounded(-1e300, 2e298), '\u22121.000e+300');
  assert.equal(rounded(-2.5e-9, 1e-10), '\u22122.50e\u22129');
  assert.equal(rounded(1700000100.25, 0), '1700000100.25');
  assert.equal(rounded(0, 0), '0');
  assert.equal(rounded(0.35, 0), '0.35');
  assert.equal(located(1700000100.947, 150, 6), '1700000100.947');
  assert.equal(located(2.883, 3.5, 6), '2.883');
  assert.equal(located(0, 1, 6), '0');
});

test('normal quantiles', () => {
  close(normalQuantile(0.95), 1.6448536269514722, 1e-12);
  close(normalQuantile(0.5), 0, 1e-12);
  close(normalQuantile(0.025), -1.959963984540054, 1e-12);
});

test('variables come in their groups, in order', () => {
  const variables = ['b', 'a', 'b', 'c'].map((group) => ({group}));
  assert.deepEqual(groupsOf(variables), [
    ['b', [0, 2]],
    ['a', [1]],
    ['c', [3]],
  ]);
  assert.deepEqual(groupsOf(variables, [3, 2]), [
    ['c', [3]],
    ['b', [2]],
  ]);
});

test('shifts add up: priors, a dropped row, one counted twice and moved', () => {
  const posterior = new Posterior(contents());
  const change = noChange();
  change.priors.set(1, 0.3);
  change.rows.set(0, {times: 0, values: [99]});
  change.rows.set(1, {times: 2, values: [-1.0]});
  const shifts = posterior.shifts(change);
  for (let v = 0; v < 6; ++v) {
    const expected =
      posterior.sensitivity(v, 1) * 0.2 -
      posterior.caseWeight(0, v) +
      2 * posterior.caseWeight(1, v) +
      2 * posterior.leverageOf(1, v, 0) * 0.2;
    close(shifts[v], expected, 1e-15);
  }
  assert.deepEqual([...posterior.shifts(noChange())], [0, 0, 0, 0, 0, 0]);
});

test('densities add up to one and to their parts', () => {
  const own = contents();
  const mixture = new Mixture(own, new Posterior(own));
  const xs = Array.from({length: 4001}, (_, i) => -12 + i * 0.006);
  const {parts, total} = mixture.densities(mixture.posterior.means, 0, xs);
  close(
    total.reduce((sum, y) => sum + y * 0.006, 0),
    1,
    1e-9,
  );
  xs.forEach((_, i) => close(parts[0][i] + parts[1][i], total[i], 1e-15));
});

test('the band is the delta method: its gradient is that of the density', () => {
  const own = contents();
  const posterior = new Posterior(own);
  const mixture = new Mixture(own, posterior);
  const xs = [-2.3, -0.4, 0.9, 2.5];
  const step = 1e-5;
  const gradient = (x) =>
    own.variables.map((_, v) => {
      const at = (by) => {
        const means = posterior.means.slice();
        means[v] += by;
        return mixture.densities(means, 0, [x]).total[0];
      };
      return [v, (at(step) - at(-step)) / (2 * step)];
    });
  const sds = mixture.densitySds(0, xs);
  xs.forEach((x, i) => close(sds[i], posterior.sdAlong(gradient(x)), 1e-8));
});

test('the same of a covariance matrix', () => {
  const own = contents();
  own.variables = [
    ['mu', 1, 1],
    ['mu', 1, 2],
    ['Sigma', 1, 1, 1],
    ['Sigma', 1, 1, 2],
    ['Sigma', 1, 2, 2],
  ].map(([group, ...indices], v) => ({
    name: `variable ${v}`,
    group,
    indices,
    mean: [1, -2, 0.8, 0.3, 1.4][v],
    sd: 0.02 * (v + 1),
  }));
  own.correlated = [0, 1, 2, 3, 4];
  own.correlations = triangle(5, (i, j) => (i === j ? 1 : 0.1));
  own.sensitivities = base64(Array(10).fill(0));
  const identity = [
    [1, 0],
    [0, 1],
  ];
  own.model = {components: 1, columns: ['x', 'y'], covariance: 'full', parts: {pi: [1], mu: [[0, 0]], sigma: [identity]}};
  own.rows = null;
  const posterior = new Posterior(own);
  const mixture = new Mixture(own, posterior);
  const [component] = mixture.components(posterior.means);
  assert.deepEqual(component, {
    weight: 1,
    mean: [1, -2],
    covariance: [
      [0.8, 0.3],
      [0.3, 1.4],
    ],
  });
  const step = 1e-5;
  const at = (v, by) => {
    const means = posterior.means.slice();
    means[v] += by;
    return mixture.densities(means, 1, [-1.1]).total[0];
  };
  const gradient = own.variables.map((_, v) => [v, (at(v, step) - at(v, -step)) / (2 * step)]);
  close(mixture.densitySds(1, [-1.1])[0], posterior.sdAlong(gradient), 1e-8);

  // The densities of three points, up to a constant, from the inverse of the covariance.
  const exponent = ([x, y]) => {
    const [a, b] = [x - 1, y + 2];
    return -(1.4 * a * a - 0.6 * a * b + 0.8 * b * b) / (2 * (0.8 * 1.4 - 0.09));
  };
  const shifted = {weight: 2, mean: [2, -2], covariance: component.covariance};
  for (const at of [
    [1, -2],
    [0.3, 1],
    [4, -4],
  ]) {
    const odds = Math.exp(exponent(at)) / (2 * Math.exp(exponent([at[0] - 1, at[1]])));
    close(Mixture.shares([component, shifted], at)[0], odds / (1 + odds), 1e-12);
  }

  // Points of an ellipse are equally far in the metric of the covariance: −2 log(1 − share).
  for (const {x, y} of Mixture.ellipse(component, 0, 1, 0.9)) {
    const [a, b] = [x - 1, y + 2];
    const determinant = 0.8 * 1.4 - 0.09;
    close((1.4 * a * a - 0.6 * a * b + 0.8 * b * b) / determinant, -2 * Math.log(0.1), 1e-9);
  }
});

test('a regression line, its band, and what is left for it', () => {
  const own = {
    kind: 'regression',
    model: {response: 'y', slopes: ['a', 'b'], centre: [10, -1]},
    variables: [
      ['intercept', [], 3],
      ['beta', ['a'], 0.5],
      ['beta', ['b'], -2],
    ].map(([group, indices, mean], v) => ({name: `variable ${v}`, group, indices, mean, sd: [2, 0.2, 0.3][v]})),
    correlated: [0, 1, 2],
    correlations: base64([1, -0.9, 0.1, 1, 0, 1]),
    rows: {
      inputs: ['y'],
      all: true,
      row: [1],
      reach: [1],
      values: base64([9]),
      columns: base64([12, 4]),
      leverage: base64([0.2, 0.03, -0.1]),
      case: base64([0, 0, 0]),
      distance: [0],
      top: [0],
    },
  };
  const posterior = new Posterior(own);
  const regression = new Regression(own, posterior);
  assert.equal(regression.fitted(posterior.means, 0), 3 + 6 - 8);
  assert.equal(regression.line(posterior.means, regression.terms[0], 12), 3 + 6 + 2);
  assert.equal(regression.partial(posterior.means, 0, regression.terms[0], 9), 9 + 2 * 5);
  close(regression.hat(0), 0.2 * 2 + 12 * 0.03 * 0.2 - 4 * 0.1 * 0.3, 1e-12);
  // Var(α + 12 β_a − β_b), term by term.
  const variance = 4 + 144 * 0.04 + 0.09 + 2 * 12 * -0.9 * 2 * 0.2 - 2 * 0.1 * 2 * 0.3;
  close(regression.lineSd(regression.terms[0], 12), Math.sqrt(variance), 1e-12);
});

test('small changes are trusted; large shifts, far priors and long steps are not', () => {
  const own = contents();
  const posterior = new Posterior(own);
  const mixture = new MixtureKind(own, posterior);
  const reasons = (edit) => {
    const change = noChange();
    edit(change);
    return doubts(posterior, mixture, change);
  };
  assert.deepEqual(
    reasons((change) => change.priors.set(0, 1.2)),
    [],
  );
  assert.match(reasons((change) => change.priors.set(1, 0.21))[0], /^rate is far/);
  assert.match(reasons((change) => change.priors.set(0, 3)).join(), /moves by .* posterior sds/);
  assert.deepEqual(
    reasons((change) => change.rows.set(1, {times: 1, values: [-1.5]})),
    [],
  );
  assert.match(reasons((change) => change.rows.set(1, {times: 1, values: [-1.6]}))[0], /^row 4 is 0.57 sds/);
  assert.deepEqual(
    reasons((change) => change.rows.set(1, {times: 0, values: [-50]})),
    [],
  );
});

const WEIGHTS_ONLY = {};
const WITH_AN_INPUT = {inputs: ['exposure'], moves: true};
const anyKind = (options) => {
  const own = countContents(options);
  return new AnyKind(own, new Posterior(own));
};

test('mixtures and regressions say what was fitted to what', () => {
  const said = (kind) => kind.lead((text) => `«${text}»`, ['9 rows']).join('');
  const mixture = contents();
  mixture.model.fixed = ['weights', 'means'];
  mixture.model.covariance = 'full';
  assert.equal(
    said(new MixtureKind(mixture, new Posterior(mixture))),
    'A mixture of 2 normals with full covariances, fitted to «x» of 9 rows. The weights and means were held fixed.',
  );
  const regression = {
    kind: 'regression',
    model: {response: 'y', slopes: ['a', 'b'], centre: [0, 0], intercept: false},
    variables: [],
  };
  assert.equal(
    said(new RegressionKind(regression, new Posterior(regression))),
    'A linear regression of «y» on «a, b», without an intercept, fitted to 9 rows.',
  );
});

test('a kind without words of its own is described by its contents', () => {
  const said = (description) => {
    const own = {...countContents(WEIGHTS_ONLY), description};
    return new AnyKind(own, new Posterior(own)).lead((text) => `«${text}»`, ['9 rows of ', 'x.csv']).join('');
  };
  assert.equal(said('Counts with a Gamma rate.'), '«Counts with a Gamma rate», fitted to 9 rows of x.csv.');
  assert.equal(said(undefined), 'A model fitted to 9 rows of x.csv.');
});

test('a kind without rules of its own has a picture of whatever data there are', () => {
  assert.equal(anyKind({data: false}).hasPicture, false);
  assert.deepEqual([anyKind(WEIGHTS_ONLY).hasPicture, anyKind(WEIGHTS_ONLY).dataTitle], [true, 'The rows']);
  assert.equal(anyKind(WITH_AN_INPUT).dataTitle, 'The data');
});

test('leverage of any kind: a group by each input, in as many pieces as there are colours', () => {
  const both = anyKind({inputs: ['count', 'exposure'], moves: true}).views();
  assert.deepEqual(
    both.map(({title, across, series}) => [title, across, series.map(({v, input}) => [v, input])]),
    [
      ['rate, by count', 'count', [0, 1, 2].map((v) => [v, 0])],
      ['rate, by exposure', 'exposure', [0, 1, 2].map((v) => [v, 1])],
    ],
  );
  const kind = anyKind({...WITH_AN_INPUT, groups: 9});
  const views = kind.views();
  assert.deepEqual(
    views.map(({title}) => title),
    ['rate[1] \u2026 rate[7]', 'rate[8] \u2026 rate[9]'],
  );
  assert.equal(views[1].series[1].place(4), kind.posterior.value(4, 0));
  const [rows] = anyKind(WEIGHTS_ONLY).views();
  assert.deepEqual([rows.title, rows.across, rows.series[0].place(4)], ['rate', 'the row', 5]);
});

test('correlations of any kind: those alone in their group are shown together', () => {
  assert.deepEqual(anyKind(WEIGHTS_ONLY).blocks(), []);
  const own = countContents(WEIGHTS_ONLY);
  own.variables.forEach((variable, v) => (variable.group = `alone ${v}`));
  assert.deepEqual(
    new AnyKind(own, new Posterior(own)).blocks().map(({variables}) => variables),
    [[0, 1, 2]],
  );
});

test('a mixture shows the correlations of each component', () => {
  const own = contents();
  assert.deepEqual(new MixtureKind(own, new Posterior(own)).blocks(), [
    {title: 'component 1', variables: [0, 2, 4]},
    {title: 'component 2', variables: [1, 3, 5]},
  ]);
});

test('rows without values to move are dropped and counted twice all the same', () => {
  const {posterior} = anyKind(WEIGHTS_ONLY);
  assert.equal(posterior.rowsMove, false);
  assert.equal(anyKind({inputs: ['exposure']}).posterior.rowsMove, false);
  const change = noChange();
  change.rows.set(4, {times: 2, values: []});
  const rows = countRows(60, 3);
  const {mean, B} = countPosterior(rows, 3)[1];
  assert.deepEqual([...posterior.shifts(change)].map(Boolean), [false, true, false]);
  close(posterior.shifts(change)[1], (rows[4].count - mean * rows[4].exposure) / B, 1e-6);
});

test('what is trusted of any kind is close to refits, and what is not says why', () => {
  for (const groups of [1, 3, 6]) {
    const {contents: own, posterior} = anyKind({...WITH_AN_INPUT, groups});
    const kind = new AnyKind(own, posterior);
    const fitted = countPosterior(countRows(60, groups), groups);
    let trusted = 0;
    for (let n = 0; n < 60; ++n) {
      for (const [times, by] of [
        [0, 0],
        [2, 0],
        [1, 0.04],
        [1, -0.04],
        [2, 0.03],
      ]) {
        const change = noChange();
        const rows = countRows(60, groups);
        rows[n].times = times;
        rows[n].exposure += by;
        change.rows.set(n, {times, values: [rows[n].exposure]});
        const shifts = posterior.shifts(change);
        if (doubts(posterior, kind, change).length > 0) continue;
        ++trusted;
        countPosterior(rows, groups).forEach(({mean}, g) =>
          close((mean - fitted[g].mean) / fitted[g].sd, shifts[g] / fitted[g].sd, 0.05),
        );
      }
    }
    assert.ok(trusted >= 150, `only ${trusted} of 300 are trusted`);
  }
  const few = anyKind({...WITH_AN_INPUT, rows: 8, groups: 1});
  const {posterior} = few;
  const dropped = posterior.rows.row.map((_, n) => few.doubt(n, {times: 0, values: [posterior.value(n, 0)]}));
  assert.ok(dropped.every((reason) => /^is 13 % of the data, more than 10 %$|^alone moves rate\[1\] by 0/.test(reason)));
  assert.equal(new Set(dropped.map((reason) => reason.slice(0, 2))).size, 2, dropped.join());
  assert.match(few.doubt(3, {times: 1, values: [posterior.value(3, 0) + 0.5]}), /^has its exposure moved by \d+ % of the range/);
  assert.equal(few.doubt(3, {times: 1, values: [posterior.value(3, 0) + 0.04]}), null);
  const change = noChange();
  change.priors.set(0, 3 * SHAPE);
  change.priors.set(1, 1.1 * RATE);
  assert.match(doubts(posterior, few, change).join(), /^rate\[1\] moves by .* counted one by one.*,shape is far from the 2/);
});

test('tables are copied with names as they are', () => {
  const columns = [
    {id: 'variable', label: 'variable', value: (v) => v.name, text: (v) => v.name},
    {id: 'mean', label: 'mean', value: (v) => v.mean, text: (v) => v.mean.toFixed(1)},
  ];
  const variables = [
    {name: 'beta[a,"b"]', mean: 0.1 + 0.2},
    {name: 'x|<b>', mean: -1},
  ];
  assert.equal(asCsv(columns, variables), 'variable,mean\n"beta[a,""b""]",0.30000000000000004\nx|<b>,-1\n');
  assert.match(asMarkdown(columns, variables), /\| x\\\|\\<b\\> \| -1\.0 \|/);
});

test('names are no commands of the programs that tables are copied to', () => {
  const columns = [
    {id: '=id', label: 'na|me_$', value: (v) => v.name, text: (v) => v.name},
    {id: 'mean', label: 'mean', value: (v) => v.mean, text: () => '\u22121.5'},
    {id: 'button', label: 'button', copied: false, text: () => 'Move it'},
  ];
  const items = [
    {name: '=HYPERLINK("http://x";"y")', mean: -1.5},
    {name: '+1', mean: 2},
    {name: '-1', mean: 3},
    {name: '@SUM(A1)', mean: 4},
    {name: '[50 \\% of {a_b} & c^2 ~ #1 $x$ <|>]', mean: 5},
  ];
  const csv = asCsv(columns, items).split('\n');
  assert.equal(csv[0], "'=id,mean");
  assert.equal(csv[1], `"'=HYPERLINK(""http://x"";""y"")",-1.5`);
  assert.deepEqual(csv.slice(2, 5), ["'+1,2", "'-1,3", "'@SUM(A1),4"]);
  assert.match(asMarkdown(columns, items), /^\| na\\\|me\\_\$ \| mean \|\n\| --- \| ---: \|\n/);
  const latex = asLatex(columns, items).split('\n');
  assert.equal(latex[0], '\\begin{tabular}{lr}');
  assert.equal(latex[2], '  na\\textbar{}me\\_\\$ & mean \\\\');
  assert.equal(
    latex[8],
    '  {[}50 \\textbackslash{}\\% of \\{a\\_b\\} \\& c\\textasciicircum{}2 \\textasciitilde{} \\#1 \\$x\\$ \\textless{}\\textbar{}\\textgreater{}] & $-$1.5 \\\\',
  );
  assert.equal(latexText('*x'), '{*}x');
});

test('file names in commands are those that a shell reads', () => {
  assert.equal(shellQuoted('data/old_faithful.csv'), 'data/old_faithful.csv');
  assert.equal(shellQuoted("it's $(rm -r ~).csv"), `'it'\\''s $(rm -r ~).csv'`);
  assert.equal(shellQuoted('-o'), './-o');
  assert.equal(shellQuoted(''), "''");
});

test('a factor: the mean of each level, and what its rows have', () => {
  const own = {
    kind: 'regression',
    model: {
      response: 'y',
      slopes: ['a', 'g=v', 'g=w'],
      centre: [10, 0.25, 0.5],
      terms: [
        {column: 'a', levels: []},
        {column: 'g', levels: ['u', 'v', 'w']},
      ],
    },
    variables: [
      ['intercept', [], 3],
      ['beta', ['a'], 0.5],
      ['beta', ['g=v'], -2],
      ['beta', ['g=w'], 4],
    ].map(([group, indices, mean], v) => ({name: `variable ${v}`, group, indices, mean, sd: [2, 0.2, 0.3, 0.4][v]})),
    correlated: [0, 1, 2, 3],
    correlations: triangle(4, (i, j) => (i === j ? 1 : i === 0 && j === 3 ? -0.5 : 0)),
    rows: {
      inputs: ['y'],
      all: true,
      row: [1, 2],
      label: ['first', ''],
      reach: [1],
      values: base64([9, 7]),
      columns: base64([12, 0, 1, 8, 0, 0]),
      leverage: base64(Array(8).fill(0)),
      case: base64(Array(8).fill(0)),
      distance: [0, 0],
      top: [0],
    },
  };
  const kind = new RegressionKind(own, new Posterior(own));
  const {posterior, regression} = kind;
  const [, factor] = regression.terms;
  assert.deepEqual([regression.place(0, factor), regression.place(1, factor)], [2, 0]);
  // 3 + 0.5 · 10 + the level's slope.
  assert.deepEqual(
    [0, 1, 2].map((level) => regression.line(posterior.means, factor, level)),
    [8, 6, 12],
  );
  // Var(α + 10 a + w) = 4 + 100 · 0.04 + 0.16 − 2 · 0.5 · 2 · 0.4.
  close(regression.lineSd(factor, 2), Math.sqrt(4 + 4 + 0.16 - 0.8), 1e-12);
  close(regression.partial(posterior.means, 0, factor, 9), 9 - 0.5 * 2, 1e-12);
  assert.deepEqual(
    kind.rowFacts(0).map(({name, text}) => [name, text]),
    [
      ['a', '12'],
      ['g', 'w'],
    ],
  );
  assert.deepEqual([posterior.rowName(0), posterior.rowName(1)], ['row 1 (first)', 'row 2']);
  assert.deepEqual(
    kind.panels().map(({variables, aboutZero}) => [variables.length, aboutZero]),
    [[4, true]],
  );
});

test('rows of a mixture are coloured by the component that most likely has them', () => {
  const own = contents();
  const {mixture} = new MixtureKind(own, new Posterior(own));
  // Equal densities of 0.4 N(−1, 0.7²) and 0.6 N(2, ·) lie between the means.
  assert.deepEqual([mixture.likeliest([-1]), mixture.likeliest([2])], [0, 1]);
});

const CHECK = {method: 'importance', draws: 4000, ess: 3000, k_hat: 0.1, message: 'tau is off'};
const verdict = (change) => verdictOf({...countContents(), paths: {fit: 'a b.json', data: 'x.csv'}, ...change});

test('the verdict names only variables of the page, and its colour is that of its words', () => {
  const variables = (...verdicts) => countContents().variables.map((variable, v) => ({...variable, verdict: verdicts[v] ?? 'ok'}));
  const ok = verdict({check: {...CHECK, verdict: 'ok'}, warnings: ['something else']});
  assert.deepEqual([ok.level, ok.headline], ['good', 'These means and error bars hold.']);
  const hidden = verdict({check: {...CHECK, verdict: 'off'}, variables: variables()});
  assert.deepEqual([hidden.level, hidden.headline], ['good', 'The means and error bars on this page hold.']);
  assert.doesNotMatch(JSON.stringify(hidden), /tau/);
  const off = verdict({check: {...CHECK, verdict: 'off'}, variables: variables('ok', 'sd off by -15%')});
  assert.deepEqual([off.level, off.headline], ['careful', 'rate[2] is off.']);
  assert.equal(off.sentences[0], 'rate[2]: sd off by -15%.');
  const few = verdict({check: {...CHECK, verdict: 'doubtful'}, variables: variables('not resolved: sd \u00b115%')});
  assert.match(few.headline, /^The draws were too few to tell of rate\[1\]/);
  const vague = verdict({check: {...CHECK, verdict: 'doubtful'}, variables: variables()});
  assert.doesNotMatch(JSON.stringify(vague), /tau/);
  assert.equal(vague.level, 'careful');
});

test('a check that was not run is offered as a command', () => {
  const files = "'a b.json' x.csv";
  assert.equal(verdict({}).command, `lrvb check ${files} --format json > check.json && lrvb report ${files} --check check.json`);
  assert.match(verdict({check: {...CHECK, verdict: 'unchecked'}}).command, /x\.csv --seconds 120 --format json/);
  assert.equal(verdict({check: {...CHECK, verdict: 'ok'}}).command, undefined);
  assert.equal(verdict({paths: {fit: '-', data: 'x.csv'}}).command, null);
});

test('text that turns the text around it is replaced', () => {
  assert.deepEqual(harmless({a: ['x\u202ey', [1, 2]], b: null, c: {d: 'z\u0000'}}), {
    a: ['x\ufffdy', [1, 2]],
    b: null,
    c: {d: 'z\ufffd'},
  });
});

test('sorting puts numbers in order and what is missing last', () => {
  const order = [3, null, -1, 10].sort(compare);
  assert.deepEqual(order, [-1, 3, 10, null]);
  assert.ok(compare('mu[2]', 'mu[10]') < 0);
});
