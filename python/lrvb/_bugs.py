"""Models in BUGS: their text, and arrays, frames and files as their data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Sequence

import numpy as np

from . import _core
from ._data import frame_columns, path_of, require_real, unmasked
from ._errors import DataError, UsageError


_HOLDS_TEXT = "{!r} holds text: give it in a frame, whose text becomes 1, 2, …, or as numbers"


def text_of_model(model: Any) -> str:
    """What the library reads as a model: its text, or the path of a file that holds it."""
    if isinstance(model, os.PathLike):
        return str(os.fspath(model))
    if not isinstance(model, str) or not model.strip():
        raise UsageError(f"the model is {model!r}, but must be text in the language of BUGS, or the path of a file that holds it")
    if "{" not in model and (len(model.splitlines()) > 1 or "~" in model or "<-" in model):
        raise UsageError("the model has no block: write its relations within model { … }")
    return model


def _array(name: str, value: Any) -> tuple[str, np.ndarray]:
    """An array of doubles; what is masked, None or NA is missing."""
    value = unmasked(value)
    require_real(getattr(value, "dtype", None), repr(name))
    try:
        if hasattr(value, "to_numpy"):  # of pandas, whose NA is none of NumPy's
            value = value.to_numpy(dtype=np.float64, na_value=np.nan)
        array = np.asarray(value)
        if array.dtype == object:
            array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name!r} is no array of numbers: give numbers in rows of equal length, and NaN for what is missing") from None
    if array.dtype.kind in "US":
        raise DataError(_HOLDS_TEXT.format(name))
    require_real(array.dtype, repr(name))
    if array.dtype.kind not in "fiub":
        raise DataError(f"{name!r} holds {array.dtype}, but must be numbers")
    if array.dtype.kind in "iu" and array.size and (abs(array.astype(np.float64)) > 2.0**53).any():
        raise DataError(f"{name!r} holds whole numbers that are too large for a double: change their unit")
    return name, array.astype(np.float64)


def _parts(data: Any) -> list[Any]:
    """A path, a table or arrays, for each thing that is given."""
    path = path_of(data)
    if path is not None:
        return [path]
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        columns = frame_columns(data, what_can_be_read=True)
        if len(data) == 0 or not columns:
            raise DataError(f"the frame has {len(data)} rows and {len(columns)} columns: there is nothing in it")
        return [(len(data), columns)]
    if isinstance(data, Mapping):
        arrays: list[Any] = []
        for name, value in data.items():
            if not isinstance(name, str):
                raise DataError(f"a name of the data is {name!r}, but must be text, as in the model")
            if _is_text(value):
                raise DataError(_HOLDS_TEXT.format(name))
            arrays.append(_array(name, value))
        return [arrays]
    if isinstance(data, Sequence) and not isinstance(data, (bytes, bytearray)):
        return [part for one in data for part in _parts(one)]
    raise DataError(f"the data are {type(data).__name__}: give a mapping of names to arrays, a frame, a path, or a list of these")


def _is_text(value: Any) -> bool:
    kind = getattr(value, "dtype", None)
    return isinstance(value, str) or (kind is not None and str(kind) in ("category", "string"))


def data_of_model(data: Any, na: Sequence[str] = ()) -> _core.Data:
    """Data of a model: files as the program reads them, anything else copied into arrays; `na` are texts that mean a missing value."""
    parts = [] if data is None else _parts(data)
    if parts and all(isinstance(part, str) for part in parts):
        return _core.Data.from_paths(parts, list(na))
    return _core.Data.from_parts(parts, list(na))
