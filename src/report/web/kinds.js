import {MixtureKind} from '../../kind/mixture/web/kind.js';
import {MixturePicture} from '../../kind/mixture/web/picture.js';
import {RegressionKind} from '../../kind/regression/web/kind.js';
import {RegressionPicture} from '../../kind/regression/web/picture.js';
import {AnyKind} from './any_kind.js';
import {AnyPicture} from './any_picture.js';

// The kinds of model that the page has words and a picture of their own for, one line each. AnyKind says what they can
// say; a kind that is not here is shown as AnyKind shows it.
const KINDS = new Map([
  ['mixture', [MixtureKind, MixturePicture]],
  ['regression', [RegressionKind, RegressionPicture]],
]);

const entryOf = ({kind}) => KINDS.get(kind) ?? [AnyKind, AnyPicture];

export function kindOf(contents, posterior) {
  const [Kind] = entryOf(contents);
  return new Kind(contents, posterior);
}

/** The picture of the model over its data; null where there is nothing to draw. */
export function pictureOf(kind, options) {
  const [, Picture] = entryOf(kind.contents);
  return kind.hasPicture ? new Picture(kind, options) : null;
}
