// How far the first order can be trusted: what the page calls small enough, against refits.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {after, before, test} from 'node:test';

import {MixtureKind} from '../../src/kind/mixture/web/kind.js';
import {RegressionKind} from '../../src/kind/regression/web/kind.js';
import {AnyKind} from '../../src/report/web/any_kind.js';
import {Posterior, noChange} from '../../src/report/web/posterior.js';
import {doubts} from '../../src/report/web/trust.js';
import {Folder} from './program.mjs';

const contentsOf = (page) => JSON.parse(/id="contents">(.*?)<\/script>/s.exec(readFileSync(page, 'utf8'))[1]);

let folder;
let contents;
let posterior;
let mixture;
const FIT = ['-c', 'eruptions', '-k', '2', '--check', 'never'];

before(() => {
  folder = new Folder();
  contents = contentsOf(folder.report(['mixture', 'old_faithful.csv', '--prior', 'paper', ...FIT], 'old_faithful.csv'));
  posterior = new Posterior(contents);
  mixture = new MixtureKind(contents, posterior);
});
after(() => folder?.remove());

/** The shifts of a refit in posterior sds, from a table of data and options of the prior. */
function refit(data, options) {
  folder.lrvb('fit', 'mixture', data, ...options, ...FIT, '--quiet', '-o', 'refit.json');
  const {variables} = JSON.parse(folder.lrvb('summary', 'refit.json', '--format', 'json', '--variables', 'pi,mu,sigma'));
  return variables.map(({name, mean}, v) => {
    assert.equal(name, posterior.variables[v].name);
    return (mean - posterior.means[v]) / posterior.sd(v);
  });
}

const options = (change) => {
  const values = Object.fromEntries(posterior.priors.map(({name, value}, h) => [name, change.priors.get(h) ?? value]));
  return Object.entries(values).flatMap(([name, value]) => [`--prior-${name}`, String(value)]);
};

/** The data after a change. */
function changed(change) {
  const lines = ['eruptions'];
  posterior.rows.row.forEach((_, n) => {
    const row = change.rows.get(n) ?? {times: 1, values: [posterior.value(n, 0)]};
    for (let i = 0; i < row.times; ++i) lines.push(String(row.values[0]));
  });
  folder.write('changed.csv', `${lines.join('\n')}\n`);
  return 'changed.csv';
}

/** The largest error of the first order over all means, in posterior sds, and whether the page would trust it. */
function compare(edit) {
  const change = noChange();
  edit(change);
  const shifts = posterior.shifts(change);
  const predicted = shifts.map((shift, v) => shift / posterior.sd(v));
  const truth = refit(changed(change), options(change));
  return {
    trusted: doubts(posterior, mixture, change).length === 0,
    byAny: doubts(posterior, new AnyKind(contents, posterior), change).length === 0,
    error: Math.max(...truth.map((shift, v) => Math.abs(shift - predicted[v]))),
    size: Math.max(...truth.map(Math.abs)),
  };
}

function report(what, cases, isTrusted = (one) => one.trusted) {
  const trusted = cases.filter(isTrusted);
  const worst = Math.max(...trusted.map(({error}) => error));
  const largest = Math.max(...trusted.map(({size}) => size));
  console.log(
    `${what}: ${cases.length} changes, ${trusted.length} trusted; shifts up to ${largest.toFixed(2)} posterior sds, errors up to ${worst.toFixed(2)}`,
  );
  return {trusted, worst};
}

test('priors within the trusted range', () => {
  const cases = posterior.priors.flatMap((prior, h) =>
    [prior.trusted_low, prior.trusted_high].map((value) => compare((change) => change.priors.set(h, value))),
  );
  const {trusted, worst} = report('a prior at the ends of its trusted range', cases);
  assert.ok(trusted.length >= 8);
  assert.ok(worst < 0.1, `an error of ${worst} posterior sds`);
});

test('rows dropped, counted twice, moved', () => {
  const top = contents.rows.top;
  const dropped = report(
    'the 20 most influential rows dropped',
    top.map((n) => compare((change) => change.rows.set(n, {times: 0, values: [posterior.value(n, 0)]}))),
  );
  assert.ok(dropped.trusted.length >= 15 && dropped.worst < 0.1);
  const twice = report(
    'the same counted twice',
    top.map((n) => compare((change) => change.rows.set(n, {times: 2, values: [posterior.value(n, 0)]}))),
  );
  assert.ok(twice.trusted.length >= 15 && twice.worst < 0.1);
  const steps = top.flatMap((n) =>
    [-0.1, -0.05, 0.05, 0.1].map((step) =>
      compare((change) => change.rows.set(n, {times: 1, values: [posterior.value(n, 0) + step]})),
    ),
  );
  const moved = report('the same moved by 0.05 and 0.1 either way', steps);
  assert.ok(moved.trusted.length >= 30 && moved.worst < 0.1);
});

