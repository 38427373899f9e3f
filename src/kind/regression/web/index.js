import * as field from './field.js';

export {RegressionKind as Kind} from './kind.js';
export {RegressionPicture as Picture} from './picture.js';

/** Regressions by formula that do more than add up columns have words and a picture of their own. */
export const variant = ({model}) => (typeof model?.formula === 'string' && !model.terms ? field : null);
