// The kinds of model that the page has words and a picture of their own for, a line each.
import * as mixture from '../../kind/mixture/web/index.js';
import * as regression from '../../kind/regression/web/index.js';
import {AnyKind} from './any_kind.js';
import {AnyPicture} from './any_picture.js';

// By the name that contents.kind has. AnyKind says what they can say; what is not here is shown as AnyKind shows it.
const KINDS = new Map(Object.entries({mixture, regression}));
const ANY = {Kind: AnyKind, Picture: AnyPicture};

/** A kind may have variants: models that share its name, and little else. */
function partsOf(contents) {
  const own = KINDS.get(contents.kind) ?? ANY;
  return own.variant?.(contents) ?? own;
}

export function kindOf(contents, posterior) {
  const {Kind} = partsOf(contents);
  return new Kind(contents, posterior);
}

/** The picture of the model over its data; null where there is nothing to draw. */
export function pictureOf(kind, options) {
  const {Picture} = partsOf(kind.contents);
  return kind.hasPicture ? new Picture(kind, options) : null;
}
