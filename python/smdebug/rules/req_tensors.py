"""The tensors that a rule needs at a step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from smdebug._internal.checks import integers, refuse_type
from smdebug._internal.passed_on import passed_on

if TYPE_CHECKING:
    from smdebug.trials.tensor import Tensor
    from smdebug.trials.trial import Trial

__getattr__ = passed_on(__name__)


class RequiredTensorsForTrial:
    """Tensors of one trial, each with the steps it is needed at."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._steps: dict[str, list[int]] = {}

    def add(self, name: str, steps: Iterable[int], should_match_regex: bool = False) -> None:
        """Adds a tensor, or all that a regex matches; TensorUnavailable for an unknown one."""
        if should_match_regex:
            names = self.trial.tensor_names(regex=name)
        else:
            names = [self.trial.tensor(name).name]
        needed = integers("steps", steps)
        for found in names:
            self._steps.setdefault(found, []).extend(needed)

    def get(self) -> list[Tensor]:
        """The tensors, in the order they were added."""
        return [self.trial.tensor(name) for name in self._steps]

    def get_names(self) -> list[str]:
        """Their names."""
        return list(self._steps)

    def get_tensor_steps(self, name: str) -> list[int]:
        """The steps that a tensor is needed at."""
        return list(self._steps.get(name, ()))

    def clear(self) -> None:
        """Forgets all."""
        self._steps.clear()

    def fetch(self) -> None:
        """Waits for the steps, and reads each tensor at its own."""
        needed = sorted({step for steps in self._steps.values() for step in steps})
        self.trial.wait_for_steps(needed)
        for name, steps in self._steps.items():
            tensor = self.trial.tensor(name)
            for step in steps:
                tensor.value(step)


def list_of_trials(key: str, given: object) -> list[Trial]:
    """The trials in a list or a tuple, or the only one; None has none."""
    if given is None:
        return []
    trials: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    for trial in trials:
        if not hasattr(trial, "tensor_names"):
            refuse_type(key, trial, "a trial, or a list of them")
    return trials


class RequiredTensors:
    """Tensors of several trials; None stands for the first."""

    def __init__(self, base_trial: Trial, other_trials: Trial | list[Trial] | None = None) -> None:
        self._base = base_trial
        self._by_trial = {
            trial: RequiredTensorsForTrial(trial)
            for trial in [base_trial, *list_of_trials("other_trials", other_trials)]
        }

    def _of(self, trial: Trial | None) -> RequiredTensorsForTrial:
        return self._by_trial[self._base if trial is None else trial]

    def add(
        self,
        name: str,
        steps: Iterable[int],
        trial: Trial | None = None,
        should_match_regex: bool = False,
    ) -> None:
        """Adds a tensor, or all that a regex matches; TensorUnavailable for an unknown one."""
        self._of(trial).add(name, steps, should_match_regex)

    def get(self, trial: Trial | None = None) -> list[Tensor]:
        """The tensors of a trial, in the order they were added."""
        return self._of(trial).get()

    def get_names(self, trial: Trial | None = None) -> list[str]:
        """Their names."""
        return self._of(trial).get_names()

    def get_tensor_steps(self, name: str, trial: Trial | None = None) -> list[int]:
        """The steps that a tensor is needed at."""
        return self._of(trial).get_tensor_steps(name)

    def clear(self) -> None:
        """Forgets all."""
        for tensors in self._by_trial.values():
            tensors.clear()

    def fetch(self) -> None:
        """Waits for the steps, and reads each tensor at its own.

        TensorUnavailableForStep if one has no value there.
        """
        for tensors in self._by_trial.values():
            tensors.fetch()
