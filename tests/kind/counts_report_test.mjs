// The report of a kind of model that the page has never heard of, counts_kind.cpp, opened in a browser: what it shows and
// what it moves is what the program with that kind says.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import {Browser} from '../report/browser.mjs';
import {Folder} from '../report/program.mjs';

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

const PUMPS = ['counts', 'pump.csv', '--count', 'failures', '--exposure', 'thousand_hours'];
const VISITS = ['counts', 'visits.csv', '--count', 'visits', '--exposure', 'hours', '--group', 'place'];
const PLACES = ['north', 'south', '<b>west</b>', '"east"'];

const text = (selector) => browser.run((wanted) => document.querySelector(wanted)?.textContent ?? null, selector);

/** How many marks each figure has drawn, none of them nowhere. */
const drawn = () =>
  Object.fromEntries(
    [...document.querySelectorAll('figure')].map((figure) => {
      const shapes = [...figure.querySelectorAll('svg .role-mark path, svg .role-mark line, svg .role-mark text')];
      for (const shape of shapes) {
        if (/NaN|Infinity|undefined/.test(shape.outerHTML)) throw new Error(`${figure.id} drew ${shape.outerHTML}`);
      }
      const seen = shapes.map((shape) => shape.getBoundingClientRect()).filter(({width, height}) => width + height > 0);
      return [figure.id, seen.length];
    }),
  );

/** Opens a report: nothing may be complained about, nothing asked for, and no figure be empty. */
async function visit(path) {
  await browser.visit(path);
  assert.deepEqual(await browser.complaints(), []);
  assert.equal((await browser.requests()).length, 1);
  const counts = await browser.run(drawn);
  for (const [figure, count] of Object.entries(counts)) assert.ok(count > 0, `${figure} is empty`);
  assert.doesNotMatch(await text('main'), /NaN|undefined|\[object|Infinity|could not be drawn/);
  return Object.keys(counts).sort();
}

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

function close(actual, expected, what) {
  assert.ok(Math.abs(actual - expected) <= 1e-6 * Math.abs(expected) + 1e-12, `${what}: ${actual} is not ${expected}`);
}

async function slidersAgree(fit) {
  const table = folder.table('sensitivity', fit, '--variables', 'rate', '-o', '-');
  const still = await moved();
  for (const prior of ['shape', 'rate']) {
    const own = table.filter((row) => row.prior === prior);
    assert.equal(own.length, Object.keys(still).length);
    const value = Number(own[0].value);
    await browser.set(`[data-prior-value="${prior}"]`, 1.1 * value);
    const now = await moved();
    for (const {variable, mean_derivative: slope} of own) {
      close(now[variable].mean - still[variable].mean, Number(slope) * (1.1 * value - value), `${variable} by ${prior}`);
    }
    await browser.click('#reset');
    assert.deepEqual(await moved(), still);
  }
}

async function droppingAgrees(fit, data, rows) {
  const table = folder.table('influence', fit, data, '-o', '-');
  for (const row of rows) {
    const expected = table.find((one) => Number(one.row) === row);
    await browser.set('#row-number', row);
    await browser.click('#row-panel input[value="0"]');
    for (const [name, {sds}] of Object.entries(await moved())) close(sds, Number(expected[name]), `${name} without row ${row}`);
    await browser.click('#reset');
  }
}

test('one rate: its words, its figures, and how it moves', async () => {
  const path = folder.report(PUMPS, 'pump.csv', 'pumps');
  const figures = await visit(path);
  assert.deepEqual(figures, ['data-histogram', 'dropping', 'estimates-1', 'move-histogram', 'whiskers-1']);
  assert.equal(await text('h1'), 'Rates of failures');
  assert.match(await text('#fitted'), /^Counts of failures with a Gamma rate, fitted to 10 rows of pump.csv/);
  assert.match(await text('#verdict'), /converged/);
  assert.match(await text('footer'), /automatic, by the data/);
  await slidersAgree('pumps.json');
  await droppingAgrees('pumps.json', 'pump.csv', [1, 5, 10]);
});

test('a row shows its numbers, which cannot be typed over', async () => {
  await browser.visit(folder.file('pumps.html'));
  await browser.set('#row-number', 10);
  assert.match(await text('#row-panel'), /failures 22, thousand_hours 10\.48/);
  assert.equal(await browser.run(() => document.querySelectorAll('[data-input]').length), 0);
  assert.equal(await browser.run(() => document.querySelectorAll('#influence-table tbody tr').length), 10);
  // By both columns, instead of the histogram of one.
  await browser.set('#data .choices label:nth-child(1) select', '1');
  await browser.run(() => {
    const up = [...document.querySelectorAll('#data select')].at(-1);
    up.value = '0';
    up.dispatchEvent(new Event('change'));
  });
  await browser.settle();
  assert.equal(await browser.run(() => document.querySelectorAll('#data-rows .rowsMarks path').length), 10);
  assert.deepEqual(await browser.complaints(), []);
});

test('rates of groups, with names that are text and never markup', async () => {
  const quoted = PLACES.map((place) => `"${place.replaceAll('"', '""')}"`);
  const lines = Array.from({length: 60}, (_, n) => {
    const hours = 1 + 0.8 * Math.sin(1.7 * n);
    return `${Math.round(hours * (2 + (n % 4)) + 1.5 + 1.5 * Math.cos(2.3 * n))},${hours.toFixed(4)},${quoted[n % 4]}`;
  });
  folder.write('visits.csv', `visits,hours,place\n${lines.join('\n')}\n`);
  const figures = await visit(folder.report(VISITS, 'visits.csv', 'visits'));
  assert.ok(figures.includes('heat-map') && figures.includes('dropping'), figures.join());
  assert.equal(await browser.run(() => document.querySelectorAll('main b').length), 0);
  const shown = Object.keys(await moved());
  assert.deepEqual(shown.sort(), PLACES.map((place) => `rate[${place}]`).sort());
});

test('rates of groups move as the program says', async () => {
  const plain = ['north', 'south', 'west'];
  const lines = Array.from({length: 45}, (_, n) => `${(7 * n + 3) % 11},${1 + (n % 5) / 4},${plain[n % 3]}`);
  folder.write('plain.csv', `visits,hours,place\n${lines.join('\n')}\n`);
  await visit(folder.report(['counts', 'plain.csv', ...VISITS.slice(2)], 'plain.csv', 'plain'));
  await slidersAgree('plain.json');
  await droppingAgrees('plain.json', 'plain.csv', [2, 30, 45]);
});

test('without the data, and of a corrected fit', async () => {
  await visit(folder.report(PUMPS, null, 'dataless'));
  assert.match(await text('#influence'), /without the data/);
  await slidersAgree('dataless.json');
  folder.lrvb('check', 'pumps.json', 'pump.csv', '--correct', '-o', 'corrected.json');
  folder.lrvb('report', 'corrected.json', 'pump.csv', '-o', 'corrected.html');
  await visit(folder.file('corrected.html'));
  assert.match(await text('#verdict'), /corrected/);
});
