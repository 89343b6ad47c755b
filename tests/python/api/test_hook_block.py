"""A hook in a with block, the end of a step, waiting for files, and scalars at chosen steps."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import smdebug.pytorch as smd  # noqa: E402
from smdebug import _core  # noqa: E402
from smdebug.core.hook import BaseHook  # noqa: E402
from support.driver import program  # noqa: E402
from support.fail_open import ledger_of  # noqa: E402
from support.log import logged  # noqa: E402
from support.torch_nets import Net, batches  # noqa: E402

pytestmark = pytest.mark.usefixtures("no_torch_hook")

EVERY = smd.SaveConfig(save_interval=1)


def messages(run: str) -> str:
    """What the ledger of the run says went wrong."""
    return " ".join(ledger_of(Path(run))["messages"].values())


def cli(*arguments: str) -> str:
    return subprocess.run(
        [program("smdebug"), *arguments], capture_output=True, text=True, check=True
    ).stdout


def ending(run: str) -> tuple[str, str]:
    _, state, reason = _core.run_info(run)
    return state, reason


def watched(run: str, forwards_per_step: int = 1) -> tuple[smd.Hook, Net]:
    hook = smd.Hook(
        run,
        save_config=EVERY,
        include_collections=["weights"],
        forwards_per_step=forwards_per_step,
    )
    net = Net()
    hook.register_module(net)
    return hook, net


@pytest.mark.parametrize("kind", [smd.Hook, BaseHook])
def test_the_end_of_the_block_closes_the_hook(kind: type[BaseHook], run: str) -> None:
    with kind(run) as hook:
        assert isinstance(hook, kind)
        hook.save_scalar("loss", 1.5)
    assert ending(run)[0] == "finished"
    assert smd.create_trial(run).tensor("scalar/loss").value(0) == 1.5
    hook.close()


@pytest.mark.parametrize(
    ("error", "state"), [(ValueError("bad"), "failed"), (KeyboardInterrupt(), "interrupted")]
)
def test_an_exception_that_ends_the_block_is_recorded_and_goes_on(
    error: BaseException, state: str, run: str
) -> None:
    with pytest.raises(type(error)), smd.Hook(run) as hook:
        hook.save_scalar("loss", 1)
        raise error
    found, reason = ending(run)
    assert found == state
    assert type(error).__name__ in reason


def test_an_exception_that_was_handled_before_the_block_is_not_its_own(run: str) -> None:
    try:
        raise ValueError("handled")
    except ValueError:
        with smd.Hook(run) as hook:
            hook.save_scalar("loss", 1)
    assert ending(run)[0] == "finished"


def test_a_step_that_was_ended_can_be_read_at_once(run: str) -> None:
    hook, net = watched(run)
    for step, (x, _) in enumerate(batches(3)):
        net(x)
        hook.end_step()
        assert hook.flush()
        assert smd.create_trial(run).steps() == list(range(step + 1))
    hook.close()


def test_a_step_without_an_end_is_not_waited_for(run: str) -> None:
    hook, net = watched(run)
    for x, _ in batches(2):
        net(x)
    assert hook.flush(timeout=60)
    assert smd.create_trial(run).steps() == [0]
    hook.close()
    assert smd.create_trial(run).steps() == [0, 1]


def test_a_forward_pass_after_the_end_of_a_step_begins_another(run: str) -> None:
    hook, net = watched(run, forwards_per_step=4)
    passes = [x for x, _ in batches(6)]
    for x in passes[:2]:
        net(x)
    hook.end_step()
    for x in passes[2:]:
        net(x)
    hook.close()
    assert smd.create_trial(run).steps() == [0, 1]


def test_a_tensor_saved_after_the_end_of_a_step_waits_for_the_next(run: str) -> None:
    hook, net = watched(run)
    for number, (x, _) in enumerate(batches(2)):
        out = net(x)
        hook.save_tensor("inside", torch.tensor([float(number)]), "weights")
        hook.end_step()
        hook.save_tensor("after", torch.tensor([float(number)]), "weights")
        out.sum().backward()
    assert hook.stats["dropped"] == 0
    hook.close()
    trial = smd.create_trial(run)
    assert trial.tensor("after").steps() == [1]
    assert trial.tensor("after").value(1) == [0]


def test_before_the_first_step_and_after_the_end_there_is_nothing_to_end(run: str) -> None:
    hook, net = watched(run)
    hook.end_step()
    assert hook.flush()
    net(next(iter(batches(1)))[0])
    hook.close()
    hook.end_step()
    assert hook.flush()


@pytest.mark.parametrize("timeout", ["1", True, [1], -1, -0.001, math.nan])
def test_a_timeout_that_cannot_be_is_counted_and_training_goes_on(
    timeout: object, run: str
) -> None:
    hook, net = watched(run)
    net(next(iter(batches(1)))[0])
    assert not hook.flush(timeout)  # type: ignore[arg-type]
    assert hook.stats["skipped"] == 1
    hook.end_step()
    assert hook.flush(10)
    hook.close()
    assert "timeout: " in messages(run)


def test_a_timeout_may_be_for_ever(run: str) -> None:
    hook, net = watched(run)
    net(next(iter(batches(1)))[0])
    hook.end_step()
    assert hook.flush(math.inf)
    hook.close()


def test_a_scalar_may_have_a_step_of_its_own(run: str) -> None:
    hook, net = watched(run)
    hook.save_scalar("s", 2, step=2)
    for x, _ in batches(4):
        net(x)
    hook.save_scalar("s", 1, step=1)
    hook.save_scalar("s", 9, step=9)
    hook.save_scalar("now", 3)
    hook.close()
    trial = smd.create_trial(run)
    scalar = trial.tensor("scalar/s")
    assert {step: scalar.value(step) for step in scalar.steps()} == {1: 1, 2: 2, 9: 9}
    assert trial.tensor("scalar/now").steps() == [3]


@pytest.mark.parametrize("is_ended", [False, True])
def test_a_scalar_of_a_step_that_never_comes_does_not_make_it(is_ended: bool, run: str) -> None:
    hook, net = watched(run)
    hook.set_mode(smd.modes.TRAIN)
    for x, _ in batches(3):
        net(x)
    steps = [0, 1, 2]
    if is_ended:  # Its files are out, and those of another step take the scalar.
        steps.append(3)
        hook.end_step()
        assert hook.flush(10)
    hook.save_scalar("s", 7.5, step=70)
    hook.close()
    trial = smd.create_trial(run)
    assert trial.steps() == trial.steps(mode=smd.modes.TRAIN) == steps
    assert list(trial.modes()) == [smd.modes.TRAIN]
    assert trial.last_complete_step == steps[-1]
    scalar = trial.tensor("scalar/s")
    assert scalar.steps() == [70]
    assert scalar.steps(mode=smd.modes.TRAIN) == []
    assert scalar.value(70) == 7.5
    listed = json.loads(cli("ls", str(Path(run).parent), "--json"))["runs"][0]
    assert (listed["steps"], listed["last_step"]) == (len(steps), steps[-1])
    status = json.loads(cli("status", run, "--json"))
    assert status["steps"] == len(steps), status
    assert status["last_step"] == steps[-1]


def test_scalars_alone_make_a_run_with_the_caller_s_steps(run: str) -> None:
    with BaseHook(run) as hook:
        for step in range(0, 50, 10):
            hook.save_scalar("loss", 1 / (step + 1), step=step)
    loss = smd.create_trial(run).tensor("scalar/loss")
    assert loss.steps() == [0, 10, 20, 30, 40]
    assert loss.value(30) == 1 / 31


def test_status_counts_values_and_scalars_as_the_hook_does(run: str) -> None:
    hook, net = watched(run)
    for x, _ in batches(3):
        net(x)
        hook.save_scalar("at_a_step", 1)
    hook.end_step()
    hook.save_scalar("at_no_step", 2, step=70)
    hook.close()
    status = json.loads(cli("status", run, "--json"))
    assert status["values"] == hook.stats["values_saved"] > 0
    assert status["workers"][0]["values"] == status["values"]
    assert status["scalars"] == hook.stats["scalars_saved"] == 4


@pytest.mark.parametrize("step", [-1, 1.5, "1", True])
def test_a_step_that_cannot_be_is_counted_and_training_goes_on(step: object, run: str) -> None:
    hook, net = watched(run)
    net(next(iter(batches(1)))[0])
    hook.save_scalar("s", 1, step=step)  # type: ignore[arg-type]
    hook.save_scalar("s", 2)
    assert (hook.stats["errors"], hook.stats["skipped"]) == (0, 1)
    hook.close()
    said = messages(run)
    assert "scalar/s" in said
    assert "step: " in said
    assert "a whole number of at least 0" in said
    assert smd.create_trial(run).tensor("scalar/s").steps() == [0]


@pytest.mark.parametrize("name", [None, 3, b"loss"])
def test_a_name_that_is_none_is_counted_and_training_goes_on(name: object, run: str) -> None:
    hook, net = watched(run)
    net(next(iter(batches(1)))[0])
    hook.save_scalar(name, 1.0)  # type: ignore[arg-type]
    assert (hook.stats["errors"], hook.stats["skipped"]) == (0, 1)
    hook.close()
    assert f"name: {name!r} is not allowed; expected a name" in messages(run)
    assert not smd.create_trial(run).tensor_names(regex="^scalar/")


def test_each_reason_why_a_scalar_is_left_out_is_logged(run: str) -> None:
    hook, net = watched(run)
    net(next(iter(batches(1)))[0])
    with logged() as texts:
        for _ in range(3):
            hook.save_scalar("acc", 1, step=-1)
            hook.save_scalar("acc", "high")
            hook.save_scalar("acc", [1, 2])
    hook.close()
    assert hook.stats["skipped"] == 9
    about_acc = [text for text in texts if "scalar/acc" in text]
    assert len(about_acc) == 3, texts


@pytest.mark.parametrize("has_begun", [False, True])
@pytest.mark.parametrize("collections", [None, 5, ["weights", 3]])
def test_collections_that_cannot_be_are_counted_and_training_goes_on(
    collections: object, has_begun: bool, run: str
) -> None:
    hook, net = watched(run)
    x = next(iter(batches(1)))[0]
    if has_begun:
        net(x)
    hook.save_tensor("t", x, collections)  # type: ignore[arg-type]
    assert (hook.stats["errors"], hook.stats["skipped"]) == (0, 1)
    hook.save_tensor("u", x)
    net(x)
    hook.close()
    assert "collections_to_write: " in messages(run)
    assert smd.create_trial(run).has_tensor("u") is not smd.create_trial(run).has_tensor("t")


def test_a_forked_child_does_not_wait_for_its_parent_s_files(run: str) -> None:
    hook, net = watched(run)
    net(next(iter(batches(1)))[0])
    hook.end_step()
    child = os.fork()
    if child == 0:
        hook.end_step()
        os._exit(0 if hook.flush() is False else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert hook.flush()
    hook.close()


def test_nothing_of_a_copy_can_be_read(run: str) -> None:
    hook, net = watched(run)
    net(next(iter(batches(1)))[0])
    with pickle.loads(pickle.dumps(hook)) as copied:
        copied.end_step()
        assert copied.flush() is False
    hook.close()
    assert ending(run)[0] == "finished"
