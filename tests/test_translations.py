"""Each translation is complete and fresh, and keeps the code, links, numbers and structure of its English."""
import ast
import collections
import functools
import json
import os
import re
import shutil
import string
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import nbformat
import polib
import pytest
from lessons import LESSONS
from markdown_it import MarkdownIt
from test_editions import PAGES, SMALL, broken_rules, go_through, walk

from editions import folders, lessons, student, translatable, translations
from editions.site import book, pages
from editions.slides import deck

ROOT = Path(__file__).parents[1]

LANGUAGES = sorted(translations.TAGS)
MARKDOWN = MarkdownIt("commonmark").enable("table")
HAN = "[\u3400-\u9fff]"
NOT_PROSE = {"figures", "messages", "models"}  # no Markdown
SAID = {"下发", "正确", "参考答案", "你是几号"}  # words that somebody says, or that stand somewhere


def terms(language):
    """Return the pairs of an English term, as a pattern, and the words of which a translation must have one."""
    lines = (translations.HERE / language / "terms.tsv").read_text(encoding="utf-8").splitlines()
    return [(re.compile(rf"\b{english}", re.IGNORECASE), words.split("|"))
            for english, words in (line.split("\t") for line in lines)]


def never(language):
    """Return the pairs of a pattern that no translation has, and what it has instead."""
    lines = (translations.HERE / language / "never.tsv").read_text(encoding="utf-8").splitlines()
    return [(re.compile(pattern), instead) for pattern, instead in (line.split("\t") for line in lines)]


def parts(text):
    """Return what a translation must keep: code, links, pictures, formulas, the number of headings, rows and items."""
    kept = collections.Counter()
    for token in MARKDOWN.parse(text):
        if token.type != "inline" and token.nesting >= 0:
            kept[token.type, token.tag] += 1
        if token.type == "html_block":
            kept[re.sub("(?<=<b>)[^<]*", "", token.content)] += 1
        elif token.type in ("fence", "code_block"):
            kept[commands(token.content) if token.info == "sh" else token.content] += 1
        for child in token.children or ():
            if child.type == "code_inline":
                kept[re.sub("<[^>]*>", "<>", child.content)] += 1
            elif child.type == "html_inline":
                kept[child.content] += 1
            elif child.type in ("link_open", "image"):
                kept[child.type, child.attrs.get("href") or child.attrs["src"]] += 1
    kept.update(re.findall(r"\$\$.*?\$\$|\$[^$\n]+\$", text, re.DOTALL))
    kept.update(re.findall(r"\{[^}\n]*\}", text))
    pages = (f"{name}{end}" for name in ("README", "INSTALL") for end in (".md", ".zh.md"))  # one links to the other
    for changed in (*(("link_open", page) for page in pages), "{type}"):
        del kept[changed]
    return kept


def commands(text):
    """Return the shell's commands without what a translation may change: comments, names in <>, and the language."""
    text = re.sub(r"(?m)^export IN=.*\n|[ ]*# .*$| -e IN=\w+", "", text)
    return re.sub("<[^>]*>", "<>", text).strip()


def in_edition(text, language="zh"):
    """Return an English text with the folders that the commands of an edition make."""
    text = re.sub(r"\b(my-lessons|build/(?:site|slides|student))(?![\w-])", rf"\1-{language}", text)
    return re.sub(rf"(copies\s+my-lessons-{language})", rf"\1 --language {language}", text)


def shown(text):
    """Return the text that a reader sees, and what of it is in italics."""
    lines = []
    italics = ""
    depth = 0
    for inline in (token for token in MARKDOWN.parse(text) if token.type == "inline"):
        lines.append("")
        for child in inline.children:
            depth += (child.type == "em_open") - (child.type == "em_close")
            italics += child.content if depth else ""
            lines[-1] += child.content if child.type == "text" else " " * (child.type in ("code_inline", "softbreak"))
    return "\n".join(lines), italics


def bold(text):
    """Return each text that is shown in bold."""
    found = []
    for child in (child for token in MARKDOWN.parse(text) for child in token.children or ()):
        if child.type == "strong_open":
            found.append("")
            depth = True
        elif child.type == "strong_close":
            depth = False
        elif found and depth:
            found[-1] += child.content
    return found


def numbers(text):
    """Return the numbers in a text, without those that many languages write as words."""
    return {number for number in re.findall(r"\d+(?:[.,]\d+)*", text) if number not in "123"}


