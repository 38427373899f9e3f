"""From what people have, arrays, frames, files and chunks, to what the library reads, without a copy where it can be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._dask import WEIGHTS, is_dask
from ._errors import DataError, UsageError

#: What can be given as data.
DataLike = Any

#: Bytes of files and chunks that are kept in memory.
MEMORY = 256 << 20

_NUMBERS = {"f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"}


def require_real(kind: Any, what: str) -> None:
    """Refuses a dtype that converts to doubles which nobody meant: times, and complex numbers."""
    code = getattr(kind, "kind", "")
    if code == "c":
        raise DataError(f"{what} holds complex numbers: give their real part, or two columns")
    if code in ("m", "M"):
        raise DataError(f"{what} holds times: convert them to numbers, such as days since a date")


def unmasked(values: Any) -> Any:
    """A masked array with NaN where it is masked; anything else as it is."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    masked: Any = values
    return masked.astype(np.float64).filled(np.nan) if np.any(masked.mask) else masked.data


def as_numbers(values: Any, what: str) -> np.ndarray:
    """An array of real numbers of whatever holds some; what is masked, None or NA is NaN."""
    values = unmasked(values)
    for kind in list(values.dtypes) if hasattr(values, "columns") else [getattr(values, "dtype", None)]:
        require_real(kind, what)
    try:
        if hasattr(values, "to_numpy"):  # of pandas, whose NA is none of NumPy's
            array = values.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            array = np.asarray(values)
            array = array.astype(np.float64) if array.dtype == object else array
    except (TypeError, ValueError):
        raise DataError(f"{what} holds what is no number: give numbers alone") from None
    require_real(array.dtype, what)
    if array.dtype.kind not in "fiub":
        raise DataError(f"{what} holds {'text' if array.dtype.kind in 'US' else array.dtype}, but must be numbers")
    return np.asarray(array)


def readable(values: np.ndarray, name: str) -> np.ndarray:
    """The array itself where the library can read it; otherwise one that it can, converted."""
    if values.dtype.kind == "b":
        return values.view(np.uint8) if values.dtype.itemsize == 1 else values.astype(np.uint8)
    code = values.dtype.kind + str(values.dtype.itemsize)
    if code in _NUMBERS and values.dtype.isnative:
        return values
    if values.dtype.kind in "fiu":
        return values.astype(np.float64)
    require_real(values.dtype, f"column {name!r}")
    raise DataError(f"column {name!r} holds {values.dtype}, but must be numbers")


def _numbers_of_objects(values: np.ndarray, name: str) -> np.ndarray:
    """An object array as doubles; refused with the first entry that is no number."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        for row, value in enumerate(values.ravel(), start=1):
            try:
                float(value)
            except (TypeError, ValueError):
                raise DataError(
                    f"column {name!r}, row {row}: {value!r} is no number: correct it, or give a DataFrame, whose columns of text are "
                    "factors of a regression"
                ) from None
        raise


def _is_text(text: str) -> bool:
    """Whether it can be written as UTF-8, which half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bytes(text: str) -> bytes:
    return text.encode()


def _text_column(name: str, values: Any) -> tuple[str, list[str], np.ndarray]:
    """Levels, sorted by their bytes, and codes of a column of text; -1 where it is missing."""
    import pandas as pd

    if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        codes = np.asarray(values.cat.codes, dtype=np.int64)
        categories = [str(category) for category in values.cat.categories]
    else:
        codes, uniques = pd.factorize(values, use_na_sentinel=True)
        categories = [str(unique) for unique in uniques]
    for text in categories:
        if not _is_text(text):
            raise DataError(f"column {name!r} holds {text!r}, which is no text that can be written: correct it")
    used = np.unique(codes[codes >= 0])
    texts: list[str] = sorted({categories[code] for code in used}, key=_bytes)
    place = {text: at for at, text in enumerate(texts)}
    again = np.full(len(categories) + 1, -1, dtype=np.int64)
    for code in used:
        again[code] = place[categories[code]]
    return name, texts, again[codes]


def require_whole_doubles(name: str, values: Any) -> None:
    """Refuses whole numbers that doubles cannot tell from their neighbours: groups would become one."""
    if len(values) and max(abs(int(values.min())), abs(int(values.max()))) > 2**53:
        raise DataError(f"column {name!r} holds whole numbers that are too large for a double: make text of them if they group, or change their unit")


def _frame_column(name: str, values: Any) -> tuple[Any, ...]:
    """A column of a frame: numbers where they are, and anything else as text."""
    import pandas as pd

    kind = values.dtype
    if pd.api.types.is_integer_dtype(kind) and not isinstance(kind, pd.CategoricalDtype):
        require_whole_doubles(name, values.dropna())
    if isinstance(kind, pd.CategoricalDtype) or kind == object or pd.api.types.is_bool_dtype(kind):
        return _text_column(name, values)
    if pd.api.types.is_string_dtype(kind) and not pd.api.types.is_numeric_dtype(kind):
        return _text_column(name, values)
    if pd.api.types.is_extension_array_dtype(kind):
        if pd.api.types.is_numeric_dtype(kind):
            return name, values.to_numpy(dtype=np.float64, na_value=np.nan)
        raise DataError(f"column {name!r} holds {kind}, but must be numbers or text")
    return name, readable(values.to_numpy(), name)


