"""What the lessons say to their reader, in the language of the edition that the reader has opened."""
import functools
import json
import re
from pathlib import Path

GAP = re.compile(r"\{.*?\}")


class Words:
    """Translations of what is said: [about, English, translation] each, where `about` is the question of an option.

    An expression in braces, as in "still running after {LIMIT} seconds", stands for any text.

    >>> words = Words([["", "not yet. Hint: {hint}", "pas encore : {hint}"], ["", "count them", "comptez-les"]])
    >>> words.say("not yet. Hint: count them")
    'pas encore : comptez-les'
    >>> Words([["", "{n} left", "il en reste {n}"], ["", "{n} of {all} left", "reste {n}/{all}"]]).say("3 of 9 left")
    'reste 3/9'
    """

    def __init__(self, entries: list):
        self._exact = {(about, text): said for about, text, said in entries}
        with_gaps = [(text, said) for about, text, said in entries if not about and "{" in text]
        longest_first = sorted(with_gaps, key=lambda pair: -len(pair[0]))
        self._with_gaps = [(_pattern(text), GAP.findall(text), said) for text, said in longest_first]

    def say(self, text: str, about: str = "") -> str:
        """Return `text` in the edition's language, or as it is if there is no translation of it."""
        if (about, text) in self._exact:
            return self._exact[about, text]
        for pattern, names, said in self._with_gaps if not about else ():
            found = pattern.fullmatch(text)
            if found:
                fillings = dict(zip(names, found.groups(), strict=True))
                return GAP.sub(lambda gap, fillings=fillings: self.say(fillings[gap[0]]), said)
        return text


def _pattern(text):
    """Return a pattern for a text in which any text may stand for each expression in braces."""
    return re.compile("(.*?)".join(re.escape(part) for part in GAP.split(text)), re.DOTALL)


@functools.cache
def _of_edition():
    """Return the words that lie beside the lesson's checks; the English edition has none."""
    files = [*Path().glob("checks_*/messages.json")]
    return Words(json.loads(files[0].read_text(encoding="utf-8")) if files else [])


def say(text: str, about: str = "") -> str:
    """Return `text` in the language of the edition; `about` is the question that the text answers.

    >>> say("right")
    'right'
    """
    return _of_edition().say(text, about)
