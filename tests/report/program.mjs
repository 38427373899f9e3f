// The program, run in a folder of its own.
import {execFileSync} from 'node:child_process';
import {cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const PROGRAM = process.env.LRVB_PROGRAM ?? new URL('../../build/release/bin/lrvb', import.meta.url).pathname;
const DATA = new URL('../../data/', import.meta.url).pathname;

export class Folder {
  constructor() {
    this.path = mkdtempSync(join(tmpdir(), 'lrvb_report_'));
    for (const name of readdirSync(DATA)) if (name.endsWith('.csv')) cpSync(join(DATA, name), join(this.path, name));
  }

  remove() {
    rmSync(this.path, {recursive: true, force: true});
  }

  file(name) {
    return join(this.path, name);
  }

  write(name, text) {
    writeFileSync(this.file(name), text);
  }

  /** What the program printed; it must have ended well. */
  lrvb(...args) {
    return execFileSync(PROGRAM, args, {cwd: this.path, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28});
  }

  /** The rows of a table that the program prints as CSV, as objects. Names with commas are not for this reader. */
  table(...args) {
    const [head, ...lines] = this.lrvb(...args)
      .trim()
      .split('\n')
      .map((line) => line.split(/,(?![^[]*\])/).map((field) => field.replace(/^"(.*)"$/, '$1')));
    return lines.map((fields) => Object.fromEntries(head.map((name, i) => [name, fields[i]])));
  }

  /** Rows of components that lie apart in every column, `apart` sds from one to the next. */
  simulate(name, {rows, components, columns, apart = 6}) {
    const each = (count, text) => Array.from({length: count}, (_, i) => text(i));
    const groups = (number) => each(components, (k) => each(columns, (p) => number(k, p)).join(',')).join(columns > 1 ? ';' : ',');
    const means = groups((k, p) => apart * ((k + p * 7) % components));
    const weights = each(components, () => 1 / components).join(',');
    this.lrvb(
      'simulate',
      'mixture',
      '--weights',
      weights,
      '--means',
      means,
      '--sds',
      groups(() => 1),
      '-n',
      String(rows),
      '-o',
      name,
    );
  }

  /** Fits, writes the report, and gives its path. `fit` and `data` are arguments of the program. */
  report(fit, data, name = 'report') {
    this.lrvb('fit', ...fit, '--quiet', '-o', `${name}.json`);
    this.lrvb('report', `${name}.json`, ...(data ? [data] : []), '-o', `${name}.html`);
    return this.file(`${name}.html`);
  }
}