def frame_columns(frame: Any, columns: Optional[Sequence[str]] = None, what_can_be_read: bool = False) -> list[tuple[Any, ...]]:
    """Columns of a frame, those that are named or all: (name, numbers), or (name, levels, codes) of text.

    Of a frame whose columns a fit chooses by itself only `what_can_be_read` is taken: dates may stand beside them.
    """
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise DataError(f"two columns of the frame are called {name!r}: rename one of them")
    for name in names:
        if not _is_text(name):
            raise DataError(f"the name {name!r} of a column is no text that can be written: rename it")
    if "" in names:
        raise DataError(f"column {names.index('') + 1} of the frame has no name: give it one")
    chosen = range(len(names))
    if columns is not None:
        chosen = [at for at in range(len(names)) if names[at] in set(columns)]  # type: ignore[assignment]
    result = []
    for at in chosen:
        try:
            result.append(_frame_column(names[at], frame.iloc[:, at]))
        except DataError:
            if not what_can_be_read:
                raise
    return result


def _frame_of(columns: Mapping[Any, Any]) -> Any:
    """A frame of a mapping of names to columns; a single number stands in every row."""
    import pandas as pd

    lengths: dict[Any, int] = {}
    for name, values in columns.items():
        dimensions = np.ndim(values) if not hasattr(values, "ndim") else values.ndim
        if dimensions > 1:
            raise DataError(f"column {name!r} of the mapping has {dimensions} dimensions, but must have one: give each of its columns a name")
        if dimensions == 1:
            lengths[name] = len(values)
    if not lengths:
        raise DataError("the mapping holds no column with rows: give a name and its values for each column")
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            raise DataError(f"column {name!r} of the mapping has {length} rows, but {first!r} has {lengths[first]}: give every column the same rows")
    return pd.DataFrame(dict(columns))


def checked_names(names: Any, width: int) -> list[str]:
    """Names that were given for columns: one a column, each different."""
    if isinstance(names, (str, set, frozenset)) or not isinstance(names, Iterable):
        raise DataError(f"names is {names!r}, but must be a list, with a name for each column in its order")
    result = [str(name) for name in names]
    if len(result) != width:
        raise DataError(f"there are {len(result)} names for {width} columns: give one a column")
    if "" in result or len(set(result)) < width:
        raise DataError(f"names is {result!r}, but each column needs a name of its own")
    return result


def _array(values: np.ndarray, names: Optional[Sequence[str]]) -> list[tuple[Any, ...]]:
    if values.ndim == 1:
        values = values.reshape(-1, 1) if values.dtype == object else values[:, np.newaxis]
    if values.ndim != 2:
        raise DataError(f"the array has {values.ndim} dimensions, but must have two, rows and columns (or one, of a single column)")
    width = values.shape[1]
    if values.shape[0] == 0 or width == 0:
        raise DataError(f"the array has {values.shape[0]} rows and {width} columns: there is nothing in it")
    if names is None:
        names = [str(at + 1) for at in range(width)]
    names = checked_names(names, width)
    if values.dtype == object:
        values = np.column_stack([_numbers_of_objects(values[:, at], names[at]) for at in range(width)])
    elif values.dtype.kind in "US":
        raise DataError(f"the array holds text, such as {values.flat[0]!r}: give a DataFrame, whose columns of text are factors of a regression")
    numbers = readable(values, names[0])
    return [(names[at], numbers[:, at]) for at in range(width)]


def _as_chunk(chunk: Any, width: Optional[int], columns: Optional[list[str]]) -> np.ndarray:
    """Rows of a chunk; where the first had names, by these, in its order."""
    own = [str(name) for name in chunk.columns] if hasattr(chunk, "columns") else None
    if own is not None and columns is not None and own != columns:
        if sorted(own) != sorted(columns):
            raise DataError(f"a chunk has the columns {', '.join(own)}, but the first has {', '.join(columns)}: give every chunk the same")
        chunk = chunk.iloc[:, [own.index(name) for name in columns]]
    array = as_numbers(chunk, "a chunk")
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] == 0 or (width is not None and array.shape[1] != width):
        raise DataError(f"a chunk has the shape {array.shape}, but must have rows and {width or 'at least one'} columns, as the first has")
    return np.ascontiguousarray(array, dtype=np.float64)


