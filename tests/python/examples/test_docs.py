"""What the documents print in Python runs, block after block, as a reader would type it.

The blocks of a document share their names and one working folder. A comment above one changes
that: `<!-- not run: why -->`, `<!-- raises: Error -->`, or `<!-- given: statements -->` for what
the text around it takes for granted.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from support.scripts import run_python

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = [
    "README.md",
    "docs/getting-started.md",
    "docs/frameworks/pytorch.md",
    "docs/writing-rules.md",
]

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
    done = run_python([str(script)], environment, tmp_path)
    assert done.returncode == 0, f"{document}, by line:\n{done.stdout}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_of_python_is_found(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    assert len(_BLOCK.findall(text)) == text.count("```python") > 0


def test_the_reference_has_every_public_name() -> None:
    import smdebug
    import smdebug.pytorch as smd

    text = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    names = {*smdebug.__all__, *smd.__all__}
    for kind in (smd.Hook, smd.Collection, smd.SaveConfig, smd.SaveConfigMode, smd.ReductionConfig):
        names |= {name for name in dir(kind) if not name.startswith("_")}
    missing = [name for name in sorted(names) if not re.search(rf"`[^`\n]*\b{name}\b", text)]
    assert missing == []


def test_links_lead_somewhere() -> None:
    broken = []
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = re.sub(
            r"```.*?^```", "", document.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE
        )
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = target.partition("#")
            if "://" in target:
                continue
            linked = (document.parent / path).resolve() if path else document
            if not linked.exists() or (anchor and anchor not in anchors_of(linked)):
                broken.append(f"{document.relative_to(ROOT)}: {target}")
    assert broken == []


def anchors_of(document: Path) -> set[str]:
    """What GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
