// What a reader sees first, and what can be taken along: at the widths of a desk and of a phone.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {after, before, test} from 'node:test';

import {Browser} from './browser.mjs';
import {mixtureCheck, regressionCheck} from './model_checks.mjs';
import {Folder} from './program.mjs';

const WIDTHS = [1280, 390];
const HEIGHT = 900;

let browser;
let folder;
before(async () => {
  folder = new Folder();
  browser = await Browser.open();
  // mtcars with the cylinders as a factor, and one car without a name.
  const [head, ...cars] = readFileSync(folder.file('mtcars.csv'), 'utf8').trim().split('\n');
  const lines = cars.map((line, i) => line.replace(/^([^,]*),([^,]*),(\d)/, (_, model, mpg, cyl) => `${i === 2 ? '' : model},${mpg},c${cyl}`));
  folder.write('cars.csv', `${head}\n${lines.join('\n')}\n`);
  fit('cars', ['regression', 'cars.csv', '--response', 'mpg', '-c', 'wt,cyl,hp'], ['cars.csv', '--label', 'model']);
  fit('two', ['mixture', 'old_faithful.csv', '-k', '2'], ['old_faithful.csv']);
  fit('one', ['mixture', 'old_faithful.csv', '-c', 'eruptions', '-k', '2', '--check', 'never'], ['old_faithful.csv']);
  const many = Array.from({length: 3000}, (_, i) => {
    const [x, z] = [Math.sin(1.3 * i) * 5, Math.cos(0.7 * i)];
    return `${(2 + 3 * x - z + (i % 3) + Math.sin(97 * i)).toFixed(4)},${x.toFixed(4)},${z.toFixed(4)},${['u', 'v', 'w'][i % 3]}`;
  });
  folder.write('many.csv', `y,x,z,g\n${many.join('\n')}\n`);
  fit('many', ['regression', 'many.csv', '--response', 'y', '--check', 'never'], ['many.csv']);
});
after(async () => {
  await browser?.close();
  folder?.remove();
});

function fit(name, options, data) {
  folder.lrvb('fit', ...options, '--quiet', '-o', `${name}.json`);
  folder.lrvb('report', `${name}.json`, ...data, '-o', `${name}.html`);
}

const PAGES = ['cars', 'two', 'one', 'many'];

async function visit(name, width) {
  await browser.size(width, HEIGHT);
  await browser.visit(folder.file(`${name}.html`));
  assert.deepEqual(await browser.complaints(), []);
}

/** A test at both widths. */
const both = (what, of) => {
  for (const width of WIDTHS) test(`${what}, at ${width} px`, () => of(width));
};

const text = (selector) => browser.run((wanted) => document.querySelector(wanted)?.textContent ?? null, selector);
const texts = (selector) => browser.run((wanted) => [...document.querySelectorAll(wanted)].map((one) => one.textContent), selector);
const marks = (figure, name) =>
  browser.run((id, own) => document.querySelectorAll(`#${id} .${own} path, #${id} .${own} line`).length, figure, name);
const box = (selector) =>
  browser.run((wanted) => {
    const {left, right, top, bottom, width, height} = document.querySelector(wanted).getBoundingClientRect();
    return {left, right, top, bottom, width, height};
  }, selector);

both('the first screen is a verdict of one line and the estimates', async (width) => {
  for (const name of PAGES) {
    await visit(name, width);
    const headline = await browser.run(() => {
      const line = document.querySelector('#verdict .headline');
      return line.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(line).lineHeight);
    });
    assert.ok(headline < (width > 500 ? 1.6 : 3.6), `the verdict of ${name} has ${headline} lines`);
    assert.equal(await browser.run(() => document.querySelector('#verdict details').open), false);
    assert.ok((await box('#estimates-1')).bottom <= (width > 500 ? HEIGHT : 1.25 * HEIGHT), `${name}: the estimates lie below the first screen`);
    const order = await browser.run(() => [...document.querySelectorAll('main > section')].map(({id}) => id));
    assert.deepEqual(order.slice(0, 2), ['estimates', 'data']);
  }
});

