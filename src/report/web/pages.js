/** Some at a time: pages of things, with a title from the first to the last of each. */
export function paged(things, size, titleOf, figuresOf) {
  return Array.from({length: Math.ceil(things.length / size)}, (_, page) => {
    const own = things.slice(page * size, (page + 1) * size);
    return {title: `${titleOf(own[0])} \u2026 ${titleOf(own.at(-1))}`, figures: () => figuresOf(own, page * size)};
  });
}

/** Things by a key, in the order of the keys' first ones: pairs of a key and its things. */
export function groupsBy(things, keyOf) {
  const groups = new Map();
  for (const thing of things) {
    const key = keyOf(thing);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(thing);
  }
  return [...groups];
}

/** Panels of the estimates: variables of one unit share one. */
export function panelsOf(variables) {
  return groupsBy(variables, ({panel}) => panel).map(([title, own]) => ({title, variables: own, aboutZero: false}));
}
