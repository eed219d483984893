#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a PyTorch file to checked firmware: builds samples/hello-executorch for the Cortex-M55, runs it on
# an emulated board, and measures it. Installs what it needs; a second run takes seconds.
source "$(dirname "${BASH_SOURCE[0]}")/lib/setup.sh"

build=$root/build/demo
sample=$root/samples/hello-executorch

# A folder configured for another place (the checkout was moved) is of no use.
grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$sample" "$build/CMakeCache.txt" || rm -rf "$build"
mkdir -p "$build"
say "Building samples/hello-executorch for the Cortex-M55 (board mps3-an547)"
cmake -S "$sample" -B "$build" -G Ninja -DCORTEXM_BOARD=mps3-an547 -DCORTEXM_PYTHON="$python" \
  >"$build.configure.log" 2>&1 || {
  cat "$build.configure.log" >&2
  fail "CMake could not configure the sample"
}
cmake --build "$build" || fail "the sample did not build"

say "Running it on qemu-system-arm -M mps3-an547"
qemu-system-arm -M mps3-an547 -display none -monitor none -serial none \
  -chardev stdio,id=console,signal=off \
  -semihosting-config enable=on,target=native,chardev=console \
  -kernel "$build/hello.elf" </dev/null || fail "the sample did not pass on the emulated board"

say "Measuring it on the whole test set"
model=$build/cortexm/model/model
"$python" -m cortexm_tools run "$model.pte" --cpu cortex-m55 --dataset "$model.evaluation.npz" \
  --work "$build/run"
