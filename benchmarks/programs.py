# SPDX-License-Identifier: Apache-2.0
"""The programs that goldens.py and ablate.py plan and run: ``KIND/NAME``, lowered once and kept.

The benchmark models and all of tests/networks in int8, and some of these, of all kinds, in float and with
activations of 16 bits. What is kept lies below build/, or below CORTEXM_PROGRAMS for several checkouts, in a
folder for each state of what lowers them; the goldens say whether it is the program that was recorded.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib.metadata import version
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Array
from cortexm_tools.options.precision import PRECISIONS, Quantization
from cortexm_tools.program import Program
from cortexm_tools.target import Target

from benchmarks import ROOT
from benchmarks.suite.measure import MODELS, lower
from tests.support.batches import Job

WORKERS = 2
KINDS = {"benchmark": "int8", "int8": "int8", "float": "none", "a16w8": "a16w8"}
OTHERS = """
    matchbox_net bc_res_net wave_net res_net mobile_net_v2 shuffle_net inception mlp_mixer conv_next eeg_net
    magic_wand ssd unet_bilinear espcn table_autoencoder char_cnn imu_encoder stacked_lstm gru_step
    conv_autoencoder
""".split()
"""The networks that there are in float and in a16w8 as well."""
_USERS = ("__main__.py", "measured.py", "record.py", "test_networks.py")  # beside the networks
_NETWORKS = ROOT / "tests" / "networks"


def names(only: Iterable[str] = ("*",)) -> list[str]:
    """Those that one of the globs matches.

    Raises:
        CortexMError: none matches.
    """
    networks = json.loads((_NETWORKS / "recorded.json").read_text(encoding="utf-8"))["networks"]
    of_kind = {"benchmark": MODELS, "int8": networks, "float": OTHERS, "a16w8": OTHERS}
    known = [f"{kind}/{name}" for kind in KINDS for name in of_kind[kind]]
    found = [name for name in known if any(fnmatchcase(name, glob) for glob in only)]
    if not found:
        raise CortexMError("no program has such a name", hint=f"names are like {known[0]}")
    return found


def _folder() -> Path:
    """Where the programs are that today's frontend makes of today's networks."""
    state = hashlib.sha256()
    for folder in (ROOT / "python/cortexm_tools/frontend", _NETWORKS, ROOT / "benchmarks/models"):
        for path in sorted(folder.rglob("*.py")):
            if path.name not in _USERS:
                state.update(path.read_bytes())
    for package in ("torch", "torchao", "executorch"):
        state.update(version(package).encode())
    place = os.environ.get("CORTEXM_PROGRAMS", ROOT / "build" / "goldens")
    return Path(place) / state.hexdigest()[:12]


def prepared(wanted: list[str]) -> Path:
    """Lowers those that are not kept yet; where they are."""
    folder = _folder()
    missing = [name for name in wanted if not (folder / f"{name}.npz").is_file()]
    if missing:
        # As in the tests (tests/conftest.py): with more threads a trained network is another one.
        os.environ["OMP_NUM_THREADS"] = "1"
        with Pool(WORKERS) as pool:
            for _ in pool.imap_unordered(_lower, [(name, folder) for name in missing]):
                pass
    return folder


def _lower(job: tuple[str, Path]) -> None:
    name, folder = job
    kind, _, network = name.partition("/")
    if kind == "benchmark":
        program = lower(network)
        assert program.example is not None
        pte, rows = program.pte, [program.example]
    else:
        pte, rows = _lower_network(network, kind)
    arrays = {f"{call}_{i}": x for call, row in enumerate(rows) for i, x in enumerate(row)}
    path = folder / f"{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".new").open("wb") as file:
        np.savez(file, pte=np.frombuffer(pte, np.uint8), **arrays)
    path.with_suffix(".new").replace(path)


def _lower_network(name: str, kind: str) -> tuple[bytes, list[tuple[Array, ...]]]:
    from cortexm_tools.frontend.lower.lower import lower

    from tests.networks.corpus import loaded, networks
    from tests.networks.measured import CALLS, CPU

    model = loaded(networks()[name])
    assert model.calibration is not None
    precision = PRECISIONS[KINDS[kind]]
    quantization = None if precision is None else Quantization(precision)
    done = lower(model, target=Target.parse(CPU), quantization=quantization, name=name)
    return done.pte, [tuple(x.numpy() for x in row) for row in model.calibration[:CALLS]]


def load(name: str, folder: Path) -> Job:
    """A program with the inputs of one call or several."""
    with np.load(folder / f"{name}.npz") as data:
        calls: dict[str, list[Array]] = {}
        for key in data.files[1:]:
            calls.setdefault(key.partition("_")[0], []).append(data[key])
        return Job(Program(name.partition("/")[2], data["pte"].tobytes()), list(calls.values()))
