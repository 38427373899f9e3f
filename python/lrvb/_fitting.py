"""From arguments to a fit: the one place that asks the library for one."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from typing import Any, Iterable, Optional, Sequence, Union

import numpy as np

from . import _core
from ._dask import dask_data, is_dask
from ._data import DataLike, as_data, path_of, MEMORY, WEIGHTS
from ._errors import ConvergenceWarning, DataError, FitWarning, UsageError
from ._fit import Fit
from ._progress import progress_of

Text = Union[str, Iterable[str]]


def text_of(value: Any) -> str:
    """A number, or several, as the library's options write them."""
    if isinstance(value, str):
        return value
    if np.ndim(value) == 0:
        return repr(float(value)) if isinstance(value, (float, np.floating)) else str(int(value))
    return ",".join(text_of(entry) for entry in np.asarray(value).ravel().tolist())


def in_python(error: ValueError) -> ValueError:
    """The sentence, with options called as arguments are."""
    text = re.sub(r"--([a-z][a-z-]*)", lambda match: match.group(1).replace("-", "_"), str(error))
    text = re.sub(r"'lrvb (check|influence|leverage|loo|predict|sensitivity|summary)\b[^']*'", r"fit.\1()", text)
    return type(error)(text.replace("FORMULA", "formula"))


def seed_of(random_state: Any) -> int:
    """A whole number from a seed, a generator, or None, which is 1: the same answer every time."""
    if random_state is None:
        return 1
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int32).max))
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    raise UsageError(f"seed is {random_state!r}, but must be a whole number from 0, a random generator, or None")


def request_of(
    kind: str,
    settings: Sequence[tuple[str, str]],
    *,
    seed: Any,
    tolerance: float,
    max_iterations: int,
    check: Union[str, bool],
    seconds: Optional[float],
    threads: Optional[int],
    progress: Any,
) -> _core.Request:
    request = _core.Request()
    request.kind = kind
    request.settings = list(settings)
    request.seed = seed_of(seed)
    request.tolerance = float(tolerance)
    if isinstance(max_iterations, bool) or int(max_iterations) != max_iterations or not 1 <= max_iterations < 2**31:
        raise UsageError(f"max_iterations is {max_iterations!r}, but must be a whole number from 1")
    request.max_iterations = int(max_iterations)
    request.check = ("always" if check else "never") if isinstance(check, bool) else str(check)
    request.seconds = None if seconds is None else float(seconds)
    request.threads = 0 if threads is None else int(threads)
    if threads is not None and threads < 1:
        raise UsageError(f"threads is {threads}, but must be 1 or more")
    request.progress = progress
    return request


def told(fit: Fit, stacklevel: int) -> Fit:
    """The fit, after its warnings were given."""
    core = fit._core
    for at, text in enumerate(core.warnings):
        category = ConvergenceWarning if at == 0 and not core.converged else FitWarning
        warnings.warn(in_python(ValueError(text)).args[0], category, stacklevel=stacklevel)
    return fit


def fitted(kind: str, data: Any, settings: Sequence[tuple[str, str]], *, source: Any = None, stacklevel: int = 4, **rest: Any) -> Fit:
    """A fit of a kind of model, with Python's exceptions, warnings and progress."""
    progress = rest.pop("progress", None)
    with progress_of(progress) as teller:
        request = request_of(kind, settings, progress=teller, **rest)
        try:
            core = _core.fit(request, data)
        except (DataError, UsageError) as error:
            raise _as_file_error(error, source) from None
    return told(Fit(core), stacklevel)


def _as_file_error(error: ValueError, source: Any) -> Exception:
    path = path_of(source)
    if path is not None and path != "-" and isinstance(error, DataError):
        if not os.path.exists(path):
            return FileNotFoundError(str(error))
        if os.path.isdir(path):
            return IsADirectoryError(str(error))
        if not os.access(path, os.R_OK):
            return PermissionError(str(error))
    return in_python(error)