both('the estimates are in their own units, with mean field when it is asked for', async (width) => {
  await visit('two', width);
  const summary = JSON.parse(folder.lrvb('summary', 'two.json', '--format', 'json', '--variables', 'mu')).variables;
  const labels = (await texts('#estimates figure .role-axis-label text')).join(' ');
  for (const {name, mean} of summary) {
    assert.ok(labels.includes(name), name);
    assert.ok(labels.includes(String(Math.floor(10 * mean) / 10)), `${name} ${mean}`);
  }
  assert.equal(await marks('estimates-1', 'whiskersMarks'), 2);
  assert.equal(await marks('estimates-1', 'zeroMarks'), 0, 'weights have no zero to be compared with');
  await browser.click('#estimates .tick input');
  assert.equal(await marks('estimates-1', 'whiskersMarks'), 4);
  assert.match(await text('#estimates-1 .legend'), /mean field/);
  await browser.click('#estimates .tick:nth-of-type(2) input');
  assert.equal(await marks('estimates-1', 'whiskersMarks'), 6);
});

both('coefficients lie about zero: an interval crosses its line where it holds zero', async (width) => {
  await visit('cars', width);
  const zero = await box('#estimates-1 .zeroMarks line');
  const lines = await browser.run(() =>
    [...document.querySelectorAll('#estimates-1 .whiskersMarks line')].map((line) => {
      const {left, right} = line.getBoundingClientRect();
      return {left, right};
    }),
  );
  const {variables} = JSON.parse(folder.lrvb('summary', 'cars.json', '--format', 'json', '--variables', 'intercept,beta,sigma'));
  assert.equal(lines.length, variables.length);
  variables.forEach(({name, q5, q95}, v) => {
    const crosses = lines[v].left < zero.left && lines[v].right > zero.left;
    assert.equal(crosses, q5 < 0 && q95 > 0, `${name} from ${q5} to ${q95}`);
  });
});

/** A page that the program wrote, with other contents in it. */
function rewritten(from, name, edit) {
  const [, head, contents, tail] = /^(.*id="contents">)(.*?)(<\/script>.*)$/s.exec(readFileSync(folder.file(`${from}.html`), 'utf8'));
  folder.write(`${name}.html`, head + JSON.stringify(edit(JSON.parse(contents))).replaceAll('<', '\\u003c') + tail);
}

test('a warning does not colour the verdict above it, and a regression is told nothing of components', async () => {
  rewritten('cars', 'warned', (contents) => ({...contents, model_check: null, robust: null, warnings: ['the first', 'the second', 'the third']}));
  await visit('warned', 1280);
  assert.match(await text('#verdict .headline'), /hold/);
  assert.equal(await browser.run(() => document.querySelector('#verdict').classList.contains('careful')), false);
  assert.equal(await browser.run(() => document.querySelectorAll('#warnings > ul > li').length), 2);
  assert.match(await text('#warnings summary'), /1 warning more/);
  assert.doesNotMatch(await text('main'), /component/);
});

both('a factor has the mean of each level with its interval', async (width) => {
  await visit('cars', width);
  assert.deepEqual(await texts('#data select option'), ['wt', 'cyl', 'hp', 'the fitted response']);
  await browser.set('#data select', 1);
  assert.equal(await marks('data-line', 'meansMarks'), 3);
  assert.equal(await marks('data-line', 'intervalsMarks'), 3);
  assert.equal(await marks('data-line', 'lineMarks'), 0);
  assert.equal(await marks('data-line', 'rowsMarks'), 32);
  const labels = await texts('#data-line .role-axis-label text');
  for (const level of ['c4', 'c6', 'c8']) assert.ok(labels.includes(level), labels.join());
  // In the live part a dropped car moves them.
  await browser.set('#move select', 1);
  const before = await box('#move-line .meansMarks path');
  await browser.set('#row-number', 20);
  await browser.click('#row-panel input[value="0"]');
  await browser.run(() => window.scrollTo(0, 0));
  const moved = await browser.run(() => document.querySelector('#move-line .meansMarks path').getAttribute('transform'));
  assert.ok(moved && before);
  assert.equal(await marks('move-line', 'beforeMeansMarks'), 3);
  assert.deepEqual(await browser.complaints(), []);
});

