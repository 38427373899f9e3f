import {element} from './dom.js';
import {typed} from './numbers.js';

const TIMES = [
  [1, 'keep it'],
  [0, 'drop it'],
  [2, 'count it twice'],
];

/** The controls of one row: which it is, how often it counts, and where it lies, if that can be changed. */
export class RowPanel {
  constructor(kind, {onSelect, onTimes, onValue, onPutBack}) {
    const {posterior} = kind;
    this.kind = kind;
    this.posterior = posterior;
    this.onSelect = onSelect;
    const {rows} = posterior;
    this.positions = new Map(rows.row.map((row, n) => [row, n]));
    this.number = element('input', {
      type: 'number',
      id: 'row-number',
      min: rows.row[0],
      max: rows.row.at(-1),
      step: 1,
      change: () => this.asked(Number(this.number.value)),
    });
    this.said = element('span', {role: 'status', class: 'said'});
    this.times = TIMES.map(([times, label]) => {
      const radio = element('input', {type: 'radio', name: 'times', value: times, change: () => onTimes(times)});
      return element('label', {}, radio, label);
    });
    this.values = (posterior.rowsMove ? rows.inputs : []).map((name, i) => {
      const field = element('input', {type: 'number', step: 'any', 'data-input': name, change: () => onValue(i, field.value)});
      return {field, label: element('label', {class: 'choice'}, element('span', {}, name), field)};
    });
    this.told = element('p', {class: 'hint'});
    this.back = element('button', {type: 'button', click: () => onPutBack()}, 'Put it back');
    this.controls = element(
      'div',
      {class: 'row-controls', hidden: true},
      element('div', {class: 'radios', role: 'radiogroup', 'aria-label': 'How often the row counts'}, this.times),
      this.told,
      element(
        'div',
        {class: 'choices'},
        this.values.map(({label}) => label),
        this.back,
      ),
    );
    this.element = element(
      'fieldset',
      {id: 'row-panel'},
      element('legend', {}, 'A row'),
      element(
        'p',
        {class: 'hint'},
        `Click a point${posterior.rowsMove ? ' and drag it' : ''}, or choose its number. `,
        posterior.note,
      ),
      element('div', {class: 'choices'}, element('label', {class: 'choice'}, element('span', {}, 'Row'), this.number), this.said),
      this.controls,
    );
  }

  shown(value, i) {
    return typed(value, this.posterior.rows.reach[i]);
  }

  asked(row) {
    const n = this.positions.get(row);
    if (n !== undefined) {
      this.onSelect(n);
      return;
    }
    const {rows} = this.posterior;
    this.said.textContent = rows.all ? `There is no row ${row}.` : `Row ${row} is not in this report: lrvb influence knows it.`;
  }

  /** Shows a row as it is now. */
  show(n, changed) {
    this.controls.hidden = n === null;
    this.said.textContent = '';
    if (n === null) {
      this.number.value = '';
      return;
    }
    this.number.value = String(this.posterior.rows.row[n]);
    const times = changed?.times ?? 1;
    for (const label of this.times) {
      const radio = label.querySelector('input');
      radio.checked = Number(radio.value) === times;
    }
    this.values.forEach(({field}, i) => {
      field.disabled = times === 0;
      if (document.activeElement !== field) field.value = this.shown(changed?.values[i] ?? this.posterior.value(n, i), i);
    });
    const {rows, rowsMove} = this.posterior;
    const inputs = rowsMove ? [] : rows.inputs.map((name, i) => `${name} ${this.shown(this.posterior.value(n, i), i)}`);
    const facts = this.kind.rowFacts(n).map(({name, text}) => `${name} ${text}`);
    const label = this.posterior.label(n);
    this.told.textContent = [...(label ? [label] : []), ...inputs, ...facts].join(', ');
    this.told.hidden = this.told.textContent === '';
    this.back.disabled = changed === undefined;
  }
}
