"""What students submitted: every student is found, and no file stops another student's grade."""
import functools
import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from editions.grading import archives, limited, owners, submissions

SOURCE = ["a = 1\r\n", "b = 2"]


def book(*sources, **changed):
    """Return a notebook as text, with a cell of code for each source."""
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "id": "x", "outputs": [], "execution_count": None}
             for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | changed)


NOTEBOOK = book(SOURCE)
NO_NOTEBOOK = "is not a notebook"
STEMS = ["01-small", "02-big"]


def write(folder, files):
    """Write files, given by their names; those named `.zip` are archives of files, a name that ends in / a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir()
        else:
            path.write_bytes(zipped(data) if isinstance(data, dict) else data)
            os.utime(path, (1e9, 1e9))


def zipped(files, pack=zipfile.ZIP_DEFLATED):
    """Return the bytes of an archive with files, given by their names."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", pack) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 11, 26, 10, 0, 0)),
                             zipped(data) if isinstance(data, dict) else data, pack)
    return held.getvalue()


def read(place):
    """Return the students, files and problems of a place, in order of their names, and the warnings."""
    reading = submissions.read(place, STEMS)
    found = [(each.student, each.file, each.problem.shown() if each.problem else "") for each in reading.submissions]
    assert all(bool(each.notebook) is not bool(each.problem) for each in reading.submissions)
    return sorted(found), [each.shown() for each in reading.warnings]


def packed(text):
    """Return files of these names, each a notebook if its name says so; `a.zip>b` is b in an archive a.zip."""
    files = {}
    for name in filter(None, map(str.strip, text.split("|"))):
        *archives, file = name.split(">")
        inside = files
        for archive in archives:
            inside = inside.setdefault(archive, {})
        inside[file] = NOTEBOOK.encode() if ".ipynb" in file else b"words"
    return files


# Whose a file is


