"""Models in BUGS: text, arrays, frames and files in, and all that a fit can be asked."""

import json

import lrvb
import numpy as np
import pandas as pd
import pytest
from conftest import DATA, ROOT

SCHOOLS = (ROOT / "models" / "schools.bug").read_text()
SCHOOLS_DATA = {"J": 8, "y": np.array([28, 8, -3, 7, -1, 1, 18, 12]), "se": [15.0, 10, 16, 11, 9, 11, 10, 18]}
LINE = "model { for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], tau) } a ~ dnorm(0, 0.01) b ~ dnorm(0, 0.01) tau ~ dgamma(1, 1) }"
X = np.arange(12.0)
Y = 1.0 + 2.0 * X + np.tile([0.3, -0.3, 0.1], 4)


def bare(text):
    """A fit file, but for what it calls the model and its data."""
    document = json.loads(text)
    document["data"]["name"] = ""
    document["model"]["file"] = ""
    document["data"].pop("files", None)
    return document


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


def program_fit(program, tmp_path, *arguments):
    path = tmp_path / "fit.json"
    program("fit", "model", *arguments, "--quiet", "-o", path)
    return path.read_text()


@pytest.mark.parametrize("name", ["schools", "blood_groups", "growth_wishart", "cbpp_logit", "missing", "epil_gamma", "latent_classes"])
def test_the_same_bits_as_the_program(program, tmp_path, name):
    files = [f"models/{name}.bug", f"models/{name}.json"]
    theirs = program_fit(program, tmp_path, *files, "--check", "never")
    assert lrvb.model(*files, check="never").to_json() == theirs
    data = json.loads((ROOT / files[1]).read_text())
    data = {key: np.array(value, dtype=np.float64) for key, value in data.items()}  # None is NaN
    text = (ROOT / files[0]).read_text()
    fits = [lrvb.model(text, layout, check="never") for layout in (data, {key: np.array(value, order="F") for key, value in data.items()})]
    for fit in fits:
        assert bare(fit.to_json()) == bare(theirs)
    assert fits[0].to_json() == fits[1].to_json()


def test_options_are_those_of_the_program(program, tmp_path):
    files = ["models/schools.bug", "models/schools.json"]
    theirs = program_fit(program, tmp_path, *files, "--seed", "7", "--restarts", "2", "--monitor", "mu,theta", "--factorised", "--tolerance", "1e-10")
    mine = lrvb.model(*files, seed=7, restarts=2, monitor=["mu", "theta"], factorised=True, tolerance=1e-10)
    assert mine.to_json() == theirs


def test_frames_and_several_parts(program, tmp_path):
    frame = pd.DataFrame({"y": Y, "x": X})
    frame.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "m.bug").write_text(LINE)
    theirs = bare(program_fit(program, tmp_path, tmp_path / "m.bug", tmp_path / "data.csv"))
    (tmp_path / "y.json").write_text(json.dumps({"y": Y.tolist()}))
    for data in (
        frame,  # whose N is the number of rows
        {"N": 12, "y": Y, "x": X},
        {"N": np.int32(12), "y": pd.Series(Y), "x": X.astype(np.float32)},
        [frame[["y"]], frame[["x"]]],
        [{"N": 12, "x": X}, tmp_path / "y.json"],
        [frame.astype({"x": "Int64"}), {}],
        tmp_path / "data.csv",
        str(tmp_path / "data.csv"),
    ):
        assert bare(lrvb.model(LINE, data).to_json()) == theirs
    # Without data there is the prior.
    assert lrvb.model("model { a ~ dnorm(2, 4) }").mean("a") == pytest.approx(2.0)


def test_what_means_a_missing_value(program, tmp_path):
    marked, missing = Y.copy(), Y.copy()
    marked[[2, 7]], missing[[2, 7]] = -999.0, np.nan
    expected = lrvb.model(LINE, {"N": 12, "y": missing, "x": X})
    assert expected.mean("y[3]") == pytest.approx(1.0 + 2.0 * 2, abs=1.0)
    frame = pd.DataFrame({"y": marked, "x": X})
    frame.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "m.bug").write_text(LINE)
    theirs = program_fit(program, tmp_path, tmp_path / "m.bug", tmp_path / "data.csv", "--na", "-999")
    assert lrvb.model(tmp_path / "m.bug", tmp_path / "data.csv", na=["-999"]).to_json() == theirs
    for data in ({"N": 12, "y": marked, "x": X}, frame):
        fit = lrvb.model(LINE, data, na="-999")
        assert fit.mean("y[3]") == expected.mean("y[3]")
        # The data, as they are, fit to the fit that was read again.
        assert len(lrvb.loads(fit.to_json()).with_data(data).influence(top=None)) == 10
    with pytest.raises(ValueError, match="na is 3"):
        lrvb.model(LINE, frame, na=3)