both('points have the colour of their component, and the legend its size', async (width) => {
  await visit('two', width);
  const fills = await browser.run(() => {
    const counts = {};
    for (const point of document.querySelectorAll('#data-scatter .pointsMarks path')) {
      const fill = point.getAttribute('fill');
      counts[fill] = (counts[fill] ?? 0) + 1;
    }
    return counts;
  });
  // As 'lrvb predict' labels them.
  const labels = folder.table('predict', 'two.json', 'old_faithful.csv');
  const first = labels.filter(({component}) => component === '1').length;
  assert.deepEqual(Object.values(fills).sort(), [first, 272 - first].sort());
  const {variables} = JSON.parse(folder.lrvb('summary', 'two.json', '--format', 'json', '--variables', 'pi'));
  const legend = await text('#data-scatter .legend');
  for (const {mean} of variables) assert.ok(legend.includes(`about ${Math.round(272 * mean)} rows`), legend);
});

both('whether the model fits is said apart from whether the posterior is right: a regression', async (width) => {
  const robust = {warnings: ['the rows vary more than the model says']};
  for (const points of [true, false]) {
    rewritten('cars', 'misfit', (contents) => ({
      ...contents,
      robust,
      variables: contents.variables.map((variable) => ({...variable, sd_robust: 1.5 * variable.sd})),
      model_check: regressionCheck(contents, {points}),
    }));
    await visit('misfit', width);
    assert.match(await text('#verdict .headline'), /hold/);
    assert.match(await text('#warnings'), /The model does not fit: 1 of 2 statistics of the data are unusual for it/);
    assert.match(await text('#model'), /The rows vary more than the model says/);
    await browser.click('#warnings a');
    assert.ok((await box('#model')).top < 200);
    assert.match(await text('#model-verdict'), /The model does not fit/);
    assert.match(await text('#response-facts'), /R² is 0\.857.*residual sd.*Of 32 rows 91 % have their mpg within the 90 % predictive band/);
    assert.equal(await marks('residuals', 'pointsMarks'), points ? 32 : 0);
    assert.equal(await marks('residuals', 'mostMarks'), points ? 0 : 8);
    assert.equal(await marks('residuals', 'bandMarks'), 1);
    assert.equal(await marks('normal-quantiles', 'pointsMarks'), 32);
    assert.deepEqual(await texts('#statistics-table [data-column=unusual]'), ['ok', 'unusual']);
    assert.match(await text('#unusual'), /^mpg: the model does not produce so small a minimum/);
    const sds = await browser.run(() =>
      ['sd', 'sd_robust'].map((column) => Number(document.querySelector(`#parameter-table td[data-column=${column}]`).dataset.value)),
    );
    assert.equal(sds[1], 1.5 * sds[0]);
  }
});

both('R² and the residuals are those of the predictions', async (width) => {
  await visit('cars', width);
  const fitted = folder.table('predict', 'cars.json', 'cars.csv').map(({mean}) => Number(mean));
  const mpg = readFileSync(folder.file('cars.csv'), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => Number(line.split(',')[1]));
  const mean = mpg.reduce((sum, y) => sum + y, 0) / mpg.length;
  const squares = (numbers) => numbers.reduce((sum, x) => sum + x * x, 0);
  const r2 = 1 - squares(mpg.map((y, n) => y - fitted[n])) / squares(mpg.map((y) => y - mean));
  assert.ok((await text('#response-facts')).startsWith(`R² is ${r2.toFixed(3)}`), `${r2}`);
  assert.equal(await marks('residuals', 'pointsMarks'), 32);
  assert.equal((await texts('#statistics-table tbody tr')).length, 8);
  const sentence = JSON.parse(folder.lrvb('check', 'cars.json', 'cars.csv', '--model', '--format', 'json')).message;
  assert.ok((await text('#model-verdict')).toLowerCase().includes(sentence.toLowerCase()), sentence);
});

