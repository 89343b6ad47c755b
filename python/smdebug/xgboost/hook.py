"""The hook for XGBoost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from smdebug import _core
from smdebug._hook.fail_open import fails_once
from smdebug._hook.rounds import Part, RoundHook
from smdebug._hook.settings import Schedule, Setting
from smdebug._hook.worker import Worker
from smdebug._internal.checks import refuse_type
from smdebug._internal.passed_on import passed_on
from smdebug.core.collection import Collection, CollectionKeys
from smdebug.core.modes import ModeKeys
from smdebug.core.save_config import DEFAULT_SAVE_CONFIG_END_STEP as DEFAULT_SAVE_CONFIG_END_STEP
from smdebug.core.save_config import (
    DEFAULT_SAVE_CONFIG_SAVE_STEPS as DEFAULT_SAVE_CONFIG_SAVE_STEPS,
)
from smdebug.core.save_config import (
    DEFAULT_SAVE_CONFIG_START_STEP as DEFAULT_SAVE_CONFIG_START_STEP,
)
from smdebug.core.save_config import SaveConfig
from smdebug.exceptions import SMDebugError
from smdebug.xgboost.data import load_data
from smdebug.xgboost.distributed import find_worker
from smdebug.xgboost.importance import IMPORTANCE_TYPES, FeatureImportance
from smdebug.xgboost.trees import COLUMNS, trees_of_last_round

__getattr__ = passed_on(__name__)

# Why there is no XGBoost, if there is none.
_missing: ImportError | None = None

if TYPE_CHECKING:
    from xgboost.callback import TrainingCallback
else:
    try:
        from xgboost.callback import TrainingCallback
    except ImportError as error:
        TrainingCallback = object
        _missing = error

DEFAULT_INCLUDE_COLLECTIONS = [CollectionKeys.METRICS]
DEFAULT_SAVE_CONFIG_INTERVAL = 10

# What the last column of SHAP values is of.
_BIAS = "bias"


def _schedule(_: str, given: Schedule) -> SaveConfig:
    return SaveConfig.parse(given or SaveConfig(save_interval=DEFAULT_SAVE_CONFIG_INTERVAL))


def _parameters(name: str, given: Any) -> Any:
    if given is not None and not isinstance(given, Mapping):
        refuse_type(name, given, "a dict")
    return given


def _need_xgboost() -> None:
    if _missing is not None:
        raise SMDebugError(
            f"smdebug.xgboost.Hook needs XGBoost 1.7 or later, which is not here: {_missing}"
        ) from _missing


def _data(name: str, given: Any) -> Any:
    _need_xgboost()
    return load_data(name, given)


class _Data(Setting[Any, Any]):
    """A DMatrix, or what one is made of, which is kept until the first round."""

    def __set__(self, instance: object, value: Any) -> None:
        super().__set__(instance, value)
        vars(instance).setdefault("_given_data", {})[self.name] = value


class Hook(RoundHook, TrainingCallback):
    """Saves what XGBoost computes; a callback of `train`, `cv` and the scikit-learn classes.

    Each round is a step. At a round of which nothing is saved, the hook only counts it.
    """

    _framework: ClassVar[_core.Framework] = _core.Framework.XGBOOST
    _default_collections: ClassVar[list[str]] = DEFAULT_INCLUDE_COLLECTIONS

    save_config: Setting[Schedule, SaveConfig] = Setting(
        "At which rounds tensors are saved; None: at every tenth.", _schedule, default=None
    )
    hyperparameters: Setting[Any, Any] = Setting(
        "The parameters of the training, as a dict.", _parameters, default=None
    )
    train_data: Setting[Any, Any] = _Data(
        "What SHAP values are computed on, as a DMatrix.", _data, default=None
    )
    validation_data: Setting[Any, Any] = _Data(
        "What is predicted, and whose labels are saved, as a DMatrix.", _data, default=None
    )

    _counts_late: ClassVar[frozenset[str]] = RoundHook._counts_late | {
        *("hyperparameters", "train_data", "validation_data"),
    }

    def _set_up(self) -> None:
        _need_xgboost()
        super()._set_up()

    def _start_over(self) -> None:
        super()._start_over()
        self._has_gone_elsewhere = False
        self._importance: FeatureImportance | None = None
        self._forget_model()

    def _forget_model(self) -> None:
        self._rounds = 0
        # The metrics of each data set, round by round.
        self._evals_log: dict[str, dict[str, list[Any]]] = {}
        self._features: list[str] | None = None
        self._booster_kind: str | None = None
        # Rounds that the model had before.
        self._earlier_rounds = 0

    # What XGBoost calls.

    def before_training(self, model: Any) -> Any:
        """Starts a training; what was trained before with the same hook keeps its steps."""
        self._is_of_this_process()
        self._begin_training()
        return model

    def before_iteration(
        self, model: Any, epoch: int, evals_log: dict[str, dict[str, list[Any]]]
    ) -> bool:
        """Notes where the metrics will be. False: the training goes on."""
        del model, epoch
        self._evals_log = evals_log
        return False

    def after_iteration(
        self, model: Any, epoch: int, evals_log: dict[str, dict[str, list[Any]]]
    ) -> bool:
        """Saves what is due of a round. False: the training goes on."""
        self._heed_rules()
        self._evals_log = evals_log
        self._save_round(model, epoch)
        self._rounds = epoch + 1
        return False

    def after_training(self, model: Any) -> Any:
        """Saves the last round if another callback has ended the training in it, and publishes."""
        self._save_missed_round(model)
        self._end_training()
        return model

    def _begin_training(self) -> None:
        super()._begin_training()
        self._forget_model()

    @fails_once
    def _save_missed_round(self, model: Any) -> None:
        lengths = [len(values) for log in self._evals_log.values() for values in log.values()]
        if max(lengths, default=0) > self._rounds:
            self._save_round(model, self._rounds)

    # Rounds.

    @fails_once
    def _save_round(self, model: Any, epoch: int) -> None:
        if self._rounds == 0:
            self._earlier_rounds = model.num_boosted_rounds() - epoch - 1
        if not self._begin_step(self._first_step + epoch):
            return
        core = self._core
        assert core is not None
        self._given_data.clear()
        self._save_metrics(core)
        parts = self._due_parts(core, lambda: self._names(_booster_of(model)))
        # Early stopping may have cut the model back to its best round.
        if parts and model.num_boosted_rounds() - self._earlier_rounds > epoch:
            booster = _booster_of(model)
            for save in parts:
                save(core, booster)
        core.end_step()

    def _names(self, booster: Any) -> dict[Part, list[str]]:
        features = self._feature_names(booster)
        given = list(self.hyperparameters or {"any": None})
        return {
            self._save_hyperparameters: [f"hyperparameters/{name}" for name in given],
            self._save_predictions: ["predictions"],
            self._save_labels: ["labels"],
            self._save_importance: [
                f"feature_importance/{kind}/{name}"
                for kind in IMPORTANCE_TYPES
                for name in features
            ],
            self._save_trees: [f"trees/{column}" for column in COLUMNS],
            self._save_shap: [
                name
                for kind in ("full_shap", "average_shap", "average_shap_signed")
                for name in self._shap_names(kind, booster)
            ],
        }

    def _feature_names(self, booster: Any) -> list[str]:
        if self._features is None:
            numbered = (f"f{number}" for number in range(booster.num_features()))
            self._features = list(booster.feature_names or numbered)
        return self._features

    def _shap_names(self, kind: str, booster: Any) -> list[str]:
        return [f"{kind}/{name}" for name in (*self._feature_names(booster), _BIAS)]

    # Parts of a round.

    @fails_once
    def _save_metrics(self, core: _core.Hook) -> None:
        names, values = [], []
        for data, log in self._evals_log.items():
            for metric, history in log.items():
                value = history[-1]
                # In XGBoost's cv: mean and standard deviation over the folds.
                if isinstance(value, tuple):
                    value, deviation = value
                    core.save_tensor(f"cv_std/{data}-{metric}", [deviation], ["metrics"])
                names.append(f"{data}-{metric}")
                values.append(value)
        core.save_numbers(self._handles(tuple(names)), values)

    @fails_once
    def _save_hyperparameters(self, core: _core.Hook, booster: Any) -> None:
        del booster
        if not self.hyperparameters:
            self._tell_once("To save hyperparameters, give the hook `hyperparameters`")
            return
        names = tuple(f"hyperparameters/{name}" for name in self.hyperparameters)
        core.save_many(
            self._handles(names), [_setting(value) for value in self.hyperparameters.values()]
        )

    @fails_once
    def _save_predictions(self, core: _core.Hook, booster: Any) -> None:
        if self.validation_data is None:
            self._tell_once("To save predictions, give the hook `validation_data`")
            return
        core.save("predictions", _predict(booster, self.validation_data))

    @fails_once
    def _save_labels(self, core: _core.Hook, booster: Any) -> None:
        del booster
        data = self.validation_data
        labels = [] if data is None else data.get_label()
        if not len(labels):
            self._tell_once("To save labels, give the hook `validation_data` with labels")
            return
        core.save("labels", labels)

    @fails_once
    def _save_importance(self, core: _core.Hook, booster: Any) -> None:
        if not self._is_of_trees(booster):
            return
        if self._importance is None:
            self._importance = FeatureImportance()
        self._importance.save(core, booster)

    @fails_once
    def _save_trees(self, core: _core.Hook, booster: Any) -> None:
        if not self._is_of_trees(booster):
            return
        columns = trees_of_last_round(booster)
        names = tuple(f"trees/{name}" for name in columns)
        core.save_many(self._handles(names), list(columns.values()))

    def _is_of_trees(self, booster: Any) -> bool:
        if self._booster_kind is None:
            learner = json.loads(booster.save_config())["learner"]
            self._booster_kind = str(learner["gradient_booster"]["name"])
        if self._booster_kind in ("gbtree", "dart"):
            return True
        self._tell_once(f"{self._booster_kind} has no trees and no importance of features")
        return False

    @fails_once
    def _save_shap(self, core: _core.Hook, booster: Any) -> None:
        if self.train_data is None:
            self._tell_once("To save SHAP values, give the hook `train_data`")
            return
        # (rows, features + 1), or (rows, classes, features + 1).
        shap = _predict(booster, self.train_data, pred_contribs=True)
        core.save_as(self._shap_names("full_shap", booster), shap)
        rows = tuple(range(shap.ndim - 1))
        for kind, change in (("average_shap", np.abs), ("average_shap_signed", np.asarray)):
            names = self._shap_names(kind, booster)
            if any(core.are_due(names)):
                average = np.mean(change(shap), axis=rows, dtype=np.float64)
                core.save_items(self._handles(tuple(names)), average.astype(np.float32))

    # Where it runs.

    def _find_worker(self) -> Worker:
        return find_worker()

    # A hook that has not begun goes to the workers of a cluster with what it was given, as those
    # of Dask need. A copy of it for any other purpose does nothing.

    def _answers(self) -> dict[str, Any]:
        return {**super()._answers(), "train_data": None, "validation_data": None}

    def __getstate__(self) -> dict[str, Any]:
        if self._has_begun or self._closed:
            return super().__getstate__()
        if self._core is not None:
            self._core.abandon()  # The run is of those that it goes to.
            self._core = self._guard = None
        self._has_gone_elsewhere = True
        data = {name: self._portable(name) for name in ("train_data", "validation_data")}
        return {
            "is_sent": True,
            "settings": {**self._taken(), **data},
            "collections": self._changed(),
            "mode": self.mode.value,
        }

    def _portable(self, what: str) -> Any:
        from xgboost import DMatrix

        data = self._given_data.get(what)
        if not isinstance(data, DMatrix):
            return data
        self._tell_once(
            f"{what} is a DMatrix, which does not go to other processes; give the hook an array or "
            "a path"
        )
        return None

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "is_sent" not in state:
            super().__setstate__(state)
            return
        self._came_from_elsewhere = True
        try:
            Hook.__init__(self, **state["settings"])
            for text in state["collections"]:
                self.add_collection(Collection.from_json(text))
            self.mode = ModeKeys(state["mode"])
        except Exception as error:
            if _core.is_strict():
                raise
            data = {"train_data": None, "validation_data": None}
            super().__setstate__({**state, "settings": {**state["settings"], **data}})
            self.logger.error(f"smdebug saves nothing here: {error!r}")

    def __copy__(self) -> Hook:
        made = type(self).__new__(type(self))
        made.__setstate__(super().__getstate__())
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Hook:
        del memo
        return self.__copy__()

    def _close(self, how: str, *ending: str) -> None:
        if self._core is None and self._has_gone_elsewhere:
            self._closed = True  # The run is of those that it went to.
        else:
            super()._close(how, *ending)


def _booster_of(model: Any) -> Any:
    # XGBoost's cv has a model for each fold.
    folds = getattr(model, "cvfolds", None)
    return model if folds is None else folds[0].bst


def _predict(booster: Any, data: Any, **options: Any) -> Any:
    # Data without names is taken by its columns.
    named = data.feature_names is not None
    return booster.predict(data, validate_features=named, **options)


def _setting(value: object) -> object:
    """A hyperparameter as an array; as a string if it holds neither numbers nor strings."""
    if isinstance(value, np.ndarray):
        return value
    several = isinstance(value, (list, tuple))
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    if all(isinstance(item, (bool, int, float, str, np.generic)) for item in items):
        array = np.array(items)
        if array.dtype.kind in "biufU":
            return array
    return np.array([str(item) for item in items] if several else [str(value)])
