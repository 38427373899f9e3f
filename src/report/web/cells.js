import {grouped} from './numbers.js';
import {mark} from './plot.js';

/** Rows that are too many to be drawn one by one, as cells that are the darker the more of them they have. */
export function cells(data) {
  return mark('rect', data, {
    x: {scale: 'x', field: 'x'},
    x2: {scale: 'x', field: 'x2'},
    y: {scale: 'y', field: 'y'},
    y2: {scale: 'y', field: 'y2'},
    fill: {field: 'colour'},
    fillOpacity: {field: 'opacity'},
    tooltip: {field: 'tip'},
  });
}

/** The cells of counts {x_start, x_step, y_start, y_step, cells}; `colourAt` colours one by its middle. */
export function cellsOf(bins, colourAt = () => 'var(--muted)') {
  const most = bins.cells.reduce((largest, [, , count]) => Math.max(largest, count), 0);
  return bins.cells.map(([i, j, count]) => {
    const x = bins.x_start + i * bins.x_step;
    const y = bins.y_start + j * bins.y_step;
    return {
      x,
      x2: x + bins.x_step,
      y,
      y2: y + bins.y_step,
      opacity: 0.08 + 0.8 * Math.sqrt(count / most),
      colour: colourAt(x + bins.x_step / 2, y + bins.y_step / 2),
      tip: `${grouped(count)} ${count === 1 ? 'row' : 'rows'}`,
    };
  });
}

/** The cells of a pair of columns, whichever of the two was binned across. */
export function cellsOfPair(pairs, p, q, colourAt) {
  const bins = pairs?.bins.find((one) => (one.p === p && one.q === q) || (one.p === q && one.q === p));
  if (!bins) return [];
  if (bins.p === p) return cellsOf(bins, colourAt);
  const {x_start, x_step, y_start, y_step} = bins;
  const turned = bins.cells.map(([i, j, count]) => [j, i, count]);
  return cellsOf({x_start: y_start, x_step: y_step, y_start: x_start, y_step: x_step, cells: turned}, colourAt);
}
