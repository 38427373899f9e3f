"""Exceptions and warnings. Each is also one of Python's own kinds, so that nobody needs to know these."""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import Any


class DataError(ValueError):
    """Data, or a file, that cannot be used: the sentence says where, why, and what to do.

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> lrvb.mixture(np.array([1.0, np.nan, 2.0]), 1)
    Traceback (most recent call last):
        ...
    lrvb._errors.DataError: a table in memory: row 2, column '1': the value is missing: fill it in, or have rows with missing values dropped
    """


class UsageError(ValueError):
    """A request that cannot be meant: an option that contradicts another, or has a value that it cannot have.

    Examples
    --------
    >>> issubclass(UsageError, ValueError)
    True
    """


class ModelError(UsageError):
    """A model in BUGS that cannot be fitted: all that is wrong with its text, each with its place and the line.

    Examples
    --------
    >>> import lrvb
    >>> try:
    ...     lrvb.model("model { mu ~ dnrom(0, 1) }")
    ... except lrvb.ModelError as error:
    ...     print(error)
    model:1:14: there is no distribution 'dnrom': did you mean 'dnorm'? It is written dnorm(mean, precision)
      model { mu ~ dnrom(0, 1) }
                   ^~~~~
    """


class NotConverged(RuntimeError):
    """What was asked needs a fit that converged, and this one did not.

    Examples
    --------
    >>> issubclass(NotConverged, RuntimeError)
    True
    """


class TooLarge(MemoryError):
    """A factorisation that would not fit into memory.

    Examples
    --------
    >>> issubclass(TooLarge, MemoryError)
    True
    """


class ConvergenceWarning(UserWarning):
    """A fit did not converge: it has means, but neither sds nor intervals.

    Examples
    --------
    >>> issubclass(ConvergenceWarning, UserWarning)
    True
    """


class FitWarning(UserWarning):
    """Something about a fit that should be known: what the prior decides, what the data say little about.

    Examples
    --------
    >>> issubclass(FitWarning, UserWarning)
    True
    """


_QUESTIONS = "check|influence|leverage|loo|predict|sensitivity|summary"
_RENAMED = {"components": "n_components", "drop-missing": "drop_missing=True", "no-intercept": "fit_intercept=False"}
# Options that are followed by a value in the library's sentences, and words that are none.
_WITH_VALUE = "baseline|check|covariance|factor|family|link|method|na|numeric|prior|seconds|success|weights"
_NO_VALUE = "and|are|both|cannot|has|is|must|says|takes|which|with"


def _value(text: str) -> str:
    """A value of an option as Python writes it."""
    text = re.sub(r"^(['\"])(.*)\1$", r"\2", text)
    return text if re.fullmatch(r"[0-9.]+", text) else repr(text)


def _argument(match: re.Match[str]) -> str:
    return f"{match.group(1).replace('-', '_')}={_value(match.group(2))}"


def _question(match: re.Match[str]) -> str:
    given = re.findall(r"--([a-z-]+)(?: ([^\s-][^\s]*))?", match.group(2))
    arguments = [f"{key.replace('-', '_')}={_value(value)}" for key, value in given if value and key != "format"]
    return f"fit.{match.group(1)}({', '.join(arguments)})"


def in_python(text: str) -> str:
    """A sentence of the library in Python's words: options as arguments, commands as functions.

    Examples
    --------
    >>> in_python("counts are whole: choose another --family, or look at 'lrvb check FIT DATA --seconds 60'")
    'counts are whole: choose another family, or look at fit.check(seconds=60)'
    >>> in_python("choose --family poisson; --drop-missing leaves out such rows")
    "choose family='poisson'; drop_missing=True leaves out such rows"
    """
    text = re.sub(rf"'lrvb ({_QUESTIONS})\b([^']*)'", _question, text)
    text = text.replace("make it again with 'lrvb fit'", "make it again with fit.save()").replace("see them with --rows", "see loo().rows")
    text = re.sub(rf"--({_WITH_VALUE}) (?!(?:{_NO_VALUE})\b)('[^']*'|\"[^\"]*\"|[^\s,;:'\"]+)", _argument, text)
    text = re.sub(r"(?<![\w-])-c (\S+)", lambda match: f"columns={_value(match.group(1))}", text)
    text = re.sub(r"--([a-z][a-z-]*)", lambda match: _RENAMED.get(match.group(1), match.group(1).replace("-", "_")), text)
    return text.replace("max_iterations (max_iterations)", "max_iterations").replace("FORMULA", "formula")


def warn(text: str, category: type[Warning]) -> None:
    """A warning that names the line from which the package was called."""
    depth = 1
    frame = sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "lrvb":
        frame = frame.f_back
        depth += 1
    warnings.warn(text, category, stacklevel=depth)


def file_error(error: ValueError, source: Any) -> Exception:
    """What an error with data is where these are a file that is not there, or cannot be read; otherwise the error itself."""
    if not isinstance(source, (str, os.PathLike)) or not isinstance(error, DataError):
        return error
    path = os.fspath(source)
    if path == "-":
        return error
    if not os.path.exists(path):
        return FileNotFoundError(str(error))
    if os.path.isdir(path):
        return IsADirectoryError(str(error))
    if not os.access(path, os.R_OK):
        return PermissionError(str(error))
    return error
