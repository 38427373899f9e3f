import {element} from './dom.js';
import {pictureOf} from './kinds.js';
import {fixed, located, plural, rounded} from './numbers.js';
import {noChange} from './posterior.js';
import {RowPanel} from './row_panel.js';
import {PriorSlider} from './slider.js';
import {framed, tableButtons} from './table.js';
import {TRUSTED_SHIFT, doubts} from './trust.js';

const FOLDED = 12; // sliders of one group, beyond which they are folded away

/** What is shift in posterior sds; nothing of what is held. */
const inSds = ({variable, moved}) => (variable.sd > 0 ? (moved - variable.mean) / variable.sd : 0);

// Of the table, for an item with a variable and where its mean moves to.
const COLUMNS = [
  {id: 'variable', label: 'variable', value: ({variable}) => variable.name, text: ({variable}) => variable.name},
  {id: 'mean', label: 'mean', value: ({variable}) => variable.mean, text: ({variable}) => rounded(variable.mean, variable.sd)},
  {id: 'moved', label: 'moves to', value: ({moved}) => moved, text: ({variable, moved}) => rounded(moved, variable.sd)},
  {
    id: 'shift',
    label: 'shift in sds',
    value: inSds,
    text: (item) => (item.variable.sd > 0 ? fixed(inSds(item), 3) : 'fixed'),
  },
];

/**
 * The linear response, live: sliders for the prior and rows that are dragged, dropped or counted twice move the means
 * at once, by the matrices that are in the page.
 */
export class MoveIt {
  constructor(contents, posterior, kind) {
    this.contents = contents;
    this.posterior = posterior;
    this.kind = kind;
    this.change = noChange();
    this.selected = null;

    this.picture = pictureOf(kind, {
      prefix: 'move',
      movable: true,
      onSelect: (n) => this.select(n),
      onDrag: (n, inputs) => this.drag(n, new Map([...inputs].map(([i, value]) => [i, Number(this.panel.shown(value, i))]))),
    });
    this.sliders = posterior.priors.map((prior, h) => new PriorSlider(prior, (value) => this.setPrior(h, value)));
    this.panel = posterior.rows
      ? new RowPanel(kind, {
          onSelect: (n) => this.select(n),
          onTimes: (times) => this.editRow(this.selected, (row) => ({...row, times})),
          onValue: (i, text) => this.typeValue(i, text),
          onPutBack: () => this.putBack(this.selected),
        })
      : null;
    this.banner = element('div', {class: 'card banner', id: 'trust', role: 'status'});
    this.changes = element('ul', {class: 'changes', id: 'changes'});
    this.body = element('tbody');
    this.rows = posterior.variables.map((variable, v) => this.tableRow(variable, v));
    this.body.append(...this.rows.map(({row}) => row));
    this.element = this.layout();
    this.refresh();
  }

  layout() {
    return element(
      'div',
      {},
      element(
        'p',
        {},
        `What would the answer be under another prior, or without that row? The first order says, at once. ${this.kind.movedWords}`,
      ),
      this.kind.caution !== '' && element('p', {class: 'note'}, this.kind.caution),
      element(
        'div',
        {class: 'move'},
        element('div', {class: 'controls'}, this.panel?.element, this.priorPanel()),
        element(
          'div',
          {class: 'moved'},
          this.banner,
          this.picture?.element,
          element(
            'div',
            {class: 'changed'},
            element('button', {type: 'button', id: 'reset', click: () => this.reset()}, 'Undo all'),
            this.changes,
          ),
          framed(
            element(
              'table',
              {id: 'moved-table'},
              element(
                'thead',
                {},
                element(
                  'tr',
                  {},
                  [...COLUMNS.map(({label}) => label), ''].map((head) => element('th', {scope: 'col'}, head)),
                ),
              ),
              this.body,
            ),
            'Table of the moved means',
            {tall: true},
          ),
          tableButtons(COLUMNS, () => this.rows.map(({variable}, v) => ({variable, moved: this.moved[v]}))),
        ),
      ),
    );
  }

  /** The sliders; those that are many of a group, and those off the diagonal of a matrix, are folded away. */
  priorPanel() {
    const left = this.contents.priors_left_out;
    if (this.sliders.length === 0 && !(left > 0)) return null;
    const titles = new Map();
    for (const slider of this.sliders) {
      const {group, kind} = slider.prior;
      const title = kind === 'off_diagonal' ? 'off the diagonal' : group;
      titles.set(title, [...(titles.get(title) ?? []), slider]);
    }
    const groups = [...titles].map(([title, sliders]) => {
      const elements = sliders.map((slider) => slider.element);
      const folded = sliders.length > FOLDED || sliders[0].prior.kind === 'off_diagonal';
      return folded ? element('details', {}, element('summary', {}, `${sliders.length} of ${title}`), elements) : elements;
    });
    return element(
      'fieldset',
      {id: 'prior-panel'},
      element('legend', {}, 'The prior'),
      groups,
      left > 0 && element('p', {class: 'note'}, `${left} more were left out for size: lrvb sensitivity has them.`),
    );
  }

  tableRow(variable, v) {
    const to = element('td', {'data-column': 'moved', 'data-label': 'moves to'});
    const shift = element('td', {'data-column': 'shift', 'data-label': 'shift in sds'});
    const bar = element('span', {class: 'shift-bar', 'aria-hidden': 'true'});
    const row = element(
      'tr',
      {'data-variable': variable.name},
      element('th', {scope: 'row'}, variable.name),
      element('td', {'data-label': 'mean'}, rounded(variable.mean, variable.sd)),
      to,
      shift,
      element('td', {class: 'shift-cell'}, bar),
    );
    return {row, to, shift, bar, variable, v};
  }

