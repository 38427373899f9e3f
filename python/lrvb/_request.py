"""From arguments to what the library is asked: options as it writes them, and numbers that it can take."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._errors import UsageError

Text = Union[str, Iterable[str]]
Settings = Sequence[tuple[str, str]]


def text_of(name: str, value: Any) -> str:
    """A number, or several, as the library's options write them."""
    if isinstance(value, str):
        return value
    if np.ndim(value) == 0:
        return str(int(value)) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else repr(number(name, value))
    return ",".join(text_of(name, entry) for entry in np.asarray(value).ravel().tolist())


def as_list(option: str, value: Any) -> str:
    """Several names as the library's options list them; in quotes where a name has what separates."""
    return ",".join('"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name for name in texts(option, value))


def texts(name: str, value: Any) -> list[str]:
    """Texts, or one; numbers among them are written as they are."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable) or isinstance(value, (bytes, bytearray)):
        raise UsageError(f"{name} is {value!r}, but must be text, or a list of texts")
    return [str(entry) for entry in value]


def seed_of(random_state: Any) -> int:
    """A whole number from a seed, a generator, or None, which is 1: the same answer every time."""
    if random_state is None:
        return 1
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int32).max))
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and 0 <= random_state < 2**64:
        return int(random_state)
    raise UsageError(f"seed is {random_state!r}, but must be a whole number from 0 to 2**64 - 1, a random generator, or None")


def count(name: str, value: Any, most: int = 2**53) -> int:
    """A whole number from 1, of any type that has one."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise UsageError(f"{name} is {value!r}, but must be a whole number")
    if not 1 <= value <= most:
        raise UsageError(f"{name} is {value}, but must be 1 or more" + (f", and at most {most}" if value > most else ""))
    return int(value)


def number(name: str, value: Any) -> float:
    """A number, of any type that has one; the library says which it can take."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is {value!r}, but must be a number") from None


def threads_of(value: Any) -> int:
    """How many threads; 0 is as many as there are cores."""
    return 0 if value is None else count("threads", value, most=10_000)


def request_of(
    kind: str,
    settings: Settings,
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
    request.tolerance = number("tolerance", tolerance)
    request.max_iterations = count("max_iterations", max_iterations, most=2**31 - 1)
    request.check = ("always" if check else "never") if isinstance(check, bool) else str(check)
    request.seconds = None if seconds is None else number("seconds", seconds)
    request.threads = threads_of(threads)
    request.progress = progress
    return request


def whole(name: str, value: Any) -> str:
    """A whole number from 1, as options write it."""
    return str(count(name, value))


#: The arguments of functions that fit which say how, not what.
HOW = frozenset(inspect.signature(request_of).parameters) - {"kind", "settings"}
