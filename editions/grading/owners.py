"""Whose a submitted file is: what learning platforms write into names of files and folders, or what people write."""
import contextlib
import itertools
import re
import unicodedata
from datetime import datetime
from typing import NamedTuple

from .feedback import plain

PLATFORMS = [re.compile(pattern) for pattern in (
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_\w*?_?(?:file|onlinetext)(?:_|$)",  # Moodle
    r"[^_]*_(?P<name>.+?)_attempt_(?P<when>\d{4}-\d\d-\d\d-[\d-]+)",  # Blackboard
    r"(?P<id>\d+-\d+) - (?P<name>.+?) - (?P<when>[^-]*\d{4}[^-]*)(?: - |$)",  # Brightspace
    r"(?P<name>[^_\s]+)_(?:LATE_)?(?P<id>\d+)_(?:\d+_|text\.html)")]  # Canvas
LATE = re.compile(r"(?:^|_)LATE_")
TIMES = "%Y-%m-%d-%H-%M-%S", "%d %B %Y %I%M %p", "%d %b %Y %I%M %p", "%B %d %Y %I%M %p", "%b %d %Y %I%M %p"
ENDINGS = re.compile(r"(\.ipynb|\.json|\.txt|\.zip)+$", re.IGNORECASE)
COPY = re.compile(r"( ?\(\d+\)| ?- ?copy ?\d*| copy ?\d*|-checkpoint)+$", re.IGNORECASE)
NO_NAME = re.compile(  # what files and folders are called that are not called after their students
    r"((all|archive|answer|assignment|class|classes|course|download|exercise|export|file|final|group|hand-?in|homework"
    r"|hw|lab|lesson|notebook|part|ps|section|session|solution|student|submission|submitted|task|team|unit|untitled"
    r"|upload|week)s?([ _.#-]+[a-z]|[ _.#-]*\d{1,2}(\.\d{1,2})?)?|\d{1,2}|第.{1,3}[周组课次]|(作业|提交)\d*)?",
    re.IGNORECASE)
GROUP = re.compile(r"(class|group|section|team).*|\d+|第.+组", re.IGNORECASE)


class Owner(NamedTuple):
    """The student whose file it is, as far as names say so."""

    student: str
    number: str = ""
    late: bool = False
    time: float | None = None  # when it was submitted, if the name says so
    sure: bool = False  # whether a platform says so
    nameless: bool = False  # whether it is called after its file, for want of a name
    group: str = ""
    further: str = ""  # a name in the rest of the path, which may be another student's


def clean(text):
    """Return a name that can be shown: without controls and changes of direction, and with all characters whole."""
    return unicodedata.normalize("NFC", re.sub(r"[\n\t]", "", plain(printable(text))))


def printable(text):
    """Return a text without the halves of characters that no file can hold; odd names of files have some."""
    return text.encode("utf-8", "replace").decode("utf-8")


def owners(paths, stems):
    """Return the Owner of each path; a path is a tuple of names, and `stems` are the names of lessons' files.

    Students of one name in two groups are two.
    """
    by_platform = [said_by_platform(path) for path in paths]
    by_hand = ByHand([path for path, owner in zip(paths, by_platform, strict=True) if not owner], stems)
    found = [owner or by_hand.owner(path) for path, owner in zip(paths, by_platform, strict=True)]
    groups = {}
    for owner in found:
        groups.setdefault((owner.student, owner.number), set()).add(owner.group)
    return [owner._replace(student=f"{owner.student} ({owner.group})")
            if owner.group and len(groups[owner.student, owner.number]) > 1 else owner for owner in found]


def said_by_platform(path):
    """Return the Owner that a platform names in the outermost part of a path in which one does, or None.

    >>> said_by_platform(("all", "Ann Lee_123_assignsubmission_file_", "a.ipynb"))[:2]
    ('Ann Lee', '123')
    >>> said_by_platform(("hand-smith_LATE_123_4567_01-lesson-2.ipynb",))[:3]
    ('hand-smith', '123', True)
    """
    for part in path:
        for pattern in PLATFORMS:
            found = pattern.match(part)
            if found:
                said = found.groupdict()
                return Owner(said["name"].strip(), said.get("id", ""), bool(LATE.search(part)),
                             time_in(said.get("when", "")), sure=True)
    return None


def time_in(text):
    """Return the time that a platform has written, in seconds, or None if it is in another form or language."""
    text = re.sub(r"\b(\d{3} [AP]M)", r"0\1", text.replace(",", "").strip())
    for form in TIMES:
        with contextlib.suppress(ValueError, OverflowError):
            return datetime.strptime(text, form).timestamp()
    return None


class ByHand:
    """Finds owners where no platform names them: in folders that people have made, and in names of files."""

    def __init__(self, paths, stems):
        self.stems = sorted(stems, key=len, reverse=True)
        self.wrapper = ()  # the folders around all students
        folders = [path[:-1] for path in paths if len(path) > 1 or ".ipynb" in path[0]]
        levels = itertools.takewhile(lambda level: len(set(level)) == 1, zip(*folders, strict=False))
        shared = tuple(level[0] for level in levels)
        below = [path[len(shared):] for path in paths if path[:-1][:len(shared)] == shared]
        if len(set(map(self.first_name, below)) - {""}) > 1:
            self.wrapper = shared

    def name_in(self, text):
        """Return what a name of a file or folder says besides the lesson's name, or "" if that is no student's name.

        >>> [ByHand([], ["01-lesson"]).name_in(text) for text in ("01-lesson_ann (1)", "01-lesson-Copy1", "Week 3")]
        ['ann', '', '']
        """
        text = COPY.sub("", text)
        for stem in self.stems:
            text = text.replace(stem, "")
        text = text.strip(" _-.")
        return "" if NO_NAME.fullmatch(text) else text

    def first_name(self, path):
        """Return the first student's name in a path, or ""."""
        *folders, file = path
        return next(filter(None, map(self.name_in, [*folders, ENDINGS.sub("", file)])), "")

    def owner(self, path):
        """Return the Owner of a path: the first folder with a student's name, the file's name, or the folder."""
        if path[:-1][:len(self.wrapper)] == self.wrapper:
            path = path[len(self.wrapper):]
        *folders, file = path
        file = ENDINGS.sub("", file)
        late = any(map(LATE.search, path))
        group = ""
        for place, folder in enumerate(folders, 1):
            if self.name_in(folder):
                return Owner(folder.strip(), late=late, group=group, further=self.first_name(path[place:]))
            group = folder if GROUP.fullmatch(folder) else group
        if self.name_in(file):
            return Owner(self.name_in(file), late=late, group=group)
        if folders:
            return Owner(group or folders[-1], late=late, further=file if COPY.search(file) else ".")
        return Owner(file, late=late, nameless=True)
