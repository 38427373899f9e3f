/** Colour-blind safe colours; beyond seven things the lines' dashes tell them apart. */
export const COLOURS = 7;
export const colourOf = (k) => `var(--c${(k % COLOURS) + 1})`;
const DASHES = [[], [7, 3], [2, 2]];
export const dashOf = (k) => DASHES[Math.floor(k / COLOURS) % DASHES.length];
