"""What a fit says, against refits, the program and its own parts."""

import copy
import json
import pickle

import lrvb
import numpy as np
import pandas as pd
import pytest
from conftest import DATA


@pytest.fixture(scope="module")
def mix(faithful):
    return lrvb.mixture(faithful, 2)


def test_the_summary_of_the_readme(mix):
    table = mix.summary(["pi", "mu"])
    assert table.columns.tolist() == ["mean", "sd", "sd_mfvb", "q5", "q95", "mean_exact", "sd_exact", "verdict"]
    row = table.loc["mu[1,eruptions]"]
    assert [f"{row[name]:.4f}" for name in ("mean", "sd", "sd_exact", "sd_mfvb", "q5", "q95")] == [
        "2.0365", "0.0271", "0.0279", "0.0267", "1.9920", "2.0811",
    ]  # fmt: skip
    assert (table["verdict"] == "ok").all() and mix.verdict == "ok"
    assert mix.summary("mu", level=0.5).columns[3:5].tolist() == ["q25", "q75"]


def test_covariance_and_correlation(mix):
    covariance = mix.covariance(["mu"])
    assert np.sqrt(np.diag(covariance)) == pytest.approx(mix.summary("mu")["sd"].to_numpy())
    correlation = mix.correlation("mu")
    assert round(correlation.loc["mu[1,eruptions]", "mu[1,waiting]"], 4) == 0.2861  # as the README has it
    narrow = mix.covariance("mu", mean_field=True)
    assert (np.diag(narrow) <= np.diag(covariance) * (1 + 1e-9)).all()


def test_influence_is_what_a_refit_does(mix, faithful):
    table = mix.influence(top=3, variables="mu")
    assert table.index.tolist() == [5, 132, 243]  # the README's rows 6, 133, 244, from 0
    row = table.index[0]
    without = lrvb.mixture(faithful.drop(index=row), 2, check="never")
    moved = (without.summary("mu")["mean"] - mix.summary("mu")["mean"]) / mix.summary("mu")["sd"]
    assert table.iloc[0, 3:].to_numpy(float) == pytest.approx(moved.to_numpy(), abs=0.05)
    everything = mix.influence(top=None, variables="mu")
    assert len(everything) == 272 and everything["distance"].nlargest(3).index.tolist() == [5, 132, 243]


def test_influence_of_groups_and_by_refits():
    sleep = pd.read_csv(DATA / "sleepstudy.csv")
    fit = lrvb.regression("Reaction ~ Days + (1 | Subject)", sleep)
    rows = fit.influence(top=None, variables=["beta", "sigma"])
    groups = fit.influence(top=3, variables=["beta", "sigma"], by="Subject")
    assert groups.index.name == "Subject" and groups.columns.tolist() == ["rows", "distance", "beta[Days]", "sigma"]
    assert groups["distance"].is_monotonic_decreasing and (groups["rows"] == 10).all()
    first = groups.index[0]
    own = rows[(sleep["Subject"].astype(str) == first).to_numpy()]
    assert own[["beta[Days]", "sigma"]].sum().to_numpy() == pytest.approx(groups.loc[first, ["beta[Days]", "sigma"]].to_numpy(float))
    # A fit without the group, integrated as this one is, under the prior that the fit had, in the sds that the summary shows.
    again = fit.influence(top=1, variables=["beta", "sigma"], by="Subject", refit=True)
    words = ["intercept ~ normal(298.508, 140.822)", "beta[Days] ~ normal(0, 48.8915)", "sd[Subject,intercept] ~ half_t(2, 56.3288)", "sigma ~ half_t(2, 56.3288)"]
    less = sleep[sleep["Subject"].astype(str) != first]
    without = lrvb.regression("Reaction ~ Days + (1 | Subject)", less, prior=words)
    for name in ("beta[Days]", "sigma"):
        assert again.loc[first, name] == pytest.approx((without.mean(name) - fit.mean(name)) / fit.sd(name), abs=1e-3)
    top = fit.influence(top=2, variables="sigma")
    refitted = fit.influence(top=2, variables="sigma", refit=True)
    assert refitted.index.tolist() == top.index.tolist() and not refitted["sigma"].equals(top["sigma"])
    # A level that one row alone has cannot be left out.
    odd = pd.DataFrame({"y": [1.0, 2.0, 1.5, 2.5, 9.0, 1.2], "g": list("ababra")})
    assert lrvb.regression("y ~ g", odd).influence(top=None, refit=True)["distance"].isna().tolist() == [False] * 4 + [True, False]


def test_copies_keep_their_data(mix):
    for again in (copy.copy(mix), copy.deepcopy(mix)):
        assert again.influence(top=1).equals(mix.influence(top=1))


