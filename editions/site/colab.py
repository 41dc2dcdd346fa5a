"""The lines to run first on Colab, which opens a notebook alone. They need nothing but Python's standard library."""

LINES = """%pip install -q git+https://github.com/{repository}
!git clone -q https://github.com/{repository}
%cd {name}/notebooks/pytorch"""


def lines_for(repository):
    """Return the lines that install the helpers and fetch the files beside the lessons.

    >>> print(lines_for("owner/name"))
    %pip install -q git+https://github.com/owner/name
    !git clone -q https://github.com/owner/name
    %cd name/notebooks/pytorch
    """
    return LINES.format(repository=repository, name=repository.split("/")[1])
