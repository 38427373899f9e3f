"""Rows in tables of answers: by their names, or by their places from 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _core

if TYPE_CHECKING:
    import pandas as pd


def row_index(table: _core.NumberTable) -> pd.Index:
    """What the rows of an answer are called: y[3] of a model in text, and otherwise their places in the data, from 0 as Python counts."""
    import pandas as pd

    if table.names:
        return pd.Index(table.names, name="row")
    return pd.Index(np.asarray(table.rows, dtype=np.int64) - 1, name="row")


def by_row(table: _core.NumberTable) -> pd.DataFrame:
    """An answer as a frame, a row for each row of the data."""
    import pandas as pd

    return pd.DataFrame(table.numbers, columns=table.columns, index=row_index(table))
