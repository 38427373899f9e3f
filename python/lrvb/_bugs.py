"""Models in BUGS, by the kind of model that reads them: text and data are files to it."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._data import MEMORY, path_of
from ._errors import DataError, UsageError
from ._fit import Fit
from ._fitting import _whole, fitted


def _listed(value: Any) -> Any:
    """An array as nested lists, NaN as a missing value."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise DataError(f"data for a model hold {array.dtype}, but must be numbers")
    if array.dtype.kind in "iub":
        return array.astype(np.int64).tolist()
    return json.loads(json.dumps(array.astype(np.float64).tolist()).replace("NaN", "null"))


def fit_model(
    text: str,
    data: Union[Mapping[str, Any], str, os.PathLike[str], None] = None,
    *,
    monitor: Optional[Sequence[str]] = None,
    restarts: Optional[int] = None,
    seed: Any = 1,
    tolerance: float = 1e-8,
    max_iterations: int = 10000,
    check: Union[str, bool] = "auto",
    seconds: Optional[float] = None,
    threads: Optional[int] = None,
    progress: Any = None,
) -> Fit:
    """What :func:`lrvb.model` does."""
    if not isinstance(text, str):
        raise UsageError(f"the model is {text!r}, but must be text in the language of BUGS")
    folder = tempfile.TemporaryDirectory(prefix="lrvb-")
    model = os.path.join(folder.name, "model.bug")
    with open(model, "w", encoding="utf-8") as file:
        file.write(text)
    path = path_of(data)
    if path is None:
        path = os.path.join(folder.name, "data.json")
        with open(path, "w", encoding="utf-8") as file:
            given: Any = data if data is not None else {}
            json.dump({str(name): _listed(value) for name, value in dict(given).items()}, file)
    settings = [("MODEL", model)]
    if monitor is not None:
        settings.append(("monitor", ",".join([monitor] if isinstance(monitor, str) else monitor)))
    if restarts is not None:
        settings.append(("restarts", _whole("restarts", restarts)))
    fit = fitted(
        "model", _core.Data.from_path(path, MEMORY, []), settings, source=data, seed=seed, tolerance=tolerance,
        max_iterations=max_iterations, check=check, seconds=seconds, threads=threads, progress=progress, stacklevel=5,
    )  # fmt: skip
    fit._files = folder  # read again where the fit is asked about its data
    return fit
