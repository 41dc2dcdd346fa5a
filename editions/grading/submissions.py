"""Read what students submitted, from a folder or a zip file as a learning platform exports it.

A stranger's file is parsed in a process of its own, and of a notebook only what is graded comes back. So whatever a
file does ends in a Submission whose problem says so.
"""
import json
import logging
import re
from pathlib import Path
from typing import NamedTuple

import nbformat

from . import limited
from .archives import MAX_FILE_BYTES, TOO_LARGE, bytes_of, files_in, graded_files
from .owners import owners, printable
from .remarks import Remark, say

MAX_STUDENT_BYTES = 300_000_000  # bytes of all files of a student
MAX_STUDENT_FILES = 100
MAX_BYTES = 10_000_000_000  # bytes of all files; those of the students with the most are not read
MAX_NOTEBOOK_BYTES = 20_000_000  # bytes of all notebooks of a student, without outputs
MAX_CELLS = 5_000
MAX_CELL_CHARS = 200_000  # characters of one cell of code
NO_NOTEBOOK = say("is not a notebook")
COPIED = re.compile(r"(.*?)(?: ?\(([0-9]+)\)|-(?:Copy)?([0-9]+))?((?:\.[a-z]+)*)", re.IGNORECASE | re.DOTALL)


class Submission(NamedTuple):
    """What one student submitted in one file: the notebook, or in words why there is none."""

    student: str
    number: str
    file: str
    time: float
    notebook: nbformat.NotebookNode | None
    problem: Remark | None
    late: bool = False


class Reading(NamedTuple):
    """All submissions, and what the instructor should know about whose they are."""

    submissions: list
    warnings: list


def read(place, stems):
    """Return the Reading of a folder or a zip file; `stems` are the names of lessons' files.

    It has a Submission for each notebook, for each file that cannot be read, and for each student without any.

    Raises:
        zipfile.BadZipFile: `place` is neither a folder nor a zip file.
    """
    files = graded_files(files_in(Path(place)))
    owned = [*zip(files, owners([file.path for file in files], stems), strict=True)]
    by_platform = any(owner.sure for _, owner in owned)
    of_student = {}
    for file, owner in owned:
        if owner.sure or not by_platform or file.path[-1] != "index.html":  # Brightspace's own page
            of_student.setdefault((owner.student, owner.number), []).append((file, owner))
    taken, total = [], 0
    for several in sorted(of_student.values(), key=bytes_in):
        total += bytes_in(several)
        taken += read_student(several, Allowance(MAX_STUDENT_BYTES if total <= MAX_BYTES else 0))
    return Reading([submission for submission, _ in taken], warnings_about(taken))


def bytes_in(several):
    """Return how many bytes the files of one student have."""
    return sum(file.size for file, _ in several)


def read_student(several, allowance):
    """Return the Submissions of one student, with their owners; files that are none count if there is nothing else."""
    asked = []
    for file, owner in several:
        time = file.time if owner.time is None else owner.time
        name = "/".join(file.path)
        asked.append((Submission(owner.student, owner.number, name, time, None, None, owner.late), owner, file))
    asked.sort(key=lambda each: age(each[0]))
    found, others = [], []
    for submission, owner, file in reversed(asked):
        notebook, problem = allowance.read(file)
        counts = notebook or file.problem or ".ipynb" in file.path[-1].lower()
        (found if counts else others).append((submission._replace(notebook=notebook, problem=problem), owner))
    return found[::-1] or others[:1]


