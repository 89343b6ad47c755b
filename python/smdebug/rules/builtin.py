"""The built-in rules, as classes.

A class takes the trial, then the rule's own parameters in the order of its table, which
`smdebug rules <Name>` shows: VanishingGradient(trial, threshold=1e-6). A parameter is a
text, as evaluators give it, or what the text stands for; None is its default.
"""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any, ClassVar

from smdebug import _core
from smdebug.core.modes import ModeKeys
from smdebug.rules.finding import Finding
from smdebug.rules.rule import Rule

if TYPE_CHECKING:
    from smdebug.trials.trial import Trial


class BuiltInRule(Rule):
    """A rule of the core, asked about steps of a trial.

    Rules remember what they saw: steps that were saved between two that are asked for are
    judged too, and asking for an earlier step begins anew there. SMDebugValueError for
    a parameter that is not allowed, InsufficientInformationForRuleInvocation for one that is
    missing, or if the rule cannot go on. One thread at a time.
    """

    parameters: ClassVar[dict[str, str | None]] = {}
    """The rule's own parameters, in order, with their defaults."""
    _lists: ClassVar[set[str]] = set()

    def __init__(
        self,
        base_trial: Trial,
        *values: Any,
        action_str: str | None = "",
        other_trials: list[Trial] | None = None,
        **named: Any,
    ) -> None:
        given = self._bind(values, named)
        super().__init__(base_trial, action_str, other_trials)
        self.spec = self.rule_name + json.dumps(given)
        self.report["RuleParameters"] = json.dumps(given)
        self.findings: list[Finding] = []
        """Of the step that was judged last."""
        self._reader: object = None
        self._judge: _core.StepJudge | None = None
        self._prepare()

    @classmethod
    def _bind(cls, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        names = list(cls.parameters)
        if len(values) > len(names):
            raise TypeError(f"{cls.__name__} takes {len(names)} parameters, not {len(values)}")
        for name in names[: len(values)]:
            if name in named:
                raise TypeError(f"{cls.__name__} got two values of {name}")
        for name in named:
            if name not in names:
                raise TypeError(
                    f"{cls.__name__} has no parameter {name}; it has {', '.join(names)}"
                    f"{_core.did_you_mean(name, names)}"
                )
        given = {**dict(zip(names, values)), **named}
        return {
            name: _items(value, name in cls._lists)
            for name, value in given.items()
            if value is not None
        }

    def _prepare(self) -> _core.StepJudge:
        reader = self.base_trial._reader
        if self._judge is None or reader is not self._reader:
            others = [trial._place for trial in self.other_trials or []]
            self._judge = _core.step_judge(reader, self.spec, others)
            self._reader = reader
        return self._judge

    def invoke_at_step(self, step: int) -> bool:
        """Whether the rule finds anything at a global step; `findings` has what."""
        self.findings = [
            Finding(found[0], ModeKeys(found[1]), *found[2:])
            for found in self._prepare().check(step)
        ]
        self.report["Datapoints"] += 1
        if self.findings:
            self.report["RuleTriggered"] += 1
            self.report["Violations"] += len(self.findings)
        return bool(self.findings)

    def files(self) -> dict[str, str]:
        """Name and content of what the rule has to show of the steps that it judged.

        Empty if nothing has changed since the last call; most rules have findings alone.
        """
        return self._prepare().files()

    def _evidence(self) -> list[Finding]:
        return [*self.findings, *super()._evidence()]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_reader": None, "_judge": None}


def _items(value: object, is_list: bool) -> str | list[str]:
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_text(item) for item in value]
    if is_list and isinstance(value, str):
        return [item.strip() for item in value.split(",") if item.strip()]
    return _text(value)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _signature(names: list[str]) -> inspect.Signature:
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    alone = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [
            inspect.Parameter("base_trial", either),
            *(inspect.Parameter(name, either, default=None) for name in names),
            inspect.Parameter("action_str", alone, default=""),
            inspect.Parameter("other_trials", alone, default=None),
        ]
    )


_DESCRIPTIONS = {
    # Every rule takes other trials, as trials.
    name: (summary, [p for p in parameters if p[0] != "other_trials"])
    for name, summary, parameters in _core.built_in_rules()
}


def _make(name: str) -> type[BuiltInRule]:
    summary, parameters = _DESCRIPTIONS[name]
    lines = [summary, "", "Parameters:"]
    for parameter, default, meaning, _ in parameters:
        told = "" if default is None else f" Default: {default}."
        lines.append(f"    {parameter}: {meaning}{told}")
    return type(
        name,
        (BuiltInRule,),
        {
            "__doc__": "\n".join(lines),
            "__module__": __name__,
            "__signature__": _signature([parameter[0] for parameter in parameters]),
            "parameters": {parameter[0]: parameter[1] for parameter in parameters},
            "_lists": {parameter[0] for parameter in parameters if parameter[3]},
        },
    )


AllZero = _make("AllZero")
CheckInputImages = _make("CheckInputImages")
ClassImbalance = _make("ClassImbalance")
Confusion = _make("Confusion")
CreateXgboostReport = _make("CreateXgboostReport")
DeadRelu = _make("DeadRelu")
ExplodingTensor = _make("ExplodingTensor")
FeatureImportanceOverweight = _make("FeatureImportanceOverweight")
LossNotDecreasing = _make("LossNotDecreasing")
NLPSequenceRatio = _make("NLPSequenceRatio")
Overfit = _make("Overfit")
Overtraining = _make("Overtraining")
PoorWeightInitialization = _make("PoorWeightInitialization")
SaturatedActivation = _make("SaturatedActivation")
SimilarAcrossRuns = _make("SimilarAcrossRuns")
StalledTrainingRule = _make("StalledTrainingRule")
TensorVariance = _make("TensorVariance")
TreeDepth = _make("TreeDepth")
UnchangedTensor = _make("UnchangedTensor")
VanishingGradient = _make("VanishingGradient")
WeightUpdateRatio = _make("WeightUpdateRatio")

BUILT_IN_RULES: dict[str, type[BuiltInRule]] = {
    name: rule
    for name, rule in list(globals().items())
    if isinstance(rule, type) and issubclass(rule, BuiltInRule) and rule is not BuiltInRule
}
"""The classes by name."""