PACKINGS = [  # what is packed, the students with their numbers, and how many warnings there are
    # Moodle: folders, no folders, online text, a group before the name
    ("Ann O'Neill_123_assignsubmission_file_/a b.ipynb | Bo_4_assignsubmission_file_/a b.ipynb",
     ["Ann O'Neill 123", "Bo 4"], 0),
    ("Ann Lee_77_assignsubmission_file_01-small.ipynb", ["Ann Lee 77"], 0),
    ("A-Bo_4_assignsubmission_onlinetext_/onlinetext.html", ["A-Bo 4"], 0),
    ("course 7/01/Ann Lee_7_assignsubmission_file_/x.ipynb", ["Ann Lee 7"], 0),
    # Canvas: late, hyphens, an archive, text, unpacked by a program
    ("leeann_123_4567_01-small-1.ipynb | leeann_LATE_123_4568_01-small.ipynb | bo_1_2_x.ipynb",
     ["bo 1", "leeann 123"], 0),
    ("hand-smith_11_22_a.ipynb | bo_12_23_a.zip>week 3/a.ipynb", ["bo 12", "hand-smith 11"], 0),
    ("submissions/ann_11_81_a.ipynb | submissions/bo_12_82_a.ipynb | submissions/cy_13_text.html",
     ["ann 11", "bo 12", "cy 13"], 0),
    # Blackboard: an underscore in a login
    ("Task 1_ann7_attempt_2026-11-26-10-00-00_01-small.ipynb | Task 1_ann7_attempt_2026-11-26-10-00-00.txt",
     ["ann7"], 0),
    ("T_a_lee_attempt_2026-11-26-10-00-00_x.ipynb | T_b_lee_attempt_2026-11-26-10-00-00_x.ipynb", ["a_lee", "b_lee"],
     0),
    # Brightspace: with folders, without, with its page
    ("index.html | 1-9 - Ann Lee - 26 November, 2026 1000 AM/a.ipynb | 2-9 - Bo - Nov 26, 2026 126 PM - a.ipynb",
     ["Ann Lee 1-9", "Bo 2-9"], 0),
    ("index.html | 1-9 - Ann Lee - 26 November, 2026 1000 AM/index.html | 2-9 - Bo - Nov 26, 2026 126 PM - a.ipynb",
     ["Ann Lee 1-9", "Bo 2-9"], 0),  # the other page is a student's own
    # Folders of students; what is in them does not matter
    ("Ännchen Müller/deep/er.ipynb | bo/01-small.ipynb | ann (2)/02-big.ipynb", ["ann (2)", "bo", "Ännchen Müller"], 0),
    ("ann/week 3/x.ipynb | ann/week 4/x.ipynb | bo/week 3/x.ipynb | bo/week 4/x.ipynb", ["ann", "bo"], 0),
    ("ann/01-small.ipynb | ann/02-big.ipynb", ["ann"], 1),
    ("12/01-small.ipynb | 13/01-small.ipynb", ["12", "13"], 0),
    # Names in files
    ("ann.ipynb | 01-small-bo (2).ipynb | cy.ipynb.txt | 4711_01-small.ipynb", ["4711", "ann", "bo", "cy"], 0),
    ("01-small - Ann Lee.ipynb | Bo-01-small-Copy1.ipynb", ["Ann Lee", "Bo"], 0),
    ("ann.ipynb | ann (1).ipynb | bo.ipynb | cy.ipynb", ["ann", "bo", "cy"], 0),
    # Wrappers of any depth, archives at the top, two groups
    ("week 3/ann.ipynb | week 3/bo.ipynb", ["ann", "bo"], 0),
    ("export/export/ann/a.ipynb", ["ann"], 0), ("cs101/x/y/ann/a.ipynb | cs101/x/y/bo/a.ipynb", ["ann", "bo"], 0),
    ("cs101/ann/a.ipynb | cs101/bo/a.ipynb | notes.html", ["ann", "bo", "notes.html"], 0),
    ("week 3/ann.ipynb | week 3/bo.ipynb | week 4/ann.ipynb", ["ann", "bo"], 0),
    ("01-small/ann.ipynb | 02-big/ann.ipynb | 02-big/bo.ipynb | 02-big/cy.ipynb", ["ann", "bo", "cy"], 0),
    ("group 1.zip>ann.ipynb | group 1.zip>bo.ipynb | group 2.zip>cy.ipynb", ["ann", "bo", "cy"], 0),
    ("group 1.zip>ann.ipynb | group 2.zip>ann.ipynb", ["ann (group 1)", "ann (group 2)"], 0),
    ("group 1/01-small.ipynb | group 2/week 3/01-small.ipynb", ["group 1", "group 2"], 0),
    ("all.zip>all/ann.zip>x/01-small.ipynb | all.zip>all/bo.zip>01-small.ipynb", ["ann", "bo"], 0),
    ("all.zip>Ann_1_assignsubmission_file_/w.zip>a.ipynb | all.zip>Bo_2_assignsubmission_file_/w.zip>b.zip>b.ipynb",
     ["Ann 1", "Bo 2"], 0),
    ("submissions (1).zip>ann_1_2_a.ipynb", ["ann 1"], 0),
    # A student's archive cannot take another student's name
    ("ann_1_2_w.zip>bo_3_4_x.ipynb | bo_3_5_x.ipynb", ["ann 1", "bo 3"], 0),
    # No names, and what may be several people's
    ("01-small.ipynb | 01-small (1).ipynb | 01-small-Copy1.ipynb", ["01-small", "01-small (1)", "01-small-Copy1"], 1),
    ("week 3/03.ipynb | week 3/03 (1).ipynb", ["week 3"], 1), ("homework 1.ipynb", ["homework 1"], 0),
    ("red/ann.ipynb | red/bo.ipynb | blue/cy.ipynb | blue/dee.ipynb", ["blue", "red"], 2),
    ("01-small-checkpoint.ipynb | 01-small.ipynb", ["01-small"], 0), ("ann-checkpoint.ipynb", ["ann"], 0),
    ("ann/01-small.ipynb | ann/02-big.ipynb | ann/03.ipynb | bo/01-small.ipynb", ["ann", "bo"], 1),
    # Junk, and who submitted nothing
    ("ann/.DS_Store | ann/01-small.ipynb | __MACOSX/ann/._01-small.ipynb | bo/.ipynb_checkpoints/x-checkpoint.ipynb",
     ["ann", "bo"], 0),
    ("cs101/ann/a.ipynb | cs101/bo/data/", ["ann", "bo"], 0),
]


