import {about} from './about.js';
import {correlations} from './correlations.js';
import {command, element, section} from './dom.js';
import {estimates} from './estimates.js';
import {influence} from './influence.js';
import {kindOf, pictureOf} from './kinds.js';
import {modelCheck} from './model_check.js';
import {MoveIt} from './move.js';
import {harmless} from './names.js';
import {optimaTable} from './optima.js';
import {parameters} from './parameters.js';
import {Posterior} from './posterior.js';
import {heading, modelCommand} from './verdict.js';

const contents = harmless(JSON.parse(document.getElementById('contents').textContent));
const posterior = new Posterior(contents);
const kind = kindOf(contents, posterior);

const note = (text) => element('p', {class: 'note'}, text);
const withoutData = 'This report was made without the data: give them to lrvb report after the fit.';
const withoutResponse =
  'The fit did not converge to a maximum, so there is no linear response: no error bars that hold, and nothing that could be moved.';
const withoutRows = 'Without a linear response there are no rows to draw.';
const withoutMoves = 'All parameters were held fixed: nothing moves.';
const withoutChanges = 'There is nothing here that could be changed: no rows, and no numbers of the prior.';

let move = null;

function moveSection() {
  if (!contents.response) return note(withoutResponse);
  if (!posterior.moves) return note(withoutMoves);
  if (!posterior.rows && posterior.priors.length === 0) return note(withoutChanges);
  move = new MoveIt(contents, posterior, kind);
  return move.element;
}

function moveRow(n) {
  move.select(n);
  document.getElementById('move').scrollIntoView();
  move.focusRow();
}

const MODEL = 'Does the model fit?';
const modelOffer = () => [
  note('Data drawn from the model, and residuals or quantiles, say. For this fit they were not asked, since that takes a while:'),
  command(modelCommand(contents)),
];

/** The answer, what it was seen in, and then all that one may ask about it. */
const SECTIONS = [
  ['estimates', 'The estimates', () => estimates(contents, kind)],
  ['data', kind.dataTitle, () => pictureOf(kind, {prefix: 'data'})?.element ?? note(contents.response ? withoutData : withoutRows)],
  ...kind.sections(),
  contents.model_check
    ? ['model', MODEL, () => modelCheck(contents, posterior)]
    : kind.drawsRows && posterior.rows && modelCommand(contents) && ['model', MODEL, modelOffer],
  contents.other_optima.length > 0 && ['optima', 'Other optima', () => optimaTable(contents)],
  ['parameters', 'The parameters', () => parameters(contents)],
  contents.response &&
    posterior.correlated.length > 1 && ['correlations', 'The correlations', () => correlations(posterior, kind)],
  contents.response && [
    'influence',
    'The influence',
    () => (posterior.rows ? influence(contents, posterior, kind, moveRow) : note(withoutData)),
  ],
  ['move', 'Move it', moveSection],
].filter(Boolean);

// One key for the part that is alive, from anywhere but a field that takes letters.
const MOVE_KEY = 'm';
document.addEventListener('keydown', (event) => {
  const takesLetters = event.target.matches?.('select, textarea, input:not([type=checkbox], [type=radio], [type=range])');
  if (event.key !== MOVE_KEY || event.ctrlKey || event.metaKey || event.altKey || takesLetters) return;
  event.preventDefault();
  const title = document.getElementById('move-title');
  title.scrollIntoView();
  title.focus({preventScroll: true});
});

function link([id, title]) {
  const isMove = id === 'move';
  return element(
    'li',
    {},
    element('a', {href: `#${id}`, class: isMove && 'live', 'aria-keyshortcuts': isMove && MOVE_KEY}, title),
    isMove && [' ', element('kbd', {title: 'The key that goes there'}, MOVE_KEY)],
  );
}

const main = document.getElementById('report');
// What is alive comes first, where a narrow page shows it too.
const links = [...SECTIONS.filter(([id]) => id === 'move'), ...SECTIONS.filter(([id]) => id !== 'move')].map(link);
main.append(...heading(contents, kind), element('nav', {'aria-label': 'Sections'}, element('ul', {}, links)));
for (const [id, title, build] of SECTIONS) {
  // A fault in one section must not take the verdict and the others with it.
  try {
    main.append(section(id, title, build()));
  } catch (error) {
    console.error(error);
    main.append(section(id, title, note('This section could not be drawn.')));
  }
}
document.getElementById('move-title').tabIndex = -1;
main.append(about(contents, kind));
document.documentElement.dataset.ready = 'true';
