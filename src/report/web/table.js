import {copyButtons, element} from './dom.js';
import {asCsv, asLatex, asMarkdown} from './formats.js';
import {exact, fixed, rounded} from './numbers.js';

/**
 * A table in a frame of its own. Where its columns do not fit side by side, each row becomes a block with the columns' names in
 * it: nothing is ever hidden beyond an edge.
 */
export function framed(table, label, {tall = false} = {}) {
  const frame = element('div', {class: `scroll${tall ? ' tall' : ''}`, tabindex: '0', role: 'region', 'aria-label': label}, table);
  let width = 0;
  const fit = () => {
    table.classList.remove('stacked');
    table.classList.toggle('stacked', frame.scrollWidth > frame.clientWidth);
  };
  new ResizeObserver(([entry]) => {
    if (entry.contentRect.width === width) return; // it grew or shrank by being stacked
    width = entry.contentRect.width;
    requestAnimationFrame(fit);
  }).observe(frame);
  return frame;
}

/** Buttons that copy a table: its columns, and its items as they are now. */
export function tableButtons(columns, items) {
  return copyButtons({
    CSV: () => asCsv(columns, items()),
    Markdown: () => asMarkdown(columns, items()),
    LaTeX: () => asLatex(columns, items()),
  });
}

/**
 * A table of items that can be copied, and sorted if it is to be. Of a column, `value` sorts and is what CSV copies, `text` is for
 * people, and `cell` what stands in the page where that is more than text; `copied` false is for the page alone.
 */
export function tableOf({id, label, columns, items, attributes = () => ({}), sortable = false}) {
  const rows = items.map((item, place) => ({item, place}));
  let sorted = {column: -1, down: false};
  let order = rows;
  const body = element('tbody');
  const fill = () => {
    order = [...rows];
    if (sorted.column >= 0) {
      const {value} = columns[sorted.column];
      const sign = sorted.down ? -1 : 1;
      order.sort((a, b) => sign * compare(value(a.item), value(b.item)) || a.place - b.place);
    }
    body.replaceChildren(...order.map(({item}) => element('tr', attributes(item), columns.map((column, c) => cellOf(column, c, item)))));
  };
  const sort = (c) => {
    sorted = {column: c, down: sorted.column === c ? !sorted.down : Boolean(columns[c].downFirst)};
    heads.forEach((head, i) => head.setAttribute('aria-sort', i !== c ? 'none' : sorted.down ? 'descending' : 'ascending'));
    fill();
  };
  const heads = columns.map(({label: text, title}, c) =>
    element(
      'th',
      {scope: 'col', 'aria-sort': sortable ? 'none' : null, title},
      sortable ? element('button', {type: 'button', class: 'sort', click: () => sort(c)}, text) : text,
    ),
  );
  fill();
  const table = element('table', {id}, element('thead', {}, element('tr', {}, heads)), body);
  return element('div', {}, tableButtons(columns, () => order.map(({item}) => item)), framed(table, label));
}

function cellOf({id, label, value, text, cell, classOf}, c, item) {
  const own = value?.(item);
  const attributes = {
    'data-column': id,
    'data-label': label,
    'data-value': typeof own === 'number' ? exact(own) : null,
    class: classOf?.(item),
  };
  const inside = cell ? cell(item) : text(item);
  return c === 0 ? element('th', {scope: 'row', ...attributes}, inside) : element('td', attributes, inside);
}

/** The variables. */
export function parameterTable(contents) {
  return element(
    'div',
    {},
    tableOf({
      id: 'parameter-table',
      label: 'Table of the parameters',
      columns: columnsOf(contents),
      items: contents.variables,
      attributes: ({name}) => ({'data-variable': name}),
      sortable: true,
    }),
    contents.variables_left_out > 0 &&
      element(
        'p',
        {class: 'note'},
        `${contents.variables_left_out} more are in ${contents.fit_file}, and were left out for size: lrvb summary shows them.`,
      ),
  );
}

const ROBUST = 'What the sd would be if the model were wrong but the rows independent';

function columnsOf({variables, level, response}) {
  const isRobust = variables.some(({sd_robust: sd}) => typeof sd === 'number');
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
  // What a heavy tail leaves without a mean or an sd is placed by its quantiles, and has `has_mean`.
  const moment = (id, title, isHeavy) =>
    number(
      id,
      id,
      title,
      (v) => (isHeavy(v) ? null : v[id]),
      (v) => (isHeavy(v) ? 'heavy tail' : rounded(v[id], v.sd ?? v.mean_field_sd)),
    );
  const columns = [
    {id: 'variable', label: 'variable', title: 'Name', value: (v) => v.name, text: (v) => v.name, downFirst: false},
    moment('mean', 'Posterior mean', (v) => v.has_mean === false),
  ];
  if (response) {
    columns.push(
      moment('sd', 'Posterior sd', (v) => v.has_mean !== undefined),
      ...(isRobust ? [number('sd_robust', 'robust sd', ROBUST, (v) => v.sd_robust ?? null)] : []),
      number('lower', quantile(tail), 'Lower end of the interval', (v) => v.lower),
      number('upper', quantile(100 - tail), 'Upper end of the interval', (v) => v.upper),
    );
  }
  if (variables.some(({response_sd: sd}) => typeof sd === 'number')) {
    columns.push(number('response_sd', 'LRVB sd', 'Posterior sd by linear response', (v) => v.response_sd ?? null));
  }
  columns.push(number('mean_field_sd', 'MFVB sd', 'Posterior sd by mean field', (v) => v.mean_field_sd));
  if (response) {
    const ratio = (v) => (v.mean_field_sd > 0 && v.has_mean === undefined ? v.sd / v.mean_field_sd : null);
    columns.push(
      number('ratio', 'sd / MFVB', 'How many times the sd is what mean field says', ratio, (v) =>
        v.has_mean !== undefined ? 'heavy tail' : ratio(v) === null ? 'fixed' : fixed(ratio(v), 2),
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
        classOf: (v) => (v.verdict === 'ok' ? 'is-ok' : 'is-off'),
        numeric: false,
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
