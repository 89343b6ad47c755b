"""What the documents print in Python, as a reader would type it.

The blocks of a document share their names and one working folder. A comment above one changes
that: `<!-- not run: why -->`, `<!-- raises: Error -->`, or `<!-- given: statements -->` for what
the text around it takes for granted.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from support.scripts import WarmPython

ROOT = Path(__file__).resolve().parents[3]

_BLOCK = re.compile(
    r"(?:<!-- (?P<mark>not run|raises|given): (?P<what>[^\n]+?) -->\n+)?"
    r"```python\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


def documents() -> list[str]:
    """Every document that has Python, by its path below the root."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    paths = [path for path in found if "```python" in path.read_text(encoding="utf-8")]
    return sorted(str(path.relative_to(ROOT)) for path in paths)


def has_only_known_blocks(document: str) -> bool:
    """Whether script_of() finds every block of a document."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return len(_BLOCK.findall(text)) == text.count("```python")


def run_document(document: str, python: WarmPython, folder: Path) -> None:
    """Runs the blocks of a document in a folder; fails where they do."""
    script = folder / "blocks.py"
    script.write_text(script_of(document), encoding="utf-8")
    done = python.run([str(script)], folder)
    assert done.returncode == 0, f"{document}, by line:\n{done.stdout}"


def script_of(document: str) -> str:
    """A script of the blocks that run, each line of them where it is in the document."""
    text = (ROOT / document).read_text(encoding="utf-8")
    lines = [""]
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
            lines[0] = "import pytest"
        lines += [""] * (first - len(lines)) + code
    return "\n".join(lines)
