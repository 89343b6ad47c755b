"""A small language model: gradients and activations as reductions, and a collection of your own.

python examples/pytorch/transformer.py --out-dir runs/transformer
"""

from __future__ import annotations

import argparse

import smdebug.pytorch as smd
import torch
from torch import Tensor, nn

WORDS, LENGTH, WIDTH = 32, 24, 48


class LanguageModel(nn.Module):
    """Tells the next word from those before it."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)
            for _ in range(2)
        )
        self.head = nn.Linear(WIDTH, WORDS)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, text: Tensor) -> Tensor:
        x = self.words(text) + self.places
        for block in self.blocks:
            x = block(x, src_mask=self.mask)
        out: Tensor = self.head(x)
        return out


def sequences(size: int) -> Tensor:
    """Words that count on, each row by a stride of its own."""
    start = torch.randint(0, WORDS, (size, 1))
    stride = torch.randint(1, 5, (size, 1))
    return (start + stride * torch.arange(LENGTH + 1)) % WORDS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out-dir", default="runs/transformer", help="folder of the run")
    parser.add_argument("--steps", type=int, default=150)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = LanguageModel()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), 0.003)

    # A reduction is one number in place of a tensor, so that large models leave small runs.
    hook = smd.Hook(
        out_dir=arguments.out_dir,
        include_collections=["gradients", "activations"],
        save_config=smd.SaveConfig(save_interval=5),
        reduction_config=smd.ReductionConfig(abs_reductions=["mean", "max"], norms=["l2"]),
    )
    # A collection of your own: a pattern that matches anywhere in a name. Inputs and outputs of a
    # module are <name>_input_<i> and <name>_output_<i>.
    activations = hook.get_collection("activations")
    activations.include(r"blocks\.\d+_output|self_attn_output")
    # What a collection leaves open comes from the hook; this one is saved half as often.
    activations.save_config = smd.SaveConfig(save_interval=10)
    hook.register_module(model)
    hook.register_loss(loss_function)

    for step in range(arguments.steps):
        text = sequences(32)
        optimizer.zero_grad()
        output = model(text[:, :-1])
        loss = loss_function(output.flatten(0, 1), text[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        if step % 50 == 0 or step == arguments.steps - 1:
            print(f"step {step}: loss {loss.item():.3f}")

    hook.close()
    print(f"""
Look at the run:
  smdebug plot {arguments.out_dir} CrossEntropyLoss_output_0
  smdebug ls {arguments.out_dir} --collection activations
  smdebug plot {arguments.out_dir} gradient/LanguageModel_words.weight:l2""")


if __name__ == "__main__":
    main()
