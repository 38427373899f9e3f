// The kinds of model that the page has words and a picture of their own for, a line each.
import * as mixture from '../../kind/mixture/web/index.js';
import * as regression from '../../kind/regression/web/index.js';
import {AnyKind} from './any_kind.js';
import {AnyPicture} from './any_picture.js';

// By the name that contents.kind has. AnyKind says what they can say; what is not here is shown as AnyKind shows it.
const KINDS = new Map(Object.entries({mixture, regression}));
const ANY = {Kind: AnyKind, Picture: AnyPicture};

export function kindOf(contents, posterior) {
  const {Kind} = KINDS.get(contents.kind) ?? ANY;
  return new Kind(contents, posterior);
}

/** The picture of the model over its data; null where there is nothing to draw. */
export function pictureOf(kind, options) {
  const {Picture} = KINDS.get(kind.contents.kind) ?? ANY;
  return kind.hasPicture ? new Picture(kind, options) : null;
}
