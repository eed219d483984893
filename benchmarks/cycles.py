# SPDX-License-Identifier: Apache-2.0
"""Holds the estimate of cycles against published latencies: the tables of docs/cycles.md.

    python -m benchmarks.cycles                 # print them
    python -m benchmarks.cycles --record        # write them into docs/cycles.md
    python -m benchmarks.cycles --measure own --record        # count our kernels' instructions anew
    python -m benchmarks.cycles --measure cmsis-nn --record   # CMSIS-NN's; needs CMSIS_NN_ROOT

benchmarks/cycles.json has the published figures with their sources, and the mixes of instructions: of
the same networks and operators with CMSIS-NN's kernels (`KERNELS cmsis-nn`) on the same cores, and of the
networks with ours.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cortexm_tools.compile import CompileOptions
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph
from cortexm_tools.plan.kernels.table import KernelChoice
from cortexm_tools.run.bench import bench
from cortexm_tools.run.calibrate import point_of
from cortexm_tools.run.classes import CLASSES, EVENTS
from cortexm_tools.run.cycles import Estimate, estimate
from cortexm_tools.run.measured import read_measurement
from cortexm_tools.target import CORES as ALL_CORES
from cortexm_tools.target import Core, Target

from benchmarks import ROOT
from benchmarks.suite.measure import lower
from tests.support.graphs import GraphProgram, Net

DATA = ROOT / "benchmarks" / "cycles.json"
BOARDS = ROOT / "benchmarks" / "boards"
PAGE = ROOT / "docs" / "cycles.md"
MODELS = ("ds_cnn", "resnet8", "mobilenet_v1_025", "deep_autoencoder")
CORES = ("cortex-m4", "cortex-m33", "cortex-m7", "cortex-m85")
BEST_CORES = ("cortex-m0plus", "cortex-m4", "cortex-m33", "cortex-m7", "cortex-m55", "cortex-m85")
TABLE_CORES = (Core.M0PLUS, Core.M3, Core.M4, Core.M33, Core.M7, Core.M55, Core.M85)


@dataclass(frozen=True)
class Comparison:
    """A published latency in cycles beside the interval for the same network and library."""

    core: str
    model: str
    board: str
    software: str
    published: float
    interval: Estimate

    @property
    def inside(self) -> bool:
        return self.interval.low <= self.published <= self.interval.high


def cycles_of(entry: dict[str, Any], model: str) -> float:
    """Cycles of one inference: the clock over the published median throughput."""
    return float(entry["clock_mhz"] * 1e6 / entry["inferences_per_second"][model])


def comparisons(data: dict[str, Any]) -> list[Comparison]:
    """Submissions that run CMSIS-NN, beside the estimate for CMSIS-NN's mix."""
    found = []
    for entry in data["published"]:
        if entry["family"] != "cmsis-nn":
            continue
        for model in MODELS:
            interval = estimate(Core(entry["core"]), data["mixes"][entry["core"]][model])
            assert interval is not None
            found.append(
                Comparison(
                    entry["core"],
                    model,
                    entry["board"],
                    entry["software"],
                    cycles_of(entry, model),
                    interval,
                )
            )
    return found


def ratios(data: dict[str, Any]) -> list[tuple[str, str, str, float, float, float]]:
    """Software, core, model; how its cycles compare with the M4's: published, and both readings."""
    entries = {(e["family"], e["core"]): e for e in reversed(data["published"])}
    rows = []
    for (family, core), entry in sorted(entries.items()):
        other = entries.get((family, "cortex-m4"))
        if core not in ("cortex-m33", "cortex-m7") or other is None:
            continue
        for model in MODELS:
            mine = estimate(Core(core), data["mixes"][core][model])
            base = estimate(Core.M4, data["mixes"]["cortex-m4"][model])
            assert mine is not None and base is not None
            published = cycles_of(entry, model) / cycles_of(other, model)
            readings = (mine.low / base.low, mine.high / base.high)
            rows.append((entry["software"], core, model, published, min(readings), max(readings)))
    return rows


