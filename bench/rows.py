"""The rows of the comparison: what is measured against what.

A benchmark of ours is found by the name that Google Benchmark, or a script in
bench/python, reports. Rows of which one side is missing are shown with a dash.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    title: str
    unit: str  # A key of UNITS.
    ours: str  # Benchmark name.
    reference: str | None = None  # Key of bench/python/reference_bench.py, or <ours>/<counter>.
    target: float | None = None  # Least ratio to smdebug 1.0.
    limit: str | None = None  # Benchmark of what the machine allows at best.
    of_limit: float | None = None  # Least part of that limit.
    least: float | None = None  # Least value, in the row's own unit.
    most: float | None = None  # Most, where less is better.
    counter: str | None = None  # The benchmark's, if it is not that of the unit.


# Unit -> counter of the benchmark, and how many of it make one unit.
UNITS = {
    "MB/s": ("bytes_per_second", 1e6),
    "GB/s": ("bytes_per_second", 1e9),
    "tensors/s": ("items_per_second", 1.0),
    "steps/s": ("items_per_second", 1.0),
    "entries/s": ("items_per_second", 1.0),
    "values/s": ("items_per_second", 1.0),
    "queries/s": ("items_per_second", 1.0),
    "MB": ("megabytes", 1.0),
    "MiB": ("mebibytes", 1.0),
    "ms": ("median_ms", 1.0),
    "us": ("us", 1.0),
    "%": ("percent", 1.0),
    "x": ("times", 1.0),
    "a step": ("per_step", 1.0),
}

# Of these less is better; a ratio says how many times less ours is.
LESS_IS_BETTER = {"MB", "MiB", "ms", "us", "%", "x", "a step"}

CPP_ROWS = (
    Row("raw, 100 x 1 MiB a step", "MB/s", "hook/raw/100x1MiB", "raw_100x1MiB", 3.5,
        limit="limit/write/100x1MiB", of_limit=0.8),
    # The training thread of 1.0 waits for the files, so its whole time counts.
    Row("raw, 100 x 1 MiB, caller", "MB/s", "hook/caller/100x1MiB", "raw_100x1MiB",
        limit="limit/memcpy/100x1MiB", of_limit=1 / 1.5),
    Row("raw, 1000 x 4 KiB a step", "tensors/s", "hook/raw/1000x4KiB", "raw_1000x4KiB", 60,
        limit="limit/write/1000x4KiB"),
    Row("one scalar a step", "steps/s", "hook/scalar_per_step", "scalar_per_step", 8),
    Row("one scalar a step, caller", "steps/s", "hook/scalar_caller", "scalar_per_step",
        least=1 / 20e-6),
    Row("idle step, 1 tensor", "steps/s", "hook/idle_step/1", least=1 / 200e-9),
    Row("idle step, 10,000 tensors", "steps/s", "hook/idle_step/10000", least=1 / 200e-9),
    # A budget of 16 MiB, and 8 for everything else.
    Row("store stuck, 100,000 steps x 200 tensors", "MiB", "hook/stuck_memory/100000x200",
        most=24),
    Row("LibTorch, idle step, 1000 parameters", "steps/s", "libtorch/idle_step/1000",
        least=1 / 1e-6),
    Row("LibTorch, raw, 100 x 1 MiB a step", "MB/s", "libtorch/raw/100x1MiB", "raw_100x1MiB", 3.5,
        limit="hook/raw/100x1MiB", of_limit=0.9),
    Row("LibTorch, raw, 1000 x 4 KiB a step", "tensors/s", "libtorch/raw/1000x4KiB",
        "raw_1000x4KiB", 60, limit="hook/raw/1000x4KiB", of_limit=0.8),
    Row("18 reductions, 1 MiB", "GB/s", "reduce/all/f32/1048576", "reductions_1MiB", 60,
        limit="limit/read_pass/f32/1048576"),
    Row("18 reductions, 64 MiB", "GB/s", "reduce/all/f32/67108864", "reductions_64MiB", 25,
        limit="limit/read_pass/f32/67108864", of_limit=0.6),
    # 1.0 has no median: the same 18 reductions of its stand beside our 20.
    Row("with medians, 64 MiB", "GB/s", "reduce/medians/f32/67108864", "reductions_64MiB", 10,
        limit="limit/read_pass/f32/67108864"),
    Row("histogram, 4 KiB", "MB/s", "reduce/histogram/f32/4096", "histogram_4KiB", 50,
        limit="limit/read_pass/f32/4096"),
    Row("histogram, 64 MiB", "MB/s", "reduce/histogram/f32/67108864", "histogram_64MiB", 10,
        limit="limit/read_pass/f32/67108864"),
    Row("TensorBoard, 1000 x 4 KiB a step", "MB/s", "hook/tensorboard/1000x4KiB",
        "tensorboard_1000x4KiB", 50),
    Row("TensorBoard, 64 MiB a step", "MB/s", "hook/tensorboard/64MiB", "tensorboard_64MiB", 10),
    Row("open, 10,000 steps x 20 tensors", "entries/s", "trial/open/10000x20", "open_10000x20", 40),
    Row("open, memory", "MB", "trial/open_memory/10000x20", "open_memory", most=40),
    Row("open, 1,000,000 entries", "entries/s", "trial/open/10000x100", least=1e6 / 2),
    Row("values(), 64 bytes each", "values/s", "trial/values/64B", "values", 5),
    Row("read 100 x 1 MiB", "MB/s", "trial/read/100x1MiB", "read_100x1MiB", 4,
        limit="limit/read/100x1MiB"),
    Row("table, 1,000 steps x 200 numbers", "values/s", "query/table/1000x200", least=2e5 / 0.39),
    Row("CSV, 1,000 steps x 200 numbers", "values/s", "query/csv/1000x200", least=2e5 / 0.39),
    Row("diff, 1,000 steps x 200 numbers", "values/s", "query/compare/1000x200", least=2e5 / 0.39),
    Row("VanishingGradient, 50 x 4 KiB a step", "steps/s", "rules/one/50x4KiB",
        "judge_50x4KiB", 30),
    # 1.0 judges with one rule after the other; ten take ten times as long.
    Row("ten rules, 50 x 4 KiB a step", "steps/s", "rules/ten/50x4KiB",
        limit="rules/one/50x4KiB", of_limit=1 / 3),
    Row("a rule in Python, 50 x 4 KiB a step", "steps/s", "rules/python/50x4KiB",
        "judge_50x4KiB", 5),
    Row("1,000,000 live steps, a rule fires at each", "steps/s", "rules/fires/1000000"),
    Row("the same, the last step over the first", "x", "rules/fires/1000000", most=1.25),
    Row("the same, memory that it grows by", "MB", "rules/fires/1000000", most=8),
    Row("a rule asked at each of 100,000 steps", "steps/s", "rules/step_judge/100000",
        limit="rules/step_judge/10000", of_limit=0.8),
    Row("step sealed to verdict in the hook, median", "ms", "rules/in_hook/50x4KiB", most=1),
    Row("step ended to verdict in the hook, median", "ms", "rules/in_hook/50x4KiB",
        counter="since_end_ms"),
    Row("step published to verdict of watch, median", "ms", "rules/watch", most=100),
    Row("step published to verdict of watch, p99", "ms", "rules/watch", most=100,
        counter="p99_ms"),
    Row("refresh that finds nothing", "queries/s", "trial/refresh_nothing", least=1 / 100e-6),
    Row("step closed to step seen, median", "ms", "trial/live_latency", "live_median", most=10),
    Row("step closed to step seen, p99", "ms", "trial/live_latency", "live_p99", most=50,
        counter="p99_ms"),
)  # fmt: skip


def step_row(
    title: str,
    unit: str,
    name: str,
    target: float | None = None,
    most: float | None = None,
) -> Row:
    """A row of bench/python/step_bench.py, which measures both sides alike."""
    return Row(title, unit, name, f"{name}/{UNITS[unit][0]}", target, most=most)


# What a hook adds to a training step of PyTorch, in time or in percent of the bare step.
PYTHON_ROWS = (
    Row("import smdebug, over NumPy", "ms", "import/smdebug", "import/smdebug/ms", most=100,
        counter="ms"),
    Row("import smdebug.pytorch, over PyTorch", "ms", "import/smdebug.pytorch",
        "import/smdebug.pytorch/ms", counter="ms"),
    step_row("MLP, idle step", "us", "mlp/idle", most=20),
    step_row("LeNet, idle step", "us", "lenet/idle", most=20),
    step_row("ResNet-18, idle step", "us", "resnet18/idle", most=20),
    step_row("transformer, idle step", "us", "transformer/idle", most=20),
    step_row("100 modules, idle step", "us", "modules100/idle", 30, most=20),
    step_row("100 modules, idle, each module", "us", "modules100/idle_module"),
    step_row("100 modules, each saved tensor", "us", "modules100/raw_tensor", most=5),
    step_row("save_tensor, 1000 x 4 KiB, each", "us", "mlp/save_tensor_each", 30),
    step_row("transformer, 5 reductions every step", "%", "transformer/reductions", 4, most=5),
    step_row("transformer, raw every step", "%", "transformer/raw", 4, most=15),
    step_row("transformer, raw every 10 steps", "%", "transformer/raw_every_10", 4, most=2),
    step_row("transformer, all tensors every 10", "%", "transformer/all_every_10", 4, most=12),
    step_row("ResNet-18, 5 reductions every step", "%", "resnet18/reductions", 4, most=5),
    step_row("ResNet-18, raw every step", "%", "resnet18/raw", 4, most=15),
    step_row("ResNet-18, raw every 10 steps", "%", "resnet18/raw_every_10", 4, most=2),
    step_row("ResNet-18, all tensors every 10", "%", "resnet18/all_every_10", 4, most=12),
    step_row("LeNet, 5 reductions every step", "%", "lenet/reductions"),
    step_row("LeNet, raw every step", "%", "lenet/raw"),
    step_row("LeNet, raw every 10 steps", "%", "lenet/raw_every_10"),
    step_row("LeNet, all tensors every 10", "%", "lenet/all_every_10"),
    step_row("MLP, 5 reductions every step", "%", "mlp/reductions"),
    step_row("MLP, raw every step", "%", "mlp/raw"),
    step_row("MLP, raw every 10 steps", "%", "mlp/raw_every_10"),
    step_row("MLP, all tensors every 10", "%", "mlp/all_every_10"),
    Row("fake device, idle: all that is asked for", "a step", "device/idle", most=0,
        counter="asked"),
    Row("fake device, raw: waits of the training", "a step", "device/raw", most=0,
        counter="training_waits"),
    Row("fake device, raw: waits of any thread", "a step", "device/raw", most=1, counter="waits"),
    Row("fake device, raw: transfers of 201 tensors", "a step", "device/raw",
        counter="transfers"),
    Row("fake device, reductions: training waits", "a step", "device/reductions", most=0,
        counter="training_waits"),
    Row("fake device, reductions: waits of any", "a step", "device/reductions", most=1,
        counter="waits"),
    Row("fake device, reductions: transfers", "a step", "device/reductions",
        counter="transfers"),
    Row("100 modules, raw, on the CPU", "us", "way/cpu/raw"),
    Row("100 modules, raw, by the way of a device", "us", "way/device/raw"),
    Row("100 modules, reductions, on the CPU", "us", "way/cpu/reductions"),
    Row("100 modules, reductions, way of a device", "us", "way/device/reductions"),
    step_row("XGBoost 10k x 50, metrics each round", "%", "xgboost/metrics", most=0.5),
    step_row("XGBoost, and importance of features", "%", "xgboost/importance", most=3),
    step_row("XGBoost, predictions, over computing", "%", "xgboost/predictions", most=2),
    step_row("XGBoost, average SHAP, over computing", "%", "xgboost/average_shap", most=2),
    step_row("XGBoost, full SHAP, over computing", "%", "xgboost/full_shap", most=2),
    Row("XGBoost, full SHAP, matrices stored", "x", "xgboost/full_shap",
        "xgboost/full_shap/matrices", most=1.05, counter="matrices"),
)  # fmt: skip
