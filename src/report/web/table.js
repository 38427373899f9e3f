import {copyButtons, element} from './dom.js';
import {exact, fixed, rounded} from './numbers.js';

/** The variables as a table that can be sorted and copied. */
export function parameterTable(contents) {
  const columns = columnsOf(contents);
  const rows = contents.variables.map((variable, place) => ({variable, place}));
  let sorted = {column: -1, down: false};
  const body = element('tbody');
  const fill = () => {
    const order = [...rows];
    if (sorted.column >= 0) {
      const {value} = columns[sorted.column];
      const sign = sorted.down ? -1 : 1;
      order.sort((a, b) => sign * compare(value(a.variable), value(b.variable)) || a.place - b.place);
    }
    body.replaceChildren(
      ...order.map(({variable}) =>
        element(
          'tr',
          {'data-variable': variable.name},
          columns.map(({text, value, id}, c) => {
            const attributes = {
              'data-column': id,
              'data-value': typeof value(variable) === 'number' ? exact(value(variable)) : null,
            };
            if (c === 0) return element('th', {scope: 'row', ...attributes}, text(variable));
            if (id === 'verdict') attributes.class = variable.verdict === 'ok' ? 'is-ok' : 'is-off';
            return element('td', attributes, text(variable));
          }),
        ),
      ),
    );
  };
  const heads = columns.map(({label, title}, c) =>
    element(
      'th',
      {scope: 'col', 'aria-sort': 'none', title},
      element('button', {type: 'button', class: 'sort', click: () => sort(c)}, label),
    ),
  );
  const sort = (c) => {
    sorted = {column: c, down: sorted.column === c ? !sorted.down : columns[c].downFirst};
    heads.forEach((head, i) => head.setAttribute('aria-sort', i !== c ? 'none' : sorted.down ? 'descending' : 'ascending'));
    fill();
  };
  fill();

  const inOrder = () => [...body.children].map((row) => contents.variables.find(({name}) => name === row.dataset.variable));
  return element(
    'div',
    {},
    copyButtons({CSV: () => asCsv(columns, inOrder()), Markdown: () => asMarkdown(columns, inOrder())}),
    element(
      'div',
      {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of the parameters'},
      element('table', {id: 'parameter-table'}, element('thead', {}, element('tr', {}, heads)), body),
    ),
    contents.variables_left_out > 0 &&
      element(
        'p',
        {class: 'note'},
        `${contents.variables_left_out} more are in ${contents.fit_file}, and were left out for size: lrvb summary shows them.`,
      ),
  );
}

/** `value` sorts and is what CSV copies; `text` is for people. */
function columnsOf({variables, level, response}) {
  const tail = (100 * (1 - level)) / 2;
  const quantile = (share) => `q${Number(share.toFixed(4))}`;
  const number = (id, label, title, value, text = (v) => rounded(value(v), v.sd ?? v.mean_field_sd)) => ({
    id,
    label,
    title,
    value,
    text,
    downFirst: true,
  });
  const columns = [
    {id: 'variable', label: 'variable', title: 'Name', value: (v) => v.name, text: (v) => v.name, downFirst: false},
    number('mean', 'mean', 'Posterior mean', (v) => v.mean),
  ];
  if (response) {
    columns.push(
      number('sd', 'sd', 'Posterior sd', (v) => v.sd),
      number('lower', quantile(tail), 'Lower end of the interval', (v) => v.lower),
      number('upper', quantile(100 - tail), 'Upper end of the interval', (v) => v.upper),
    );
  }
  columns.push(number('mean_field_sd', 'MFVB sd', 'Posterior sd by mean field', (v) => v.mean_field_sd));
  if (response) {
    const ratio = (v) => (v.mean_field_sd > 0 ? v.sd / v.mean_field_sd : null);
    columns.push(
      number('ratio', 'sd / MFVB', 'How many times the sd is what mean field says', ratio, (v) =>
        ratio(v) === null ? 'fixed' : fixed(ratio(v), 2),
      ),
    );
  }
  if (variables.some(({verdict}) => verdict)) {
    columns.push(
      number('exact_mean', 'exact mean', 'Mean of the exact posterior', (v) => v.exact_mean ?? null),
      number('exact_sd', 'exact sd', 'Sd of the exact posterior', (v) => v.exact_sd ?? null),
      {
        id: 'verdict',
        label: 'check',
        title: 'What the check says',
        value: (v) => v.verdict ?? '',
        text: (v) => v.verdict ?? '',
        downFirst: false,
      },
    );
  }
  return columns;
}

export function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return String(a).localeCompare(String(b), 'en', {numeric: true});
}

/** Rows of texts as CSV. */
export function csvText(rows) {
  const field = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((fields) => `${fields.map(field).join(',')}\n`).join('');
}

export function asCsv(columns, variables) {
  const text = (value) => (typeof value === 'string' ? value : exact(value));
  return csvText([
    columns.map(({id}) => id),
    ...variables.map((variable) => columns.map((column) => text(column.value(variable)))),
  ]);
}

export function asMarkdown(columns, variables) {
  const cell = (text) => text.replace(/[\\|<>`*_[\]]/g, '\\$&').replace(/\s+/g, ' ');
  const line = (cells) => `| ${cells.join(' | ')} |\n`;
  return (
    line(columns.map(({label}) => cell(label))) +
    line(columns.map((_, c) => (c === 0 ? '---' : '---:'))) +
    variables.map((variable) => line(columns.map(({text}) => cell(text(variable))))).join('')
  );
}
