"""The report about a run of XGBoost, opened in a browser."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smdebug.xgboost as smd
import xgboost as xgb
from support.browser import Browser
from support.smdebug_program import smdebug

ROWS = 600
FEATURES = ["income", "age", "visits", "distance", "rooms", "floor"]
# The charts that every report has, beside those of its metrics.
TYPES = ("weight", "gain", "cover", "total_gain", "total_cover")
COMMON = {"Distribution of labels", *(f"Feature importance by {kind}" for kind in TYPES)}
# What each job is, the other charts of its report, and a heading.
JOBS: dict[str, tuple[dict[str, Any], set[str], str]] = {
    "binary": (
        {"objective": "binary:logistic", "eval_metric": ["logloss", "auc"]},
        {"Accuracy of each class", "ROC curve"},
        "Confusion matrix",
    ),
    "classes": (
        {"objective": "multi:softprob", "num_class": 4, "eval_metric": ["mlogloss", "merror"]},
        {"Accuracy of each class"},
        "Confusion matrix",
    ),
    "regression": (
        {"objective": "reg:squarederror", "eval_metric": ["rmse", "mae"]},
        {"Residuals at the last step", "Absolute error by label, the eight worst"},
        "Residuals at the last step",
    ),
}

# The charts of a page: title, size on the screen, and the lengths of the lines and bars in them.
CHARTS = """
return [...document.querySelectorAll('svg.chart')].map(chart => {
  const box = chart.getBoundingClientRect();
  return {
    title: chart.getAttribute('aria-label'), width: box.width, height: box.height,
    lines: [...chart.querySelectorAll('polyline.line')].map(line => line.getTotalLength()),
    bars: [...chart.querySelectorAll('rect.bar')].map(bar => bar.getBBox().height),
  };
});
"""


def train(kind: str, out_dir: Path) -> None:
    random = np.random.default_rng(1)
    features = random.normal(size=(ROWS, len(FEATURES))).astype(np.float32)
    score = features[:, 0] * 2 + features[:, 1] + 0.3 * random.normal(size=ROWS)
    settings = JOBS[kind][0]
    edges = {"binary": [0.0], "classes": list(np.quantile(score, [0.25, 0.5, 0.75]))}
    labels = np.digitize(score, edges[kind]) if kind in edges else score
    half = ROWS // 2
    data, validation = (
        xgb.DMatrix(features[rows], labels[rows], feature_names=FEATURES)
        for rows in (slice(half), slice(half, None))
    )
    hook = smd.Hook(
        str(out_dir),
        save_config=smd.SaveConfig(save_interval=1),
        include_collections=[
            "hyperparameters",
            "metrics",
            "predictions",
            "labels",
            "feature_importance",
        ],
        hyperparameters=settings,
        validation_data=validation,
    )
    xgb.train(
        {**settings, "nthread": 1, "max_depth": 3},
        data,
        20,
        evals=[(data, "train"), (validation, "validation")],
        callbacks=[hook],
        verbose_eval=False,
    )
    hook.close()
    smd.del_hook()


@pytest.mark.parametrize("kind", JOBS)
def test_every_chart_is_drawn(kind: str, window: Browser, tmp_path: Path) -> None:
    train(kind, tmp_path / "run")
    smdebug("check", tmp_path / "run", "--rule", "CreateXgboostReport", code=0)
    folder = tmp_path / "run/rules/CreateXgboostReport"
    window.open(folder / "xgboost_report.html")

    assert window.console() == []
    settings, own, heading = JOBS[kind]
    charts = window.run(CHARTS)
    metrics = {f"{metric} over the steps" for metric in settings["eval_metric"]}
    titles = {chart["title"].partition(", area")[0] for chart in charts}
    assert titles == COMMON | metrics | own
    for chart in charts:
        assert chart["width"] > 200 and chart["height"] > 100, chart
        assert bool(chart["lines"]) != bool(chart["bars"]), chart
        assert all(length > 50 for length in chart["lines"]), chart
        assert not chart["bars"] or max(chart["bars"]) > 50, chart
    text = window.run("return document.body.innerText")
    assert heading in text
    assert "NaN" not in text and "undefined" not in text
    if pictures := os.environ.get("SMDEBUG_PICTURES"):
        window.screenshot(Path(pictures) / f"xgboost_report_{kind}.png")  # For docs/reports.md.
    # Nothing is wider than the window.
    assert window.run("return document.documentElement.scrollWidth <= window.innerWidth")
    report = json.loads((folder / "xgboost_report.json").read_text())
    assert set(report["feature_importance"]) == set(TYPES)
    assert ("residuals" in report) == (kind == "regression")
