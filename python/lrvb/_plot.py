"""Pictures of a fit by matplotlib, on given axes or on new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

import numpy as np

from ._errors import NotConverged, UsageError
from ._fit_file import Names
from ._request import number

if TYPE_CHECKING:
    from ._fit import Fit

#: Colour-blind safe (Okabe and Ito).
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000"]
_GREY = "#9a9a9a"


def _axes(ax: Any, width: float = 6.4, height: float = 4.0) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def _colour(part: int) -> str:
    return "#333333" if part < 0 else COLOURS[int(part) % len(COLOURS)]


class Plots:
    """The pictures of a fit: ``fit.plot.intervals()``, ``.fit()``, ``.correlation()``, ``.influence()``.

    Each takes ``ax``, matplotlib axes to draw on, and returns those that it drew on.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import lrvb, numpy as np
    >>> fit = lrvb.mixture(np.linspace(-1, 1, 200), 1, check="never")
    >>> fit.plot.intervals().get_xlabel()
    'posterior mean and 90% interval'
    """

    def __init__(self, fit: Fit) -> None:
        self._fit = fit

    def intervals(self, variables: Names = None, level: float = 0.9, ax: Any = None) -> Any:
        """Means with their intervals, over those of mean field: a forest plot.

        Parameters
        ----------
        variables : str or sequence of str, optional
            Those that people look at otherwise.
        level : float
            The probability of the intervals.
        ax : matplotlib.axes.Axes, optional
        """
        fit = self._fit
        if variables is None:
            everything = fit._core.variables()
            names: Any = [everything[at][0] for at in fit._shown(30) if everything[at][6]] or [everything[at][0] for at in fit._shown(30)]
        else:
            names = variables
        table = fit.summary(names, level)
        ax = _axes(ax, height=1.0 + 0.28 * len(table))
        places = np.arange(len(table))[::-1]
        low, high = (column for column in table.columns if column.startswith("q"))
        from statistics import NormalDist

        z = NormalDist().inv_cdf(0.5 + level / 2)
        narrow = z * table["sd_mfvb"]
        ax.hlines(places, table["mean"] - narrow, table["mean"] + narrow, color=_GREY, linewidth=5, alpha=0.5, label="mean field")
        ax.hlines(places, table[low], table[high], color=COLOURS[0], linewidth=1.8, label="exact" if fit.verdict == "exact" else "linear response")
        ax.plot(table["mean"], places, "o", color=COLOURS[0], markersize=4)
        ax.set_yticks(places, table.index)
        ax.set_xlabel(f"posterior mean and {100 * level:g}% interval")
        ax.legend(frameon=False, fontsize="small")
        return ax

    def fit(self, columns: Optional[Sequence[str]] = None, level: float = 0.9, ax: Any = None) -> Any:
        """The data, and what was fitted to them. Needs the data.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns to draw; those that the model puts first otherwise.
        level : float
            Of bands and intervals.
        ax : matplotlib.axes.Axes or sequence of them, optional
            As many as there are panels; with fewer, the first panels are drawn.
        """
        chosen = [columns] if isinstance(columns, str) else list(columns or [])
        drawing = self._fit._core.drawing(chosen, number("level", level))
        panels = drawing.panels
        if ax is None:
            import matplotlib.pyplot as plt

            across = min(len(panels), 3)
            down = -(-len(panels) // across)
            axes = list(plt.subplots(down, across, figsize=(4.6 * across, 3.6 * down), layout="constrained", squeeze=False)[1].ravel())
            for spare in axes[len(panels) :]:
                spare.remove()
        else:
            axes = list(np.ravel(ax))
        for panel, own in zip(panels, axes):
            _draw(panel, own)
        used = axes[: len(panels)]
        return used[0] if len(used) == 1 else used

    def correlation(self, variables: Names = None, ax: Any = None) -> Any:
        """Posterior correlations as a heat map."""
        fit = self._fit
        if not fit.converged:
            raise NotConverged("the fit did not converge, so there are no correlations: fit again")
        names = [fit.variables[at] for at in fit._shown(30)] if variables is None else variables
        table = fit.correlation(names)
        ax = _axes(ax, 5.6, 5.0)
        image = ax.imshow(table.to_numpy(), cmap="RdBu_r", vmin=-1, vmax=1)
        ax.set_xticks(range(len(table)), table.columns, rotation=90, fontsize="small")
        ax.set_yticks(range(len(table)), table.index, fontsize="small")
        ax.figure.colorbar(image, ax=ax, shrink=0.8, label="posterior correlation")
        return ax

    def influence(self, variables: Names = None, top: int = 5, ax: Any = None) -> Any:
        """What dropping each row would do to all means together, in posterior sds. Needs the data.

        Parameters
        ----------
        variables : str or sequence of str, optional
            Those whose means are looked at.
        top : int
            So many rows get their number.
        ax : matplotlib.axes.Axes, optional
        """
        if not isinstance(top, (int, np.integer)) or top < 0:
            raise UsageError(f"top is {top!r}, but must be 0 or more")
        table = self._fit.influence(None, variables)
        ax = _axes(ax)
        distance = table["distance"].to_numpy()
        places = np.arange(len(table)) if table.index.dtype == object else table.index.to_numpy()  # rows by name stand in their order
        ax.vlines(places, 0.0, distance, color=_GREY, linewidth=0.8)
        ax.plot(places, distance, ".", color=COLOURS[0], markersize=4)
        for at in np.argsort(-distance, kind="stable")[:top]:
            ax.annotate(
                str(table.index[at]), (places[at], distance[at]), textcoords="offset points", xytext=(0, 3), ha="center", fontsize="small"
            )
        ax.set_xlabel("row")
        ax.set_ylabel("distance if dropped (posterior sds)")
        ax.set_ylim(bottom=0.0)
        return ax


def _draw(panel: Any, ax: Any) -> None:
    if panel.bars is not None:
        bars = panel.bars
        edges = bars.start + bars.step * np.arange(len(bars.heights))
        ax.bar(edges, bars.heights, width=bars.step, align="edge", color="#d9d9d9", edgecolor="white", linewidth=0.3)
    for left, right, low, high, share, part in panel.cells:
        ax.fill_between([left, right], low, high, color=_colour(int(part)), alpha=0.1 + 0.9 * share, linewidth=0)
    for part in np.unique(panel.points[:, 2]) if len(panel.points) else []:
        own = panel.points[panel.points[:, 2] == part]
        ax.plot(own[:, 0], own[:, 1], ".", color=_colour(int(part)), markersize=4, alpha=0.6)
    for x, low, high in panel.bands:
        ax.fill_between(x, low, high, color=COLOURS[0], alpha=0.18, linewidth=0)
    for x, y, part in panel.curves:
        ax.plot(x, y, color=_colour(part), linewidth=1.6)
    for at, mean, lower, upper in panel.intervals:
        ax.vlines(at, lower, upper, color=COLOURS[0], linewidth=1.6)
        ax.plot([at], [mean], "o", color=COLOURS[0], markersize=4)
    for x, y, text, part in panel.centres:
        ax.plot([x], [y], "+", color=_colour(part), markersize=9)
        ax.annotate(text, (x, y), textcoords="offset points", xytext=(4, 4), color=_colour(part), fontsize="small")
    if panel.places:
        ax.set_xticks(range(len(panel.places)), panel.places)
    if panel.up_from_zero:
        ax.set_ylim(bottom=0.0)
    ax.set_xlabel(panel.across)
    ax.set_ylabel(panel.up)
