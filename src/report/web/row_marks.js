import {located, spreadOf} from './numbers.js';
import {mark} from './plot.js';

const FACTS = 8; // of a row, in a tip

/** The rows that can be moved, as marks of a plot that are clicked and dragged. */
export class RowMarks {
  constructor(kind, {onSelect, onDrag, colourOfRow = () => 'var(--muted)'}) {
    const {posterior} = kind;
    this.kind = kind;
    this.posterior = posterior;
    this.colourOfRow = colourOfRow;
    this.onSelect = onSelect;
    this.onDrag = onDrag;
    const {row, inputs} = posterior.rows ?? {row: [], inputs: []};
    this.spreads = inputs.map((_, i) => spreadOf(row.map((_row, n) => posterior.value(n, i))));
  }

  /** The mark; `y` says where it lies up, `cursor` what the pointer can do with it. */
  static spec({y, cursor = 'grab'}) {
    return mark('symbol', 'rows', {
      x: {scale: 'x', field: 'x'},
      y,
      shape: {field: 'shape'},
      size: {field: 'size'},
      fill: {field: 'fill'},
      fillOpacity: {field: 'opacity'},
      stroke: {field: 'stroke'},
      strokeWidth: {field: 'line'},
      cursor: {value: cursor},
      tooltip: {field: 'tip'},
    });
  }

  /** Tuples for the plot, where each row now lies: inputs p across and, if given, q up. The chosen one is on top. */
  tuples(change, selected, p, q = p, place = null) {
    const {rows} = this.posterior;
    const tuples = rows.row.map((_, n) => {
      const changed = change?.rows.get(n);
      const input = (i) => changed?.values[i] ?? this.posterior.value(n, i);
      const [x, y] = place ? place(n, input) : [input(p), input(q)];
      const dropped = changed?.times === 0;
      const inputs = rows.inputs.map((own, i) => `${rows.inputs.length > 1 ? `${own} ` : ''}${located(input(i), this.spreads[i], 5)}`);
      const facts = [...inputs, ...this.kind.rowFacts(n).map(({name, text}) => `${name} ${text}`)].slice(0, FACTS);
      const special = n === selected || changed !== undefined;
      return {
        n,
        x,
        y,
        jitter: ((n + 1) * 0.6180339887498949) % 1,
        shape: dropped ? 'M-1,-1L1,1M-1,1L1,-1' : 'circle',
        size: (special ? 110 : 34) * (changed?.times === 2 ? 2 : 1),
        fill: special ? 'var(--accent)' : this.colourOfRow(n),
        opacity: special ? 0.95 : 0.55,
        stroke: dropped ? 'var(--accent)' : n === selected ? 'var(--ink)' : 'transparent',
        line: dropped ? 2.5 : 1.5,
        tip: `${[this.posterior.rowName(n), ...(facts.length > 0 ? [facts.join(', ')] : [])].join(': ')}${dropped ? ', dropped' : ''}`,
      };
    });
    return tuples.sort((a, b) => Number(a.n === selected) - Number(b.n === selected));
  }

  /** Clicks choose a row, drags move it; `inputsAt` gives the inputs of a row for a place in the plot, none if it stays. */
  attach(plot, inputsAt) {
    plot.view.addEventListener('pointerdown', (event, item) => {
      if (item?.mark?.name !== 'rowsMarks') return;
      event.preventDefault();
      const {n} = item.datum;
      this.onSelect(n);
      const start = [event.clientX, event.clientY];
      let dragging = false;
      const move = (moved) => {
        dragging ||= Math.hypot(moved.clientX - start[0], moved.clientY - start[1]) > 3;
        const inputs = dragging ? inputsAt(n, plot.at(moved)) : new Map();
        if (inputs.size > 0) this.onDrag(n, inputs);
      };
      const stop = () => {
        window.removeEventListener('pointermove', move);
        window.removeEventListener('pointerup', stop);
        window.removeEventListener('pointercancel', stop);
      };
      window.addEventListener('pointermove', move);
      window.addEventListener('pointerup', stop);
      window.addEventListener('pointercancel', stop);
    });
  }
}
