# SPDX-License-Identifier: Apache-2.0
"""Train the network of tiny_language_model.py on what Python's own library says about itself.

python train.py               # writes the weights and the text to calibrate with (10 minutes of one core)
python train.py --evaluate    # bits per character on text that training did not read
"""

from __future__ import annotations

import argparse
import ast
import inspect
import math
import sys
import sysconfig
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.program import load_program
from cortexm_tools.target import Target

sys.path.insert(0, str(Path(__file__).parent))
from tiny_language_model import (  # noqa: E402
    CONTEXT,
    TEXT,
    WEIGHTS,
    LanguageModel,
    ModelUnderTest,
    encode,
)

HELD_OUT = 20  # every 20th module is not trained on
BATCH, STEPS = 32, 1250
RATE = 6e-3
JUDGED = 12  # texts of 128 characters that the firmware is judged by


def docstrings() -> tuple[str, str]:
    """What the modules of Python's library say about themselves: (to train with, held out)."""
    library = Path(sysconfig.get_path("stdlib"))
    parts: tuple[list[str], list[str]] = ([], [])
    known: set[str] = set()
    modules = [path.relative_to(library) for path in library.rglob("*.py")]
    for number, path in enumerate(sorted(modules)):
        if {"site-packages", "dist-packages", "test", "tests", "idlelib"} & set(path.parts):
            continue
        try:
            tree = ast.parse((library / path).read_text("utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                said = inspect.cleandoc(ast.get_docstring(node) or "")
                if len(said) > 40 and said.isascii() and said not in known:
                    known.add(said)
                    parts[number % HELD_OUT == 0].append(said + "\n\n")
    return "".join(parts[0]), "".join(parts[1])


def train(text: torch.Tensor) -> LanguageModel:
    """The network, trained with a one-cycle schedule on parts of the text."""
    model = LanguageModel()
    torch.nn.init.normal_(model.embed.weight, std=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), RATE, betas=(0.9, 0.98), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, STEPS, pct_start=0.08)
    places, total = torch.arange(CONTEXT + 1), 0.0
    for step in range(1, STEPS + 1):
        window = text[torch.randint(len(text) - CONTEXT, (BATCH, 1)) + places]
        scores = model.whole(window[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += loss.item()
        if step % 100 == 0:
            print(f"step {step}: {total / 100 / math.log(2):.3f} bits a character", flush=True)
            total = 0.0
    return model.eval()


def save(model: LanguageModel) -> None:
    """Writes matrices as codes of 8 bits with a scale for each row, the others as they are."""
    stored = {}
    for name, value in model.state_dict().items():
        stored[name] = value
        if value.dim() == 2:
            scale = value.abs().amax(1, keepdim=True) / 127
            stored[f"{name}.scale"] = scale
            stored[name] = (value / scale).round().to(torch.int8)
    save_file(stored, WEIGHTS)
    WEIGHTS.chmod(0o644)
    print(f"wrote {WEIGHTS.name}, {WEIGHTS.stat().st_size} bytes")


def bits(scores: torch.Tensor, text: torch.Tensor) -> float:
    """The mean bits of each character but the first, by the scores before it."""
    return F.cross_entropy(scores[:-1], text[1:]).item() / math.log(2)


def evaluate(held_out: str) -> None:
    """Prints how well characters are predicted, by the float model and by the firmware's integers."""
    model = ModelUnderTest()
    assert isinstance(model, LanguageModel)
    text = encode(held_out)
    parts = text[: len(text) // CONTEXT * CONTEXT].view(-1, CONTEXT)
    with torch.no_grad():
        scores = torch.cat([model.whole(part) for part in parts.split(32)])
    each = torch.tensor([bits(*pair) for pair in zip(scores, parts, strict=True)])
    print(f"float: {each.mean():.3f} bits a character of {parts.numel()} held out")
    graph = load_program(
        Path(__file__).with_name("tiny_language_model.py"),
        name="tiny_language_model",
        target=Target.parse("cortex-m4"),
    ).graph()
    some = range(0, len(parts), -(-len(parts) // JUDGED))
    found = []
    for number in some:
        calls = [(np.array([c]), np.array([at])) for at, c in enumerate(parts[number].tolist())]
        rows = run_sequence(graph, calls)
        found.append(
            bits(torch.from_numpy(np.concatenate([row[0] for row in rows])), parts[number])
        )
    reference = each[list(some)].mean()
    print(
        f"{len(found)} texts of {CONTEXT}: float {reference:.3f}, firmware {np.mean(found):.3f} bits"
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluate", action="store_true", help="only judge what there is")
    given = parser.parse_args(arguments)
    torch.manual_seed(7)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    text, held_out = docstrings()
    print(f"{len(text)} characters, {len(held_out)} held out", flush=True)
    if not given.evaluate:
        save(train(encode(text)))
        begin = held_out.index("\n\n", len(held_out) // 2) + 2
        TEXT.write_text(held_out[begin : begin + CONTEXT], encoding="ascii")
    evaluate(held_out)


if __name__ == "__main__":
    main(sys.argv[1:])
