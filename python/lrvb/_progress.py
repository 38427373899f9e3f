"""How far a fit is: a line in a terminal, a bar in a notebook, or a function of the caller's own."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

#: Fits that are done sooner show nothing.
_SECONDS = 1.0


def _text(stage: str, iteration: int, bound: float, step: float, done: float) -> str:
    if stage == "check":
        return f"compared with the exact posterior: {100 * done:.0f}%"
    if stage in ("tournament", "sample", "start"):
        return f"starts: bound {bound:.4f}"
    shown = "" if math.isinf(step) else f", last step {step:.1e} posterior sds"
    return f"iteration {iteration}: bound {bound:.4f}{shown}"


def _share(stage: str, step: float, done: float) -> float:
    """About how much is done: steps fall to 1e-8, and then comes the check."""
    if stage == "check":
        return 0.5 + 0.5 * done
    if math.isinf(step) or step <= 0.0:
        return 0.1
    return min(0.5, max(0.1, 0.5 * -math.log10(step) / 8.0))


class _Line:
    """One line that is written over."""

    def __init__(self) -> None:
        self._width = 0

    def show(self, share: float, text: str) -> None:
        filled = round(20 * share)
        line = f"\r[{'#' * filled}{' ' * (20 - filled)}] {text}"
        sys.stderr.write(line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def clear(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class _Notebook:
    """A bar that the cell shows, and that is gone afterwards."""

    def __init__(self, display: Any, html: Any) -> None:
        self._html = html
        self._handle = display(html(""), display_id=True)

    def show(self, share: float, text: str) -> None:
        self._handle.update(self._html(f'<progress value="{share:.3f}" max="1"></progress> {text}'))

    def clear(self) -> None:
        self._handle.update(self._html(""))


def _in_notebook() -> bool:
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _bar() -> Any:
    if _in_notebook():
        from IPython.display import HTML, display

        return _Notebook(display, HTML)
    return _Line()


@contextmanager
def progress_of(wanted: Any) -> Iterator[Optional[Callable[..., None]]]:
    """What the library calls while it fits; None for nothing.

    `wanted` is None (a bar where somebody looks: a terminal or a notebook), True or False, or a callable, which gets stage, iteration,
    bound, step, rows and the share of the check that is done.
    """
    if callable(wanted):
        yield wanted
        return
    if wanted is None:
        wanted = _in_notebook() or (hasattr(sys, "ps1") and sys.stderr is not None and sys.stderr.isatty())
    if not wanted:
        yield None
        return
    begin = time.monotonic()
    shown: list[Any] = []

    def tell(stage: str, iteration: int, bound: float, step: float, rows: int, done: float) -> None:
        if time.monotonic() - begin < _SECONDS:
            return
        if not shown:
            shown.append(_bar())
        shown[0].show(_share(stage, step, done), _text(stage, iteration, bound, step, done))

    try:
        yield tell
    finally:
        for bar in shown:
            bar.clear()