both('whether the model fits: a mixture, column by column', async (width) => {
  rewritten('two', 'fitting', (contents) => ({...contents, robust: {warnings: []}, model_check: mixtureCheck(contents)}));
  await visit('fitting', width);
  assert.match(await text('#model-verdict'), /Nothing unusual among 10 statistics/);
  assert.equal(await browser.run(() => document.querySelector('#warnings')), null);
  assert.equal(await marks('expected-rows', 'expectedMarks'), 30);
  assert.equal(await marks('column-quantiles', 'pointsMarks'), 272);
  await browser.set('#model select', 1);
  assert.match((await texts('#expected-rows .role-axis-title text')).join(), /waiting/);
  assert.match((await texts('#column-quantiles .role-axis-title text')).join(), /waiting, of the model/);
  assert.deepEqual(await browser.complaints(), []);
});

both('a regression has the band of new responses beside that of its line', async (width) => {
  await visit('cars', width);
  assert.equal(await marks('data-line', 'predictiveMarks'), 1);
  const [line, wide] = [await box('#data-line .bandMarks path'), await box('#data-line .predictiveMarks path')];
  assert.ok(wide.height > line.height);
  await browser.set('#data select', 1);
  const heights = (name) =>
    browser.run((own) => [...document.querySelectorAll(`#data-line .${own} line`)].map((one) => one.getBoundingClientRect().height), name);
  const [intervals, predictive] = [await heights('intervalsMarks'), await heights('wideMarks')];
  intervals.forEach((height, level) => assert.ok(predictive[level] > height));
});

both('many rows are counted, and those chosen for their influence are marked as such', async (width) => {
  await visit('many', width);
  for (const term of [0, 1, 2, -1]) {
    await browser.set('#data select', term);
    assert.equal(await marks('data-line', 'rowsMarks'), 0);
    assert.ok((await marks('data-line', 'cellsMarks')) > 20);
    const counts = await browser.run(() =>
      JSON.parse(document.getElementById('contents').textContent).picture.binned.terms.map(({cells}) =>
        cells.reduce((sum, [, , count]) => sum + count, 0),
      ),
    );
    assert.deepEqual(counts, [3000, 3000, 3000]);
  }
  assert.match(await text('#data-line .legend'), /all 3,000 rows, counted/);
  assert.match(await text('#leverage .legend'), /since it is influential/);
  const rings = await browser.run(
    () => [...document.querySelectorAll('#leverage .pointsMarks path')].filter((point) => point.getAttribute('fill') === 'transparent').length,
  );
  assert.equal(rings, 1000);
  assert.deepEqual(await browser.complaints(), []);
});

both('rows are called by their label, and the influential show their predictors', async (width) => {
  await visit('cars', width);
  const rows = await browser.run(() =>
    [...document.querySelectorAll('#influence-table tbody tr')].map((row) =>
      Object.fromEntries([...row.children].map((cell) => [cell.dataset.label, cell.textContent])),
    ),
  );
  const cars = readFileSync(folder.file('cars.csv'), 'utf8').split('\n');
  for (const row of rows) {
    const [model, mpg, cyl, , hp, , wt] = cars[Number(row.row)].split(',');
    assert.equal(row.model, model);
    assert.equal(row.cyl, cyl);
    for (const [mine, its] of [
      [row.mpg, mpg],
      [row.hp, hp],
      [row.wt, wt],
    ])
      assert.equal(Number(mine), Number(its));
  }
  assert.equal(rows.find(({row}) => row === '3')?.model, '', 'the car without a name has none');
  await browser.set('#row-number', 17);
  await browser.click('#row-panel input[value="0"]');
  assert.match(await text('#changes'), /row 17 \(Chrysler Imperial\) dropped/);
  assert.match(await text('#trust'), /row 17 \(Chrysler Imperial\)/);
  assert.match(await text('#row-panel'), /Chrysler Imperial, wt 5.345, cyl c8, hp 230/);
});

