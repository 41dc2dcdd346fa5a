#!/bin/sh
# Makes .venv: a Python with all packages of the lock file that fits this machine, and this project, editable.
# `make` runs it before each target that needs .venv; if .venv is up to date, it does nothing.
# Every Python here runs with -I, so that no file in this folder and no PYTHON... variable can replace a module.
set -eu
cd "$(dirname "$0")"
stop() { echo "setup: $*" >&2; exit 1; }
identity() { "$1" -I -c 'import sys; print(sys.version, sys.base_prefix)' 2>/dev/null || echo "no Python: $1"; }

# .ready is written last, so a .venv without it is incomplete. It names the folder, because a .venv cannot be moved, and
# holds the checksums of what .venv was made from.
here=$(pwd -P)
ready="$here
$(cksum requirements.txt requirements-pytorch.txt pyproject.toml d2lhelpers/__init__.py)"
up_to_date() {
    [ -x .venv/bin/python ] || return 1
    [ "$(cat .venv/.ready 2>/dev/null)" = "$ready" ] || return 1
    [ -z "${PYTHON:-}" ] || [ "$(identity "$PYTHON")" = "$(identity .venv/bin/python)" ]
}
if up_to_date; then exit 0; fi

case $(uname -s) in MINGW* | MSYS* | CYGWIN*) stop "on Windows set up inside WSL 2 (wsl --install)" ;; esac

# .made-by-make is the first file in .venv, and stays there. A .venv without it belongs to somebody else, unless it has
# .ready, the only mark that earlier versions made, or is empty. The second look is for another set-up, which may have
# made it just after the first one.
ours() {
    [ ! -L .venv ] || return 1
    [ ! -e .venv ] || [ -e .venv/.made-by-make ] || [ -e .venv/.ready ] || [ -z "$(ls -A .venv)" ] ||
        [ -e .venv/.made-by-make ]
}
ours || stop ".venv was not made by this command, which would replace it: rename or remove it, then try again"

# Prints the name of the lock file that a Python can install, or the reason why it can install none.
probe='
import importlib, platform, sys
version = sys.version_info[:2]
x86 = platform.machine() in ("x86_64", "AMD64")
if version < (3, 10):
    sys.exit("it is Python %d.%d, but 3.10 or newer is needed" % version)
try:
    import ensurepip, venv
except ImportError:
    sys.exit("it cannot make a .venv: apt-get install python%d.%d-venv" % version)
# Python is built without these where the headers of a library are missing: they are in these packages.
headers = {
    "bz2": ("libbz2-dev", "bzip2-devel"), "ctypes": ("libffi-dev", "libffi-devel"),
    "lzma": ("liblzma-dev", "xz-devel"), "sqlite3": ("libsqlite3-dev", "sqlite-devel"),
    "ssl": ("libssl-dev", "openssl-devel"), "zlib": ("zlib1g-dev", "zlib-devel"),
}
missing = []
for name in headers:
    try:
        importlib.import_module(name)
    except ImportError:
        missing.append(name)
if missing:
    debian, fedora = (" ".join(names) for names in zip(*map(headers.get, missing)))
    sys.exit("it was built without %s: apt-get install %s, or dnf install %s, then build Python again" % (
        ", ".join(missing), debian, fedora))
if sys.platform == "linux" and platform.libc_ver()[0] != "glibc":
    sys.exit("there are no wheels for its C library; use a Linux with glibc, such as Debian or Fedora")
if not x86 or version > (3, 11):
    if x86 and sys.platform == "darwin":
        sys.exit("only MXNet runs on this Mac, in Python 3.10 or 3.11")
    print("requirements-pytorch.txt")
    sys.exit()
import ctypes
libraries = ["libgomp.so.1", "libquadmath.so.0"] if sys.platform == "linux" else []
for name in libraries:
    try:
        ctypes.CDLL(name)
    except OSError:
        sys.exit("MXNet needs %s: apt-get install libgomp1 libquadmath0, or dnf install libgomp libquadmath" % name)
print("requirements.txt")'

# Uses only the Python that PYTHON names, if it is set; or else one for both tracks, which uv may download; or else any
# newer one.
lock=''
why=''
if [ -n "${PYTHON:-}" ]; then
    set -- "$PYTHON"
else
    set -- python3.11 python3.10 uv python3 python3.14 python3.13 python3.12
fi
for python; do
    if [ -z "${PYTHON:-}" ]; then
        command -v "$python" >/dev/null || continue
    fi
    if [ "$python" = uv ]; then
        uv python install -q 3.11 >/dev/null 2>&1 || continue
        python=$(uv python find -q 3.11) || continue
    fi
    if lock=$("$python" -I -c "$probe" 2>&1); then break; fi
    why="$why; $python: $(echo "$lock" | head -n 1)"
    lock=''
done
[ -n "$lock" ] || stop "no suitable Python$why; install Python 3.11, or uv, which brings it"

# Only one set-up runs at a time. The lock belongs to the open file, which this shell shares with all that it starts:
# the kernel frees it when the last of them has ended, for whatever reason. On a file system without locks, set-up goes
# on without one.
take_the_lock='
import fcntl, sys
try:
    fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(1)
except OSError:
    pass'
mkdir -p .venv
exec 9>>.venv/.made-by-make
"$python" -I -c "$take_the_lock" || stop "another make is setting up .venv: try again when it is done"
if up_to_date; then exit 0; fi

case $lock in
    requirements.txt) echo "Setting up .venv for both tracks (a few minutes; 2 GB, more with PyTorch for GPUs) ..." ;;
    *) echo "Setting up .venv for the PyTorch track; MXNet's needs Python 3.10 or 3.11 on x86_64$why ..." ;;
esac
# A .venv that is incomplete, was moved or has another Python is made anew. .made-by-make stays: it holds the lock.
made_here=$(head -n 1 .venv/.ready 2>/dev/null) || made_here=''
rm -f .venv/.ready
if [ "$made_here" != "$here" ] || [ "$(identity .venv/bin/python)" != "$(identity "$python")" ]; then
    find .venv -mindepth 1 -maxdepth 1 ! -name .made-by-make -exec rm -rf {} +
fi
"$python" -I -m venv .venv
.venv/bin/python -I -m pip install --disable-pip-version-check --quiet -r "$lock"
.venv/bin/python -I -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation --editable .
printf '%s\n' "$ready" >.venv/.ready
