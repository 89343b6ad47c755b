"""terminal_svg.py shows what a terminal would show."""

from __future__ import annotations

import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import terminal_svg  # noqa: E402


def shown(screen: terminal_svg.Screen) -> list[str]:
    return ["".join(character for character, _ in line).rstrip() for line in screen.lines]


class TerminalSvgTest(unittest.TestCase):
    def test_a_view_that_is_drawn_again_replaces_the_one_before(self) -> None:
        screen = terminal_svg.Screen(20)
        screen.write("kept\r\nfirst\r\nview\r\n\x1b[2A\r\x1b[Jsecond\r\n")
        self.assertEqual(shown(screen), ["kept", "second", ""])

    def test_a_long_line_goes_on_in_the_next_row(self) -> None:
        screen = terminal_svg.Screen(4)
        screen.write("abcdef")
        self.assertEqual(shown(screen), ["abcd", "ef"])

    def test_colours_become_classes_until_they_are_reset(self) -> None:
        screen = terminal_svg.Screen(20)
        screen.write("\x1b[31mred\x1b[0m plain")
        self.assertEqual(
            terminal_svg.runs_of(screen.lines[0]), [(0, "red", "red"), (3, " plain", "")]
        )

    def test_commands_run_in_a_terminal_and_the_picture_is_xml(self) -> None:
        screen = terminal_svg.play(["test -t 1 && echo 'a <terminal>'"], 40)
        self.assertIn("a <terminal>", shown(screen))
        root = xml.etree.ElementTree.fromstring(terminal_svg.draw(screen))
        self.assertIn("a <terminal>", [text.text for text in root.iter() if text.text])


if __name__ == "__main__":
    unittest.main()
