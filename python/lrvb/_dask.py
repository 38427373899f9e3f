"""Rows that Dask has: they stay where they are, and whoever fits holds sums of them alone.

Rows fall into blocks of a fixed size by their number, and sums of blocks are added in one order, so that a fit has the same bits as one of the
same rows in memory, however many workers there are.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Optional, Sequence

import numpy as np

from . import _core
from ._errors import DataError, UsageError

if TYPE_CHECKING:
    from ._core import Data

#: What the column of weights is called that came as an array.
WEIGHTS = "sample_weight"


def is_dask(data: Any) -> bool:
    """Whether data are a collection of Dask, without asking for Dask where nobody has it."""
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(data, "dask")


def _is_frame(data: Any) -> bool:
    return hasattr(data, "columns") and hasattr(data, "to_dask_array")


def dask_features(data: Any) -> tuple[Any, list[str]]:
    """The collection with its columns side by side, and what they are called."""
    if _is_frame(data):
        return data, [str(name) for name in data.columns]
    if not hasattr(data, "rechunk"):
        raise DataError(f"{type(data).__name__} of Dask cannot be fitted: give an array or a frame")
    if data.ndim == 1:
        data = data[:, None]
    if data.ndim != 2 or data.shape[1] == 0:
        raise DataError(f"the Dask array has {data.ndim} dimensions, but must have rows and columns")
    return data, [str(at + 1) for at in range(data.shape[1])]


def _numbers(data: Any, names: list[str], chosen: Optional[list[str]]) -> tuple[Any, list[str]]:
    """An array of the chosen columns, with known lengths."""
    if chosen is not None:
        missing = [name for name in chosen if name not in names]
        if missing:
            raise DataError(f"there is no column {missing[0]!r}: there are {', '.join(names)}")
    if _is_frame(data):
        columns = list(data.columns)
        data = data[[columns[names.index(name)] for name in chosen]] if chosen is not None else data
        for name, kind in data.dtypes.items():
            if getattr(kind, "kind", "O") not in "fiub":
                raise DataError(f"column {str(name)!r} holds {kind}, but must be numbers: choose other columns")
        return data.to_dask_array(lengths=True), [str(name) for name in data.columns]
    if data.dtype.kind not in "fiub":
        raise DataError(f"the Dask array holds {data.dtype}, but must be numbers")
    if any(np.isnan(size) for size in data.chunks[0]):
        data.compute_chunk_sizes()
    if chosen is not None:
        data = data[:, [names.index(name) for name in chosen]]
        names = chosen
    return data, names


def _answer(question: str, rows: Any, first: int, asked: bytes, name: str, columns: list[str]) -> bytes:
    """What a worker says of its rows."""
    from ._data import unmasked  # which knows this module

    rows = np.ascontiguousarray(unmasked(rows), dtype=np.float64)
    try:
        return _core.answer_question(question, rows, first, asked, name, columns)
    except ValueError:
        places = np.argwhere(~np.isfinite(rows))
        if len(places) == 0:
            raise
        row, column = places[0]
        value = rows[row, column]
        what = "is missing" if np.isnan(value) else f"is {value}"
        raise DataError(f"{name}: row {first + row + 1}, column {columns[column]!r}: the value {what}: fill it in, or leave the row out") from None


def _merge(question: str, left: bytes, right: bytes) -> bytes:
    return _core.merge_answers(question, left, right)


class _Team:
    """Asks all chunks, and merges what they answer two by two, where they are."""

    def __init__(self, array: Any, name: str, columns: list[str]) -> None:
        from dask.delayed import delayed

        blocks = array.to_delayed().ravel()
        firsts = np.concatenate([[0], np.cumsum(array.chunks[0])]).astype(int)
        self._chunks = [(block, int(first)) for block, first in zip(blocks, firsts)]
        self._name, self._columns = name, columns
        self._answer = delayed(_answer, pure=False)
        self._merge = delayed(_merge, pure=False)

    def __call__(self, question: str, asked: bytes) -> bytes:
        answers = [self._answer(question, block, first, asked, self._name, self._columns) for block, first in self._chunks]
        while len(answers) > 1:
            pairs = [self._merge(question, *answers[at : at + 2]) for at in range(0, len(answers) - 1, 2)]
            answers = pairs + answers[len(pairs) * 2 :]
        answer: bytes = answers[0].compute()
        return answer


def dask_data(
    data: Any,
    *,
    names: Optional[Sequence[str]] = None,
    columns: Any = None,
    weights: Any = None,
    drop_missing: bool = False,
    na: Sequence[str] = (),
) -> Data:
    """A collection of Dask as data whose rows are with others."""
    da: Any = import_module("dask.array")  # which has no types

    if drop_missing or na:
        raise UsageError("drop_missing and na are for data that are read here: drop rows in Dask, by frame.dropna()")
    data, own = dask_features(data)
    if names is not None:
        if len(names) != len(own):
            raise DataError(f"there are {len(names)} names for {len(own)} columns: give one a column")
        own = [str(name) for name in names]
    chosen = None if columns is None else [columns] if isinstance(columns, str) else [str(name) for name in columns]
    if isinstance(weights, str):
        chosen = [name for name in (own if chosen is None else chosen) if name != weights] + [weights]
    array, own = _numbers(data, own, chosen)
    if array.shape[0] == 0:
        raise DataError("the Dask collection has no rows: there is nothing to fit")
    if weights is not None and not isinstance(weights, str):
        if hasattr(weights, "to_dask_array"):
            weights = weights.to_dask_array(lengths=True)
        column = weights if is_dask(weights) else da.from_array(np.asarray(weights, dtype=np.float64))
        if column.shape != (array.shape[0],):
            raise DataError(f"sample_weight has the shape {column.shape}, but must have a weight for each of the {array.shape[0]} rows")
        array = da.concatenate([array.astype(np.float64), column.astype(np.float64)[:, None].rechunk((array.chunks[0], 1))], axis=1)
        own = own + [WEIGHTS]
    # Chunks begin where blocks do: so sums have one order.
    share = _core.SHARE_ROWS
    wanted = max(array.chunks[0])
    array = array.rechunk((max(1, round(wanted / share)) * share, -1))
    array = _held(array)
    name = "a Dask frame" if _is_frame(data) else "a Dask array"
    return _core.team_data(_Team(array, name, own), name, own, int(array.shape[0]))


def _held(array: Any) -> Any:
    """Where there is a cluster, its workers keep the chunks between passes."""
    try:
        from distributed import default_client

        default_client()  # type: ignore[no-untyped-call]
    except (ImportError, ValueError):
        return array
    return array.persist()
