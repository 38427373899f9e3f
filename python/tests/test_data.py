"""Data of every shape, read without a copy where they can be."""

import lrvb
import numpy as np
import pandas as pd
import pytest
from conftest import DATA


def means(fit):
    return fit.summary("mu")["mean"].to_numpy()


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(4)
    return np.concatenate([random.normal(0, 1, (300, 3)), random.normal(5, 1, (200, 3))])


@pytest.fixture(scope="module")
def expected(rows):
    return means(lrvb.mixture(rows, 2, check="never"))


@pytest.mark.parametrize(
    "layout",
    [
        lambda x: np.asfortranarray(x),
        lambda x: x[::-1][::-1],
        lambda x: np.ascontiguousarray(np.hstack([x, x])).T[:3].T,
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: x.astype(np.longdouble),
        lambda x: x.astype(">f8"),
        lambda x: x.tolist(),
        lambda x: pd.DataFrame(x),
        lambda x: {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]},
        lambda x: np.array(x, dtype=object),
        lambda x: np.ma.masked_array(x),
        lambda x: np.matrix(x),
    ],
)
def test_layouts(rows, expected, layout):
    assert (means(lrvb.mixture(layout(rows), 2, check="never")) == expected).all()


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16, np.uint32, np.uint64])
def test_kinds_of_numbers(rows, kind):
    converted = np.round(rows + 10.0).astype(kind)
    assert (means(lrvb.mixture(converted, 2, check="never")) == means(lrvb.mixture(converted.astype(np.float64), 2, check="never"))).all()


def test_unaligned_numbers(rows, expected):
    raw = np.zeros(rows.nbytes + 1, dtype=np.uint8)
    raw[1:] = np.frombuffer(rows.tobytes(), dtype=np.uint8)
    odd = raw[1:].view(np.float64).reshape(rows.shape)
    assert not odd.flags.aligned or odd.ctypes.data % 8
    assert (means(lrvb.mixture(odd, 2, check="never")) == expected).all()


def test_a_large_fortran_array_streams_with_the_same_bits():
    big = np.random.default_rng(6).normal(size=(600_000, 2))
    big[:200_000] += 6.0
    texts = [lrvb.mixture(order(big), 2, check="never", restarts=2).to_json() for order in (np.ascontiguousarray, np.asfortranarray)]
    assert texts[0] == texts[1]


def test_memory_maps(rows, expected, tmp_path):
    mapped = np.memmap(tmp_path / "rows.bin", dtype=np.float64, mode="w+", shape=rows.shape)
    mapped[:] = rows
    mapped.flush()
    again = np.memmap(tmp_path / "rows.bin", dtype=np.float64, mode="r", shape=rows.shape)
    fit = lrvb.mixture(again, 2, check="never")
    assert (means(fit) == expected).all()
    np.save(tmp_path / "rows.npy", rows)
    assert (means(lrvb.mixture(tmp_path / "rows.npy", 2, check="never")) == expected).all()


def test_read_only_arrays(rows, expected):
    frozen = rows.copy()
    frozen.flags.writeable = False
    assert (means(lrvb.mixture(frozen, 2, check="never")) == expected).all()


def test_chunks_that_are_kept_nowhere(rows, expected):
    calls = []

    def chunks():
        calls.append(1)
        for at in range(0, len(rows), 64):
            yield pd.DataFrame(rows[at : at + 64], columns=["a", "b", "c"])

    kept = lrvb.mixture(chunks, 2, check="never")
    streamed = lrvb.mixture(chunks, 2, check="never", memory=1000)
    assert (means(kept) == expected).all() and (means(streamed) == expected).all()
    assert kept.summary("mu").index[1] == "mu[1,b]" and len(calls) > 5
    assert streamed.influence(top=3).equals(kept.influence(top=3))


def test_chunks_that_change_after_the_fit(rows):
    given = rows.copy()
    streamed = lrvb.mixture(lambda: iter([given[:100], given[100:]]), 2, check="never", memory=1000)
    streamed.influence(top=3)
    given[7, 1] += 1e-6
    with pytest.raises(ValueError, match="the rows are not those that were read at first"):
        streamed.influence(top=3)


