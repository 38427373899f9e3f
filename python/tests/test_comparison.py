"""Several fits side by side."""

import lrvb
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_a_range_is_that_of_the_program(program, tmp_path):
    path = tmp_path / "best.json"
    shown = program("fit", "mixture", "data/old_faithful.csv", "-c", "eruptions", "-k", "1:2", "--check", "never", "-o", path)
    fits = lrvb.mixtures("data/old_faithful.csv", range(1, 3), columns="eruptions", check="never")
    assert fits.best.to_json() == path.read_text()
    assert list(fits) == [1, 2] and len(fits) == 2 and fits[fits.best_key] is fits.best
    table = fits.table()
    for line in shown.splitlines():
        fields = line.split()
        if fields and fields[0].isdigit() and fields[1].startswith("-"):
            row = table.loc[int(fields[0])]
            assert [f"{row[name]:.2f}" for name in ("elpd_loo", "elpd_se")] == fields[1:3] and f"{row['bound']:.2f}" == fields[5]
    assert table["difference"].max() == 0.0 and fits.message in shown
    assert len(fits.best.influence(top=3)) == 3  # each has its data


def test_fits_of_ones_own(faithful, cars):
    fits = {"line": lrvb.regression("mpg ~ wt", cars), "bend": lrvb.regression("mpg ~ wt + I(wt^2)", cars), "flat": lrvb.regression("mpg ~ 1", cars)}
    found = lrvb.compare(fits)
    assert found.best_key == "bend" and found["flat"] is fits["flat"] and found.table().loc["flat", "difference"] < -10
    assert "bend" in found.message and "bend" in repr(found) and "<table" in found._repr_html_()
    listed = lrvb.compare(list(fits.values()), method="response")
    assert list(listed) == [0, 1, 2]
    models = [lrvb.mixture(faithful, k, check="never") for k in (1, 2)]
    assert lrvb.compare(models).best is models[1]


def test_a_range_that_does_not_converge():
    rows = np.random.default_rng(1).normal(size=300)
    with pytest.warns(lrvb.ConvergenceWarning, match="n_components = 3"):
        fits = lrvb.mixtures(rows, range(1, 4), check="never", max_iterations=3, restarts=1)
    assert fits.table().loc[3, "verdict"] == "not converged" and np.isnan(fits.table().loc[3, "elpd_loo"])


CASES = {
    "one fit": (lambda fit: lrvb.compare([fit]), "nothing to be compared with"),
    "an estimator": (lambda fit: lrvb.compare([fit, lrvb.NormalMixture()]), "posterior_"),
    "other rows": (lambda fit: lrvb.compare([fit, lrvb.mixture(np.arange(50.0) % 7, 1, check="never")]), "rows"),
    "no data": (lambda fit: lrvb.compare([fit, lrvb.loads(fit.to_json())]), "fit.with_data"),
    "an unknown method": (lambda fit: lrvb.compare([fit, fit], method="guess"), "method is 'guess'"),
    "gaps": (lambda fit: lrvb.mixtures(np.arange(50.0), [1, 3]), "one after the other"),
    "nothing": (lambda fit: lrvb.mixtures(np.arange(50.0), []), "one after the other"),
    "from nothing": (lambda fit: lrvb.mixtures(np.arange(50.0), range(0, 3)), "n_components is 0"),
    "too many": (lambda fit: lrvb.mixtures(np.arange(500.0), range(1, 200)), "range of 100 at most"),
    "exact": (lambda fit: lrvb.mixtures(np.arange(50.0), range(1, 3), check="exact"), "is of one fit"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_comparisons(case):
    act, sentence = CASES[case]
    with pytest.raises(ValueError, match=sentence) as caught:
        act(lrvb.mixture(np.append(np.linspace(-1, 1, 40), np.linspace(7, 9, 40)), 2, check="never"))
    assert "--" not in str(caught.value)


def test_frames_and_options():
    frame = pd.DataFrame({"a": np.append(np.linspace(-1, 1, 40), np.linspace(7, 9, 40)), "b": "text"})
    fits = lrvb.mixtures(frame, range(1, 3), columns="a", check="never", prior="paper")
    assert fits.best_key == 2
