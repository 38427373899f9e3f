// A kind of model that the page has never heard of, with every number from a closed form: counts y ~ Poisson(λ_g e) of
// rows with exposures e in groups g, and λ_g ~ Gamma(shape, rate). The posterior of λ_g is Gamma(A, B), with A the shape
// and the counts of its group, and B the rate and its exposures: mean A/B, variance A/B².

const base64 = (numbers, Type = Float64Array) => Buffer.from(Type.from(numbers).buffer).toString('base64');

export const SHAPE = 2;
export const RATE = 1.5;
const Z = 1.6448536269514722; // the 95 % point of the normal

/** Rows {group, count, exposure}, without chance. */
export function countRows(rows, groups) {
  return Array.from({length: rows}, (_, n) => {
    const exposure = 1 + 0.8 * Math.sin(1.7 * n);
    return {group: n % groups, count: Math.round(exposure * (2 + (n % groups)) + 1.5 * Math.cos(2.3 * n)), exposure};
  });
}

/** Mean and sd of each λ. */
export function countPosterior(rows, groups, shape = SHAPE, rate = RATE) {
  return Array.from({length: groups}, (_, g) => {
    const own = rows.filter(({group}) => group === g);
    const A = own.reduce((sum, {count, times = 1}) => sum + times * count, shape);
    const B = own.reduce((sum, {exposure, times = 1}) => sum + times * exposure, rate);
    return {A, B, mean: A / B, sd: Math.sqrt(A) / B};
  });
}

/**
 * What a page of such a fit would hold. `inputs` are the columns of each row that are in it, `moves` says whether they
 * can be moved, and `histograms` of which columns there are histograms; `data` false leaves out all rows.
 */
export function countContents({rows = 60, groups = 3, inputs = [], moves = false, histograms = [], data = true} = {}) {
  const all = countRows(rows, groups);
  const posterior = countPosterior(all, groups);
  const variables = posterior.map(({A, B, mean, sd}, g) => ({
    name: `rate[${g + 1}]`,
    group: 'rate',
    indices: [g + 1],
    role: 'scale',
    panel: 'rate, of each group',
    mean,
    sd,
    mean_field_sd: sd,
    lower: mean * Math.exp(-Z / Math.sqrt(A)),
    upper: mean * Math.exp(Z / Math.sqrt(A)),
    mean_field_lower: mean * Math.exp(-Z / Math.sqrt(A)),
    mean_field_upper: mean * Math.exp(Z / Math.sqrt(A)),
  }));
  const prior = (name, value) => ({
    name,
    group: name,
    kind: 'positive',
    value,
    least: 0,
    most: null,
    low: value / 4,
    high: value * 4,
    trusted_low: value / 2,
    trusted_high: value * 2,
  });
  // For each row the variable of its group; d mean / d y = 1/B, d mean / d e = −A/B² and, of its weight, (y − mean e)/B.
  const each = (of) => all.flatMap((row) => posterior.flatMap((own, g) => of(row, g === row.group ? own : null)));
  const slopes = {count: ({B}) => 1 / B, exposure: ({A, B}) => -A / (B * B)};
  const reach = inputs.map((name) => Math.max(...all.map((row) => row[name])) - Math.min(...all.map((row) => row[name])));
  const effects = each(({count, exposure}, own) => (own ? (count - own.mean * exposure) / own.B / own.sd : 0));
  const distance = all.map((_, n) => Math.max(...posterior.map((_, g) => Math.abs(effects[n * groups + g]))));
  return {
    program: '9.9.9',
    title: 'Counts',
    fit_file: 'counts.json',
    kind: 'counts',
    description: 'Counts with exposures, with a Gamma rate for each group',
    prior: 'explicit',
    model: {},
    data: {name: 'counts.csv', rows, dropped: 0, weights: null, total_weight: rows},
    outcome: {converged: true, message: 'converged: it is conjugate', bound: -100, passes: 1, seed: 1, restarts: 1},
    correction: null,
    other_optima: [],
    warnings: [],
    check: null,
    level: 0.9,
    response: true,
    variables,
    variables_left_out: 0,
    correlated: variables.map((_, v) => v),
    correlations: base64(posterior.flatMap((_, i) => Array.from({length: groups - i}, (_, j) => (j === 0 ? 1 : 0)))),
    priors: [prior('shape', SHAPE), prior('rate', RATE)],
    priors_left_out: 0,
    sensitivities: base64(posterior.flatMap(({A, B}) => [1 / B, -A / (B * B)])),
    picture: data && histograms.length > 0 ? {histograms: histograms.map((name) => histogramOf(name, all))} : null,
    rows: data
      ? {
          inputs,
          all: true,
          row: all.map((_, n) => n + 1),
          values: base64(all.flatMap((row) => inputs.map((name) => row[name]))),
          weights: null,
          reach,
          leverage: moves
            ? base64(
                each((_, own) => inputs.map((name, i) => (own ? (slopes[name](own) * reach[i]) / own.sd : 0))),
                Float32Array,
              )
            : null,
          case: base64(effects, Float32Array),
          distance,
          top: [...distance.keys()].sort((a, b) => distance[b] - distance[a]).slice(0, 20),
        }
      : null,
  };
}

function histogramOf(name, rows) {
  const values = rows.map((row) => row[name]);
  const start = Math.min(...values);
  const step = (Math.max(...values) - start) / 8;
  const counts = Array(8).fill(0);
  for (const value of values) ++counts[Math.min(7, Math.floor((value - start) / step))];
  return {name, start, step, counts};
}
