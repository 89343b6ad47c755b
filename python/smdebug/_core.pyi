from collections.abc import Sequence
import enum


def warn_of_leaks() -> None:
    """When the process ends, of objects that are still alive. For tests."""

def version() -> str:
    """Of the core."""

def take_log() -> list:
    """
    Messages since the last call, as (level, text): 0 debug, 1 info, 2 warning, 3 error.
    """

class Framework(enum.Enum):
    """
    Whose conventions a hook follows: names, defaults and built-in collections.
    """

    NATIVE = 0

    PYTORCH = 1

    TENSORFLOW = 2

    MXNET = 3

    XGBOOST = 4

def load_hook_config(path: str | None, framework: Framework) -> dict:
    """The settings in a hook's JSON file, as Hook() takes them."""

def parse_hook_config(json: str, framework: Framework) -> dict:
    """The same from the text of such a file."""

def hook_config_path(path: str | None) -> str:
    """Where a hook's JSON file is."""

def check_hook_config(settings: dict) -> None:
    """Raises for settings that Hook() would refuse."""

def unusable_collections(settings: dict) -> list[tuple[str, str, bool]]:
    """
    (name, reason, whether users should know) of each collection for which
    nothing could ever be saved.
    """

def check_patterns(collection: str, patterns: Sequence[str]) -> None:
    """Raises for a pattern that is no regular expression."""

def module_pattern(module: str, inputs: bool, outputs: bool) -> str:
    """The regex of a module's inputs, outputs or both, and of nothing else."""

