"""Examples run: those of docstrings, of docs/python.md and the README, and the notebook."""

import ast
import contextlib
import doctest
import importlib
import io
import json
import re
import subprocess
import sys
import warnings

import matplotlib.pyplot as plt
import pytest
from conftest import ROOT

MODULES = ["lrvb", *(f"lrvb.{path.stem}" for path in sorted((ROOT / "python" / "lrvb").glob("_[a-z]*.py")))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    assert outcome.failed == 0


def test_everything_public_has_an_example():
    import lrvb

    for name in lrvb.__all__:
        thing = getattr(lrvb, name)
        if callable(thing):
            assert thing.__doc__ and ">>>" in thing.__doc__, name


def shown_by(code, namespace):
    """What a notebook would show: what is printed, and the value of a last expression without a semicolon."""
    printed = io.StringIO()
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(tree, "block", "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "block", "eval"), namespace)
            if value is not None and not code.rstrip().endswith(";"):
                print(repr(value))
    plt.close("all")
    return printed.getvalue()


def blocks_of(path):
    """Python blocks, each with the block of output that follows it, if one does."""
    text = path.read_text()
    return re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", text, flags=re.DOTALL)


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_pages(page, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    blocks = blocks_of(ROOT / page)
    assert blocks
    namespace = {"tmp": tmp_path}
    for code, output in blocks:
        code = code.replace('"build/', f'"{tmp_path}/')
        shown = shown_by(code, namespace)
        if output:
            assert shown.split() == output.split(), code


def test_notebook(monkeypatch):
    monkeypatch.chdir(ROOT / "examples")
    notebook = json.loads((ROOT / "examples" / "old_faithful.ipynb").read_text())
    namespace = {}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            shown_by("".join(cell["source"]), namespace)
            count += 1
    assert count >= 5 and namespace["fit"]._repr_html_().startswith("<div>")


def test_types():
    mypy = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "-p", "lrvb", "--cache-dir", "/dev/null"]
    done = subprocess.run(mypy, cwd=ROOT / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
