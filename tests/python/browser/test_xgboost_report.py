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
# Which charts a report has, by a part of their titles.
COMMON = ["over the steps", "Feature importance by gain"]
JOBS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "binary": ({"objective": "binary:logistic", "eval_metric": ["logloss", "auc"]}, ["Confusion"]),
    "classes": (
        {"objective": "multi:softprob", "num_class": 4, "eval_metric": ["mlogloss", "merror"]},
        ["Confusion"],
    ),
    "regression": ({"objective": "reg:squarederror", "eval_metric": ["rmse", "mae"]}, ["esidual"]),
}

# The charts of a page: title, size on the screen, and how many marks each has.
CHARTS = """
return [...document.querySelectorAll('svg.chart')].map(chart => {
  const box = chart.getBoundingClientRect();
  const marks = [...chart.querySelectorAll('polyline, rect, circle, path')];
  return {
    title: chart.getAttribute('aria-label') || chart.querySelector('title')?.textContent || '',
    width: box.width, height: box.height, marks: marks.length,
    drawn: marks.filter(m => { const b = m.getBBox(); return b.width + b.height > 0; }).length,
  };
});
"""


def train(kind: str, out_dir: Path) -> None:
    random = np.random.default_rng(1)
    features = random.normal(size=(ROWS, len(FEATURES))).astype(np.float32)
    score = features[:, 0] * 2 + features[:, 1] + 0.3 * random.normal(size=ROWS)
    settings, _ = JOBS[kind]
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
        train_data=data,
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
    charts = window.run(CHARTS)
    titles = " ".join(chart["title"] for chart in charts)
    for wanted in COMMON:
        assert wanted in titles
    for chart in charts:
        assert chart["width"] > 200 and chart["height"] > 100, chart
        assert chart["marks"] > 0 and chart["drawn"] > 0, chart
    text = window.run("return document.body.innerText")
    for part in JOBS[kind][1]:
        assert part in text
    assert "NaN" not in text and "undefined" not in text
    if pictures := os.environ.get("SMDEBUG_PICTURES"):
        window.screenshot(Path(pictures) / f"xgboost_report_{kind}.png")  # For docs/reports.md.
    # Nothing is wider than the window.
    assert window.run("return document.documentElement.scrollWidth <= window.innerWidth")
    report = json.loads((folder / "xgboost_report.json").read_text())
    assert report
