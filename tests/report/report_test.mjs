// The report as people meet it: opened in a browser, looked at and moved.
import assert from 'node:assert/strict';
import {readFileSync, statSync} from 'node:fs';
import {after, before, test} from 'node:test';

import {Browser} from './browser.mjs';
import {RATE, countContents, countPosterior, countRows} from './counts.mjs';
import {Folder} from './program.mjs';

let browser;
let folder;
before(async () => {
  folder = new Folder();
  browser = await Browser.open();
  await browser.size(1200, 900);
});
after(async () => {
  await browser?.close();
  folder?.remove();
});

const OLD_FAITHFUL = ['mixture', 'old_faithful.csv', '-c', 'eruptions', '-k', '2', '--prior', 'paper'];
const BOTH_COLUMNS = ['mixture', 'old_faithful.csv', '-k', '2'];
const REGRESSION = ['regression', 'mtcars.csv', '--response', 'mpg', '-c', 'wt,hp,qsec', '--check', 'never'];

/** How many marks each plot has drawn, by the figure's id: shapes with an extent or lines with a path, and none with NaN. */
const drawn = () => {
  const result = {};
  for (const figure of document.querySelectorAll('figure')) {
    const shapes = [...figure.querySelectorAll('svg .role-mark path, svg .role-mark line, svg .role-mark text')];
    result[figure.id] = shapes.filter((shape) => {
      const text = shape.outerHTML;
      if (/NaN|Infinity|undefined/.test(text)) throw new Error(`${figure.id} drew ${text}`);
      const {width, height} = shape.getBoundingClientRect();
      return width + height > 0;
    }).length;
  }
  return result;
};

const marks = (figure, name) =>
  browser.run((id, own) => document.querySelectorAll(`#${id} .${own} path, #${id} .${own} line`).length, figure, name);

const text = (selector) => browser.run((wanted) => document.querySelector(wanted)?.textContent ?? null, selector);

