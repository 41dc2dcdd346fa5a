"""Remarks: sentences about a submission, kept apart from the language in which they are shown."""
from typing import NamedTuple

from ..translations import ENGLISH


class Remark(NamedTuple):
    """A sentence with fields in braces, the values of its fields, and whether the student may read it."""

    text: str
    values: dict
    for_student: bool = True

    def shown(self, translation=ENGLISH):
        """Return the sentence in a language; a value that is a remark itself is translated, too."""
        values = {name: value.shown(translation) if isinstance(value, Remark) else value
                  for name, value in self.values.items()}
        return translation.say(self.text, **values)


class Limit(Remark):
    """A remark that a limit has ended a run: on a busy machine, another try may end otherwise."""


def say(text, **values):
    """Return a remark; `make translations` finds its text."""
    return Remark(text, values)


def to_instructor(remark):
    """Return a remark that is not shown to the student.

    >>> to_instructor(say("look at it")).for_student
    False
    """
    return remark._replace(for_student=False)


def remark_of(kept):
    """Return the remark that JSON has kept as a list, also one within another; a plain text has no fields.

    >>> remark_of(["{file} {problem}", {"file": "a.ipynb", "problem": ["is empty", {}]}]).shown()
    'a.ipynb is empty'
    """
    if isinstance(kept, list):
        text, values, *rest = kept
        return Remark(text, {name: remark_of(value) if isinstance(value, list) else value
                             for name, value in values.items()}, *rest)
    return kept if isinstance(kept, Remark) else Remark(kept, {})