def mixture(
    data: DataLike,
    n_components: int,
    *,
    columns: Optional[Text] = None,
    weights: Union[str, np.ndarray, None] = None,
    covariance: str = "full",
    prior: str = "auto",
    prior_alpha: Optional[float] = None,
    prior_mean: Any = None,
    prior_variance: Any = None,
    prior_shape: Optional[float] = None,
    prior_rate: Any = None,
    prior_dof: Optional[float] = None,
    prior_inverse_scale: Any = None,
    restarts: Optional[int] = None,
    drop_missing: bool = False,
    na: Sequence[str] = (),
    names: Optional[Sequence[str]] = None,
    seed: Any = 1,
    tolerance: float = 1e-8,
    max_iterations: int = 10000,
    check: Union[str, bool] = "auto",
    seconds: Optional[float] = None,
    threads: Optional[int] = None,
    memory: int = MEMORY,
    progress: Any = None,
) -> Fit:
    """Fit a mixture of normals.

    Parameters
    ----------
    data : array, DataFrame, path, iterator of chunks, callable that returns one, or Dask array or frame
        Doubles are read where they are; those of Dask stay with its workers, and only sums of them come here. An iterator can be read once, so what it holds must fit into `memory`; a callable is called
        whenever the rows are needed.
    n_components : int
        How many normals.
    columns : str or sequence of str, optional
        Columns to use, by name; all of them otherwise.
    weights : str or array, optional
        How often each row counts: a column, or one number for each row.
    covariance : {"full", "diagonal"}
        Of several columns.
    prior : {"auto", "paper"}
        On standardised columns, or the paper's; `prior_…` replace its numbers, in the data's units.
    restarts : int, optional
        Starts that compete (16).
    drop_missing : bool
        Leave out rows with a missing value, instead of refusing them.
    na : sequence of str
        What means a missing value, besides NaN: "-999".
    names : sequence of str, optional
        Of the columns of an array.
    seed : int, Generator, or RandomState
        Of the starts and of the check's draws.
    tolerance : float
        The largest last step, in posterior sds.
    max_iterations : int
        Sweeps and Newton steps at most.
    check : {"auto", "always", "never", "exact"}
        Compare with the exact posterior: where it takes a second at most, always, or never; "exact" corrects the answer by it.
    seconds : float, optional
        About how long that may take.
    threads : int, optional
        As many as there are cores otherwise. The answer is the same to the last bit.
    memory : int
        Bytes of a file, or of chunks, that are kept in memory.
    progress : bool or callable, optional
        A bar in a terminal or a notebook, where it takes longer than a second.

    Returns
    -------
    Fit

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> x = np.concatenate([np.linspace(-1, 1, 50), np.linspace(7, 9, 50)])
    >>> fit = lrvb.mixture(x, 2, check="never")
    >>> fit.summary(["mu"])["mean"].round(2).tolist()
    [0.0, 8.0]
    """
    settings = [("components", _whole("n_components", n_components)), ("covariance", str(covariance)), ("prior", str(prior))]
    settings += chosen(columns)
    numbers = {
        "prior-alpha": prior_alpha, "prior-mean": prior_mean, "prior-variance": prior_variance, "prior-shape": prior_shape,
        "prior-rate": prior_rate, "prior-dof": prior_dof, "prior-inverse-scale": prior_inverse_scale,
    }  # fmt: skip
    settings += [(key, text_of(value)) for key, value in numbers.items() if value is not None]
    if restarts is not None:
        settings.append(("restarts", _whole("restarts", restarts)))
    if drop_missing:
        settings.append(("drop-missing", "yes"))
    array = None
    if isinstance(weights, str):
        settings.append(("weights", weights))
    elif weights is not None:
        array = None if is_dask(data) else np.asarray(weights)
        settings.append(("weights", WEIGHTS))
    used = None
    if columns is not None and hasattr(data, "columns") and not is_dask(data):
        used = ([columns] if isinstance(columns, str) else list(columns)) + ([weights] if isinstance(weights, str) else [])
        missing = [name for name in used if name not in [str(own) for own in data.columns]]
        used = None if missing else used  # ranges, or what is not there: the library says which
    if is_dask(data):
        core = dask_data(data, names=names, columns=columns, weights=weights, drop_missing=drop_missing, na=na)
        settings = [setting for setting in settings if setting[0] != "columns"]
    else:
        core = as_data(data, names=names, columns=used, weights=array, na=na, memory=memory)
    return fitted(
        "mixture", core, settings, source=data, seed=seed, tolerance=tolerance, max_iterations=max_iterations, check=check,
        seconds=seconds, threads=threads, progress=progress,
    )  # fmt: skip


