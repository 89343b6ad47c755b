"""What the documents print in Python runs, block after block, as a reader would type it.

A block below `<!-- not run: why -->` is left out, and one below `<!-- raises: Error -->` must
raise that. A document's blocks share their names and one working folder.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = ["README.md", "docs/getting-started.md", "docs/frameworks/pytorch.md"]

_BLOCK = re.compile(
    r"(?:<!-- (?P<mark>not run|raises): (?P<what>[^\n]+?) -->\n+)?```python\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


def script_of(document: Path) -> tuple[str, int]:
    """A script of the blocks that are to run, at the lines they have in the document."""
    text = document.read_text(encoding="utf-8")
    lines: list[str] = []
    count = 0
    for block in _BLOCK.finditer(text):
        if block["mark"] == "not run":
            continue
        start = text.count("\n", 0, block.start("code"))
        code = block["code"]
        if block["mark"] == "raises":
            indented = "\n".join(f"    {line}" for line in code.splitlines())
            code = f"with pytest.raises({block['what']}):\n{indented}"
            start -= 1
        lines += [""] * (start - len(lines))
        lines += code.splitlines()
        count += 1
    return "\n".join(
        ["import pytest; " + lines[0] if lines[0] else "import pytest", *lines[1:]]
    ), count


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_python_of_a_document_runs(
    document: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    code, count = script_of(ROOT / document)
    assert count
    script = tmp_path / "blocks.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        cwd=tmp_path,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{document}, by line:\n{done.stdout}"


def test_every_block_of_python_is_found() -> None:
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        assert len(_BLOCK.findall(text)) == text.count("```python")
