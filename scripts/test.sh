#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need, and runs them. Arguments go to pytest: scripts/test.sh tests/plan -x
source "$(dirname "${BASH_SOURCE[0]}")/lib/setup.sh"

say "Running the tests"
cd "$root"
exec "$python" -m pytest -n 2 --dist loadgroup "$@"
