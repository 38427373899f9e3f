"""A fit: what every model gives, and what can be asked of it."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._bugs import data_of_model
from ._data import DataLike, as_data, checked_path
from ._errors import DataError, FitWarning, NotConverged, UsageError, file_error, in_python, warn
from ._fit_file import FitFile, Names, listed, write_whole
from ._reports import CheckReport, LooReport
from ._request import count, number, seed_of, threads_of
from ._rows import by_row, row_index

if TYPE_CHECKING:
    import pandas as pd

    from ._plot import Plots


class Fit(FitFile):
    """A posterior: means, sds and intervals by linear response, and what can be asked of them.

    Every function and estimator of the package gives one. It keeps the data that it was made of, by reference, for questions about their
    rows; a fit that was loaded has none until :meth:`with_data` gives them.

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
    >>> fit.converged
    True
    """

    def __init__(self, core: _core.Fit, check: Optional[_core.Check] = None) -> None:
        self._core = core
        self._check: Optional[_core.Check] = check
        self._checking = threading.Lock()
        self._source: Optional[str] = None  # the file that was loaded

    # What it depends on.

    def sensitivity(self, variables: Names = None, sds: bool = False) -> pd.DataFrame:
        """How means answer to the numbers of the prior, the strongest first.

        Parameters
        ----------
        variables : str or sequence of str, optional
            As in :meth:`summary`.
        sds : bool
            How sds answer as well, by refits, which needs the data.

        Returns
        -------
        DataFrame
            variable, prior, value, mean_derivative (d mean / d value) and sds_per_percent (the change of the mean, in posterior sds, for 1 %
            more); with `sds` also sd_derivative and sd_percent_per_percent.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
        >>> "mean_derivative" in fit.sensitivity("mu")
        True
        """
        import pandas as pd

        effects = self._core.sensitivity(self._select(variables), bool(sds))
        table = {
            "variable": [effect.variable for effect in effects],
            "prior": [effect.prior for effect in effects],
            "value": [effect.value for effect in effects],
            "mean_derivative": [effect.mean_slope for effect in effects],
            "sds_per_percent": [effect.sds_per_percent for effect in effects],
        }
        if sds:
            table["sd_derivative"] = [effect.sd_slope for effect in effects]
            table["sd_percent_per_percent"] = [effect.sd_percent for effect in effects]
        return pd.DataFrame(table)

    def influence(
        self, top: Optional[int] = 20, variables: Names = None, *, by: Optional[str] = None, refit: bool = False
    ) -> pd.DataFrame:
        """What dropping each row would do to the means, in posterior sds as the summary shows them: the most influential rows first.

        Parameters
        ----------
        top : int or None
            So many rows; None is all, in the order of the data.
        variables : str or sequence of str, optional
            Those that are looked at; one for each parameter otherwise.
        by : str, optional
            Drop all rows with the same value in this column together, such as a subject's: one that the fit reads, of a regression one of
            its formula.
        refit : bool
            By fits without them, one for each that is shown, instead of the first order; NaN where there is no model without them.

        Returns
        -------
        DataFrame
            What the row holds, how far it moves all means together (distance), and each of them. The index counts rows from 0, as Python does;
            with `by` it has the values of that column, and there is how many rows each has.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.append(np.linspace(-1, 1, 99), 4.0), 1, check="never")
        >>> int(fit.influence(top=1).index[0])
        99
        """
        most = None if top is None else count("top", top)
        if by is None:
            return by_row(self._core.influence(listed(variables), most, bool(refit)))
        if not isinstance(by, str):
            raise UsageError(f"by is {by!r}, but must be the name of a column")
        return by_row(self._core.influence_by(listed(variables), by, most, bool(refit))).astype({"rows": np.int64}).rename_axis(by)

    def leverage(self, variables: Names = None) -> pd.DataFrame:
        """How much each mean moves with each datum, d mean / d x, for every row.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.linspace(-1, 1, 100), 1, check="never")
        >>> len(fit.leverage("mu"))
        100
        """
        return by_row(self._core.leverage(listed(variables)))

    def robust(self, variables: Names = None) -> pd.DataFrame:
        """Sds that need no model, by the infinitesimal jackknife, beside those of the posterior.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.linspace(-1, 1, 100), 1, check="never")
        >>> list(fit.robust("mu").columns)
        ['sd', 'sd_robust', 'sd_robust_se', 'ratio']
        """
        import pandas as pd

        table = self._core.robust(listed(variables))
        return pd.DataFrame(table.numbers, columns=table.columns, index=pd.Index(table.names, name="variable"))

    # Whether it can be trusted.

    def check(self, method: Optional[str] = None, draws: int = 4000, seed: Optional[int] = None, seconds: float = 30.0) -> CheckReport:
        """Compare the fit with the exact posterior.

        Parameters
        ----------
        method : {"integration", "importance", "nuts", "mh"}, optional
            By default integration where the model has it, otherwise importance sampling, and the no-U-turn sampler where that cannot tell.
        draws : int
            Of the exact posterior, 100 or more.
        seed : int, optional
        seconds : float
            About how long a choice of methods may take.

        Returns
        -------
        CheckReport

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never").check().verdict
        'ok'
        """
        if method is not None and not isinstance(method, str):
            raise UsageError(f"method is {method!r}, but must be None, or the name of a method")
        # Draws that made an answer cannot judge it.
        own = self._core.seed + (1 if self._core.is_corrected else 0)
        found = self._core.check(method, count("draws", draws, most=10_000_000), own if seed is None else seed_of(seed), number("seconds", seconds))
        with self._checking:
            self._check = found
        return CheckReport(found)

    def check_model(self, seed: int = 1) -> dict[str, Any]:
        """Compare data drawn from the model with the data: whether the model fits, which is another question.

        Returns
        -------
        dict
            "fits", "message" and "statistics", as docs/fits.md has them.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.random.default_rng(1).normal(size=200), 1, check="never")
        >>> fit.check_model()["fits"]
        True
        """
        result: dict[str, Any] = json.loads(self._core.model_check(seed_of(seed)))
        return result

    def loo(self, method: Optional[str] = None, seed: int = 1) -> LooReport:
        """Leave each row out: how well the model says rows that it has not seen.

        Parameters
        ----------
        method : {"draws", "response"}, optional
            By draws of the exact posterior, or by linear response; by default draws where they are quick.

        Returns
        -------
        LooReport

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
        >>> round(fit.loo().p_loo) in (1, 2)
        True
        """
        if method is not None and not isinstance(method, str):
            raise UsageError(f"method is {method!r}, but must be None, 'response' or 'draws'")
        return LooReport(self._core.loo(method, seed_of(seed)), row_index(self._core.row_labels()))

    def corrected(self, draws: int = 4000, seed: int = 1, seconds: float = 30.0) -> Fit:
        """The fit with means, sds, quantiles and covariances of the exact posterior in place of its own.

        Raises
        ------
        ValueError
            Where the draws are not reliable: then there is nothing to correct by.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never").corrected().verdict
        'exact'
        """
        if self._core.is_corrected:
            return self
        check = self._core.check(None, count("draws", draws, most=10_000_000), seed_of(seed), number("seconds", seconds))
        return Fit(self._core.corrected(check), check)

    # Draws.

    def _checked(self, draws: int, seed: int) -> _core.Check:
        with self._checking:
            if self._check is None or self._check.count < draws or self._check.seed != seed:
                self._check = self._core.check(None, max(4000, draws), seed, 30.0)
            return self._check

    def draws(self, n: int = 1000, variables: Names = None, exact: Optional[bool] = None, seed: Optional[int] = None) -> pd.DataFrame:
        """Draws from the posterior, a row each.

        Parameters
        ----------
        n : int
        variables : str or sequence of str, optional
            As in :meth:`summary`.
        exact : bool, optional
            Of the exact posterior (True), or of the normal one of the linear response, each variable on the scale where it is unbounded
            (False). By default exact where that takes a few seconds at most; ``draws.attrs["source"]`` says which.
        seed : int, optional

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never").draws(500).shape[0]
        500
        """
        import pandas as pd

        n = count("n", n, most=10_000_000)
        chosen = self._select(variables)
        names = [self.variables[at] for at in chosen]
        seed = self._core.seed if seed is None else seed_of(seed)
        if exact is None:
            exact = self._core.has_data and self.converged and self._core.is_quick_by_draws(max(4000, n))
        if exact:
            check = self._checked(n, seed)
            if not check.reliable:
                warn(f"the draws are not to be relied on: {in_python(check.trust)}", FitWarning)
            values = check.draws_of(n, chosen)
        else:
            values = self._core.response_draws(n, seed, chosen)
        frame = pd.DataFrame(values, columns=names)
        frame.index.name = "draw"
        frame.attrs["source"] = "exact" if exact else "linear response"
        return frame

    def to_arviz(self, n: int = 1000) -> Any:
        """The posterior as ArviZ has it: groups posterior, sample_stats, observed_data and log_likelihood.

        Parameters
        ----------
        n : int
            Draws.

        Returns
        -------
        arviz.InferenceData, or InferenceGroups where ArviZ is not installed
            Each group is an ``xarray.Dataset``.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> data = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never").to_arviz(100)
        >>> data.posterior["mu"].dims
        ('chain', 'draw', 'mu_dim_0')
        """
        from ._arviz import inference_data

        return inference_data(self, n)

    # New rows.

    def predict(
        self,
        new: DataLike = None,
        *,
        level: Optional[float] = None,
        link: bool = False,
        without_groups: bool = False,
        drop_missing: bool = False,
    ) -> pd.DataFrame:
        """Predictions for new rows, a row each.

        Parameters
        ----------
        new : array, DataFrame or path, optional
            Rows with the columns of the fit; by default those that were fitted.
        level : float, optional
            lower and upper as well: an interval that holds a new response with this probability (regressions).
        link : bool
            On the scale of the linear predictor (regressions by formula).
        without_groups : bool
            Of the fixed effects alone.
        drop_missing : bool
            Leave out rows with missing values. The index says which are there.

        Returns
        -------
        DataFrame
            Of a mixture the component and the probability of each, and the log density; of a regression mean and sd.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.append(np.linspace(-1, 1, 99), np.linspace(8, 10, 99)), 2, check="never")
        >>> fit.predict(np.array([0.0, 9.0]))["component"].tolist()
        [1, 2]
        """
        options = _core.PredictOptions()
        options.level = None if level is None else number("level", level)
        options.link = bool(link)
        options.without_groups = bool(without_groups)
        options.drop_missing = bool(drop_missing)
        if new is None:
            if self._core.data is None:
                raise DataError("there are no rows to predict: give them, or give the fit its data by fit.with_data(data)")
            core = self._core.data
            options.drop_missing = options.drop_missing or self._core.dropped > 0  # those that were fitted
        else:
            names = None
            if isinstance(new, (np.ndarray, list, tuple)) and self._core.columns:
                names = list(self._core.columns)
                width = np.shape(new)[1] if np.ndim(new) == 2 else 1
                if len(names) != width:
                    raise DataError(f"the rows have {width} columns, but the fit has {len(names)}: {', '.join(names)}")
            core = as_data(new, names=names, what_can_be_read=True)
        try:
            table = self._core.predict(core, options)
        except (DataError, UsageError) as error:
            raise file_error(error, new) from None
        frame = by_row(table)
        for name in ("component",):
            if name in frame and not frame[name].isna().any():
                frame[name] = frame[name].astype(np.int64)
        return frame

    # What is kept.

    def with_data(self, data: Any, threads: Optional[int] = None, names: Optional[Sequence[str]] = None) -> Fit:
        """The fit with the data that it was made of: a fit that was loaded can then be asked about its rows.

        Parameters
        ----------
        data : what was fitted: an array, a DataFrame, a path, a mapping of arrays, or a :class:`Model`, declared anew
            (rows, weights) where weights were given as an array.
        threads : int, optional
        names : sequence of str, optional
            Of the columns of an array.

        Raises
        ------
        ValueError
            For other data.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> x = np.linspace(-1, 1, 200)
        >>> fit = lrvb.mixture(x, 1, check="never")
        >>> again = lrvb.loads(fit.to_json()).with_data(x)
        >>> again.leverage("mu").equals(fit.leverage("mu"))
        True
        """
        from ._model import Model

        workers = threads_of(threads)
        if isinstance(data, Model):
            try:
                return Fit(self._core.attached(data._build(), workers))
            except NotConverged:
                if not self.converged:
                    raise
                raise DataError("the fit is of other data than the model that was given: declare it with those that were fitted") from None
        weights = None
        if self.kind == "model":
            return Fit(self._core.attached(data_of_model(data), workers))
        if isinstance(data, tuple) and len(data) == 2:
            data, weights = data
        if self.kind == "declared":
            raise UsageError("the model of this fit was declared: give it, declared anew with its data, as an lrvb.Model")
        try:
            given = as_data(data, names=names, weights=weights, what_can_be_read=True)
            return Fit(self._core.attached(given, workers))
        except (DataError, UsageError) as error:
            raise file_error(error, data) from None

    def report(self, path: Union[str, os.PathLike[str]], title: str = "") -> None:
        """Write a page that shows the fit, and what its data and its prior do to it; docs/report.md.

        Examples
        --------
        >>> import lrvb, numpy as np, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "page.html")
        >>> lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never").report(path)
        >>> os.path.getsize(path) > 100_000
        True
        """
        text = checked_path(path)
        self._core.require_not_read(text)
        if self._source is not None and os.path.exists(text) and os.path.exists(self._source) and os.path.samefile(text, self._source):
            raise UsageError(f"{text} would replace the fit file that was loaded: choose another name")
        write_whole(text, self._core.report(str(title)))

    def __getstate__(self) -> dict[str, Any]:
        return {"fit": self.to_json()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._core = _core.parse_fit(state["fit"], "a fit that was unpickled")
        self._check = None
        self._checking = threading.Lock()
        self._source = None

    # Nothing changes a fit: copies share its numbers and its data, which pickles leave behind.
    def __copy__(self) -> Fit:
        return Fit(self._core, self._check)

    def __deepcopy__(self, memo: dict[int, Any]) -> Fit:
        return Fit(self._core, self._check)

    # How it looks.

    @property
    def plot(self) -> Plots:
        """Pictures: ``fit.plot.intervals()``, ``.fit()``, ``.correlation()``, ``.influence()``."""
        from ._plot import Plots

        return Plots(self)


def load(path: Union[str, os.PathLike[str]], data: Any = None) -> Fit:
    """Read a fit file, with the data that were fitted, if they are at hand.

    Parameters
    ----------
    path : path
        What :meth:`Fit.save` or the program wrote.
    data : array, DataFrame, path, or Model, optional

    Returns
    -------
    Fit

    Examples
    --------
    >>> import lrvb, numpy as np, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "fit.json")
    >>> x = np.linspace(-1, 1, 200)
    >>> lrvb.mixture(x, 1, check="never").save(path)
    >>> len(lrvb.load(path, x).influence(top=3))
    3
    """
    with open(path, encoding="utf-8", errors="replace") as file:
        fit = loads(file.read(), os.fsdecode(path))
    fit = fit if data is None else fit.with_data(data)
    fit._source = os.fsdecode(path)
    return fit


def loads(text: str, name: str = "a fit") -> Fit:
    """The same from the text of a fit file.

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
    >>> lrvb.loads(fit.to_json()).bound == fit.bound
    True
    """
    if not isinstance(text, str):
        raise UsageError(f"a fit is {type(text).__name__}, but must be text: load() reads files")
    return Fit(_core.parse_fit(_plain(text), _plain(name)))


def _plain(text: str) -> str:
    """With a mark in place of what no UTF-8 has: halves of surrogate pairs, as in names of files that are not UTF-8."""
    return text.encode(errors="replace").decode()


__all__ = ["Fit", "load", "loads"]
