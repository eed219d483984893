# SPDX-License-Identifier: Apache-2.0
"""Measures what a call of a stream takes, beside the model over the window.

python -m benchmarks.streams                    # the table of docs/streaming.md
python -m benchmarks.streams --record           # write streams.json and the table
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.options.stream import Stream, parse_stream
from cortexm_tools.program import Program, program_of_module
from cortexm_tools.run.command import RunRequest, run_program
from cortexm_tools.target import Target

from benchmarks import ROOT

CORES = ("cortex-m55", "cortex-m4")
RECORD = ROOT / "benchmarks" / "streams.json"
PAGE = ROOT / "docs" / "streaming.md"
BLOCK = re.compile(r"(<!-- streams: begin -->\n).*?(<!-- streams: end -->)", re.DOTALL)

Row = dict[str, int]
Table = dict[str, dict[str, Row]]  # by network and core


def lowered() -> Iterator[tuple[str, Program, str]]:
    """The networks, calibrated on noise, and how they are streamed."""
    import torch

    from benchmarks.stream_networks import NETWORKS

    for name, (network, shape, stream) in NETWORKS.items():
        torch.manual_seed(0)
        module = network().eval()
        samples = [(torch.randn(shape),) for _ in range(8)]
        plain = re.sub(r"\W+", "_", name.lower())
        yield (
            name,
            program_of_module(
                module,
                samples[0],
                name=plain,
                target=Target.parse("cortex-m55"),
                calibration=samples,
            ),
            stream,
        )


def measure(program: Program, cpu: str, stream: Stream | None) -> tuple[int, int]:
    """Instructions of a call, and bytes of arena and state."""
    options = CompileOptions(target=Target.parse(cpu), stream=stream)
    data = run_program(compile_program(program, options), RunRequest()).data
    return data["instructions"], data["arena_bytes"] + data["state_bytes"]


def table(results: Table) -> str:
    """The table of docs/streaming.md."""
    lines = [
        "| network | core | instructions, window | a call | times fewer | RAM, window | stream | share |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, cores in results.items():
        for cpu, row in cores.items():
            times, share = row["window"] / row["call"], row["stream_ram"] / row["window_ram"]
            lines.append(
                f"| {name} | {cpu} | {row['window']:,} | {row['call']:,} | {times:.1f} "
                f"| {row['window_ram']:,} | {row['stream_ram']:,} | {share:.2f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write streams.json and the table")
    args = parser.parse_args()
    results: Table = {}
    try:
        for name, program, stream in lowered():
            results[name] = {}
            for cpu in CORES:
                print(f"measuring {name} on {cpu}", file=sys.stderr, flush=True)
                window = measure(program, cpu, None)
                call = measure(program, cpu, parse_stream(stream))
                results[name][cpu] = {
                    "window": window[0],
                    "call": call[0],
                    "window_ram": window[1],
                    "stream_ram": call[1],
                }
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(table(results), end="")
    if args.record:
        RECORD.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        text = BLOCK.sub(
            lambda found: found[1] + table(results) + found[2], PAGE.read_text("utf-8")
        )
        PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
