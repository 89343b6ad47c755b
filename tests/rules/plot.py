"""Small charts as SVG files that can be read on light and on dark paper."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from html import escape

Points = list[tuple[int, float]]
Scale = Callable[[float], float]

_WIDTH, _HEIGHT = 520, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 510, 26, 178
_MOST_POINTS = 120
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.t{font-weight:600}.g{stroke:#9996}"
    ".a{stroke:#777;fill:none}.l{fill:none;stroke-width:2}.f{stroke:#b8460e}"
    ".h{stroke:#1f62a8;stroke-dasharray:7 3}.d{fill:#b8460e}.m{stroke:#777;stroke-dasharray:2 3}"
    "@media (prefers-color-scheme:dark){text{fill:#ddd}.f{stroke:#f2a36b}.d{fill:#f2a36b}"
    ".h{stroke:#7ab4f0}}"
)


@dataclasses.dataclass
class Chart:
    """A statistic over the steps: of a faulty run first, then of its healthy twin."""

    title: str
    label: str
    threshold: float | None = None
    log: bool = False
    fired: list[int] = dataclasses.field(default_factory=list)
    lines: list[tuple[str, Points]] = dataclasses.field(default_factory=list)

    def add(self, name: str, points: Points) -> None:
        self.lines.append((name, points))

    def _scale(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def _range(self) -> tuple[float, float]:
        values = [y for _, points in self.lines for _, y in points]
        values += [self.threshold] if self.threshold is not None else []
        scaled = [self._scale(y) for y in values if not self.log or y > 0]
        low, high = min(scaled, default=0), max(scaled, default=1)
        if self.log:
            # Room below for zeros, which have no logarithm.
            return math.floor(low) - 1, math.ceil(high)
        return min(low, 0), high if high > min(low, 0) else min(low, 0) + 1

    def svg(self) -> str:
        low, high = self._range()
        last = max((step for _, points in self.lines for step, _ in points), default=1) or 1

        def x(step: float) -> float:
            return _LEFT + (_RIGHT - _LEFT) * step / last

        def y(value: float) -> float:
            scaled = low if self.log and value <= 0 else self._scale(value)
            return _BOTTOM - (_BOTTOM - _TOP) * (scaled - low) / (high - low)

        title = escape(self.title)
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
            f"<title>{title}: {escape(self.label)} over the steps</title><style>{_STYLE}</style>",
            f'<text class="t" x="{_LEFT}" y="14">{escape(self.label)}</text>',
        ]
        for tick in self._ticks(low, high):
            at = y(tick)
            out.append(
                f'<path class="g" d="M{_LEFT} {at:.1f}H{_RIGHT}"/>'
                f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{tick:.3g}</text>'
            )
        for part in range(5):
            step = round(last * part / 4)
            out.append(
                f'<text x="{x(step):.1f}" y="{_BOTTOM + 16}" text-anchor="middle">{step}</text>'
            )
        out.append(f'<path class="a" d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"/>')
        out.append(
            f'<text x="{(_LEFT + _RIGHT) / 2}" y="{_BOTTOM + 34}" text-anchor="middle">step</text>'
        )
        if self.threshold is not None:
            out.append(f'<path class="m" d="M{_LEFT} {y(self.threshold):.1f}H{_RIGHT}"/>')
        legend = _LEFT
        for (name, points), kind in zip(self.lines, "fh"):
            stride = len(points) // _MOST_POINTS + 1
            places = " ".join(f"{x(step):.1f},{y(value):.1f}" for step, value in points[::stride])
            out.append(f'<polyline class="l {kind}" points="{places}"/>')
            out.append(
                f'<path class="l {kind}" d="M{legend} 228h22"/>'
                f'<text x="{legend + 28}" y="232">{escape(name)}</text>'
            )
            legend += 150
        out.append(self._dots(x, y, legend))
        if self.threshold is not None:
            out.append(
                f'<path class="m" d="M{legend + 60} 228h22"/>'
                f'<text x="{legend + 88}" y="232">{self.threshold:g}</text>'
            )
        return "".join([*out, "</svg>\n"])

    def _dots(self, x: Scale, y: Scale, legend: float) -> str:
        """Where the rule fires."""
        points = self.lines[0][1]
        # A rule may fire at a step after the one that it is about.
        places = [max((p for p in points if p[0] <= step), default=None) for step in self.fired]
        dots = sorted({place for place in places if place is not None})
        out = [
            f'<circle class="d" cx="{x(step):.1f}" cy="{y(value):.1f}" r="3"/>'
            for step, value in dots[:: len(dots) // 40 + 1]
        ]
        if dots:
            out.append(f'<circle class="d" cx="{legend + 4}" cy="228" r="3"/>')
            out.append(f'<text x="{legend + 12}" y="232">fires</text>')
        return "".join(out)

    def _ticks(self, low: float, high: float) -> list[float]:
        if self.log:
            every = max(1, math.ceil((high - low) / 5))
            return [10.0**power for power in range(math.ceil(low), int(high) + 1, every)]
        rough = (high - low) / 4
        power = 10 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
        return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
