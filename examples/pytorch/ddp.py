"""Data-parallel training in several processes, each of which saves: workers of one run.

python examples/pytorch/ddp.py --out-dir runs/ddp
torchrun --nproc-per-node 2 examples/pytorch/ddp.py --out-dir runs/ddp
"""

from __future__ import annotations

import argparse
import os
import socket

import smdebug.pytorch as smd
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def train(rank: int, processes: int, port: int, arguments: argparse.Namespace) -> None:
    """One process. torchrun has set where the others are; here we do."""
    if "RANK" not in os.environ:
        place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        place |= {"RANK": rank, "WORLD_SIZE": processes}
        os.environ.update({key: str(value) for key, value in place.items()})
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = nn.parallel.DistributedDataParallel(nn.Linear(16, 4))
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    # After init_process_group(), which tells the hook which worker it is. By default only rank 0
    # saves; with "all" each process writes files of its own in the same folder.
    hook = smd.Hook(
        out_dir=arguments.out_dir,
        include_workers="all",
        include_collections=["weights", "gradients"],
        save_config=smd.SaveConfig(save_interval=10),
    )
    hook.register_module(net)
    hook.register_loss(loss_function)

    truth = torch.randn(16, 4)
    torch.manual_seed(1 + rank)  # Data of its own for each process.
    for _ in range(arguments.steps):
        x = torch.randn(32, 16)
        optimizer.zero_grad()
        loss = loss_function(net(x), (x @ truth).argmax(1))
        loss.backward()
        optimizer.step()

    hook.close()
    dist.barrier()
    if rank == 0:
        tell(arguments.out_dir)
    dist.destroy_process_group()


def tell(out_dir: str) -> None:
    trial = smd.create_trial(out_dir)
    loss = trial.tensor("CrossEntropyLoss_output_0")
    print(f"workers {trial.workers()}")
    for step in trial.steps():
        values = [loss.value(step, worker=worker).item() for worker in loss.workers(step)]
        print(f"step {step}: losses {', '.join(f'{value:.3f}' for value in values)}")
    print(f"""
Look at the run:
  smdebug status {out_dir}
  smdebug plot {out_dir} CrossEntropyLoss_output_0 --worker worker_1
  smdebug ls {out_dir} --collection gradients""")


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out-dir", default="runs/ddp", help="folder of the run")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--processes", type=int, default=2, help="without torchrun")
    arguments = parser.parse_args()
    if "RANK" in os.environ:
        train(int(os.environ["RANK"]), 0, 0, arguments)
    else:
        mp.spawn(train, (arguments.processes, free_port(), arguments), arguments.processes)


if __name__ == "__main__":
    main()
