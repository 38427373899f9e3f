"""Posteriors of hierarchical regressions, independent of lrvb: marginal likelihoods by dense linear algebra (normal
rows) or by Gauss-Hermite quadrature over the effects of each group (other rows), and importance sampling with
quasi-random points over everything else.

Assumptions: one grouping factor where rows are not normal. The prior is what `lrvb fit --show-priors` prints.
"""

import re

import numpy as np
from scipy import special, stats
from scipy.stats import qmc

PROBABILITIES = np.array([0.05, 0.95])


def parse_priors(text):
    """{target: (distribution, numbers)} of the lines of --show-priors."""
    result = {}
    for line in text.splitlines():
        found = re.match(r"(.+?) ~ (\w+)\(([^)]*)\)", line)
        if found:
            result[found[1]] = (found[2], [float(part) for part in found[3].split(",")])
    return result


def log_scale_prior(prior, log_sd):
    """Log density of log sd, whose sd has this prior."""
    name, numbers = prior
    sd = np.exp(log_sd)
    if name == "half_t":
        df, scale = numbers
        return log_sd - 0.5 * (df + 1) * np.log1p((sd / scale) ** 2 / df)
    if name == "half_cauchy":
        return log_sd - np.log1p((sd / numbers[0]) ** 2)
    if name == "half_normal":
        return log_sd - 0.5 * (sd / numbers[0]) ** 2
    if name == "exponential":
        return log_sd - numbers[0] * sd
    raise ValueError(f"prior {name} of an sd")


