# SPDX-License-Identifier: Apache-2.0
"""Warnings that firmware projects turn into errors: sources that reach a user's compiler have none of them.

Not among them: -Wpadded and -Waggregate-return, about the ABI; -Wlong-long, -Wtraditional and -Wc++-compat,
about other languages than C11; -Wstrict-aliasing below its default, which guesses.
"""

from __future__ import annotations

COMMON = tuple(
    "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wfloat-conversion -Wdouble-promotion -Wshadow "
    "-Wmissing-prototypes -Wmissing-declarations -Wstrict-prototypes -Wold-style-definition -Wunused-macros "
    "-Wundef -Wredundant-decls -Wnested-externs -Wcast-align -Wcast-qual -Wpointer-arith -Wwrite-strings "
    "-Wswitch-default -Wfloat-equal -Wformat=2 -Wbad-function-cast -Wvla -Walloca -Winit-self -Wdate-time "
    "-Wcast-function-type -Wdisabled-optimization -Wnull-dereference -Wstrict-overflow=1 -Werror".split()
)
GCC = (
    *COMMON,
    *"-Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init -Warith-conversion".split(),
    *"-Wimplicit-fallthrough=5 -Wunsuffixed-float-constants -Wtrampolines -Wformat-signedness".split(),
    *"-Walloc-zero -Wunused-const-variable=2 -Warray-bounds=2 -Wshift-overflow=2".split(),
    "-Wstringop-overflow=4",
)
