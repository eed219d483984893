#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need, and runs them. Arguments go to pytest: scripts/test.sh tests/plan -x
# With --fast first: the part that needs neither PyTorch nor an emulator, in less than a minute.
[ "${1:-}" = --fast ] || needs_optional=yes
source "$(dirname "${BASH_SOURCE[0]}")/lib/setup.sh"

fast=(
  tests/docs tests/emit tests/ir tests/runtime tests/simplify
  tests/plan/test_plan.py tests/plan/test_rooms.py tests/pte/test_golden.py tests/pte/test_reader.py
  tests/frontend/test_rooms.py tests/tools/test_budget.py tests/tools/test_imports.py
)
tests=()
if [ "${1:-}" = --fast ]; then
  shift
  tests=("${fast[@]}")
fi

# Hundreds of processes import the tools: they need not all compile them.
unset PYTHONDONTWRITEBYTECODE
say "Running the tests"
cd "$root"
# In the order of tests/conftest.py.
exec "$python" -m pytest -n 2 --dist loadgroup --no-loadscope-reorder "${tests[@]}" "$@"
