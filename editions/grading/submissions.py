"""Read what students submitted, from a folder or a zip file as a learning platform exports it."""
import io
import re
import zipfile
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import nbformat

MAX_FILE_BYTES = 20_000_000  # bytes of one file
MAX_CELL_CHARS = 200_000  # characters of one cell
JUNK = re.compile(r"^(__MACOSX|\.ipynb_checkpoints|\..*|desktop\.ini|Thumbs\.db)$")
MOODLE = re.compile(r"^(?P<name>.+?)_(?P<id>\d+)_assignsubmission_\w*?_?(?:file|onlinetext)(?:_|$)")
CANVAS = re.compile(r"^(?P<name>[^_\W]+)_(?:LATE_)?(?P<id>\d+)_\d+_")
BLACKBOARD = re.compile(r"^.*?_(?P<name>[^_]+)_attempt_\d{4}-\d\d-\d\d-[\d-]+")


class File(NamedTuple):
    """One file: its path below what was given, when it was last changed, and its bytes, or None if it is too large."""

    path: PurePosixPath
    time: float
    data: bytes | None


class Submission(NamedTuple):
    """What one student submitted in one file: the notebook, or in words why there is none."""

    student: str
    number: str
    file: str
    time: float
    notebook: nbformat.NotebookNode | None
    problem: str


def files_in(place):
    """Yield all files in a folder or a zip file, and those in zip files within; links are not followed."""
    if place.is_dir():
        for path in sorted(place.rglob("*")):
            if path.is_file() and not path.is_symlink():
                small = path.stat().st_size <= MAX_FILE_BYTES
                file = File(PurePosixPath(path.relative_to(place).as_posix()), path.stat().st_mtime,
                            path.read_bytes() if small else None)
                yield from within(file)
    else:
        yield from zipped(place, PurePosixPath())


def zipped(archive, below):
    """Yield the files in a zip file; a path that leads out of it is shortened to what lies inside."""
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            parts = [part for part in re.split(r"[/\\]", info.filename) if part not in ("", ".", "..")]
            if info.is_dir() or not parts:
                continue
            data = None
            if info.file_size <= MAX_FILE_BYTES:
                with opened.open(info) as stream:
                    data = stream.read(MAX_FILE_BYTES + 1)  # what the archive says about sizes may be wrong
            file = File(below.joinpath(*parts), time_of(info), data)
            yield from within(file) if below == PurePosixPath() else [file]


def within(file):
    """Yield a file, or what is in it if it is a zip file."""
    if file.path.suffix.lower() == ".zip" and file.data:
        try:
            yield from zipped(io.BytesIO(file.data), file.path.with_suffix(""))
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError):  # broken, encrypted, or packed in an odd way
            yield file
    else:
        yield file


def time_of(info):
    """Return the time of a file in an archive, in seconds."""
    try:
        return datetime(*info.date_time).timestamp()
    except ValueError:
        return 0.0


def student_of(path, stems):
    """Return the name and the number of the student to whom a path belongs; `stems` are the names of lessons' files.

    >>> student_of(PurePosixPath("Ann Lee_123_assignsubmission_file_/a.ipynb"), [])
    ('Ann Lee', '123')
    >>> student_of(PurePosixPath("leeann_LATE_123_4567_01-lesson-2.ipynb"), ["01-lesson"])
    ('leeann', '123')
    >>> student_of(PurePosixPath("01-lesson ann (1).ipynb"), ["01-lesson"])
    ('ann', '')
    """
    first = path.parts[0]
    for pattern in (MOODLE, CANVAS, BLACKBOARD):
        found = pattern.match(first)
        if found:
            return found["name"].strip(), found.groupdict().get("id", "")
    if len(path.parts) > 1:
        return first.strip(), ""
    name = re.sub(r"(\.ipynb|\.json|\.txt)+$", "", first)
    name = re.sub(r" ?\(\d+\)$", "", name)
    bare = name
    for stem in stems:
        bare = bare.replace(stem, "")
    return bare.strip(" _-.") or name, ""


def notebook_in(data):
    """Return the notebook in a file's bytes, and in words why there is none, or ""."""
    if data is None:
        return None, f"is larger than {MAX_FILE_BYTES // 1_000_000} MB"
    if not data.strip():
        return None, "is empty"
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
        notebook = nbformat.reads(text, as_version=4)
        for cell in notebook.cells:
            cell.source = printable(cell.source.replace("\r\n", "\n").replace("\r", "\n"))
            cell.metadata.get("nbgrader", {}).get("grade_id")
        longest = max((len(cell.source) for cell in notebook.cells), default=0)
    except Exception:  # of the encoding, JSON, nbformat, or of cells of any form
        return None, "is not a notebook"
    if longest > MAX_CELL_CHARS:
        return None, f"has a cell of more than {MAX_CELL_CHARS} characters"
    return notebook, ""


def printable(text):
    """Return a text without the halves of characters that no file can hold; odd names of files have some."""
    return text.encode("utf-8", "replace").decode("utf-8")


def unwrapped(files):
    """Return the files without a folder that holds the folders of all students."""
    tops = {file.path.parts[0] for file in files}
    deep = {file.path.parts[1] for file in files if len(file.path.parts) > 2}
    if len(tops) == 1 and (len(deep) > 1 or any(MOODLE.match(name) for name in deep)):
        return [file._replace(path=PurePosixPath(*file.path.parts[1:])) for file in files if len(file.path.parts) > 1]
    return files


def submissions(place, stems):
    """Return a Submission for each notebook, and for each student who submitted no notebook at all.

    Raises:
        zipfile.BadZipFile: `place` is neither a folder nor a zip file.
    """
    place = Path(place)
    files = [file for file in files_in(place) if not any(JUNK.match(part) for part in file.path.parts)]
    found, others = [], []
    for file in unwrapped(files):
        file = file._replace(path=PurePosixPath(printable(str(file.path))))
        student, number = student_of(file.path, stems)
        notebook, problem = notebook_in(file.data)
        submission = Submission(student, number, str(file.path), file.time, notebook, problem)
        if notebook or ".ipynb" in file.path.name:
            found.append(submission)
        else:
            others.append(submission)
    known = {submission[:2] for submission in found}
    for other in others:
        if other[:2] not in known:
            known.add(other[:2])
            found.append(other._replace(problem="is not a notebook"))
    return found + empty_folders(place, stems)


def empty_folders(place, stems):
    """Return a Submission for each student whose folder is empty."""
    found = []
    for folder in place.iterdir() if place.is_dir() else ():
        if not folder.is_dir() or JUNK.match(folder.name) or any(path.is_file() for path in folder.rglob("*")):
            continue
        student, number = student_of(PurePosixPath(printable(folder.name), "x"), stems)
        found.append(Submission(student, number, printable(folder.name), 0.0, None, "is an empty folder"))
    return found
