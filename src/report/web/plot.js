import {transforms} from 'vega-dataflow';
import * as encoding from 'vega-encode';
import {expressionInterpreter} from 'vega-interpreter';
import {parse} from 'vega-parser';
import * as dataTransforms from 'vega-transforms';
import {View} from 'vega-view';
import * as viewTransforms from 'vega-view-transforms';

import {element, showTip} from './dom.js';
import {saveButtons} from './save.js';

Object.assign(transforms, dataTransforms, viewTransforms, encoding);

// Colours are those of the style sheet, so that a plot follows it into the dark and onto paper.
const INK = 'var(--ink)';
const MUTED = 'var(--muted)';
const FONT = 'system-ui, sans-serif';
const CONFIG = {
  background: null,
  axis: {
    domainColor: 'var(--line)',
    tickColor: 'var(--line)',
    gridColor: 'var(--grid)',
    labelColor: MUTED,
    titleColor: INK,
    labelFont: FONT,
    titleFont: FONT,
    labelFontSize: 12,
    titleFontSize: 13,
    titleFontWeight: 'normal',
    labelLimit: 170,
    titleLimit: 400,
  },
  text: {fill: INK, font: FONT},
};

/**
 * A plot in a figure with a caption, as wide as the page lets it be, that can be saved. `spec` is a Vega specification without width; its
 * data sets are filled by `show`. A signal `frame` of it is how wide the figure is, axes included.
 */
export class Plot {
  constructor({id, caption, description, spec, extra = []}) {
    this.frame = element('div', {class: 'plot'});
    const head = element('figcaption', {}, caption);
    this.figure = element('figure', {id}, head, this.frame, extra);
    head.after(saveButtons(this.figure, () => head.textContent));
    const whole = {
      $schema: 'https://vega.github.io/schema/vega/v5.json',
      description,
      width: 640,
      padding: 5,
      autosize: {type: 'fit-x', contains: 'padding', resize: true},
      ...spec,
    };
    this.view = new View(parse(whole, CONFIG, {ast: true}), {
      expr: expressionInterpreter,
      renderer: 'svg',
      container: this.frame,
      hover: true,
      loader: {load: refuse, sanitize: refuse},
    });
    this.view.tooltip((_, event, item, value) => showTip(event, item ? value : null));
    this.frame.addEventListener('pointerleave', (event) => showTip(event, null));
    new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (width === 0 || width === this.view.width()) return;
      if (spec.signals?.some(({name}) => name === 'frame')) this.view.signal('frame', width);
      this.view.width(width).runAsync();
    }).observe(this.frame);
  }

  /** Replaces data sets and signals, and draws. */
  show(data = {}, signals = {}) {
    for (const [name, value] of Object.entries(signals)) this.view.signal(name, value);
    for (const [name, tuples] of Object.entries(data)) this.view.data(name, tuples);
    this.view.resize().runAsync();
    return this;
  }

  /** Where a pointer is, in the units of the scales x and y. */
  at(event) {
    const svg = this.frame.querySelector('svg').getBoundingClientRect();
    const [left, top] = this.view.origin();
    return {
      x: this.view.scale('x').invert(event.clientX - svg.left - left),
      y: this.view.scale('y').invert(event.clientY - svg.top - top),
    };
  }
}

async function refuse() {
  throw new Error('the report loads nothing');
}

/** A continuous scale whose domain is a signal, and its axis. */
export function linear(name, range, domain = {signal: `${name}Domain`}) {
  return {name, type: 'linear', range, domain, zero: false, nice: false};
}

export const domainSignal = (name) => ({name: `${name}Domain`, value: [0, 1]});

/** The interval of some numbers, with a margin; never empty. */
export function extent(values, margin = 0.04) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(low <= high)) return [0, 1];
  const more = low === high ? Math.abs(low) * 0.1 || 1 : (high - low) * margin;
  return [low - more, high + more];
}

const PLACE = {x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}};

/** Marks of a data set. They are called after it, `rowsMarks`, in the specification and as a class in the page. */
export function mark(type, data, update, more = {}) {
  return {type, name: `${data}Marks`, from: {data}, encode: {update}, aria: false, ...more};
}

/** A dot for each tuple, with its tip. */
export function dots(data, {size, fill, opacity}) {
  return mark('symbol', data, {...PLACE, size: {value: size}, fill, fillOpacity: {value: opacity}, tooltip: {field: 'tip'}});
}

/** An interval with its mean for each tuple of 'whiskers', at the height that `y` says. */
export function whiskerMarks(y) {
  const tooltip = {field: 'tip'};
  return [
    mark('rule', 'whiskers', {
      x: {scale: 'x', field: 'lower'},
      x2: {scale: 'x', field: 'upper'},
      y,
      stroke: {field: 'colour'},
      strokeWidth: {field: 'width'},
      strokeOpacity: {field: 'opacity'},
      strokeCap: {value: 'round'},
      strokeDash: {field: 'dash'},
      tooltip,
    }),
    mark(
      'symbol',
      'whiskers',
      {x: {scale: 'x', field: 'mean'}, y, shape: {field: 'shape'}, size: {field: 'size'}, fill: {field: 'colour'}, tooltip},
      {name: 'dotMarks'},
    ),
  ];
}

/** A line through a data set. */
export function curve(data, stroke, width, dash = []) {
  return mark('line', data, {...PLACE, stroke: {value: stroke}, strokeWidth: {value: width}, strokeDash: {value: dash}});
}

/** A line for each value of a field, with the colour, dash and width of its tuples. */
export function curves(data, by) {
  const each = `${data}Curve`;
  const style = {stroke: {field: 'colour'}, strokeWidth: {field: 'width'}, strokeDash: {field: 'dash'}};
  return {
    type: 'group',
    from: {facet: {name: each, data, groupby: by}},
    marks: [{...mark('line', each, {...PLACE, ...style}), name: `${data}Marks`}],
  };
}

/** The area between the fields low and high. */
export function area(data) {
  return mark('area', data, {
    x: PLACE.x,
    y: {scale: 'y', field: 'low'},
    y2: {scale: 'y', field: 'high'},
    fill: {value: 'var(--band)'},
  });
}

/** An axis of numbers, with as many ticks as it has room for. */
export const across = (title, more = {}) => ({
  orient: 'bottom',
  scale: 'x',
  title,
  tickCount: {signal: 'max(3, width / 90)'},
  labelOverlap: true,
  ...more,
});
export const up = (title, more = {}) => ({orient: 'left', scale: 'y', title, grid: true, ...more});

/** Empty data sets, which `show` fills. */
export const dataSets = (...names) => names.map((name) => ({name, values: []}));