/** Opens a report and looks at all that every report owes: no complaint, no request, marks, titles, alternative texts, no overflow. */
async function visit(path) {
  await browser.visit(path);
  assert.deepEqual(await browser.complaints(), []);
  const requests = await browser.requests();
  assert.equal(requests.length, 1, requests.join());
  assert.match(requests[0], /^file:/);
  const counts = await browser.run(drawn);
  assert.ok(Object.keys(counts).length > 0);
  for (const [figure, count] of Object.entries(counts)) assert.ok(count > 0, `${figure} is empty`);
  const figures = await browser.run(() =>
    [...document.querySelectorAll('figure')].map((figure) => ({
      id: figure.id,
      caption: figure.querySelector('figcaption').textContent,
      alternative: figure.querySelector('[role=graphics-document]').getAttribute('aria-label'),
    })),
  );
  for (const {id, caption, alternative} of figures) {
    assert.ok(caption.length > 3, `${id} has no title`);
    assert.ok(alternative?.length > 20, `${id} has no alternative text`);
  }
  assert.equal(new Set(figures.map(({id}) => id)).size, figures.length, 'figures share an id');
  assert.doesNotMatch(await text('main'), /NaN|undefined|\[object|Infinity/);
  return counts;
}

/** The means as the page has moved them, and the shifts in posterior sds. */
const moved = () =>
  browser.run(() =>
    Object.fromEntries(
      [...document.querySelectorAll('#moved-table tbody tr')].map((row) => [
        row.dataset.variable,
        {
          mean: Number(row.querySelector('[data-column=moved]').dataset.value),
          sds: Number(row.querySelector('[data-column=shift]').dataset.value),
        },
      ]),
    ),
  );

const trust = () => browser.run(() => document.querySelector('#trust').dataset.trust);

function close(actual, expected, tolerance, what) {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual} is not ${expected}`);
}

/** Every number of the prior, moved by a little: the page says what `lrvb sensitivity` says. */
async function slidersAgree(fit, step) {
  const table = folder.table('sensitivity', fit, '-o', '-');
  const priors = [...new Set(table.map(({prior}) => prior))];
  const still = await moved();
  for (const prior of priors) {
    const own = table.filter((row) => row.prior === prior && row.variable in still);
    assert.ok(own.length > 0);
    const value = Number(own[0].value);
    const to = value + step(value);
    await browser.set(`[data-prior-value="${prior}"]`, to);
    const now = await moved();
    for (const {variable, mean_derivative: slope} of own) {
      const expected = Number(slope) * (to - value);
      close(
        now[variable].mean - still[variable].mean,
        expected,
        1e-6 * Math.abs(expected) + 1e-13 * Math.abs(still[variable].mean),
        `${variable} by ${prior}`,
      );
    }
    await browser.click('#reset');
    assert.deepEqual(await moved(), still);
  }
  return priors;
}

/** Dropping rows: the page says what `lrvb influence` says. */
async function droppingAgrees(fit, data, variables, rows) {
  const table = folder.table('influence', fit, data, '--variables', variables, '-o', '-');
  for (const row of rows) {
    await browser.set('#row-number', row);
    await browser.click('#row-panel input[value="0"]');
    const now = await moved();
    const expected = table.find((one) => Number(one.row) === row);
    for (const [name, {sds}] of Object.entries(now)) {
      if (!(name in expected)) continue;
      close(sds, Number(expected[name]), 1e-6 * Math.abs(Number(expected[name])) + 1e-9, `${name} without row ${row}`);
    }
    // Counting it twice is the same the other way.
    await browser.click('#row-panel input[value="2"]');
    const twice = await moved();
    for (const [name, {sds}] of Object.entries(twice)) close(sds, -now[name].sds, 1e-9, `${name} with row ${row} twice`);
    await browser.click('#reset');
  }
}

test('one column: everything is drawn, in words and in marks', async () => {
  const path = folder.report(OLD_FAITHFUL, 'old_faithful.csv', 'one');
  const counts = await visit(path);
  assert.deepEqual(Object.keys(counts).sort(), [
    'column-quantiles',
    'data-density',
    'estimates-1',
    'estimates-2',
    'estimates-3',
    'expected-rows',
    'heat-map',
    'leverage',
    'move-density',
    'whiskers-1',
  ]);
  assert.match(await text('#fitted'), /A mixture of 2 normals, fitted to eruptions of 272 rows of old_faithful.csv/);
  assert.match(await text('#verdict'), /converged/);
  assert.ok((await marks('data-density', 'binsMarks')) >= 10);
  assert.equal(await marks('data-density', 'partsMarks'), 2);
  assert.equal(await marks('data-density', 'bandMarks'), 1);
  assert.equal(await marks('move-density', 'rowsMarks'), 272);
  assert.equal(await marks('heat-map', 'cellsMarks'), 36);
  assert.equal(await marks('leverage', 'pointsMarks'), 2 * 272);
  assert.ok(statSync(path).size < 3e6);
});

test('the table has the numbers of the summary, sorts, and copies itself', async () => {
  const summary = JSON.parse(folder.lrvb('summary', 'one.json', '--format', 'json', '--variables', 'pi,mu,sigma')).variables;
  const shown = await browser.run(() =>
    [...document.querySelectorAll('#parameter-table tbody tr')].map((row) =>
      Object.fromEntries([...row.children].map((cell) => [cell.dataset.column, cell.dataset.value ?? cell.textContent])),
    ),
  );
  assert.deepEqual(
    shown.map(({variable}) => variable),
    summary.map(({name}) => name),
  );
  shown.forEach((row, v) => {
    const own = summary[v];
    for (const [mine, its] of [
      ['mean', 'mean'],
      ['sd', 'sd'],
      ['mean_field_sd', 'sd_mfvb'],
      ['lower', 'q5'],
      ['upper', 'q95'],
      ['exact_mean', 'mean_exact'],
      ['exact_sd', 'sd_exact'],
    ]) {
      close(Number(row[mine]), own[its], 1e-15, `${own.name} ${mine}`);
    }
  });
  const order = () =>
    browser.run(() => [...document.querySelectorAll('#parameter-table tbody tr')].map((row) => row.dataset.variable));
  await browser.click('#parameter-table thead th:nth-child(2) button');
  const byMean = [...summary].sort((a, b) => b.mean - a.mean).map(({name}) => name);
  assert.deepEqual(await order(), byMean);
  assert.equal(
    await browser.run(() => document.querySelector('#parameter-table th:nth-child(2)').getAttribute('aria-sort')),
    'descending',
  );
  await browser.click('#parameter-table thead th:nth-child(2) button');
  assert.deepEqual(await order(), byMean.reverse());

  await browser.run(() => {
    Object.defineProperty(navigator, 'clipboard', {
      configurable: true,
      value: {writeText: async (copied) => void (window.copied = copied)},
    });
  });
  await browser.click('#parameters [data-copy=CSV]');
  const csv = (await browser.run(() => window.copied)).trim().split('\n');
  assert.match(csv[0], /^variable,mean,sd,sd_robust,lower,upper,mean_field_sd,ratio,exact_mean,exact_sd,verdict$/);
  assert.equal(csv.length, 7);
  assert.equal(Number(csv[1].split(',')[1]), Math.min(...summary.map(({mean}) => mean)));
  await browser.click('#parameters [data-copy=Markdown]');
  assert.match(await browser.run(() => window.copied), /^\| variable \| mean .*\n\| --- \| ---: /);
});

test('one column: the prior and the rows move the means as the program says', async () => {
  await browser.visit(folder.file('one.html'));
  assert.equal(await trust(), 'nothing');
  const priors = await slidersAgree('one.json', (value) => (value === 0 ? 0.5 : 0.1 * value));
  assert.deepEqual([...priors].sort(), ['alpha', 'mean', 'rate', 'shape', 'variance']);
  await droppingAgrees('one.json', 'old_faithful.csv', 'pi,mu,sigma', [1, 84, 133, 272]);

  // A slider, by the keyboard: each press a step, and the field beside it says how far.
  await browser.run(() => document.querySelector('[data-prior=rate]').focus());
  await browser.press('\uE014', '\uE014', '\uE014');
  const value = await browser.run(() => Number(document.querySelector('[data-prior-value=rate]').value));
  close(value, 0.1 * 4 ** 0.03, 1e-5, 'three steps of the slider');
  assert.equal(await trust(), 'within');
  for (let i = 0; i < 60; i += 20) await browser.press(...Array(20).fill('\uE014'));
  assert.equal(await trust(), 'beyond');
  assert.equal(await browser.run(() => document.querySelector('.slider.is-beyond .beyond').checkVisibility()), true);
  await browser.click('#reset');
  assert.equal(await trust(), 'nothing');
});

test('one column: a point that is dragged moves the means by its leverage', async () => {
  await browser.visit(folder.file('one.html'));
  const still = await moved();
  const point = await browser.run(() => {
    document.querySelector('#move-density').scrollIntoView({block: 'center'});
    const shapes = [...document.querySelectorAll('#move-density .rowsMarks path')];
    // The row furthest right lies alone.
    const boxes = shapes.map((shape) => shape.getBoundingClientRect());
    const box = boxes.reduce((best, one) => (one.left > best.left ? one : best));
    return {x: box.left + box.width / 2, y: box.top + box.height / 2};
  });
  const curve = () => browser.run(() => document.querySelector('#move-density .totalMarks path').getAttribute('d'));
  const before = await curve();
  await browser.drag(point, {x: point.x - 12, y: point.y});
  const row = await browser.run(() => Number(document.querySelector('#row-number').value));
  const to = await browser.run(() => Number(document.querySelector('[data-input]').value));
  const leverage = folder
    .table('leverage', 'one.json', 'old_faithful.csv', '--variables', 'pi,mu,sigma')
    .find((one) => Number(one.row) === row);
  const step = to - Number(leverage.x);
  assert.ok(step < -0.02 && step > -0.2, `the point moved by ${step}`);
  const now = await moved();
  for (const [name, {mean}] of Object.entries(now)) {
    close(mean - still[name].mean, Number(leverage[name]) * step, 1e-6 * Math.abs(Number(leverage[name]) * step) + 1e-9, name);
  }
  assert.notEqual(await curve(), before, 'the density stood still');
  assert.match(await text('#changes'), new RegExp(`row ${row} moved`));
  await browser.click('#changes button');
  assert.deepEqual(await moved(), still);
});

test('two columns: scatter, ellipses, a choice of columns, and everything moves', async () => {
  const path = folder.report(BOTH_COLUMNS, 'old_faithful.csv', 'two');
  const counts = await visit(path);
  assert.ok('data-scatter' in counts && 'move-scatter' in counts);
  assert.equal(await marks('data-scatter', 'pointsMarks'), 272);
  assert.equal(await marks('data-scatter', 'ellipsesMarks'), 4);
  await browser.set('#data .choices label:nth-child(2) select', '-1');
  assert.equal(await marks('data-density', 'bandMarks'), 1);
  await browser.set('#data .choices label:nth-child(1) select', '1');
  assert.match(await text('#data-density .role-axis-title'), /waiting/);
  assert.deepEqual(await browser.complaints(), []);
  await slidersAgree('two.json', (value) => (value === 0 ? 0.01 : 0.05 * value));
  await droppingAgrees('two.json', 'old_faithful.csv', 'pi,mu,Sigma', [6, 244]);
});

test('a regression: the line, its band, and what rows and priors do', async () => {
  const path = folder.report(REGRESSION, 'mtcars.csv', 'cars');
  const counts = await visit(path);
  assert.ok('data-line' in counts && 'move-line' in counts);
  assert.match(await text('#fitted'), /A linear regression of mpg on wt, hp, qsec, fitted to 32 rows of mtcars.csv/);
  assert.equal(await marks('data-line', 'rowsMarks'), 32);
  await slidersAgree('cars.json', (value) => (value === 0 ? 0.1 : 0.1 * value));
  await droppingAgrees('cars.json', 'mtcars.csv', 'intercept,beta,sigma', [17, 31]);
  const slope = folder.table('leverage', 'cars.json', 'mtcars.csv', '--variables', 'beta').find(({row}) => row === '31');
  const still = await moved();
  const from = Number(slope.mpg ?? slope.x);
  await browser.set('#row-number', 31);
  await browser.set('[data-input]', from + 0.5);
  const now = await moved();
  for (const name of ['beta[wt]', 'beta[hp]', 'beta[qsec]'])
    close(now[name].mean - still[name].mean, 0.5 * Number(slope[name]), 1e-6 * Math.abs(Number(slope[name])), name);
});

test('the most influential rows are those of the program, and a button takes one to be moved', async () => {
  await browser.visit(folder.file('one.html'));
  const expected = folder
    .table('influence', 'one.json', 'old_faithful.csv', '-o', '-')
    .sort((a, b) => Number(b.distance) - Number(a.distance))
    .slice(0, 20)
    .map(({row}) => row);
  assert.deepEqual(
    await browser.run(() => [...document.querySelectorAll('#influence-table tbody tr')].map((row) => row.dataset.row)),
    expected,
  );
  await browser.click('#influence-table tbody tr:nth-child(2) button');
  assert.equal(await browser.run(() => document.querySelector('#row-number').value), expected[1]);
  assert.equal(await browser.run(() => document.activeElement.id), 'row-number');
});

test('names are text, never markup', async () => {
  const names = ['<script>alert(1)</script>', '"};alert(1)//', '<img src=x onerror=alert(1)>', '</script><!--'];
  const quoted = names.map((name) => `"${name.replaceAll('"', '""')}"`);
  const lines = Array.from({length: 60}, (_, i) =>
    names.map((_, p) => ((i % 2) * 4 + Math.sin(1.7 * i + p * i)).toFixed(4)).join(','),
  );
  folder.write('hostile <b>.csv', `${quoted.join(',')}\n${lines.join('\n')}\n`);
  folder.lrvb('fit', 'mixture', 'hostile <b>.csv', '-k', '2', '--quiet', '-o', 'hostile.json');
  folder.lrvb('report', 'hostile.json', 'hostile <b>.csv', '--title', '<script>alert(2)</script> & "more"', '-o', 'hostile.html');
  await visit(folder.file('hostile.html'));
  assert.equal(await text('h1'), '<script>alert(2)</script> & "more"');
  assert.equal(await browser.run(() => document.title), '<script>alert(2)</script> & "more"');
  assert.ok((await text('#fitted')).includes(names[0]));
  const options = await browser.run(() => [...document.querySelector('#data select').options].map((option) => option.textContent));
  assert.deepEqual(options, names);
  assert.deepEqual(
    await browser.run(() => ({
      scripts: document.scripts.length,
      images: document.images.length,
      bold: document.querySelectorAll('b').length,
    })),
    {scripts: 2, images: 0, bold: 0},
  );

  // The same names in a regression, as response, column and level of a factor.
  folder.write(
    'levels.csv',
    `${quoted[0]},${quoted[1]},${quoted[2]}\n${lines.map((line, i) => `${line.split(',')[0]},${line.split(',')[1]},${['a', quoted[3], quoted[0]][i % 3]}`).join('\n')}\n`,
  );
  folder.lrvb('fit', 'regression', 'levels.csv', '--response', names[0], '--quiet', '-o', 'levels.json');
  folder.lrvb('report', 'levels.json', 'levels.csv', '-o', 'levels.html');
  await visit(folder.file('levels.html'));
  assert.ok((await text('#fitted')).includes(`regression of ${names[0]}`));
  assert.deepEqual(await browser.run(() => ({scripts: document.scripts.length, images: document.images.length})), {
    scripts: 2,
    images: 0,
  });
});

