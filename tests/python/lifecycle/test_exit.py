"""However a script ends, what was sealed is there, and the end is marked once."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from smdebug.exceptions import MissingCollectionFiles
from smdebug.rules import check
from smdebug.trials import create_trial
from support.scripts import RunScript, StartScript

TRAIN = """
hook = make_hook(save_all=True)
net = nn.Linear(2, 1)
hook.register_module(net)
for _ in range(3):
    net(torch.ones(1, 2)).sum().backward()
hook.save_scalar("last", 1)
"""

ENDS = {
    "falling off the end": ("", 0),
    "an exception": ("raise ValueError('boom')", 1),
    "sys.exit": ("sys.exit(3)", 3),
    "close, then the end": ("hook.close()", 0),
    "close twice": ("hook.close(); hook.close()", 0),
    "a thread that still runs": (
        "import threading; threading.Thread(target=net, args=(torch.ones(1, 2),)).start()",
        0,
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_run_is_whole_and_ended(end: str, run_script: RunScript, run_dir: Path) -> None:
    text, code = ENDS[end]
    done = run_script(TRAIN + text)
    assert done.returncode == code, done.stdout
    assert (run_dir / "training_job_end.ts").exists()
    assert not list(run_dir.rglob("*.tmp"))
    trial = create_trial(str(run_dir))
    assert trial.steps()[:3] == [0, 1, 2]
    assert trial.tensor("scalar/last").value(2).item() == 1


FAILS = """
try:
    raise ValueError("boom")
except ValueError as error:
    print("sorry", error)
    sys.exit(1)
"""

ENDINGS = {
    "sys.exit in the script": ("sys.exit(1)", "failed", "exit status 1"),
    "sys.exit after an exception": (FAILS, "failed", "exit status 1"),
    "sys.exit in a function": ("def end(): sys.exit(3)\nend()", "failed", "exit status 3"),
    "sys.exit with a text": ("sys.exit('no data')", "failed", "exit status 1: no data"),
    "sys.exit through a finally": (
        "try:\n    sys.exit(2)\nfinally:\n    print('bye')",
        "failed",
        "exit status 2",
    ),
    "sys.exit past close": (
        "try:\n    sys.exit(2)\nfinally:\n    hook.close()",
        "failed",
        "exit status 2",
    ),
    "a kind of SystemExit past close": (
        "class Asked(SystemExit): pass\ntry:\n    raise Asked\nfinally:\n    hook.close()",
        "interrupted",
        "Asked",
    ),
    "sys.exit without a code": ("sys.exit()", "finished", ""),
    "sys.exit(0)": ("sys.exit(0)", "finished", ""),
    "sys.exit that is caught": (
        "try:\n    sys.exit(1)\nexcept SystemExit:\n    print('not yet')",
        "finished",
        "",
    ),
    "sys.exit of a thread": (
        "import threading\nthread = threading.Thread(target=sys.exit, args=(1,))\n"
        "thread.start()\nthread.join()",
        "finished",
        "",
    ),
    "an exception without a text": ("raise ValueError", "failed", "ValueError"),
    "Ctrl-C": ("raise KeyboardInterrupt", "interrupted", "KeyboardInterrupt"),
}


@pytest.mark.parametrize("end", ENDINGS)
def test_a_run_tells_how_its_script_ended(end: str, run_script: RunScript, run_dir: Path) -> None:
    text, state, reason = ENDINGS[end]
    done = run_script(TRAIN + text)
    info = create_trial(str(run_dir)).run_info()
    assert (info.state, info.reason) == (state, reason), done.stdout


def test_a_script_that_ended_with_an_error_can_start_again(
    run_script: RunScript, run_dir: Path
) -> None:
    assert run_script(TRAIN + FAILS).returncode == 1
    again = run_script(TRAIN)
    assert again.returncode == 0, again.stdout
    assert create_trial(str(run_dir)).run_info().state == "finished"


def test_a_run_that_was_killed_before_its_first_step_says_so(
    run_script: RunScript, run_dir: Path
) -> None:
    text = "hook = make_hook()\nhook.save_scalar('early', 1)\nos.kill(os.getpid(), 9)"
    assert run_script(text).returncode == -signal.SIGKILL
    with pytest.raises(
        MissingCollectionFiles, match=r"ended \(killed.*\) before it saved anything"
    ):
        create_trial(str(run_dir))


def test_a_job_of_which_a_worker_never_came_opens(run_script: RunScript, run_dir: Path) -> None:
    text = """
from smdebug._hook.worker import Worker
smd.Hook._find_worker = lambda self: Worker.of_rank(0, 2)
hook = make_hook(save_all=True, include_workers="all")
net = nn.Linear(2, 1)
hook.register_module(net)
for _ in range(3):
    net(torch.ones(1, 2)).sum().backward()
hook.close()
"""
    done = run_script(text)
    assert done.returncode == 0, done.stdout
    trial = create_trial(str(run_dir))
    assert trial.run_info().state == "killed"
    assert "1 of 2 workers closed" in trial.run_info().reason
    assert trial.steps() == [0, 1, 2]
    assert trial.workers() == ["worker_0"]
    (report,) = check(str(run_dir), ["AllZero:tensor_regex=bias"])
    assert report["status"] == "NoIssuesFound"


def test_a_hook_that_could_not_enter_its_folder_counts_it(run_script: RunScript) -> None:
    text = """
