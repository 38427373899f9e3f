// Elements are made here and nowhere else, and text is only ever text: no name in the data can become markup.

/** element('p', {class: 'note'}, 'text', child): attributes that are functions are listeners, false ones are left out. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function section(id, title, ...children) {
  return element('section', {id, 'aria-labelledby': `${id}-title`}, element('h2', {id: `${id}-title`}, title), children);
}

/** A labelled choice; `options` are [value, text] pairs. */
export function choice(label, options, value, onChange) {
  const select = element(
    'select',
    {change: () => onChange(select.value)},
    options.map(([key, text]) => element('option', {value: key, selected: String(key) === String(value)}, text)),
  );
  return element('label', {class: 'choice'}, element('span', {}, label), select);
}

/** What the lines and marks of a plot mean: [text, style of the swatch, colour] triples. */
export function legend(entries) {
  return element(
    'ul',
    {class: 'legend'},
    entries.map(([text, swatch, colour]) =>
      element('li', {}, element('span', {class: `swatch ${swatch}`, style: `--colour: ${colour}`, 'aria-hidden': 'true'}), text),
    ),
  );
}

/** What only some want to know, behind a line that says what it is. */
export function folded(summary, ...children) {
  return element('details', {}, element('summary', {}, summary), children);
}

/** A command to copy. */
export function command(text) {
  const said = element('span', {role: 'status', class: 'said'});
  const click = async () => {
    await copy(text);
    said.textContent = 'Copied.';
  };
  return element(
    'div',
    {class: 'command'},
    element('code', {dir: 'ltr'}, text),
    element('button', {type: 'button', class: 'small', 'data-copy': 'command', 'aria-label': 'Copy the command', click}, 'Copy'),
    said,
  );
}

/** A box to tick. */
export function tick(label, checked, onChange) {
  const box = element('input', {type: 'checkbox', change: () => onChange(box.checked)});
  box.checked = checked;
  return element('label', {class: 'tick'}, box, label);
}

/** The line that follows the pointer. */
let tip = null;

export function showTip(event, text) {
  if (!tip) {
    tip = element('div', {class: 'tip', role: 'tooltip'});
    document.body.append(tip);
  }
  tip.hidden = text === null || text === undefined || text === '';
  if (tip.hidden) return;
  tip.textContent = text;
  const x = Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 8);
  const y = event.clientY + 18 + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 18;
  tip.style.left = `${Math.max(4, x)}px`;
  tip.style.top = `${y}px`;
}

/** Text to the clipboard; also where the browser gives a page from a file no clipboard. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element('textarea', {class: 'offscreen', readonly: true});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

/** A button for each format, { CSV: () => text }, and a word that it was done. */
export function copyButtons(formats) {
  const said = element('span', {role: 'status', class: 'said'});
  const buttons = Object.entries(formats).map(([name, text]) => {
    const click = async () => {
      await copy(text());
      said.textContent = `Copied as ${name}.`;
    };
    return element('button', {type: 'button', 'data-copy': name, click}, `Copy as ${name}`);
  });
  return element('div', {class: 'buttons'}, buttons, said);
}