test('one component, twenty, one row for each, ten columns', async () => {
  await visit(folder.report(['mixture', 'old_faithful.csv', '-c', 'waiting', '-k', '1'], 'old_faithful.csv', 'single'));
  assert.match(await text('#fitted'), /^A single normal/);

  folder.simulate('twenty.csv', {rows: 3000, components: 20, columns: 1});
  await visit(folder.report(['mixture', 'twenty.csv', '-k', '20', '--check', 'never'], 'twenty.csv', 'twenty'));
  assert.equal(await browser.run(() => document.querySelectorAll('#moved-table tbody tr').length), 60);

  folder.write('few.csv', `x\n${[0, 10, 20, 30, 41].join('\n')}\n`);
  await visit(folder.report(['mixture', 'few.csv', '-k', '5'], 'few.csv', 'few'));

  folder.simulate('wide.csv', {rows: 4000, components: 3, columns: 10});
  const path = folder.report(['mixture', 'wide.csv', '-k', '3', '--check', 'never'], 'wide.csv', 'wide');
  await visit(path);
  assert.ok(statSync(path).size < 3e6);
  assert.ok((await marks('data-scatter', 'cellsMarks')) > 50, 'rows beyond what fits are binned');
  await browser.set('#data .choices label:nth-child(1) select', '7');
  await browser.set('#data .choices label:nth-child(2) select', '3');
  assert.ok((await marks('data-scatter', 'cellsMarks')) > 50);
  for (const id of ['#parameters', '#correlations', '#influence']) {
    const count = await browser.run((wanted) => document.querySelectorAll(`${wanted} select`).length, id);
    for (let i = 0; i < count; ++i) {
      await browser.run(
        (wanted, at) => {
          const select = document.querySelectorAll(`${wanted} select`)[at];
          select.selectedIndex = select.options.length - 1;
          select.dispatchEvent(new Event('change'));
        },
        id,
        i,
      );
      await browser.settle();
    }
  }
  await browser.run(drawn);
  assert.deepEqual(await browser.complaints(), []);
});

