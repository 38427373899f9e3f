// Pictures as files: what a figure shows, with its caption above and its legend below, in the colours that it has now.
import {element} from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';
const FONT = 'system-ui, sans-serif';
const MARGIN = 12;
const LINE = 20;
const DOTS_PER_PIXEL = 2; // of a PNG, so that it can be printed

/** Buttons that save a figure. */
export function saveButtons(figure, captionOf) {
  const save = (format, bytesOf) =>
    element(
      'button',
      {
        type: 'button',
        class: 'small',
        'data-save': format,
        'aria-label': `Save the picture as ${format}`,
        click: async () => download(`${figure.id}.${format.toLowerCase()}`, await bytesOf()),
      },
      format,
    );
  return element(
    'div',
    {class: 'save'},
    save('SVG', () => new Blob([svgText(figure, captionOf())], {type: 'image/svg+xml'})),
    save('PNG', () => pngOf(svgText(figure, captionOf()))),
  );
}

function download(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = element('a', {href: address, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function node(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

const text = (x, y, content, more = {}) =>
  node('text', {x, y, fill: 'var(--ink)', 'font-family': FONT, 'font-size': 13, ...more}, content);

function svgText(figure, caption) {
  const plot = figure.querySelector('.plot svg');
  const width = Number(plot.getAttribute('width'));
  const height = Number(plot.getAttribute('height'));
  const pen = document.createElement('canvas').getContext('2d');
  const measure = (content, font) => {
    pen.font = font;
    return pen.measureText(content).width;
  };
  const lines = broken(caption, width - 2 * MARGIN, (content) => measure(content, `600 14px ${FONT}`));
  const top = MARGIN + lines.length * LINE;
  const keys = placed(figure, width, (content) => measure(content, `13px ${FONT}`));
  const below = keys.length > 0 ? (1 + keys.at(-1).line) * LINE + MARGIN : 0;
  const whole = node(
    'svg',
    {width, height: top + height + below, viewBox: `0 0 ${width} ${top + height + below}`},
    node('title', {}, caption),
    node('rect', {width: '100%', height: '100%', fill: 'var(--paper)'}),
    ...lines.map((line, i) => text(MARGIN, MARGIN + 6 + i * LINE, line, {'font-size': 14, 'font-weight': 600})),
    node('g', {transform: `translate(0,${top})`}, plot.cloneNode(true)),
    ...keys.map((key) => swatch(key, top + height + (key.line + 0.5) * LINE)),
  );
  return opaque(coloured(`<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(whole)}\n`));
}

/** A text in lines that are no wider than they may be. */
function broken(content, width, measure) {
  const lines = [];
  for (const word of content.split(' ')) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length > 0 && measure(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The entries of the legend, in lines as long as the picture is wide. */
function placed(figure, width, measure) {
  let [x, line] = [MARGIN, 0];
  return [...figure.querySelectorAll('.legend li')].map((entry) => {
    const mark = entry.querySelector('.swatch');
    const own = 34 + measure(entry.textContent);
    if (x > MARGIN && x + own > width) [x, line] = [MARGIN, line + 1];
    const key = {
      x,
      line,
      content: entry.textContent,
      colour: mark.style.getPropertyValue('--colour'),
      shape: mark.className.split(' ').at(-1),
    };
    x += own + 10;
    return key;
  });
}

function swatch({x, content, colour, shape}, y) {
  const stroke = {stroke: colour, 'stroke-width': 3};
  const marks = {
    dot: () => node('circle', {cx: x + 9, cy: y, r: 5, fill: colour}),
    ring: () => node('circle', {cx: x + 9, cy: y, r: 5, fill: 'none', stroke: colour, 'stroke-width': 1.5}),
    diamond: () => node('path', {d: `M${x + 9},${y - 6}l6,6l-6,6l-6,-6z`, fill: colour}),
    line: () => node('path', {d: `M${x},${y}h18`, ...stroke}),
    bar: () => node('path', {d: `M${x},${y}h18`, ...stroke, 'stroke-width': 5}),
    dashed: () => node('path', {d: `M${x},${y}h18`, ...stroke, 'stroke-width': 2, 'stroke-dasharray': '5 3'}),
    block: () => node('rect', {x, y: y - 6, width: 18, height: 12, fill: colour}),
  };
  return node('g', {}, (marks[shape] ?? marks.block)(), text(x + 24, y + 4, content, {fill: 'var(--muted)'}));
}

/** Colours of the style sheet as they are now: no other program knows it. */
function coloured(svg) {
  const style = getComputedStyle(document.documentElement);
  return svg.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

/** Transparency apart from colour, which is how SVG always had it. */
const opaque = (svg) =>
  svg.replace(/fill="rgba\((\d+), (\d+), (\d+), ([\d.]+)\)"/g, 'fill="rgb($1,$2,$3)" fill-opacity="$4"');

async function pngOf(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth * DOTS_PER_PIXEL;
  canvas.height = image.naturalHeight * DOTS_PER_PIXEL;
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}