test('labels are text, never markup, and cut where they are long', async () => {
  const names = ['<img src=x onerror=alert(1)>', '</script><b>', '\u202Eevil', '=1+1', 'x'.repeat(500)];
  const lines = Array.from({length: 40}, (_, i) => `"${names[i % 5]}",${(i % 2) * 5 + Math.sin(i)}`);
  folder.write('named.csv', `"<i>id</i>",x\n${lines.join('\n')}\n`);
  fit('named', ['mixture', 'named.csv', '-c', 'x', '-k', '2', '--check', 'never'], ['named.csv', '--label', '<i>id</i>']);
  for (const width of WIDTHS) {
    await visit('named', width);
    assert.deepEqual(
      await browser.run(() => ({scripts: document.scripts.length, images: document.images.length, marked: document.querySelectorAll('b, i').length})),
      {scripts: 2, images: 0, marked: 0},
    );
    assert.ok((await texts('#influence-table tbody td')).includes(names[0]));
    assert.ok((await texts('#influence-table tbody td')).every((one) => one.length <= 80));
    assert.ok((await browser.run(() => document.documentElement.scrollWidth)) <= width);
  }
});

test('how columns were taken is said where the technical lines are folded, as text', async () => {
  const name = '<img src=x onerror=alert(1)>';
  const lines = Array.from({length: 40}, (_, i) => `${(Math.sin(i) + (i % 4)).toFixed(4)},${300 + (i % 4)},${Math.cos(3 * i).toFixed(4)}`);
  folder.write('taken.csv', `y,"${name}",x\n${lines.join('\n')}\n`);
  fit('taken', ['regression', 'taken.csv', '--response', 'y', '--check', 'never'], ['taken.csv']);
  const {notes} = JSON.parse(readFileSync(folder.file('taken.json'), 'utf8'));
  assert.ok(notes.length > 0 && notes[0].startsWith(`${name}: a number`), notes);
  for (const width of WIDTHS) {
    await visit('taken', width);
    assert.deepEqual(await texts('#verdict details #notes li'), notes);
    assert.equal(await browser.run(() => document.querySelector('#verdict details').open), false);
    await browser.run(() => (document.querySelector('#verdict details').open = true));
    assert.ok((await box('#notes li')).height > 0);
    assert.equal(await browser.run(() => document.images.length), 0);
    assert.ok((await browser.run(() => document.documentElement.scrollWidth)) <= width);
  }
  // Where there is nothing to say, nothing is said.
  await visit('two', 1280);
  assert.equal(await text('#notes'), null);
});

test('a label that is no column is refused in a sentence', () => {
  const refused = (...args) => {
    try {
      folder.lrvb('report', 'cars.json', ...args, '-o', 'refused.html');
    } catch (error) {
      return [error.status, error.stderr];
    }
    return assert.fail('it was taken');
  };
  const [status, said] = refused('cars.csv', '--label', 'name');
  assert.equal(status, 1);
  assert.match(said, /cars\.csv.*'name'/);
  assert.equal(said.trim().split('\n').length, 1);
  assert.equal(refused('--label', 'model')[0], 2);
  assert.equal(refused('-', '--label', 'model')[0], 2);
});

