"""A fit: what every model gives, and what can be asked of it."""

from __future__ import annotations

import json
import os
import threading
import warnings
from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

import numpy as np

from . import _core
from ._data import DataLike, MEMORY, as_data, path_of
from ._errors import DataError, FitWarning, NotConverged, UsageError

if TYPE_CHECKING:
    import pandas as pd

    from ._plot import Plots

Names = Union[str, Iterable[str], None]


def listed(names: Names) -> list[str]:
    """Names as a list; none is all."""
    if names is None:
        return []
    if isinstance(names, str):
        return [names]
    result = list(names)
    for name in result:
        if not isinstance(name, str):
            raise UsageError(f"a variable is {name!r}, but must be a name, such as 'mu' or 'mu[1]'")
    return result


class CheckReport:
    """What came of comparing a fit with the exact posterior.

    Attributes
    ----------
    verdict : str
        "ok", "off", "doubtful" or "unchecked".
    message, trust : str
        What was found, and whether it can be relied on, in a sentence each.
    method : str
        "integration", "importance", "nuts" or "mh".
    ess, k_hat, r_hat : float
        Of the draws; NaN where the method has none.

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
    >>> report = fit.check()
    >>> report.verdict
    'ok'
    """

    def __init__(self, core: _core.CheckResult) -> None:
        self._core = core
        self.verdict: str = core.verdict
        self.message: str = core.message
        self.trust: str = core.trust
        self.method: str = core.method
        self.ess: float = core.ess
        self.k_hat: float = core.k_hat
        self.r_hat: float = core.r_hat

    @property
    def reliable(self) -> bool:
        """Whether the draws, or the integral, can be relied on."""
        return bool(getattr(self._core, "reliable", self.verdict in ("ok", "off")))

    def table(self) -> pd.DataFrame:
        """Each variable beside the exact posterior.

        Returns
        -------
        DataFrame
            mean_lrvb, sd_lrvb, mean_exact, sd_exact, shift, shift_se, ratio, ratio_se and verdict, a row for each variable.
        """
        import pandas as pd

        fields = ["mean_lrvb", "sd_lrvb", "mean_exact", "sd_exact", "shift", "shift_se", "ratio", "ratio_se", "verdict"]
        compared = [one for one in self._core.variables if one.verdict]
        index = pd.Index([one.name for one in compared], name="variable")
        return pd.DataFrame({field: [getattr(one, field) for one in compared] for field in fields}, index=index)

    def __repr__(self) -> str:
        return f"{self.verdict}: {self.message}"


class LooReport:
    """How well a model says rows that it has not seen.

    Attributes
    ----------
    elpd, elpd_se, p_loo : float
        The expected log predictive density of all rows, its standard error, and the effective number of parameters.
    rows : DataFrame
        Of each row: elpd, and k_hat or reach, by which it can be judged.

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
    >>> fit.loo().elpd < 0
    True
    """

    def __init__(self, core: _core.Loo) -> None:
        import pandas as pd

        self.method: str = core.method
        self.elpd: float = core.elpd_loo
        self.elpd_se: float = core.elpd_se
        self.p_loo: float = core.p_loo
        self.parameters: int = core.parameters
        self.doubtful_rows: int = core.doubtful_rows
        self.trust: str = core.trust()
        judged = "k_hat" if core.method == "draws" else "reach"
        self.rows = pd.DataFrame({"elpd": core.elpd, "lpd": core.lpd, "weight": core.weights, judged: getattr(core, judged)})

    def __repr__(self) -> str:
        return f"elpd_loo {self.elpd:.2f} (se {self.elpd_se:.2f}), p_loo {self.p_loo:.2f}: {self.trust}"


