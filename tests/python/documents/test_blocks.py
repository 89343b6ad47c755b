"""Every code block of the public documents is tested, or is known to wait for a feature."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from documents.blocks import BLOCKS, MOST_WAITING, WAITING

ALL = {(document, line) for document, lines in BLOCKS.items() for line in lines}


def blocks_with_tests() -> set[tuple[str, int]]:
    """The blocks after which tests of this suite are named."""
    found = set()
    for file in Path(__file__).parent.glob("test_*.py"):
        for document, line in re.findall(r"^def test_(\d{3})_line_(\d+)_", file.read_text(), re.M):
            found.add((document, int(line)))
    return found


def test_every_block_is_tested_or_waits() -> None:
    assert blocks_with_tests() | set(WAITING) == ALL
    assert blocks_with_tests() & set(WAITING) == set()


def test_the_waiting_get_fewer() -> None:
    assert len(WAITING) <= MOST_WAITING


@pytest.mark.parametrize("block", WAITING, ids=lambda block: f"{block[0]}-{block[1]}")
def test_what_a_block_waits_for_is_not_there_yet(block: tuple[str, int]) -> None:
    feature, what = WAITING[block]
    assert what
    assert feature.is_missing(), f"{feature.name}: there now, so that {block} can be tested"
