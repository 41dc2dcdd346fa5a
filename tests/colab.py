"""`python tests/colab.py OWNER/NAME`: run the PyTorch track as Colab does, each lesson alone in an empty folder.

On Colab the reader first runs the lines that the site shows: they install the helpers and fetch the files beside the
lesson. They install into the Python that runs this program, so use one that serves nothing else.
"""
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

sys.path.append(str(Path(__file__).parents[1] / "editions"))
import write


def main(repository):
    """Run those lines and then the lesson, for each lesson; stop at the first cell that fails."""
    shown = write.COLAB.format(repository=repository, name=repository.split("/")[1])
    lines = "\n".join(re.findall("^ {4}(.+)$", shown, flags=re.MULTILINE))
    for path in write.lessons():
        if path.parts[0] == "pytorch":
            lesson = nbformat.read(write.LESSONS / path, as_version=4)
            lesson.cells.insert(0, nbformat.v4.new_code_cell(lines, id="colab"))
            with tempfile.TemporaryDirectory() as empty:
                NotebookClient(lesson, timeout=900, resources={"metadata": {"path": empty}}).execute()
            print(f"{path}: {len(lesson.cells)} cells ran", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
