"""Functions that fit: mixtures, regressions by formula, models in BUGS."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any, Iterable, Optional, Sequence, Union

import numpy as np

from . import _core
from ._bugs import data_of_model, text_of_model
from ._comparison import Comparison
from ._dask import WEIGHTS, dask_data, is_dask
from ._data import DataLike, as_data, MEMORY
from ._errors import ConvergenceWarning, DataError, FitWarning, UsageError, file_error, in_python, warn
from ._fit import Fit
from ._progress import progress_of
from ._request import HOW, Settings, Text, as_list, count, request_of, text_of, texts, whole


def told(fit: Fit) -> Fit:
    """The fit, after its warnings were given."""
    core = fit._core
    for at, text in enumerate(core.warnings):
        warn(in_python(text), ConvergenceWarning if at == 0 and not core.converged else FitWarning)
    return fit


def asked(ask: Callable[[_core.Request, _core.Data], Any], kind: str, data: _core.Data, settings: Settings, source: Any, rest: Any) -> Any:
    """What the library answers to a request, with Python's exceptions and progress."""
    progress = rest.pop("progress", None)
    with progress_of(progress) as teller:
        request = request_of(kind, settings, progress=teller, **rest)
        try:
            return ask(request, data)
        except (DataError, UsageError) as error:
            raise file_error(error, source) from None


def fitted(kind: str, data: _core.Data, settings: Settings, *, source: Any = None, **rest: Any) -> Fit:
    """A fit of a kind of model, after its warnings were given."""
    return told(Fit(asked(_core.fit, kind, data, settings, source, rest)))