test('without the data, without a response, without a check', async () => {
  await visit(folder.report(BOTH_COLUMNS, null, 'dataless'));
  assert.match(await text('#influence'), /without the data/);
  assert.equal(await browser.run(() => document.querySelector('#row-panel')), null);
  await slidersAgree('dataless.json', (value) => (value === 0 ? 0.01 : 0.05 * value));

  await visit(folder.report(REGRESSION, null, 'carless'));

  try {
    folder.lrvb('fit', 'mixture', 'mixture3.csv', '-k', '3', '--max-iterations', '1', '--quiet', '-o', 'stopped.json');
    assert.fail('it must not converge');
  } catch (error) {
    assert.equal(error.status, 3, error.message);
  }
  folder.lrvb('report', 'stopped.json', 'mixture3.csv', '-o', 'stopped.html');
  await visit(folder.file('stopped.html'));
  assert.match(await text('#verdict'), /did not converge: do not use these numbers/);
  assert.match(await text('#move'), /no linear response/);

  await visit(folder.report([...OLD_FAITHFUL, '--check', 'never'], 'old_faithful.csv', 'unchecked'));
  assert.match(await text('#verdict'), /not compared with the exact posterior/);
});

test('an optimum that shares the posterior is said at the top, and has its means beside those of this one', async () => {
  folder.write('mirrored.csv', readFileSync(new URL('../data/mirrored.csv', import.meta.url), 'utf8'));
  await visit(folder.report(['mixture', 'mirrored.csv', '-k', '2'], 'mirrored.csv', 'mirrored'));
  assert.match(await text('#verdict .headline'), /Another optimum holds about 50\s% of the posterior/);
  assert.match(await text('#warnings'), /another optimum holds about 50% of the posterior: mu\[1\]/i);
  assert.equal(await browser.run(() => document.querySelectorAll('#parameter-table .is-ok').length), 0);
  const cells = await browser.run(() =>
    [...document.querySelectorAll('#optima-table [data-variable="mu[1]"] td')].map((cell) => cell.textContent),
  );
  // Mirror images: one has the narrow group, the other the wide one on the left.
  assert.deepEqual(cells.sort(), ['\u221220.01', '\u22129.83']);
  await visit(folder.report([...OLD_FAITHFUL, '--check', 'never'], 'old_faithful.csv', 'alone'));
  assert.equal(await text('#optima'), null);
});

