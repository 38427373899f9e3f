"""What the tests share: where the repository, its data and the program are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"


@pytest.fixture(scope="session")
def program():
    """Runs the program that was built beside the module."""
    path = os.environ["LRVB_PROGRAM"]

    def run(*arguments: str, cwd: Path = ROOT) -> str:
        done = subprocess.run([path, *map(str, arguments)], cwd=cwd, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def faithful() -> pd.DataFrame:
    return pd.read_csv(DATA / "old_faithful.csv", float_precision="round_trip")


@pytest.fixture(scope="session")
def two_groups() -> np.ndarray:
    """Rows of two normals, far apart."""
    random = np.random.default_rng(3)
    return np.concatenate([random.normal(0.0, 1.0, 120), random.normal(8.0, 1.0, 80)])


@pytest.fixture(scope="session")
def cars():
    return pd.read_csv(DATA / "mtcars.csv", float_precision="round_trip")
