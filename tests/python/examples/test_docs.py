"""What the documents print in Python runs, but for that of other frameworks' suites."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from support.driver import program
from support.scripts import WarmPython
from support.snippets import ROOT, documents, has_only_known_blocks, run_document

# Run by frameworks/xgboost, and by the suite of the recipes.
ELSEWHERE = ("docs/frameworks/xgboost.md", "docs/reports.md", "docs/recipes/")
# A word, with whole links and pieces of code in it.
UNBREAKABLE = re.compile(r"(?:\[(?:`[^`]*`|[^\]`])*\]\([^)]*\)|`[^`]*`|\S)+")
DOCUMENTS = [document for document in documents() if not document.startswith(ELSEWHERE)]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_python_of_a_document_runs(document: str, python: WarmPython, tmp_path: Path) -> None:
    run_document(document, python, tmp_path)


def test_the_training_of_getting_started_is_judged_as_it_shows(
    python: WarmPython, tmp_path: Path
) -> None:
    document = "docs/getting-started.md"
    run_document(document, python, tmp_path)
    text = (ROOT / document).read_text(encoding="utf-8")
    calls = re.findall(r"^\$ smdebug (check runs/first .*)\n((?:\w.*\n)+)", text, re.MULTILINE)
    assert calls
    for arguments, shown in calls:
        called = [program("smdebug"), *arguments.split()]
        result = subprocess.run(called, cwd=tmp_path, capture_output=True, text=True)
        assert (result.stdout, result.returncode) == (shown, 0)


def test_every_block_of_python_is_found() -> None:
    assert "docs/reference/python-trial.md" in DOCUMENTS
    assert [document for document in documents() if not has_only_known_blocks(document)] == []


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


def test_prose_is_wrapped_at_100_columns() -> None:
    prose = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    prose += [ROOT / "python/rulesconfig/README.md", ROOT / "tests/golden/README.md"]
    too_wide = []
    for document in prose:
        is_code = False
        for number, line in enumerate(document.read_text("utf-8").splitlines(), 1):
            is_code ^= line.lstrip().startswith("```")
            # Tables and HTML, and a link or a piece of code alone.
            cannot_wrap = line.startswith(("|", "<")) or len(UNBREAKABLE.findall(line)) == 1
            if len(line) > 100 and not is_code and not cannot_wrap:
                too_wide.append(f"{document.relative_to(ROOT)}:{number}")
    assert too_wide == []


def anchors_of(document: Path) -> set[str]:
    """What GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
