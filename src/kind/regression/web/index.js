import * as field from './field.js';

export {RegressionKind as Kind} from './kind.js';
export {RegressionPicture as Picture} from './picture.js';

/** Regressions by formula are of this kind too, and have words and a picture of their own. */
export const variant = ({model}) => (typeof model?.formula === 'string' ? field : null);
