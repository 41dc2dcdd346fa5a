"""Colab and Kaggle, which open a notebook alone: where, and the lines to run first there.

It imports nothing beyond Python's standard library, so that a program can run the lines where the packages of the
editions are not installed.
"""
import re
from pathlib import Path

LOCK = Path(__file__).parents[2] / "requirements-pytorch.txt"
OPENS = {  # each service, and what precedes owner/name/blob/… in the address with which it opens a notebook
    "Colab": "https://colab.research.google.com/github/",
    "Kaggle": "https://kaggle.com/kernels/welcome?src=https://github.com/",
}
LINES = """!git clone -q --depth 1 https://github.com/{repository}
%pip install -q {torch} ./{name}
%cd {name}/notebooks/pytorch"""


def lines_for(repository):
    """Return the lines that fetch the project, and install PyTorch and the helpers.

    Both services have an older PyTorch, in which lesson 05 fails, so this is the one that the lessons are tested with.
    All else stays as it is there: a kernel that has loaded matplotlib fails when its packages are replaced.

    >>> print(lines_for("owner/name"))  # doctest: +ELLIPSIS
    !git clone -q --depth 1 https://github.com/owner/name
    %pip install -q torch==... ./name
    %cd name/notebooks/pytorch
    """
    torch = re.search(r"^torch==\S+", LOCK.read_text(encoding="utf-8"), re.MULTILINE)[0]
    return LINES.format(torch=torch, repository=repository, name=repository.split("/")[1])
