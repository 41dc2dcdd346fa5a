"""A folder that a command makes and may replace."""
import shutil
import sys
import tempfile
from pathlib import Path

MARK = ".made-by-make"  # a file in each folder that the next run of the same command may replace


def replace(write, folder):
    """Let `write` make a folder beside `folder`, then replace `folder`, which an earlier run must have made."""
    in_use = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if in_use and not (folder / MARK).exists():
        sys.exit(f"{folder} was not made by this command, which would replace it: remove it, or name another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=folder.parent) as beside:
        made = Path(beside, folder.name)
        write(made)
        (made / MARK).write_text("The next run of the same command replaces this folder and all that is in it.\n")
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)


def reason(error):
    """Return the system's reason in words; if many files could not be copied, the reason for the first."""
    if isinstance(error, shutil.Error):
        _, _, why = error.args[0][0]
        return why
    return error.strerror or str(error)
