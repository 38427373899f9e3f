// Characters that turn the text around them, or cannot be seen: they have no place in a name, and are shown as what they
// are, something that is not to be read.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text that is cut where it is long. */
export const shortened = (text, most = 60) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);

/** Contents with such characters replaced, in every text. */
export function harmless(value) {
  if (typeof value === 'string') return value.replace(UNSEEN, '\ufffd');
  if (Array.isArray(value)) return value.map(harmless);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, harmless(own)]));
}
