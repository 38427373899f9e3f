import {element} from './dom.js';
import {significant, typed} from './numbers.js';

/**
 * A number of the prior as a slider with a field beside it. Its place t runs from −1 to 1, with the fitted value in the
 * middle and the trusted range between −½ and ½: what is positive moves by powers of four, the others by even steps.
 */
export class PriorSlider {
  constructor(prior, onChange) {
    this.prior = prior;
    this.onChange = onChange;
    this.value = prior.value;
    const {name, value, low, high, kind} = prior;
    const unit = (high - low) / (4 - 0.25);
    const even = kind !== 'positive';
    this.valueAt = even ? (t) => value + (t * (high - low)) / 2 : (t) => value - unit + unit * 4 ** t;
    this.placeOf = even ? (v) => (2 * (v - value)) / (high - low) : (v) => Math.log((v - value) / unit + 1) / Math.log(4);

    this.range = element('input', {
      type: 'range',
      min: -1,
      max: 1,
      step: 0.01,
      value: 0,
      'data-prior': name,
      'aria-label': `Prior ${name}`,
      input: () => this.slide(Number(this.range.value)),
    });
    this.field = element('input', {
      type: 'number',
      step: 'any',
      value: this.shown(value),
      'data-prior-value': name,
      'aria-label': `Prior ${name}, as a number`,
      change: () => this.type(this.field.value),
    });
    this.mark = element('span', {class: 'beyond', role: 'status'});
    this.element = element(
      'div',
      {class: 'slider'},
      element('span', {class: 'name'}, name),
      element('span', {class: 'track'}, this.range),
      this.field,
      this.mark,
    );
  }

  shown(value) {
    return typed(value, this.prior.high - this.prior.low);
  }

  slide(t) {
    // What the field shows is what is meant.
    this.set(t === 0 ? this.prior.value : Number(this.shown(this.valueAt(t))));
    this.field.value = this.shown(this.value);
    this.onChange(this.value);
  }

  /** What is empty, or as it was shown, is the fitted value. */
  type(text) {
    const {value, least, most} = this.prior;
    const meant = text === '' || text === this.shown(value) ? value : Number(text);
    if (meant <= (least ?? -Infinity) || meant >= (most ?? Infinity)) {
      this.field.value = this.shown(this.value);
      this.mark.textContent = meant <= least ? `must be above ${significant(least)}` : `must be below ${significant(most)}`;
      return;
    }
    this.set(meant);
    const place = this.placeOf(meant);
    this.range.value = String(Math.max(-1, Math.min(1, place)));
    if (text === '') this.field.value = this.shown(value);
    this.onChange(this.value);
  }

  set(value) {
    const {trusted_low: low, trusted_high: high} = this.prior;
    const beyond = value < low || value > high;
    this.value = value;
    this.mark.textContent = beyond ? 'beyond trust' : '';
    this.element.classList.toggle('is-beyond', beyond);
    this.range.setAttribute('aria-valuetext', `${significant(value)}${beyond ? ', beyond trust' : ''}`);
  }

  reset() {
    this.set(this.prior.value);
    this.range.value = '0';
    this.field.value = this.shown(this.prior.value);
  }
}