test('a check beside the fit, weights, rows left out', async () => {
  folder.lrvb('fit', ...OLD_FAITHFUL, '--check', 'never', '--quiet', '-o', 'plain.json');
  folder.write('check.json', folder.lrvb('check', 'plain.json', 'old_faithful.csv', '--format', 'json'));
  folder.lrvb('report', 'plain.json', 'old_faithful.csv', '--check', 'check.json', '-o', 'checked.html');
  await visit(folder.file('checked.html'));
  assert.match(await text('#verdict'), /draws of the exact posterior by importance sampling/);
  assert.ok((await browser.run(() => document.querySelectorAll('#parameter-table [data-column=verdict]').length)) > 0);

  const lines = Array.from({length: 80}, (_, i) => (i === 4 ? 'NA,1' : `${((i % 2) * 5 + Math.sin(i)).toFixed(3)},${1 + (i % 3)}`));
  folder.write('weighted.csv', `x,w\n${lines.join('\n')}\n`);
  await visit(
    folder.report(
      ['mixture', 'weighted.csv', '-c', 'x', '--weights', 'w', '-k', '2', '--drop-missing'],
      'weighted.csv',
      'weighted',
    ),
  );
  assert.match(await text('#fitted'), /79 rows of weighted.csv, 1 row with missing values left out, weighted by w/);
  await droppingAgrees('weighted.json', 'weighted.csv', 'pi,mu,sigma', [4, 6, 80]);
  await browser.set('#row-number', 5);
  assert.match(await text('#row-panel .said'), /There is no row 5/);
});