def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Ends a message about an unknown name; empty if none is near."""

def did_patterns_mean(patterns: Sequence[str], names: Sequence[str]) -> str:
    """The same for patterns that match no name."""

def tensorboard_dir(out_dir: str, export_tensorboard: bool, tensorboard_dir: str | None) -> str | None:
    """Where TensorBoard files go; None if they are not asked for."""

def is_strict() -> bool:
    """Whether SMDEBUG_STRICT asks for exceptions."""

def whole_number(key: str, text: str, least: int | None) -> int:
    """The number that a string spells; raises for what is none, or less."""

def steps_from_json(key: str, json: str) -> list[int]:
    """Steps as a configuration may spell them."""

def should_save_step(save_interval: int, start_step: int, end_step: int | None, save_steps: Sequence[int], step: int) -> bool:
    """Whether a schedule saves the step."""

def read_reduction_config(json: str) -> tuple:
    """
    Name, whether it is a norm, and whether it is of absolute values, of
    all reductions; whether the value and the shape are saved.
    """

def write_reduction_config(names: Sequence[str], save_raw_tensor: bool, save_shape: bool) -> str:
    """The JSON of what read_reduction_config() reads."""

def reduction_types() -> list[tuple[str, bool, bool]]:
    """Name, whether it is a norm, and whether smdebug 1.0 lacks it."""

def element_types() -> list[tuple[str, bool]]:
    """Name, and whether NumPy has it, of all element types, "str" included."""

def built_in_collections(framework: Framework) -> list[str]:
    """The collections that a hook starts with, as JSON."""

class Tensor:
    @property
    def name(self) -> str: ...

    @property
    def original_name(self) -> str | None: ...

    def steps(self, mode: int, incomplete: bool) -> list[int]: ...

    def value(self, step: int, mode: int, worker: str | None) -> object: ...

    def values(self, mode: int, worker: str | None) -> dict: ...

    def reduction_value(self, step: int, name: str, mode: int, worker: str | None, abs: bool) -> float: ...

    def reduction_values(self, step: int, mode: int, worker: str | None) -> dict: ...

    def shape(self, step: int, mode: int, worker: str | None) -> tuple: ...

    def shapes(self, mode: int, worker: str | None) -> dict: ...

    def counts(self, step: int, mode: int, worker: str | None) -> object: ...

    def saved(self, step: int, mode: int, worker: str | None) -> tuple: ...

    def workers(self, step: int, mode: int) -> list[str]: ...

    def prev_steps(self, step: int, count: int, mode: int) -> list[int]: ...

class Trial:
    def __init__(self, path: str, name: str, begin: int | None, end: int | None, wait: bool) -> None: ...

    @property
    def is_copy(self) -> bool: ...

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def run_id(self) -> str: ...

    @property
    def num_workers(self) -> int: ...

    @property
    def loaded_all_steps(self) -> bool: ...

    @property
    def last_complete_step(self) -> int: ...

    @property
    def last_index_token(self) -> str: ...

    def damage(self) -> list[tuple[str, str, str]]: ...

    def refresh(self) -> None: ...

    def set_refreshing(self, on: bool) -> None: ...

    def set_end_delay(self, seconds: float) -> None: ...

    def tensor_names(self, step: int | None, mode: int, regexes: Sequence[str], collection: str | None) -> list[str]: ...

    def has_tensor(self, name: str) -> bool: ...

    def tensor(self, name: str) -> Tensor: ...

    def steps(self, mode: int, incomplete: bool) -> list[int]: ...

    def modes(self) -> list[int]: ...

    def mode(self, global_step: int) -> int | None: ...

    def mode_step(self, global_step: int) -> int | None: ...

    def global_step(self, mode: int, mode_step: int) -> int | None: ...

    def workers(self) -> list[str]: ...

    def collections(self) -> dict[str, str]:
        """The JSON of each collection, by name."""

    def collection(self, name: str) -> str | None: ...

    def has_passed_step(self, step: int, mode: int) -> int: ...

    def wait_for_steps(self, steps: Sequence[int], mode: int) -> None: ...

    def has_scalars_at(self, step: int) -> bool:
        """Whether scalars were saved at a step, perhaps between whole steps."""

    def inputs(self, step: int, mode: int) -> list: ...

    def labels(self, step: int, mode: int) -> list: ...

    def predictions(self, step: int, mode: int) -> list: ...

class TensorNames:
    def __init__(self, names: Sequence[str]) -> None: ...

class Hook:
    def __init__(self, settings: dict, worker: str, workers: int, is_chief: bool, tensor_types: tuple, differs: tuple, describe: object, more_workers: Sequence[str] = ()) -> None:
        """`more_workers` are those that this process is besides `worker`."""

    def configure(self, settings: dict) -> None:
        """What is saved, until the first step."""

    def add_hints(self, hints: Sequence[str]) -> None:
        """Names that messages about what takes nothing may point to."""

    def begin_step(self, number: int | None = None) -> bool: ...

    def begin_idle_step(self) -> bool: ...

    def end_step(self) -> None: ...

    def flush(self, timeout: float | None = None) -> bool: ...

    def set_mode(self, mode: int) -> None: ...

    def save(self, name: str, tensor: object | None, original_name: str = '', worker: int | None = None) -> None:
        """
        Saves a tensor for each worker of the hook, or for one, counted from 0.
        """

    def set_unscale(self, unscale: object) -> None:
        """
        Has gradients saved as `unscale` gives them, or left out for the
        reason that it gives.
        """

    def save_many(self, names: TensorNames, tensors: list) -> None: ...

    def save_as(self, names: list, tensor: object) -> None: ...

    def save_items(self, names: TensorNames, tensor: object) -> None: ...

    def save_numbers(self, names: TensorNames, numbers: Sequence[float]) -> None: ...

    def save_importance(self, importance: XgboostImportance, booster: int) -> bool: ...

    def save_tensor(self, name: str, tensor: object | None, collections: Sequence[str], next_step: bool = False) -> None: ...

    def save_scalar(self, name: str, value: float, timestamp: float | None, step: int | None = None, sm_metric: bool = False, worker: int | None = None) -> None: ...

    def skip(self, name: str, reason: str) -> None: ...

    def leave_out(self, name: str, reason: str) -> bool:
        """
        Counts what the caller failed in, unless it is to raise it: if so, True.
        """

    def are_due(self, names: list) -> list[bool]: ...

    def prefixes_are_due(self, prefixes: list) -> list[bool]:
        """For each whether some tensor "<prefix><number>" is due."""

    @property
    def due_key(self) -> int: ...

    @property
    def step_is_due(self) -> bool: ...

    @property
    def step(self) -> int: ...

    def mode_step(self, mode: int) -> int: ...

    def collection(self, name: str) -> str | None: ...

    @property
    def stats(self) -> dict: ...

    def close(self, ending: str = 'finished', reason: str = '') -> None: ...

    @property
    def workers(self) -> list[str]: ...

    @property
    def run_id(self) -> str: ...

    def abandon(self) -> None: ...

    def expect_settling(self) -> None: ...

    def take_elsewhere(self, taker: object, takes_all: bool) -> None: ...

    def wanted(self, name: str, collections: Sequence[str] | None = None) -> tuple:
        """
        Whether anything is saved of it now, and for that its content, or
        statistics, and of those what spreads need.
        """

    def reserve(self, names: Sequence[str], size: int, waits: bool) -> Room | None: ...

    def save_arriving(self, name: str, dtype: str, shape: Sequence[int], memory: Memory | None, arrival: Arrival | None, step: int | None, content: tuple[int, int] | None = None, parts: Sequence[tuple[int, int, int]] = [], has_floats: bool = False, collections: Sequence[str] | None = None, next_step: bool = False) -> None: ...

    def save_arriving_scalar(self, name: str, memory: Memory, offset: int, is_float: bool, arrival: Arrival, timestamp: float | None, step: int | None, is_metric: bool) -> None: ...

class Room:
    pass

class Arrival:
    def __init__(self) -> None: ...

    def tell(self) -> None:
        """All is there."""

    def fail(self, reason: str) -> None:
        """It never will be."""

class Memory:
    def __init__(self, capsule: object, room: Room) -> None: ...

GRAD_SCALE: str = 'grad_scale'

STEP_SKIPPED: str = 'step_skipped'

def no_stats() -> dict:
    """The stats of a hook that has done nothing."""

class ForwardCallback:
    def __init__(self, hook: object, name: str, input_prefix: str, output_prefix: str, recomputing: object | None) -> None: ...

    def __call__(self, *args) -> None: ...

    def __reduce__(self) -> object: ...

class GradientCallback:
    def __init__(self, hook: object, name: str) -> None: ...

    def __call__(self, gradient: object) -> None: ...

    def __reduce__(self) -> object: ...

    @property
    def __torch_unserializable__(self) -> bool: ...

def check_out_dir(settings: dict, worker: str, workers: int, is_chief: bool) -> object:
    """
    Raises what making such a Hook would raise about its out_dir. While
    what it returns is kept, other jobs are refused.
    """

def has_run_ended(run: str) -> bool:
    """Whether the run has its end marker."""

def mark_run_ended(run: str) -> None:
    """Marks a run as finished."""

def run_info(run: str) -> tuple:
    """The id of a run, how it is, and why."""

class ActionSet:
    """What is done when rules fire."""

    def __init__(self, *, dry_run: bool | None = None, interval: float | None = None, grace: float | None = None, timeout: float | None = None, exec_timeout: float | None = None, attempts: int | None = None, backoff: float | None = None) -> None:
        """Times are in seconds; what is None is as the environment says."""

    def add(self, text: str) -> None:
        """Adds one, such as stop:123 or email:name@domain.com."""

    def add_json(self, json: str, rule: str) -> list[tuple[str, str, str]]:
        """
        Adds those of an action_json, and logs what is wrong with it. Returns (kind, target, prefix of the job) of each that was added.
        """

    def fire(self, rule: str, run: str, step: int | None, message: str, run_id: str | None = None) -> list[tuple[str, str, str, str]]:
        """
        Does them; (kind, target, result, detail) of each. `run_id` is the identity of the run; None: of the one that is there.
        """

    def counts(self) -> tuple[int, int, int, int]:
        """How many were done, failed, dry runs and suppressed."""

def check_rules(rules: Sequence[str]) -> None: ...

def rule_needs(settings: dict, rules: Sequence[str]) -> list[tuple[str, str | None]]:
    """
    The collections that such a hook is to save for the rules as well, by
    name, and as JSON unless the settings have them.
    """

class RuleGuard:
    @property
    def fired_rules(self) -> int: ...

    def raise_if_fired(self) -> None: ...

    def reports(self) -> list[str]: ...

def guard(hook: Hook, rules: Sequence[str], stops_job: bool) -> RuleGuard: ...

def table(trial: Trial, tensors: Sequence[str], mode: int, worker: str | None, reductions: Sequence[str]) -> dict:
    """
    Columns by name, in their order: numbers, or places and the names there.
    """

def glance(tensor: Tensor, most_steps: int, most_bytes: int) -> tuple[str, list[float]]:
    """What was read of a tensor, and the numbers."""

def built_in_rules() -> list[tuple[str, str, list[tuple[str, str | None, str, bool]]]]:
    """
    (name, summary, parameters) of each; a parameter is (name, default, meaning, whether it is a list).
    """

class StepJudge:
    """A rule that is asked about steps."""

    def check(self, step: int) -> list[tuple[int, int, str, str, float, float, str]]:
        """
        (step, mode, tensor, worker, value, threshold, message) of each finding.
        """

    def files(self) -> dict[str, str]:
        """Name and content of each."""

def step_judge(trial: Trial, rule: str, other_trials: Sequence[str]) -> StepJudge: ...

def check_run(trial: Trial, rules: Sequence[str], start_step: int, end_step: int | None, worker: str | None, all_workers: bool, other_trials: Sequence[str], reports: bool, python: str) -> list[str]:
    """The report of each rule, as `smdebug check --json` has it."""

class SeenModule:
    def __init__(self, module: object, parameter_type: object, with_parameters: bool) -> None: ...

    def look(self, module: object) -> list | None:
        """The parameters in `module`; None if it has changed."""

    @property
    def is_plain(self) -> bool:
        """Whether all parameters were of the class itself."""

def guard_termination(grace: float) -> None:
    """
    Ends the process by SIGTERM if its handler is not run within so many seconds.
    """

def heed_termination() -> None:
    """The handler of SIGTERM has its turn."""

class XgboostImportance:
    """Saves the importance of features; see Hook.save_importance()."""

    def __init__(self, score: int) -> None:
        """By the address of XGBoosterFeatureScore()."""

def xgboost_importance_types() -> list[str]:
    """The types of importance that are saved of a feature."""

def read_xgboost_data(key: str, path: str, content_type: str) -> tuple:
    """
    Values, labels, weights, columns, starts and shape of a data set in a
    file; None for what it has none of. Columns and starts are those of a
    sparse table.
    """

def xgboost_trees(dumps: Sequence[str], first_tree: int) -> dict:
    """The nodes of XGBoost's text dumps of trees: a list per column."""
