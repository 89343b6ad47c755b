"""Values that the training script itself saves with a hook."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from smdebug._hook.arrays import one_number
from smdebug._hook.fail_open import counts_late
from smdebug._hook.life import HookLife
from smdebug._internal.checks import flag, integer, names, refuse_type, text
from smdebug.exceptions import SMDebugError


class HookValues(HookLife):
    """Saves scalars and tensors by name."""

    SCALAR_PREFIX: ClassVar[str] = "scalar/"

    @counts_late
    def save_scalar(
        self,
        name: str,
        value: object,
        sm_metric: bool = False,
        timestamp: float | None = None,
        *,
        step: int | None = None,
    ) -> None:
        """Saves one number at the current step, whatever the schedules say, as scalar/<name>.

        `timestamp` is in seconds since the epoch; now by default. `sm_metric` puts it into the
        collection `sm_metrics`; there is no SageMaker to send it to. `step` is another step,
        counted as `hook.step` is: one that is over, or one to come, which the scalar waits for.
        """
        core = self._prepare()
        if core is None:
            return
        text("name", name, "a name")
        try:
            when = None if timestamp is None else one_number("timestamp", timestamp)
            at = None if step is None else integer("step", step, "a whole number of at least 0")
            is_metric = flag("sm_metric", sm_metric)
            if self._save_number_elsewhere(name, value, when, at, is_metric):
                return
            number = one_number("value", value)
        except SMDebugError as wrong:
            if self._leave_out(f"{self.SCALAR_PREFIX}{name}", wrong):
                raise
            return
        core.save_scalar(name, number, when, at, is_metric)

    def _save_number_elsewhere(
        self,
        name: str,  # noqa: ARG002
        value: object,  # noqa: ARG002
        timestamp: float | None,  # noqa: ARG002
        step: int | None,  # noqa: ARG002
        is_metric: bool,  # noqa: ARG002
    ) -> bool:
        """Whether a framework's hook saves the number itself, since it is elsewhere."""
        return False

    @counts_late
    def save_tensor(
        self,
        tensor_name: str,
        tensor_value: object,
        collections_to_write: str | Iterable[str] = "default",
    ) -> None:
        """Saves a tensor under each of the named collections.

        It belongs to the current step, or to the next one if it comes between two steps: before
        the first, or where a framework's hook can tell. Each collection's own schedule and
        reductions count; one that is missing is made.
        """
        core = self._prepare()
        if core is None:
            return
        text("tensor_name", tensor_name)
        if collections_to_write is None:
            refuse_type("collections_to_write", None, "a name, or a list of names")
        collections = names("collections_to_write", collections_to_write)
        for name in collections:
            if name not in self.collection_manager.collections:
                made = self._collection_class(name, tensor_names={tensor_name})
                self.collection_manager.add(made)
        next_step = self._belongs_to_next_step()
        core.save_tensor(tensor_name, tensor_value, collections, next_step)

    def _belongs_to_next_step(self) -> bool:
        """Whether a tensor that is saved now waits for the step that begins next."""
        return not self._has_begun

    def should_save_tensor_or_collection(self, tensor_name: str, collection_name: str) -> bool:
        """Whether the tensor is saved at the current step. `collection_name` is not needed."""
        del collection_name
        if self._core is None or not isinstance(tensor_name, str):
            return False
        return self._core.are_due([tensor_name])[0]
