"""The tables of right and wrong answers: how they are written, and what is done with an answer in a lesson's kernel.

The answers to a lesson are in `answers/`, in a file named like the lesson. Each begins with a line that says to which
exercise it is an answer, and what the check must say: that it is right, or which rule a wrong answer breaks. After a
full stop it may say what is done there.

    # %% 1 right. The sum with a loop.
    # %% 1 wrong: id-of-the-rule. Forgets the last term.

Three things save repetition. After `# %% 1 given` stands what all answers to the exercise that follow begin with. After
`# %% 1 right, each line` or `# %% 1 wrong, each line` every line that is no comment is an answer of its own; a wrong
one ends with two spaces, `#` and the rule's id. And an answer may be a change of the last one that is written in full:
each group of lines that begin with `#-` stands there once, and is replaced with the lines that follow it and begin with
`#+`.
"""
import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "answers"
HEADING = re.compile(r"^# %% (\d) (given|right|wrong)(, each line)?(?:: (.+?))?(?:\. .+)?$", re.MULTILINE)
CHANGE = re.compile(r"((?:^#-.*\n)+)((?:^#\+.*\n)*)", re.MULTILINE)


class Answer(NamedTuple):
    """An answer to one exercise, and what its check must say: "right", or the id of the rule that it breaks."""

    exercise: int
    wanted: str
    source: str


def read(text):
    """Return the answers in the text of a table."""
    before, *parts = HEADING.split(text)
    if re.sub("^#.*", "", before, flags=re.MULTILINE).strip():
        raise ValueError(f"what is no answer stands before the first one: {before.strip()}")
    given, full, found = {}, {}, []
    for number, kind, each_line, rule, source in zip(*[iter(parts)] * 5, strict=True):
        source = source.strip("\n") + "\n"
        if kind == "given":
            given[number] = source
        elif each_line:
            for line, wanted in _one_line_each(source, kind):
                found.append(Answer(int(number), wanted, given.get(number, "") + line))
        else:
            if CHANGE.search(source):
                source = _changed(full[number], source)
            else:
                full[number] = source
            found.append(Answer(int(number), rule or kind, (given.get(number, "") + source).strip()))
    return found


def of_lesson(name):
    """Return the answers in the table of a lesson that is given by its name, or [] if there is no table."""
    table = FOLDER / f"{name}.py"
    return read(table.read_text(encoding="utf-8")) if table.exists() else []


def _one_line_each(source, kind):
    """Yield each line that is no comment, after the comments above it, and what the check must say of it."""
    comments = ""
    for line in source.splitlines():
        if line.startswith("#"):
            comments += line + "\n"
        elif line:
            answer, wanted = (line, kind) if kind == "right" else line.rsplit("  # ", 1)
            yield comments + answer.rstrip(), wanted
            comments = ""


def _changed(full, changes):
    """Return a full answer with changes, after the comments that stand above them."""
    comments = CHANGE.sub("", changes)
    full = re.sub(r"\A(#.*\n)+", "", full)
    for old, new in CHANGE.findall(changes):
        old, new = (re.sub("^#[-+] ?", "", text, flags=re.MULTILINE).rstrip("\n") for text in (old, new))
        if full.count(old) != 1:
            raise ValueError(f"what is to be changed stands {full.count(old)} times in the full answer:\n{old}")
        full = full.replace(old, new)
    return comments + full
