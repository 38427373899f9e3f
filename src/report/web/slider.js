import {element} from './dom.js';
import {significant} from './numbers.js';

/**
 * A number of the prior as a slider with a field beside it. Its place t runs from −1 to 1, with the fitted value in the
 * middle and the trusted range between −½ and ½: a location moves by t steps, what is positive by powers of four.
 */
export class PriorSlider {
  constructor(prior, onChange) {
    this.prior = prior;
    this.onChange = onChange;
    const {value, low, high} = prior;
    const even = Math.abs(value - low - (high - value)) <= 1e-9 * (high - low);
    const unit = (high - low) / (4 - 0.25);
    this.valueAt = even ? (t) => value + (t * (high - low)) / 2 : (t) => value - unit + unit * 4 ** t;
    this.placeOf = even ? (v) => (2 * (v - value)) / (high - low) : (v) => Math.log((v - value) / unit + 1) / Math.log(4);

    const name = prior.name;
    this.shown = String(Number(value.toPrecision(6)));
    this.range = element('input', {
      type: 'range',
      min: -1,
      max: 1,
      step: 0.01,
      value: 0,
      'data-prior': name,
      'aria-label': `Prior ${name}`,
      input: () => this.set(Number(this.range.value) === 0 ? value : this.valueAt(Number(this.range.value)), this.range),
    });
    this.field = element('input', {
      type: 'number',
      step: 'any',
      value: this.shown,
      'data-prior-value': name,
      'aria-label': `Prior ${name}, as a number`,
      change: () => this.set(this.typed(), this.field),
    });
    this.mark = element('span', {class: 'beyond', hidden: true}, 'beyond trust');
    this.element = element('div', {class: 'slider'}, element('span', {class: 'name'}, name), element('span', {class: 'track'}, this.range), this.field, this.mark);
  }

  /** `source` is the control that said so, which keeps what the user typed. */
  set(value, source = null) {
    const {trusted_low: low, trusted_high: high} = this.prior;
    const beyond = value < low || value > high;
    this.mark.hidden = !beyond;
    this.element.classList.toggle('is-beyond', beyond);
    if (source !== this.range) {
      const place = this.placeOf(value);
      this.range.value = String(Number.isNaN(place) ? -1 : Math.max(-1, Math.min(1, place)));
    }
    if (source !== this.field) this.field.value = value === this.prior.value ? this.shown : String(Number(value.toPrecision(6)));
    const meant = this.typed(); // what the field shows is what is meant
    this.range.setAttribute('aria-valuetext', `${significant(meant)}${beyond ? ', beyond trust' : ''}`);
    if (source) this.onChange(meant === this.prior.value ? null : meant);
  }

  /** The field shows the fitted value rounded, and means it as it is. */
  typed() {
    const text = this.field.value;
    return text === '' || text === this.shown ? this.prior.value : Number(text);
  }

  reset() {
    this.set(this.prior.value);
  }
}
