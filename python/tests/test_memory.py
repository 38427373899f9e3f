"""What is asked again and again leaves nothing behind: allocated bytes do not grow with the number of times."""

import ctypes
import gc

import lrvb
import numpy as np
import pandas as pd
import pytest

X = np.append(np.random.default_rng(1).normal(size=500), np.random.default_rng(2).normal(8.0, 1.0, 500))
FRAME = pd.DataFrame({"y": X, "x": np.arange(1000.0) % 17, "g": [f"level {at % 7}" for at in range(1000)]})


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def allocated() -> int:
    """Bytes that malloc has given away: of the address sanitizer's, or of glibc's."""
    gc.collect()
    process = ctypes.CDLL(None)
    if hasattr(process, "__sanitizer_get_current_allocated_bytes"):
        count = process.__sanitizer_get_current_allocated_bytes
        count.restype = ctypes.c_size_t
        return count()
    process.mallinfo2.restype = _Mallinfo2
    found = process.mallinfo2()
    return found.uordblks + found.hblkhd


def refused():
    with pytest.raises(ValueError):
        lrvb.mixture(np.append(X, np.nan), 2)
    with pytest.raises(ValueError):
        lrvb.regression("y ~ z", FRAME)
    with pytest.raises(lrvb.ModelError):
        lrvb.model("model { y ~ dnrom(0, 1) }")


def interrupted():
    def enough(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lrvb.mixture(np.tile(X, 200), 6, check="never", progress=enough)


def declared():
    m = lrvb.Model()
    m.observe("y", X, lrvb.normal(m.normal("mu", 0, 1), m.gamma("tau", 1, 1)))
    m.fit(check="never").influence(top=3)


FIT = lrvb.mixture(X, 2, check="never")
TEXT = "model { for (i in 1:N) { y[i] ~ dnorm(a, tau) } a ~ dnorm(0, 1) tau ~ dgamma(1, 1) }"
WORK = {
    "mixture": lambda: lrvb.mixture(X, 2, check="never").influence(top=3),
    "estimator": lambda: lrvb.NormalMixture(2).fit(FRAME[["y"]]).predict_proba(FRAME[["y"]]),
    "chunks": lambda: lrvb.mixture(lambda: (X[at : at + 100, None] for at in range(0, 1000, 100)), 2, check="never", memory=1000),
    "regression": lambda: lrvb.regression("y ~ x + (1 | g)", FRAME).predict(FRAME),
    "model": lambda: lrvb.model(TEXT, {"N": 1000, "y": X}, check="never").leverage("a"),
    "declared": declared,
    "check": lambda: FIT.check(method="importance", draws=100).table(),
    "draws": lambda: FIT.draws(100, exact=False),
    "a file": lambda: lrvb.loads(FIT.to_json()).with_data(X).covariance(),
    "refusals": refused,
    "interruption": interrupted,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("work", WORK)
def test_nothing_is_left_behind(work):
    for _ in range(2):  # what is kept once
        WORK[work]()
    times = 4
    growth = []
    for _ in range(3):  # what is left behind is so each time; Python's own memory grows now and then
        before = allocated()
        for _ in range(times):
            WORK[work]()
        growth.append((allocated() - before) / times)
    assert min(growth) < 1000, growth  # a fit of these is 20 times that, at the least
