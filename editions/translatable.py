"""The translatable strings of the lessons, the pages, the figures, the code and the models."""
import ast
import collections
import io
import json
import re
import tokenize
from pathlib import Path

import nbformat

HERE = Path(__file__).parent
ROOT = HERE.parent
LESSONS = ROOT / "notebooks"
PAGES = {
    "README": ROOT / "README.md",
    "INSTALL": ROOT / "INSTALL.md",
    "for-instructors": LESSONS / "for-instructors.md",
    "formulas": HERE / "site" / "source" / "formulas.md",
    "glossary": HERE / "site" / "source" / "glossary.md",
    "helpers": HERE / "site" / "source" / "helpers.rst",
    "tutor": HERE / "tutor.md",
    "where-next": HERE / "site" / "source" / "where-next.md",
}
BLOCKS = re.compile(r"(^```(?!\{glossary\}).*?^```\n?|\n[ \t]*\n+)", re.DOTALL | re.MULTILINE)
CAPTIONS = re.compile("(?<=:caption: ).*")
FIGURE_TEXTS = re.compile(r"(<(?:title|desc|text|tspan)\b[^>]*>)([^<]*[^<\s][^<]*)")
PARTS_OF_A_MODEL = "question", "result", "introduction", "end"  # in models.json, beside the choices
MODEL_TEXTS = re.compile(r'\bsay\(("[^"]*"(?:\s*\+\s*"[^"]*")*)')


def has_words(text):
    """Return whether there is something to translate."""
    return re.search("[A-Za-z]{2}", text) is not None


def of_lesson(path):
    """Yield (context, English, remark) for the cells of a lesson, and for the questions and options of its votes."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown" and has_words(cell.source):
            yield cell.id, cell.source, ", ".join(cell.metadata.get("tags", [])) or cell.metadata.slideshow.slide_type
        if "exercise" in cell.metadata.get("tags", []):
            yield from ((cell.id, comment, "comment") for *_, comment in comments_in(cell.source) if is_prose(comment))
        for output in cell.get("outputs", []):
            question, options = question_in(output)
            if question:
                yield "question", question, cell.id
                yield from ((question, option, cell.id) for option in options if has_words(option))


def comments_in(source):
    """Return (line, column, text) of each comment in Python code, from the last; of other code none."""
    try:
        found = [token for token in tokenize.generate_tokens(io.StringIO(source).readline)
                 if token.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError):  # such as IPython's commands, or half an answer
        return []
    return [(token.start[0] - 1, token.start[1], token.string) for token in reversed(found)]


def with_comments(source, change):
    """Return Python code with what `change` makes of each comment."""
    lines = source.split("\n")
    for number, column, comment in comments_in(source):
        lines[number] = (lines[number][:column] + change(comment)).rstrip()
    return "\n".join(lines)


def is_prose(text):
    """Return whether a text has several words."""
    return len(re.findall("[A-Za-z]+", text)) > 2


def question_in(output):
    """Return the question and the options that a stored output of `predict` shows, or None and no options."""
    question, *options = output.get("data", {}).get("text/plain", "").split("\n( ) ")
    return (question, options) if options else (None, [])


def blocks_of(page):
    """Return a page's paragraphs, tables, lists and headings, and between them what is not translated."""
    return BLOCKS.split(page.read_text(encoding="utf-8"))


def of_page(path):
    """Yield the entries of a page in Markdown; of its code, commands for the shell, whose comments are text."""
    for block in blocks_of(path):
        if (has_words(block) and not block.startswith(("```", ".. "))) or block.startswith("```sh"):
            yield None, block.strip("\n"), ""


def of_figure(path):
    """Yield all words of a figure as one entry with a line for each text, so that a sentence may break elsewhere."""
    texts = [text for _, text in FIGURE_TEXTS.findall(path.read_text(encoding="utf-8"))]
    if has_words(" ".join(texts)):
        yield path.name, "\n".join(texts), "figure"


def of_code(path):
    """Yield what Python code says: what `say` is given, and every sentence among the rules of the exercises."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [call.args[0] for call in calls_of_say(tree)]
    if path.parent.name.startswith("checks_"):
        texts = [node for node in nodes_of_code(tree) if is_sentence(node)] + texts
    yield from (("message", text.value, path.stem) for text in texts if isinstance(text, ast.Constant))


def calls_of_say(tree):
    """Yield the calls of a function or method `say` in Python code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "say":
            yield node


def nodes_of_code(tree):
    """Yield the nodes of Python code, as `ast.walk` does, but not what is in docstrings and f-strings."""
    waiting = collections.deque([tree])
    while waiting:
        node = waiting.popleft()
        yield node
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not isinstance(node, ast.JoinedStr):
            waiting.extend(ast.iter_child_nodes(node))


def is_sentence(node):
    """Return whether a node of Python code is a text of several words."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    return is_prose(node.value) and " " in node.value.strip()


def contents():
    """Return the lists of the site's pages."""
    return (HERE / "site" / "source" / "contents.md").read_text(encoding="utf-8")


def of_models():
    """Yield what the models in the site's pages say."""
    models = HERE / "site" / "source" / "models"
    for name, model in json.loads((models / "models.json").read_text(encoding="utf-8")).items():
        yield from (("model", model[part], name) for part in PARTS_OF_A_MODEL)
        yield from (("model", choice, name) for choice in model["choices"] if has_words(choice))
    for path in sorted(models.glob("*.js")):
        for text in MODEL_TEXTS.findall(path.read_text(encoding="utf-8")):
            yield "model", "".join(re.findall('"([^"]*)"', text)), path.stem


def catalogues():
    """Return for each PO file, by its name, the entries that it should hold: {(context, English): remark}."""
    lessons = sorted([*LESSONS.glob("*.ipynb"), *LESSONS.glob("[!.]*/*.ipynb")])
    found = {path.relative_to(LESSONS).with_suffix("").as_posix(): of_lesson(path) for path in lessons}
    found |= {name: of_page(path) for name, path in PAGES.items()}
    found["contents"] = ((None, caption, "") for caption in CAPTIONS.findall(contents()))
    found["figures"] = (entry for path in sorted((LESSONS / "img").glob("*.svg")) for entry in of_figure(path))
    code = [*(ROOT / "d2lhelpers").rglob("*.py"), *HERE.glob("**/*.py"), *LESSONS.glob("**/checks_*/*.py")]
    found["messages"] = (entry for path in sorted(code) for entry in of_code(path))
    found["models"] = of_models()
    return {name: {(context, text): remark for context, text, remark in entries} for name, entries in found.items()}
