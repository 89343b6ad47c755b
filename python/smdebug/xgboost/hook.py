"""The hook for XGBoost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Callable, ClassVar

import numpy as np

from smdebug import _core
from smdebug._internal.checks import refuse_type
from smdebug.core.collection import Collection, CollectionKeys
from smdebug._hook.fail_open import fails_once
from smdebug.core.hook import BaseHook
from smdebug.core.modes import ModeKeys
from smdebug._internal.passed_on import passed_on
from smdebug.core.reduction_config import ReductionConfig
from smdebug.core.save_config import DEFAULT_SAVE_CONFIG_END_STEP as DEFAULT_SAVE_CONFIG_END_STEP
from smdebug.core.save_config import (
    DEFAULT_SAVE_CONFIG_SAVE_STEPS as DEFAULT_SAVE_CONFIG_SAVE_STEPS,
)
from smdebug.core.save_config import (
    DEFAULT_SAVE_CONFIG_START_STEP as DEFAULT_SAVE_CONFIG_START_STEP,
)
from smdebug.core.save_config import SaveConfig, SaveConfigMode
from smdebug._hook.worker import Worker
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

# The most that the end of a training waits for the writer.
_SECONDS_TO_PUBLISH = 60

# What the last column of SHAP values is of.
_BIAS = "bias"


class Hook(BaseHook, TrainingCallback):
    """Saves what XGBoost computes; a callback of `train`, `cv` and the scikit-learn classes.

    Each round is a step. At a round of which nothing is saved, the hook only counts it.
    """

    _framework: ClassVar[int] = 4
    _default_collections: ClassVar[list[str]] = DEFAULT_INCLUDE_COLLECTIONS

    def __init__(
        self,
        out_dir: str | os.PathLike[str] | None = None,
        export_tensorboard: bool = False,
        tensorboard_dir: str | os.PathLike[str] | None = None,
        dry_run: bool = False,
        reduction_config: ReductionConfig | None = None,
        save_config: SaveConfig | SaveConfigMode | dict[ModeKeys, SaveConfigMode] | None = None,
        include_regex: str | Iterable[str] | None = None,
        include_collections: str | Iterable[Any] | None = None,
        save_all: bool = False,
        include_workers: str = "one",
        hyperparameters: dict[str, Any] | None = None,
        train_data: Any = None,
        validation_data: Any = None,
        *,
        rules: str | Iterable[str] | None = None,
        stop_on_rule: bool = False,
    ) -> None:
        if _missing is not None:
            raise SMDebugError(
                f"smdebug.xgboost.Hook needs XGBoost 1.7 or later, which is not here: {_missing}"
            ) from _missing
        if hyperparameters is not None and not isinstance(hyperparameters, Mapping):
            refuse_type("hyperparameters", hyperparameters, "a dict")
        self._told: set[str] = set()
        self._has_gone_elsewhere = False
        self._importance: FeatureImportance | None = None
        self._begin_training()
        self.hyperparameters = hyperparameters
        self.train_data = train_data
        self.validation_data = validation_data
        super().__init__(
            out_dir=out_dir,
            export_tensorboard=export_tensorboard,
            tensorboard_dir=tensorboard_dir,
            dry_run=dry_run,
            reduction_config=reduction_config,
            save_config=save_config or SaveConfig(save_interval=DEFAULT_SAVE_CONFIG_INTERVAL),
            include_regex=include_regex,
            include_collections=include_collections,
            save_all=save_all,
            include_workers=include_workers,
            rules=rules,
            stop_on_rule=stop_on_rule,
        )

    # Data.

    @property
    def train_data(self) -> Any:
        """What SHAP values are computed on, as a DMatrix."""
        return self._train_data

    @train_data.setter
    def train_data(self, data: Any) -> None:
        self._train_data = load_data("train_data", data)
        self._given_train_data = data

    @property
    def validation_data(self) -> Any:
        """What is predicted, and whose labels are saved, as a DMatrix."""
        return self._validation_data

    @validation_data.setter
    def validation_data(self, data: Any) -> None:
        self._validation_data = load_data("validation_data", data)
        self._given_validation_data = data

    # What XGBoost calls.

    # The metrics of each data set, round by round.
    _evals_log: dict[str, dict[str, list[Any]]]

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
        if self._came_from_elsewhere:
            self.close()  # Nobody else knows of it.
        else:
            self.flush(timeout=_SECONDS_TO_PUBLISH)
            self._heed_rules()
        return model

    def _begin_training(self) -> None:
        # The step of the training's first round.
        self._first_step = self.step + 1 if getattr(self, "_core", None) is not None else 0
        self._rounds = 0
        self._evals_log = {}
        self._features: list[str] | None = None
        self._booster_kind: str | None = None
        # Rounds that the model had before.
        self._earlier_rounds = 0
        self._known_names: dict[tuple[str, ...], _core.TensorNames] = {}
        # What saves a round, by the core's due_key.
        self._parts: dict[int, list[Callable[..., None]]] = {}

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
        self._given_train_data = self._given_validation_data = None
        self._save_metrics(core)
        parts = self._parts.get(core.due_key)
        if parts is None:
            parts = self._find_parts(core, model)
        # Early stopping may have cut the model back to its best round.
        if parts and model.num_boosted_rounds() - self._earlier_rounds > epoch:
            booster = _booster_of(model)
            for save in parts:
                save(core, booster)
        core.end_step()

    def _find_parts(self, core: _core.Hook, model: Any) -> list[Callable[..., None]]:
        """What saves the rest of a round; the same for all rounds at which the same is due."""
        names_of = self._names(_booster_of(model))
        parts = [part for part, names in names_of.items() if any(core.are_due(names))]
        self._parts[core.due_key] = parts
        return parts

    def _names(self, booster: Any) -> dict[Callable[..., None], list[str]]:
        """The names of what each part saves."""
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

    def _handles(self, names: tuple[str, ...]) -> _core.TensorNames:
        """What the core knows `names` by, which it need not look up again."""
        if names not in self._known_names:
            self._known_names[names] = _core.TensorNames(names)
        return self._known_names[names]

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
        if self._validation_data is None:
            self._tell_once("To save predictions, give the hook `validation_data`")
            return
        core.save("predictions", _predict(booster, self._validation_data))

    @fails_once
    def _save_labels(self, core: _core.Hook, booster: Any) -> None:
        del booster
        data = self._validation_data
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
        if self._train_data is None:
            self._tell_once("To save SHAP values, give the hook `train_data`")
            return
        # (rows, features + 1), or (rows, classes, features + 1).
        shap = _predict(booster, self._train_data, pred_contribs=True)
        core.save_as(self._shap_names("full_shap", booster), shap)
        rows = tuple(range(shap.ndim - 1))
        for kind, change in (("average_shap", np.abs), ("average_shap_signed", np.asarray)):
            names = self._shap_names(kind, booster)
            if any(core.are_due(names)):
                average = np.mean(change(shap), axis=rows, dtype=np.float64)
                core.save_items(self._handles(tuple(names)), average.astype(np.float32))

    def _tell_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.logger.warning(text)

    # Where it runs.

    def _find_worker(self) -> Worker:
        return find_worker()

    # A hook that has not begun goes to the workers of a cluster with what it was given, as those
    # of Dask need. A copy of it for any other purpose does nothing.

    def __getstate__(self) -> dict[str, Any]:
        if self._has_begun or self._closed:
            return {}
        if self._core is not None:
            self._core.abandon()  # The run is of those that it goes to.
            self._core = self._guard = None
        self._has_gone_elsewhere = True
        built_in = self._built_in()
        collections = (c.to_json() for c in self.collection_manager.get_collections().values())
        return {
            "out_dir": self.out_dir,
            "export_tensorboard": self.tensorboard_dir is not None,
            "tensorboard_dir": self.tensorboard_dir,
            "dry_run": self.dry_run,
            "reduction_config": self.reduction_config,
            "save_config": self.save_config,
            "include_regex": self.include_regex,
            "include_collections": self.include_collections,
            "save_all": self.save_all,
            "include_workers": self.include_workers,
            "hyperparameters": self.hyperparameters,
            "train_data": self._portable("train_data", self._given_train_data),
            "validation_data": self._portable("validation_data", self._given_validation_data),
            "rules": self.rules,
            "stop_on_rule": self.stop_on_rule,
            "collections": [text for text in collections if text not in built_in.values()],
            "mode": self.mode.value,
        }

    def _portable(self, what: str, data: Any) -> Any:
        from xgboost import DMatrix

        if not isinstance(data, DMatrix):
            return data
        self._tell_once(
            f"{what} is a DMatrix, which does not go to other processes; give the hook an array or "
            "a path"
        )
        return None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._told = set()
        self._has_gone_elsewhere = False
        super().__setstate__({})
        self._begin_training()
        if not state:
            return
        settings = dict(state)
        collections, mode = settings.pop("collections"), settings.pop("mode")
        self._came_from_elsewhere = True
        try:
            Hook.__init__(self, **settings)
            for text in collections:
                self.add_collection(Collection.from_json(text))
            self.mode = ModeKeys(mode)
        except Exception as error:
            if _core.is_strict():
                raise
            super().__setstate__({})
            self.logger.error(f"smdebug saves nothing here: {error!r}")

    def __copy__(self) -> Hook:
        return self._inert()

    def __deepcopy__(self, memo: dict[int, Any]) -> Hook:
        del memo
        return self._inert()

    def _inert(self) -> Hook:
        made = type(self).__new__(type(self))
        made.__setstate__({})
        return made

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