class Allowance:
    """What may be read of one student, whose newest files are read first."""

    def __init__(self, most_bytes):
        self.files = MAX_STUDENT_FILES
        self.bytes = most_bytes
        self.notebook_bytes = MAX_NOTEBOOK_BYTES

    def read(self, file):
        """Return the notebook in a file, and in words why there is none, or None."""
        name = file.path[-1].lower()
        if not name:
            return None, say("is an empty folder")
        if file.problem or not (".ipynb" in name or Path(name).suffix in ("", ".json", ".txt")):
            return None, file.problem or NO_NOTEBOOK
        if file.size > MAX_FILE_BYTES:
            return None, TOO_LARGE
        self.files -= 1
        self.bytes -= file.size
        if self.files < 0 or self.bytes < 0:
            return None, say("was not read: a student may have {count} files with {megabytes} MB, and all students "
                             "{gigabytes} GB", count=MAX_STUDENT_FILES, megabytes=MAX_STUDENT_BYTES // 1_000_000,
                             gigabytes=MAX_BYTES // 1_000_000_000)
        try:
            light, problem, size = limited.call(light_notebook, file.place, file.inside)
        except limited.Refused as refused:
            return None, refused.remark
        self.notebook_bytes -= size
        if self.notebook_bytes < 0:
            return None, say("is too large: without outputs, a student's notebooks may have {megabytes} MB together",
                             megabytes=MAX_NOTEBOOK_BYTES // 1_000_000)
        return (None, problem) if problem else (nbformat.from_dict(light), None)


def light_notebook(place, inside):
    """Return what is graded of the notebook in a file, why there is none, or None, and the bytes of what is graded."""
    data = bytes_of(place, inside)
    if not data.strip():
        return None, say("is empty"), 0
    logging.disable()  # nbformat's complaints quote the notebook
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
        book = json.loads(text)
        if book["nbformat"] < 4:
            book = nbformat.convert(nbformat.reader.reads(text), 4)
        cells = [light_cell(cell) for cell in book["cells"]]
    except MemoryError:
        raise
    except Exception:  # of the encoding, JSON, nbformat, or of cells of any form
        return None, NO_NOTEBOOK, 0
    if len(cells) > MAX_CELLS:
        return None, say("has more than {count} cells", count=MAX_CELLS), 0
    if any(cell["cell_type"] == "code" and len(cell["source"]) > MAX_CELL_CHARS for cell in cells):
        return None, say("has a cell of more than {count} characters", count=MAX_CELL_CHARS), 0
    lesson = part(part(book, "metadata", dict), "lesson", dict)
    metadata = {"lesson": {name: part(lesson, name, str) for name in ("name", "version")}} if lesson else {}
    light = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}
    return light, None, len(json.dumps(light, ensure_ascii=False).encode("utf-8", "replace"))


def light_cell(cell):
    """Return what is graded of a cell, without outputs and attachments."""
    if cell["cell_type"] not in ("code", "markdown", "raw"):
        raise ValueError(cell["cell_type"])
    source = "".join(cell["source"]).replace("\r\n", "\n").replace("\r", "\n")
    metadata = part(cell, "metadata", dict)
    key = part(part(metadata, "nbgrader", dict), "grade_id", str)
    tags = [printable(tag) for tag in part(metadata, "tags", list) if isinstance(tag, str)]
    kept = {"nbgrader": {"grade_id": printable(key)}} if key else {}
    return {"cell_type": cell["cell_type"], "id": printable(part(cell, "id", str)), "source": printable(source),
            "metadata": kept | ({"tags": tags} if tags else {})}


def part(value, name, kind):
    """Return an entry of a dictionary, or an empty one if it is not of this kind."""
    found = value.get(name)
    return found if isinstance(found, kind) else kind()


def in_order(submissions):
    """Return submissions, the oldest first."""
    return sorted(submissions, key=age)


def age(submission):
    """Return what sorts submissions by time, and those of one time by name, as people count copies.

    >>> names = ["03 (10).ipynb", "03 (1).ipynb", "03.ipynb", "03-2.ipynb"]
    >>> sorted(names, key=lambda name: age(Submission("", "", name, 0, None, None)))
    ['03.ipynb', '03 (1).ipynb', '03-2.ipynb', '03 (10).ipynb']
    """
    folder, _, name = submission.file.rpartition("/")
    bare, copy, other_copy, _ = COPIED.fullmatch(name).groups("")
    return submission.time, natural(folder), natural(bare), natural(copy or other_copy), name


def natural(text):
    """Return the parts of a text, in which numbers are sorted by their size."""
    return [(len(each.lstrip("0")), each.lstrip("0")) if place % 2 else each
            for place, each in enumerate(re.split("([0-9]+)", text))]


def warnings_about(taken):
    """Return what the instructor should know about whose the submissions are, which are given with their owners."""
    warnings, of_student = [], {}
    nameless = [submission.file for submission, owner in taken if owner.nameless]
    if len(nameless) > 1:
        warnings.append(say("{count} files name no student, so each is graded as one student's: {files}",
                            count=len(nameless), files=listed(nameless)))
    for submission, owner in taken:
        of_student.setdefault((owner.student, owner.number), []).append((submission.file, owner))
    for (student, _), several in of_student.items():
        files = [file for file, _ in several]
        count = len(files)
        if len({owner.further for _, owner in several} - {""}) > 1:
            warnings.append(say("{count} files are taken as {student}'s, but may be several students': {files}",
                                count=count, student=student, files=listed(files)))
        elif count > 1 and (count == len(taken) or 2 < count > len(taken) / 2):
            warnings.append(say("{count} of {total} files are taken as {student}'s: {files}",
                                count=count, total=len(taken), student=student, files=listed(files)))
    return warnings


def listed(files):
    """Return the first names of files in one line."""
    return ", ".join([*files[:5], *["…"] * (len(files) > 5)])