def parted(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of a function that fits: those that say what, and those of :func:`request_of`, which say how."""
    how = {name: arguments[name] for name in arguments if name in HOW}
    return {name: arguments[name] for name in arguments if name not in HOW}, how


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
    fix: Optional[Text] = None,
    at: Union[str, os.PathLike[str], None] = None,
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
    fix : str or sequence of str, optional
        Parts to hold at given values: "weights", "means", "precisions".
    at : path, optional
        These values: a fit file, or JSON with a list for each part.
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
    what, how = parted(locals())
    if isinstance(n_components, (range, list, tuple, np.ndarray)):
        raise UsageError(f"n_components is {n_components!r}, but must be one number: lrvb.mixtures fits several, and compares them")
    what["n_components"] = whole("n_components", n_components)
    core, settings = _mixture_request(**what)
    return fitted("mixture", core, settings, source=data, **how)


def mixtures(
    data: DataLike,
    n_components: Iterable[int] = range(1, 9),
    *,
    seed: Any = 1,
    tolerance: float = 1e-8,
    max_iterations: int = 10000,
    check: Union[str, bool] = "auto",
    threads: Optional[int] = None,
    progress: Any = None,
    **options: Any,
) -> Comparison:
    """Fit mixtures of several numbers of normals, and compare them: how many are there?

    The data are read once, and each fit is one more start of the next.

    Parameters
    ----------
    data : as of :func:`mixture`
    n_components : range
        Numbers one after the other, such as range(1, 9).
    seed, tolerance, max_iterations, check, threads, progress, **options
        As of :func:`mixture`; `check="exact"` and `seconds` are of one fit.

    Returns
    -------
    Comparison
        ``fits.best`` is the best fit, ``fits[3]`` that of three normals, ``fits.table()`` how they compare.

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> x = np.concatenate([np.linspace(-1, 1, 50), np.linspace(7, 9, 50)])
    >>> lrvb.mixtures(x, range(1, 4), check="never").best_key
    2
    """
    _, how = parted(locals())
    numbers = [int(whole("n_components", number)) for number in n_components]
    if not numbers or numbers != list(range(numbers[0], numbers[-1] + 1)):
        raise UsageError(f"n_components is {n_components!r}, but must be numbers one after the other, such as range(1, 9)")
    if "seconds" in options:
        raise UsageError("seconds is how long the check of one fit may take: leave it out, and ask the best fit by its check()")
    one = inspect.signature(mixture).bind(data, f"{numbers[0]}:{numbers[-1]}", **options)
    one.apply_defaults()
    core, settings = _mixture_request(**parted(one.arguments)[0])
    found = Comparison(asked(_core.fit_range, "mixture", core, settings, data, {**how, "seconds": None}), numbers)
    for number, fit in found.items():
        if not fit.converged:
            warn(f"n_components = {number}: {fit.message}", ConvergenceWarning)
    return found


def _mixture_request(
    data: DataLike, n_components: str, covariance: Any, prior: Any, columns: Any, weights: Any, restarts: Any, fix: Any, at: Any,
    drop_missing: bool, na: Any, names: Any, memory: int, **numbers: Any,
) -> tuple[_core.Data, list[tuple[str, str]]]:  # fmt: skip
    """The data, and the options of the library, of a mixture; `numbers` are those of its prior."""
    settings = [("components", n_components), ("covariance", str(covariance)), ("prior", str(prior))]
    own = [str(name) for name in data.columns] if hasattr(data, "columns") else None
    used = None
    if columns is not None:
        named = texts("columns", columns)
        is_one = isinstance(columns, str) and (own is None or columns not in own)  # a list, or a range, as the program reads it
        settings.append(("columns", str(columns) if is_one else as_list("columns", named)))
        if own is not None:
            used = named + ([weights] if isinstance(weights, str) else [])
            used = None if set(used) - set(own) else used  # ranges, or what is not there: the library says which
    if fix is not None:
        settings.append(("fix", as_list("fix", fix)))
    if at is not None:
        settings.append(("at", os.fspath(at)))
    settings += [(key.replace("_", "-"), text_of(key, value)) for key, value in numbers.items() if value is not None]
    if restarts is not None:
        settings.append(("restarts", whole("restarts", restarts)))
    if drop_missing:
        settings.append(("drop-missing", "yes"))
    array = None
    if isinstance(weights, str):
        settings.append(("weights", weights))
    elif weights is not None:
        array = None if is_dask(data) else np.asarray(weights)
        settings.append(("weights", WEIGHTS))
    na, memory = texts("na", na), count("memory", memory)
    if is_dask(data):
        core = dask_data(data, names=names, columns=columns, weights=weights, drop_missing=drop_missing, na=na)
        return core, [setting for setting in settings if setting[0] != "columns"]
    return as_data(data, names=names, columns=used, weights=array, na=na, memory=memory), settings


def regression(
    formula: str,
    data: DataLike,
    *,
    family: Optional[str] = None,
    link: Optional[str] = None,
    success: Any = None,
    weights: Optional[str] = None,
    precision_weights: Optional[str] = None,
    prior: Union[str, Sequence[str], None] = None,
    factor: Optional[Text] = None,
    numeric: Optional[Text] = None,
    baseline: Optional[Mapping[str, Any]] = None,
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
    family : {"gaussian", "student", "bernoulli", "binomial", "poisson", "negative_binomial"}, optional
        What the response is.
    link : {"logit", "probit", "cloglog"}, optional
        Of a bernoulli or binomial response.
    success : optional
        The value of a bernoulli response that is 1, of two; by default the second by their order.
    weights : str, optional
        The column that says how often each row counts: 3 is three rows.
    precision_weights : str, optional
        The column of precisions w, as the weights of lm and lmer: the variance of a row is sigma²/w. Of a binomial
        response that is a share, the number of trials.
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
    _, how = parted(locals())
    if not isinstance(formula, str):
        raise UsageError(f"formula is {formula!r}, but must be text, such as 'y ~ x + (1 | g)'")
    settings = [("FORMULA", formula)]
    given = {"weights": weights, "precision-weights": precision_weights}
    for key, value in {"family": family, "link": link, "success": success, **given}.items():
        if value is not None:
            settings.append((key, str(value)))
    for key, column in given.items():
        if column is not None and not isinstance(column, str):
            raise UsageError(f"{key.replace('-', '_')} must be the name of a column of the data: put them there")
    for key, chosen in {"factor": factor, "numeric": numeric}.items():
        if chosen is not None:
            settings.append((key, as_list(key, chosen)))
    if baseline is not None:
        if not isinstance(baseline, Mapping):
            raise UsageError(f"baseline is {baseline!r}, but must be a mapping of columns to levels, such as {{'cyl': 6}}")
        settings.append(("baseline", as_list("baseline", [f"{column}={level}" for column, level in baseline.items()])))
    if prior is not None:
        if isinstance(prior, Mapping):
            raise UsageError(f"prior is {prior!r}, but must be sentences, such as 'beta ~ normal(0, 10)'")
        settings += [("prior", sentence) for sentence in texts("prior", prior)]
    if drop_missing:
        settings.append(("drop-missing", "yes"))
    named, has_dot = _core.formula_columns(formula)
    used = None
    if not has_dot and hasattr(data, "columns"):
        used = named + [column for column in given.values() if column]
        used = None if [name for name in used if name not in [str(own) for own in data.columns]] else used
    core = as_data(data, names=names, columns=used, na=texts("na", na), memory=count("memory", memory))
    return fitted("regression", core, settings, source=data, **how)


def model(
    text: Union[str, os.PathLike[str]],
    data: Any = None,
    *,
    monitor: Optional[Text] = None,
    factorised: bool = False,
    restarts: Optional[int] = None,
    na: Sequence[str] = (),
    seed: Any = 1,
    tolerance: float = 1e-8,
    max_iterations: int = 10000,
    check: Union[str, bool] = "auto",
    seconds: Optional[float] = None,
    threads: Optional[int] = None,
    progress: Any = None,
) -> Fit:
    """Fit a model that is written in the language of BUGS; docs/bugs.md.

    Parameters
    ----------
    text : str or path
        The model, or the file that holds it.
    data : mapping of names to arrays, DataFrame, path, or a list of these, optional
        Observations and constants, copied; NaN and None are missing, and what is missing of an observation is a variable. ``x[i, j]`` of an
        array, counted from 0, is ``x[i+1, j+1]`` of the model. Each column of a frame is a vector, its text 1, 2, … in the order of its
        bytes, and N the number of its rows, unless an N is given.
    monitor : str or sequence of str, optional
        Nodes to show, instead of those of small arrays.
    factorised : bool
        Give every normal node a factor of its own, instead of one to all that are jointly normal.
    restarts : int, optional
        Starts, of which the best wins.
    na : sequence of str
        What means a missing value, besides NaN and None: "-999".
    seed, tolerance, max_iterations, check, seconds, threads, progress
        As of :func:`mixture`.

    Returns
    -------
    Fit
        Its rows are the observed elements: ``influence()`` calls them y[1], y[2], ….

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> text = "model { for (i in 1:N) { y[i] ~ dnorm(mu, tau) } mu ~ dnorm(0, 0.01) tau ~ dgamma(2, 1) }"
    >>> fit = lrvb.model(text, {"N": 4, "y": np.array([4.1, 5.3, 3.9, 6.0])})
    >>> fit.variables, fit.influence(top=1).index[0]
    (['mu', 'log_tau', 'tau'], 'y[4]')
    """
    _, how = parted(locals())
    settings = [("MODEL", text_of_model(text))]
    if monitor is not None:
        settings.append(("monitor", monitor if isinstance(monitor, str) else ",".join(monitor)))
    if factorised:
        settings.append(("factorised", "yes"))
    if restarts is not None:
        settings.append(("restarts", whole("restarts", restarts)))
    missing = text if isinstance(text, (str, os.PathLike)) and "{" not in os.fspath(text) and not os.path.exists(text) else data
    try:
        core = data_of_model(data, texts("na", na))
    except DataError as error:
        raise file_error(error, data) from None
    return fitted("model", core, settings, source=missing, **how)
