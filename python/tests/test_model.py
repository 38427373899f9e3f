"""Declared models, against closed forms."""

import lrvb
import numpy as np
import pandas as pd
import pytest
from scipy import stats

Y = np.array([4.1, 5.3, 3.9, 6.0, 5.2, 4.7])


def test_the_first_model_of_the_readme():
    m = lrvb.Model()
    location = m.hyperparameter("location", 0.0)
    mu = m.normal("mu", location, 0.04)
    tau = m.gamma("tau", 2, 1)
    m.observe("y", Y, lrvb.normal(mu, tau))
    fit = m.fit()
    # What examples/first_model.cpp prints.
    assert round(fit.mean("mu"), 4) == 4.8482 and round(fit.sd("mu"), 4) == 0.3079
    assert round(fit.correlation(["mu", "log_tau"]).iloc[0, 1], 4) == 0.0269
    sensitivity = fit.sensitivity("mu")
    assert round(sensitivity["mean_derivative"].iloc[0], 4) == 0.0038
    assert len(fit.influence(top=None)) == 6


def test_poisson_rate_is_its_gamma_posterior():
    m = lrvb.Model()
    m.observe("n", [3, 5, 4], lrvb.poisson(m.gamma("rate", 2, 1)))
    fit = m.fit()
    exact = stats.gamma(2 + 12, scale=1 / (1 + 3))  # conjugate
    assert fit.mean("rate") == pytest.approx(exact.mean(), rel=1e-12)
    assert fit.sd("rate") == pytest.approx(exact.std(), rel=1e-12)


def test_poisson_with_exposures():
    m = lrvb.Model()
    m.observe("n", [3, 5, 4], lrvb.poisson(m.gamma("rate", 2, 1), np.array([1.0, 2.0, 0.5])))
    assert m.fit().mean("rate") == pytest.approx((2 + 12) / (1 + 3.5), rel=1e-12)  # conjugate


def test_columns_of_a_frame_are_arrays():
    frame = pd.DataFrame({"x": np.arange(6.0), "t": np.linspace(1.0, 2.0, 6), "n": [1, 0, 2, 3, 1, 4]})
    frame["y"] = 1.0 + 2.0 * frame["x"]

    def fits(x, y, t, n):
        m = lrvb.Model()
        a, b = m.normal("a", 0, 0.01), m.normal("b", 0, 0.01)
        m.observe("y", y, lrvb.normal(a + b * x, m.gamma("tau", 2, 1)))
        m.observe("n", n, lrvb.poisson(m.gamma("rate", 1, 1), t))
        return m.fit(check="never").to_json()

    columns = [frame[name] for name in ("x", "y", "t", "n")]
    assert fits(*columns) == fits(*[column.to_numpy() for column in columns])


def test_beta_and_dirichlet_are_conjugate():
    m = lrvb.Model()
    m.observe("heads", [1, 0, 1, 1], lrvb.bernoulli(m.beta("p", 1, 1)))
    m.observe("label", [0, 2, 2, 1, 2], lrvb.categorical(m.dirichlet("q", [1, 1, 1])))
    fit = m.fit()
    assert fit.mean("p") == pytest.approx(4 / 6, rel=1e-12)
    assert fit.summary("q")["mean"].to_numpy() == pytest.approx(np.array([2, 2, 4]) / 8, rel=1e-12)


@pytest.mark.parametrize("by", ["rows", "design", "expressions"])
def test_linear_regression_is_exact_given_the_precision(by):
    x = np.arange(8.0)
    y = 1.0 + 2.0 * x + np.tile([0.3, -0.3], 4)
    design = np.column_stack([np.ones(8), x])
    m = lrvb.Model()
    if by == "design":
        beta = m.mv_normal("beta", [0, 0], 0.01 * np.eye(2))
        m.observe_linear("y", y, design, beta, 4.0)
        names = "beta"
    else:
        a, b = m.normal("a", 0, 0.01), m.normal("b", 0, 0.01)
        mean = a + b * x if by == "rows" else [a + float(value) * b for value in x]
        m.observe("y", y, lrvb.normal(mean, 4.0))
        names = ["a", "b"]
    fit = m.fit()
    precision = 4.0 * design.T @ design + 0.01 * np.eye(2)  # a normal target: linear response is exact
    assert fit.summary(names)["mean"].to_numpy() == pytest.approx(np.linalg.solve(precision, 4.0 * design.T @ y), rel=1e-9)
    assert fit.covariance(names).to_numpy() == pytest.approx(np.linalg.inv(precision), rel=1e-9)
    assert len(fit.influence(top=3)) == 3


def test_a_multivariate_normal_with_wishart_precision():
    random = np.random.default_rng(2)
    rows = random.multivariate_normal([1.0, -1.0], [[1.0, 0.5], [0.5, 2.0]], size=400)
    m = lrvb.Model()
    mu = m.mv_normal("mu", [0, 0], 0.01 * np.eye(2))
    precision = m.wishart("Lambda", 4, np.eye(2))
    m.observe("x", rows, lrvb.mv_normal(mu, precision))
    fit = m.fit(check="never")
    assert fit.summary("mu")["mean"].to_numpy() == pytest.approx(rows.mean(axis=0), abs=0.01)
    assert fit.summary("mu")["sd"].to_numpy() == pytest.approx(rows.std(axis=0) / 20.0, rel=0.02)


def test_a_mixture_by_hand(two_groups):
    m = lrvb.Model()
    pi = m.dirichlet("pi", [1, 1])
    low, high = m.normal("low", 0, 0.01), m.normal("high", 8, 0.01)
    rows = m.rows("rows", len(two_groups))
    for at, value in enumerate(two_groups):
        z = m.categorical(f"z[{at + 1}]", pi, rows[at])
        m.observe("x", float(value), lrvb.one_of(z, [lrvb.normal(low, 1.0), lrvb.normal(high, 1.0)]), rows[at])
    fit = m.fit(check="never")
    assert fit.mean("low") == pytest.approx(two_groups[:120].mean(), abs=0.01)
    assert fit.mean("high") == pytest.approx(two_groups[120:].mean(), abs=0.01)
    assert len(fit.influence(top=5)) == 5


def test_save_and_load_with_the_model(tmp_path):
    def declared():
        m = lrvb.Model()
        m.observe("y", Y, lrvb.normal(m.normal("mu", 0, 0.04), m.gamma("tau", 2, 1)))
        return m

    fit = declared().fit()
    fit.save(tmp_path / "fit.json")
    again = lrvb.load(tmp_path / "fit.json", declared())
    assert again.influence(top=None).equals(fit.influence(top=None))
    assert fit.check().verdict == again.check().verdict


def test_exact_and_draws():
    m = lrvb.Model()
    m.observe("y", Y, lrvb.normal(m.normal("mu", 0, 0.04), m.gamma("tau", 2, 1)))
    fit = m.fit(check="exact")
    assert fit.verdict == "exact" and "sd_lrvb" in fit.summary()
    draws = m.fit(check="never").draws(2000)
    assert draws["mu"].std() == pytest.approx(fit.sd("mu"), rel=0.1)
    data = m.fit(check="never").to_arviz(500)
    assert data.posterior["mu"].shape == (1, 500) and data["log_likelihood"]["y"].shape == (1, 500, 6)


def test_bugs_is_refused_where_there_is_none():
    from lrvb import _core

    if not _core.has_kind("model"):
        with pytest.raises(NotImplementedError, match="declare the model with lrvb.Model"):
            lrvb.model("model { mu ~ dnorm(0, 1) }", {})
