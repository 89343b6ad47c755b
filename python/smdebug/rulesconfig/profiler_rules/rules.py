"""The rules about the machine, each with its parameters."""

from __future__ import annotations

from typing import Any, ClassVar

_MINUTE_US = 60_000_000


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments among the local variables of a constructor that has no others."""
    return {name: given[name] for name in given if name not in ("self", "__class__")}


class ProfilerRuleBase:
    """A rule by the name of its class, and its parameters.

    AssertionError for a parameter out of range.
    """

    # Parameters from 0 to 100. The other numbers are above 0.
    percentages: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **rule_parameters: Any) -> None:
        self.rule_name = type(self).__name__
        for name, value in rule_parameters.items():
            self._check(name, value)
        self.rule_parameters = {**rule_parameters, "rule_to_invoke": self.rule_name}

    def _check(self, name: str, value: Any) -> None:
        if name == "mode":
            fits, allowed = value is None or isinstance(value, str), "a string or None"
        elif name in self.percentages:
            fits, allowed = 0 <= value <= 100, "0 to 100"
        else:
            fits, allowed = value > 0, "above 0"
        if not fits:
            raise AssertionError(f"{self.rule_name}: {name} is {value!r}; allowed: {allowed}")


class BatchSize(ProfilerRuleBase):
    """Fires if the batch is so small that CPU, GPU and its memory are idle."""

    percentages = frozenset({"cpu_threshold_p95", "gpu_threshold_p95", "gpu_memory_threshold_p95"})

    def __init__(
        self,
        cpu_threshold_p95: float = 70,
        gpu_threshold_p95: float = 70,
        gpu_memory_threshold_p95: float = 70,
        patience: int = 1000,
        window: int = 500,
        scan_interval_us: int = _MINUTE_US,
    ) -> None:
        super().__init__(**_parameters(locals()))


class CPUBottleneck(ProfilerRuleBase):
    """Fires if GPUs wait for the CPU."""

    percentages = frozenset({"threshold", "gpu_threshold", "cpu_threshold"})

    def __init__(
        self,
        threshold: float = 50,
        gpu_threshold: float = 10,
        cpu_threshold: float = 90,
        patience: int = 1000,
        scan_interval_us: int = _MINUTE_US,
    ) -> None:
        super().__init__(**_parameters(locals()))


class Dataloader(ProfilerRuleBase):
    """Fires if data loaders use too few or too many cores."""

    def __init__(
        self,
        min_threshold: float = 70,
        max_threshold: float = 200,
        scan_interval_us: int = _MINUTE_US,
    ) -> None:
        super().__init__(**_parameters(locals()))
        self.min_threshold = min_threshold
        self.max_threshold = max_threshold
        self.scan_interval_us = scan_interval_us


class GPUMemoryIncrease(ProfilerRuleBase):
    """Fires if memory in use on a GPU grows."""

    def __init__(
        self,
        increase: float = 5,
        patience: int = 1000,
        window: int = 10,
        scan_interval_us: int = _MINUTE_US,
    ) -> None:
        super().__init__(**_parameters(locals()))


class IOBottleneck(ProfilerRuleBase):
    """Fires if GPUs wait for input and output."""

    percentages = frozenset({"threshold", "gpu_threshold", "io_threshold"})

    def __init__(
        self,
        threshold: float = 50,
        gpu_threshold: float = 10,
        io_threshold: float = 50,
        patience: int = 1000,
        scan_interval_us: int = _MINUTE_US,
    ) -> None:
        super().__init__(**_parameters(locals()))


class LoadBalancing(ProfilerRuleBase):
    """Fires if GPUs share the work unevenly."""

    percentages = frozenset({"threshold"})

    def __init__(
        self, threshold: float = 0.5, patience: int = 1000, scan_interval_us: int = _MINUTE_US
    ) -> None:
        super().__init__(**_parameters(locals()))


class LowGPUUtilization(ProfilerRuleBase):
    """Fires if a GPU is idle or its use goes up and down."""

    percentages = frozenset({"threshold_p95", "threshold_p5"})

    def __init__(
        self,
        threshold_p95: float = 70,
        threshold_p5: float = 10,
        window: int = 500,
        patience: int = 1000,
        scan_interval_us: int = _MINUTE_US,
    ) -> None:
        super().__init__(**_parameters(locals()))


class MaxInitializationTime(ProfilerRuleBase):
    """Fires if no step has come for `threshold` minutes."""

    def __init__(self, threshold: float = 20, scan_interval_us: int = _MINUTE_US) -> None:
        super().__init__(**_parameters(locals()))


class OverallSystemUsage(ProfilerRuleBase):
    """Never fires; reports how much each machine is used."""

    def __init__(self, scan_interval_us: int = _MINUTE_US) -> None:
        super().__init__(**_parameters(locals()))


class StepOutlier(ProfilerRuleBase):
    """Fires if steps take much longer than others."""

    def __init__(
        self,
        stddev: float = 3,
        mode: str | None = None,
        n_outliers: int = 10,
        scan_interval_us: int = _MINUTE_US,
    ) -> None:
        super().__init__(**_parameters(locals()))


_REPORTED: tuple[type[ProfilerRuleBase], ...] = (
    BatchSize,
    CPUBottleneck,
    Dataloader,
    GPUMemoryIncrease,
    IOBottleneck,
    LoadBalancing,
    LowGPUUtilization,
    MaxInitializationTime,
    OverallSystemUsage,
    StepOutlier,
)


class ProfilerReport(ProfilerRuleBase):
    """Runs all the rules about the machine and writes a report.

    Parameters of the rules are given as `<rule>_<parameter>`, with the name of the
    rule in any letter case: AssertionError for an unknown rule or a value out of
    range, TypeError for an unknown parameter. With `opt_out_telemetry` they stand
    together below `custom_rule_parameters`.
    """

    def __init__(self, *, opt_out_telemetry: bool | None = None, **rule_parameters: Any) -> None:
        custom = {}
        for key, value in rule_parameters.items():
            rule, parameter = self._find(key)
            rule(**{parameter: value})
            custom[f"{rule.__name__}_{parameter}"] = value
        super().__init__()
        if opt_out_telemetry is None:
            self.rule_parameters = {**rule_parameters, **self.rule_parameters}
        else:
            self.rule_parameters["opt_out_telemetry"] = bool(opt_out_telemetry)
            self.rule_parameters["custom_rule_parameters"] = custom

    @staticmethod
    def _find(key: str) -> tuple[type[ProfilerRuleBase], str]:
        name, separator, parameter = key.partition("_")
        for rule in _REPORTED:
            if separator and rule.__name__.lower() == name.lower():
                return rule, parameter.lower()
        names = ", ".join(rule.__name__ for rule in _REPORTED)
        raise AssertionError(f"{key} is not <rule>_<parameter> with a rule of: {names}")
