#!/bin/sh
# Makes .venv: a Python with every pin of the lock that fits this machine, and this project, editable.
# `make` runs it before each target that needs it; where .venv is up to date it does nothing.
set -eu
cd "$(dirname "$0")"
stop() { echo "setup: $*" >&2; exit 1; }

# .ready is written last, so a .venv without it is incomplete. It names the folder, because a .venv cannot be moved, and
# holds the checksums of what .venv was made from.
here=$(pwd -P) ready="$(pwd -P)
$(cksum requirements.txt requirements-pytorch.txt pyproject.toml d2lhelpers/__init__.py)"
if [ -z "${PYTHON:-}" ] && [ "$(cat .venv/.ready 2>/dev/null)" = "$ready" ] && [ -x .venv/bin/python ]; then exit 0; fi
if kill -0 "$(cat .venv/.making 2>/dev/null || echo none)" 2>/dev/null; then stop "another make is setting up .venv"; fi
case $(uname -s) in MINGW* | MSYS* | CYGWIN*) stop "on Windows set up inside WSL 2 (wsl --install)" ;; esac

# Prints the lock that a Python can install, or says why it can install none.
probe='
import ctypes, platform, sys
version, x86 = sys.version_info[:2], platform.machine() in ("x86_64", "AMD64")
if version < (3, 10):
    sys.exit("it is Python %d.%d, but 3.10 or newer is needed" % version)
try:
    import ensurepip, venv
except ImportError:
    sys.exit("it cannot make a .venv: apt-get install python%d.%d-venv" % version)
if sys.platform == "linux" and platform.libc_ver()[0] != "glibc":
    sys.exit("there are no wheels for its C library; use a Linux with glibc, such as Debian or Fedora")
if not x86 or version > (3, 11):
    sys.exit("only MXNet runs on this Mac, in Python 3.10 or 3.11") if x86 and sys.platform == "darwin" else None
    print("requirements-pytorch.txt")
    sys.exit()
for name in ["libgomp.so.1", "libquadmath.so.0"] * (sys.platform == "linux"):
    try:
        ctypes.CDLL(name)
    except OSError:
        sys.exit("MXNet needs %s: apt-get install libgomp1 libquadmath0, or dnf install libgomp libquadmath" % name)
print("requirements.txt")'

# Takes the Python that PYTHON names and no other; else one for both tracks, which uv may fetch; else any newer one.
lock='' why=''
[ -n "${PYTHON:-}" ] && set -- "$PYTHON" || set -- python3.11 python3.10 uv python3 python3.14 python3.13 python3.12
for python; do
    if [ "$python" = uv ]; then python=$(uv python install -q 3.11 2>&1 && uv python find -q 3.11) || continue; fi
    if [ -z "${PYTHON:-}" ] && ! command -v "$python" >/dev/null; then continue; fi
    if lock=$("$python" -c "$probe" 2>&1); then break; fi
    why="$why; $python: $(echo "$lock" | head -n 1)" lock=''
done
[ -n "$lock" ] || stop "no suitable Python$why; install Python 3.11, or uv, which brings it"

base() { "$1" -c 'import sys; print(sys.version, sys.base_prefix)' 2>/dev/null; }
[ "$(head -n 1 .venv/.ready 2>/dev/null; base .venv/bin/python)" = "$(echo "$here"; base "$python")" ] || rm -rf .venv
case $lock in
    requirements.txt) echo "Setting up .venv for both tracks (a few minutes; 2 GB, more with PyTorch for GPUs) ..." ;;
    *) echo "Setting up .venv for the PyTorch track; MXNet's needs Python 3.10 or 3.11 on x86_64$why ..." ;;
esac
mkdir -p .venv && echo $$ >.venv/.making && rm -f .venv/.ready
"$python" -m venv .venv
.venv/bin/python -m pip install --disable-pip-version-check --quiet -r "$lock"
.venv/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation --editable .
rm .venv/.making && printf '%s\n' "$ready" >.venv/.ready
