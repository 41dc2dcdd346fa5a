"""`python tests/colab_and_kaggle.py OWNER/NAME`: run the PyTorch track as Colab and Kaggle do.

Each lesson runs alone, in an empty folder. There the reader first runs the lines that the site shows: they fetch the
project, and install PyTorch and the helpers. They install into the Python that runs this program, so use one that
serves nothing else, and give it what the service has: an older PyTorch, NumPy and matplotlib. As on both services, the
kernel loads NumPy and matplotlib before the first cell.
"""
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))
from editions.site.colab_and_kaggle import lines_for  # noqa: E402


def main(repository):
    """Run those lines and then the lesson, for each lesson; stop at the first cell that fails."""
    for path in sorted((ROOT / "notebooks" / "pytorch").glob("*.ipynb")):
        lesson = nbformat.read(path, as_version=4)
        lesson.cells.insert(0, nbformat.v4.new_code_cell(lines_for(repository), id="run-first"))
        with tempfile.TemporaryDirectory() as empty:
            NotebookClient(lesson, timeout=900, extra_arguments=["--IPKernelApp.matplotlib=inline"],
                           resources={"metadata": {"path": empty}}).execute()
        print(f"{path.stem}: {len(lesson.cells)} cells ran", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
