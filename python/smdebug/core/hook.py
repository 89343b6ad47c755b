"""What the hooks of all frameworks have in common."""

from __future__ import annotations

import json
import os
from typing import Any, ClassVar, TypeVar

from smdebug import _core
from smdebug._hook.fail_open import must_raise
from smdebug._hook.values import HookValues
from smdebug._internal.checks import path
from smdebug._internal.passed_on import passed_on
from smdebug.exceptions import RuleEvaluationConditionMet

__getattr__ = passed_on(__name__)

HookType = TypeVar("HookType", bound="BaseHook")


class BaseHook(HookValues):
    """Saves what a training job computes; a framework's Hook knows what that is.

    A configuration that is not allowed is refused here, by an exception. After that nothing is
    raised into the training unless SMDEBUG_STRICT is set: what fails is logged and counted in the
    run's ledger. Collections may be changed until the first step.
    """

    # What names of tensors are made of.
    INPUT_TENSOR_SUFFIX: ClassVar[str] = "_input_"
    OUTPUT_TENSOR_SUFFIX: ClassVar[str] = "_output_"
    GRADIENT_PREFIX: ClassVar[str] = "gradient/"

    @classmethod
    def create_from_json_file(cls: type[HookType], json_file_path: str | None = None) -> HookType:
        """The hook that a JSON file configures.

        Without a path the file is the one that SMDEBUG_CONFIG_FILE_PATH names, else SageMaker's
        own. FileNotFoundError if there is none, SMDebugValueError for what it may not hold.
        """
        given = None if json_file_path is None else path("json_file_path", json_file_path)
        place = _core.hook_config_path(given)
        if not os.path.exists(place):
            raise FileNotFoundError(f"there is no hook configuration at {place}")
        settings, collections = cls._load(place)
        hook = cls(**settings)
        for collection in collections:
            hook.add_collection(cls._collection_class.from_json(collection))
        return hook

    @classmethod
    def hook_from_config(cls: type[HookType], json_config_path: str | None = None) -> HookType:
        """The same, by the name that XGBoost hooks have for it."""
        return cls.create_from_json_file(json_config_path)

    # Rules.

    @property
    def rule_fired(self) -> bool:
        """Whether one of the hook's rules has found something so far."""
        return self._guard is not None and self._guard.fired_rules > 0

    @property
    def rule_reports(self) -> list[dict[str, Any]]:
        """What each of the hook's rules has found, with the keys of `smdebug check --json`."""
        reports = [] if self._guard is None else self._guard.reports()
        return [json.loads(report) for report in reports]

    def _heed_rules(self) -> None:
        """Raises if a rule has fired since the last call, and that is wanted."""
        guard = self._guard
        if guard is None or not self.stop_on_rule:
            return
        try:
            guard.raise_if_fired()
        except RuleEvaluationConditionMet:
            raise
        except Exception as error:
            if must_raise(self, "rules", error):
                raise

    # What smdebug 1.0 has, and needs nothing here.

    def export_collections(self) -> None:
        """Does nothing: the collections file is written with the first saved step."""

    def record_trace_events(self, *_args: object, **_kwargs: object) -> None:
        """Does nothing: there is no profiler here."""

    def log_outstanding_timeline_metrics(self) -> None:
        """Does nothing: there is no profiler here."""
