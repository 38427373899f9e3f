export {RegressionKind as Kind} from './kind.js';
export {RegressionPicture as Picture} from './picture.js';