class Term:
    """(effects | group): values is rows x effects, in the coordinates of its prior."""

    def __init__(self, name, effects, values, level, independent, priors, centre, slot):
        self.name, self.effects, self.level = name, effects, level
        self.values, self.centre = values, centre
        self.groups = int(level.max()) + 1
        self.size = len(effects)
        self.independent = independent or self.size == 1
        self.first = slot
        self.at_means = f"sd[{name},intercept_at_means]" in priors
        self.names = [e + "_at_means" if e == "intercept" and self.at_means else e for e in effects]
        self.sd_priors = [priors[f"sd[{name},{e}]"] for e in self.names]
        self.huang_wand = priors.get(f"cor[{name}]", ("lkj", [1.0]))[0] == "huang_wand"
        self.parameters = self.size + (0 if self.independent else self.size * (self.size - 1) // 2)

    def covariance(self, psi):
        """(points x q x q covariance, log prior density of psi)."""
        q, points = self.size, len(psi)
        logs = psi[:, self.first : self.first + q]
        sd = np.exp(logs)
        log_prior = np.zeros(points)
        cholesky = np.tile(np.eye(q), (points, 1, 1))
        if not self.independent:
            z = np.tanh(psi[:, self.first + q : self.first + self.parameters])
            at = 0
            for j in range(q):  # canonical partial correlations, column by column
                for i in range(j + 1, q):
                    log_prior += np.log1p(-z[:, at] ** 2) * (1 + 0.5 * (q - j - 2))
                    at += 1
            at = 0
            rest = np.ones((points, q))
            cholesky = np.zeros((points, q, q))
            for j in range(q):
                cholesky[:, j, j] = np.sqrt(rest[:, j])
                for i in range(j + 1, q):
                    cholesky[:, i, j] = z[:, at] * np.sqrt(rest[:, i])
                    rest[:, i] -= cholesky[:, i, j] ** 2
                    at += 1
            if q == 3:  # order of the columns above is that of the Cholesky factor
                pass
        root = sd[:, :, None] * cholesky
        sigma = root @ root.transpose(0, 2, 1)
        if self.independent or not self.huang_wand:
            for e in range(q):
                log_prior += log_scale_prior(self.sd_priors[e], logs[:, e])
            return sigma, log_prior
        df = self.sd_priors[0][1][0]
        inverse = np.linalg.inv(sigma)
        log_prior += -0.5 * (df + 2 * q) * np.linalg.slogdet(sigma)[1] + (q + 1) * logs.sum(1)
        for e in range(q):
            scale = self.sd_priors[e][1][1]
            log_prior += -0.5 * (df + q) * np.log(df * inverse[:, e, e] + scale**-2)
        return sigma, log_prior

    def reported(self, psi):
        """Sds and correlations, at zero and at the means."""
        sigma, _ = self.covariance(psi)
        result = {}
        sd = np.sqrt(np.einsum("kii->ki", sigma))
        zero = sigma
        if self.at_means:
            to_zero = np.eye(self.size)
            to_zero[self.effects.index("intercept"), :] -= self.centre
            to_zero[self.effects.index("intercept"), self.effects.index("intercept")] = 1.0
            zero = to_zero @ sigma @ to_zero.T
            result[f"sd[{self.name},intercept_at_means]"] = sd[:, self.effects.index("intercept")]
        sd_zero = np.sqrt(np.einsum("kii->ki", zero))
        for e, effect in enumerate(self.effects):
            result[f"sd[{self.name},{effect}]"] = sd_zero[:, e]
            for other in range(e):
                if not self.independent:
                    result[f"cor[{self.name},{self.effects[other]},{effect}]"] = zero[:, other, e] / (
                        sd_zero[:, other] * sd_zero[:, e]
                    )
        return result


class Model:
    def __init__(self, family, link, y, columns, names, terms, priors, intercept=True, offset=None, weights=None,
                 precision=None, trials=None):
        """terms: (group name, effects, rows x effects values, levels of rows, independent)."""
        rows = len(y)
        self.family, self.link, self.y, self.priors, self.intercept = family, link, y, priors, intercept
        self.offset = np.zeros(rows) if offset is None else offset
        self.count = np.ones(rows) if weights is None else weights
        self.precision = np.ones(rows) if precision is None else precision
        self.trials = np.ones(rows) if trials is None else trials
        self.names = names
        share = self.count / self.count.sum()
        self.centre = share @ columns if columns.shape[1] else np.zeros(0)
        self.columns = columns - self.centre if intercept else columns
        self.terms = []
        at = 0
        for name, effects, values, level, independent in terms:
            q = len(effects)
            at_means = f"sd[{name},intercept_at_means]" in priors
            centre = np.zeros(q)
            if at_means:
                centre = share @ values
                centre[effects.index("intercept")] = 0.0
            term = Term(name, effects, values - centre, level, independent, priors, centre, at)
            self.terms.append(term)
            at += term.parameters
        self.has_sigma = family in ("gaussian", "student")
        self.sigma_at = at
        at += self.has_sigma
        self.nu_at = at
        at += family == "student"
        self.psi_count = at
        self.fixed_priors = ([priors["intercept"][1]] if intercept else []) + [priors[f"beta[{n}]"][1] for n in names]
        fixed = [np.ones((rows, 1))] if intercept else []
        self.fixed = np.hstack(fixed + [self.columns])
        self.dimension = self.psi_count + (0 if family == "gaussian" else self.fixed.shape[1])

    def log_prior(self, theta):
        result = np.zeros(len(theta))
        sigmas = []
        for term in self.terms:
            sigma, log_prior = term.covariance(theta)
            sigmas.append(sigma)
            result += log_prior
        if self.has_sigma:
            result += log_scale_prior(self.priors["sigma"], theta[:, self.sigma_at])
        if self.family == "student":
            shape, rate = self.priors["nu"][1]
            nu = 1.0 + np.exp(theta[:, self.nu_at])
            result += (shape - 1) * np.log(nu) - rate * nu + theta[:, self.nu_at]
        return result, sigmas

    # Normal rows: coefficients given psi are normal.
    def normal_parts(self, psi):
        log_prior, sigmas = self.log_prior(psi)
        points = len(psi)
        blocks = [self.fixed]
        for term in self.terms:
            design = np.zeros((len(self.y), term.groups * term.size))
            for e in range(term.size):
                design[np.arange(len(self.y)), term.level * term.size + e] = term.values[:, e]
            blocks.append(design)
        design = np.hstack(blocks)
        p = design.shape[1]
        weight = self.count * self.precision
        gram = design.T @ (weight[:, None] * design)
        target = design.T @ (weight * (self.y - self.offset))
        square = weight @ (self.y - self.offset) ** 2
        tau = np.exp(-2 * psi[:, self.sigma_at])
        Q = tau[:, None, None] * gram
        b = tau[:, None] * target
        constant = -0.5 * tau * square + 0.5 * self.count.sum() * np.log(tau) + log_prior
        for j, (mean, sd) in enumerate(self.fixed_priors):
            Q[:, j, j] += sd**-2
            b[:, j] += mean / sd**2
        at = self.fixed.shape[1]
        for term, sigma in zip(self.terms, sigmas):
            inverse = np.linalg.inv(sigma)
            constant -= 0.5 * term.groups * np.linalg.slogdet(sigma)[1]
            for g in range(term.groups):
                Q[:, at : at + term.size, at : at + term.size] += inverse
                at += term.size
        L = np.linalg.cholesky(Q)
        constant -= np.log(np.einsum("kii->ki", L)).sum(1)
        half = np.linalg.solve(L, b[:, :, None])[:, :, 0]
        constant += 0.5 * (half**2).sum(1)
        return constant, L, b

    def log_density(self, theta):
        theta = np.asarray(theta)
        result = np.full(len(theta), -np.inf)
        step = 2000 if self.family == "gaussian" else 250
        for begin in range(0, len(theta), step):
            part = theta[begin : begin + step]
            fine = (np.abs(part[:, : self.psi_count]) < 25).all(1)
            if not fine.any():
                continue
            try:
                with np.errstate(all="ignore"):
                    values = (
                        self.normal_parts(part[fine])[0] if self.family == "gaussian" else self.row_density(part[fine])
                    )
            except np.linalg.LinAlgError:
                values = np.array([self.one(point) for point in part[fine]])
            values[~np.isfinite(values)] = -np.inf
            result[begin : begin + step][fine] = values
        return result

    def one(self, point):
        try:
            return (self.normal_parts if self.family == "gaussian" else self.row_density)(point[None])[0][0]
        except np.linalg.LinAlgError:
            return -np.inf

    # Other rows.
    def rows_log_likelihood(self, eta, theta):
        """eta: points x rows (x nodes); with first and minus second derivatives for what is log-concave."""
        shape = (1, -1) + (1,) * (eta.ndim - 2)
        y, m = self.y.reshape(shape), self.trials.reshape(shape)
        if self.family == "poisson":
            rate = np.exp(np.minimum(eta, 300))
            return y * eta - rate, y - rate, rate
        if self.family == "student":
            wide = (-1,) + (1,) * (eta.ndim - 1)
            sigma = np.exp(theta[:, self.sigma_at]).reshape(wide)
            nu = 1.0 + np.exp(theta[:, self.nu_at]).reshape(wide)
            z = (y - eta) / sigma
            value = special.gammaln(0.5 * (nu + 1)) - special.gammaln(0.5 * nu) - 0.5 * np.log(nu) - np.log(sigma)
            return value - 0.5 * (nu + 1) * np.log1p(z * z / nu), None, None
        if self.link == "logit":
            p = special.expit(eta)
            return y * eta - m * np.logaddexp(0, eta), y - m * p, m * p * (1 - p)
        if self.link == "probit":
            up, down = special.log_ndtr(eta), special.log_ndtr(-eta)
            phi = -0.5 * eta * eta - 0.5 * np.log(2 * np.pi)
            a, b = np.exp(phi - up), np.exp(phi - down)
            return y * up + (m - y) * down, y * a - (m - y) * b, y * a * (a + eta) + (m - y) * b * (b - eta)
        if self.link == "cloglog":
            rate = np.exp(np.minimum(eta, 300))
            p = -np.expm1(-rate)
            log_p = np.where(rate > 1e-10, np.log(np.maximum(p, 1e-300)), eta)
            ratio = np.where(rate > 1e-10, rate * np.exp(-rate) / np.maximum(p, 1e-300), 1.0)
            curve = ratio * (rate - 1 + ratio)
            curve = np.where(rate > 1e-5, curve, 0.5 * rate)
            return y * log_p - (m - y) * rate, y * ratio - (m - y) * rate, y * np.maximum(curve, 0) + (m - y) * rate
        raise ValueError(self.link)

    def row_density(self, theta):
        log_prior, sigmas = self.log_prior(theta)
        coefficients = theta[:, self.psi_count :]
        for j, (mean, sd) in enumerate(self.fixed_priors):
            log_prior = log_prior - 0.5 * ((coefficients[:, j] - mean) / sd) ** 2
        fixed = coefficients @ self.fixed.T + self.offset
        if not self.terms:
            return log_prior + self.rows_log_likelihood(fixed, theta)[0] @ self.count
        (term,) = self.terms
        return log_prior + self.integrated_groups(term, sigmas[0], fixed, theta).sum(1)

    def integrated_groups(self, term, sigma, fixed, theta):
        """log of the integral over the effects of each group, points x groups."""
        q, points, rows = term.size, len(theta), len(self.y)
        root = np.linalg.cholesky(sigma)  # effects = root z, z standard normal
        values = np.einsum("ne,kef->knf", term.values, root)  # points x rows x q
        member = np.zeros((rows, term.groups))
        member[np.arange(rows), term.level] = 1.0
        weighted = member * self.count[:, None]
        if self.family == "student":
            if q != 1:
                raise ValueError("student rows with slopes by group")
            # Several tops: the trapezoid rule on many points of z.
            z = np.linspace(-8, 8, 401)
            eta = fixed[:, :, None] + values[:, :, :1] * z
            value = np.einsum("knz,ng->kgz", self.rows_log_likelihood(eta, theta)[0], weighted)
            return special.logsumexp(value - 0.5 * z * z, axis=2) + np.log(z[1] - z[0]) - 0.5 * np.log(2 * np.pi)
        z = np.zeros((points, term.groups, q))
        eye = np.eye(q)

        def predictor(at):
            return fixed + np.einsum("knq,knq->kn", values, at[:, term.level])

        def objective(at):
            return self.rows_log_likelihood(predictor(at), theta)[0] @ weighted - 0.5 * (at**2).sum(2)

        best = objective(z)
        for _ in range(60):
            _, first, second = self.rows_log_likelihood(predictor(z), theta)
            gradient = np.einsum("kn,knq,ng->kgq", first, values, weighted, optimize=True) - z
            H = np.einsum("kn,knq,knr,ng->kgqr", second, values, values, weighted, optimize=True) + eye
            step = np.linalg.solve(H, gradient[..., None])[..., 0]
            size = np.ones((points, term.groups))
            for _ in range(12):
                trial = z + size[..., None] * step
                value = objective(trial)
                worse = ~(value >= best - 1e-12)
                if not worse.any():
                    break
                size[worse] *= 0.4
            good = value >= best - 1e-12
            z = np.where(good[..., None], trial, z)
            best = np.where(good, value, best)
            if np.abs(step * size[..., None]).max() < 1e-6:
                break
        nodes, log_weights = hermite(21 if q == 1 else 11, q)
        _, _, second = self.rows_log_likelihood(predictor(z), theta)
        H = np.einsum("kn,knq,knr,ng->kgqr", second, values, values, weighted, optimize=True) + eye
        spread = np.linalg.inv(np.linalg.cholesky(H)).transpose(0, 1, 3, 2)
        total = np.full((points, term.groups, len(nodes)), -np.inf)
        for i, node in enumerate(nodes):
            at = z + np.einsum("kgqr,r->kgq", spread, node)
            total[..., i] = objective(at) + log_weights[i] + 0.5 * node @ node
        return special.logsumexp(total, axis=2) + np.linalg.slogdet(spread)[1]


def hermite(count, dimension):
    """Nodes of a standard normal, and logs of their weights."""
    x, w = np.polynomial.hermite_e.hermegauss(count)
    w = np.log(w) - 0.5 * np.log(2 * np.pi)
    grids = np.meshgrid(*[x] * dimension, indexing="ij")
    weights = np.meshgrid(*[w] * dimension, indexing="ij")
    return np.stack([g.ravel() for g in grids], 1), sum(g.ravel() for g in weights)


class Mixture:
    """Student t's of 5 degrees of freedom about some points, with one covariance."""

    def __init__(self, centres, covariance, width):
        self.centres = centres
        self.root = np.linalg.cholesky(covariance) * width
        self.inverse = np.linalg.inv(self.root)

    def draw(self, count, seed):
        d = self.root.shape[0]
        u = qmc.Sobol(d + 2, seed=seed).random(count)
        u = np.clip(u, 1e-12, 1 - 1e-12)
        which = np.minimum((u[:, 0] * len(self.centres)).astype(int), len(self.centres) - 1)
        t = np.sqrt(5.0 / stats.chi2.ppf(u[:, 1], 5.0))
        return self.centres[which] + (t[:, None] * stats.norm.ppf(u[:, 2:])) @ self.root.T

    def log_density(self, x):
        d = self.root.shape[0]
        constant = (special.gammaln(0.5 * (5 + d)) - special.gammaln(2.5) - 0.5 * d * np.log(5 * np.pi)
                    + np.linalg.slogdet(self.inverse)[1] - np.log(len(self.centres)))
        a, b = x @ self.inverse.T, self.centres @ self.inverse.T
        square = (a * a).sum(1)[:, None] - 2 * a @ b.T + (b * b).sum(1)[None]
        return special.logsumexp(-0.5 * (5 + d) * np.log1p(np.maximum(square, 0) / 5), axis=1) + constant


def sample(model, centre, spread, points=16384, seed=1):
    """Points and weights of the posterior of theta; the last two are an effective size and that of each half."""
    d = model.dimension
    random = np.random.default_rng(seed)
    proposals = [Mixture(centre[None], np.diag(spread**2), 1.0)]
    x = proposals[0].draw(4096, seed)
    value = model.log_density(x)
    weight_log = value - proposals[0].log_density(x)
    for step in range(14):
        # Tempered so that enough points count.
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = 0.5 * (low + high)
            w = np.exp(middle * (weight_log - weight_log.max()))
            low, high = (middle, high) if w.sum() ** 2 / (w * w).sum() > 60 * d else (low, middle)
        temper = high if high > 0.99 else low
        w = np.exp(temper * (weight_log - weight_log.max()))
        w /= w.sum()
        mean = w @ x
        covariance = (x - mean).T @ (w[:, None] * (x - mean)) + 1e-9 * np.eye(d)
        effective = 1 / (w * w).sum()
        if temper > 0.99 and effective > 0.35 * len(x) or step == 13:
            break
        kernels = 40 if step < 3 else 120
        proposal = Mixture(x[random.choice(len(x), kernels, p=w)], covariance, 0.9 if temper < 0.99 else 0.6)
        x = proposal.draw(2048 if step < 4 else 4096, seed + 1 + step)
        value = model.log_density(x)
        weight_log = value - proposal.log_density(x)
        weight_log[~np.isfinite(weight_log)] = -1e300
    proposal = Mixture(x[random.choice(len(x), 400, p=w)], covariance, 0.55)
    x = proposal.draw(points, seed + 100)
    weight_log = model.log_density(x) - proposal.log_density(x)
    w = np.exp(weight_log - weight_log.max())
    w /= w.sum()
    return x, w, 1 / (w * w).sum()


def quantiles(values, weights, probabilities=PROBABILITIES):
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order]) - 0.5 * weights[order]
    return np.interp(probabilities, cumulated / weights.sum(), values[order])


