#!/bin/sh
# Makes .venv: the project's own Python with every pin of requirements.txt, and the project itself, editable.
# `make` runs this before each target that needs it; where .venv is up to date it does nothing.
# What would stop the installation is looked at first; each fault is one line that says what to do.
set -eu
cd "$(dirname "$0")"
stop() { echo "setup: $*" >&2; exit 1; }

# .ready is written last, so a .venv without it is half-made. It names the folder, because a .venv cannot be moved, and
# holds the sums of what .venv was made from, because git changes the time of a file that it leaves as it was.
here=$(pwd -P)
ready="$here
$(cksum requirements.txt pyproject.toml)"
if [ "$(cat .venv/.ready 2>/dev/null)" = "$ready" ] && [ -x .venv/bin/python ]; then exit 0; fi

# 1. A system that there is an MXNet 1.9.1 for.
system="$(uname -s) $(uname -m)"
case $system in
    "Linux x86_64" | "Linux aarch64" | "Darwin x86_64" | "Darwin arm64") ;;
    MINGW* | MSYS* | CYGWIN* | Windows*) stop "MXNet 1.9.1 does not run on Windows: set up inside WSL 2 (wsl --install)" ;;
    *) stop "there is no MXNet 1.9.1 for $system: use Linux or macOS on x86_64" ;;
esac
if ldd --version 2>&1 | grep -q musl; then
    stop "there is no MXNet 1.9.1 for musl (Alpine): use a Linux with glibc, such as Debian or Fedora"
fi

# 2. A Python that MXNet runs in. Each candidate is run, because a name on PATH may be a shim with nothing behind it. It
#    needs ensurepip, which Debian packages apart; on Apple silicon it must be an x86_64 one, which Rosetta runs.
probe='
import platform, sys
if sys.version_info[:2] not in ((3, 10), (3, 11)) or sys.platform == "darwin" and platform.machine() != "x86_64":
    sys.exit(1)
try:
    import ensurepip, venv
    print("usable")
except ImportError:
    print("python3.%d-venv" % sys.version_info[1])'
python='' lacking=''
if [ "$(head -n 1 .venv/.ready 2>/dev/null)" = "$here" ]; then whole=.venv/bin/python; else whole=''; fi
for candidate in $whole ${PYTHON:+"$PYTHON"} python3.11 python3.10 python3 python; do
    answer=$("$candidate" -c "$probe" 2>/dev/null) || continue
    if [ "$answer" = usable ]; then python=$candidate && break; else lacking=$answer; fi
done
if [ -n "$python" ]; then
    :
elif [ "$system" = "Darwin arm64" ]; then
    stop "on Apple silicon MXNet 1.9.1 needs an x86_64 Python, under Rosetta:" \
        "CONDA_SUBDIR=osx-64 conda env create -f environment.yml && conda activate d2lhelpers"
elif command -v uv >/dev/null; then
    rm -rf .venv && whole=''
    uv venv --quiet --seed --python 3.11 .venv
    python=.venv/bin/python
elif [ -n "$lacking" ]; then
    stop "this Python cannot make a .venv: apt-get install $lacking"
else
    stop "MXNet 1.9.1 needs Python 3.10 or 3.11 and there is none here:" \
        "install uv and run this again, or: conda env create -f environment.yml && conda activate d2lhelpers"
fi

# 3. The system's libraries that MXNet loads and its wheel does not bring.
case $system in
    "Linux x86_64")
        libraries="libgomp.so.1 libquadmath.so.0"
        remedy="apt-get install libgomp1 libquadmath0 (Fedora: dnf install libgomp libquadmath)" ;;
    "Linux aarch64")
        libraries="libgomp.so.1 libarmpl_lp64_mp.so libamath.so libastring.so"
        remedy="install libgomp1 and the Arm Performance Libraries, and name the latter's folder in LD_LIBRARY_PATH" ;;
    *) libraries='' ;;
esac
for library in $libraries; do
    if ! "$python" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$library" 2>/dev/null; then
        [ -e .venv/.ready ] || rm -rf .venv
        stop "MXNet needs $library, which this system lacks: $remedy"
    fi
done

if [ -n "$whole" ] && [ "$python" = "$whole" ]; then
    echo "Bringing .venv up to date ..."
else
    echo "Setting up .venv (a few minutes, once; 2 GB, and several more with PyTorch for NVIDIA's GPUs: see README.md) ..."
    if [ "$python" != .venv/bin/python ]; then
        rm -rf .venv # where it is a link, the link alone
        "$python" -m venv .venv
    fi
fi
rm -f .venv/.ready
.venv/bin/python -m pip install --disable-pip-version-check --quiet -r requirements.txt
.venv/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation --editable .
printf '%s\n' "$ready" >.venv/.ready
