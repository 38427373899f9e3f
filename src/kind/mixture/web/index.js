export {MixtureKind as Kind} from './kind.js';
export {MixturePicture as Picture} from './picture.js';
