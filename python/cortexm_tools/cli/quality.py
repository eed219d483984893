# SPDX-License-Identifier: Apache-2.0
"""`cortexm quality`: how good the quantized model is, as tables, as JSON, or as part of the report's page."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..emit.files import write_files
from ..errors import CortexMError
from ..options.quality import parse_decibels
from ..report.quality import quality_text
from ..report.reading import Report
from ..studied import ENOUGH_DB, StudyRequest, study_model
from ..target import Target
from ..terminal import show
from .loading import load, say
from .settle import command_line, compile_options

_SHOWN = ("format", "name", "cortexm", "program_sha256", "target", "command", "quality")


def run(args: argparse.Namespace) -> int:
    """Studies the model and says what was found. The status to exit with."""
    if args.out and not args.html:
        raise CortexMError("--out is for --html", hint="add --html")
    least = args.min_sqnr
    enough = ENOUGH_DB if least is None else parse_decibels(least, "--min-sqnr")
    args.arena, args.section_arena, args.section_weights = "own", "", ""
    args.runtime, args.profile = "compiled", False
    target = Target.parse(args.cpu, args.isa)
    options = compile_options(args, target, command=command_line(args))
    program = load(args, target, quiet=args.json)
    request = StudyRequest(args.inputs, args.dataset, enough, args.measure, args.board)
    report = study_model(program, options, request)
    if args.html:
        from ..report.page import report_html

        place = args.out or Path(f"{program.name}.report.html")
        write_files(place.parent, {place.name: report_html(Report(report))})
        say(f"wrote {place}")
    if args.json:
        show(json.dumps({key: report[key] for key in _SHOWN}, indent=1))
    else:
        show(quality_text(report))
    return 0
