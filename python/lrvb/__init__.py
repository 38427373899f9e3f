"""Linear response variational Bayes: posterior means in milliseconds, with error bars that hold.

>>> import lrvb, numpy as np
>>> x = np.concatenate([np.linspace(-1, 1, 50), np.linspace(7, 9, 50)])
>>> mix = lrvb.NormalMixture(n_components=2).fit(x[:, None])
>>> mix.means_.ravel().round(2).tolist()
[0.0, 8.0]

Functions and estimators give a :class:`Fit`, which has a summary, covariances, predictions, a check against the exact posterior, and answers
to what each row and each number of the prior does. docs/python.md goes task by task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import MixtureSums, __version__
from ._errors import ConvergenceWarning, DataError, FitWarning, ModelError, NotConverged, TooLarge, UsageError
from ._comparison import Comparison, compare
from ._fit import Fit, load, loads
from ._fitting import mixture, mixtures, model, regression
from ._model import (
    Model, bernoulli, beta, binomial, categorical, dirichlet, exponential, gamma, log, multinomial, mv_normal, normal, one_of,
    poisson, scaled, wishart,
)  # fmt: skip
from ._reports import CheckReport, LooReport

if TYPE_CHECKING:
    from ._estimators import LinearRegression, NormalMixture

# Those that need scikit-learn are read when they are asked for.
_ESTIMATORS = ("LinearRegression", "NormalMixture")


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        from . import _estimators

        return getattr(_estimators, name)
    raise AttributeError(f"module 'lrvb' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "CheckReport", "Comparison", "ConvergenceWarning", "DataError", "Fit", "FitWarning", "LinearRegression", "LooReport", "MixtureSums", "Model", "ModelError",
    "NormalMixture", "NotConverged", "TooLarge", "UsageError", "__version__", "bernoulli", "beta", "binomial", "categorical", "compare",
    "dirichlet", "exponential", "gamma", "load", "loads", "log", "mixture", "mixtures", "model", "multinomial", "mv_normal", "normal",
    "one_of", "poisson", "regression", "scaled", "wishart",
]  # fmt: skip