def faults(english, chinese, words):
    """Yield what a Chinese reader would find wrong with a translation; `words` are the terms."""
    before, after = parts(in_edition(english)), parts(chinese)
    yield from (f"lost: {part}" for part in before - after)
    yield from (f"added: {part}" for part in after - before)
    text, italics = shown(chinese)
    if len(bold(chinese)) != len(re.findall(r"\*\*.+?\*\*", re.sub("`[^`]*`", "x", chinese))):
        yield "** does not make bold what it should: put brackets and punctuation outside of it"
    if re.search(HAN, italics):
        yield f"Chinese in italics: {italics}"
    if found := re.search(f".?(?:{HAN}[,;:?!]|[,;:?!]{HAN}|{HAN}\\(|\\){HAN}).?", text):
        yield f"half-width punctuation beside Chinese: {found[0]}"
    if found := re.search(f".?(?:{HAN}[A-Za-z0-9]|[A-Za-z0-9%]{HAN}).?", text):
        yield f"no space between Chinese and Latin: {found[0]}"
    if missing := numbers(english) - numbers(chinese):
        yield f"numbers lost: {sorted(missing)}"
    bare = re.sub(r"`[^`]*`|\[[^]]*\]\(http[^)]*\)|\]\([^)]*\)", "", english)
    for term, said in words:
        if term.search(bare) and not any(word in chinese for word in said):
            yield f"{term.pattern[2:]} is not said as {' or '.join(said)}"


def faults_of(name, entry, words):
    """Return what is wrong with an entry of a PO file."""
    if not entry.msgstr:
        return ["not translated"]
    if entry.fuzzy:
        return ["its English has changed"]
    has_terms = name not in NOT_PROSE and entry.msgctxt != "question" and entry.comment != "comment"
    found = list(faults(entry.msgid, entry.msgstr, words if has_terms and len(entry.msgid) > 60 else []))
    if name == "figures" and entry.msgid.count("\n") != entry.msgstr.count("\n"):
        found.append("not as many lines as the figure has texts")
    if entry.msgstr == entry.msgid and name == "messages":
        return []  # what programs compare, and readers do not see
    if not re.search(HAN, entry.msgstr) and re.search("[a-z]{3} [a-z]{2}", re.sub("`[^`]*`", "", entry.msgid)):
        found.append("not Chinese")
    return found