def operator_graph(entry: dict[str, Any]) -> Graph:
    """The operator of a published row of ``operators``, alone."""
    kind, shape, out = entry["operator"], tuple(entry["shape"]), entry["channels"]
    net = Net(kind, 1)
    if kind == "quantize":
        return net.finish(net.quantize(net.input(shape, DType.F32)))
    x = net.input(shape)
    kernel, stride = (entry["kernel"],) * 2, (entry["stride"],) * 2
    edge = entry["kernel"] // 2
    depthwise = kind == "depthwise_conv2d"
    y = net.conv(x, out, kernel, stride, (edge,) * 4, depthwise=depthwise)
    return net.finish(y)


def measure_operators(data: dict[str, Any]) -> list[dict[str, int]]:
    """The mixes of the published operators with CMSIS-NN's kernels."""
    mixes = []
    for entry in data["operators"]["rows"]:
        options = CompileOptions(
            target=Target.parse(data["operators"]["core"]), kernels=KernelChoice.CMSIS_NN
        )
        program = GraphProgram("operator", b"operator", made=operator_graph(entry))
        mixes.append(bench(program, options)["mix"])
        print(entry["operator"], mixes[-1]["fetched"], file=sys.stderr, flush=True)
    return mixes


def measure_own(data: dict[str, Any]) -> dict[str, Any]:
    """`data` with the mixes of our kernels in the default build counted anew."""
    mixes: dict[str, dict[str, dict[str, int]]] = {cpu: {} for cpu in BEST_CORES}
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            program = lower(model)
            for cpu in BEST_CORES:
                options = CompileOptions(target=Target.parse(cpu))
                mixes[cpu][model] = bench(program, options, work=Path(folder) / cpu)["mix"]
                print(cpu, model, mixes[cpu][model]["fetched"], file=sys.stderr, flush=True)
    return {**data, "own_mixes": mixes}


def best_table(data: dict[str, Any]) -> list[str]:
    """The best published figure of each core and network beside our interval and its middle, the dense
    ones where the network is mobilenet_v1_025."""
    lines = [
        "| core | network | best published | software | our estimate | its middle | of the best |",
        "|---|---|---|---|---|---|---|",
    ]
    for cpu in BEST_CORES:
        for model in MODELS:
            mine = estimate(Core(cpu), data["own_mixes"][cpu][model])
            assert mine is not None
            middle = (mine.low + mine.high) / 2
            entry = next((e for e in data["best"] if (e["core"], e["model"]) == (cpu, model)), None)
            best, software, share = "–", "–", "–"
            if entry is not None:
                cycles = entry["clock_mhz"] * 1e6 / entry["inferences_per_second"]
                best, share = _millions(cycles), f"{middle / cycles:.2f}"
                software = f"{entry['software']}, v{entry['round']}"
            lines.append(
                f"| {cpu} | {model} | {best} | {software} "
                f"| {_millions(mine.low)} – {_millions(mine.high)} | {_millions(middle)} | {share} |"
            )
    return lines


def _millions(cycles: float) -> str:
    return f"{cycles / 1e6:.3g} M"


def operator_table(data: dict[str, Any]) -> list[str]:
    """Published cycles of single operators beside the interval for CMSIS-NN's mix."""
    core = Core(data["operators"]["core"])
    lines = [
        "| operator | operand | result's channels | published | instructions | estimate | |",
        "|---|---|---|---|---|---|---|",
    ]
    rows = zip(data["operators"]["rows"], data["operator_mixes"], strict=True)
    for entry, mix in rows:
        interval = estimate(core, mix)
        assert interval is not None
        share = (entry["cycles"] - interval.low) / (interval.high - interval.low)
        said = f"{share:.2f} of the way" if 0 <= share <= 1 else "OUTSIDE"
        if entry["operator"] == "quantize":
            said = "not CMSIS-NN's"
        size = "x".join(map(str, entry["shape"][1:]))
        kernel = f" {entry['kernel']}x{entry['kernel']}" if "kernel" in entry else ""
        step = f" / {entry['stride']}" if entry.get("stride", 1) > 1 else ""
        lines.append(
            f"| {entry['operator']}{kernel}{step} | {size} | {entry['channels']} "
            f"| {_millions(entry['cycles'])} | {_millions(mix['fetched'])} "
            f"| {_millions(interval.low)} – {_millions(interval.high)} | {said} |"
        )
    return lines