test('several rows at once, whichever way they pull', () => {
  const top = contents.rows.top;
  const times = [
    [0, 2, 2, 2],
    [0, 0, 2, 2],
    [2, 2, 0, 0],
    [0, 2, 0, 2],
  ];
  const cases = times.flatMap((pattern) =>
    [0, 4, 8, 12, 16].map((first) =>
      compare((change) =>
        pattern.forEach((own, i) => change.rows.set(top[first + i], {times: own, values: [posterior.value(top[first + i], 0)]})),
      ),
    ),
  );
  assert.equal(cases[0].trusted, false, 'shifts that cancel are not small');
  // Rows of no importance, four at a time.
  const plain = Array.from({length: 20}, (_, i) => 4 + 13 * i).filter((n) => !top.includes(n));
  const small = [0, 4, 8, 12].flatMap((first) =>
    times.map((pattern) =>
      compare((change) =>
        pattern.forEach((own, i) =>
          change.rows.set(plain[first + i], {times: own, values: [posterior.value(plain[first + i], 0)]}),
        ),
      ),
    ),
  );
  const together = report('four rows at once, dropped or counted twice', [...cases, ...small]);
  assert.ok(together.trusted.length >= 10 && together.worst < 0.1);
  const both = report(
    'the 20 most influential rows counted twice and moved by 0.05',
    top.map((n) => compare((change) => change.rows.set(n, {times: 2, values: [posterior.value(n, 0) - 0.05]}))),
  );
  assert.ok(both.trusted.length >= 5 && both.worst < 0.1);
});

/** Dropping each row of a regression: the page's first order against the program's refits. */
function regressionCases(name, data, ...columns) {
  const own = contentsOf(folder.report(['regression', data, ...columns, '--check', 'never'], data, name));
  const line = new Posterior(own);
  const regression = new RegressionKind(own, line);
  const refits = folder
    .lrvb('influence', `${name}.json`, data, '--variables', 'intercept,beta,sigma', '--top', String(own.data.rows), '--refit')
    .split('\n')
    .map((row) => row.trim().split(/ +/))
    .filter(([, what]) => what === 'refitted');
  assert.equal(refits.length, own.data.rows);
  return refits.map((fields) => {
    const n = own.rows.row.indexOf(Number(fields[0]));
    const change = noChange();
    change.rows.set(n, {times: 0, values: [line.value(n, 0)]});
    const truth = fields.slice(4).map(Number); // after the row, the word, its response and the distance
    return {
      row: Number(fields[0]),
      trusted: doubts(line, regression, change).length === 0,
      byAny: doubts(line, new AnyKind(own, line), change).length === 0,
      error: Math.max(...truth.map((shift, v) => Math.abs(shift - line.dropped(n, v)))),
      size: Math.max(...truth.map(Math.abs)),
    };
  });
}

test('rows of a regression, with and without leverage', () => {
  const cars = regressionCases('cars', 'mtcars.csv', '--response', 'mpg', '-c', 'wt,hp,qsec');
  const {trusted, worst} = report('each row of mtcars dropped', cars);
  assert.ok(trusted.length >= 20 && worst < 0.15, `an error of ${worst} posterior sds`);
  for (const row of [9, 31]) assert.equal(cars.find((one) => one.row === row).trusted, false, `row ${row}`);

  // A row far out that the line goes through: its first order is nothing, its absence everything.
  const rows = Array.from({length: 30}, (_, i) => [Math.sin(2.1 * i), 2 * Math.sin(2.1 * i) + Math.cos(1.3 * i)]);
  folder.write('far.csv', `x,y\n${[...rows, [25, 56]].map((row) => row.join(',')).join('\n')}\n`);
  const far = regressionCases('far', 'far.csv', '--response', 'y').find(({row}) => row === 31);
  assert.ok(far.error > 1, 'the case is not the one it should be');
  assert.equal(far.trusted, false);
});

test('rows of models as if the page did not know their kind', () => {
  const unknown = (what, cases) => report(`${what}, kind unknown`, cases, (one) => one.byAny);
  const cars = unknown('each row of mtcars dropped', regressionCases('any', 'mtcars.csv', '--response', 'mpg', '-c', 'wt,hp,qsec'));
  assert.ok(cars.trusted.length >= 15 && cars.worst < 0.1, `an error of ${cars.worst} posterior sds`);
  const top = contents.rows.top;
  const dropped = unknown(
    'the 20 most influential rows dropped',
    top.map((n) => compare((change) => change.rows.set(n, {times: 0, values: [posterior.value(n, 0)]}))),
  );
  assert.ok(dropped.trusted.length >= 5 && dropped.worst < 0.1, `an error of ${dropped.worst} posterior sds`);
  const steps = [-0.2, -0.1, -0.05, 0.05, 0.1, 0.2];
  const moved = unknown(
    'the same moved by up to 0.2 either way',
    top.flatMap((n) =>
      steps.map((step) => compare((change) => change.rows.set(n, {times: 1, values: [posterior.value(n, 0) + step]}))),
    ),
  );
  assert.ok(moved.trusted.length >= 30 && moved.worst < 0.1, `an error of ${moved.worst} posterior sds`);

  // The row far out that the line goes through.
  const far = regressionCases('far', 'far.csv', '--response', 'y').find(({row}) => row === 31);
  assert.equal(far.byAny, false);
});
