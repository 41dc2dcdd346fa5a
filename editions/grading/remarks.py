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


def say(text, **values):
    """Return a remark; `make translations` finds its text."""
    return Remark(text, values)


def to_instructor(remark):
    """Return a remark that is not shown to the student."""
    return remark._replace(for_student=False)
