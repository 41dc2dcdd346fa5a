"""Make an edition of the lessons, grade answers to them, or open them: `python -m editions EDITION …`."""
import argparse
import re
import signal
import sys
import zipfile
from functools import partial
from pathlib import Path

import nbformat

from . import folders, lessons, translations
from .translations import TAGS, Translation


def main():
    """Do what the command line says."""
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)  # argparse would take `--` for a word of ours
    asked = parser().parse_args(words[:end])
    asked.for_jupyter = words[end + 1:]
    asked.translation = Translation(asked.language)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # which also removes what is half written
    try:
        asked.make(asked)
    except OSError as error:
        sys.exit(f"{asked.folder}: {folders.reason(error)}. Nothing that you wrote was changed")


def parser():
    """Return the parser of the command line, whose results have the function to call as `make`."""
    whole = argparse.ArgumentParser(prog="python -m editions", description=__doc__)
    editions = whole.add_subparsers(required=True, metavar="EDITION")

    def add(name, make):
        return editions.add_parser(name, help=make.__doc__, description=make.__doc__)

    def add_edition(name, make):
        edition = add(name, make)
        edition.set_defaults(make=make)
        edition.add_argument("--language", choices=sorted(TAGS), help="the language, instead of English")
        edition.add_argument("folder", type=full_path)
        return edition

    add_edition("copies", make_copies)
    add_edition("stored", make_stored)
    add_edition("student", make_student)
    add_edition("slides", make_slides).add_argument("--pdf", action="store_true", help="also print each deck to a PDF")
    site = add_edition("site", make_site)
    site.add_argument("--pdf", action="store_true", help="also print all pages to a PDF")
    site.add_argument("--epub", action="store_true", help="also make an e-book")
    site.add_argument("--repository", type=repository_name, help="owner/name, for buttons for Binder, Colab and Kaggle")
    update = add("translations", update_translations)
    update.set_defaults(make=update_translations, language=None, folder=Path(__file__).parent)
    lab = add_edition("lab", open_lab)
    lab.add_argument("--ip", default="127.0.0.1", help="the address to listen on")
    lab.epilog = "What follows -- is for JupyterLab."
    grade = add_edition("grade", grade_submissions)
    grade.add_argument("--folder", dest="results", type=full_path, help="for the results")
    grade.add_argument("--lesson", help="the lesson to grade, or how its name begins, instead of all")
    grade.add_argument("--seconds", type=float, help="for an exercise")
    grade.add_argument("--memory", type=float, help="GB for an exercise")
    grade.add_argument("--without-isolation", action="store_true", help="grade where bubblewrap cannot isolate runs")
    return whole


def full_path(text):
    """Return an absolute path."""
    return Path(text).expanduser().resolve()


def repository_name(text):
    """Return the text if it has the form of a repository's name, or is empty."""
    if text and not re.fullmatch(r"[\w.-]+/[\w.-]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form owner/name")
    return text


def write(folder, write_edition):
    """Let `write_edition` write a folder, which replaces what an earlier run made; print how many lessons it has."""
    folders.replace(write_edition, folder)
    print(f"{folder}: {len(lessons.paths())} lessons")


def make_copies(asked):
    """Give the reader a copy of each lesson to write in, or a new version beside it."""
    from .copies import write_readers_copies
    write_readers_copies(asked.folder, asked.translation)


def make_stored(asked):
    """Write the lessons with their results, to present them in another language."""
    def write_stored(folder):
        lessons.copy_what_they_use(folder, asked.translation)
        for lesson in lessons.paths():
            nbformat.write(lessons.read(lesson, asked.translation), folder / lesson)

    write(asked.folder, write_stored)


def make_student(asked):
    """Write the lessons without solutions and outputs, as assignments for nbgrader."""
    from .student import write_student_edition
    write(asked.folder, partial(write_student_edition, translation=asked.translation))


def make_slides(asked):
    """Write a deck of slides for each lesson."""
    from .browser import chromium
    from .slides.deck import print_slides, write_slides
    write(asked.folder, partial(write_slides, translation=asked.translation))
    if asked.pdf:
        with chromium() as browser:
            print_slides(asked.folder, browser)


def make_site(asked):
    """Write a site with all lessons, their results and the helpers' docstrings."""
    from .site.pages import write_site
    write(asked.folder, lambda folder: write_site(folder, asked.repository, asked.pdf, asked.epub, asked.translation))


def update_translations(asked):
    """Find what is new in English, for translators."""
    translations.update_all()


def open_lab(asked):
    """Open a folder of lessons in JupyterLab."""
    from .lab.launch import launch
    launch(asked.folder, asked.ip, asked.language or "", asked.for_jupyter)


def grade_submissions(asked):
    """Grade the answers that students submitted in a folder or a zip file."""
    from .grading.grade import grade
    from .grading.remarks import remark_of
    from .grading.runs import RunLimits
    given = {name: getattr(asked, name) for name in ("seconds", "memory") if getattr(asked, name)}
    limits = RunLimits(**given, isolated=not asked.without_isolation)
    try:
        grade(asked.folder, asked.results or results_of(asked.folder), limits, asked.translation, asked.lesson)
    except KeyboardInterrupt:
        sys.exit("\n" + asked.translation.say("interrupted: the same command goes on from here"))
    except OSError as error:
        sys.exit(f"{asked.folder}: {error}")
    except zipfile.BadZipFile as error:
        sys.exit(f"{asked.folder}: {remark_of(error.args[0]).shown(asked.translation)}")


def results_of(submitted):
    """Return a folder for the results: named as a zip file without its ending, unless that is another folder's name."""
    is_zip = submitted.is_file() and submitted.suffix.lower() == ".zip"
    name = submitted.stem if is_zip and not submitted.with_suffix("").exists() else submitted.name
    return submitted.with_name(f"{name}-graded")


if __name__ == "__main__":
    main()
