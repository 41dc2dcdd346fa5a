"""The lessons in other languages: `make translations` keeps a PO file per lesson or page, and editions read them.

An entry translates one cell of text, one paragraph of a page, the words of one figure, or one message. It is found by
its context (such as the cell's id) and its English, so a translation whose English has changed is not used: readers
then see the English until somebody renews it. Code, results and pictures are those of the one lesson that there is.
"""
import ast
import difflib
import json
import re
from pathlib import Path

import nbformat
import polib

from d2lhelpers.messages import Words

HERE = Path(__file__).parent
ROOT = HERE.parent
LESSONS = ROOT / "notebooks"
TAGS = {"zh": "zh-CN"}  # each language by the name of its folder, with the name that browsers know
PAGES = {
    "README": ROOT / "README.md",
    "INSTALL": ROOT / "INSTALL.md",
    "for-instructors": LESSONS / "for-instructors.md",
    "formulas": HERE / "site" / "source" / "formulas.md",
    "glossary": HERE / "site" / "source" / "glossary.md",
    "helpers": HERE / "site" / "source" / "helpers.rst",
}
BLOCKS = re.compile(r"(^```(?!\{glossary\}).*?^```\n?|\n[ \t]*\n+)", re.DOTALL | re.MULTILINE)
CAPTIONS = re.compile("(?<=:caption: ).*")
FIGURE_TEXTS = re.compile(r"(<(?:title|desc|text|tspan)\b[^>]*>)([^<]*[^<\s][^<]*)")
MODEL_TEXTS = re.compile(r'\bsay\(("[^"]*"(?:\s*\+\s*"[^"]*")*)')
METADATA = {"MIME-Version": "1.0", "Content-Type": "text/plain; charset=UTF-8", "Content-Transfer-Encoding": "8bit"}


def has_words(text):
    """Return whether there is something to translate."""
    return re.search("[A-Za-z]{2}", text) is not None


def of_lesson(path):
    """Yield (context, English, remark) for the cells of a lesson, and for the questions and options of its votes."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown" and has_words(cell.source):
            yield cell.id, cell.source, ", ".join(cell.metadata.get("tags", [])) or cell.metadata.slideshow.slide_type
        for output in cell.get("outputs", []):
            question, options = question_in(output)
            if question:
                yield "question", question, cell.id
                yield from ((question, option, cell.id) for option in options if has_words(option))


def question_in(output):
    """Return the question and the options that a stored output of `predict` shows, or None and no options."""
    question, *options = output.get("data", {}).get("text/plain", "").split("\n( ) ")
    return (question, options) if options else (None, [])


def blocks_of(page):
    """Return a page's paragraphs, tables, lists and headings, and between them what is not translated."""
    return BLOCKS.split(page.read_text(encoding="utf-8"))


def of_page(path):
    """Yield the entries of a page in Markdown."""
    for block in blocks_of(path):
        if has_words(block) and not block.startswith(("```", ".. ")):
            yield None, block.strip("\n"), ""


def of_figure(path):
    """Yield all words of a figure as one entry with a line for each text, so that a sentence may break elsewhere."""
    texts = [text for _, text in FIGURE_TEXTS.findall(path.read_text(encoding="utf-8"))]
    if has_words(" ".join(texts)):
        yield path.name, "\n".join(texts), "figure"


def of_code(path):
    """Yield what Python code says: the arguments of `say`, and every sentence among the rules of the exercises."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.parent.name.startswith("checks_"):
        parts = {id(each) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for each in ast.walk(node)
                 if each is not node}
        skipped = parts | {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        texts = [text_of(node) for node in ast.walk(tree) if id(node) not in skipped]
        texts = [text for text in texts if text and len(re.findall("[A-Za-z]+", text)) > 2 and " " in text.strip()]
    else:
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args
                 and (getattr(node.func, "id", "") == "say" or getattr(node.func, "attr", "") == "say")]
        texts = [text for text in (text_of(call.args[0]) for call in calls) if text]
    yield from (("message", text, path.stem) for text in texts)


def text_of(node):
    """Return the text of a node of Python code, with its expressions in braces, or None if it is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(each.value if isinstance(each, ast.Constant) else f"{{{ast.unparse(each.value)}}}"
                       for each in node.values)
    return None