def regression(
    formula: str,
    data: DataLike,
    *,
    family: Optional[str] = None,
    link: Optional[str] = None,
    weights: Optional[str] = None,
    prior: Union[str, Sequence[str], None] = None,
    factor: Optional[Text] = None,
    numeric: Optional[Text] = None,
    baseline: Optional[dict[str, Any]] = None,
    drop_missing: bool = False,
    na: Sequence[str] = (),
    names: Optional[Sequence[str]] = None,
    seed: Any = 1,
    tolerance: float = 1e-8,
    max_iterations: int = 10000,
    check: Union[str, bool] = "auto",
    seconds: Optional[float] = None,
    threads: Optional[int] = None,
    memory: int = MEMORY,
    progress: Any = None,
) -> Fit:
    """Fit a regression, hierarchical or not, by a formula as R and lme4 write them.

    Parameters
    ----------
    formula : str
        Such as "y ~ x + C(g)" or "y ~ x + (1 + x | g)".
    data : DataFrame, mapping of columns, or path
        Columns of text, categories and truth values are factors.
    family : {"gaussian", "student", "bernoulli", "binomial", "poisson"}, optional
        What the response is.
    link : {"logit", "probit", "cloglog"}, optional
        Of a bernoulli or binomial response.
    weights : str, optional
        The column of row weights.
    prior : str or sequence of str, optional
        Sentences such as "beta ~ normal(0, 10)".
    factor, numeric : str or sequence of str, optional
        Columns to take as groups, though they hold numbers; as numbers, though they hold text.
    baseline : dict, optional
        The level of a column that others are compared with.
    drop_missing, na, names, seed, tolerance, max_iterations, check, seconds, threads, memory, progress
        As of :func:`mixture`. What a quick check integrates exactly is the answer.

    Returns
    -------
    Fit

    Examples
    --------
    >>> import lrvb, pandas as pd
    >>> frame = pd.DataFrame({"y": [1.0, 2.1, 2.9, 4.2, 5.1, 5.8], "x": [0, 1, 2, 3, 4, 5]})
    >>> fit = lrvb.regression("y ~ x", frame)
    >>> round(fit.mean("beta[x]"), 2)
    0.98
    """
    if not isinstance(formula, str):
        raise UsageError(f"formula is {formula!r}, but must be text, such as 'y ~ x + (1 | g)'")
    settings = [("FORMULA", formula)]
    for key, value in {"family": family, "link": link, "weights": weights}.items():
        if value is not None:
            settings.append((key, str(value)))
    for key, texts in {"factor": factor, "numeric": numeric}.items():
        if texts is not None:
            settings.append((key, texts if isinstance(texts, str) else ",".join(texts)))
    if baseline:
        settings.append(("baseline", ",".join(f"{column}={level}" for column, level in baseline.items())))
    for sentence in [prior] if isinstance(prior, str) else prior or []:
        settings.append(("prior", sentence))
    if drop_missing:
        settings.append(("drop-missing", "yes"))
    try:
        named, has_dot = _core.formula_columns(formula)
    except UsageError as error:
        raise in_python(error) from None
    used = None
    if not has_dot and hasattr(data, "columns"):
        used = named + ([weights] if weights else [])
        used = None if [name for name in used if name not in [str(own) for own in data.columns]] else used
    core = as_data(data, names=names, columns=used, na=na, memory=memory)
    return fitted(
        "regression", core, settings, source=data, seed=seed, tolerance=tolerance, max_iterations=max_iterations, check=check,
        seconds=seconds, threads=threads, progress=progress,
    )  # fmt: skip


def model(text: str, data: Any = None, **options: Any) -> Fit:
    """Fit a model that is written in BUGS, where the library has such a kind.

    Parameters
    ----------
    text : str
        The model.
    data : mapping of names to arrays
        What is observed, and constants.

    Returns
    -------
    Fit

    Raises
    ------
    NotImplementedError
        Where this library has no models in BUGS: declare the model with :class:`Model` then.

    Examples
    --------
    >>> import lrvb
    >>> "model" in dir(lrvb)
    True
    """
    if not _core.has_kind("model"):
        raise NotImplementedError(
            "this library reads no models in BUGS: declare the model with lrvb.Model(), as in m = lrvb.Model(); mu = m.normal('mu', 0, 0.01)"
        )
    from ._bugs import fit_model

    return fit_model(text, data, **options)


def chosen(columns: Optional[Text]) -> list[tuple[str, str]]:
    if columns is None:
        return []
    texts = [columns] if isinstance(columns, str) else list(columns)
    return [("columns", ",".join(str(text) for text in texts))]


def _whole(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise UsageError(f"{name} is {value!r}, but must be a whole number")
    if value < 1:
        raise UsageError(f"{name} is {value}, but must be 1 or more")
    return str(int(value))


Progress = Union[bool, Callable[..., None], None]