def test_leverage_is_a_derivative(mix, faithful):
    step = 1e-4
    moved = faithful.copy()
    moved.loc[10, "waiting"] += step
    again = lrvb.mixture(moved, 2, check="never", tolerance=1e-12)
    before = lrvb.mixture(faithful, 2, check="never", tolerance=1e-12)
    name = "mu[2,waiting]"
    slope = (again.mean(name) - before.mean(name)) / step
    assert mix.leverage("mu").loc[10, f"{name}/waiting"] == pytest.approx(slope, rel=1e-3, abs=1e-6)


def test_sensitivity(mix):
    table = mix.sensitivity("mu")
    assert {"variable", "prior", "value", "mean_derivative", "sds_per_percent"} == set(table.columns)
    with_sds = lrvb.mixture(np.linspace(-1, 1, 40), 1, check="never").sensitivity("mu", sds=True)
    assert np.isfinite(with_sds["sd_derivative"]).all()


def test_check_corrected_and_draws(mix):
    report = mix.check(draws=2000, seed=3)
    assert report.verdict in ("ok", "doubtful") and len(report.table()) == len(mix.variables)
    exact = mix.corrected(draws=4000)
    assert exact.verdict == "exact" and exact.sd("mu[1,waiting]") == pytest.approx(report.table().loc["mu[1,waiting]", "sd_exact"], rel=0.1)
    draws = mix.draws(3000)
    assert draws.attrs["source"] == "exact" and draws["mu[1,waiting]"].std() == pytest.approx(mix.sd("mu[1,waiting]"), rel=0.1)
    normal = mix.draws(3000, exact=False, seed=5)
    assert normal.attrs["source"] == "linear response"
    for name in ("mu[1,waiting]", "pi[1]", "Sigma[2,waiting,waiting]"):
        assert normal[name].mean() == pytest.approx(mix.mean(name), abs=5 * mix.sd(name) / np.sqrt(3000) + 0.02 * mix.sd(name))
        assert normal[name].std() == pytest.approx(mix.sd(name), rel=0.1)
    assert normal[["mu[1,eruptions]", "mu[1,waiting]"]].corr().iloc[0, 1] == pytest.approx(0.2861, abs=0.06)
    assert mix.draws(3000, exact=False, seed=5).equals(normal)
    assert exact.influence(top=1).index[0] == mix.influence(top=1).index[0]


def test_leave_one_out_and_the_check_of_the_model(mix):
    loo = mix.loo()
    assert loo.elpd == pytest.approx(loo.rows["elpd"].sum()) and len(loo.rows) == 272 and "elpd_loo" in repr(loo)
    assert mix.loo(method="response").elpd == pytest.approx(loo.elpd, abs=0.5)  # two ways to the same number
    checked = mix.check_model()
    assert checked["fits"] and "nothing is unusual" in checked["message"]


def test_predict_is_what_the_program_predicts(program, tmp_path, cars):
    fit = lrvb.regression("mpg ~ wt + C(cyl)", cars)
    fit.save(tmp_path / "fit.json")
    program("predict", tmp_path / "fit.json", "data/mtcars.csv", "--level", "0.9", "-o", tmp_path / "rows.csv")
    theirs = pd.read_csv(tmp_path / "rows.csv", float_precision="round_trip")
    mine = fit.predict(cars, level=0.9)
    for name in mine.columns:
        assert (mine[name].to_numpy() == theirs[name].to_numpy()).all()
    assert fit.predict().equals(fit.predict(cars))
    holed = cars.copy()
    holed.loc[4, "wt"] = np.nan
    assert 4 not in fit.predict(holed, drop_missing=True).index


def test_groups(program):
    sleep = pd.read_csv(DATA / "sleepstudy.csv")
    fit = lrvb.regression("Reaction ~ Days + (Days | Subject)", sleep)
    assert fit.verdict == "exact" and round(fit.sd("beta[Days]"), 2) == 1.65  # as the README has it
    new = pd.DataFrame({"Days": [3.0], "Subject": ["nobody"]})
    assert np.isfinite(fit.predict(new, without_groups=True).to_numpy()).all()


def test_report_and_repr(mix, tmp_path):
    mix.report(tmp_path / "page.html", title="Old Faithful")
    page = (tmp_path / "page.html").read_text()
    assert "Old Faithful" in page and len(page) > 100_000
    assert "272 rows, 2 components" in repr(mix) and "against the exact posterior: ok" in repr(mix)
    html = mix._repr_html_()
    assert "mu[1,waiting]" in html and "<svg" in html and "<script" not in html