test('large offsets and extreme units: fields, tables and shifts keep their digits', async () => {
  for (const [name, offset, scale] of [
    ['epoch', 1.6e9, 1],
    ['tiny', 0, 1e-24],
    ['huge', 0, 1e20],
  ]) {
    const lines = Array.from({length: 60}, (_, i) => String(offset + scale * ((i % 2) * 6 + Math.sin(1.7 * i))));
    folder.write(`${name}.csv`, `t\n${lines.join('\n')}\n`);
    await visit(folder.report(['mixture', `${name}.csv`, '-k', '2', '--check', 'never'], `${name}.csv`, name));
    await droppingAgrees(`${name}.json`, `${name}.csv`, 'pi,mu,sigma', [3, 60]);
    const mean = folder
      .table('sensitivity', `${name}.json`, '-o', '-')
      .find(({prior, variable}) => prior === 'mean' && variable === 'mu[1]');
    const still = await moved();
    await browser.set('[data-prior="mean"]', 0.3);
    assert.equal(await trust(), 'within', name);
    const to = await browser.run(() => Number(document.querySelector('[data-prior-value="mean"]').value));
    const step = to - Number(mean.value);
    assert.ok(step > 0, `${name}: the slider does nothing`);
    const sd = Number(JSON.parse(folder.lrvb('summary', `${name}.json`, '--format', 'json', '--variables', 'mu')).variables[0].sd);
    close((await moved())['mu[1]'].sds - still['mu[1]'].sds, (Number(mean.mean_derivative) * step) / sd, 1e-6, name);
  }
  await browser.visit(folder.file('epoch.html'));
  const shown = await browser.run(() =>
    ['mean', 'sd', 'lower', 'upper'].map(
      (column) => document.querySelector(`#parameter-table tr[data-variable="mu[1]"] [data-column=${column}]`).textContent,
    ),
  );
  assert.equal(new Set(shown).size, 4, shown.join());
  // An empty field is the row as it was.
  await browser.set('#row-number', 3);
  await browser.set('[data-input]', '');
  assert.equal(await trust(), 'nothing');
});

test('everything held, corrected by draws, names that turn the text', async () => {
  await visit(
    folder.report(
      ['mixture', 'old_faithful.csv', '-c', 'eruptions', '-k', '2', '--fix', 'weights,means,precisions', '--at', 'one.json'],
      'old_faithful.csv',
      'held',
    ),
  );
  assert.match(await text('#move'), /held fixed: nothing moves/);
  assert.match(await text('#influence'), /held fixed/);

  folder.lrvb('check', 'one.json', 'old_faithful.csv', '--correct', '-o', 'corrected.json');
  folder.lrvb('report', 'corrected.json', 'old_faithful.csv', '-o', 'corrected.html');
  await visit(folder.file('corrected.html'));
  assert.match(await text('#verdict'), /those of draws from the exact posterior/);
  assert.doesNotMatch(await text('#parameters'), /linear response/);

  folder.write('turned.csv', `\u202Eevil\n${Array.from({length: 40}, (_, i) => (i % 2) * 5 + Math.sin(i)).join('\n')}\n`);
  await visit(folder.report(['mixture', 'turned.csv', '-k', '2'], 'turned.csv', 'turned'));
  assert.match(await text('#fitted'), /fitted to \\u202eevil of 40 rows/);

  // Numbers that a prior cannot have are refused in words.
  await browser.visit(folder.file('one.html'));
  await browser.set('[data-prior-value="variance"]', -5);
  assert.match(await text('#prior-panel'), /must be above 0/);
  assert.equal(await trust(), 'nothing');
});

/** A page that the program wrote, with other contents in it. */
function rewritten(from, name, contentsOf) {
  const [, before, contents, after] = /^(.*id="contents">)(.*?)(<\/script>.*)$/s.exec(readFileSync(folder.file(from), 'utf8'));
  folder.write(name, before + JSON.stringify(contentsOf(JSON.parse(contents))).replaceAll('<', '\\u003c') + after);
  return folder.file(name);
}

const counts = (name, options) => rewritten('one.html', name, () => countContents(options));

/** Every option of every choice in the page, one after the other: plots stay plots. */
async function chooseAll() {
  const selects = '#report select';
  for (let s = 0; s < (await browser.run((wanted) => document.querySelectorAll(wanted).length, selects)); ++s) {
    const options = await browser.run((wanted, at) => document.querySelectorAll(wanted)[at].options.length, selects, s);
    for (let o = 0; o < options; ++o) {
      await browser.run(
        (wanted, at, option) => {
          const select = document.querySelectorAll(wanted)[at];
          select.selectedIndex = option;
          select.dispatchEvent(new Event('change'));
        },
        selects,
        s,
        o,
      );
      await browser.settle();
      for (const [figure, count] of Object.entries(await browser.run(drawn))) assert.ok(count > 0, `${figure} is empty`);
    }
  }
  assert.deepEqual(await browser.complaints(), []);
}

