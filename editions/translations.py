"""The lessons in other languages: `make translations` keeps a PO file per lesson or page, and editions read them.

An entry translates one cell of text, one paragraph of a page, the words of one figure, one message, or a comment that
says what to write in an exercise. It is found by
its context (such as the cell's id) and its English, so a translation whose English has changed is not used: readers
then see the English until somebody renews it. Code, results and pictures are those of the one lesson that there is.
"""
import difflib
import re
from functools import partial
from pathlib import Path

import polib

from .translatable import (
    CAPTIONS,
    FIGURE_TEXTS,
    PAGES,
    blocks_of,
    catalogues,
    contents,
    question_in,
    with_comments,
)

HERE = Path(__file__).parent
ROOT = HERE.parent
TAGS = {"zh": "zh-CN"}  # each language by the name of its folder, with the name that browsers know
FIELD = re.compile(r"\{.*?\}")
# messages that stored outputs show with values
IN_OUTPUTS = ("no score: {broken}", "not scored: {steps} steps on two devices took {seconds:.3f} sec",
              "this check takes up to {seconds} seconds")
METADATA = {"MIME-Version": "1.0", "Content-Type": "text/plain; charset=UTF-8", "Content-Transfer-Encoding": "8bit"}


def load(path):
    """Read a PO file; where there is none, return an empty one."""
    return polib.pofile(str(path), wrapwidth=0) if path.exists() else polib.POFile(wrapwidth=0)


def update(language):
    """Write a language's PO files anew: a new text is empty; a changed one is fuzzy and keeps the old English."""
    for name, entries in catalogues().items():
        path = HERE / language / f"{name}.po"
        held = load(path)
        new = polib.POFile(wrapwidth=0)
        new.metadata = {"Language": TAGS[language], **METADATA}
        kept = {(entry.msgctxt, entry.msgid): entry for entry in held if (entry.msgctxt, entry.msgid) in entries}
        left = [entry for entry in held if (entry.msgctxt, entry.msgid) not in entries and entry.msgstr]
        for (context, text), remark in entries.items():
            entry = kept.get((context, text))
            if not entry:
                entry = polib.POEntry(msgid=text, msgctxt=context, comment=remark)
                before = closest(entry, left)
                if before:
                    entry.msgstr = before.msgstr
                    entry.previous_msgid = before.previous_msgid or before.msgid
                    entry.flags = ["fuzzy"] if entry.previous_msgid != text else []  # the change was taken back
            entry.comment = remark
            new.append(entry)
        path.parent.mkdir(parents=True, exist_ok=True)
        new.save(str(path))


def closest(entry, others):
    """Return the one of the others that has the same context and the most similar English, or None.

    The context of an option is its question: where that has changed, the option of the same cell is the one.
    """
    texts = {other.msgid: other for other in others if other.msgctxt == entry.msgctxt
             or (other.comment, other.msgid) == (entry.comment, entry.msgid)}
    unique = entry.msgctxt not in (None, "question", "message", "model") and len(texts) == 1
    found = difflib.get_close_matches(entry.msgid, texts, n=1, cutoff=0 if unique else 0.6)
    return texts[found[0]] if found else None


class Translation:
    """Everything that can be said in a language; `Translation()` says everything in English."""

    def __init__(self, language=None):
        self.language = language
        self.said = {}
        for path in sorted((HERE / language).glob("**/*.po")) if language else ():
            name = path.relative_to(HERE / language).with_suffix("").as_posix()
            self.said |= {(name, entry.msgctxt, entry.msgid): entry.msgstr for entry in load(path)
                          if entry.msgstr and not entry.fuzzy}

    @property
    def tag(self):
        """The language as browsers know it."""
        return TAGS.get(self.language, "en")

    def __call__(self, name, context, text):
        """Return what a text of a file is in this language, or the text itself."""
        return self.said.get((name, context, text), text)

    def say(self, template, **values):
        """Return a message in this language, with `values` in place of its fields in braces."""
        said = self("messages", "message", template)
        return said.format(**values) if values else said

    def of_line(self, line):
        """Return a line of a stored output in this language, if it is a message; all else stays as it is."""
        for template in IN_OUTPUTS:
            found = re.fullmatch("(.*)".join(map(re.escape, FIELD.split(template))), line)
            if found:
                said = self.say(template)
                for field, value in zip(FIELD.findall(template), found.groups(), strict=True):
                    said = said.replace(field, self.say(value))
                return said
        return self.say(line)

    def at_run_time(self):
        """Return a catalogue of what lessons say while they run: messages, questions, and options by their question."""
        questions = {text for _, context, text in self.said if context == "question"}
        catalogue = polib.POFile()
        catalogue.metadata = METADATA
        for (_, context, text), said in self.said.items():
            if context in {"message", "question", *questions}:
                catalogue.append(polib.POEntry(msgctxt=context, msgid=text, msgstr=said))
        return catalogue

    def lesson(self, lesson, notebook):
        """Translate a lesson: texts, exercises' comments, questions and messages in outputs; code stays as it is."""
        name = Path(lesson).with_suffix("").as_posix()
        for cell in notebook.cells if self.language else ():
            if cell.cell_type == "markdown":
                cell.source = self(name, cell.id, cell.source)
            elif "exercise" in cell.metadata.get("tags", []):
                cell.source = with_comments(cell.source, partial(self, name, cell.id))
            for output in cell.get("outputs", []):
                question, options = question_in(output)
                if question:
                    said = [self(name, question, option) for option in options]
                    output.data["text/plain"] = "\n( ) ".join([self(name, "question", question), *said])
                elif output.output_type == "stream":
                    output.text = "\n".join(self.of_line(line) for line in output.text.split("\n"))
        return notebook

    def page(self, name):
        """Return the text of a page in Markdown."""
        return "".join(block.replace(block.strip("\n"), self(name, None, block.strip("\n"))) if block.strip() else block
                       for block in blocks_of(PAGES[name]))

    def contents(self):
        """Return the lists of the site's pages."""
        return CAPTIONS.sub(lambda caption: self("contents", None, caption[0]), contents())

    def write_beside(self, folder):
        """Translate what lies beside the lessons in a copy of their folder: figures, messages, a page."""
        if not self.language:
            return
        for figure in (folder / "img").glob("*.svg"):
            figure.write_text(self.figure(figure), encoding="utf-8")
        page = folder / "for-instructors.md"
        if page.exists():
            page.write_text(self.page("for-instructors"), encoding="utf-8")
        catalogue = self.at_run_time()
        for checks in folder.glob("**/checks_*"):
            catalogue.save_as_mofile(str(checks / "messages.mo"))

    def figure(self, path):
        """Return the source of a figure."""
        source = path.read_text(encoding="utf-8")
        texts = "\n".join(text for _, text in FIGURE_TEXTS.findall(source))
        lines = iter(self("figures", path.name, texts).split("\n"))
        source = FIGURE_TEXTS.sub(lambda found: found[1] + next(lines), source)
        source = source.replace(' font-style="italic"', "")  # which Chinese does not know
        # Without the language's name a browser takes Japanese shapes for Chinese characters.
        return source.replace("<svg ", f'<svg xml:lang="{self.tag}" ', 1)


ENGLISH = Translation()


def update_all():
    """Update the PO files of all languages, and write the pages in the first folder that are made of them."""
    for language in TAGS:
        update(language)
        for name in ("README", "INSTALL"):
            (ROOT / f"{name}.{language}.md").write_text(Translation(language).page(name), encoding="utf-8")