hook = make_hook(save_all=True)
open(os.path.join(run, "training_job_end.ts"), "w").close()
net = nn.Linear(2, 1)
hook.register_module(net)
net(torch.ones(1, 2))
assert hook.stats["errors"] == 1, hook.stats
assert hook.stats["steps_saved"] == 0
"""
    done = run_script(text)
    assert done.returncode == 0, done.stdout
    assert "smdebug saves nothing" in done.stdout


def test_a_killed_script_leaves_whole_steps(start_script: StartScript, run_dir: Path) -> None:
    text = """
hook = make_hook(save_all=True)
net = nn.Linear(2, 1)
hook.register_module(net)
step = 0
while True:
    net(torch.full((1, 2), float(step)))
    step += 1
    if hook.stats["steps_saved"] >= 5:
        print("running", flush=True)
"""
    script = start_script(text)
    script.read_until("running")
    os.kill(script.pid, signal.SIGKILL)
    assert script.finish().returncode == -signal.SIGKILL
    assert not (run_dir / "training_job_end.ts").exists()
    trial = create_trial(str(run_dir))
    assert len(trial.steps()) >= 5
    assert trial.steps() == list(range(len(trial.steps())))
    for step in trial.steps():
        assert trial.tensor("Linear_input_0").value(step).tolist() == [[step, step]]


def test_the_next_run_sets_a_killed_one_aside(run_script: RunScript, run_dir: Path) -> None:
    killed = run_script(
        TRAIN
        + "hook.end_step()\nassert hook.flush(60)\nprint('all is written', flush=True)\n"
        + "os.kill(os.getpid(), 9)"
    )
    # One that hangs is killed, too.
    assert "all is written" in killed.stdout
    assert killed.returncode == -signal.SIGKILL
    done = run_script(TRAIN)
    assert done.returncode == 0, done.stdout
    assert "previous/1" in done.stdout
    assert create_trial(str(run_dir)).steps() == [0, 1, 2]


@pytest.mark.parametrize("is_kept", [False, True], ids=["", "else it is told"])
def test_nothing_of_the_core_outlives_what_used_it(is_kept: bool, run_script: RunScript) -> None:
    text = f"""
import gc
from smdebug import _core
from smdebug.trials import create_trial
_core.warn_of_leaks()
hook.close()
trial = create_trial(run)
tensor = trial.tensor("scalar/last")
assert tensor.value(2) == 1
if {is_kept}:
    import ctypes
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(hook._core))
del hook, net, trial, tensor
smd.del_hook()
gc.collect()
"""
    done = run_script(TRAIN + text)
    assert done.returncode == 0, done.stdout
    assert ("nanobind: leaked" in done.stdout) == is_kept


def test_a_finished_run_is_not_overwritten(run_script: RunScript, run_dir: Path) -> None:
    assert run_script(TRAIN).returncode == 0
    again = run_script(TRAIN)
    assert again.returncode == 1
    assert "already exists" in again.stdout
    assert create_trial(str(run_dir)).steps() == [0, 1, 2]


def test_a_notebook_cell_that_runs_again_starts_over(run_script: RunScript, run_dir: Path) -> None:
    cell = """
hook = make_hook(save_all=True)
model = nn.Linear(2, 1) if new_model or hook is None else model
hook.register_module(model)
for _ in range(2 + again):
    model(torch.ones(1, 2)).sum().backward()
"""
    text = f"""
model = nn.Linear(2, 1)
for again, new_model in enumerate((True, True, False)):
    exec({cell!r})
assert len(model._forward_pre_hooks) == 1
"""
    done = run_script(text)
    assert done.returncode == 0, done.stdout
    trial = create_trial(str(run_dir))
    assert trial.steps() == [0, 1, 2, 3]
    assert (run_dir / "previous/1").is_dir()
    assert (run_dir / "previous/2").is_dir()


def test_several_hooks_in_one_process(run_script: RunScript, run_dir: Path) -> None:
    text = """
one = smd.Hook(run + "/one", save_config=smd.SaveConfig(save_interval=1), save_all=True)
two = smd.Hook(run + "/two", save_config=smd.SaveConfig(save_interval=2), save_all=True)
net = nn.Linear(2, 1)
one.register_module(net)
two.register_module(net)
for _ in range(4):
    net(torch.ones(1, 2)).sum().backward()
assert smd.get_hook() is two
"""
    done = run_script(text)
    assert done.returncode == 0, done.stdout
    assert create_trial(str(run_dir / "one")).steps() == [0, 1, 2, 3]
    two = create_trial(str(run_dir / "two"))
    assert two.steps() == [0, 2]
    assert two.tensor("gradient/Linear_weight").steps() == [0, 2]


def test_sigterm_by_default_keeps_what_was_sealed(start_script: StartScript, run_dir: Path) -> None:
    text = """
