"""Packs the wheel, for pip: the files below src, as they are.

Common build backends do not put a .pth file beside packages without a plugin or a
compiler's tools. This needs nothing but Python.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = "smdebug_rulesconfig_alias"
VERSION = "1.0.1"  # Of the package whose names it has.
SUMMARY = (
    "import smdebug_rulesconfig, answered by smdebug 2 where the package of that name"
    " is not installed"
)


def build_wheel(
    wheel_directory: str,
    config_settings: object = None,  # noqa: ARG001
    metadata_directory: object = None,  # noqa: ARG001
) -> str:
    """Writes the wheel and gives its name (PEP 517)."""
    source = HERE / "src"
    files = {
        path.relative_to(source).as_posix(): path.read_bytes()
        for path in sorted(source.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
    information = f"{NAME}-{VERSION}.dist-info"
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    files[f"{information}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {NAME.replace('_', '-')}\nVersion: {VERSION}\n"
        f"Summary: {SUMMARY}\nLicense: Apache-2.0\nRequires-Python: >=3.9\n"
        f"Requires-Dist: smdebug>=2.dev0\nDescription-Content-Type: text/markdown\n\n{readme}"
    ).encode()
    files[f"{information}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: pack\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = f"{information}/RECORD"
    lines = [f"{name},sha256={digest(content)},{len(content)}" for name, content in files.items()]
    files[record] = "\n".join([*lines, f"{record},,\n"]).encode()
    wheel = f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel


def digest(content: bytes) -> str:
    """The checksum of a file, as RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
