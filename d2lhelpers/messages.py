"""What the lessons say to their reader, in the language of the edition that the reader has opened."""
import functools
import gettext
from pathlib import Path


@functools.cache
def _of_edition():
    """Return the translations that lie beside the lesson's checks; the English edition has none."""
    for path in Path().glob("checks_*/messages.mo"):
        with path.open("rb") as file:
            return gettext.GNUTranslations(file)
    return gettext.NullTranslations()


def say(template: str, about: str = "message", **values: object) -> str:
    """Return a text in the language of the edition, with `values` in place of its fields in braces.

    Without values, braces are part of the text. A text without a translation, such as one that was translated before,
    stays as it is. `about` is gettext's context: of an option, it is the question.

    >>> say("{n} of {most} steps", n=3, most=9)
    '3 of 9 steps'
    >>> say("right")
    'right'
    """
    text = _of_edition().pgettext(about, template)
    return text.format(**values) if values else text
