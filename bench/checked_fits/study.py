#!/usr/bin/python3
"""Fits of small hierarchical data sets by lrvb, their checks, and an independent reference: who is right?

A fit is right where every mean and 90 % interval end is within 0.1 sd of the reference, and every sd within 10 %.
Usage: study.py LRVB [--first 0] [--count 100] [--workers 2] [--kinds gaussian1,...] [--keep FOLDER]
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import reference  # noqa: E402

KINDS = ["gaussian1", "poisson1", "binary1", "gaussian_slopes", "binomial1", "gaussian_crossed", "student1",
         "gaussian_bars", "poisson_slopes", "gaussian_nested", "binary_slopes", "gaussian_weights"]
SDS = [0.0, 0.05, 0.3, 1.0, 2.5]


class Case:
    def __init__(self, number, kinds=KINDS):
        self.number = number
        self.kind = kinds[number % len(kinds)]
        random = np.random.default_rng(1000 + number)
        self.groups = int(random.choice([3, 4, 5, 6, 8, 12, 20, 40]))
        if self.kind in ("gaussian_slopes", "gaussian_bars", "gaussian_crossed", "gaussian_nested") or "slopes" in self.kind:
            self.groups = min(self.groups, 12)
        sizes = 1 + random.poisson(random.choice([1.5, 4.0, 8.0]), self.groups)
        if random.random() < 0.3:
            sizes[0] += 20  # unbalanced
        g = np.repeat(np.arange(self.groups), sizes)
        rows = len(g)
        x = random.normal(size=rows) * random.choice([0.1, 1.0, 10.0]) + random.choice([0.0, 3.0, 100.0])
        scaled = (x - x.mean()) / x.std()
        sd, sd_slope = random.choice(SDS, 2)
        self.true_sd = sd
        u, v = sd * random.normal(size=self.groups), sd_slope * random.normal(size=self.groups)
        eta = 0.7 + 0.5 * scaled + u[g]
        slopes = self.kind.endswith("slopes") or self.kind == "gaussian_bars"
        self.family = self.kind.split("_")[0].rstrip("1")
        self.link, self.options = "identity", []
        columns = {"x": x, "g": g}
        terms = [("g", ["intercept"], np.ones((rows, 1)), g, False)]
        formula = "y ~ x + (1 | g)"
        self.model = {}
        if slopes:
            eta = eta + v[g] * scaled
            bars = self.kind == "gaussian_bars"
            formula = "y ~ x + (x || g)" if bars else "y ~ x + (x | g)"
            terms = [("g", ["intercept", "x"], np.stack([np.ones(rows), x], 1), g, bars)]
        if self.kind in ("gaussian_crossed", "gaussian_nested"):
            h = random.integers(0, 4, rows)
            h[:4] = np.arange(4)[: len(h[:4])]
            h = np.unique(h, return_inverse=True)[1]
            columns["h"] = h
            if self.kind == "gaussian_crossed":
                formula = "y ~ x + (1 | g) + (1 | h)"
                terms.append(("h", ["intercept"], np.ones((rows, 1)), h, False))
                eta = eta + sd_slope * random.normal(size=4)[h]
            else:
                formula = "y ~ x + (1 | g/h)"
                pair = np.unique(g * 10 + h, return_inverse=True)[1]
                terms.append(("g:h", ["intercept"], np.ones((rows, 1)), pair, False))
                eta = eta + sd_slope * random.normal(size=pair.max() + 1)[pair]
        if self.family in ("gaussian", "student"):
            sigma = random.choice([0.3, 1.0])
            y = eta + sigma * random.normal(size=rows)
            if self.family == "student" or random.random() < 0.2:
                y[random.integers(0, rows)] += random.choice([-1, 1]) * 15 * sigma
            y = y * random.choice([1.0, 1.0, 30.0])
        elif self.family == "poisson":
            y = random.poisson(np.exp(np.minimum(eta + random.choice([-1.5, 0.0, 1.5]), 6))).astype(float)
            self.link = "log"
            if random.random() < 0.4:
                exposure = random.uniform(0.2, 3.0, rows)
                columns["t"] = exposure
                self.model["offset"] = np.log(exposure)
                formula += " + offset(log(t))"
        else:
            self.link = random.choice(["logit", "probit", "cloglog"])
            self.options += ["--link", self.link]
            p = 1 / (1 + np.exp(-eta - random.choice([-2.0, 0.0])))
            if self.family == "binomial":
                m = random.integers(1, 9, rows)
                y = random.binomial(m, p).astype(float)
                columns["m"] = m - y
                self.model["trials"] = m.astype(float)
                formula = formula.replace("y ~", "cbind(y, m) ~")
            else:
                y = (random.random(rows) < p).astype(float)
                y[0], y[-1] = 0.0, 1.0
        if self.kind == "gaussian_weights":
            w = random.choice([1, 1, 2, 3], rows)
            columns["w"] = w
            name = random.choice(["--weights", "--precision-weights"])
            self.options += [name, "w"]
            self.model["weights" if name == "--weights" else "precision"] = w.astype(float)
        columns["y"] = y
        self.columns, self.formula, self.terms = columns, formula, terms
        self.options += ["--family", {"binary": "bernoulli"}.get(self.family, self.family)]

    def write(self, path):
        names = list(self.columns)
        with open(path, "w") as out:
            out.write(",".join(names) + "\n")
            for row in zip(*self.columns.values()):
                out.write(",".join(f"v{v}" if n in "gh" else repr(float(v)) for n, v in zip(names, row)) + "\n")


def run(lrvb, *arguments):
    done = subprocess.run([lrvb, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def judge(case, lrvb, folder, points=16384):
    path = os.path.join(folder, f"case{case.number}")
    case.write(path + ".csv")
    fit = ["fit", "regression", path + ".csv", case.formula, *case.options, "--threads", "1"]
    code, priors, error = run(lrvb, *fit, "--show-priors")
    if code:
        return {"number": case.number, "kind": case.kind, "error": error}
    _, text, said = run(lrvb, *fit, "-o", path + ".json")
    _, summary, _ = run(lrvb, "summary", path + ".json", "--format", "json")
    answers = {v["name"]: v for v in json.loads(summary)["variables"]}
    code, checked, message = run(lrvb, "check", path + ".json", path + ".csv", "--format", "json", "--threads", "1")
    try:
        check = json.loads(checked)
    except ValueError:
        check = {"verdict": "none", "message": message}
    how = [line for line in text.splitlines() if "variance parameter" in line or "posterior" in line][:1]
    warnings = [line for line in (text + said).splitlines() if line.startswith("warning")]
    family = "binomial" if case.family == "binary" else case.family
    model = reference.Model(family, case.link, case.columns["y"], case.columns["x"][:, None], ["x"], case.terms,
                            reference.parse_priors(priors), **case.model)
    truth, effective = truth_of(model, points)
    worst = [("", 0.0)] * 3  # mean, sd, quantile
    for name, (mean, sd, q5, q95) in truth.items():
        if name not in answers:
            worst[0] = (f"no {name}", 99.0)
            continue
        own = answers[name]
        if own.get("sd") is None or not sd > 0:
            continue
        found = [abs(own["mean"] - mean) / sd, abs(np.log(own["sd"] / sd)),
                 max(abs(own["q5"] - q5), abs(own["q95"] - q95)) / sd]
        worst = [(name, value) if value > old[1] else old for value, old in zip(found, worst)]
    right = worst[0][1] <= 0.1 and worst[1][1] <= 0.1 and worst[2][1] <= 0.1
    return {"number": case.number, "kind": case.kind, "groups": case.groups, "rows": len(case.columns["y"]),
            "how": how[0] if how else text[:200], "warnings": warnings, "verdict": check["verdict"],
            "message": check.get("message", ""), "trust": check.get("trust", ""), "right": bool(right),
            "worst": [[n, round(float(v), 4)] for n, v in worst], "effective": round(float(effective))}


def truth_of(model, points, seed=1):
    centre, spread = np.zeros(model.dimension), np.ones(model.dimension)
    for term in model.terms:
        for e in range(term.size):
            centre[term.first + e] = np.log(0.5 * term.sd_priors[e][1][-1])
            spread[term.first + e] = 1.5
    if model.has_sigma:
        centre[model.sigma_at] = np.log(0.5 * model.priors["sigma"][1][-1])
        spread[model.sigma_at] = 1.0
    if model.family == "student":
        centre[model.nu_at], spread[model.nu_at] = 1.5, 1.5
    if model.family != "gaussian":
        z = model.y
        if model.family == "poisson":
            z = np.log(model.y + 0.3) - model.offset
        elif model.family != "student":
            p = (model.y + 0.5) / (model.trials + 1)
            z = np.log(p / (1 - p))
        b = np.linalg.lstsq(model.fixed, z, rcond=None)[0]
        centre[model.psi_count :] = b
        residual = np.median(np.abs(z - model.fixed @ b)) + 0.1
        spread[model.psi_count :] = np.sqrt(np.diag(np.linalg.pinv(model.fixed.T @ model.fixed))) * 2 * residual + 0.1 * np.abs(b)
    return reference.posterior(model, centre, spread, points, seed)


def work(arguments):
    number, kinds, lrvb, folder, points = arguments
    try:
        return judge(Case(number, kinds), lrvb, folder, points)
    except Exception as problem:  # noqa: BLE001 - told as a row of the table
        return {"number": number, "kind": kinds[number % len(kinds)], "error": repr(problem)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lrvb")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--points", type=int, default=16384)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--keep")
    parser.add_argument("--json")
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(n, kinds, options.lrvb, options.keep or folder, options.points)
                for n in range(options.first, options.first + options.count)]
        table = {}
        results = []
        with multiprocessing.Pool(options.workers) as pool:
            for one in pool.imap(work, jobs):
                results.append(one)
                if "error" in one:
                    print(f"{one['number']:4} {one['kind']:17} error: {one['error']}", flush=True)
                    table["error"] = table.get("error", 0) + 1
                    continue
                exact = "exact" if "the exact posterior" in one["how"] else "     "
                worst = "  ".join(f"{name} {value:.3f}" for name, value in one["worst"])
                print(f"{one['number']:4} {one['kind']:17} {one['groups']:3} groups {one['rows']:4} rows  {exact} "
                      f"{'right' if one['right'] else 'WRONG'} {one['verdict']:9} ess {one['effective']:6} "
                      f"w{len(one['warnings'])} | {worst}", flush=True)
                key = ("right" if one["right"] else "wrong") + " and " + one["verdict"]
                table[key] = table.get(key, 0) + 1
    print()
    for key in sorted(table):
        print(f"{table[key]:4}  {key}")
    if options.json:
        json.dump(results, open(options.json, "w"), indent=1)


if __name__ == "__main__":
    main()
