"""A hook that a training loop calls back."""

from __future__ import annotations

from typing import Any, Callable

from smdebug import _core
from smdebug.core.hook import BaseHook

# Saves a part of a round: is given the core's hook, and what the loop hands over.
Part = Callable[..., None]

# The most that the end of a training waits for the writer.
SECONDS_TO_PUBLISH = 60


class RoundHook(BaseHook):
    """A hook whose steps are the rounds of a loop, which calls it back.

    What saves a round are its parts, each of which is called only where one of its names is due.
    """

    def _set_up(self) -> None:
        self._start_over()
        super()._set_up()

    def _start_over(self) -> None:
        """No training has begun, and nothing was told."""
        self._told: set[str] = set()
        self._first_step = 0
        self._forget_names()

    def _begin_training(self) -> None:
        """Starts a training; what was trained before with the same hook keeps its steps."""
        self._first_step = self.step + 1
        self._forget_names()

    def _forget_names(self) -> None:
        self._known_names: dict[tuple[str, ...], _core.TensorNames] = {}
        # What saves a round, by the core's due_key.
        self._parts: dict[int, list[Part]] = {}

    def _end_training(self) -> None:
        """Publishes what was saved; the next training goes on with the steps."""
        if self._came_from_elsewhere:
            self.close()  # Nobody else knows of it.
        else:
            self.flush(timeout=SECONDS_TO_PUBLISH)
            self._heed_rules()

    def _due_parts(
        self, core: _core.Hook, names_of: Callable[[], dict[Part, list[str]]]
    ) -> list[Part]:
        """What saves the current round, of parts with the names of what each saves.

        It is the same for all rounds at which the same is due.
        """
        parts = self._parts.get(core.due_key)
        if parts is None:
            parts = [part for part, names in names_of().items() if any(core.are_due(names))]
            self._parts[core.due_key] = parts
        return parts

    def _handles(self, names: tuple[str, ...]) -> _core.TensorNames:
        """What the core knows `names` by, which it need not look up again."""
        if names not in self._known_names:
            self._known_names[names] = _core.TensorNames(names)
        return self._known_names[names]

    def _tell_once(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            self.logger.warning(words)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._start_over()