@pytest.mark.parametrize("at_top", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize(("names", "students", "warnings"), PACKINGS, ids=[packing[0][:50] for packing in PACKINGS])
def test_every_student_is_found(names, students, warnings, at_top, tmp_path, monkeypatch):
    """However a course's files are packed, each student is found, and a warning says where that is not certain."""
    monkeypatch.setattr(limited, "call", lambda function, *arguments: function(*arguments))  # a process each takes long
    place = tmp_path / "work"
    if at_top:
        place.write_bytes(zipped(packed(names)))
    else:
        write(place, packed(names))
    reading = submissions.read(place, STEMS)
    assert sorted({f"{each.student} {each.number}".strip() for each in reading.submissions}) == students
    assert len(reading.warnings) == warnings


def test_warnings_name_files():
    """A warning names the student and the first five of the files."""
    owner = owners.Owner("red")
    found = [(submissions.Submission("red", "", f"red/{number}.ipynb", 0, None, None), owner) for number in range(6)]
    [warning] = submissions.warnings_about(found)
    assert warning.shown() == ("6 of 6 files are taken as red's: red/0.ipynb, red/1.ipynb, red/2.ipynb, red/3.ipynb, "
                               "red/4.ipynb, …")


def test_what_a_platform_says_about_time(tmp_path):
    """LATE is kept, and a time in a name counts, because the times of files may be those of unpacking."""
    write(tmp_path, packed("ann_LATE_1_2_a.ipynb | bo_1_3_a.ipynb | 1-9 - Cy - Nov 26, 2026 126 PM/a.ipynb"
                           "| 1-9 - Cy - 26 November, 2026 1000 AM/a.ipynb | 1-9 - Cy - 26 novembre 2026/a.ipynb"
                           "| T_dee_attempt_2026-11-26-10-00-00_x.ipynb"))
    found = submissions.read(tmp_path, STEMS).submissions
    assert [each.late for each in sorted(found)] == [False, False, False, True, False, False]
    times = {each.file.partition("/")[0]: each.time for each in found}
    ten, past_one = "1-9 - Cy - 26 November, 2026 1000 AM", "1-9 - Cy - Nov 26, 2026 126 PM"
    assert times[past_one] - times[ten] == 3 * 3600 + 26 * 60
    assert times["T_dee_attempt_2026-11-26-10-00-00_x.ipynb"] == times[ten]
    assert times["1-9 - Cy - 26 novembre 2026"] == times["bo_1_3_a.ipynb"] == 1e9


@pytest.mark.parametrize("names", [
    ["03.ipynb", "03 (1).ipynb", "03 (2).ipynb", "03 (10).ipynb"],
    ["a_1_2_x.ipynb", "a_1_2_x-1.ipynb", "a_1_2_x-2.ipynb"],
    ["a_1_99_x-3.ipynb", "a_1_100_x.ipynb"], ["w.ipynb", "w-Copy1.ipynb", "w-Copy2.ipynb"],
    ["d 2/x.ipynb", "d 10/a.ipynb"]], ids=str)
def test_of_one_time_the_last_copy_is_the_newest(names):
    """Submissions of one time are sorted as people count; an older one comes first, whatever its name is."""
    found = [submissions.Submission("ann", "", name, 0, None, None) for name in names]
    assert submissions.in_order(found[::-1]) == found
    older = found[-1]._replace(time=-1)
    assert submissions.in_order([*found, older])[0] == older


def test_names_can_be_shown(tmp_path):
    """Students and files have no control characters, no changes of direction, and no halves of characters."""
    name = "ann\x1b[2K\r[1\u202e\u2066\u200f\u061c\x85\u2028]_1_2_gpj.ipynb"
    write(tmp_path, {name: NOTEBOOK.encode(), os.fsdecode(b"\xff.ipynb"): NOTEBOOK.encode(),
                     "bo.zip": {name: NOTEBOOK}})
    found, _ = read(tmp_path)
    assert found == [("?", "?.ipynb", ""), ("ann[2K[1]", "ann[2K[1]_1_2_gpj.ipynb", ""),
                     ("ann[2K[1]", "bo/ann[2K[1]_1_2_gpj.ipynb", "")]
    assert owners.clean("Mu\u0308ller\ud800") == "Müller?"


def test_names_in_archives_of_macos(tmp_path, monkeypatch):
    """An archive that does not say in which encoding its names are is read as UTF-8 if it can be."""
    monkeypatch.setattr(zipfile.ZipInfo, "_encodeFilenameFlags", lambda info: (
        info.filename.encode("cp437" if info.filename.startswith("J") else "utf-8"), info.flag_bits))
    (tmp_path / "all.zip").write_bytes(zipped({"Müller.ipynb": NOTEBOOK, "Jürgen.ipynb": NOTEBOOK}))
    assert [student for student, *_ in read(tmp_path / "all.zip")[0]] == ["Jürgen", "Müller"]


# What a file can do


BOMB = b'{"cells": [' + b"[" * 100_000
CELL = {"cell_type": "code", "source": "", "metadata": {}}


@pytest.mark.parametrize(("data", "problem"), [
    (NOTEBOOK.encode(), ""), (NOTEBOOK.replace("\n", "\r\n").encode("utf-8-sig"), ""), (NOTEBOOK.encode("utf-16"), ""),
    (b"", "is empty"), (b" \r\n", "is empty"), (b"PK\x03\x04", NO_NOTEBOOK), (NOTEBOOK[:50].encode(), NO_NOTEBOOK),
    (b"[" * 100_000, NO_NOTEBOOK), (BOMB, NO_NOTEBOOK), (b"{}", NO_NOTEBOOK), (b"[]", NO_NOTEBOOK),
    (book(SOURCE, nbformat="4").encode(), NO_NOTEBOOK), (book(SOURCE, cells=[1]).encode(), NO_NOTEBOOK),
    (book(SOURCE, cells=[{"source": ""}]).encode(), NO_NOTEBOOK), (book([1]).encode(), NO_NOTEBOOK),
    (book(7).encode(), NO_NOTEBOOK), (book(SOURCE, cells=[CELL | {"cell_type": ["code"]}]).encode(), NO_NOTEBOOK),
    (book(SOURCE, cells={"a": CELL}).encode(), NO_NOTEBOOK),
    (NOTEBOOK.replace('"nbformat_minor": 5', '"nbformat_minor": ' + 99_999 * "9").encode(), NO_NOTEBOOK),
    (book(SOURCE, metadata=[7]).encode(), ""), (book("x" * 200_000).encode(), ""),
    (book("x" * 200_001).encode(), "has a cell of more than 200000 characters"),
    (book(*5000 * [SOURCE]).encode(), ""), (book(*5001 * [SOURCE]).encode(), "has more than 5000 cells"),
    (book(SOURCE, nbformat=3, nbformat_minor=0, worksheets=[{"cells": [
        {"cell_type": "code", "input": "a = 1\nb = 2", "language": "python", "outputs": [], "metadata": {}}],
        "metadata": {}}]).encode(), ""),
], ids=range(25))
def test_notebooks_of_any_kind(data, problem, tmp_path):
    """A notebook is read in any encoding and with Windows' line ends; what is none gets a line that says so."""
    (tmp_path / "ann.ipynb").write_bytes(data)
    light, said, _ = submissions.light_notebook(tmp_path / "ann.ipynb", ())
    assert (said.shown() if said else "") == problem
    assert problem or light["cells"][0]["source"].startswith(("a = 1\nb = 2", "xxx"))


def test_only_what_is_graded_is_kept(tmp_path):
    """Text cells may be long, outputs and attachments count nothing, and metadata of any form is no problem."""
    cells = [{"cell_type": "markdown", "source": "x" * 330_000, "attachments": {"a.png": {"image/png": "x" * 10**7}}},
             {"cell_type": "code", "source": "\ud800", "id": ["a"], "metadata": {
                 "tags": ["exercise", 7], "nbgrader": {"grade_id": "try-1", "more": BOMB.decode()}},
              "outputs": [{"text": "x" * 30_000_000}]},
             {"cell_type": "raw", "source": "a", "id": "b", "metadata": {"nbgrader": {"grade_id": [1]}, "tags": 7}}]
    metadata = {"lesson": {"name": "01-small", "version": ["x"], "more": 1}, "kernelspec": {}}
    write(tmp_path, {"ann.ipynb": book(cells=cells, metadata=metadata).encode()})
    [found] = submissions.read(tmp_path, []).submissions
    assert found.problem is None
    assert found.notebook.metadata == {"lesson": {"name": "01-small", "version": ""}}
    assert found.notebook.cells == [
        {"cell_type": "markdown", "id": "", "source": "x" * 330_000, "metadata": {}},
        {"cell_type": "code", "id": "", "source": "?",
         "metadata": {"nbgrader": {"grade_id": "try-1"}, "tags": ["exercise"]}},
        {"cell_type": "raw", "id": "b", "source": "a", "metadata": {}}]


def damaged(pack):
    """Return an archive whose one file is damaged within."""
    whole = zipped({"a.ipynb": os.urandom(5000)}, pack)
    return whole[:60] + bytes(2000) + whole[2060:]


def encrypted():
    """Return an archive that says that its one file is encrypted."""
    whole = zipped({"a.ipynb": NOTEBOOK}, zipfile.ZIP_STORED)
    return whole.replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01").replace(
        b"PK\x03\x04\x14\x00\x00", b"PK\x03\x04\x14\x00\x01")


