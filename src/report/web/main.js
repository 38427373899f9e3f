import {about} from './about.js';
import {correlations} from './correlations.js';
import {element, section} from './dom.js';
import {influence} from './influence.js';
import {MixturePicture} from './mixture_picture.js';
import {MoveIt} from './move.js';
import {parameters} from './parameters.js';
import {Posterior} from './posterior.js';
import {RegressionPicture} from './regression_picture.js';
import {heading} from './verdict.js';

const contents = JSON.parse(document.getElementById('contents').textContent);
const posterior = new Posterior(contents);

/** The picture of the model over its data; a regression without its rows has none. */
function picture(options) {
  if (contents.model.kind === 'mixture') return new MixturePicture(contents, posterior, options);
  return posterior.rows ? new RegressionPicture(contents, posterior, options) : null;
}

const withoutData = 'This report was made without the data: give them to lrvb report after the fit.';
const withoutResponse = 'The fit did not converge to a maximum, so there is no linear response: no error bars that hold, and nothing that could be moved.';

function sections() {
  const result = [];
  const data = picture({prefix: 'data'});
  const title = contents.model.kind === 'mixture' && !contents.histograms ? 'The fit' : 'The data and the fit';
  result.push(section('data', title, data ? data.element : element('p', {class: 'note'}, withoutData)));
  result.push(section('parameters', 'The parameters', parameters(contents)));
  if (!contents.response) {
    result.push(section('move', 'Move it', element('p', {class: 'note'}, withoutResponse)));
    return result;
  }
  if (posterior.correlated.length > 1) {
    result.push(section('correlations', 'The correlations', correlations(contents, posterior)));
  }
  const move = new MoveIt(contents, posterior, picture);
  const rows = posterior.rows
    ? influence(contents, posterior, (n) => {
        move.select(n);
        document.getElementById('move').scrollIntoView();
        move.focusRow();
      })
    : element('p', {class: 'note'}, withoutData);
  result.push(section('influence', 'The influence', rows));
  result.push(section('move', 'Move it', move.element));
  return result;
}

const main = document.getElementById('report');
const all = sections();
const links = all.map((one) => element('li', {}, element('a', {href: `#${one.id}`}, one.querySelector('h2').textContent)));
main.append(
  ...heading(contents),
  element('nav', {'aria-label': 'Sections'}, element('ul', {}, links)),
  ...all,
  about(contents),
);
document.documentElement.dataset.ready = 'true';