both('no table hides a column', async (width) => {
  for (const name of PAGES) {
    await visit(name, width);
    const tables = await browser.run(() =>
      [...document.querySelectorAll('table')].map((table) => {
        const frame = table.parentElement;
        const last = table.querySelector('tbody tr').lastElementChild;
        return {
          id: table.id,
          over: frame.scrollWidth - frame.clientWidth,
          last: last.getBoundingClientRect().right - frame.getBoundingClientRect().right,
          stacked: table.classList.contains('stacked'),
        };
      }),
    );
    assert.ok(tables.length >= 3);
    for (const {id, over, last, stacked} of tables) {
      assert.ok(over <= 0 && last <= 1, `${id} of ${name} hides ${over} pixels, its last column ${last}`);
      if (width > 500) assert.equal(stacked, false, `${id} of ${name} has room for its columns`);
    }
    const {inner, whole} = await browser.run(() => ({inner: window.innerWidth, whole: document.documentElement.scrollWidth}));
    assert.ok(whole <= inner, `${name} is ${whole} wide`);
  }
});

both('a link at the top and a key lead to the part that is alive', async (width) => {
  await visit('one', width);
  const link = await box('nav a');
  assert.ok(link.left >= 0 && link.right <= width && link.bottom < HEIGHT);
  assert.match(await text('nav li'), /Move it\s*m/);
  const there = () => browser.run(() => document.activeElement.id === 'move-title' && document.querySelector('#move').getBoundingClientRect().top < 200);
  await browser.press('m');
  assert.equal(await there(), true);
  // A letter that is typed into a field is one.
  await browser.run(() => {
    window.scrollTo(0, 0);
    document.querySelector('#row-number').focus({preventScroll: true});
  });
  await browser.press('m');
  assert.equal(await browser.run(() => document.activeElement.id), 'row-number');
  await browser.run(() => window.scrollTo(0, 0));
  await browser.click('nav a');
  assert.ok((await box('#move')).top < 200);
});

/** What a click would save, and under which name. */
async function saved(selector) {
  await browser.run(() => {
    window.saved = null;
    URL.createObjectURL = (blob) => {
      window.saved = {blob};
      return 'blob:nothing';
    };
    HTMLAnchorElement.prototype.click = function () {
      window.saved.name = this.download;
    };
  });
  await browser.run((wanted) => document.querySelector(wanted).click(), selector);
  await browser.until(() => window.saved?.name);
  const {name, type, bytes} = await browser.run(async () => {
    const bytes = new Uint8Array(await window.saved.blob.arrayBuffer());
    return {name: window.saved.name, type: window.saved.blob.type, bytes: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))};
  });
  return {name, type, bytes: Buffer.from(bytes, 'base64')};
}

