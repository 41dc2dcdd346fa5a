"""A reader's own copies of the lessons, which are never overwritten once the reader has written into them."""
import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

import nbformat

from . import lessons
from .translations import ENGLISH


def write_readers_copies(folder, translation=ENGLISH):
    """Give the reader a copy of each lesson to write in, without outputs; never change what the reader has written.

    A new version of a lesson replaces a copy that the reader has not changed. If all copies have been changed, it is
    written beside them. Other files that belong to the lessons, such as figures, are linked, or, in other languages,
    written anew.
    """
    for lesson in lessons.paths():
        new = lessons.without_outputs(lesson, "instructor", translation=translation)
        new.metadata["made_of"] = checksum(new)
        write_copy(new, folder / lesson)
    write_tutor(folder / "AGENTS.md", translation)
    if translation.language:
        write_beside_copies(folder, translation)
    replace_links_to_checks(folder)
    for place in {lesson.parent for lesson in lessons.paths()}:
        link_what_lies_in(place, folder)


def write_copy(new, own):
    """Write a lesson as the reader's own copy at the path `own`, or where an update goes, unless it is there."""
    own.parent.mkdir(parents=True, exist_ok=True)
    if not own.exists():
        write_new(new, own)
        return
    updates = own.parent.glob(f"{own.stem} (update *).ipynb")
    copies = {path: checksums(path) for path in [own, *sorted(updates)]}
    if new.metadata["made_of"] in [made_of for made_of, _ in copies.values()]:
        return
    untouched = [path for path, (made_of, now) in copies.items() if made_of == now]
    if untouched:
        path = untouched[0]
        write_over(new, path)
    else:
        path = unused(own)
        write_new(new, path)
    kept = "" if path == own else "; yours stays as it is"
    print(f"{own.stem} has a new version: {path}{kept}")


def write_tutor(path, translation):
    """Write the page that asks an assistant to tutor, unless the reader has changed it, or has another of that name.

    Its last line has a hash of the rest, which shows whether it is as we wrote it.
    """
    text = translation.page("tutor")
    if path.exists():
        kept, _, mark = path.read_text(encoding="utf-8", errors="replace").rpartition("\n<!-- ")
        if mark != f"{hash_of(kept)} -->\n":
            return
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as beside:
        made = Path(beside, path.name)
        made.write_text(f"{text}\n<!-- {hash_of(text)} -->\n", encoding="utf-8")
        os.replace(made, path)


def hash_of(text):
    """Return a short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def link_what_lies_in(place, folder):
    """Link what lies beside the lessons in one of their folders, except where the reader has a file of that name."""
    for each in (lessons.FOLDER / place).iterdir():
        if each.suffix != ".ipynb" and not each.name.startswith((".", "__")):
            with contextlib.suppress(FileExistsError):
                (folder / place / each.name).symlink_to(os.path.relpath(each, folder / place))


def replace_links_to_checks(folder):
    """Put a package in the place of each link `checks` that leads nowhere, so that earlier copies can import it.

    It imports the helpers, which let `checks.lesson_01` lead to the module that has these checks now.
    """
    for place in [folder, *folder.iterdir()]:
        path = place / "checks"
        if path.is_symlink() and not path.exists():
            path.unlink()
            path.mkdir()
            (path / "__init__.py").write_text("import d2lhelpers\n")


def write_beside_copies(folder, translation):
    """Write what a translation changes among the files beside the readers' copies: figures, checks, a page."""
    with tempfile.TemporaryDirectory(prefix=".", dir=folder) as beside:
        made = Path(beside, "made")
        lessons.copy_what_they_use(made, translation)
        for each in [made / "for-instructors.md", made / "img", *made.glob("**/checks_*")]:
            old = folder / each.relative_to(made)
            if old.is_dir():
                shutil.rmtree(old)
            os.replace(each, old)


def checksum(notebook):
    """Return a hash that two notebooks share only if their cells are equal."""
    return hashlib.sha256(json.dumps(notebook.cells, sort_keys=True).encode()).hexdigest()


def checksums(path):
    """Return the checksum of what a copy was made of, and that of the copy; an unreadable copy counts as changed."""
    try:
        notebook = nbformat.read(path, as_version=4)
        return notebook.metadata["made_of"], checksum(notebook)
    except Exception:  # the reader may have changed anything in it
        return None, "changed"


def unused(path):
    """Return the first path of the form "name (update 1).ipynb" that is not in use."""
    number = 1
    while path.with_stem(f"{path.stem} (update {number})").exists():
        number += 1
    return path.with_stem(f"{path.stem} (update {number})")


def write_new(notebook, path):
    """Write a notebook, whole or not at all; a file that already exists is kept."""
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as beside:
        made = Path(beside, path.name)
        nbformat.write(notebook, made)
        with contextlib.suppress(FileExistsError):
            os.link(made, path)


def write_over(notebook, path):
    """Replace a notebook with another one, whole or not at all."""
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as beside:
        made = Path(beside, path.name)
        nbformat.write(notebook, made)
        os.replace(made, path)
