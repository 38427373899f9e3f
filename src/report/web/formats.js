// Tables as text for other programs. What comes from the data is text there too, and no command of theirs.
import {exact} from './numbers.js';

/** A spreadsheet would run such a text; with an apostrophe before it, it shows it. */
const harmlessCell = (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

/** Rows of texts and numbers as CSV, the numbers so that they read back as the same. */
function csvText(rows) {
  const field = (value) => {
    if (typeof value !== 'string') return exact(value);
    const text = harmlessCell(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((fields) => `${fields.map(field).join(',')}\n`).join('');
}

const copied = (columns) => columns.filter(({copied: own = true}) => own);

/** Columns {id, label, value, text} of some items. */
export function asCsv(columns, items) {
  const own = copied(columns);
  return csvText([own.map(({id}) => id), ...items.map((item) => own.map(({value}) => value(item)))]);
}

const isNumeric = ({numeric}, c) => numeric ?? c > 0;

export function asMarkdown(columns, items) {
  const own = copied(columns);
  const cell = (text) => text.replace(/[\\|<>`*_[\]~&]/g, '\\$&').replace(/\s+/g, ' ');
  const line = (cells) => `| ${cells.join(' | ')} |\n`;
  return (
    line(own.map(({label}) => cell(label))) +
    line(own.map((column, c) => (isNumeric(column, c) ? '---:' : '---'))) +
    items.map((item) => line(own.map(({text}) => cell(text(item))))).join('')
  );
}

const LATEX = {
  '\\': '\\textbackslash{}',
  '{': '\\{',
  '}': '\\}',
  $: '\\$',
  '&': '\\&',
  '#': '\\#',
  _: '\\_',
  '%': '\\%',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '|': '\\textbar{}',
  '"': '\\textquotedbl{}',
  '\u2212': '$-$',
  '\u2026': '\\dots{}',
};

/** A text that LaTeX prints as it is. A bracket or star that begins a cell would be an option of the line break before it. */
export function latexText(text) {
  const escaped = text.replace(/\s+/g, ' ').replace(/[\\{}$&#_%~^<>|"\u2212\u2026]/g, (character) => LATEX[character]);
  return escaped.replace(/^\s*([[*])/, '{$1}');
}

export function asLatex(columns, items) {
  const own = copied(columns);
  const line = (cells) => `  ${cells.map(latexText).join(' & ')} \\\\\n`;
  return [
    `\\begin{tabular}{${own.map((column, c) => (isNumeric(column, c) ? 'r' : 'l')).join('')}}\n`,
    '  \\hline\n',
    line(own.map(({label}) => label)),
    '  \\hline\n',
    ...items.map((item) => line(own.map(({text}) => text(item)))),
    '  \\hline\n',
    '\\end{tabular}\n',
  ].join('');
}

/** What a file name is in a command: as it is where a shell takes it so, and quoted where not. */
export function shellQuoted(path) {
  const safe = path.startsWith('-') && path !== '-' ? `./${path}` : path;
  return /^[\w/.,:@%+=-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`;
}
