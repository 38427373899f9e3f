"""Forty bad inputs and more: the right exception, the right sentence, and no crash."""

import copy
import os
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import lrvb
import numpy as np
import pandas as pd
import pytest

X = np.concatenate([np.linspace(-1, 1, 40), np.linspace(7, 9, 40)])
DATES = pd.to_datetime(["2020-01-01", None, "2021-01-01"])
MASKED = np.ma.masked_array([1.0, 100.0, 2.0], [False, True, False])
BUGS = "model { mu ~ dnorm(0, 1)\n for (i in 1:N) { y[i] ~ dnorm(mu, 1) } }"
FRAME = pd.DataFrame({"y": X, "x": np.arange(80.0), "g": ["a", "b"] * 40})


def fitted(data=X, **options):
    return lrvb.mixture(data, 2, check="never", **options)


def a_fit():
    return fitted(X.copy())


def empty_chunks():
    return iter([])


def failing_chunks():
    yield X[:10, None]
    raise OSError("the disk is gone")


def uneven_chunks():
    yield X[:10, None]
    yield np.ones((3, 2))


CASES = {
    # Shapes.
    "three dimensions": (lambda: fitted(np.zeros((4, 4, 4))), ValueError, "3 dimensions"),
    "no rows": (lambda: fitted(np.empty((0, 2))), ValueError, "0 rows"),
    "no columns": (lambda: fitted(np.empty((5, 0))), ValueError, "0 columns"),
    "a number": (lambda: fitted(3.0), ValueError, "give an array"),
    "nothing": (lambda: fitted(None), ValueError, "give an array|no number"),
    "ragged lists": (lambda: fitted([[1.0, 2.0], [3.0]]), ValueError, "no array|no number"),
    "an empty frame": (lambda: fitted(FRAME.iloc[:0][["x"]]), ValueError, "0 rows"),
    "fewer rows than components": (lambda: lrvb.mixture(X[:3], 9, check="never"), ValueError, "fewer than 9 components"),
    "too many names": (lambda: fitted(X, names=["a", "b"]), ValueError, "2 names for 1 columns"),
    # Kinds of numbers.
    "text": (lambda: fitted(np.array(["a", "b"])), ValueError, "holds text"),
    "an object array with text": (lambda: fitted(np.array([1.0, "x", None], dtype=object)), ValueError, "row 2: 'x' is no number"),
    "complex numbers": (lambda: fitted(X.astype(complex)), ValueError, "complex"),
    "dates": (lambda: fitted(np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")), ValueError, "times"),
    "a column of text in a mixture": (lambda: fitted(FRAME), ValueError, "column 'g' holds text"),
    "bytes": (lambda: fitted(b"1,2,3"), ValueError, "bytes"),
    "NaN": (lambda: fitted(np.append(X, np.nan)), ValueError, "row 81, column '1': the value is missing"),
    "NaN in a strided view": (lambda: fitted(np.append(X, [np.nan, 1.0])[::2]), ValueError, "missing"),
    "infinite": (lambda: fitted(np.append(X, np.inf)), ValueError, "row 81, column '1': the value is infinite"),
    "nothing but missing values": (lambda: fitted(np.full(5, np.nan), drop_missing=True), ValueError, "none is left"),
    "a constant column": (lambda: fitted(np.ones(50)), ValueError, "constant|same|vary"),
    "two columns of one name": (lambda: fitted(pd.DataFrame(np.ones((9, 2)), columns=["a", "a"])), ValueError, "rename one"),
    # Options.
    "no components": (lambda: lrvb.mixture(X, 0), ValueError, "n_components is 0"),
    "half a component": (lambda: lrvb.mixture(X, 1.5), ValueError, "must be a whole number"),
    "an unknown covariance": (lambda: fitted(covariance="round"), ValueError, "must be one of full, diagonal"),
    "an unknown prior": (lambda: fitted(prior="mine"), ValueError, "must be one of paper, auto"),
    "a negative prior number": (lambda: fitted(prior_variance=-1.0), ValueError, "prior_variance"),
    "an unknown check": (lambda: lrvb.mixture(X, 2, check="sometimes"), ValueError, "check is 'sometimes'"),
    "a tolerance of one": (lambda: fitted(tolerance=1.0), ValueError, "tolerance is 1"),
    "no iterations": (lambda: fitted(max_iterations=0), ValueError, "max_iterations is 0"),
    "no threads": (lambda: fitted(threads=0), ValueError, "threads is 0"),
    "a seed of text": (lambda: fitted(seed="one"), ValueError, "seed is 'one'"),
    "weights of another length": (lambda: fitted(weights=np.ones(3)), ValueError, "a weight for each of the 80 rows"),
    "negative weights": (lambda: fitted(weights=-np.ones(80)), ValueError, "weight"),
    "weights that are all zero": (lambda: fitted(weights=np.zeros(80)), ValueError, "no row has a weight"),
    "a column that is not there": (lambda: fitted(FRAME, columns="z"), ValueError, "z"),
    # Formulas.
    "a formula that is none": (lambda: lrvb.regression("y ~ ~ x", FRAME), ValueError, "y ~ ~ x"),
    "a formula that is a number": (lambda: lrvb.regression(3, FRAME), ValueError, "formula is 3"),
    "a formula with an unknown column": (lambda: lrvb.regression("y ~ z", FRAME), ValueError, "z"),
    "an unknown family": (lambda: lrvb.regression("y ~ x", FRAME, family="cauchy"), ValueError, "must be one of gaussian"),
    "a response of text": (lambda: lrvb.regression("g ~ x", FRAME), ValueError, "g"),
    "a prior that is no sentence": (lambda: lrvb.regression("y ~ x", FRAME, prior="wide"), ValueError, "wide"),
    "dates in a frame": (lambda: lrvb.regression("y ~ t", FRAME.assign(t=pd.Timestamp("2020-01-01"))), ValueError, "times"),
    # Files and chunks.
    "a file that is not there": (lambda: fitted("no/such/file.csv"), FileNotFoundError, "file.csv"),
    "a folder": (lambda: fitted("/tmp"), (IsADirectoryError, ValueError), "tmp"),
    "a fit file that is not there": (lambda: lrvb.load("no/such/fit.json"), FileNotFoundError, "fit.json"),
    "a fit file that is none": (lambda: lrvb.loads("{}"), ValueError, "a fit"),
    "no chunks": (lambda: fitted(empty_chunks), ValueError, "there is no chunk"),
    "chunks that fail": (lambda: fitted(failing_chunks), OSError, "the disk is gone"),
    "chunks of another width": (lambda: fitted(uneven_chunks), ValueError, "shape \\(3, 2\\)"),
    "an iterator that does not fit into memory": (lambda: fitted(iter([X[:, None]] * 3), memory=64), ValueError, "only once"),
    "an open file": (lambda: fitted(open(os.devnull)), ValueError, "an open file .* give its path"),
    "columns of other lengths": (lambda: lrvb.regression("y ~ x", {"y": X, "x": X[1:]}), ValueError, "'x' of the mapping has 79 rows, but 'y' has 80"),
    "a column of two dimensions": (lambda: lrvb.regression("y ~ x", {"y": X, "x": np.c_[X, X]}), ValueError, "'x' of the mapping has 2 dimensions"),
    "a mapping of nothing": (lambda: lrvb.regression("y ~ x", {}), ValueError, "holds no column"),
    "groups beyond doubles": (lambda: lrvb.regression("y ~ x + (1 | i)", FRAME.assign(i=2**60 + np.arange(80) % 4)), ValueError, "make text of them"),
    "chunks of other names": (lambda: fitted(lambda: iter([FRAME[["y"]], FRAME[["x"]]])), ValueError, "a chunk has the columns x"),
    "chunks of text": (lambda: fitted(lambda: iter([FRAME])), ValueError, "a chunk holds what is no number"),
    "chunks that are a number": (lambda: fitted(lambda: 3), TypeError, "not iterable"),
    "a path with a zero": (lambda: fitted("a\0b.csv"), ValueError, "no name that a file"),
    "a fit file of bytes": (lambda: lrvb.load("/bin/ls"), ValueError, "is no fit file of lrvb"),
    "a fit that is half of a surrogate pair": (lambda: lrvb.loads("\ud800"), ValueError, "a fit is no fit file"),
    "a fit of such a name": (lambda: lrvb.loads("{}", "\udcff.json"), ValueError, "json is no fit file"),
    "a fit that is no text": (lambda: lrvb.loads(None), ValueError, "must be text"),
    # Names.
    "a column without a name": (lambda: fitted(pd.DataFrame({"": X, "b": X})), ValueError, "column 1 of the frame has no name"),
    "a column that is half a letter": (lambda: fitted(pd.DataFrame({"\ud800": X})), ValueError, "no text that can be written"),
    "a level that is half a letter": (lambda: lrvb.regression("y ~ g", FRAME.assign(g=["\ud800", "b"] * 40)), ValueError, "column 'g' holds"),
    "names in a set": (lambda: fitted(X, names={"a"}), ValueError, "names is {'a'}"),
    "names that are the same": (lambda: fitted(np.c_[X, X[::-1]], names=["a", "a"]), ValueError, "a name of its own"),
    "columns by number": (lambda: fitted(FRAME, columns=1), ValueError, "columns is 1"),
    # Types of options.
    "memory below nothing": (lambda: fitted(memory=-1), ValueError, "memory is -1"),
    "half a thread": (lambda: fitted(threads=1.5), ValueError, "threads is 1.5"),
    "very many threads": (lambda: fitted(threads=10**9), ValueError, "at most 10000"),
    "a seed that is too large": (lambda: fitted(seed=2**70), ValueError, "2\\*\\*64"),
    "a tolerance of text": (lambda: fitted(tolerance="small"), ValueError, "tolerance is 'small'"),
    "a prior number of text": (lambda: fitted(prior_mean="a"), ValueError, "prior_mean"),
    "a range where one is meant": (lambda: lrvb.mixture(X, range(1, 3)), ValueError, "lrvb.mixtures fits several"),
    "priors in a mapping": (lambda: lrvb.regression("y ~ x", FRAME, prior={"beta": "normal(0, 1)"}), ValueError, "must be sentences"),
    "a baseline of text": (lambda: lrvb.regression("y ~ g", FRAME, baseline="g=a"), ValueError, "must be a mapping"),
    "weights of a regression in an array": (lambda: lrvb.regression("y ~ x", FRAME, weights=np.ones(80)), ValueError, "name of a column"),
    # Questions.
    "a level of text": (lambda: a_fit().summary(level="x"), ValueError, "level is 'x'"),
    "very many draws": (lambda: a_fit().draws(10**12), ValueError, "at most 10000000"),
    "a seed below nothing": (lambda: a_fit().draws(10, seed=-3), ValueError, "seed is -3"),
    "a method that is a number": (lambda: a_fit().loo(method=3), ValueError, "method is 3"),
    "no row to predict": (lambda: a_fit().predict(np.empty((0, 1))), ValueError, "0 rows"),
    "a level of predictions": (lambda: lrvb.regression("y ~ x", FRAME).predict(FRAME, level=1.5), ValueError, "level is 1.5"),
    "a group that is new": (lambda: lrvb.regression("y ~ g", FRAME).predict({"g": ["z"]}), ValueError, "'z' did not occur"),
    "a prediction of a declared model": (lambda: _declared().predict(X), ValueError, "declared"),
    "data for a declared model": (lambda: lrvb.loads(_declared().to_json()).with_data(X), ValueError, "as an lrvb.Model"),
    "a place with a zero": (lambda: a_fit().save("/tmp/a\0b"), ValueError, "no name that a file"),
    "a device that is full": (lambda: a_fit().save("/dev/full"), OSError, "No space left"),
    "an unknown variable": (lambda: a_fit().summary("nu"), ValueError, "nu"),
    "a variable that is a number": (lambda: a_fit().summary([3]), ValueError, "must be a name"),
    "one fit to compare": (lambda: lrvb.compare(a_fit()), ValueError, "nothing to be compared with"),
    "seconds of several fits": (lambda: lrvb.mixtures(X, range(1, 3), seconds=3), ValueError, "seconds is how long"),
    "groups by what is no column": (lambda: lrvb.regression("y ~ x", FRAME).influence(by="z"), ValueError, "z"),
    "groups by a number": (lambda: lrvb.regression("y ~ x", FRAME).influence(by=3), ValueError, "by is 3"),
    "several where one is meant": (lambda: a_fit().mean("mu"), ValueError, "is 2 variables"),
    "a level of two": (lambda: a_fit().summary(level=2.0), ValueError, "level is 2"),
    "no row at the top": (lambda: a_fit().influence(top=0), ValueError, "top is 0"),
    "half a row": (lambda: a_fit().influence(top=1.5), ValueError, "top is 1.5"),
    "no draws": (lambda: a_fit().draws(0), ValueError, "n is 0"),
    "an unknown method": (lambda: a_fit().check(method="guess"), ValueError, "method is 'guess'"),
    "too few draws": (lambda: a_fit().check(draws=5), ValueError, "draws is 5"),
    "intervals of a mixture": (lambda: a_fit().predict(X, level=0.9), ValueError, "no intervals"),
    "a prediction of text": (lambda: a_fit().predict(np.array(["a"])), ValueError, "text"),
    "a prediction of other columns": (lambda: a_fit().predict(np.ones((3, 2))), ValueError, "2 columns, but the fit has 1"),
    "rows without data": (lambda: lrvb.loads(a_fit().to_json()).influence(), ValueError, "fit.with_data"),
    "other data": (lambda: lrvb.loads(a_fit().to_json()).with_data(X + 1.0), ValueError, "data"),
    "fewer data": (lambda: lrvb.loads(a_fit().to_json()).with_data(X[:-1]), ValueError, "rows|data"),
    "a folder that is not there": (lambda: a_fit().save("/no/such/folder/fit.json"), FileNotFoundError, "fit.json"),
    # What converts to numbers that nobody meant.
    "dates in a chunk": (lambda: fitted(iter([pd.DataFrame({"t": DATES})])), ValueError, "times"),
    "dates in a model": (lambda: lrvb.Model().observe("y", pd.Series(DATES), lrvb.normal(0, 1)), ValueError, "'y' holds times"),
    "dates in a model in BUGS": (lambda: lrvb.model(BUGS, {"N": 3, "y": pd.Series(DATES)}), ValueError, "'y' holds times"),
    "complex numbers in a model": (lambda: lrvb.Model().observe("y", [1j, 2.0], lrvb.normal(0, 1)), ValueError, "complex"),
    "text of numbers in a model": (lambda: lrvb.Model().observe("y", ["1", "2"], lrvb.normal(0, 1)), ValueError, "holds text"),
    "a masked value in a model": (lambda: lrvb.Model().observe("y", MASKED, lrvb.normal(0, 1)), ValueError, "row 1 .from 0. is missing"),
    "a masked value in a chunk": (lambda: fitted(iter([MASKED])), ValueError, "row 2, column '1': the value is missing"),
    "a callable that returns an array": (lambda: fitted(lambda: X), ValueError, "whose rows are no chunks"),
    "two columns of one name": (
        lambda: lrvb.LinearRegression().fit(pd.DataFrame(np.ones((4, 2)), columns=["a", "a"]), [1.0, 2.0, 3.0, 5.0]), ValueError, "a name of its own",
    ),
    # Models.
    "a model with other data": (lambda: lrvb.loads(_declared(X).to_json()).with_data(_model(X + 1.0)), ValueError, "other data"),
    "a model that is not conjugate": (lambda: _not_conjugate(), ValueError, "Gamma"),
    "no distribution": (lambda: lrvb.Model().observe("y", X, 3.0), ValueError, "must be one, such as"),
    "NaN in a model": (lambda: lrvb.Model().observe("y", [1.0, np.nan], lrvb.normal(0, 1)), ValueError, "row 1"),
    "an entry that is not there": (lambda: lrvb.Model().dirichlet("p", [1, 1])[5], (ValueError, IndexError), "5|2"),
    "a negative precision": (lambda: lrvb.Model().normal("x", 0, -1), ValueError, "precision"),
    "text in a model": (lambda: lrvb.Model().normal("x", "zero", 1), TypeError, "must be a number"),
    "two variables of one name": (lambda: _twice(), ValueError, "mu"),
    "a model that is pickled": (lambda: pickle.dumps(lrvb.Model()), TypeError, "neither copied nor pickled"),
    "a model that is copied": (lambda: copy.deepcopy(lrvb.Model()), TypeError, "neither copied nor pickled"),
}


def _not_conjugate():
    m = lrvb.Model()
    m.observe("y", X, lrvb.normal(0.0, m.normal("x", 0, 1)))


def _model(values=X):
    m = lrvb.Model()
    m.observe("y", values, lrvb.normal(m.normal("mu", 0, 1), 1.0))
    return m


def _declared(values=X):
    return _model(values).fit(check="never")


def _twice():
    m = lrvb.Model()
    m.normal("mu", 0, 1)
    m.normal("mu", 0, 1)


@pytest.mark.parametrize("case", CASES)
def test_bad_input(case):
    act, kind, sentence = CASES[case]
    with pytest.raises(kind, match=sentence) as caught:
        act()
    assert not re.search(r"--[a-z]|'lrvb [a-z]+ [A-Z]|incompatible function", str(caught.value))  # it speaks Python


def test_there_are_forty():
    assert len(CASES) >= 40


def test_data_that_change_between_fit_and_influence():
    x = X.copy()
    fit = fitted(x)
    before = fit.influence(top=3)
    x[5] += 1.0
    with pytest.raises(ValueError, match="the data have changed since the fit"):
        fit.influence(top=3)
    x[5] -= 1.0
    x[5] = X[5]
    assert fit.influence(top=3).equals(before)


def test_a_frame_that_changes_between_fit_and_influence():
    frame = FRAME[["y", "x"]].copy()
    fit = lrvb.regression("y ~ x", frame)
    fit.influence(top=3)
    frame.iloc[3, 0] = 99.0
    with pytest.raises(ValueError, match="the data have changed since the fit"):
        fit.influence(top=3)


def test_memory_stays_as_long_as_it_is_needed():
    fit = fitted(X * 2.0)  # nobody else holds that array
    lots = [np.full(80, np.nan) for _ in range(50)]
    assert fit.influence(top=1)["distance"].iloc[0] > 0.0 and len(lots) == 50


def test_a_fit_that_does_not_converge():
    with pytest.warns(lrvb.ConvergenceWarning):
        fit = fitted(np.random.default_rng(1).normal(size=300), max_iterations=2, restarts=1)
    assert not fit.converged and np.isnan(fit.summary()["sd"]).all()
    for ask in (lambda: fit.covariance("mu"), lambda: fit.predict(X), lambda: fit.influence(), fit.check):
        with pytest.raises((lrvb.NotConverged, ValueError), match="converge|maximum"):
            ask()
    assert "not converged" in repr(fit) and "not converged" in fit._repr_html_()


def test_an_exception_of_the_progress_callback_ends_the_fit():
    def told(*_):
        raise RuntimeError("enough")

    big = np.random.default_rng(1).normal(size=(200_000, 3))
    with pytest.raises(RuntimeError, match="enough"):
        lrvb.mixture(big, 8, check="never", progress=told)


def test_threads_side_by_side():
    alone = fitted().to_json()
    with ThreadPoolExecutor(8) as pool:
        assert {fit.to_json() for fit in pool.map(lambda _: fitted(X.copy()), range(16))} == {alone}
    fit = fitted(X.copy())
    shared = fit.influence(top=None)
    with ThreadPoolExecutor(8) as pool:
        assert all(table.equals(shared) for table in pool.map(lambda _: fit.influence(top=None), range(16)))
        verdicts = set(pool.map(lambda _: fit.check(draws=400).verdict, range(4)))
    assert len(verdicts) == 1


def test_python_runs_while_a_fit_works():
    counted = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        lrvb.mixture(np.random.default_rng(1).normal(size=(100_000, 2)), 4, check="never", restarts=2)
    finally:
        done.set()
        thread.join()
    assert counted[0] > 1000