NAMES = sorted(path.relative_to(translations.HERE / "zh").with_suffix("").as_posix()
               for path in (translations.HERE / "zh").glob("**/*.po"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_files_are_in_step(language):
    """After a change of the English text, `make translations` was run."""
    for name, entries in translatable.catalogues().items():
        held = translations.load(translations.HERE / language / f"{name}.po")
        assert {(entry.msgctxt, entry.msgid) for entry in held} == set(entries), f"{name}: run `make translations`"


def test_the_readmes_are_made(monkeypatch, tmp_path):
    """`make translations` updates all languages and writes two pages in each, which are those that are stored."""
    updated = []
    monkeypatch.setattr(translations, "update", updated.append)
    monkeypatch.setattr(translations, "ROOT", tmp_path)
    translations.update_all()
    assert sorted(updated) == LANGUAGES
    for written in tmp_path.iterdir():
        assert written.read_bytes() == (ROOT / written.name).read_bytes(), "run `make translations`"
    assert len([*tmp_path.iterdir()]) == 2 * len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_edition_starts_in_its_language(language):
    """The first commands of README choose the language, and each command of `make` in its pages exists."""
    text = (ROOT / f"README.{language}.md").read_text(encoding="utf-8")
    first = re.search("```sh\n(.+?)```", text, re.DOTALL)[1]
    assert first.index(f"export IN={language}") < first.index("make lab")
    assert "英文原文" in text[:text.index("\n| 课 |")]
    pages = [translations.Translation(language).page(name) for name in ("README", "INSTALL", "for-instructors")]
    called = set(re.findall(r"(?m)(?:^|`)(?:export )?((?:[A-Z_]+=\S+ )*make [a-z-]+)", "\n".join(pages)))
    assert len(called) > 8
    for command in sorted(called):
        command = re.sub("<[^>]*>", "an-address", command) + " SUBMISSIONS=some"
        run = subprocess.run(re.sub("make ", "make -n ", command), shell=True, cwd=ROOT, capture_output=True, text=True,
                             env=os.environ | {"IN": language})
        assert run.returncode == 0, command
        assert not re.search(r"my-lessons(?!-)|build/\w+(?![\w-])", run.stdout) or "clean" in command, run.stdout


@pytest.mark.parametrize("page", ["INSTALL.md", *(f"INSTALL.{language}.md" for language in LANGUAGES)])
def test_a_container_keeps_what_a_reader_writes(page):
    """The folder that a page mounts is the one into which the lab writes, and Containerfile makes it for its user."""
    language = page.removeprefix("INSTALL.").removesuffix("md").rstrip(".")
    text = (ROOT / page).read_text(encoding="utf-8")
    [folder] = re.findall(r"-v mine:/lessons/(\S+)", text)
    assert folder == f"my-lessons-{language}".rstrip("-")
    assert (f" -e IN={language} " in text) == bool(language)
    [made] = re.findall(r"mkdir -p (.+)", (ROOT / "Containerfile").read_text(encoding="utf-8"))
    assert folder in made.split()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_translations_are_complete_and_keep_what_they_must(name, language):
    """Every entry is translated and fresh, and keeps code, links, numbers, structure and terms."""
    found = {}
    for entry in translations.load(translations.HERE / language / f"{name}.po"):
        wrong = faults_of(name, entry, terms(language))
        if wrong:
            found[entry.msgctxt, entry.msgid[:60]] = wrong
    assert found == {}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_no_translation_has_a_word_that_was_given_up(name, language):
    """One thing has one name: no entry, figure, message or model has a word of `never.tsv`."""
    found = [f"{word[0]} in {entry.msgstr[max(0, word.start() - 9):word.end() + 9]!r}: {instead}"
             for entry in translations.load(translations.HERE / language / f"{name}.po")
             for pattern, instead in never(language) for word in pattern.finditer(entry.msgstr)]
    assert found == []


def test_the_glossary_has_other_names():
    """Whoever searches the site for another name of a term finds the glossary's entry."""
    glossary = translations.Translation("zh").page("glossary")
    names = "全规约 归约散射 规约散射 激活重计算 算术强度 投机解码 慢节点 动态图 访存密集 计算密集"
    assert [name for name in names.split() if name not in glossary] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_text_has_one_translation(language):
    """The same English is said in the same way everywhere, except for options, which follow their questions."""
    said = collections.defaultdict(set)
    for path in (translations.HERE / language).glob("**/*.po"):
        entries = translations.load(path)
        questions = {entry.msgid for entry in entries if entry.msgctxt == "question"}
        for entry in entries:
            if entry.msgctxt not in {*questions, "model"} and not entry.fuzzy:
                said[entry.msgid].add(entry.msgstr)
    assert {english: found for english, found in said.items() if len(found) > 1} == {}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_options_differ(name, language):
    """No two options of a prediction are translated alike."""
    entries = translations.load(translations.HERE / language / f"{name}.po")
    questions = {entry.msgid for entry in entries if entry.msgctxt == "question"}
    options = collections.Counter((each.msgctxt, each.msgstr) for each in entries if each.msgctxt in questions)
    assert [option for option, count in options.items() if count > 1] == []


@functools.cache
def titles(language):
    """Return the text of each heading."""
    entries = (entry for name in NAMES for entry in translations.load(translations.HERE / language / f"{name}.po"))
    lines = (line for entry in entries for line in entry.msgstr.splitlines() if line.startswith("#"))
    return {re.sub("^#+ (?:\\d · )?", "", line) for line in lines}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", sorted(set(NAMES) - NOT_PROSE))
def test_emphasis_is_bold(name, language):
    """Where English emphasizes a word or two, Chinese is bold: quotation marks would be irony there."""
    found = []
    for entry in translations.load(translations.HERE / language / f"{name}.po"):
        quoted = {*re.findall(f"“({HAN}{{1,6}})”", entry.msgstr)} - titles(language) - SAID
        if quoted and '"' not in entry.msgid and not re.search(r"\*[A-Z][^*]+\*, \d{4}", entry.msgid):
            found.append((entry.msgctxt, quoted))
    assert found == []


@pytest.mark.parametrize(("english", "chinese", "fault"), [
    ("**latency** is a time", "**延迟（latency）**是时间", "does not make bold"),
    ("an *old* graph", "*旧的*图", "italics"), ("one, two", "一,二", "half-width"), ("a GPU is", "是GPU", "no space"),
    ("it takes 40 ms", "它要 4 毫秒", "numbers lost"), ("call `f()`", "调用 `g()`", "lost: f()"),
    ("see [a](b.ipynb)", "见 [甲](c.ipynb)", "lost: ('link_open', 'b.ipynb')"), ("- a\n- b", "- 甲", "lost"),
    ("still {seconds} sec", "还要秒", "lost: {seconds}"), ("in `my-lessons`", "在 `my-lessons`", "lost: my-lessons-zh"),
    ("```sh\nmake lab  # opens\n```", "```sh\nmake site  # 打开\n```", "lost: make lab"),
    ("the latency", "它的时间", "latency is not said"),
])
def test_faults_are_found(english, chinese, fault):
    """A translation that breaks a rule is found, each by its own fault."""
    assert fault in "; ".join(faults(english, chinese, terms("zh")))


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_is_the_same(language):
    """A translated lesson has the cells of the English one, with the same code, ids, metadata and pictures.

    Only the comments of an exercise are translated, so that it says its task, in lines that fit.
    """
    translation = translations.Translation(language)
    for lesson in lessons.paths():
        english, translated = lessons.read(lesson), lessons.read(lesson, translation)
        assert english.metadata == translated.metadata
        for cell, other in zip(english.cells, translated.cells, strict=True):
            assert (cell.id, cell.cell_type, cell.metadata) == (other.id, other.cell_type, other.metadata)
            if lessons.has_tag(cell, "exercise"):
                assert len({translatable.with_comments(each.source, lambda _: "") for each in (cell, other)}) == 1
                assert "your turn" not in other.source
                assert max(len(line) + len(re.findall(HAN, line)) for line in other.source.splitlines()) <= 92
            elif cell.cell_type == "code":
                assert cell.source == other.source
            if cell.cell_type == "code":
                for shown, kept in zip(cell.outputs, other.outputs, strict=True):
                    assert shown.get("data", {}).get("image/png") == kept.get("data", {}).get("image/png")


@pytest.mark.parametrize(("code", "changed"), [
    ("a = '# b'  # c", "a = '# b'  # C"), ("# é\nif a:  # b\n    pass", "# É\nif a:  # B\n    pass"),
    ("%time f()  # a", "%time f()  # A"), ("f(  # a", "f(  # a"), ("", "")])
def test_comments_are_found(code, changed):
    """What looks like a comment in a string is none, and code that is not Python stays as it is."""
    assert translatable.with_comments(code, str.upper) == changed


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_assignment_has_one_version(language):
    """Students' editions in all languages are one version of a lesson, so that they can be graded together."""
    name = Path("03-asynchronous-computation.ipynb")
    made = [lessons.read(name, each) for each in (translations.ENGLISH, translations.Translation(language))]
    for notebook in made:
        student.as_assignment(notebook, name)
    assert made[0].metadata["lesson"] == made[1].metadata["lesson"]


@pytest.fixture
def one_cell(monkeypatch, tmp_path):
    """Return a function that changes the one cell of a project's one lesson and updates its PO file."""
    def change(text):
        cell = nbformat.v4.new_markdown_cell(text, id="a-cell", metadata={"slideshow": {"slide_type": "slide"}})
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "lesson.ipynb")
        translations.update("zh")
        [entry] = polib.pofile(str(tmp_path / "zh" / "lesson.po"))
        return entry

    monkeypatch.setattr(translations, "HERE", tmp_path)
    monkeypatch.setattr(translations, "catalogues", lambda: {"lesson": {
        (context, text): remark for context, text, remark in translatable.of_lesson(tmp_path / "lesson.ipynb")}})
    return change


def test_a_stale_translation_is_not_shown(one_cell, tmp_path):
    """When its English changes, an entry becomes fuzzy, keeps the old English, and the English is shown; and back."""
    def shown():
        notebook = nbformat.read(tmp_path / "lesson.ipynb", 4)
        return translations.Translation("zh").lesson(Path("lesson.ipynb"), notebook).cells[0].source

    one_cell("Read it.")
    new = one_cell("Read it once.")
    assert (new.msgstr, new.fuzzy, new.comment) == ("", False, "slide")
    assert shown() == "Read it once."
    path = tmp_path / "zh" / "lesson.po"
    path.write_text(path.read_text(encoding="utf-8").replace('msgstr ""', 'msgstr "读一遍。"').replace(
        'msgid ""\nmsgstr "读一遍。"', 'msgid ""\nmsgstr ""'), encoding="utf-8")
    assert shown() == "读一遍。"
    changed = one_cell("Read it twice.")
    assert (changed.fuzzy, changed.msgstr, changed.previous_msgid) == (True, "读一遍。", "Read it once.")
    assert shown() == "Read it twice."
    assert one_cell("Nothing is alike.").previous_msgid == "Read it once."  # the cell is the same
    assert not one_cell("Read it once.").fuzzy
    assert shown() == "读一遍。"


def test_a_lesson_speaks_chinese(tmp_path):
    """Beside `messages.mo`, questions, options and hints are Chinese, and a choice keeps its English value."""
    shutil.copytree(ROOT / "notebooks" / "checks_mxnet", tmp_path / "checks_mxnet",
                    ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(translatable.PAGES["for-instructors"], tmp_path)
    translations.Translation("zh").write_beside(tmp_path)
    assert len(re.findall(HAN, (tmp_path / "for-instructors.md").read_text(encoding="utf-8"))) > 1000
    entries = [*translatable.of_lesson(translatable.LESSONS / "01-imperative-and-symbolic.ipynb")]
    question = next(text for context, text, _ in entries if context == "question")
    options = [text for context, text, _ in entries if context == question]
    program = f"""
from d2lhelpers.exercises import Prediction, check
from d2lhelpers.messages import say
vote = Prediction({question!r}, {options!r})
print(vote)
vote.choice = vote.options[0]
assert vote.choice == {options[0]!r}
assert say("") == ""
vote.reveal(vote.options[1])
check(..., ())
check(3, (lambda x: x > 4, "give three numbers, in square brackets"))
check(3, (lambda x: x > 4, say("give three numbers, in square brackets")))
check(3, (lambda x: x > 4, say("run should return {{steps}} losses, one for each batch", steps=12)))
check(3, (lambda x: 1 / 0, '请给出 {{"read": my_read}}'))
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True,
                         check=True, timeout=600)
    assert not re.search("Hint|dots|brackets|predicted|batch|raised", run.stdout)
    assert run.stdout.endswith("""\
还不对。提示：run 应返回 12 个损失，每个批量一个
还不对。运行时抛出了 ZeroDivisionError('division by zero')。提示：请给出 {"read": my_read}
""")
    assert [line for line in run.stdout.splitlines() if not re.search(HAN, line)] == []
    for text in (question, *options):
        assert text not in run.stdout


@pytest.mark.parametrize(("english", "chinese"), [
    ("right", "正确"), ("right, or not", "right, or not"), ("", ""),
    ("no score: the first loss is not the script's: another network, start or loss",
     "没有得分：第一个损失与脚本的不同：网络、初始值或损失函数换了"),
    ("not scored: 12 steps on two devices took 0.679 sec", "不计分：在两个设备上走 12 步用了 0.679 秒")])
def test_messages_in_stored_outputs_are_translated(english, chinese):
    """A line of a stored output that is a message is translated, and so are its values; others stay as they are."""
    assert translations.Translation("zh").of_line(english) == chinese


def test_the_search_of_the_site_says_what_it_found(tmp_path):
    """Sphinx's Chinese lacks the sentence that says how many pages were found; a script of ours has it."""
    book.write_words_of_models(tmp_path, translations.Translation("zh"))
    script = (tmp_path / "search.js").read_text(encoding="utf-8")
    [found] = json.loads(script.partition(" = ")[2].rstrip(";\n"))
    assert re.search(HAN, found)
    assert "${resultCount}" in found


def test_messages_with_values_in_outputs_are_messages():
    """The messages that are looked for in stored outputs are among those that code says."""
    assert {("message", text) for text in translations.IN_OUTPUTS} <= set(translatable.catalogues()["messages"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_stored_output_keeps_an_english_message(language):
    """A line of a stored output that a message has made with its values is translated."""
    messages = [text for _, text in translatable.catalogues()["messages"] if translations.FIELD.search(text)]
    made = re.compile("|".join("(?:.*)".join(map(re.escape, translations.FIELD.split(text))) for text in messages
                               if len(translations.FIELD.sub("", text)) > 15))
    printed = {line for lesson in LESSONS for cell in lesson.notebook.cells for output in cell.get("outputs", [])
               for line in output.get("text", "").split("\n") if made.fullmatch(line)}
    assert printed
    assert {line for line in printed if translations.Translation(language).of_line(line) == line} == set()


def names_of_fields(text):
    """Return the names of the fields in a template."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


CODE = sorted([*(ROOT / "d2lhelpers").rglob("*.py"), *(ROOT / "editions").rglob("*.py"),
               *(ROOT / "notebooks").glob("**/checks_*/*.py")])


def test_templates_have_the_values_that_they_name():
    """Each `say` with values gives exactly the fields of its template, and none is given a finished f-string."""
    calls = [call for path in CODE for call in translatable.calls_of_say(ast.parse(path.read_text(encoding="utf-8")))]
    wrong = []
    for call in calls:
        given = {each.arg for each in call.keywords} - {"about"}
        template = call.args[0]
        is_wrong = isinstance(template, ast.JoinedStr)
        if isinstance(template, ast.Constant) and given:
            is_wrong = names_of_fields(template.value) != given
        if is_wrong:
            wrong.append(ast.unparse(call))
    assert len(calls) > 50
    assert wrong == []


def f_strings(tree):
    """Yield the f-strings in Python code, except for what a Target counts: scores are tables in English."""
    for node in ast.walk(tree):
        labels = node.args[:3] if isinstance(node, ast.Call) and ast.unparse(node.func) == "Target" else []
        yield from (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.JoinedStr)
                    and each not in labels)


def test_no_hint_is_an_f_string():
    """In the rules of exercises no sentence is an f-string, whose values would keep it from being translated."""
    checks = [path for path in CODE if path.parent.name.startswith("checks_")]
    texts = [ast.unparse(each) for path in checks for each in f_strings(ast.parse(path.read_text(encoding="utf-8")))]
    assert len(texts) > 3
    assert [text for text in texts if len(re.findall("[a-z]{2,}", re.sub(r"\{.*?\}", "", text))) > 2] == []


@pytest.mark.slow
@pytest.mark.parametrize("lesson", [
    pytest.param(lesson, marks=[] if lesson.stem.startswith("01-imp") else pytest.mark.weekly, id=str(lesson))
    for lesson in lessons.paths(solved=False)])
def test_every_chinese_slide_fits(tab, tmp_path, monkeypatch, lesson):
    """No slide of a Chinese deck overflows or is empty; the deck says its language and requests nothing."""
    monkeypatch.setattr(lessons, "paths", lambda solved=True: [lesson])
    deck.write_slides(tmp_path / "slides", translations.Translation("zh"))
    page = tmp_path / "slides" / lesson.with_suffix(".html")
    assert '<html lang="zh-CN">' in page.read_text(encoding="utf-8")
    assert not {slide: faults for slide, faults in walk(tab, page, SMALL).items() if faults}


@pytest.mark.slow
@pytest.mark.weekly
def test_the_chinese_site(browser, tmp_path):
    """Each page of the Chinese site opens, fits, requests nothing and breaks no rule of axe; search finds terms."""
    folders.replace(lambda folder: pages.write_site(folder, translation=translations.Translation("zh")),
                    tmp_path / "site")
    for width, searches, printed in [(1280, {"计算图": "02-hybridblock", "延迟": "glossary"}, 672), (768, {}, None),
                                     (390, {"全归约": "05-multi-gpu", "全规约": "glossary"}, None)]:
        assert go_through(browser, tmp_path / "site", width, searches, printed) == ([], [])
    for page in PAGES:
        assert broken_rules(browser, (tmp_path / "site" / f"{page}.html").as_uri()) == [], page


@pytest.mark.slow
@pytest.mark.weekly
def test_the_chinese_lessons_run_strictly():
    """In the Chinese edition, too, every cell's output is that which is stored: votes and hints are Chinese there."""
    folder = ROOT / "build" / "stored-zh"  # below the tests' own settings
    subprocess.run([sys.executable, "-m", "editions", "stored", folder, "--language", "zh"], cwd=ROOT, check=True)
    missing = [folder / each.path.relative_to(ROOT / "notebooks") for each in LESSONS
               if each.framework and not find_spec(each.framework)]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", folder, *(f"--ignore={path}" for path in missing)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-4000:]
