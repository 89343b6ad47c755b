#!/usr/bin/env python3
"""Learns its noise by heart; a rule inside the hook says so while it happens."""

from __future__ import annotations

import argparse

import numpy as np
import smdebug.xgboost as smd
import xgboost as xgb


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out-dir", default="runs/goes_wrong")
    parser.add_argument("--steps", type=int, default=120)
    args = parser.parse_args()
    random = np.random.default_rng(0)
    table = random.normal(size=(400, 10))
    target = table[:, 0] + 2 * random.normal(size=400)
    hook = smd.Hook(
        out_dir=args.out_dir,
        save_config=smd.SaveConfig(save_interval=1),
        include_collections=["losses"],
        rules="Overfit",
    )
    halves = [
        xgb.DMatrix(table[half], label=target[half]) for half in (slice(200), slice(200, 400))
    ]
    xgb.train(
        {"max_depth": 8, "eval_metric": "rmse"},
        halves[0],
        args.steps,
        evals=list(zip(halves, ("train", "validation"))),
        callbacks=[hook],
        verbose_eval=False,
    )
    hook.close()
    for report in hook.rule_reports:
        for finding in report["findings"][:1]:
            print(f"{report['name']} at step {finding['step']}: {finding['message']}")
    print("Look at it:")
    print(f"  smdebug plot {args.out_dir} validation-rmse")


if __name__ == "__main__":
    main()
