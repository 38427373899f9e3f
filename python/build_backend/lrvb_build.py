"""How pip builds lrvb (PEP 517): CMake makes the module, and this makes a wheel of it. It needs nothing but Python, CMake and what
scripts/packages and scripts/packages-python name.

Where `make` has built the library already, in build/release, that is what the module is linked with; otherwise it is built in build/wheel.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parents[2]
NAME = "lrvb"


def _version() -> str:
    match = re.search(r"project\(lrvb VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert match is not None, "CMakeLists.txt has no version"
    return match.group(1)


def _tag() -> str:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def _metadata() -> str:
    return (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {_version()}\n"
        "Summary: Linear response variational Bayes: posterior means in milliseconds, with error bars that hold\n"
        "License: BSD-3-Clause\nRequires-Python: >=3.11\n"
        "Requires-Dist: numpy>=1.24\nRequires-Dist: pandas>=1.5\n"
        "Requires-Dist: scikit-learn>=1.2; extra == 'sklearn'\nRequires-Dist: matplotlib; extra == 'plot'\n"
        "Requires-Dist: xarray; extra == 'arviz'\n"
        "Provides-Extra: sklearn\nProvides-Extra: plot\nProvides-Extra: arviz\n"
    )


def _run(*command: str) -> None:
    print(" ".join(command), flush=True)
    try:
        subprocess.run(command, cwd=ROOT, check=True)
    except FileNotFoundError:
        raise SystemExit(f"{command[0]} is missing: run scripts/setup and scripts/setup packages-python first, or make python") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{command[0]} failed with {error.returncode}: what it said stands above") from None


def _build() -> Path:
    """Builds the package; the folder that holds it."""
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    release = ROOT / "build" / "release"
    cache = release / "CMakeCache.txt"
    if cache.exists() and python == os.path.realpath("/usr/bin/python3"):
        folder = release
        _run("cmake", "-S", str(ROOT), "-B", str(folder), "-D", "LRVB_BUILD_PYTHON=ON")
    else:
        folder = ROOT / "build" / f"wheel-{sys.implementation.cache_tag}"
        parts = [f"-DLRVB_BUILD_{part}=OFF" for part in ("PROGRAM", "TESTS", "EXAMPLES", "BENCHMARKS")]
        _run("cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release", "-D", "LRVB_INSTALL=OFF",
             "-D", "LRVB_BUILD_PYTHON=ON", "-D", f"Python_EXECUTABLE={python}", *parts)  # fmt: skip
    _run("cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1), "--target", "lrvb_python")
    return folder / "python" / NAME


def _digest(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def get_requires_for_build_wheel(config_settings: Optional[dict[str, Any]] = None) -> list[str]:
    return []


def get_requires_for_build_sdist(config_settings: Optional[dict[str, Any]] = None) -> list[str]:
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Optional[dict[str, Any]] = None) -> str:
    info = f"{NAME}-{_version()}.dist-info"
    folder = Path(metadata_directory) / info
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(_metadata())
    return info


def build_wheel(wheel_directory: str, config_settings: Optional[dict[str, Any]] = None, metadata_directory: Optional[str] = None) -> str:
    package = _build()
    info = f"{NAME}-{_version()}.dist-info"
    files = {
        f"{NAME}/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: lrvb_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = "".join(f"{name},{_digest(content)},{len(content)}\n" for name, content in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    wheel = f"{NAME}-{_version()}-{_tag()}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel


def build_sdist(sdist_directory: str, config_settings: Optional[dict[str, Any]] = None) -> str:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    base = f"{NAME}-{_version()}"
    with tarfile.open(Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in listed.decode().split("\0"):
            if name and (ROOT / name).is_file():
                archive.add(ROOT / name, f"{base}/{name}", recursive=False)
        content = _metadata().encode()
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return f"{base}.tar.gz"
