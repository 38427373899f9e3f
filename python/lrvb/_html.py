"""A fit in a notebook: verdict, estimates, and a forest plot, without a line of script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from ._fit_file import FitFile

_COLOURS = {"ok": "#1a7f37", "exact": "#1a7f37", "off": "#b42318", "doubtful": "#9a6700", "unchecked": "#9a6700"}


def _number(value: float, sd: float) -> str:
    """As many digits as the sd is worth, three of them."""
    if not np.isfinite(value):
        return "–"
    if not (np.isfinite(sd) and sd > 0.0):
        return f"{value:.4g}"
    digits = max(0, 2 - int(np.floor(np.log10(sd))))
    return f"{value:.{min(digits, 12)}f}"


def _forest(table: pd.DataFrame, row: int) -> str:
    """The interval of one variable in sds about its mean, over that of mean field: a picture of 160 pixels."""
    sd = table["sd"].iloc[row]
    low, high = (table[column].iloc[row] for column in table.columns if column.startswith("q"))
    if not (np.isfinite(sd) and sd > 0.0):
        return ""
    mean = table["mean"].iloc[row]

    def place(value: float) -> float:
        return float(np.clip(80.0 + 30.0 * (value - mean) / sd, 1.0, 159.0))

    narrow = 1.645 * table["sd_mfvb"].iloc[row]
    return (
        '<svg width="160" height="14" role="img" aria-label="interval">'
        f'<line x1="{place(mean - narrow):.1f}" x2="{place(mean + narrow):.1f}" y1="7" y2="7" stroke="#bbb" stroke-width="7"/>'
        f'<line x1="{place(low):.1f}" x2="{place(high):.1f}" y1="7" y2="7" stroke="#0072B2" stroke-width="2"/>'
        f'<circle cx="{place(mean):.1f}" cy="7" r="3" fill="#0072B2"/></svg>'
    )


def html_of(fit: FitFile, most: int = 20) -> str:
    """What a notebook shows of a fit."""
    names = [fit.variables[at] for at in fit._shown(most)]
    table = fit.summary(names)
    quantiles = [column for column in table.columns if column.startswith("q")]
    shown = [column for column in ["mean", "sd", "sd_exact", "sd_lrvb", "sd_mfvb", *quantiles] if column in table]
    head = "".join(f"<th>{escape(column)}</th>" for column in ["variable", *shown, ""] + (["verdict"] if "verdict" in table else []))
    rows = []
    for at, name in enumerate(table.index):
        sd = float(table["sd"].iloc[at])
        cells = "".join(f'<td style="text-align:right">{_number(float(table[column].iloc[at]), sd)}</td>' for column in shown)
        verdict = f"<td>{escape(str(table['verdict'].iloc[at]))}</td>" if "verdict" in table else ""
        rows.append(f"<tr><td>{escape(name)}</td>{cells}<td>{_forest(table, at)}</td>{verdict}</tr>")
    colour = _COLOURS.get(fit.verdict, "#57606a")
    rest = len(fit._select(None)) - len(names)
    more = f"<p>{rest} more: <code>summary()</code> shows all</p>" if rest > 0 else ""
    warnings = "".join(f'<p style="color:#9a6700">{escape(text)}</p>' for text in fit.warnings)
    return (
        f"<div><p><b>{escape(fit._core.description)}</b><br>{escape(fit._headline())}</p>"
        f'<p style="color:{colour}"><b>{escape(fit.verdict)}</b> {escape(fit._verdict_text())}</p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}{warnings}</div>"
    )