def measure(data: dict[str, Any]) -> dict[str, Any]:
    """`data` with CMSIS-NN's mixes counted anew."""
    mixes: dict[str, dict[str, dict[str, int]]] = {cpu: {} for cpu in CORES}
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            program = lower(model)
            for cpu in CORES:
                options = CompileOptions(target=Target.parse(cpu), kernels=KernelChoice.CMSIS_NN)
                mixes[cpu][model] = bench(program, options, work=Path(folder))["mix"]
    return {**data, "mixes": mixes, "operator_mixes": measure_operators(data)}


def cost_table() -> list[str]:
    """The costs of each class, optimistic and pessimistic."""
    lines = [
        "| class | "
        + " | ".join(core.value.removeprefix("cortex-") for core in TABLE_CORES)
        + " |",
        "|---|" + "---|" * len(TABLE_CORES),
    ]
    for kind in (*CLASSES, *EVENTS):
        cells = []
        for core in TABLE_CORES:
            cost = ALL_CORES[core].cycles.get(kind)
            cells.append("" if cost is None else "–".join(f"{c:g}" for c in dict.fromkeys(cost)))
        if any(cells):
            lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return lines


def latency_table(data: dict[str, Any]) -> list[str]:
    lines = [
        "| core | board, software | network | published cycles | estimate for CMSIS-NN's mix | |",
        "|---|---|---|---|---|---|",
    ]
    for row in comparisons(data):
        lines.append(
            f"| {row.core} | {row.board}, {row.software} | {row.model} | {row.published:,.0f} "
            f"| {row.interval.low:,} – {row.interval.high:,} "
            f"| {'inside' if row.inside else 'OUTSIDE'} |"
        )
    return lines


def ratio_table(data: dict[str, Any]) -> list[str]:
    lines = [
        "| software | core | network | published, share of the M4's cycles | estimate |",
        "|---|---|---|---|---|",
    ]
    for software, core, model, published, low, high in ratios(data):
        lines.append(
            f"| {software} | {core} | {model} | {published:.2f} | {low:.2f} – {high:.2f} |"
        )
    return lines


def board_table(folder: Path = BOARDS) -> list[str]:
    """Measurements that were contributed, beside the estimate for the mix of the same code.

    Raises:
        CortexMError: a file there is no measurement of silicon.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        return ["Nobody has contributed a measurement yet."]
    lines = [
        "| board | core | network | measured cycles | estimate | |",
        "|---|---|---|---|---|---|",
    ]
    for file in files:
        point = point_of(read_measurement(file), str(file))
        lines.append(
            f"| {point.board} | {point.core.value} | {point.model} | {point.cycles:,} "
            f"| {point.low:,} – {point.high:,} | {'inside' if point.is_inside else 'OUTSIDE'} |"
        )
    return lines


def source_list(data: dict[str, Any]) -> list[str]:
    rows = [
        f"* MLPerf Tiny v{entry['round']}, closed division: {entry['board']} ({entry['core']}, "
        f"{entry['clock_mhz']} MHz), {entry['software']}: {entry['source']}"
        for entry in (*data["published"], *data["best"])
    ]
    return list(dict.fromkeys(rows))


def with_tables(page: str, data: dict[str, Any]) -> str:
    """The page with each of its tables replaced."""
    for name, lines in (
        ("costs", cost_table()),
        ("latencies", latency_table(data)),
        ("ratios", ratio_table(data)),
        ("operators", operator_table(data)),
        ("best", best_table(data)),
        ("boards", board_table()),
        ("sources", source_list(data)),
    ):
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
        before, _, rest = page.partition(begin)
        page = before + begin + "\n".join(lines) + "\n" + end + rest.partition(end)[2]
    return page


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--measure", choices=("own", "cmsis-nn"), help="count our mixes anew, or CMSIS-NN's"
    )
    parser.add_argument(
        "--record", action="store_true", help="write cycles.json and docs/cycles.md"
    )
    args = parser.parse_args()
    data: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    try:
        if args.measure:
            data = measure_own(data) if args.measure == "own" else measure(data)
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    tables = latency_table(data), ratio_table(data), operator_table(data), best_table(data)
    print("\n\n".join("\n".join(lines) for lines in tables))
    if args.record:
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), data), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