  // --- what is changed ------------------------------------------------------------------------------------------

  setPrior(h, value) {
    if (value === this.posterior.priors[h].value || !Number.isFinite(value)) this.change.priors.delete(h);
    else this.change.priors.set(h, value);
    this.refresh();
  }

  select(n) {
    this.selected = n;
    this.refresh();
  }

  focusRow() {
    this.panel?.number.focus({preventScroll: true});
  }

  /** What is empty, or as it was shown, is the row's own value. */
  typeValue(i, text) {
    const own = this.posterior.value(this.selected, i);
    this.drag(this.selected, new Map([[i, text === '' || text === this.panel.shown(own, i) ? own : Number(text)]]));
  }

  drag(n, inputs) {
    if (n === null) return;
    this.editRow(n, (row) => ({
      times: row.times === 0 ? 1 : row.times,
      values: row.values.map((value, i) => (Number.isFinite(inputs.get(i)) ? inputs.get(i) : value)),
    }));
  }

  editRow(n, edit) {
    if (n === null) return;
    const {posterior} = this;
    const own = posterior.rows.inputs.map((_, i) => posterior.value(n, i));
    const row = edit(this.change.rows.get(n) ?? {times: 1, values: own});
    const same = row.times === 1 && row.values.every((value, i) => value === own[i]);
    if (same) this.change.rows.delete(n);
    else this.change.rows.set(n, row);
    this.refresh();
  }

  putBack(n) {
    this.change.rows.delete(n);
    this.refresh();
  }

  reset() {
    this.change = noChange();
    for (const slider of this.sliders) slider.reset();
    this.refresh();
  }

  // --- what is shown --------------------------------------------------------------------------------------------

  refresh() {
    const shifts = this.posterior.shifts(this.change);
    const moved = shifts.map((shift, v) => this.posterior.means[v] + shift);
    const reasons = doubts(this.posterior, this.kind, this.change);
    this.showBanner(reasons, shifts);
    this.showChanges();
    this.showTable(shifts, moved);
    this.panel?.show(this.selected, this.change.rows.get(this.selected));
    this.moved = moved;
    if (!this.picture || this.waiting) return;
    this.waiting = true; // however many events there are, one picture a frame
    requestAnimationFrame(() => {
      this.waiting = false;
      this.picture.update(this.moved, this.change, this.selected);
    });
  }

  showBanner(reasons, shifts) {
    const nothing = this.change.priors.size + this.change.rows.size === 0;
    const largest = shifts.reduce((most, shift, v) => Math.max(most, Math.abs(shift) / (this.posterior.sd(v) || Infinity)), 0);
    const state = nothing ? 'still' : reasons.length > 0 ? 'careful' : 'good';
    this.banner.className = `card banner ${state}`;
    this.banner.dataset.trust = nothing ? 'nothing' : reasons.length > 0 ? 'beyond' : 'within';
    const headline = {
      still: 'Nothing is changed yet.',
      good: `Small enough to trust: no mean is predicted to move by more than ${fixed(largest, 3)} posterior sds.`,
      careful: 'Larger than linear response should be trusted with: refit to be sure.',
    }[state];
    this.banner.replaceChildren(
      element('p', {class: 'headline'}, headline),
      ...reasons.slice(0, 3).map((reason) => element('p', {}, `${reason}.`)),
      ...(reasons.length > 3 ? [element('p', {}, `And ${plural(reasons.length - 3, 'reason')} more.`)] : []),
    );
  }

  showChanges() {
    const chip = (text, label, undo) =>
      element('li', {}, `${text} `, element('button', {type: 'button', class: 'undo', 'aria-label': label, click: undo}, '\u2715'));
    const priors = [...this.change.priors].map(([h, value]) => {
      const {name, value: fitted} = this.posterior.priors[h];
      return chip(`${name} ${located(fitted, Math.abs(value - fitted))} \u2192 ${located(value, Math.abs(value - fitted))}`, `Put ${name} back`, () => {
        this.sliders[h].reset();
        this.setPrior(h, fitted);
      });
    });
    const rows = [...this.change.rows].map(([n, row]) => {
      const own = this.posterior.rowName(n);
      const moves = row.values.some((value, i) => value !== this.posterior.value(n, i));
      const what = row.times === 0 ? 'dropped' : [row.times === 2 && 'counted twice', moves && 'moved'].filter(Boolean).join(', ');
      return chip(`${own} ${what}`, `Put ${own} back`, () => this.putBack(n));
    });
    this.changes.replaceChildren(...priors, ...rows);
    this.element.classList.toggle('is-still', priors.length + rows.length === 0);
  }

  showTable(shifts, moved) {
    const largest = Math.max(TRUSTED_SHIFT, ...shifts.map((shift, v) => Math.abs(shift) / (this.posterior.sd(v) || Infinity)));
    for (const {to, shift, bar, variable, v, row} of this.rows) {
      const sds = variable.sd > 0 ? shifts[v] / variable.sd : 0;
      to.textContent = rounded(moved[v], variable.sd);
      to.dataset.value = String(moved[v]);
      shift.textContent = variable.sd > 0 ? fixed(sds, 3) : 'fixed';
      shift.dataset.value = String(sds);
      row.classList.toggle('is-beyond', Math.abs(sds) > TRUSTED_SHIFT);
      const width = (50 * Math.abs(sds)) / largest;
      bar.style.width = `${width}%`;
      bar.style.left = `${sds < 0 ? 50 - width : 50}%`;
    }
  }
}
