"""Models that get adapters or new heads, in the libraries that people do that with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import accelerate
import lightning
import numpy as np
import pytest
import smdebug.pytorch as smd
import torch
from peft import LoraConfig, get_peft_model
from smdebug.trials import Trial, create_trial
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

pytestmark = pytest.mark.filterwarnings("ignore")

STEPS = 4
EVERY = smd.SaveConfig(save_interval=1)


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    smd.del_hook()
    yield
    smd.del_hook()


def make_hook(out_dir: str) -> smd.Hook:
    return smd.Hook(
        out_dir,
        include_collections=["weights", "biases", "gradients"],
        save_config=EVERY,
        forwards_per_step="auto",
    )


def check_gradients(
    trial: Trial, step: int, found: list[torch.Tensor], model: nn.Module, name: str
) -> None:
    """The run has the gradients that the optimizer found, and no others."""
    learning = [path for path, parameter in model.named_parameters() if parameter.requires_grad]
    names = sorted(f"gradient/{name}_{path}" for path in learning)
    assert trial.tensor_names(step=step, collection="gradients") == names
    assert len(found) == len(learning)
    for path, gradient in zip(learning, found):
        saved = trial.tensor(f"gradient/{name}_{path}").value(step)
        np.testing.assert_array_equal(saved, gradient.numpy())


def train_adapted(
    registered: str | None, out_dir: str, accumulate: int
) -> tuple[Trainer, smd.Hook | None]:
    set_seed(0)
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    model: Any = LlamaForCausalLM(config)
    words = torch.randint(0, 50, (64, 1)) + torch.arange(8)
    arguments = TrainingArguments(
        output_dir="checkpoints",
        max_steps=STEPS,
        gradient_accumulation_steps=accumulate,
        per_device_train_batch_size=4,
        max_grad_norm=0,  # Clipping comes after what is saved.
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
    )
    hook = None if registered is None else make_hook(out_dir)
    if hook and registered == "before":
        hook.register_module(model)
    model = get_peft_model(model, LoraConfig(target_modules=["q_proj", "v_proj"], r=2))
    if hook and registered == "after":
        hook.register_module(model)
    trainer = Trainer(
        model, arguments, train_dataset=[{"input_ids": row, "labels": row} for row in words]
    )
    trainer.train()
    if hook:
        hook.close()
    return trainer, hook


@pytest.mark.parametrize("registered", ["before", "after"])
@pytest.mark.parametrize("accumulate", [1, 3])
def test_adapters_of_lora(
    registered: str, accumulate: int, gradients: list[list[torch.Tensor]]
) -> None:
    trainer, hook = train_adapted(registered, "adapted", accumulate)
    assert hook is not None
    model: Any = trainer.model
    name = "PeftModel"
    if registered == "before":
        name, model = "LlamaForCausalLM", model.base_model.model
    trial = create_trial("adapted")
    assert trial.steps() == list(range(STEPS)) == list(range(len(gradients)))
    for step, found in enumerate(gradients):
        check_gradients(trial, step, found, model, name)
    adapters = [n for n in trial.tensor_names(collection="gradients") if "lora_" in n]
    assert len(adapters) == len(trial.tensor_names(collection="gradients")) == 4
    logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    for step in range(STEPS):
        losses = ["loss", *(f"loss_{number}" for number in range(1, accumulate))]
        saved = sum(trial.tensor(loss).value(step).item() for loss in losses)
        assert saved == pytest.approx(logged[step], rel=1e-5)
    assert hook.stats["skipped"] == hook.stats["errors"] == 0

    plain, _ = train_adapted(None, "none", accumulate)
    with_hook, without = trainer.model.state_dict(), plain.model.state_dict()
    assert all(torch.equal(with_hook[key], without[key]) for key in without)


class Classifier(lightning.LightningModule):
    """Gets a head for more classes after the first epoch."""

    def __init__(self, out_dir: str) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
        self.out_dir = out_dir

    def on_train_start(self) -> None:
        self.hook = make_hook(self.out_dir)
        self.hook.register_module(self.net)

    def on_train_epoch_start(self) -> None:
        if self.current_epoch == 1:
            self.net[2] = nn.Linear(8, 5)
            self.trainer.strategy.setup_optimizers(self.trainer)

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.net.parameters(), lr=0.1)


def test_a_new_head_in_lightning(gradients: list[list[torch.Tensor]]) -> None:
    lightning.seed_everything(0)
    data = torch.utils.data.TensorDataset(torch.randn(24, 4), torch.randint(0, 3, (24,)))
    module = Classifier("head")
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accumulate_grad_batches=2,
    )
    trainer.fit(module, torch.utils.data.DataLoader(data, batch_size=8))
    module.hook.close()
    trial = create_trial("head")
    assert trial.steps() == [0, 1, 2, 3]  # Of 3 batches an epoch, 2 and 1.
    for step, found in enumerate(gradients):
        check_gradients(trial, step, found, module.net, "Sequential")
    head = trial.tensor("Sequential_2.weight")
    assert [head.value(step).shape for step in range(4)] == [(3, 8), (3, 8), (5, 8), (5, 8)]
    np.testing.assert_allclose(
        head.value(3) - 0.1 * trial.tensor("gradient/Sequential_2.weight").value(3),
        module.net[2].weight.detach().numpy(),
        rtol=1e-6,
    )


def test_a_new_head_in_accelerate(gradients: list[list[torch.Tensor]]) -> None:
    torch.manual_seed(0)
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    hook = make_hook("accelerated")
    hook.register_module(net)
    for epoch in range(2):
        if epoch == 1:
            net[2] = nn.Linear(8, 5)
        model, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
        for _ in range(4):
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(torch.randn(6, 4)), torch.arange(6) % 3)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
    hook.close()
    trial = create_trial("accelerated")
    assert trial.steps() == [0, 1, 2, 3]
    for step, found in enumerate(gradients):
        check_gradients(trial, step, found, net, "Sequential")
    shapes = [trial.tensor("Sequential_2.weight").value(step).shape for step in range(4)]
    assert shapes == [(3, 8), (3, 8), (5, 8), (5, 8)]
