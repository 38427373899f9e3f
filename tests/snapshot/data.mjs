// Data of the snapshot that the repository does not hold, drawn from a seed. Values are rounded to four decimals, so
// that the last bit of a logarithm does not matter.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

// mulberry32: 32 bits of state, the same numbers everywhere.
function generator(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const poisson = (mean) => {
    let count = 0;
    for (let product = uniform(); product > Math.exp(-mean); product *= uniform()) ++count;
    return count;
  };
  return { uniform, normal, poisson };
}

const rounded = (value, name) => (Number.isInteger(value) ? String(value) : String(Number(value.toFixed(name === "share" ? 15 : 4))));
const logistic = (value) => 1 / (1 + Math.exp(-value));

// 144 rows in 12 groups and, crossed with these, 8 others; classes are nested in the groups. A response of each family.
function grouped() {
  const { uniform, normal, poisson } = generator(20260701);
  const intercepts = Array.from({ length: 12 }, () => 0.8 * normal());
  const slopes = Array.from({ length: 12 }, () => 0.5 * normal());
  const others = Array.from({ length: 8 }, () => 0.6 * normal());
  const rows = [];
  for (let n = 0; n < 144; ++n) {
    const g = n % 12;
    const h = Math.floor(n / 12) % 8;
    const x = Number(normal().toFixed(4));
    const z = Number((5 + 2 * uniform()).toFixed(4));
    const time = Number((0.5 + 2 * uniform()).toFixed(4));
    const predictor = 0.5 + 0.7 * x + intercepts[g] + slopes[g] * x + others[h];
    const trials = 3 + Math.floor(8 * uniform());
    let successes = 0;
    for (let i = 0; i < trials; ++i) successes += uniform() < logistic(predictor - 0.5) ? 1 : 0;
    const w = 1 + Math.floor(3 * uniform());
    const precision = Number((0.5 + 2 * uniform()).toFixed(4));
    const heavy = normal() / Math.sqrt((normal() ** 2 + normal() ** 2 + normal() ** 2) / 3);
    rows.push({ y: predictor + 0.9 * normal(), t: predictor + 0.6 * heavy, count: poisson(time * Math.exp(0.6 * predictor)),
      binary: uniform() < logistic(predictor) ? 1 : 0, successes, trials, share: successes / trials, x, z, time, w,
      precision, g: `g${g + 1}`, h: `h${h + 1}`, class: `c${(n % 3) + 1}` });
  }
  return rows;
}

// 240 rows of two columns in three groups, with counts of rows and a gap.
function clusters() {
  const { uniform, normal } = generator(20260702);
  const rows = [];
  for (let n = 0; n < 240; ++n) {
    const k = n % 3;
    const a = normal();
    rows.push({ a: 3 * k + a, b: (k === 1 ? 4 : 0) + 0.5 * a + 0.8 * normal(), c: 2 * k - 0.5 * a + 0.7 * normal(),
      w: 1 + Math.floor(3 * uniform()) });
  }
  return rows;
}

export function writeData(folder) {
  for (const [name, rows] of Object.entries({ grouped: grouped(), clusters: clusters() })) {
    const columns = Object.keys(rows[0]);
    const lines = rows.map((row) => columns.map((c) => (typeof row[c] === "number" ? rounded(row[c], c) : row[c])).join(","));
    writeFileSync(join(folder, `${name}.csv`), [columns.join(","), ...lines].join("\n") + "\n");
  }
  writeFileSync(join(folder, "held.json"), '{"weights": [0.35, 0.65], "precisions": [17, 5]}\n');
}
