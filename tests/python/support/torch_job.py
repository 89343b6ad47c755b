"""A job of several processes that train one model together: `python -m support.torch_job ...`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import smdebug.pytorch as smd
import torch
import torch.distributed as dist
from torch import nn

from support.torch_nets import Net, batches

STEPS = 4


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("--workers", default="one")
    parser.add_argument("--kind", choices=["ddp", "fsdp"], default="ddp")
    parser.add_argument("--hook", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net: nn.Module = Net()
    if arguments.kind == "ddp":
        net = nn.parallel.DistributedDataParallel(net)
    else:
        from torch.distributed.fsdp import fully_shard

        fully_shard(net)
    loss = nn.CrossEntropyLoss()
    if arguments.hook:
        hook = smd.Hook(
            arguments.run,
            save_all=True,
            save_config=smd.SaveConfig(save_interval=2),
            include_workers=arguments.workers,
        )
        hook.register_module(net)
        hook.register_loss(loss)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    losses = []
    for x, y in batches(STEPS, seed=rank):
        optimizer.zero_grad()
        value = loss(net(x), y)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    if arguments.hook:
        hook.close()
    Path(f"{arguments.run}.losses.{rank}").write_text(repr(losses))
    dist.barrier()
    dist.destroy_process_group()
    # Threads of gloo may outlive the interpreter; everything is written.
    os._exit(0)


if __name__ == "__main__":
    main()