def of_models():
    """Yield what the models in the site's pages say."""
    models = HERE / "site" / "source" / "models"
    for name, model in json.loads((models / "models.json").read_text(encoding="utf-8")).items():
        yield from (("model", model[part], name) for part in ("introduction", "end"))
    for path in sorted(models.glob("*.js")):
        for text in MODEL_TEXTS.findall(path.read_text(encoding="utf-8")):
            yield "model", "".join(re.findall('"([^"]*)"', text)), path.stem


def catalogues():
    """Return for each PO file, by its name, the entries that it should hold: {(context, English): remark}."""
    lessons = sorted([*LESSONS.glob("*.ipynb"), *LESSONS.glob("[!.]*/*.ipynb")])
    found = {path.relative_to(LESSONS).with_suffix("").as_posix(): of_lesson(path) for path in lessons}
    found |= {name: of_page(path) for name, path in PAGES.items()}
    contents = (HERE / "site" / "source" / "contents.md").read_text(encoding="utf-8")
    found["contents"] = ((None, caption, "") for caption in CAPTIONS.findall(contents))
    found["figures"] = (entry for path in sorted((LESSONS / "img").glob("*.svg")) for entry in of_figure(path))
    code = [*(ROOT / "d2lhelpers").rglob("*.py"), *HERE.glob("**/*.py"), *LESSONS.glob("**/checks_*/*.py")]
    found["messages"] = (entry for path in sorted(code) for entry in of_code(path))
    found["models"] = of_models()
    return {name: {(context, text): remark for context, text, remark in entries} for name, entries in found.items()}


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
        self.messages = Words(self._messages())

    @property
    def tag(self):
        """The language as browsers know it."""
        return TAGS.get(self.language, "en")

    def __call__(self, name, context, text):
        """Return what a text of a file is in this language, or the text itself."""
        return self.said.get((name, context, text), text)

    def say(self, text):
        """Return a message in this language."""
        return self.messages.say(text)

    def _messages(self):
        """Return what lessons say while they run, as `Words` takes it."""
        entries = [["", text, said] for (_, context, text), said in self.said.items()
                   if context in ("message", "question")]
        return entries + [[context, text, said] for (name, context, text), said in self.said.items()
                          if name not in ("figures", *PAGES) and (name, "question", context) in self.said]

    def lesson(self, lesson, notebook):
        """Translate a lesson: its text, and the questions and messages in its stored outputs; code stays as it is."""
        name = Path(lesson).with_suffix("").as_posix()
        for cell in notebook.cells if self.language else ():
            if cell.cell_type == "markdown":
                cell.source = self(name, cell.id, cell.source)
            for output in cell.get("outputs", []):
                question, options = question_in(output)
                if question:
                    said = [self(name, question, option) for option in options]
                    output.data["text/plain"] = "\n( ) ".join([self(name, "question", question), *said])
                elif output.output_type == "stream":
                    output.text = "\n".join(self.say(line) for line in output.text.split("\n"))
        return notebook

    def page(self, name):
        """Return the text of a page in Markdown."""
        return "".join(block.replace(block.strip("\n"), self(name, None, block.strip("\n"))) if block.strip() else block
                       for block in blocks_of(PAGES[name]))

    def contents(self):
        """Return the lists of the site's pages."""
        text = (HERE / "site" / "source" / "contents.md").read_text(encoding="utf-8")
        return CAPTIONS.sub(lambda caption: self("contents", None, caption[0]), text)

    def write_beside(self, folder):
        """Translate what lies beside the lessons in a copy of their folder: figures, messages, a page."""
        if not self.language:
            return
        for figure in (folder / "img").glob("*.svg"):
            figure.write_text(self.figure(figure), encoding="utf-8")
        page = folder / "for-instructors.md"
        if page.exists():
            page.write_text(self.page("for-instructors"), encoding="utf-8")
        messages = json.dumps(self._messages(), ensure_ascii=False, indent=0)
        for checks in folder.glob("**/checks_*"):
            (checks / "messages.json").write_text(messages, encoding="utf-8")

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