def normal_mixture_quantiles(means, sds, weights, probabilities=PROBABILITIES):
    result = []
    for p in probabilities:
        low, high = (means - 9 * sds).min(), (means + 9 * sds).max()
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = weights @ special.ndtr((middle - means) / sds)
            low, high = (middle, high) if below < p else (low, middle)
        result.append(0.5 * (low + high))
    return np.array(result)


def summarise(values, weights):
    mean = weights @ values
    return mean, np.sqrt(weights @ (values - mean) ** 2), *quantiles(values, weights)


def posterior(model, centre, spread, points=16384, seed=1, effects=False):
    """({variable: (mean, sd, q5, q95)}, effective size)."""
    x, w, effective = sample(model, centre, spread, points, seed)
    keep = w > 1e-9 / len(w)
    x, w = x[keep], w[keep] / w[keep].sum()
    result = {}
    for term in model.terms:
        for name, values in term.reported(x).items():
            result[name] = summarise(values, w)
    if model.has_sigma:
        result["sigma"] = summarise(np.exp(x[:, model.sigma_at]), w)
    if model.family == "student":
        result["nu"] = summarise(1 + np.exp(x[:, model.nu_at]), w)
    contrast = np.eye(model.fixed.shape[1])
    names = [f"beta[{name}]" for name in model.names]
    if model.intercept:
        contrast[0, 1:] = -model.centre
        names = ["intercept"] + names
    if model.family != "gaussian":
        for i, name in enumerate(names):
            result[name] = summarise(x[:, model.psi_count :] @ contrast[i], w)
        return result, effective
    # Coefficients are mixtures of normals: some at a time.
    count = len(names)
    linear = np.zeros((count, model.fixed.shape[1] + sum(t.groups * t.size for t in model.terms)))
    linear[:, :count] = contrast
    if effects:
        linear = np.vstack([linear, np.eye(linear.shape[1])[count:]])
        names = names + [f"u{i}" for i in range(len(linear) - count)]
    means, variances = np.empty((len(x), len(names))), np.empty((len(x), len(names)))
    for begin in range(0, len(x), 1000):
        part = slice(begin, begin + 1000)
        _, L, b = model.normal_parts(x[part])
        half = np.linalg.solve(L, np.broadcast_to(linear.T, (len(L),) + linear.T.shape))
        variances[part] = (half**2).sum(1)
        means[part] = np.einsum("kpi,kp->ki", half, np.linalg.solve(L, b[:, :, None])[:, :, 0])
    for i, name in enumerate(names):
        mean = w @ means[:, i]
        sd = np.sqrt(w @ (variances[:, i] + (means[:, i] - mean) ** 2))
        q = normal_mixture_quantiles(means[:, i], np.sqrt(variances[:, i]), w) if not name.startswith("u") else [0, 0]
        result[name] = (mean, sd, *q)
    return result, effective