def test_text_columns_and_missing_values():
    text = """model {
      for (i in 1:N) { y[i] ~ dnorm(m[g[i]], 1) }
      for (j in 1:3) { m[j] ~ dnorm(0, 0.01) }
    }"""
    frame = pd.DataFrame({"y": [1.0, 2.0, np.nan, 4.0, 5.0, 6.0], "g": ["b", "a", "a", "c", "c", "b"]})
    fits = [lrvb.model(text, one) for one in (frame, frame.assign(g=frame["g"].astype("category")), frame.assign(g=[2, 1, 1, 3, 3, 2]))]
    # Closed form: a normal mean with precision 0.01 and rows of precision 1; the row that is missing says nothing.
    expected = np.array([2.0 / 1.01, 7.0 / 2.01, 9.0 / 2.01])
    for fit in fits:
        assert fit.summary("m")["mean"].to_numpy() == pytest.approx(expected, rel=1e-9)
        assert fit.mean("y[3]") == pytest.approx(expected[0], rel=1e-9)
        assert list(fit.influence(top=None).index) == ["y[1]", "y[2]", "y[4]", "y[5]", "y[6]"]
    with pytest.raises(ValueError, match="g"):  # an index that is missing
        lrvb.model(text, frame.assign(g=["b", None, "a", "c", "c", "b"]))


def test_what_a_fit_can_be_asked(tmp_path):
    fit = lrvb.model(SCHOOLS, SCHOOLS_DATA)
    assert fit.kind == "model" and fit.converged and fit.verdict in ("ok", "off", "exact")
    summary = fit.summary(["mu", "theta", "sd.theta"])
    assert len(summary) == 10 and np.isfinite(summary["sd"]).all()
    assert fit.covariance("theta").shape == (8, 8)
    assert fit.correlation(["mu", "theta[1]"]).iloc[0, 1] > 0.0
    influence = fit.influence(top=3)
    assert influence.index[0].startswith("y[") and len(fit.influence(top=None)) == 8
    assert list(fit.leverage("mu").index) == [f"y[{j}]" for j in range(1, 9)]
    assert fit.sensitivity("mu").shape[0] > 0 and fit.robust("mu").shape == (1, 4)
    assert fit.check().method in ("importance", "nuts", "integration")
    assert fit.draws(500, ["mu"]).shape == (500, 1) and fit.draws(500, ["mu"], exact=False).shape == (500, 1)
    assert fit.corrected().verdict == "exact"
    assert list(fit.loo().rows.index) == [f"y[{j}]" for j in range(1, 9)]
    data = fit.to_arviz(200)
    assert data.posterior["theta"].shape[2:] == (8,) and data.log_likelihood["y"].shape[2] == 8
    assert data.log_likelihood["y"].coords["row"].values[0] == "y[1]"
    fit.report(tmp_path / "page.html")
    for draw in (fit.plot.intervals, fit.plot.correlation, fit.plot.influence):
        draw()
    assert "A model" in fit._repr_html_() and "unobserved nodes" in repr(fit)


def test_predictions_are_refused():
    with pytest.raises(ValueError, match="a model in BUGS predicts what its text says: give the rows to predict in the data with NA"):
        lrvb.model(SCHOOLS, SCHOOLS_DATA, check="never").predict({"y": [1.0]})
    with pytest.raises(ValueError, match="a model in BUGS predicts what its text says"):
        lrvb.model(SCHOOLS, SCHOOLS_DATA, check="never").predict()


def test_save_and_load(tmp_path, program):
    fit = lrvb.model(SCHOOLS, SCHOOLS_DATA)
    path = tmp_path / "fit.json"
    fit.save(path)
    for data in (SCHOOLS_DATA, "models/schools.json", ["models/schools.json"]):
        again = lrvb.load(path, data)
        assert again.influence(top=None).equals(fit.influence(top=None)) and again.summary().equals(fit.summary())
    with pytest.raises(ValueError, match="data"):
        lrvb.load(path, {**SCHOOLS_DATA, "se": np.ones(8)})
    assert "y[" in program("influence", path, "models/schools.json")  # the program reads it, too
    import pickle

    restored = pickle.loads(pickle.dumps(fit)).with_data(SCHOOLS_DATA)
    assert restored.leverage("mu").equals(fit.leverage("mu"))