def test_nothing_replaces_what_was_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"x": np.arange(30.0), "y": np.arange(30.0) % 7}).to_csv("d.csv", index=False)
    (tmp_path / "copy.csv").write_text((tmp_path / "d.csv").read_text())
    (tmp_path / "link.csv").symlink_to("copy.csv")
    lrvb.regression("y ~ x", data="d.csv", check="never").save("fit.json")
    before = {name: (tmp_path / name).read_bytes() for name in ["d.csv", "copy.csv", "fit.json"]}
    fit = lrvb.load("fit.json", "copy.csv")
    for name in ["d.csv", "./d.csv", "copy.csv", "link.csv"]:
        for write in [fit.save, fit.report]:
            with pytest.raises(ValueError, match="would replace"):
                write(name)
    with pytest.raises(ValueError, match="would replace"):
        fit.report("fit.json")
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_a_report_appears_when_it_is_whole(mix, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("before")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mix.report(page)
    assert page.read_text() == "before" and [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_names_in_html_are_escaped():
    frame = pd.DataFrame({"<b>x</b>": np.linspace(0, 1, 30), "z": np.linspace(0, 1, 30) ** 2})
    assert "<b>x</b>" not in lrvb.mixture(frame, 1, check="never")._repr_html_()


def test_arviz_groups(mix):
    data = mix.to_arviz(200)
    assert data.posterior["mu"].dims == ("chain", "draw", "mu_dim_0", "mu_dim_1")
    assert data.posterior["mu"].coords["mu_dim_1"].values.tolist() == ["eruptions", "waiting"]
    assert data.sample_stats["lp"].shape == data.posterior["mu"].shape[:2]
    assert data.observed_data["waiting"].shape == (272,)
    assert data.log_likelihood["rows"].shape[2] == 272
    mean = data.posterior["mu"].mean(("chain", "draw")).values
    assert mean[0, 1] == pytest.approx(mix.mean("mu[1,waiting]"), abs=0.2)


def test_log_likelihoods_of_a_normal():
    y = np.array([0.3, -1.0, 2.0])
    m = lrvb.Model()
    m.observe("y", y, lrvb.normal(m.normal("mu", 0, 1), 1.0))
    data = m.fit(check="never").to_arviz(100)
    mu = data.posterior["mu"].values[0]
    expected = -0.5 * np.log(2 * np.pi) - 0.5 * (y[None, :] - mu[:, None]) ** 2  # by hand
    assert data.log_likelihood["y"].values[0] == pytest.approx(expected)


def test_pictures(mix, cars, tmp_path):
    import matplotlib.pyplot as plt

    fit = lrvb.regression("mpg ~ wt + C(cyl)", cars)
    for one in (mix, fit):
        for draw in (one.plot.intervals, one.plot.fit, one.plot.correlation, one.plot.influence):
            drawn = draw()
            first = drawn[0] if isinstance(drawn, list) else drawn
            first.figure.savefig(tmp_path / "figure.png")
            plt.close("all")
        figure, ax = plt.subplots()
        assert one.plot.intervals(ax=ax) is ax and len(ax.get_yticks()) > 0
        plt.close(figure)


def test_pickle_and_copies(mix, faithful):
    again = pickle.loads(pickle.dumps(mix))
    assert again.to_json() == mix.to_json() and again.summary().equals(mix.summary())
    assert again.with_data(faithful).influence(top=2).equals(mix.influence(top=2))
    assert copy.deepcopy(mix).influence(top=2).equals(mix.influence(top=2))
    assert json.loads(mix.to_json())["data"]["rows"] == 272


def test_warnings_are_given():
    with pytest.warns(lrvb.FitWarning):
        lrvb.mixture(np.array([0.0, 0.1, 5.0, 5.2, 9.0]), 3, check="never")


def test_frames_with_more_in_them_than_is_used(cars, tmp_path):
    cars = cars.assign(when=pd.Timestamp("2020-01-01"), twice=1j)
    cars.loc[[3, 7], "wt"] = np.nan
    fit = lrvb.regression("mpg ~ wt", cars, drop_missing=True)
    fit.save(tmp_path / "fit.json")
    assert lrvb.load(tmp_path / "fit.json", cars).influence(top=2).equals(fit.influence(top=2))
    assert len(fit.predict()) == 30 and 3 not in fit.predict().index  # the rows that were fitted
    assert fit.predict(cars[:3])["mean"].tolist() == fit.predict()["mean"].tolist()[:3]


def test_warnings_name_the_line_of_the_caller():
    X = np.array([0.0, 0.1, 5.0, 5.2, 9.0])
    m = lrvb.Model()
    m.observe("y", [1.0], lrvb.normal(m.normal("mu", 0, 1), m.gamma("tau", 1, 1)))
    text = "model { for (i in 1:2) { y[i] ~ dnorm(mu, tau) } mu ~ dnorm(0, 1) tau ~ dgamma(1, 1) }"
    for act in (
        lambda: lrvb.mixture(X, 3, check="never"),
        lambda: lrvb.NormalMixture(3).fit(X[:, None]),
        lambda: m.fit(check="never", max_iterations=1, restarts=1),
        lambda: lrvb.model(text, {"y": [1.0, 2.0]}, check="never"),
    ):
        with pytest.warns((lrvb.FitWarning, lrvb.ConvergenceWarning)) as caught:
            act()
        assert {warning.filename for warning in caught} == {__file__}


def test_progress_is_told():
    told = []
    rows = np.random.default_rng(1).normal(size=(30_000, 2))
    lrvb.mixture(rows, 3, check="never", restarts=2, progress=lambda *state: told.append(state))
    assert told and all(len(state) == 6 for state in told)
