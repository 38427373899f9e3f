export {FieldKind as Kind} from './field_kind.js';
export {FieldPicture as Picture} from './field_picture.js';
