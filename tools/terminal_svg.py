#!/usr/bin/env python3
"""Draws what commands print in a terminal as an SVG, for the documents.

tools/terminal_svg.py [--columns N] PICTURE.svg COMMAND...

Each COMMAND is a line for the shell, shown after a prompt and run in a real terminal (a pty) with
that many columns, so that colours and views drawn in place are those a user sees. A line that ends
in `&` runs in the background until the picture is made, and its output is not shown. The picture
has light and dark colours and follows the reader's choice.

The one in README.md, after `make demo`:

  PATH="$PWD/.venv-torch/bin:$PWD/build/release/bin:$PATH"
  rm -rf /tmp/demo && cp -r examples/pytorch /tmp/demo && picture="$PWD/docs/figures/demo.svg"
  tool="$PWD/tools/terminal_svg.py" && cd /tmp/demo && "$tool" --columns 124 "$picture" \\
    'python goes_wrong.py --out-dir run &' \\
    'smdebug watch run --rule VanishingGradient:start_step=100 --action stop' \\
    'smdebug check run --rule VanishingGradient:start_step=100 | head -n 3'
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from html import escape
from pathlib import Path

PROMPT = "$ "
COLUMN = 8.4  # Width of a character of 14 pixels.
ROW = 20
MARGIN = 16
CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b[()][A-Za-z0-9]|\x1b.")
COLOURS = {31: "red", 32: "green", 33: "yellow", 34: "blue", 35: "magenta", 36: "cyan"}
STYLE = """
.page { fill: #ffffff; stroke: #d0d7de }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328 }
.bold { font-weight: bold } .dim, .prompt { fill: #656d76 }
.red { fill: #cf222e } .green { fill: #116329 } .yellow { fill: #7d4e00 }
.blue { fill: #0550ae } .magenta { fill: #8250df } .cyan { fill: #1b7c83 }
@media (prefers-color-scheme: dark) {
  .page { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 }
  .dim, .prompt { fill: #8d96a0 }
  .red { fill: #ff7b72 } .green { fill: #3fb950 } .yellow { fill: #d29922 }
  .blue { fill: #58a6ff } .magenta { fill: #bc8cff } .cyan { fill: #39c5cf }
}
"""


class Screen:
    """The lines of a terminal that scrolls nothing away; a cell is a character and its classes."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.lines: list[list[tuple[str, str]]] = [[]]
        self._row = 0
        self._column = 0
        self._classes: set[str] = set()

    def write(self, text: str) -> None:
        """Takes what a program sends, control sequences included."""
        at = 0
        while at < len(text):
            control = CONTROL.match(text, at)
            if control is None:
                self._put(text[at])
                at += 1
                continue
            if control[2]:
                self._obey(control[1], control[2])
            at = control.end()

    def show(self, text: str, name: str = "") -> None:
        """Writes text of one class, as the prompt."""
        before, self._classes = self._classes, {name} - {""}
        self.write(text)
        self._classes = before

    def _put(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._go_to(self._row + 1, 0)
        elif character == "\b":
            self._column = max(0, self._column - 1)
        elif character >= " ":
            if self._column >= self.columns:
                self._go_to(self._row + 1, 0)
            line = self.lines[self._row]
            line.extend([(" ", "")] * (self._column + 1 - len(line)))
            line[self._column] = (character, " ".join(sorted(self._classes)))
            self._column += 1

    def _go_to(self, row: int, column: int) -> None:
        self._row = max(0, row)
        self._column = max(0, column)
        self.lines.extend([] for _ in range(self._row + 1 - len(self.lines)))

    def _obey(self, arguments: str, command: str) -> None:
        numbers = [int(number) for number in re.findall(r"\d+", arguments)]
        count = max(1, numbers[0]) if numbers else 1
        if command == "A":
            self._go_to(self._row - count, self._column)
        elif command == "B":
            self._go_to(self._row + count, self._column)
        elif command == "C":
            self._column += count
        elif command == "D":
            self._column = max(0, self._column - count)
        elif command == "G":
            self._column = count - 1
        elif command == "K":
            del self.lines[self._row][self._column :]
        elif command == "J":
            del self.lines[self._row][self._column :]
            del self.lines[self._row + 1 :]
        elif command == "m":
            self._colour(numbers or [0])

    def _colour(self, numbers: list[int]) -> None:
        for number in numbers:
            if number == 0:
                self._classes.clear()
            elif number == 1:
                self._classes.add("bold")
            elif number == 2:
                self._classes.add("dim")
            elif number == 22:
                self._classes -= {"bold", "dim"}
            elif 30 <= number <= 39 or 90 <= number <= 97:
                self._classes -= set(COLOURS.values())
                self._classes |= {COLOURS.get(number if number < 90 else number - 60, "")} - {""}


def run(command: str, screen: Screen) -> None:
    """Runs a line in a terminal of the screen's width and shows what it prints."""
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, screen.columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        ["bash", "-c", command],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=environment,
        start_new_session=True,
    )
    os.close(terminal)
    sent = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:  # The last program that held the terminal has ended.
            break
        if not part:
            break
        sent += part
    os.close(reader)
    process.wait()
    screen.write(sent.decode("utf-8", "replace"))


def play(commands: list[str], columns: int) -> Screen:
    """The screen after all commands."""
    screen = Screen(columns)
    background = []
    for command in commands:
        screen.show(PROMPT, "prompt")
        screen.show(command, "bold")
        screen.write("\r\n")
        if command.rstrip().endswith("&"):
            line = "exec " + command.rstrip()[:-1]
            quiet = subprocess.DEVNULL
            background.append(
                subprocess.Popen(["bash", "-c", line], stdin=quiet, stdout=quiet, stderr=quiet)
            )
        else:
            run(command, screen)
    for process in background:
        process.terminate()
        process.wait()
    return screen


def runs_of(line: list[tuple[str, str]]) -> list[tuple[int, str, str]]:
    """The parts of a line that look alike: column, text, classes."""
    parts: list[tuple[int, str, str]] = []
    for column, (character, classes) in enumerate(line):
        if parts and parts[-1][2] == classes:
            first, text, _ = parts[-1]
            parts[-1] = (first, text + character, classes)
        else:
            parts.append((column, character, classes))
    return [(column, text, classes) for column, text, classes in parts if text.strip()]


def draw(screen: Screen) -> str:
    """The screen as an SVG."""
    lines = list(screen.lines)
    while lines and not any(character.strip() for character, _ in lines[-1]):
        lines.pop()
    width = round(screen.columns * COLUMN + 2 * MARGIN)
    height = len(lines) * ROW + 2 * MARGIN
    shown = "\n".join("".join(character for character, _ in line).rstrip() for line in lines)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">',
        f"<title>A terminal</title><desc>{escape(shown)}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>',
    ]
    for row, line in enumerate(lines):
        for column, text, classes in runs_of(line):
            indent = len(text) - len(text.lstrip())
            text = text.strip()
            named = f' class="{classes}"' if classes else ""
            drawn.append(
                f'<text x="{MARGIN + (column + indent) * COLUMN:.1f}" '
                f'y="{MARGIN + row * ROW + 15}" textLength="{len(text) * COLUMN:.1f}" '
                f'xml:space="preserve"{named}>{escape(text)}</text>'
            )
    return "\n".join([*drawn, "</svg>", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--columns", type=int, default=100, help="width of the terminal")
    parser.add_argument("picture", type=Path, help="the SVG to write")
    parser.add_argument("command", nargs="+", help="a line for the shell")
    arguments = parser.parse_args()
    arguments.picture.write_text(draw(play(arguments.command, arguments.columns)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
