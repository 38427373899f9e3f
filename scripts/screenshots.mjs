// Pictures of the report for the documentation: make screenshots.
import {readFileSync, writeFileSync} from 'node:fs';

import {Browser} from '../tests/report/browser.mjs';
import {Folder} from '../tests/report/program.mjs';

const docs = (name) => new URL(`../docs/report/${name}.png`, import.meta.url);
const folder = new Folder();
const browser = await Browser.open();

async function picture(name, path, {width = 1100, scheme = 'light', selector = null, before = null, top = null}) {
  await browser.size(width, 900);
  await browser.scheme(scheme);
  await browser.visit(path);
  if (before) await before();
  writeFileSync(docs(name), await browser.screenshot(selector, top));
}

try {
  const one = folder.report(
    ['mixture', 'old_faithful.csv', '-c', 'eruptions', '-k', '2', '--prior', 'paper'],
    'old_faithful.csv',
    'one',
  );
  const two = folder.report(['mixture', 'old_faithful.csv', '-k', '2'], 'old_faithful.csv', 'two');
  // mtcars with the cylinders as a factor.
  const cars = readFileSync(folder.file('mtcars.csv'), 'utf8').replace(/^([^,\n]*,[^,\n]*),(\d)/gm, '$1,$2 cylinders');
  folder.write('cars.csv', cars);
  folder.lrvb('fit', 'regression', 'cars.csv', '--response', 'mpg', '-c', 'wt,cyl,hp', '--quiet', '-o', 'cars.json');
  folder.lrvb('report', 'cars.json', 'cars.csv', '--label', 'model', '-o', 'cars.html');
  await picture('first_screen', folder.file('cars.html'), {top: 900});
  await picture('factor', folder.file('cars.html'), {selector: '#data', before: () => browser.set('#data select', 1)});
  await picture('model', folder.file('cars.html'), {selector: '#model'});
  await picture('one_column', one, {});
  await picture('two_columns', two, {});
  await picture('two_columns_dark', two, {scheme: 'dark', selector: '#data'});
  await picture('phone', one, {width: 390, selector: '#estimates'});
  await picture('move', one, {
    selector: '#move',
    before: async () => {
      await browser.set('#row-number', 84);
      await browser.click('#row-panel input[value="0"]');
      await browser.set('[data-prior-value=rate]', 0.15);
    },
  });
} finally {
  await browser.close();
  folder.remove();
}
