"""Rows that Dask has: the same bits as in memory, and nothing but sums here."""

from __future__ import annotations

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import lrvb
from lrvb import _core


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    random = np.random.default_rng(5)
    group = random.uniform(size=200_000) < 0.3
    return np.column_stack([np.where(group, 0.0, 5.0), np.where(group, 1.0, -2.0)]) + random.normal(size=(200_000, 2))


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local, Client(local) as client:
        yield client


def without_name(fit: lrvb.Fit) -> dict:
    import json

    document = json.loads(fit.to_json())
    del document["data"]["name"]
    return document


def test_a_fit_of_a_dask_array_has_the_bits_of_one_in_memory(rows, cluster):
    here = lrvb.mixture(rows, 2, check="never", restarts=4)
    there = lrvb.mixture(da.from_array(rows, chunks=(30_000, 1)), 2, check="never", restarts=4)
    assert without_name(there) == without_name(here)


def test_estimators_take_arrays_and_frames_of_dask(rows, cluster):
    here = lrvb.NormalMixture(2, n_init=4).fit(rows)
    there = lrvb.NormalMixture(2, n_init=4).fit(da.from_array(rows, chunks=(70_000, 2)))
    assert np.array_equal(there.means_, here.means_) and np.array_equal(there.means_sd_, here.means_sd_)
    frame = pd.DataFrame(rows, columns=["a", "b"])
    framed = lrvb.NormalMixture(2, n_init=4).fit(dd.from_pandas(frame, npartitions=5))
    assert np.array_equal(framed.means_, here.means_)
    assert framed.feature_names_in_.tolist() == ["a", "b"]
    assert np.array_equal(framed.predict(frame.head(100)), here.predict(rows[:100]))


def test_weights_and_columns_are_those_of_memory(rows, cluster):
    weights = (np.arange(len(rows)) % 4).astype(float)
    here = lrvb.mixture(rows, 2, weights=weights, check="never", restarts=3)
    there = lrvb.mixture(da.from_array(rows, chunks=(50_000, 2)), 2, weights=da.from_array(weights, chunks=40_000), check="never", restarts=3)
    assert without_name(there) == without_name(here)
    frame = pd.DataFrame({"a": rows[:, 0], "text": "t", "w": weights})
    chosen = lrvb.mixture(dd.from_pandas(frame, npartitions=3), 2, columns="a", weights="w", check="never", restarts=3)
    assert without_name(chosen) == without_name(lrvb.mixture(frame, 2, columns="a", weights="w", check="never", restarts=3))


def test_weights_may_be_a_column_of_another_frame(rows, cluster):
    frame = dd.from_pandas(pd.DataFrame(rows, columns=["a", "b"]), npartitions=3)
    weights = np.abs(rows[:, 0])
    own = lrvb.NormalMixture(2).fit(frame, sample_weight=frame["a"].abs())
    assert np.array_equal(own.means_, lrvb.NormalMixture(2).fit(rows, sample_weight=weights).means_)
    with pytest.raises(ValueError, match="compute"):
        lrvb.regression("a ~ b", frame)


def test_it_needs_no_cluster(rows):
    with dask.config.set(scheduler="synchronous"):
        there = lrvb.mixture(da.from_array(rows[:, 0], chunks=70_000), 2, check="never", restarts=2)
    here = lrvb.mixture(rows[:, 0], 2, check="never", restarts=2)
    assert without_name(there) == without_name(here)


def test_what_the_driver_gets_is_small(rows, cluster):
    asked: dict[str, int] = {}
    array = da.from_array(rows, chunks=(65_536, 2))
    from lrvb._dask import _Team

    team = _Team(array, "rows", ["1", "2"])

    def ask(question: str, request: bytes) -> bytes:
        answer = team(question, request)
        asked[question] = max(asked.get(question, 0), len(answer))
        return answer

    data = _core.team_data(ask, "rows", ["1", "2"], len(rows))
    from lrvb._fitting import fitted

    fitted("mixture", data, [("components", "2"), ("restarts", "2")], seed=1, tolerance=1e-8, max_iterations=10000, check="never", seconds=None, threads=1)
    assert "rows" not in asked
    assert asked["mixture.sums"] < 20_000


def test_sums_are_values(rows):
    captured: list[bytes] = []

    def ask(question: str, request: bytes) -> bytes:
        if question == "mixture.sums":
            captured.append(request)
        answers = [_core.answer_question(question, rows[at : at + 65_536], at, request) for at in range(0, len(rows), 65_536)]
        while len(answers) > 1:
            answers[-2:] = [_core.merge_answers(question, *answers[-2:])]
        return answers[0]

    from lrvb._fitting import fitted

    data = _core.team_data(ask, "rows", ["1", "2"], len(rows))
    fitted("mixture", data, [("components", "2"), ("restarts", "1")], seed=1, tolerance=1e-8, max_iterations=10000, check="never", seconds=None, threads=1)
    request = captured[-1]
    parts = [lrvb.MixtureSums.of(rows[at : at + 65_536], at, request) for at in range(0, len(rows), 65_536)]
    left = (parts[0] + parts[1]) + (parts[2] + parts[3])
    right = parts[0] + (parts[1] + (parts[2] + parts[3]))
    assert left == right
    assert pickle.loads(pickle.dumps(left)) == left
    assert (left.first_block, left.end_block) == (0, 4)
    with pytest.raises(ValueError, match="follow"):
        parts[0] + parts[2]


@pytest.mark.parametrize(
    "data, options, says",
    [
        (da.ones((100, 0)), {}, "rows and columns"),
        (da.from_array(np.array(["a", "b", "c"])), {}, "must be numbers"),
        (da.from_array(np.array([1.0, np.nan, 3.0])), {}, "row 2, column '1': the value is missing"),
        (da.from_array(np.append(np.zeros(70_000), np.inf), chunks=65_536), {}, "row 70001, column '1': the value is inf"),
        (da.ma.masked_greater(da.arange(9.0, chunks=4), 7.0), {}, "row 9"),
        (da.ones((100, 2)), {"columns": "z"}, "no column 'z'"),
        (da.ones((100, 1)), {"weights": np.ones(3)}, "sample_weight has the shape"),
        (da.ones((100, 1)), {"drop_missing": True}, "drop rows in Dask"),
    ],
)
def test_what_is_wrong_is_said(data, options, says):
    with dask.config.set(scheduler="synchronous"), pytest.raises(ValueError, match=says):
        lrvb.mixture(data, 1, check="never", **options)
