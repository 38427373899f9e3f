"""Python and the program give the same fit file, to the last bit, for the same data, seed and options."""

import json

import lrvb
import numpy as np
import pandas as pd
import pytest
from conftest import DATA, ROOT


def program_fit(program, tmp_path, *arguments):
    path = tmp_path / "fit.json"
    program("fit", *arguments, "--quiet", "-o", path)
    return path.read_text()


def without_name(text):
    """The file, but for what it calls its data: a path there, a table in memory here."""
    document = json.loads(text)
    document["data"]["name"] = ""
    return document


def test_mixture_of_a_file(program, tmp_path):
    theirs = program_fit(program, tmp_path, "mixture", "data/old_faithful.csv", "-k", "2")
    assert lrvb.mixture("data/old_faithful.csv", 2).to_json() == theirs


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("layout", ["frame", "C", "F", "float32", "chunks", "iterator", "view"])
def test_mixture_in_memory(program, tmp_path, faithful, layout):
    theirs = program_fit(program, tmp_path, "mixture", "data/old_faithful.csv", "-k", "2")
    values = faithful.to_numpy()
    names = list(faithful.columns)
    if layout == "float32":  # the same numbers, as the file writes them
        values = values.astype(np.float32)
        rounded = tmp_path / "rounded.csv"
        pd.DataFrame(values.astype(np.float64), columns=names).to_csv(rounded, index=False)
        theirs = program_fit(program, tmp_path, "mixture", rounded, "-k", "2")
    data = {
        "frame": faithful,
        "C": np.ascontiguousarray(values),
        "F": np.asfortranarray(values),
        "float32": values,
        "chunks": lambda: (values[at : at + 37] for at in range(0, len(values), 37)),
        "iterator": iter([values[:100], values[100:101], values[101:]]),
        "view": np.repeat(values, 3, axis=0)[::3][:, ::1],
    }[layout]
    fit = lrvb.mixture(data, 2, names=None if layout == "frame" else names)
    assert without_name(fit.to_json()) == without_name(theirs)


def test_mixture_with_options(program, tmp_path):
    arguments = ["mixture", "data/old_faithful.csv", "-c", "eruptions", "-k", "2", "--prior", "paper", "--seed", "7", "--tolerance", "1e-10"]
    theirs = program_fit(program, tmp_path, *arguments, "--prior-alpha", "2", "--check", "never", "--restarts", "4")
    fit = lrvb.mixture(
        "data/old_faithful.csv", 2, columns="eruptions", prior="paper", seed=7, tolerance=1e-10, prior_alpha=2, check="never", restarts=4
    )
    assert fit.to_json() == theirs


def test_weights_and_missing_values(program, tmp_path):
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"x": np.append(random.normal(0, 1, 60), random.normal(6, 1, 60)), "w": random.integers(0, 3, 120)})
    frame.loc[[3, 50], "x"] = np.nan
    path = tmp_path / "weighted.csv"
    frame.to_csv(path, index=False)
    theirs = program_fit(program, tmp_path, "mixture", path, "-k", "2", "--weights", "w", "--drop-missing", "-c", "x")
    mine = lrvb.mixture(frame, 2, weights="w", columns="x", drop_missing=True)
    assert without_name(mine.to_json()) == without_name(theirs)
    assert mine._core.dropped == 2
    assert set(mine.leverage("mu").index) == set(frame.index) - {3, 50}


@pytest.mark.parametrize(
    ("file", "formula", "options"),
    [
        ("mtcars.csv", "mpg ~ wt + qsec", {}),
        ("mtcars.csv", "mpg ~ wt + C(cyl)", {"seed": 3}),
        ("sleepstudy.csv", "Reaction ~ Days + (Days | Subject)", {}),
    ],
)
def test_regression(program, tmp_path, file, formula, options):
    seed = ["--seed", str(options["seed"])] if "seed" in options else []
    theirs = program_fit(program, tmp_path, "regression", f"data/{file}", formula, *seed)
    assert lrvb.regression(formula, f"data/{file}", **options).to_json() == theirs
    frame = pd.read_csv(DATA / file, float_precision="round_trip")
    if file == "sleepstudy.csv":
        frame["Subject"] = frame["Subject"].astype(str)
    assert without_name(lrvb.regression(formula, frame, **options).to_json()) == without_name(theirs)


def test_poisson_regression_with_text(program, tmp_path):
    random = np.random.default_rng(8)
    frame = pd.DataFrame({"n": random.poisson(3.0, 60), "x": random.normal(size=60), "g": random.choice(["b", "a", "ç"], 60)})
    path = tmp_path / "counts.csv"
    frame.to_csv(path, index=False)
    theirs = program_fit(program, tmp_path, "regression", path, "n ~ x + (1 | g)", "--family", "poisson")
    for mine in (frame, frame.assign(g=frame["g"].astype("category"))):
        fit = lrvb.regression("n ~ x + (1 | g)", mine, family="poisson")
        assert without_name(fit.to_json()) == without_name(theirs)


def test_what_was_written_is_read_by_both(program, tmp_path, faithful):
    path = tmp_path / "fit.json"
    lrvb.mixture(faithful, 2, check="never").save(path)
    shown = program("summary", path, "--variables", "mu", "--format", "csv")
    again = lrvb.load(path, faithful)
    for line, (name, row) in zip(shown.splitlines()[1:], again.summary("mu").iterrows()):
        assert name.split(",")[0] in line and repr(row["mean"])[:8] in line
    influence = program("influence", path, "data/old_faithful.csv", "--variables", "mu", "--top", "1", cwd=ROOT)
    assert str(again.influence(top=1, variables="mu").index[0] + 1) == influence.splitlines()[-1].split()[0]


def test_threads_change_no_bit(faithful):
    texts = {lrvb.mixture(faithful, 3, threads=threads).to_json() for threads in (1, 2, 3)}
    assert len(texts) == 1