def _chunks(data: Any, names: Optional[Sequence[str]], na: Sequence[str], memory: int) -> _core.Data:
    """An iterator of chunks, which can be read once, or a callable that gives such iterators."""
    is_repeatable = callable(data)
    given = data() if is_repeatable else data
    if hasattr(given, "shape"):
        raise DataError(f"rows in chunks: the callable returns {type(given).__name__}, whose rows are no chunks: give it as it is, or in a list")
    first_iterator = iter(given)
    try:
        first = next(first_iterator)
    except StopIteration:
        raise DataError("rows in chunks: there is no chunk: give at least one") from None
    columns = [str(name) for name in first.columns] if hasattr(first, "columns") else None
    if names is None:
        names = columns
    head = _as_chunk(first, None, None)
    width = head.shape[1]
    if names is None:
        names = [str(at + 1) for at in range(width)]
    names = checked_names(names, width)

    def converted() -> Iterator[np.ndarray]:
        if is_repeatable:
            rest: Iterator[Any] = iter(data())
        else:
            yield head
            rest = first_iterator
        for chunk in rest:
            yield _as_chunk(chunk, width, columns)

    return _core.Data.from_chunks(converted, list(names), is_repeatable, memory, list(na))


def path_of(data: Any) -> Optional[str]:
    """The path, where data are a file's."""
    return checked_path(data) if isinstance(data, (str, os.PathLike)) else None


def checked_path(path: Union[str, os.PathLike[str]]) -> str:
    """A path as text, as the library takes it."""
    text = os.fsdecode(path)
    if "\0" in text or not _is_text(text):
        raise UsageError(f"the path {text!r} is no name that a file of the library can have: choose another")
    return text


def as_data(
    data: DataLike,
    *,
    names: Optional[Sequence[str]] = None,
    columns: Optional[Sequence[str]] = None,
    weights: Optional[np.ndarray] = None,
    na: Sequence[str] = (),
    memory: int = MEMORY,
    what_can_be_read: bool = False,
    name: str = "a table in memory",
) -> _core.Data:
    """Data of any kind as the library reads them.

    Parameters
    ----------
    data : array, DataFrame, mapping of columns, path, iterator of chunks, or callable that returns one
        A frame's columns of text, categories and truth values are factors.
    names : sequence of str, optional
        Of the columns of an array; otherwise they are "1", "2", ….
    columns : sequence of str, optional
        Those of a frame that are looked at; others may hold anything.
    weights : array, optional
        A further column, called "sample_weight".
    na : sequence of str
        Texts that mean a missing value.
    memory : int
        Bytes of a file, or of chunks, that are kept in memory.
    what_can_be_read : bool
        Leave out columns of a frame that are neither numbers nor text.
    """
    path = path_of(data)
    if path is not None:
        if weights is not None:
            raise DataError("weights in an array are for data in memory: name the column of the file instead")
        return _core.Data.from_path(path, memory, list(na))
    if is_dask(data):
        raise DataError(f"the data are a {type(data).__name__} of Dask, of which mixtures are fitted alone: give what its compute() returns")
    if isinstance(data, (bytes, bytearray)):
        raise DataError("data are bytes: give a path as text, an array or a frame")
    parts: list[tuple[Any, ...]]
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        parts = frame_columns(data, columns, what_can_be_read)
        if len(data) == 0 or not parts:
            raise DataError(f"the frame has {len(data)} rows and {len(parts)} columns that are used: there is nothing in it")
    elif isinstance(data, Mapping):
        parts = frame_columns(_frame_of(data), columns, what_can_be_read)
    elif hasattr(data, "iloc"):  # a Series
        parts = [_frame_column(str(data.name) if data.name is not None else "1", data)]
    elif hasattr(data, "read"):
        raise DataError(f"the data are an open file ({type(data).__name__}): give its path, or the frame that pandas.read_csv makes of it")
    elif callable(data) or isinstance(data, Iterator):
        if weights is not None:
            raise DataError("weights in an array are for data in memory: give them as a column of the chunks")
        return _chunks(data, names, na, memory)
    elif hasattr(data, "tocsr"):
        raise DataError("the data are a sparse matrix: give a dense array (X.toarray()), or dense chunks of its rows")
    else:
        try:
            array = np.asarray(unmasked(data))
        except ValueError as error:
            raise DataError(f"the data are no array: {error}") from None
        if array.ndim == 0:
            raise DataError(f"the data are {data!r}: give an array, a frame, a path or chunks of rows")
        parts = _array(array, names)
    if weights is not None:
        rows = len(parts[0][-1])
        column = np.asarray(weights)
        if column.shape != (rows,):
            raise DataError(f"sample_weight has the shape {column.shape}, but must have a weight for each of the {rows} rows")
        if column.dtype == object:
            column = _numbers_of_objects(column, "weights")
        if WEIGHTS in [part[0] for part in parts]:
            raise DataError(f"a column is called {WEIGHTS!r}, as the weights are that were given beside it: rename it")
        parts = parts + [(WEIGHTS, readable(column, "weights"))]
    return _core.Data.from_columns(name, parts, list(na))


def is_repeatable(data: DataLike) -> bool:
    """Whether data can be read again."""
    return not isinstance(data, Iterator)


ProgressLike = Union[bool, Callable[..., None], None]
ChunkLike = Iterable[np.ndarray]
