"""Everything that smdebug raises, with the names and fields of smdebug 1.0."""

from __future__ import annotations

from smdebug._internal.passed_on import passed_on
from smdebug.core.modes import ModeKeys

__getattr__ = passed_on(__name__)


class SMDebugError(Exception):
    """The root of what smdebug raises."""


class SMDebugCustomerError(SMDebugError):
    """An error in what the user asked for."""


class SMDebugTypeError(SMDebugError, TypeError):
    """A value of a type that is not allowed."""


class SMDebugRuntimeError(SMDebugError, RuntimeError):
    """A failure at run time: a damaged file, a folder that is in use.

    Of a damaged file `file` is its name below the run, `reason` what is wrong with it and `kind`
    the sort of damage; else they are empty.
    """

    file = ""
    reason = ""
    kind = ""


class SMDebugNotImplementedError(SMDebugError, NotImplementedError):
    """A call that exists by name only."""


class SMDebugValueError(SMDebugError, ValueError):
    """A value that is not allowed."""


class InvalidCollectionConfiguration(SMDebugError):
    """A collection to be saved has neither a regex nor tensor names."""

    hint = ""  # What may have been meant.

    def __init__(self, c_name: str, hint: str = "") -> None:
        self.c_name = c_name
        if hint:
            self.hint = hint
        super().__init__(c_name)

    def __str__(self) -> str:
        return (
            f"collection '{self.c_name}' has neither include_regex nor tensor_names, so no tensor "
            "could ever be in it" + (f"; {self.hint}" if self.hint else "")
        )


class StepNotYetAvailable(SMDebugError):
    """The step may still be saved."""

    def __init__(self, step: int, mode: ModeKeys) -> None:
        self.step = step
        self.mode = mode
        super().__init__(step, mode)

    def __str__(self) -> str:
        return f"Step {self.step} of mode {self.mode.name} not yet available"


class StepUnavailable(SMDebugError):
    """The step was not saved and never will be."""

    def __init__(self, step: int, mode: ModeKeys) -> None:
        self.step = step
        self.mode = mode
        super().__init__(step, mode)

    def __str__(self) -> str:
        return f"Step {self.step} of mode {self.mode.name} is not available as it was not saved"


class TensorUnavailableForStep(SMDebugError):
    """The step has no value of the tensor; it may have reductions of it."""

    hint = ""  # What to look at instead.
    missing_file = ""  # That the index names.

    def __init__(
        self,
        tname: str,
        step: int,
        mode: ModeKeys = ModeKeys.GLOBAL,
        has_reductions: bool = False,
        hint: str = "",
        missing_file: str = "",
    ) -> None:
        self.tname = tname
        self.step = step
        self.mode = mode
        self.has_reductions = has_reductions
        if hint:
            self.hint = hint
        if missing_file:
            self.missing_file = missing_file
        super().__init__(tname, step, mode, has_reductions)

    def __str__(self) -> str:
        why = (
            f"{self.missing_file} is missing, but the index names it"
            if self.missing_file
            else "it was not saved"
        )
        text = (
            f"Value for tensor {self.tname} is not available for step {self.step} with mode "
            f"{self.mode.name} as {why}."
        )
        if self.has_reductions:
            text += " There are reductions of it at this step, which can be asked for instead."
        if self.hint:
            text += f" {self.hint}"
        return text


class ShapeUnavailableForStep(SMDebugError):
    """The step has neither a shape nor a value of the tensor."""

    def __init__(self, tname: str, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> None:
        self.tname = tname
        self.step = step
        self.mode = mode
        super().__init__(tname, step, mode)

    def __str__(self) -> str:
        return (
            f"Shape for tensor {self.tname} is not available for step {self.step} with mode "
            f"{self.mode.name} as it was not saved"
        )


class TensorUnavailable(SMDebugError):
    """Nothing was saved under the name, at any step."""

    hint = ""  # What to look at instead.

    def __init__(self, tname: str, hint: str = "") -> None:
        self.tname = tname
        if hint:
            self.hint = hint
        super().__init__(tname)

    def __str__(self) -> str:
        return f"Tensor {self.tname} was not saved." + (f" {self.hint}" if self.hint else "")


class InvalidWorker(SMDebugError):
    """The worker has nothing of what was asked for."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        super().__init__(worker)

    def __str__(self) -> str:
        return f"Invalid Worker: {self.worker}"


class NoMoreData(SMDebugError):
    """The job ended before the step."""

    def __init__(self, step: int, mode: ModeKeys, last_step: int) -> None:
        self.step = step
        self.mode = mode
        self.last_step = last_step
        self.msg = (
            f"Looking for step {step} of mode {mode.name} and reached the end of training. "
            f"The last step available is {last_step}"
        )
        super().__init__(step, mode, last_step)

    def __str__(self) -> str:
        return self.msg


class NoMoreProfilerData(SMDebugError):
    """The job ended before the time."""

    def __init__(self, timestamp: int) -> None:
        self.timestamp = timestamp
        self.msg = f"Looking for timestamp {timestamp} and reached the end of training."
        super().__init__(timestamp)

    def __str__(self) -> str:
        return self.msg


class MissingCollectionFiles(SMDebugError):
    """The job ended, and some worker never wrote its collections file: it saved nothing."""

    def __init__(self, message: str = "") -> None:
        super().__init__(*([message] if message else []))

    def __str__(self) -> str:
        return super().__str__() or (
            "Training job has ended. All the collection files could not be loaded"
        )


class IndexReaderException(SMDebugError):
    """An index file is damaged: `file`, `reason` and `kind` as in SMDebugRuntimeError."""

    file = ""
    reason = ""
    kind = ""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)

    def __str__(self) -> str:
        return self.message


class RuleEvaluationConditionMet(SMDebugError):
    """A rule has fired."""

    def __init__(self, rule_name: str, step: int, end_of_rule: bool = False) -> None:
        self.rule_name = rule_name
        self.step = step
        self.end_of_rule = end_of_rule
        super().__init__(rule_name, step, end_of_rule)

    def __str__(self) -> str:
        return (
            f"Evaluation of the rule {self.rule_name} at step {self.step} resulted in the "
            "condition being met"
        )


class InsufficientInformationForRuleInvocation(SMDebugError):
    """A rule was not given what it needs."""

    def __init__(self, rule_name: str, message: str) -> None:
        self.rule_name = rule_name
        self.message = message
        super().__init__(rule_name, message)

    def __str__(self) -> str:
        return f"Insufficient information to invoke rule {self.rule_name}: {self.message}"