def boasting(size):
    """Return an archive that says that its one file has so many bytes."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("a.txt", "words")
        archive.infolist()[0].file_size = size
    return held.getvalue()


@pytest.mark.parametrize(("name", "data", "problem"), [
    ("ann.zip", damaged(zipfile.ZIP_DEFLATED), "could not be read"), ("ann.zip", encrypted(), "is encrypted"),
    ("ann.zip", damaged(zipfile.ZIP_BZIP2), "could not be read"), ("ann.zip", b"PK", "not a zip file"),
    ("ann.zip", damaged(zipfile.ZIP_LZMA), "could not be read"), ("ann.zip", {}, "is an empty folder"),
    ("ann.zip", damaged(zipfile.ZIP_STORED), "Bad CRC-32"),
    ("ann.zip", {f"{number}/": b"" for number in range(10_001)}, "has more than 10000 files"),
    ("ann.ipynb", bytes(100_000_001), "is larger than 100 MB"),
    ("ann.zip", {"b.zip": bytes(100_000_001)}, "is larger than 100 MB"),
    ("ann.zip", boasting(10**9 + 1), "unpacks to more than 1000 MB"),
], ids=range(11))
def test_no_file_stops_another_students_grade(name, data, problem, tmp_path):
    """A damaged archive, a bomb or a file of any size ends in a line for its student, in a folder and in an archive."""
    data = zipped(data) if isinstance(data, dict) else data
    write(tmp_path / "in", {name: data, "bo.ipynb": NOTEBOOK.encode()})
    (tmp_path / "all.zip").write_bytes(zipped({name: data, "bo.ipynb": NOTEBOOK}))
    for place in (tmp_path / "in", tmp_path / "all.zip"):
        if place.is_dir() and "unpacks" in problem:
            continue  # on the disk, an archive may hold the files of all students
        [ann, bo], _ = read(place)
        assert ann[0] == "ann"
        assert problem in ann[2]
        assert bo == ("bo", "bo.ipynb", "")


@pytest.mark.parametrize(("limits", "problem"), [
    ({"memory": 0.2}, "takes more than 0.2 GB of memory to read"), ({"seconds": 0.01}, "took more than 0.01 seconds")])
def test_reading_has_limits(limits, problem, tmp_path, monkeypatch):
    """A notebook that takes too much memory or time to read, and that is small on the disk, ends in a line."""
    write(tmp_path, {"ann.ipynb": b'{"nbformat": 4, "cells": [' + b"[]," * 4_000_000})
    monkeypatch.setattr(limited, "call", functools.partial(limited.call, **limits))
    assert problem in read(tmp_path)[0][0][2]


def test_a_student_has_a_share(tmp_path, monkeypatch):
    """Of more files, bytes or cells than a student may have, the newest are read, and each of the others is named."""
    write(tmp_path, packed("bo.ipynb | ann/01-small.ipynb | ann/01-small (1).ipynb | ann/01-small (2).ipynb"))
    size = len(NOTEBOOK)
    light = submissions.light_notebook(tmp_path / "bo.ipynb", ())[2]
    assert light < size
    with monkeypatch.context() as change:
        change.setattr(submissions, "MAX_BYTES", size)
        assert [student for student, _, said in read(tmp_path)[0] if said.startswith("was not read")] == 3 * ["ann"]
    for name, limit, problem in [("MAX_STUDENT_FILES", 2, "was not read: a student may have 2 files"),
                                 ("MAX_STUDENT_BYTES", 2 * size, "was not read"),
                                 ("MAX_NOTEBOOK_BYTES", 2 * light, "is too large: without outputs")]:
        with monkeypatch.context() as change:
            change.setattr(submissions, name, limit)
            found = {file: said for _, file, said in read(tmp_path)[0]}
        assert found.pop("ann/01-small.ipynb").startswith(problem)
        assert {*found.values()} == {""}


def test_a_file_called_like_a_folder(tmp_path):
    """In an archive a file may have the name of the folder around all students."""
    write(tmp_path, {"all.zip": packed("x/ann/a.ipynb | x/bo/a.ipynb | x")})
    assert [student for student, *_ in read(tmp_path / "all.zip")[0]] == ["ann", "bo", "x"]


def test_a_file_may_be_as_large_as_the_limit(tmp_path, monkeypatch):
    """A file of exactly as many bytes as are allowed is read, in a folder or in a zip file, and a larger one is not."""
    monkeypatch.setattr(submissions, "MAX_FILE_BYTES", len(NOTEBOOK))
    files = {"ann.ipynb": NOTEBOOK.encode(), "bo.ipynb": NOTEBOOK.encode() + b" "}
    write(tmp_path / "all", files)
    write(tmp_path, {"all.zip": files})
    for place in (tmp_path / "all.zip", tmp_path / "all"):
        assert [problem for *_, problem in read(place)[0]] == ["", "is larger than 100 MB"]


def test_a_zip_file_stays_inside(tmp_path):
    """Paths in a zip file that lead out of it, a zip file within, junk and a broken archive do no harm."""
    (tmp_path / "all.zip").write_bytes(zipped({
        "an-empty-folder/": "", "../../etc/ann.ipynb": NOTEBOOK, "/bo/x.ipynb": NOTEBOOK,
        "__MACOSX/._ann.ipynb": NOTEBOOK,
        "c\\d.ipynb": NOTEBOOK, "eve/all.zip": {"work.ipynb": NOTEBOOK}, "gus.docx": "words", "..": "words"}))
    before = sorted(tmp_path.rglob("*"))
    found, _ = read(tmp_path / "all.zip")
    assert found == [("an-empty-folder", "an-empty-folder/", "is an empty folder"), ("bo", "bo/x.ipynb", ""),
                     ("c", "c/d.ipynb", ""), ("etc", "etc/ann.ipynb", ""), ("eve", "eve/all/work.ipynb", ""),
                     ("gus.docx", "gus.docx", NO_NOTEBOOK)]
    assert sorted(tmp_path.rglob("*")) == before
    assert archives.time_of(zipfile.ZipInfo("odd", (1980, 0, 0, 0, 0, 0))) == 0  # no such month


def test_what_is_no_place(tmp_path):
    """A place that is neither a folder nor a zip file, or that is not there, is an error and no student's line."""
    broken = tmp_path / "broken.zip"
    broken.write_bytes(zipped({"a.ipynb": NOTEBOOK}).replace(b"PK\x01\x02", b"PK\x01\x03"))
    for place in (Path(__file__), broken):
        with pytest.raises(zipfile.BadZipFile):
            submissions.read(place, [])
    with pytest.raises(FileNotFoundError):
        submissions.read(tmp_path / "absent", [])
    (tmp_path / "empty").mkdir()
    assert submissions.read(tmp_path / "empty", []) == ([], [])


def test_links_and_other_files(tmp_path):
    """Links are not followed, a notebook under another name is found, other files count if there is nothing else."""
    write(tmp_path / "in", {"ann/a.ipynb": NOTEBOOK.encode(), "ann/notes.txt": b"words",
                            "bo/work.json": NOTEBOOK.encode(), "cy/a.docx": b"words", "cy/b.docx": b"words",
                            "dee/a.ipynb": b"words"})
    (tmp_path / "in" / "cy" / "secret.ipynb").symlink_to(tmp_path / "in" / "ann" / "a.ipynb")
    (tmp_path / "in" / "eve").symlink_to(tmp_path / "in" / "ann")
    assert read(tmp_path / "in")[0] == [
        ("ann", "ann/a.ipynb", ""), ("bo", "bo/work.json", ""), ("cy", "cy/b.docx", NO_NOTEBOOK),
        ("dee", "dee/a.ipynb", NO_NOTEBOOK)]