def test_chunks_with_missing_values(rows):
    holed = rows.copy()
    holed[7, 1] = np.nan
    fit = lrvb.mixture(lambda: iter([holed[:5], holed[5:]]), 2, check="never", drop_missing=True)
    assert fit._core.dropped == 1 and 7 not in fit.leverage("mu").index and len(fit.leverage("mu")) == 499
    table = lrvb.mixture(holed, 2, check="never", drop_missing=True)
    assert (means(table) == means(fit)).all() and table.leverage("mu").equals(fit.leverage("mu"))


def test_factors_of_a_frame():
    cars = pd.read_csv(DATA / "mtcars.csv")
    cars["kind"] = np.where(cars["cyl"] > 4, "big", "small")
    by_text = lrvb.regression("mpg ~ wt + kind", cars)
    by_category = lrvb.regression("mpg ~ wt + kind", cars.assign(kind=pd.Categorical(cars["kind"], categories=["small", "big", "none"])))
    by_number = lrvb.regression("mpg ~ wt + C(cyl)", cars)
    assert by_text.variables == by_category.variables and "beta[kind=small]" in "".join(by_text.variables).replace("kindsmall", "kind=small")
    assert len(by_number.summary("beta")) == 3
    truth = lrvb.regression("mpg ~ wt + am", cars.assign(am=cars["am"] == 1))
    assert len(truth.summary("beta")) == 2
    nullable = cars.assign(wt=cars["wt"].astype("Float64"))
    assert lrvb.regression("mpg ~ wt", nullable).to_json() == lrvb.regression("mpg ~ wt", cars).to_json()


def test_odd_names_are_names():
    x = np.append(np.random.default_rng(1).normal(size=50), np.random.default_rng(2).normal(8.0, 1.0, 50))
    for name in ["a,b", 'a"b', "-c", "1-2", "2", 7, "größe", "a\nb", ("a", "b"), "a b", "mu[1]"]:
        frame = pd.DataFrame({"c": x + 1000.0, name: x}, columns=pd.Index(["c", name], tupleize_cols=False))
        fit = lrvb.mixture(frame, 2, columns=[name], check="never")
        assert fit.summary("mu")["mean"].max() < 10.0 and fit._core.columns == [str(name)]
        estimator = lrvb.NormalMixture(2).fit(frame.rename(columns=str))
        assert estimator.means_.shape == (2, 2)
    spaced = pd.DataFrame({"my y": x, "my x": np.arange(100.0)})
    assert "beta[my x]" in lrvb.regression("`my y` ~ `my x`", spaced).variables


def test_chunks_whose_columns_change_places():
    random = np.random.default_rng(4)
    frame = pd.DataFrame({"a": random.normal(size=60), "b": random.normal(50.0, 1.0, 60)})
    mixed = lrvb.mixture(lambda: iter([frame[:30], frame[30:][["b", "a"]]]), 1, check="never")
    assert means(mixed).tolist() == means(lrvb.mixture(frame, 1, check="never")).tolist()


def test_what_means_missing_is_a_text_or_several():
    x = np.append(np.arange(30.0) % 9, -999.0)
    for na in ("-999", ["-999"], [-999], ("-999", "?")):
        fit = lrvb.mixture(x, 1, na=na, drop_missing=True, check="never")
        assert fit.rows == 30  # and no row with a 9 is gone


def test_missing_values_of_a_frame():
    frame = pd.DataFrame({"y": np.arange(30.0) % 7, "x": np.arange(30.0), "g": ["a", "b", None] * 10})
    with pytest.raises(ValueError, match="row 3, column 'g': the value is missing, in the first of 10 such rows"):
        lrvb.regression("y ~ x + g", frame)
    fit = lrvb.regression("y ~ x + g", frame, drop_missing=True)
    assert fit.rows == 20 and fit._core.dropped == 10
    assert lrvb.regression("y ~ x", frame).rows == 30  # what is not used may be missing
    marked = lrvb.mixture(np.append(np.arange(30.0) % 7, -999.0), 1, na=["-999"], drop_missing=True, check="never")
    assert marked.rows == 30
