// How far the first order can be trusted: what the page calls small enough, against refits.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {after, before, test} from 'node:test';

import {Mixture} from '../../src/report/web/mixture.js';
import {Posterior, noChange} from '../../src/report/web/posterior.js';
import {doubts} from '../../src/report/web/trust.js';
import {Folder} from './program.mjs';

let folder;
let contents;
let posterior;
let mixture;
const FIT = ['-c', 'eruptions', '-k', '2', '--check', 'never'];

before(() => {
  folder = new Folder();
  const page = folder.report(['mixture', 'old_faithful.csv', '--prior', 'paper', ...FIT], 'old_faithful.csv');
  contents = JSON.parse(/id="contents">(.*?)<\/script>/s.exec(readFileSync(page, 'utf8'))[1]);
  posterior = new Posterior(contents);
  mixture = new Mixture(contents, posterior);
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
    trusted: doubts(posterior, mixture, change, shifts).length === 0,
    error: Math.max(...truth.map((shift, v) => Math.abs(shift - predicted[v]))),
    size: Math.max(...truth.map(Math.abs)),
  };
}

function report(what, cases) {
  const trusted = cases.filter((one) => one.trusted);
  const worst = Math.max(...trusted.map(({error}) => error));
  const largest = Math.max(...trusted.map(({size}) => size));
  console.log(`${what}: ${cases.length} changes, ${trusted.length} trusted; shifts up to ${largest.toFixed(2)} posterior sds, errors up to ${worst.toFixed(2)}`);
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
  const dropped = report('the 20 most influential rows dropped', top.map((n) => compare((change) => change.rows.set(n, {times: 0, values: [posterior.value(n, 0)]}))));
  assert.ok(dropped.trusted.length >= 15 && dropped.worst < 0.1);
  const twice = report('the same counted twice', top.map((n) => compare((change) => change.rows.set(n, {times: 2, values: [posterior.value(n, 0)]}))));
  assert.ok(twice.trusted.length >= 15 && twice.worst < 0.1);
  const steps = top.flatMap((n) => [-0.1, -0.05, 0.05, 0.1].map((step) => compare((change) => change.rows.set(n, {times: 1, values: [posterior.value(n, 0) + step]}))));
  const moved = report('the same moved by 0.05 and 0.1 either way', steps);
  assert.ok(moved.trusted.length >= 30 && moved.worst < 0.1);
});
