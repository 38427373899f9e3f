"""What a fit says without its data: what its file holds."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from typing import TYPE_CHECKING, Iterable, Union

import numpy as np

from . import _core
from ._data import checked_path
from ._errors import DataError, UsageError, in_python
from ._request import number

if TYPE_CHECKING:
    import pandas as pd

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


def write_whole(path: str, text: str) -> None:
    """The file appears when it is whole: what was there before stays until then."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):  # a pipe or a device; a directory is refused here
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        return
    temporary = f"{target}.lrvb-{os.getpid()}-{threading.get_ident()}.tmp"
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


class FitFile:
    """A posterior as a fit file keeps it: means, sds, intervals and covariances."""

    _core: _core.Fit

    # What it is.

    @property
    def kind(self) -> str:
        """What kind of model: "mixture", "regression", "declared"."""
        return str(self._core.kind)

    @property
    def headline(self) -> str:
        """How large the model is: "2 components"."""
        return str(self._core.headline)

    @property
    def converged(self) -> bool:
        """Whether the fit came to a maximum; without one there are no sds."""
        return bool(self._core.converged)

    @property
    def message(self) -> str:
        """How it ended, in a sentence."""
        return in_python(self._core.message)

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
        return [in_python(text) for text in self._core.warnings]

    @property
    def notes(self) -> list[str]:
        """How the data were taken, where they could have been taken otherwise."""
        return [in_python(text) for text in self._core.notes]

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
            mean, sd, sd_mfvb and the quantiles, a row for each variable, NaN where a heavy tail leaves no mean or sd, and then the median beside; mean_exact, sd_exact and verdict where the fit was compared with the
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
        level = number("level", level)
        table = self._core.summary(chosen, level)
        low, high = (f"q{100 * p:g}" for p in ((1 - level) / 2, (1 + level) / 2))
        frame = pd.DataFrame(table.numbers[:, :5], columns=["mean", "sd", "sd_mfvb", low, high], index=pd.Index(table.names, name="variable"))
        if self._core.is_corrected and np.isnan(table.numbers[:, 1]).any():
            frame.insert(4, "median", table.numbers[:, 5])
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

    # How it is kept.

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
        text = checked_path(path)
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

    # How it looks.

    def _shown(self, most: int = 40) -> list[int]:
        return list(self._core.foremost(self._select(None), most))

    def _headline(self) -> str:
        core = self._core
        passes = f", {core.passes} pass{'es' if core.passes != 1 else ''}" if core.passes else ""
        head = f"{core.headline}{passes}, bound {core.bound:.4f}, "
        head = f"{core.rows} row{'s' if core.rows != 1 else ''}, {head}" if core.rows else head
        return head + (f"converged (last step {core.step:.1e} posterior sds)" if core.converged else f"not converged: {self.message}")

    def _verdict_text(self) -> str:
        core = self._core
        if core.correction_text:
            return str(core.correction_text)
        if core.is_corrected:
            return "the exact posterior, by draws"
        result = core.check_result
        if result is None:
            return "not compared with the exact posterior: check() does it"
        return f"against the exact posterior: {result.verdict}: {in_python(result.message)}"

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