hook = make_hook(save_all=True)
net = nn.Linear(2, 1)
hook.register_module(net)
for _ in range(5):
    net(torch.ones(1, 2)).sum().backward()
print("trained", flush=True)
import signal
signal.pause()
"""
    script = start_script(text)
    script.read_until("trained")
    os.kill(script.pid, signal.SIGTERM)
    assert script.finish().returncode == -signal.SIGTERM
    trial = create_trial(str(run_dir))
    assert trial.steps()[:4] == [0, 1, 2, 3]
    assert (run_dir / "training_job_end.ts").exists()


LATER = """
import signal
before = signal.getsignal(signal.SIGTERM)
def later(number, frame):
    print("noted", flush=True)
    if {calls}:
        before(number, frame)
signal.signal(signal.SIGTERM, later)
os.kill(os.getpid(), signal.SIGTERM)
print("went on", flush=True)
"""


def test_a_handler_that_keeps_to_the_default_goes_on(run_script: RunScript, run_dir: Path) -> None:
    keeps = LATER.format(calls="before not in (None, signal.SIG_DFL)")
    done = run_script(TRAIN + keeps)
    assert done.returncode == 0, done.stdout
    assert "noted" in done.stdout
    assert "went on" in done.stdout
    assert create_trial(str(run_dir)).run_info().state == "finished"


def test_a_handler_that_calls_ours_decides(run_script: RunScript, run_dir: Path) -> None:
    done = run_script(TRAIN + LATER.format(calls="callable(before)") + "net(torch.ones(1, 2))")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("noted") == 1
    assert "went on" in done.stdout
    trial = create_trial(str(run_dir))
    assert trial.steps() == [0, 1, 2, 3]
    assert (trial.run_info().state, trial.run_info().reason) == ("interrupted", "SIGTERM")


def test_a_script_that_was_asked_to_end_and_closes_has_finished(
    run_script: RunScript, run_dir: Path
) -> None:
    done = run_script(TRAIN + LATER.format(calls="callable(before)") + "hook.close()")
    assert done.returncode == 0, done.stdout
    assert create_trial(str(run_dir)).run_info().state == "finished"


def test_a_handler_that_was_there_before_is_left_alone(
    run_script: RunScript, run_dir: Path
) -> None:
    text = """
import signal
def first(number, frame):
    print("noted", flush=True)
signal.signal(signal.SIGTERM, first)
"""
    done = run_script(
        f"{text}{TRAIN}assert signal.getsignal(signal.SIGTERM) is first\n"
        "os.kill(os.getpid(), signal.SIGTERM)\nprint('went on')"
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("noted") == 1
    assert "went on" in done.stdout
    assert create_trial(str(run_dir)).run_info().state == "finished"


def test_a_handler_that_restores_ours_ends_the_process(
    run_script: RunScript, run_dir: Path
) -> None:
    text = LATER.format(calls="False")
    text += "signal.signal(signal.SIGTERM, before)\nos.kill(os.getpid(), signal.SIGTERM)\n"
    done = run_script(f"{TRAIN}{text}print('not ended')")
    assert done.returncode == -signal.SIGTERM, done.stdout
    assert "not ended" not in done.stdout
    info = create_trial(str(run_dir)).run_info()
    assert (info.state, info.reason) == ("interrupted", "SIGTERM")


STUCK = """
import ctypes
from smdebug._hook import endings
endings.GRACE_SECONDS = 0.2
hook = make_hook(save_all=True)
net = nn.Linear(2, 1)
hook.register_module(net)
for _ in range(5):
    net(torch.ones(1, 2)).sum().backward()
assert hook.flush(60)
libc = ctypes.PyDLL(None)
mutex = ctypes.create_string_buffer(64)
libc.pthread_mutex_lock(mutex)
with open(run + ".mutex", "w") as file:
    file.write(hex(ctypes.addressof(mutex)))
print("trained", flush=True)
libc.pthread_mutex_lock(mutex)
"""


def await_stuck(pid: int, mutex: str) -> None:
    """Waits until the process waits in the kernel for a mutex."""
    while mutex not in Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").split():
        time.sleep(0.001)


def test_a_process_that_is_stuck_in_a_library_ends(
    start_script: StartScript, run_dir: Path
) -> None:
    script = start_script(STUCK)
    script.read_until("trained")
    await_stuck(script.pid, Path(f"{run_dir}.mutex").read_text(encoding="ascii"))
    os.kill(script.pid, signal.SIGTERM)
    assert script.finish().returncode == -signal.SIGTERM
    trial = create_trial(str(run_dir))
    assert trial.steps()[:4] == [0, 1, 2, 3]
    assert trial.run_info().state == "killed"


def test_a_forked_child_ends_by_sigterm_at_once(run_script: RunScript) -> None:
    text = """
import signal
readable, writable = os.pipe()
child = os.fork()
if child == 0:
    os.write(writable, b"!")  # What comes before, Python forgets.
    while True:
        signal.pause()
os.read(readable, 1)
os.kill(child, signal.SIGTERM)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
"""
    done = run_script(TRAIN + text)
    assert done.returncode == 0, done.stdout