class Fit:
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
        self._files: Any = None

    # What it is.

    @property
    def kind(self) -> str:
        """What kind of model: "mixture", "regression", "declared"."""
        return str(self._core.kind)

    @property
    def converged(self) -> bool:
        """Whether the fit came to a maximum; without one there are no sds."""
        return bool(self._core.converged)

    @property
    def message(self) -> str:
        """How it ended, in a sentence."""
        return str(self._core.message)

    @property
    def bound(self) -> float:
        """The lower bound on log p(data)."""
        return float(self._core.bound)

    @property
    def rows(self) -> int:
        """Rows that were fitted."""
        return int(self._core.rows)

    @property
    def warnings(self) -> list[str]:
        """What should be known of it, a sentence each."""
        from ._fitting import in_python

        return [str(in_python(ValueError(text))) for text in self._core.warnings]

    @property
    def notes(self) -> list[str]:
        """How the data were taken, where they could have been taken otherwise."""
        return list(self._core.notes)

    @property
    def verdict(self) -> str:
        """What the comparison with the exact posterior said: "ok", "off", "doubtful", "unchecked", "exact" or "not checked"."""
        if self._core.is_corrected:
            return "exact"
        result = self._core.check_result
        return "not checked" if result is None else str(result.verdict)

    @property
    def variables(self) -> list[str]:
        """The names of all variables."""
        return [variable[0] for variable in self._core.variables()]

    @property
    def prior(self) -> dict[str, float]:
        """The numbers of the prior, in the data's units."""
        return dict(self._core.prior())

    def _select(self, names: Names) -> list[int]:
        return list(self._core.select(listed(names)))

    # What it says.

    def summary(self, variables: Names = None, level: float = 0.9) -> pd.DataFrame:
        """Means, sds and intervals.

        Parameters
        ----------
        variables : str or sequence of str, optional
            "mu" is every mu[…]. All otherwise, but those of which there are very many.
        level : float
            The probability between the two quantiles, which name the columns: q5 and q95.

        Returns
        -------
        DataFrame
            mean, sd, sd_mfvb and the quantiles, a row for each variable; mean_exact, sd_exact and verdict where the fit was compared with the
            exact posterior; and sd_lrvb where the answer is the exact posterior itself.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
        >>> list(fit.summary("mu").columns)
        ['mean', 'sd', 'sd_mfvb', 'q5', 'q95']
        """
        import pandas as pd

        chosen = self._select(variables)
        table = self._core.summary(chosen, float(level))
        low, high = (f"q{100 * p:g}" for p in ((1 - level) / 2, (1 + level) / 2))
        frame = pd.DataFrame(table.numbers, columns=["mean", "sd", "sd_mfvb", low, high], index=pd.Index(table.names, name="variable"))
        if self._core.correction is not None:
            response_sd = self._core.correction[2]
            if len(response_sd):
                frame.insert(2, "sd_lrvb", response_sd[chosen])
        result = self._core.check_result
        if result is not None:
            checked = [result.variables[at] for at in chosen]
            frame["mean_exact"] = [one.mean_exact for one in checked]
            frame["sd_exact"] = [one.sd_exact for one in checked]
            frame["verdict"] = [one.verdict for one in checked]
        return frame

    def mean(self, variable: str) -> float:
        """The posterior mean of one variable, by its name."""
        return float(self._one(variable)[0])

    def sd(self, variable: str) -> float:
        """The posterior sd of one variable, by its name."""
        return float(self._one(variable)[1])

    def _one(self, variable: str) -> np.ndarray:
        chosen = self._select(variable)
        if len(chosen) != 1:
            raise UsageError(f"{variable!r} is {len(chosen)} variables: name one of them, such as {self.variables[chosen[0]]!r}")
        numbers: np.ndarray = self._core.summary(chosen, 0.9).numbers[0]
        return numbers

    def covariance(self, variables: Names = None, mean_field: bool = False) -> pd.DataFrame:
        """The posterior covariance, by linear response.

        Parameters
        ----------
        variables : str or sequence of str, optional
            As in :meth:`summary`.
        mean_field : bool
            What mean field says instead, for comparison.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
        >>> fit.covariance(["mu", "sigma"]).shape
        (2, 2)
        """
        import pandas as pd

        chosen = self._select(variables)
        names = [self.variables[at] for at in chosen]
        return pd.DataFrame(self._core.covariance(chosen, bool(mean_field)), index=names, columns=names)

    def correlation(self, variables: Names = None) -> pd.DataFrame:
        """The posterior correlations; NaN of what is held fixed.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
        >>> float(fit.correlation("mu").iloc[0, 0])
        1.0
        """
        covariance = self.covariance(variables)
        sds = np.sqrt(np.diag(covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            values = covariance.to_numpy() / np.outer(sds, sds)
        np.fill_diagonal(values, np.where(sds > 0.0, 1.0, np.nan))
        result = covariance.copy()
        result.iloc[:, :] = values
        return result

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

    def influence(self, top: Optional[int] = 20, variables: Names = None) -> pd.DataFrame:
        """What dropping each row would do to the means, in posterior sds: the most influential rows first.

        Parameters
        ----------
        top : int or None
            So many rows; None is all, in the order of the data.
        variables : str or sequence of str, optional
            Those that are looked at; one for each parameter otherwise.

        Returns
        -------
        DataFrame
            What the row holds, how far it moves all means together (distance), and each of them. The index counts rows from 0, as Python does.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.append(np.linspace(-1, 1, 99), 4.0), 1, check="never")
        >>> int(fit.influence(top=1).index[0])
        99
        """
        if top is not None and (isinstance(top, bool) or int(top) != top):
            raise UsageError(f"top is {top!r}, but must be a whole number, or None for all rows")
        return self._by_row(self._core.influence(listed(variables), None if top is None else int(top)))

    def leverage(self, variables: Names = None) -> pd.DataFrame:
        """How much each mean moves with each datum, d mean / d x, for every row.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> fit = lrvb.mixture(np.linspace(-1, 1, 100), 1, check="never")
        >>> len(fit.leverage("mu"))
        100
        """
        return self._by_row(self._core.leverage(listed(variables)))

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

    @staticmethod
    def _by_row(table: _core.NumberTable) -> pd.DataFrame:
        import pandas as pd

        index = pd.Index(np.asarray(table.rows, dtype=np.int64) - 1, name="row")
        return pd.DataFrame(table.numbers, columns=table.columns, index=index)

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
        from ._fitting import seed_of

        # Draws that made an answer cannot judge it.
        own = self._core.seed + (1 if self._core.is_corrected else 0)
        found = self._core.check(method, int(draws), own if seed is None else seed_of(seed), float(seconds))
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
        result: dict[str, Any] = json.loads(self._core.model_check(int(seed)))
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
        return LooReport(self._core.loo(method, int(seed)))

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
        check = self._core.check(None, int(draws), int(seed), float(seconds))
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

        if isinstance(n, bool) or int(n) != n or n < 1:
            raise UsageError(f"n is {n!r}, but must be a whole number from 1")
        chosen = self._select(variables)
        names = [self.variables[at] for at in chosen]
        seed = self._core.seed if seed is None else int(seed)
        if exact is None:
            exact = self._core.has_data and self.converged and self._core.is_quick_by_draws(max(4000, int(n)))
        if exact:
            check = self._checked(int(n), seed)
            if not check.reliable:
                warnings.warn(f"the draws are not to be relied on: {check.trust}", FitWarning, stacklevel=2)
            values = check.draws_of(int(n), chosen)
        else:
            values = self._core.response_draws(int(n), seed, chosen)
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
        from ._fitting import _as_file_error

        options = _core.PredictOptions()
        options.level = None if level is None else float(level)
        options.link = bool(link)
        options.without_groups = bool(without_groups)
        options.drop_missing = bool(drop_missing)
        if new is None:
            if self._core.data is None:
                raise DataError("there are no rows to predict: give them, or give the fit its data by fit.with_data(data)")
            core = self._core.data
        else:
            columns = list(self._core.columns) if hasattr(new, "columns") else None
            if columns is not None and not set(columns) <= {str(name) for name in new.columns}:
                columns = None
            names = None
            if isinstance(new, (np.ndarray, list, tuple)):
                names = list(self._core.columns)
                width = np.shape(new)[1] if np.ndim(new) == 2 else 1
                if len(names) != width:
                    raise DataError(f"the rows have {width} columns, but the fit has {len(names)}: {', '.join(names)}")
            core = as_data(new, columns=columns, names=names)
        try:
            table = self._core.predict(core, options)
        except (DataError, UsageError) as error:
            raise _as_file_error(error, new) from None
        frame = self._by_row(table)
        for name in ("component",):
            if name in frame and not frame[name].isna().any():
                frame[name] = frame[name].astype(np.int64)
        return frame

    # What is kept.

    def with_data(self, data: Any, threads: Optional[int] = None, names: Optional[Sequence[str]] = None) -> Fit:
        """The fit with the data that it was made of: a fit that was loaded can then be asked about its rows.

        Parameters
        ----------
        data : what was fitted: an array, a DataFrame, a path, or a :class:`Model`, declared anew
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
        from ._fitting import _as_file_error
        from ._model import Model

        count = 0 if threads is None else int(threads)
        if isinstance(data, Model):
            return Fit(self._core.attached(data._build(), count))
        weights = None
        if isinstance(data, tuple) and len(data) == 2:
            data, weights = data
        try:
            return Fit(self._core.attached(as_data(data, names=names, weights=weights), count))
        except (DataError, UsageError) as error:
            raise _as_file_error(error, data) from None

    def to_json(self) -> str:
        """The fit file, as :meth:`save` writes it: that of the program, docs/file-formats.md.

        Examples
        --------
        >>> import json, lrvb, numpy as np
        >>> json.loads(lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never").to_json())["data"]["rows"]
        200
        """
        return str(self._core.json())

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write the fit file, which appears when it is whole; :func:`load` and the program read it.

        Examples
        --------
        >>> import lrvb, numpy as np, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "fit.json")
        >>> lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never").save(path)
        >>> lrvb.load(path).kind
        'mixture'
        """
        text = os.fspath(path)
        try:
            self._core.save(text)
        except DataError as error:
            folder = os.path.dirname(text) or "."
            if not os.path.isdir(folder):
                raise FileNotFoundError(str(error)) from None
            if os.path.isdir(text):
                raise IsADirectoryError(str(error)) from None
            if not os.access(folder, os.W_OK):
                raise PermissionError(str(error)) from None
            raise OSError(str(error)) from None

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
        page = self._core.report(str(title))
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def __getstate__(self) -> dict[str, Any]:
        return {"fit": self.to_json()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._core = _core.parse_fit(state["fit"], "a fit that was unpickled")
        self._check = None
        self._checking = threading.Lock()
        self._files = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Fit:
        return Fit(self._core, self._check)

    # How it looks.

    @property
    def plot(self) -> Plots:
        """Pictures: ``fit.plot.intervals()``, ``.fit()``, ``.correlation()``, ``.influence()``."""
        from ._plot import Plots

        return Plots(self)

    def _shown(self, most: int = 40) -> list[int]:
        return list(self._core.foremost(self._select(None), most))

    def _headline(self) -> str:
        core = self._core
        passes = f", {core.passes} pass{'es' if core.passes != 1 else ''}" if core.passes else ""
        head = f"{core.headline}{passes}, bound {core.bound:.4f}, "
        head = f"{core.rows} row{'s' if core.rows != 1 else ''}, {head}" if core.rows else head
        return head + (f"converged (last step {core.step:.1e} posterior sds)" if core.converged else f"not converged: {core.message}")

    def _verdict_text(self) -> str:
        core = self._core
        if core.correction_text:
            return str(core.correction_text)
        if core.is_corrected:
            return "the exact posterior, by draws"
        result = core.check_result
        if result is None:
            return "not compared with the exact posterior: check() does it"
        return f"against the exact posterior: {result.verdict}: {result.message}"

    def __repr__(self) -> str:
        names = [self.variables[at] for at in self._shown(20)]
        table = self.summary(names)
        text = f"{self._headline()}\n\n{table.to_string(float_format=lambda value: f'{value:.4g}')}\n\n{self._verdict_text()}"
        rest = len(self._select(None)) - len(names)
        if rest > 0:
            text += f"\n{rest} more: summary() shows all"
        for warning in self.warnings:
            text += f"\nwarning: {warning}"
        return text

    def _repr_html_(self) -> str:
        from ._html import html_of

        return html_of(self)


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
    with open(path, encoding="utf-8") as file:
        fit = loads(file.read(), os.fspath(path))
    return fit if data is None else fit.with_data(data)


def loads(text: str, name: str = "a fit") -> Fit:
    """The same from the text of a fit file.

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
    >>> lrvb.loads(fit.to_json()).bound == fit.bound
    True
    """
    return Fit(_core.parse_fit(text, name))


__all__ = ["CheckReport", "Fit", "LooReport", "MEMORY", "NotConverged", "load", "loads", "path_of"]
