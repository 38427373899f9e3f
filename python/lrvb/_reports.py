"""What checks of a fit found, to be looked at and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from ._errors import in_python

if TYPE_CHECKING:
    import pandas as pd


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
        self.message: str = in_python(core.message)
        self.trust: str = in_python(core.trust)
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

    def __init__(self, core: _core.Loo, index: pd.Index) -> None:
        import pandas as pd

        self.method: str = core.method
        self.elpd: float = core.elpd_loo
        self.elpd_se: float = core.elpd_se
        self.p_loo: float = core.p_loo
        self.parameters: int = core.parameters
        self.doubtful_rows: int = core.doubtful_rows
        self.trust: str = in_python(core.trust())
        judged = "k_hat" if core.method == "draws" else "reach"
        table = {"elpd": core.elpd, "lpd": core.lpd, "weight": core.weights, judged: getattr(core, judged)}
        self.rows = pd.DataFrame(table, index=index)

    def __repr__(self) -> str:
        return f"elpd_loo {self.elpd:.2f} (se {self.elpd_se:.2f}), p_loo {self.p_loo:.2f}: {self.trust}"