def test_data_are_copied():
    y = Y.copy()
    fit = lrvb.model(LINE, {"N": 12, "y": y, "x": X}, check="never")
    before = fit.influence(top=None)
    y[:] = 0.0
    assert fit.influence(top=None).equals(before)


def test_the_pumps_of_a_file():
    frame = pd.read_csv(DATA / "pump.csv")
    fit = lrvb.model(ROOT / "models" / "pump.bug", frame)
    # A fixed point by hand: tests/pump_test.cpp.
    assert fit.mean("r") == pytest.approx(2.42539, abs=5e-6) and fit.sd("r") == pytest.approx(0.69637, abs=5e-6)


GOOD = {"N": 12, "y": Y, "x": X}
BAD = {
    "no text": (lambda: lrvb.model(3, GOOD), ValueError, "must be text in the language of BUGS"),
    "nothing": (lambda: lrvb.model("", GOOD), ValueError, "must be text"),
    "no block": (lambda: lrvb.model("y ~ dnorm(0, 1)", {"y": 1.0}), ValueError, "within model {"),
    "a file that is not there": (lambda: lrvb.model("no/such.bug", GOOD), FileNotFoundError, "such.bug"),
    "data that are not there": (lambda: lrvb.model(LINE, "no/such.json"), FileNotFoundError, "such.json"),
    "an unknown distribution": (lambda: lrvb.model(LINE.replace("dgamma", "dgama"), GOOD), lrvb.ModelError, "did you mean 'dgamma'"),
    "a name that is missing": (lambda: lrvb.model(LINE, {"N": 12, "y": Y}), lrvb.ModelError, "'x'"),
    "another length": (lambda: lrvb.model(LINE, {**GOOD, "x": X[:5]}), lrvb.ModelError, "x"),
    "not conjugate": (lambda: lrvb.model("model { a ~ dnorm(0, 1) y ~ dnorm(sin(a), 1) }", {"y": 1.0}), ValueError, "sin|conjugate"),
    "text": (lambda: lrvb.model(LINE, {**GOOD, "x": ["a"] * 12}), ValueError, "'x' holds text: give it in a frame"),
    "a string": (lambda: lrvb.model(LINE, {**GOOD, "x": "a"}), ValueError, "'x' holds text"),
    "ragged": (lambda: lrvb.model(LINE, {**GOOD, "x": [[1.0], [1.0, 2.0]]}), ValueError, "rows of equal length"),
    "complex": (lambda: lrvb.model(LINE, {**GOOD, "x": X + 1j}), ValueError, "'x' holds complex numbers"),
    "dates": (lambda: lrvb.model(LINE, {**GOOD, "x": np.array(["2020-01-01"] * 12, dtype="M8[D]")}), ValueError, "'x' holds times"),
    "huge whole numbers": (lambda: lrvb.model(LINE, {**GOOD, "x": np.full(12, 2**60 + 1)}), ValueError, "too large for a double"),
    "infinite": (lambda: lrvb.model(LINE, {**GOOD, "y": np.append(Y[:-1], np.inf)}), ValueError, "y"),
    "a name that is a number": (lambda: lrvb.model(LINE, {**GOOD, 3: X}), ValueError, "a name of the data is 3"),
    "given twice": (lambda: lrvb.model(LINE, [GOOD, {"x": X}]), ValueError, "given twice"),
    "an array": (lambda: lrvb.model(LINE, X), ValueError, "give a mapping of names to arrays"),
    "an empty frame": (lambda: lrvb.model(LINE, pd.DataFrame({"x": []})), ValueError, "0 rows"),
    "an unknown node": (lambda: lrvb.model(LINE, GOOD, monitor="q"), ValueError, "monitor: the model has no node 'q'"),
    "no restarts": (lambda: lrvb.model(LINE, GOOD, restarts=0), ValueError, "restarts is 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_models(case):
    act, kind, sentence = BAD[case]
    with pytest.raises(kind, match=sentence) as caught:
        act()
    assert "--" not in str(caught.value) and "/tmp" not in str(caught.value)
