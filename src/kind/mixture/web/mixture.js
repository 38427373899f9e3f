const ROOT_TWO_PI = Math.sqrt(2 * Math.PI);

/**
 * A mixture of normals, p(x) = Σ_k π_k N(x | μ_k, Σ_k), drawn at given values of its variables (their posterior means, or
 * the moved ones).
 */
export class Mixture {
  constructor(contents, posterior) {
    this.posterior = posterior;
    this.columns = contents.model.columns;
    this.base = contents.model.parts;
    this.count = contents.model.components;
    // What each variable is: its group, component and columns, counted from 0. Of one column they have no index.
    this.parts = posterior.variables.map(({group, indices}) => {
      const [k, p = 1, q = p] = indices;
      return {group, k: k - 1, p: p - 1, q: q - 1};
    });
  }

  /** Weight, mean and covariance matrix of each component. */
  components(means) {
    const components = this.base.pi.map((weight, k) => ({
      weight,
      mean: [...this.base.mu[k]],
      covariance: this.base.sigma[k].map((row) => [...row]),
    }));
    this.parts.forEach(({group, k, p, q}, v) => {
      const component = components[k];
      if (group === 'pi') component.weight = Math.max(0, means[v]);
      if (group === 'mu') component.mean[p] = means[v];
      if (group === 'sigma') component.covariance[p][p] = means[v] ** 2;
      if (group === 'Sigma') component.covariance[p][q] = component.covariance[q][p] = means[v];
    });
    return components;
  }

  /** Densities of one column: of each component, weighted, and their sum. */
  densities(means, p, xs) {
    const parts = this.components(means).map(({weight, mean, covariance}) => {
      const sd = Math.sqrt(Math.max(0, covariance[p][p]));
      return xs.map((x) => (sd > 0 ? (weight * Math.exp(-0.5 * ((x - mean[p]) / sd) ** 2)) / (sd * ROOT_TWO_PI) : 0));
    });
    return {parts, total: xs.map((_, i) => parts.reduce((sum, part) => sum + part[i], 0))};
  }

  /** The posterior sd of the density of one column at each x: √(gᵀ Σ̂ g), g its gradient in the variables. */
  densitySds(p, xs) {
    const components = this.components(this.posterior.means);
    return xs.map((x) => {
      const gradient = [];
      this.parts.forEach((part, v) => {
        if (part.group !== 'pi' && part.p !== p) return;
        if (part.group === 'Sigma' && part.q !== p) return;
        const {weight, mean, covariance} = components[part.k];
        const sd = Math.sqrt(covariance[p][p]);
        const z = (x - mean[p]) / sd;
        const normal = Math.exp(-0.5 * z * z) / (sd * ROOT_TWO_PI);
        if (part.group === 'pi') gradient.push([v, normal]);
        if (part.group === 'mu') gradient.push([v, (weight * normal * z) / sd]);
        if (part.group === 'sigma') gradient.push([v, (weight * normal * (z * z - 1)) / sd]);
        if (part.group === 'Sigma') gradient.push([v, (weight * normal * (z * z - 1)) / (2 * sd * sd)]);
      });
      return this.posterior.sdAlong(gradient);
    });
  }

  /** The ellipse of two columns that holds a share of the component; a line where it is flat. */
  static ellipse({mean, covariance}, p, q, share, steps = 72) {
    const radius = Math.sqrt(-2 * Math.log(1 - share));
    const a = Math.sqrt(Math.max(0, covariance[p][p]));
    const b = a > 0 ? covariance[p][q] / a : 0;
    const c = Math.sqrt(Math.max(0, covariance[q][q] - b * b)); // [a 0; b c] is the Cholesky factor
    return Array.from({length: steps + 1}, (_, i) => {
      const angle = (2 * Math.PI * i) / steps;
      const u = radius * Math.cos(angle);
      return {x: mean[p] + a * u, y: mean[q] + b * u + c * radius * Math.sin(angle)};
    });
  }

  /** The component that most likely has a row, as fitted; of some of its columns alone where these are given. */
  likeliest(values, columns = this.columns.map((_, p) => p)) {
    this.fitted ??= this.components(this.posterior.means);
    const key = columns.join();
    this.among ??= new Map();
    if (!this.among.has(key)) {
      const part = ({weight, mean, covariance}) => ({
        weight,
        mean: columns.map((p) => mean[p]),
        covariance: columns.map((p) => columns.map((q) => covariance[p][q])),
      });
      this.among.set(key, this.fitted.map(part));
    }
    const shares = Mixture.shares(this.among.get(key), values);
    return shares.reduce((best, share, k) => (share > shares[best] ? k : best), 0);
  }

  /** The share that each component has in a row. */
  static shares(components, row) {
    const logs = components.map(({weight, mean, covariance}) => Math.log(weight) + logNormal(row, mean, covariance));
    const most = Math.max(...logs);
    const parts = logs.map((log) => Math.exp(log - most));
    const sum = parts.reduce((total, part) => total + part, 0);
    return parts.map((part) => part / sum);
  }
}

/** log N(x | m, S) without its constant, by the Cholesky factor of S. */
function logNormal(x, mean, covariance) {
  const factor = [];
  const z = [];
  let log = 0;
  for (let p = 0; p < x.length; ++p) {
    factor.push([]);
    let rest = x[p] - mean[p];
    for (let q = 0; q <= p; ++q) {
      let entry = covariance[p][q];
      for (let r = 0; r < q; ++r) entry -= factor[p][r] * factor[q][r];
      factor[p].push(q < p ? entry / factor[q][q] : Math.sqrt(entry));
      if (q < p) rest -= factor[p][q] * z[q];
    }
    z.push(rest / factor[p][p]);
    log -= 0.5 * z[p] * z[p] + Math.log(factor[p][p]);
  }
  return log;
}
