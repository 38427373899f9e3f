"""Exceptions and warnings. Each is also one of Python's own kinds, so that nobody needs to know these."""

from __future__ import annotations


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