test('a kind that the page does not know, whose rows can only be dropped', async () => {
  const drawings = await visit(counts('weights.html', {}));
  assert.deepEqual(Object.keys(drawings).sort(), [
    'data-rows',
    'dropping',
    'estimates-1',
    'heat-map',
    'move-rows',
    'whiskers-1',
  ]);
  assert.equal(
    await text('#fitted'),
    'Counts with exposures, with a Gamma rate for each group, fitted to 60 rows of counts.csv.',
  );
  assert.equal(await marks('move-rows', 'rowsMarks'), 60);
  assert.equal(await marks('dropping', 'pointsMarks'), 3 * 60);
  assert.equal(await browser.run(() => document.querySelectorAll('[data-input]').length), 0);
  assert.match(await text('#row-panel'), /Click a point, or choose its number/);
  assert.match(await text('#move'), /a refit is the proof/);

  // The first order of the closed form: −(y − mean e)/B without the row, and −A/B² for each unit of the rate.
  const rows = countRows(60, 3);
  const {A, B, mean, sd} = countPosterior(rows, 3)[1];
  await browser.set('#row-number', 5);
  await browser.click('#row-panel input[value="0"]');
  const dropped = await moved();
  close(dropped['rate[2]'].mean, mean - (rows[4].count - mean * rows[4].exposure) / B, 1e-6, 'without row 5');
  close(dropped['rate[1]'].sds, 0, 1e-15, 'another group');
  assert.equal(await trust(), 'within');
  assert.match(await text('#changes'), /row 5 dropped/);
  await browser.click('#row-panel input[value="2"]');
  close((await moved())['rate[2]'].sds, -dropped['rate[2]'].sds, 1e-9, 'row 5 twice');
  await browser.click('#reset');
  await browser.set('[data-prior="rate"]', 0.25);
  const to = await browser.run(() => Number(document.querySelector('[data-prior-value="rate"]').value));
  assert.ok(to > RATE);
  close((await moved())['rate[2]'].sds, (-A / (B * B) / sd) * (to - RATE), 1e-9, 'another rate');
  await browser.click('#reset');

  // A click on a point chooses it; dragging it does not change it.
  const point = await browser.run(() => {
    document.querySelector('#move-rows').scrollIntoView({block: 'center'});
    const box = document.querySelector('#move-rows .rowsMarks path').getBoundingClientRect();
    return {x: box.left + box.width / 2, y: box.top + box.height / 2};
  });
  await browser.drag(point, {x: point.x + 30, y: point.y + 30});
  assert.equal(await browser.run(() => document.querySelector('#row-panel .row-controls').hidden), false);
  assert.equal(await trust(), 'nothing');
  await chooseAll();
});

test('a kind that the page does not know, whose rows have values that move', async () => {
  const drawings = await visit(counts('moving.html', {inputs: ['exposure'], moves: true}));
  assert.deepEqual(Object.keys(drawings).sort(), [
    'data-rows',
    'estimates-1',
    'heat-map',
    'leverage',
    'move-rows',
    'whiskers-1',
  ]);
  assert.match(await text('#influence'), /moves when a row’s exposure moves by one unit/);
  const row = countRows(60, 3)[4];
  const {A, B, mean} = countPosterior(countRows(60, 3), 3)[1];
  await browser.set('#row-number', 5);
  await browser.set('[data-input]', row.exposure + 0.04);
  close((await moved())['rate[2]'].mean, mean - (A / (B * B)) * 0.04, 1e-8, 'another exposure');
  assert.equal(await trust(), 'within');
  await browser.set('[data-input]', row.exposure + 0.4);
  assert.equal(await trust(), 'beyond');
  assert.match(await text('#trust'), /row 5 has its exposure moved by 25 % of the range of all rows/);
  await browser.click('#reset');

  // The point furthest up, dragged down.
  const point = await browser.run(() => {
    document.querySelector('#move-rows').scrollIntoView({block: 'center'});
    const boxes = [...document.querySelectorAll('#move-rows .rowsMarks path')].map((shape) => shape.getBoundingClientRect());
    const box = boxes.reduce((best, one) => (one.top < best.top ? one : best));
    return {x: box.left + box.width / 2, y: box.top + box.height / 2};
  });
  await browser.drag(point, {x: point.x, y: point.y + 40});
  assert.match(await text('#changes'), /row \d+ moved/);
  assert.ok(Object.values(await moved()).some(({sds}) => sds > 0));
  await chooseAll();
});

