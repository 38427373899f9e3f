"""Several fits of the same rows, side by side: which of them says unseen rows best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from . import _core
from ._errors import NotConverged, UsageError
from ._fit import Fit
from ._request import seed_of

if TYPE_CHECKING:
    import pandas as pd


class Comparison(Mapping[Any, Fit]):
    """Fits by name, or by number of components, and what came of comparing them.

    Attributes
    ----------
    message : str
        Which is best, and which cannot be told from it, in a sentence.

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> x = np.concatenate([np.linspace(-1, 1, 50), np.linspace(7, 9, 50)])
    >>> fits = lrvb.mixtures(x, range(1, 4), check="never")
    >>> list(fits), fits.best.headline, len(fits[3].summary("mu"))
    ([1, 2, 3], '2 components', 3)
    """

    def __init__(self, core: _core.Comparison, keys: Sequence[Any], fits: Optional[Sequence[Fit]] = None) -> None:
        self._core = core
        self._keys = list(keys)
        self._fits: dict[Any, Fit] = dict(zip(keys, [Fit(one) for one in core.fits] if fits is None else fits))
        self.message: str = core.message

    def __getitem__(self, key: Any) -> Fit:
        return self._fits[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._fits)

    def __len__(self) -> int:
        return len(self._fits)

    @property
    def best(self) -> Fit:
        """The fit with the largest elpd_loo; where no row can be left out, with the largest bound."""
        return self._fits[self.best_key]

    @property
    def best_key(self) -> Any:
        """What the best fit is called."""
        if self._core.best is None:
            raise NotConverged("none of the fits converged, so none is best: allow more by max_iterations")
        return self._keys[self._core.best]

    def table(self) -> pd.DataFrame:
        """The fits, a row each.

        Returns
        -------
        DataFrame
            elpd_loo (the expected log predictive density of the rows, each left out), elpd_se, difference to the best and its standard error,
            p_loo, parameters, bound (on log p(data), with log K! added for K components whose labels can be exchanged), doubtful_rows, and
            the verdict of each fit. NaN where a fit did not converge.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> x = np.concatenate([np.linspace(-1, 1, 50), np.linspace(7, 9, 50)])
        >>> lrvb.mixtures(x, range(1, 4), check="never").table()["difference"].idxmax()
        2
        """
        import pandas as pd

        rows = []
        for key, one in zip(self._keys, self._core.compared):
            row: dict[str, Any] = dict.fromkeys(
                ["elpd_loo", "elpd_se", "difference", "se_difference", "p_loo", "parameters", "bound", "doubtful_rows"], float("nan")
            )
            if one is not None:
                row = {
                    "elpd_loo": one.loo.elpd_loo, "elpd_se": one.loo.elpd_se, "difference": one.elpd_difference,
                    "se_difference": one.se_difference, "p_loo": one.loo.p_loo, "parameters": one.loo.parameters, "bound": one.bound,
                    "doubtful_rows": one.loo.doubtful_rows,
                }  # fmt: skip
            rows.append({**row, "verdict": self._fits[key].verdict if self._fits[key].converged else "not converged"})
        return pd.DataFrame(rows, index=pd.Index(self._keys, name="fit"))

    def __repr__(self) -> str:
        return f"{self.table().to_string(float_format=lambda value: f'{value:.2f}')}\n\n{self.message}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<div>{self.table().round(2).to_html()}<p>{escape(self.message)}</p></div>"


def compare(fits: Union[Mapping[Any, Fit], Sequence[Fit]], *, method: Optional[str] = None, seed: int = 1) -> Comparison:
    """Which of several fits of the same rows: by how well each says rows that it has not seen.

    Parameters
    ----------
    fits : mapping of names to fits, or sequence of fits
        With their data: mixtures of the same columns, regressions of the same response. Those of a sequence are called 0, 1, ….
    method : {"draws", "response"}, optional
        As of :meth:`Fit.loo`.
    seed : int

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import lrvb, pandas as pd
    >>> frame = pd.DataFrame({"y": [1.0, 2.1, 2.9, 4.2, 5.1, 5.8], "x": [0, 1, 2, 3, 4, 5]})
    >>> found = lrvb.compare({"line": lrvb.regression("y ~ x", frame), "flat": lrvb.regression("y ~ 1", frame)})
    >>> found.best_key
    'line'
    """
    if isinstance(fits, Fit):
        fits = [fits]
    named = dict(fits) if isinstance(fits, Mapping) else dict(enumerate(fits))
    for key, fit in named.items():
        if not isinstance(fit, Fit):
            raise UsageError(f"{key!r} is {type(fit).__name__}, but must be a fit: an estimator has one as posterior_")
    if len(named) < 2:
        raise UsageError("one fit has nothing to be compared with: give two or more")
    keys = list(named)
    core = _core.compare([fit._core for fit in named.values()], [str(key) for key in keys], method, seed_of(seed))
    return Comparison(core, keys, list(named.values()))
