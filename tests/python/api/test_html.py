"""What notebooks show."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from smdebug._internal import html
from smdebug.core.collection import Collection
from smdebug.trials import create_trial
from support.native_run import NativeRun, make_run

VOID = {"br", "hr", "img", "polyline", "circle"}


class Checked(HTMLParser):
    """Elements in balance, and the texts between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.seen.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def test_a_trial_shows_its_tensors(tmp_path: Path) -> None:
    page = Checked(create_trial(make_run(tmp_path / "run"))._repr_html_())
    for text in ("run", "5: 0 to 4 (ended)", "TRAIN, EVAL", "worker_0", "gradient/fc.weight"):
        assert text in page.texts
    assert page.seen.count("svg") == 3
    assert "0.2" in page.texts


def test_a_tensor_shows_how_it_went(tmp_path: Path) -> None:
    page = Checked(create_trial(make_run(tmp_path / "run")).tensor("loss")._repr_html_())
    assert "svg" in page.seen
    assert "0.2 to 1" in page.texts


def test_names_are_escaped(tmp_path: Path) -> None:
    bad = "<script>alert('&')</script>"
    with NativeRun(tmp_path / "run") as run:
        run.save_step({bad: np.float32(1)})
    trial = create_trial(tmp_path / "run", name="<b>")
    for shown in (
        trial._repr_html_(),
        trial.tensor(bad)._repr_html_(),
        Collection(bad, include_regex=bad, tensor_names={bad})._repr_html_(),
    ):
        assert "<script" not in shown
        assert bad in "".join(Checked(shown).texts)
    assert "<b>" in Checked(trial._repr_html_()).texts


def test_a_large_run_is_shown_small(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        for _ in range(3):
            run.save_step({f"tensor_{i}_{'x' * 500}": np.float32(i) for i in range(3000)})
    trial = create_trial(tmp_path / "run")
    shown = trial._repr_html_()
    assert len(shown) < 50_000
    assert f"and {3000 - html.MOST_TENSORS} more" in Checked(shown).texts
    collection = Collection("c", tensor_names={f"tensor_{i}" for i in range(3000)})
    assert len(collection._repr_html_()) < 20_000


def test_a_large_value_is_not_read(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"large": np.zeros(html.MOST_BYTES), "small": np.zeros(3)})
    (events,) = (tmp_path / "run/events").rglob("*.tfevents")
    content = bytearray(events.read_bytes())
    content[len(content) // 2] ^= 1
    events.write_bytes(content)
    trial = create_trial(tmp_path / "run")
    assert Checked(trial._repr_html_()).seen.count("svg") == 1
    assert trial.damage() == []


def test_what_cannot_be_drawn_is_left_out(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"words": ["a"], "empty": np.zeros((0, 2)), "nan": np.float64("nan")})
    page = Checked(create_trial(tmp_path / "run")._repr_html_())
    assert "svg" not in page.seen
    assert {"words", "empty", "nan"} <= set(page.texts)


def test_a_run_without_steps_is_shown(tmp_path: Path) -> None:
    collections = tmp_path / "collections/000000000/worker_0_collections.json"
    collections.parent.mkdir(parents=True)
    collections.write_text('{"collections": {}, "_meta": {"num_workers": 1}}')
    assert "none" in Checked(create_trial(tmp_path)._repr_html_()).texts


@pytest.mark.parametrize(
    ("values", "elements"),
    [
        ([1, 2, 3], {"polyline": 1}),
        ([1], {"circle": 1}),
        ([1, float("nan"), 2, 3], {"circle": 1, "polyline": 1}),
        ([1e308, -1e308], {"polyline": 1}),
        ([5, 5, 5], {"polyline": 1}),
        ([5e-324, 0], {"polyline": 1}),
    ],
)
def test_sparklines(values: list[float], elements: dict[str, int]) -> None:
    drawn = html.sparkline(values)
    page = Checked(drawn)
    assert {tag: page.seen.count(tag) for tag in ("polyline", "circle") if tag in page.seen} == (
        elements
    )
    assert "nan" not in drawn
    assert "inf" not in drawn


@pytest.mark.parametrize("values", [[], [float("nan")], [float("inf"), float("-inf")]])
def test_nothing_to_draw(values: list[float]) -> None:
    assert html.sparkline(values) == ""
