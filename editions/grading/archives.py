"""Find the files that students submitted: in a folder, in a zip file, and in zip files within.

A stranger's archive is opened in a process of its own, so that none stops the grading of another.
"""
import io
import itertools
import os
import re
import zipfile
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from . import limited
from .owners import clean
from .remarks import Remark, say

MAX_FILE_BYTES = 100_000_000  # bytes of one file as it is stored, with its outputs
MAX_ARCHIVE_BYTES = 1_000_000_000  # bytes to which an archive in an archive unpacks
MAX_ARCHIVE_FILES = 10_000
MAX_ARCHIVES = 100  # archives in an archive in an archive
TOO_LARGE = say("is larger than {megabytes} MB", megabytes=MAX_FILE_BYTES // 1_000_000)
JUNK = re.compile(r"^(__MACOSX|\.ipynb_checkpoints|\..*|desktop\.ini|Thumbs\.db)$")


class File(NamedTuple):
    """A file, or a folder if the last part of its path is "": where it is, and in words why it cannot be unpacked."""

    path: tuple
    time: float
    size: int
    place: Path  # the file on the disk
    inside: tuple = ()  # if that is an archive: the place in it, and in the archives in it
    problem: Remark | None = None


def files_in(place):
    """Yield all files and folders in a folder or a zip file, and those in zip files within; links are not followed."""
    if not place.is_dir():
        whole = File((), 0.0, place.stat().st_size, place)
        for file in within(whole):
            if file.problem and not file.path:
                raise zipfile.BadZipFile(file.problem)
            yield file
        return
    for folder, _, names in os.walk(place):
        path = parts_of(Path(folder).relative_to(place).parts)
        yield File((*path, ""), 0.0, 0, place)
        for name in sorted(names):
            file = Path(folder, name)
            if file.is_file() and not file.is_symlink():
                found = File((*path, *parts_of([name])), file.stat().st_mtime, file.stat().st_size, file)
                yield from within(found) if name.lower().endswith(".zip") else [found]


def within(archive):
    """Yield an archive's files and folders, or the archive if it cannot be unpacked; at most two lie in one another."""
    inside = archive.inside
    if inside and archive.size > MAX_FILE_BYTES:
        yield archive._replace(problem=TOO_LARGE)
        return
    try:
        members, problem = limited.call(members_of, archive.place, inside)
    except limited.Refused as refused:
        members, problem = [], refused.remark
    if problem:
        yield archive._replace(problem=problem)
        return
    above = (*archive.path[:-1], re.sub(r"(?i)\.zip$", "", archive.path[-1])) if archive.path else ()
    yield File((*above, ""), 0.0, 0, archive.place)
    archives = 0
    for index, (path, time, size) in enumerate(members):
        file = File((*above, *path), time, size, archive.place, (*inside, index))
        if path and path[-1].lower().endswith(".zip") and len(inside) < 2 and not any(map(JUNK.match, path)):
            archives += 1
            if not inside or archives <= MAX_ARCHIVES:
                yield from within(file)
                continue
        yield file


def members_of(place, inside):
    """Return path, time and size of each member of an archive, and in words why it is not unpacked, or None."""
    infos = opened(place, inside).infolist()
    if len(infos) > MAX_ARCHIVE_FILES:
        return [], say("has more than {count} files", count=MAX_ARCHIVE_FILES)
    if inside and sum(info.file_size for info in infos) > MAX_ARCHIVE_BYTES:
        return [], say("unpacks to more than {megabytes} MB", megabytes=MAX_ARCHIVE_BYTES // 1_000_000)
    return [(member_path(info), time_of(info), info.file_size) for info in infos], None


def opened(place, inside):
    """Return an open archive: that on the disk, or one inside."""
    return zipfile.ZipFile(io.BytesIO(bytes_of(place, inside)) if inside else place)


def bytes_of(place, inside):
    """Return the bytes of a file on the disk, or of one inside."""
    if not inside:
        return place.read_bytes()
    archive = opened(place, inside[:-1])
    return archive.read(archive.infolist()[inside[-1]])


def member_path(info):
    """Return the path of a file in an archive; one that leads out of it is shortened to what lies inside."""
    name = info.filename
    if not info.flag_bits & 0x800:  # no encoding is named: zipfile takes DOS's, where macOS writes UTF-8
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = info.filename
    parts = [part[:255] for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")]
    return (*parts_of(parts), *[""] * name.endswith(("/", "\\")))


def parts_of(parts):
    """Return the parts of a path as they are shown."""
    return tuple(clean(part) or "?" for part in parts)


def time_of(info):
    """Return the time of a file in an archive, in seconds."""
    try:
        return datetime(*info.date_time).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def graded_files(found):
    """Return the files that a student has made, and the folders in which there is nothing else."""
    files = []
    for file in found:
        own = tuple(itertools.takewhile(lambda part: not JUNK.match(part), file.path))
        files.append(file if own and own == file.path else File((*own, ""), 0.0, 0, file.place))
    paths = {file.path for file in files}
    full = {path[:end] for path in paths for end in range(len(path) - (path[-1] == ""))} | {()}
    return [file for file in files if (file.path[-1] or file.path[:-1] not in full) and not (
        "-checkpoint." in file.path[-1] and (*file.path[:-1], file.path[-1].replace("-checkpoint.", ".")) in paths)]
