"""What the documents print in Python runs, block after block, as a reader would type it.

The blocks of a document share their names and one working folder. A comment above one changes
that: `<!-- not run: why -->`, `<!-- raises: Error -->`, or `<!-- given: statements -->` for what
the text around it takes for granted.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = ["README.md", "docs/getting-started.md", "docs/frameworks/pytorch.md"]

_BLOCK = re.compile(
    r"(?:<!-- (?P<mark>not run|raises|given): (?P<what>[^\n]+?) -->\n+)?"
    r"```python\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


def script_of(document: Path) -> str:
    """A script of the blocks that run, each line of them where it is in the document."""
    text = document.read_text(encoding="utf-8")
    lines = ["import pytest"]
    for block in _BLOCK.finditer(text):
        first = text.count("\n", 0, block.start("code"))
        code = block["code"].splitlines()
        if block["mark"] == "not run":
            continue
        if block["mark"] == "given":
            code = [block["what"], *code]
            first -= 1
        if block["mark"] == "raises":
            body = textwrap.indent(block["code"], "    ").splitlines()
            code = [f"with pytest.raises({block['what']}):", *body]
            first -= 1
        lines += [""] * (first - len(lines)) + code
    return "\n".join(lines)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_python_of_a_document_runs(
    document: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    script = tmp_path / "blocks.py"
    script.write_text(script_of(ROOT / document), encoding="utf-8")
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


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_of_python_is_found(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    assert len(_BLOCK.findall(text)) == text.count("```python") > 0
