# SPDX-License-Identifier: Apache-2.0
"""The functions of cortexm/model.h: what they accept, and each error they return."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cortexm_tools.emit import EmitOptions, emit
from cortexm_tools.emit.files import write_files
from cortexm_tools.kernels.rows import sources as sources_of
from cortexm_tools.options.arena import CallerArena, OwnArena
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
#include <stdio.h>
#include <string.h>
#include "lent.h"
#include "owned.h"

static _Alignas(CORTEXM_ARENA_ALIGN) unsigned char space[LENT_ARENA_SIZE + 16];

#define SHOW(call) printf("%s = %d\\n", #call, (int)(call))

int main(void)
{
    cortexm_model_t other = owned;

    other.abi = CORTEXM_ABI + 1;
    SHOW(cortexm_init(&owned, NULL, 0));
    SHOW(cortexm_init(&lent, NULL, 0));
    SHOW(cortexm_init(NULL, NULL, 0));
    SHOW(cortexm_init(&other, NULL, 0));
    SHOW(cortexm_init(&lent, space, LENT_ARENA_SIZE));
    SHOW(cortexm_init(&lent, space, LENT_ARENA_SIZE - 1));
    SHOW(cortexm_init(&lent, space + 4, LENT_ARENA_SIZE));
    SHOW(cortexm_init(&owned, space, LENT_ARENA_SIZE));
    SHOW(cortexm_reset(NULL, space));
    SHOW(cortexm_reset(&lent, NULL));
    SHOW(cortexm_reset(&owned, NULL));
    SHOW(cortexm_invoke(NULL, space));
    SHOW(cortexm_invoke(&lent, NULL));
    SHOW(cortexm_input(&lent, space, 1).data == NULL);
    SHOW(cortexm_output(&lent, NULL, 0).data == NULL);
    SHOW(cortexm_input(&owned, NULL, 0).info->size);

    memset(cortexm_input(&owned, NULL, 0).data, 7, OWNED_INPUT_0_SIZE);
    memset(cortexm_input(&lent, space, 0).data, 7, LENT_INPUT_0_SIZE);
    SHOW(cortexm_invoke(&owned, NULL));
    SHOW(cortexm_invoke(&lent, space));
    SHOW(memcmp(cortexm_output(&owned, NULL, 0).data, cortexm_output(&lent, space, 0).data,
                OWNED_OUTPUT_0_SIZE));

    static unsigned char given[OWNED_INPUT_0_SIZE], expected[OWNED_OUTPUT_0_SIZE];
    const cortexm_sample_t sample = {given, expected, -1};
    memset(given, 7, sizeof given);
    memcpy(expected, cortexm_output(&owned, NULL, 0).data, sizeof expected);
    SHOW(cortexm_check_sample(&owned, NULL, &sample));
    SHOW(cortexm_check_sample(&lent, space, &sample));
    SHOW(cortexm_check_sample(NULL, NULL, &sample));
    SHOW(cortexm_check_sample(&owned, NULL, NULL));
    SHOW(cortexm_check_sample(&lent, NULL, &sample));
    expected[0] ^= 1U;
    expected[sizeof expected - 1] ^= 1U;
    SHOW(cortexm_check_sample(&owned, space, &sample));
    for (int status = 1; status >= -11; status--) {
        printf("status %d = %s\\n", status, cortexm_status_text(status));
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the program printed, by expression."""
    folder = tmp_path_factory.mktemp("runtime")
    net = Net()
    x = net.conv(net.input((1, 2, 4, 4)), 3)
    plan = make_plan(simplify(net.finish(net.pool(x, (2, 2), largest=True))), Target.parse("host"))
    for name, own in (("owned", OwnArena()), ("lent", CallerArena())):
        write_files(folder, emit(plan, EmitOptions(name, "test", "0" * 64, arena=own)))
    (folder / "main.c").write_text(PROGRAM)
    used = {call.kernel.symbol for step in plan.steps for call in step.calls}
    files = sources_of(ROOT / "kernels", folder / "stamps")
    sources = [files[symbol] for symbol in sorted(used)]
    command = [
        "cc",
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Wshadow",
        "-Werror",
        "-fwrapv",
    ]
    command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
    command += [
        f"-I{ROOT}/{name}" for name in ("runtime/include", "kernels/include", "kernels/src")
    ]
    command += [f"-I{folder}"]
    command += [
        str(path) for path in [*folder.glob("*.c"), *(ROOT / "runtime").glob("*.c"), *sources]
    ]
    subprocess.run([*command, "-o", str(folder / "program")], check=True)
    done = subprocess.run([str(folder / "program")], capture_output=True, text=True, check=True)
    return dict(line.rsplit(" = ", 1) for line in done.stdout.splitlines())  # type: ignore[misc]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("cortexm_init(&owned, NULL, 0)", 0),
        ("cortexm_init(&lent, NULL, 0)", -1),
        ("cortexm_init(NULL, NULL, 0)", -1),
        ("cortexm_init(&other, NULL, 0)", -4),
        ("cortexm_init(&lent, space, LENT_ARENA_SIZE)", 0),
        ("cortexm_init(&lent, space, LENT_ARENA_SIZE - 1)", -2),
        ("cortexm_init(&lent, space + 4, LENT_ARENA_SIZE)", -3),
        ("cortexm_init(&owned, space, LENT_ARENA_SIZE)", 0),
        ("cortexm_reset(NULL, space)", -1),
        ("cortexm_reset(&lent, NULL)", -1),
        ("cortexm_reset(&owned, NULL)", 0),
        ("cortexm_invoke(NULL, space)", -1),
        ("cortexm_invoke(&lent, NULL)", -1),
        ("cortexm_input(&lent, space, 1).data == NULL", 1),
        ("cortexm_output(&lent, NULL, 0).data == NULL", 1),
        ("cortexm_input(&owned, NULL, 0).info->size", 32),
        ("cortexm_invoke(&owned, NULL)", 0),
        ("cortexm_invoke(&lent, space)", 0),
        ("cortexm_check_sample(&owned, NULL, &sample)", 0),
        ("cortexm_check_sample(&lent, space, &sample)", 0),
        ("cortexm_check_sample(NULL, NULL, &sample)", -1),
        ("cortexm_check_sample(&owned, NULL, NULL)", -1),
        ("cortexm_check_sample(&lent, NULL, &sample)", -1),
        ("cortexm_check_sample(&owned, space, &sample)", 2),
    ],
)
def test_result(expression: str, result: int, said: dict[str, str]) -> None:
    assert said[expression] == str(result)


def test_a_lent_arena_gives_the_same_bytes(said: dict[str, str]) -> None:
    (compared,) = (value for key, value in said.items() if key.startswith("memcmp"))
    assert compared == "0"


def test_every_status_has_a_sentence_of_its_own(said: dict[str, str]) -> None:
    header = (ROOT / "runtime/include/cortexm/model.h").read_text(encoding="utf-8")
    stated = {int(n) for n in re.findall(r"^    CORTEXM_(?:OK|ERR_\w+) = (-?\d+)", header, re.M)}
    texts = {int(k.split()[1]): v for k, v in said.items() if k.startswith("status ")}
    assert stated == set(range(-10, 1))
    assert len({texts[status] for status in stated}) == len(stated)
    assert [n for n, text in sorted(texts.items()) if text == "unknown status"] == [-11, 1]