both('every picture can be saved as SVG and PNG, with its caption and legend', async (width) => {
  for (const name of ['cars', 'two']) {
    await visit(name, width);
    const figures = await browser.run(() => [...document.querySelectorAll('figure')].map(({id}) => id));
    assert.ok(figures.length > 5);
    for (const id of figures) {
      const svg = await saved(`#${id} [data-save=SVG]`);
      assert.deepEqual([svg.name, svg.type], [`${id}.svg`, 'image/svg+xml']);
      const drawing = svg.bytes.toString('utf8');
      assert.match(drawing, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      assert.doesNotMatch(drawing, /var\(|NaN|undefined/, `${id} has colours that only the page knows`);
      const errors = await browser.run(
        (source) => new DOMParser().parseFromString(source, 'image/svg+xml').querySelectorAll('parsererror').length,
        drawing,
      );
      assert.equal(errors, 0, `${id} is no XML`);
      const entries = await browser.run((own) => [...document.querySelectorAll(`#${own} .legend li, #${own} figcaption`)].map((one) => one.textContent), id);
      const plain = await browser.run((source) => new DOMParser().parseFromString(source, 'image/svg+xml').documentElement.textContent, drawing);
      for (const entry of entries) assert.ok(plain.includes(entry), `${id} lacks "${entry}"`);
    }
    const png = await saved(`#${figures[0]} [data-save=PNG]`);
    assert.deepEqual([png.name, png.type], [`${figures[0]}.png`, 'image/png']);
    assert.equal(png.bytes.subarray(1, 4).toString('latin1'), 'PNG');
    const drawn = await box(`#${figures[0]} svg`);
    assert.equal(png.bytes.readUInt32BE(16), 2 * Math.round(drawn.width));
  }
  assert.deepEqual(await browser.complaints(), []);
});

both('every table can be copied as CSV, Markdown and LaTeX', async (width) => {
  await visit('cars', width);
  await browser.run(() => {
    Object.defineProperty(navigator, 'clipboard', {configurable: true, value: {writeText: async (copied) => void (window.copied = copied)}});
  });
  const copied = async (section, format) => {
    await browser.click(`#${section} [data-copy=${format}]`);
    return browser.run(() => window.copied);
  };
  for (const section of ['parameters', 'correlations', 'influence', 'move']) {
    const csv = (await copied(section, 'CSV')).trim().split('\n');
    const markdown = (await copied(section, 'Markdown')).trim().split('\n');
    const latex = (await copied(section, 'LaTeX')).trim().split('\n');
    assert.equal(csv.length, markdown.length - 1, section);
    assert.equal(csv.length, latex.length - 5, section);
    assert.match(markdown[1], /^\| --- \|/);
    assert.match(latex[0], /^\\begin\{tabular\}\{l[lr]+\}$/);
    assert.equal(latex.at(-1), '\\end{tabular}');
  }
  const {variables} = JSON.parse(folder.lrvb('summary', 'cars.json', '--format', 'json', '--variables', 'beta'));
  const line = (await copied('parameters', 'CSV')).split('\n').find((one) => one.startsWith('beta[wt]'));
  assert.equal(Number(line.split(',')[1]), variables[0].mean);
  assert.match(await copied('influence', 'CSV'), /^row,model,mpg,wt,cyl,hp,distance,/);
});

both('a check that was not run is a command to copy, and running it gives the page its verdict', async (width) => {
  await visit('one', width);
  const command = await text('#verdict code');
  assert.equal(
    command,
    'lrvb check one.json old_faithful.csv --format json > check.json && lrvb report one.json old_faithful.csv --check check.json',
  );
  if (width !== WIDTHS[0]) return;
  const program = process.env.LRVB_PROGRAM ?? new URL('../../build/release/bin/lrvb', import.meta.url).pathname;
  execFileSync('sh', ['-c', command.replaceAll('lrvb ', `'${program}' `)], {cwd: folder.path});
  await visit('report', width);
  assert.match(await text('#verdict .headline'), /hold/);
});

both('whether the model fits is a command to copy where it was not asked', async (width) => {
  rewritten('cars', 'unasked', (contents) => ({...contents, model_check: null}));
  await visit('unasked', width);
  assert.equal(await text('#model code'), 'lrvb check cars.json cars.csv --model');
  // Not for a report without rows, nor for weights.
  rewritten('cars', 'unasked', (contents) => ({...contents, model_check: null, rows: null}));
  await visit('unasked', width);
  assert.equal(await text('#model'), null);
});

test('in the dark, on paper', async () => {
  await browser.size(1280, HEIGHT);
  await browser.scheme('dark');
  await browser.visit(folder.file('cars.html'));
  const dark = (await saved('#estimates-1 [data-save=SVG]')).bytes.toString('utf8');
  assert.match(dark, /fill="#14171b"/);
  await browser.scheme('light');
  await browser.devtools('Emulation.setEmulatedMedia', {media: 'print', features: []});
  for (const hidden of ['.save', 'nav', '.buttons'])
    assert.equal(await browser.run((wanted) => document.querySelector(wanted).checkVisibility(), hidden), false, hidden);
  await browser.devtools('Emulation.setEmulatedMedia', {media: '', features: []});
});
