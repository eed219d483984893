# SPDX-License-Identifier: Apache-2.0
"""The list of networks, and how one becomes a model to lower.

A module or a package for each kind holds the networks as their authors would write them; `@network`
enters one in the list with what its inputs look like. Weights are random but look trained: batch
norms have the statistics of the data, with scales and shifts of their own.
"""

from __future__ import annotations

import importlib
import inspect
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from cortexm_tools.frontend.load.model_file import LoadedModel

MODULES = (
    *("audio", "vision.classic", "vision.mobile", "vision.branches", "vision.patches"),
    *("vision_blocks", "biosignals", "imu", "detection", "segmentation", "super_resolution"),
    *("tabular", "text", "transformers", "recurrent", "generative"),
)
KINDS = tuple(dict.fromkeys(module.partition(".")[0] for module in MODULES))
SAMPLES = 16

Sample = Callable[[], Any]


@dataclass(frozen=True)
class Network:
    """One network.

    Attributes:
        name: C identifier.
        kind: the module or package it is in.
        about: the first line of its docstring.
        sample: draws one input tensor, or a tuple of them.
        train: changes the weights of a new module; None leaves them as they come.
        refused: the sentence that the tool answers with if it does not take the network.
    """

    name: str
    kind: str
    about: str
    build: Callable[[], nn.Module]
    sample: Sample
    train: Callable[[nn.Module], None] | None
    refused: str


NETWORKS: dict[str, Network] = {}


def network(
    sample: Sample, *, train: Callable[[Any], None] | None = None, refused: str = ""
) -> Callable[[type[nn.Module]], type[nn.Module]]:
    """Enters a class in the list; its name in lower case with underscores is the network's."""

    def enter(build: type[nn.Module]) -> type[nn.Module]:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", build.__name__).lower()
        assert name not in NETWORKS, name
        about = (inspect.getdoc(build) or "").partition("\n")[0]
        kind = build.__module__.removeprefix(f"{__package__}.").partition(".")[0]
        NETWORKS[name] = Network(name, kind, about, build, sample, train, refused)
        return build

    return enter


def networks() -> dict[str, Network]:
    """All of them, by name."""
    for module in MODULES:
        importlib.import_module(f"{__package__}.{module}")
    return NETWORKS


def loaded(net: Network) -> LoadedModel:
    """The network as a model file that defines it would be loaded."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(zlib.crc32(net.name.encode()))
        module = net.build()
        samples = tuple(_tensors(net.sample()) for _ in range(SAMPLES))
        if net.train is not None:
            with torch.enable_grad():
                net.train(module)
        else:
            _settle(module, samples)
    module.eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    path = Path(inspect.getfile(net.build))
    return LoadedModel(path, module, samples[0], samples, None)


def _tensors(value: Any) -> tuple[torch.Tensor, ...]:
    return value if isinstance(value, tuple) else (value,)


def _settle(module: nn.Module, samples: tuple[tuple[torch.Tensor, ...], ...]) -> None:
    """Gives batch norms scales, shifts, and the statistics of the samples."""
    norms = [m for m in module.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]
    module.eval()
    for norm in norms:
        if norm.affine:
            nn.init.uniform_(norm.weight, 0.6, 1.4)
            nn.init.normal_(norm.bias, 0.0, 0.2)
        norm.train()
        norm.momentum = None
    if norms:
        with torch.no_grad():
            module(*(torch.cat(values) for values in zip(*samples, strict=True)))
