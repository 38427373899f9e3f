import {grouped, located} from './numbers.js';
import {mark} from './plot.js';

/** The bars of a histogram, with how many rows each has, and how many for each unit of one row. */
export function barsOf({start, step, counts}) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count, i) => {
    const from = start + i * step;
    const to = from + step;
    const tip = `${located(from, 10 * step, 4)} to ${located(to, 10 * step, 4)}: ${grouped(count)}`;
    return {from, to, count, density: count / (total * step), tip};
  });
}

export const endsOf = ({start, step, counts}) => [start, start + step * counts.length];

/** Their marks, as high as a field says. */
export function bars(data, field) {
  const width = "scale('x', datum.to) - scale('x', datum.from)";
  return mark('rect', data, {
    x: {scale: 'x', field: 'from'},
    width: {signal: `max(1, ${width} > 3 ? ${width} - 1 : ${width})`}, // fine ones without gaps, and never too thin to be seen
    y: {scale: 'y', field},
    y2: {scale: 'y', value: 0},
    fill: {value: 'var(--bar)'},
    tooltip: {field: 'tip'},
  });
}

/** Where rows lie below a histogram, in a strip as high as the signal of this name says. */
export const IN_STRIP = {signal: 'height - strip + 6 + datum.jitter * (strip - 12)'};