test('kinds that the page does not know: histograms, many variables, no data, no response', async () => {
  const both = {inputs: ['count', 'exposure'], moves: true, histograms: ['exposure', 'count']};
  const drawings = await visit(counts('histograms.html', both));
  assert.ok('data-histogram' in drawings && 'move-histogram' in drawings);
  assert.equal(await marks('data-histogram', 'binsMarks'), 8);
  assert.equal(await marks('move-histogram', 'rowsMarks'), 60);
  await chooseAll();

  // A histogram of what no row has, and values that are only to be read.
  await visit(counts('read.html', {inputs: ['count'], histograms: ['exposure']}));
  await browser.set('#row-number', 5);
  assert.match(await text('#row-panel .row-controls'), new RegExp(`twicecount ${countRows(60, 3)[4].count}P`));
  await chooseAll();

  await visit(counts('many.html', {...both, rows: 300, groups: 100}));
  assert.equal(await browser.run(() => document.querySelectorAll('#parameter-table tbody tr').length), 100);
  await chooseAll();

  await visit(counts('empty.html', {data: false}));
  assert.match(await text('#data'), /without the data/);
  assert.equal(await browser.run(() => document.querySelector('#row-panel')), null);
  await browser.set('[data-prior="shape"]', 0.2);
  assert.equal(await trust(), 'within');

  const stopped = {...countContents({data: false}), response: false, priors: []};
  for (const variable of stopped.variables) variable.sd = variable.lower = variable.upper = null;
  for (const name of ['correlations', 'sensitivities', 'correlated']) delete stopped[name];
  await visit(rewritten('one.html', 'unresponsive.html', () => stopped));
  assert.match(await text('#move'), /no linear response/);
});

test('mixtures and regressions, as if the page did not know them', async () => {
  for (const name of ['one', 'cars', 'dataless', 'stopped', 'held', 'wide', 'two']) {
    await visit(rewritten(`${name}.html`, 'unknown.html', (contents) => ({...contents, kind: 'unknown', model: {}})));
    assert.match(await text('#fitted'), /^A (mixture of \d+ normals|linear regression, mpg ~ [^,]*), fitted to/);
    if (name !== 'wide') continue;
    // Of more rows than are here, all are counted.
    await browser.set('#data .choices label:nth-child(1) select', 2);
    await browser.set('#data .choices span select', 5);
    assert.ok((await marks('data-rows', 'cellsMarks')) > 50);
    assert.equal(await marks('data-rows', 'rowsMarks'), 0);
  }
  await chooseAll();
});

test('narrow, dark, printed, by the keyboard', async () => {
  const pages = ['one', 'two', 'cars', 'wide', 'hostile', 'weights', 'histograms'];
  await browser.size(360, 740);
  for (const name of pages) {
    await browser.visit(folder.file(`${name}.html`));
    assert.deepEqual(await browser.complaints(), []);
    const {inner, whole} = await browser.run(() => ({inner: window.innerWidth, whole: document.documentElement.scrollWidth}));
    assert.ok(whole <= inner, `${name} is ${whole} wide on a phone of ${inner}`);
  }
  await browser.size(1200, 900);
  const colour = () => browser.run(() => getComputedStyle(document.body).backgroundColor);
  await browser.visit(folder.file('one.html'));
  const light = await colour();
  await browser.scheme('dark');
  const dark = await colour();
  assert.notEqual(light, dark);
  // Axis labels follow: what was drawn by day can be read by night.
  const label = await browser.run(() => getComputedStyle(document.querySelector('#data-density .role-axis-label text')).fill);
  assert.equal(
    label,
    await browser.run(() => {
      const probe = document.createElement('i');
      probe.style.color = 'var(--muted)';
      document.body.append(probe);
      return getComputedStyle(probe).color;
    }),
  );
  await browser.devtools('Emulation.setEmulatedMedia', {media: 'print', features: [{name: 'prefers-color-scheme', value: 'dark'}]});
  assert.equal(await colour(), light, 'paper is white');
  assert.equal(await browser.run(() => document.querySelector('nav').checkVisibility()), false);
  assert.equal(await browser.run(() => document.querySelector('#move').checkVisibility()), false, 'nothing was moved');
  await browser.devtools('Emulation.setEmulatedMedia', {media: '', features: []});

  // The Tab key alone reaches every control that can be seen, in the order of the page.
  await browser.visit(folder.file('one.html'));
  const wanted = await browser.run(() => {
    const controls = [...document.querySelectorAll('button, select, input, a[href], summary')].filter(
      (one) => one.checkVisibility() && !one.disabled,
    );
    controls.forEach((one, i) => (one.dataset.stop = i));
    document.activeElement.blur();
    return controls.length;
  });
  assert.ok(wanted > 40);
  const reached = [];
  for (let i = 0; i < wanted + 12 && reached.length < wanted; ++i) {
    await browser.key('\uE004');
    const stop = await browser.run(() => document.activeElement?.dataset?.stop ?? null);
    if (stop !== null) reached.push(Number(stop));
  }
  assert.deepEqual(
    reached,
    Array.from({length: wanted}, (_, i) => i),
  );
  const unnamed = await browser.run(
    () =>
      [...document.querySelectorAll('button, select, input')].filter(
        (one) => !(one.getAttribute('aria-label') || one.labels?.[0]?.textContent.trim() || one.textContent.trim()),
      ).length,
  );
  assert.equal(unnamed, 0, 'controls without a name');
});
