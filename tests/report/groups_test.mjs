// The groups of a hierarchical regression in the report: their effects, how far they are pulled together, and what is left of their rows.
import assert from 'node:assert/strict';
import {statSync} from 'node:fs';
import {after, before, test} from 'node:test';

import {Browser} from './browser.mjs';
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

const text = (selector) => browser.run((wanted) => document.querySelector(wanted)?.textContent ?? null, selector);
const marks = (figure, name) =>
  browser.run((id, own) => document.querySelectorAll(`#${id} .${own} path, #${id} .${own} line`).length, figure, name);
/** With signs that a program reads. */
const described = async (figure) =>
  (await browser.run((id) => document.querySelector(`#${id} [role=graphics-document]`).getAttribute('aria-label'), figure)).replaceAll('−', '-');

/** Opens a report, which must have nothing to complain of, and gives the figures of its groups. */
async function visit(path) {
  await browser.visit(path);
  assert.deepEqual(await browser.complaints(), []);
  assert.doesNotMatch(await text('main'), /NaN|undefined|\[object|Infinity/);
  return figures();
}

const figures = () =>
  browser.run(() =>
    [...document.querySelectorAll('#group-figures figure')].map((figure) => {
      if (/NaN|Infinity|undefined/.test(figure.innerHTML)) throw new Error(`${figure.id} has no numbers`);
      return figure.id;
    }),
  );

/** The first groups of a figure's description, as [name, number]. */
const named = (words) => [...words.matchAll(/(?:: |, )([^:,]+): (?:median )?(-?[\d.]+)/g)].map(([, name, number]) => [name, Number(number)]);

/** The effects of the program's own summary, by group. */
function effects(fit, prefix, suffix) {
  const {variables} = JSON.parse(folder.lrvb('summary', fit, '--format', 'json', '--variables', 'u'));
  return new Map(
    variables
      .filter(({name}) => name.startsWith(prefix) && name.endsWith(suffix))
      .map(({name, ...numbers}) => [name.slice(prefix.length, name.length - suffix.length), numbers]),
  );
}

test('effects of groups stand by their size, each effect by itself', async () => {
  const page = folder.report(['regression', 'sleepstudy.csv', 'Reaction ~ Days + (Days | Subject)'], 'sleepstudy.csv', 'sleep');
  assert.deepEqual(await visit(page), ['caterpillar', 'shrinkage', 'group-residuals']);
  for (const [choice, suffix] of [
    ['0', ',intercept_at_means]'],
    ['1', ',Days]'],
  ]) {
    await browser.set('#groups select', choice);
    await browser.settle();
    assert.deepEqual(await figures(), ['caterpillar', 'shrinkage', 'group-residuals']);
    assert.equal(await marks('caterpillar', 'intervalMarks'), 18);
    const own = effects('sleep.json', 'u[Subject,', suffix);
    const sorted = [...own].sort((a, b) => a[1].mean - b[1].mean);
    const shown = named((await described('caterpillar')).replace(/^.*highest/, ''));
    assert.equal(shown.length, 8);
    shown.forEach(([name, mean], i) => {
      assert.equal(name.trim(), sorted[i][0]);
      assert.ok(Math.abs(mean - sorted[i][1].mean) < 0.06 * sorted[i][1].sd, `${name}: ${mean}`);
    });
    const apart = sorted.filter(([, {q5, q95}]) => q5 > 0 || q95 < 0).length;
    assert.match(await text('#group-figures p'), new RegExp(`^${apart} of 18 intervals of 90 %`));
  }
});

test('residuals by group are what the fit leaves of the rows', async () => {
  const page = folder.report(['regression', 'sleepstudy.csv', 'Reaction ~ Days + (1 | Subject)'], 'sleepstudy.csv', 'plain');
  await visit(page);
  // Medians by group of what predict leaves.
  const rows = JSON.parse(folder.lrvb('predict', 'plain.json', 'sleepstudy.csv', '--format', 'json')).rows;
  const [head, ...lines] = folder.lrvb('predict', 'plain.json', 'sleepstudy.csv', '--append').trim().split('\n');
  const names = head.split(',');
  const residuals = new Map();
  lines.forEach((line, n) => {
    const fields = line.split(',');
    const group = fields[names.indexOf('Subject')];
    const rest = Number(fields[names.indexOf('Reaction')]) - rows[n].mean;
    residuals.set(group, [...(residuals.get(group) ?? []), rest]);
  });
  const shown = [...(await described('group-residuals')).matchAll(/(\d+), 10 rows: median (-?[\d.]+)/g)];
  assert.equal(shown.length, 8);
  for (const [, group, median] of shown) {
    const sorted = residuals.get(group).sort((a, b) => a - b);
    assert.ok(Math.abs(Number(median) - (sorted[4] + sorted[5]) / 2) < 0.01 * 31, `${group}: ${median}`);
  }
});

test('counts and shares have residuals in sds, and rows side by side', async () => {
  const page = folder.report(
    ['regression', 'cbpp.csv', 'cbind(incidence, size - incidence) ~ factor(period) + (1 | herd)', '--family', 'binomial'],
    'cbpp.csv',
    'herds',
  );
  assert.deepEqual(await visit(page), ['caterpillar', 'shrinkage', 'group-residuals']);
  assert.equal(await marks('caterpillar', 'intervalMarks'), 15);
  assert.match(await text('#group-residuals'), /in sds of the response/);
});

test('of very many groups some are drawn, and the page stays small', async () => {
  const random = (() => {
    let state = 12345;
    return () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  })();
  const normal = () => Array.from({length: 12}, random).reduce((sum, x) => sum + x, -6);
  const lines = ['y,x,g'];
  for (let g = 0; g < 3000; ++g) {
    const own = normal();
    for (let i = 0; i < 3; ++i) {
      const x = random();
      lines.push(`${(1 + 2 * x + own + 0.5 * normal()).toFixed(4)},${x.toFixed(4)},group ${g}`);
    }
  }
  folder.write('many.csv', `${lines.join('\n')}\n`);
  const page = folder.report(['regression', 'many.csv', 'y ~ x + (1 | g)', '--check', 'never'], 'many.csv', 'many');
  assert.ok(statSync(page).size < 4e6, `${statSync(page).size} bytes`);
  assert.deepEqual(await visit(page), ['caterpillar', 'shrinkage', 'group-residuals']);
  assert.match(await text('#group-figures p'), /Of 3,000 of g \d+ are drawn: the lowest, the highest, and others evenly between/);
  const count = await marks('caterpillar', 'intervalMarks');
  assert.ok(count > 60 && count <= 400, String(count));
  const own = [...effects('many.json', 'u[g,', ',intercept]')].sort((a, b) => a[1].mean - b[1].mean);
  const shown = named((await described('caterpillar')).replace(/^.*highest/, ''));
  assert.equal(shown.length, 8);
  shown.forEach(([name, mean], i) => {
    assert.equal(name.trim(), own[i][0]);
    assert.ok(Math.abs(mean - own[i][1].mean) < 0.06 * own[i][1].sd, `${name}: ${mean}`);
  });
});
