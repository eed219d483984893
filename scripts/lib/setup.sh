# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts above: installs what is missing, then sets
#   root    the checkout
#   python  the interpreter of its .venv
# Debian packages are installed only for programs that are not there; a second run only checks a stamp.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=$root/.venv/bin/python

say() { printf '\n== %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# A Python that the project runs on: $PYTHON, else the first new enough one.
find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.10; do
    if [ -n "$candidate" ] && command -v "$candidate" >/dev/null &&
      "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
}

# The Debian packages of what is missing.
missing_packages() {
  local base
  command -v qemu-system-arm >/dev/null || echo qemu-system-arm
  if ! command -v arm-none-eabi-gcc >/dev/null; then
    echo gcc-arm-none-eabi libnewlib-arm-none-eabi
  elif [ "$(arm-none-eabi-gcc -print-file-name=nano.specs)" = nano.specs ]; then
    echo libnewlib-arm-none-eabi
  fi
  { command -v clang && command -v ld.lld; } >/dev/null || echo clang lld
  command -v ninja >/dev/null || echo ninja-build
  command -v make >/dev/null || echo make
  command -v cmake >/dev/null || echo cmake
  if ! command -v cc >/dev/null || ! command -v c++ >/dev/null; then
    echo gcc g++ libc6-dev
  fi
  base=$(find_python)
  if [ -z "$base" ]; then
    echo python3 python3-venv
  elif ! "$base" -c 'import ensurepip, venv' 2>/dev/null; then
    # Debian keeps these apart from the interpreter, in a package for its version.
    echo "python$("$base" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
  fi
}

install_packages() {
  local packages as_root=()
  packages=$(missing_packages | tr '\n' ' ')
  [ -n "${packages// /}" ] || return 0
  command -v apt-get >/dev/null ||
    fail "these Debian packages are missing, and there is no apt-get to install them with: $packages"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "installing system packages needs root: run 'apt-get install $packages' as root, then this script again"
    as_root=(sudo)
  fi
  say "Installing system packages: $packages"
  "${as_root[@]}" apt-get update || say "apt-get update failed; going on with the lists there are"
  # shellcheck disable=SC2086  # a list of words
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $packages ||
    fail "apt-get could not install: $packages (see its messages above)"
  packages=$(missing_packages | tr '\n' ' ')
  [ -z "${packages// /}" ] || fail "still not found on PATH after their installation: $packages"
}

# Whether there is one of these programs.
have() {
  local name
  for name in "$@"; do
    if command -v "$name" >/dev/null; then return; fi
  done
  return 1
}

# What a script asks for that only some tests need: a browser for those of pages, 96 MB to download, 302 MB
# on the disk, and Arduino's builder for one of exports. Other systems have other names for them, and newer
# releases may not have them, so that they may be missing: their tests are then skipped.
install_optional() {
  local package packages=() as_root=()
  have chromium-headless-shell chromium chromium-browser google-chrome ||
    packages+=(chromium-headless-shell)
  have arduino-builder || packages+=(arduino-builder)
  [ "${#packages[@]}" -gt 0 ] || return 0
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n) # nobody is asked for a password for this
  "${as_root[@]}" apt-get update || true
  for package in "${packages[@]}"; do
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "$package" ||
      say "there is no $package: its tests are skipped"
  done
}

check_tools() {
  local version
  [ -n "$(find_python)" ] || fail "Python 3.10 or newer is needed; set PYTHON to one"
  version=$(cmake --version | sed -n 's/^cmake version //p')
  printf '3.20\n%s\n' "$version" | sort -VC || fail "CMake 3.20 or newer is needed, this one is $version"
}

# PyTorch without CUDA, which is some gigabytes smaller, where pip finds such a build: as it is configured
# here, or in the package index that CORTEXM_TORCH_INDEX names. Else the plain release, which works as well.
# pip need not compile its ten thousand files, half of the time it takes: Python does as it imports a few.
install_torch() {
  local version index=()
  version=$(sed -n 's/^torch==//p' "$root/requirements/torch.txt")
  [ -z "${CORTEXM_TORCH_INDEX:-}" ] || index=(--extra-index-url "$CORTEXM_TORCH_INDEX")
  say "Installing PyTorch $version"
  "$python" -m pip install --no-compile "torch==$version+cpu" "${index[@]}" 2>/dev/null ||
    "$python" -m pip install --no-compile "torch==$version" ||
    fail "pip could not install torch $version (see its messages above)"
}

install_python() {
  local stamp=$root/.venv/.cortexm-setup base state site
  base=$(find_python)
  state=$(cat "$root"/requirements/*.txt "$root/scripts/lib/setup.sh" | cksum)
  state="$state $root $("$base" --version)"
  if [ -x "$python" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$state" ]; then
    return
  fi
  if [ ! -x "$python" ] || ! "$python" -m pip --version >/dev/null 2>&1; then
    say "Creating $root/.venv with $("$base" --version)"
    "$base" -m venv --clear "$root/.venv" || fail "$base could not create $root/.venv"
  fi
  export PIP_DISABLE_PIP_VERSION_CHECK=1
  install_torch
  say "Installing ExecuTorch and the test tools"
  "$python" -m pip install --no-compile \
    -r "$root/requirements/torch.txt" -r "$root/requirements/dev.txt" ||
    fail "pip could not install the packages of $root/requirements (see its messages above)"
  # The package itself is used where it lies, so that an edit needs no installation.
  site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$root/python" >"$site/cortexm-model.pth"
  printf '#!/bin/sh\nexec "%s" -m cortexm_tools "$@"\n' "$python" >"$root/.venv/bin/cortexm"
  chmod +x "$root/.venv/bin/cortexm"
  printf '%s' "$state" >"$stamp"
}

install_packages
check_tools
[ "${needs_optional:-}" != yes ] || install_optional & # while pip, on another core, installs what all need
install_python
wait
