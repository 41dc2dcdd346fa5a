"""`make grade`: which cells of a student's notebook are an answer, which are run, and at what to look."""
import re
from pathlib import Path

import pytest
from answer_tables import of_lesson
from IPython.core.inputtransformer2 import TransformerManager
from nbformat.v4 import new_code_cell, new_notebook
from small_lesson import cell_of, rename, submitted, written

from editions import lessons as stored
from editions.grading import grade
from editions.grading.answers import Answers, answers_in, lesson_of, reached_by
from editions.grading.dependencies import NO_NAME, SHOWS, depends_on, names_of, statements_of
from editions.grading.exercise_program import Cell, cut, whole
from editions.grading.reaches import reaches_for


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """Return the small lesson, whose file stands in a folder of its own."""
    return written(tmp_path, monkeypatch)


def shown(answers, number):
    """Return the remarks on an exercise as text."""
    return "; ".join(note.shown() for note in answers.notes.get(number, []))


def ran(cells):
    """Return the names that are bound when cells have run."""
    names = {}
    for cell in cells:
        exec(cell.source, names)
    return names


# What a cell depends on


@pytest.mark.parametrize(("cells", "needed", "found"), [
    (["a = 1", "b = 2", "c = a"], {"c"}, [0, 2]),
    (["a = []", "a.append(1)", "print(a)", "b = a"], {"b"}, [0, 1, 3]),
    (["net = f()", "net = g()"], {"net"}, [1]),
    (["x = 1", "def f():\n    return x", "y = 3"], {"f"}, [0, 1]),
    (["a = {}", "a['k'] = 1", "a.b = 2", "train(a)", "h(other)"], {"a"}, [0, 1, 2, 3]),
    (["import numpy as np", "%matplotlib inline", "a = (", "for i in range(3):\n    total = np.ones(i)"], {"total"},
     [0, 3]),
])
def test_what_a_cell_depends_on(cells, needed, found):
    """A slice has the cells that bind or change what is needed, and no others; what is no Python is left out."""
    assert depends_on([names_of(source) for source in cells], needed) == found


@pytest.mark.parametrize("source", [
    "from math import *", "exec('a = 1')", "globals()['a'] = 1", "%run other.py", "%load_ext other", "%%time\na = 1",
    "%%writefile other.py\na = 1", "import builtins\nsetattr(builtins, 'a', 1)", "get_ipython().push({'a': 1})",
    "import __main__ as here\nhere.a = 1", "for _ in range(1):\n    %time a = 1"])
def test_what_hides_names_is_needed(source):
    """A cell that may bind names which nobody sees counts as needed."""
    assert depends_on([names_of(source), names_of("b = 1")], {"c"}) == [0]


@pytest.mark.parametrize("source", [
    "%matplotlib inline", "!echo 1", "exec('a = 1', {})", "%timeit 1", "from a import b"])
def test_what_hides_no_names_is_not_needed(source):
    """A cell that binds only names which one sees does not count as needed."""
    assert depends_on([names_of(source)], {"c"}) == []


def test_names_below_a_magic_are_seen():
    """Of a cell that begins with %%, the names in its Python are known."""
    assert names_of("%%time\n%%capture\na = b")[:2] == ({"a"}, {"b"})


def test_what_no_parser_reads_costs_nothing(lesson, monkeypatch):
    """Whatever the parser raises, the cell has no names, and is run if it stands at an exercise."""
    transform = TransformerManager.transform_cell

    tried = []

    def transform_or_fail(manager, source):
        tried.append(source)
        if "!echo" in source:
            raise RuntimeError("too many changes")
        return transform(manager, source)

    monkeypatch.setattr(TransformerManager, "transform_cell", transform_or_fail)
    assert names_of("!echo never parsed") == NO_NAME
    answers = answers_in(submitted(lambda cells: cell_of(cells, "try-2").update(source="!echo not parsed")), lesson)
    assert cut(lesson, 2, answers)[-1].source == "!echo not parsed"
    assert tried.count("!echo not parsed") == 1


@pytest.mark.parametrize("name", sorted(SHOWS - {"display"}))  # which is for students
def test_what_only_shows_is_called_in_lessons(name):
    """Each name of a call that changes nothing is one that lessons call, so that a renamed helper is noticed."""
    calls = re.compile(rf"\b{name}\(")
    assert any(calls.search(cell.source) for path in stored.paths() for cell in stored.read(path).cells
               if cell.cell_type == "code")


def test_a_cell_is_parsed_once():
    """The names of a cell, which each exercise asks for, are found once."""
    assert names_of("a = 1") is names_of("a = 1")


def test_the_statements_of_a_cell():
    """Each top-level statement keeps its source, and a function its decorators."""
    assert statements_of("@cache\ndef one():\n    return 1\n\nx = (2)  # two") == [
        "@cache\ndef one():\n    return 1", "x = (2)"]


def test_a_cut_has_only_what_an_exercise_needs(lesson):
    """Set-up, needed cells, what the exercise gives and the answer are run, and none of the other exercises."""
    answers = Answers({1: ["answer_1 = math.pi"], 2: ["answer_2 = 9"]}, {}, {}, {})
    assert [cell.source for cell in cut(lesson, 1, answers)] == [
        "import math", "size = 3", cell_of(lesson.cells, "try-1").source, "answer_1 = math.pi"]
    assert [cell.source for cell in cut(lesson, 2, answers)] == [
        "import math", cell_of(lesson.cells, "try-2").source, "answer_2 = 9"]
    answers = Answers({1: ["print(1)", "answer_1 = 2"], 2: ["answer_2 = double"]}, {}, {}, {})
    assert [cell.source for cell in cut(lesson, 1, answers)][-2:] == ["print(1)", "answer_1 = 2"]
    assert cut(lesson, 2, answers)[-1].source == "answer_2 = double"
    assert not [cell for cell in cut(lesson, 2, answers) if "double =" in cell.source]  # the solution of the first
    lesson.whole.add(2)
    assert "slow = 1" in [cell.source for cell in cut(lesson, 2, answers)]


def test_an_answer_may_use_an_earlier_one(lesson):
    """What an answer needs of a student's other cells is run; what the check needs of the lesson's stays its own."""
    def change(cells):
        cells.insert(cells.index(cell_of(cells, "size")) + 1, new_code_cell("size = 7"))
        cells.insert(1, new_code_cell("helper = 5\nsize = 1000"))
        cells.insert(cells.index(cell_of(cells, "slow")) + 1, new_code_cell("other = slow"))
        cell_of(cells, "slow").source = "slow = 1\ntool = helper"
        cell_of(cells, "try-1").source = "first = tool\nanswer_1 = first"
        cell_of(cells, "try-2").source = "answer_2 = first + other\nname_2 = size"

    answers = answers_in(submitted(change), lesson)
    sources = [cell.source for cell in cut(lesson, 2, answers)]
    assert [source for source in sources if "=" in source] == [
        "helper = 5\nsize = 1000", "slow = 1\ntool = helper", "slow = 1", "other = slow", "size = 7",
        "first = tool\nanswer_1 = first", cell_of(lesson.cells, "try-2").source,
        "answer_2 = first + other\nname_2 = size"]
    assert "size = 7" not in [cell.source for cell in cut(lesson, 1, answers)]


def test_the_solution_is_cut_too(lesson):
    """The lesson's own solution is what its last call of the check needs, put in place of the open names."""
    assert lesson.exercises[1].title == "Twice"
    assert lesson.solved(1) == ["double = 2 * size", "answer_1 = double"]
    assert lesson.solved(2) == ["answer_2 = 9\nname_2 = 'a'"]


def copy_template(cells):
    """Answer, and leave a copy of the unanswered cell below."""
    cell = cell_of(cells, "try-1")
    copied = new_code_cell(cell.source, metadata=cell.metadata)
    cell.source = "answer_1 = 6"
    cells.insert(cells.index(cell) + 1, copied)


def answer_twice(cells):
    """Answer, and answer again in a copy of the cell."""
    copy_template(cells)
    first, second = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "try-1"]
    first.source, second.source = "answer_1 = 5", "answer_1 = 6"


def move(cells):
    """Answer in a new cell at the end, and delete the answer's cell."""
    cells.remove(cell_of(cells, "try-1"))
    cells.append(new_code_cell("answer_1 = 6"))


def answer_below(cells):
    """Answer in a cell of one's own, between the exercise's cell and its check."""
    cells.insert(cells.index(cell_of(cells, "check-1")), new_code_cell("answer_1 = 6"))


def change_given(cells):
    """Answer, and change what the check takes as given."""
    cell_of(cells, "try-1").source = "def given():\n    return 3\n\nanswer_1 = 6"


@pytest.mark.parametrize(("change", "sources", "note"), [
    (None, [], ""),
    (rename, ["answer_1 = 6"], "its answer cell was renamed or moved"),
    (copy_template, ["answer_1 = 6"], ""),
    (answer_twice, ["answer_1 = 5", "answer_1 = 6"], "in more than one cell"),
    (move, ["answer_1 = 6"], "renamed or moved"),
    (answer_below, ["answer_1 = 6"], ""),
    (change_given, ["def given():\n    return 3\n\nanswer_1 = 6"], "changes given, which the check uses"),
    (lambda cells: cells.remove(cell_of(cells, "try-1")), [], "its answer cell is missing"),
    (lambda cells: cells.remove(cell_of(cells, "check-1")), [], ""),
])
def test_finds_moved_answer_cells(lesson, change, sources, note):
    """An answer is found whatever became of its cell, and what is odd about it is noted."""
    answers = answers_in(submitted(change), lesson)
    assert answers.own[1] == sources
    assert note in shown(answers, 1) if note else 1 not in answers.notes


def test_of_which_lesson(lesson):
    """The metadata says of which lesson and version a notebook was made, or else the names of its cells."""
    lessons = {lesson.name: lesson}
    notebook = submitted()
    assert lesson_of(notebook, lessons) == (lesson, None)
    notebook.metadata["lesson"]["version"] = "older"
    assert "another version" in lesson_of(notebook, lessons)[1].shown()
    del notebook.metadata["lesson"]
    assert lesson_of(notebook, lessons)[0] is lesson
    found, remark = lesson_of(new_notebook(cells=[new_code_cell("1")]), lessons)
    assert found is None
    assert remark.shown() == "has no cells of any lesson"


def without_names(notebook, translated=False):
    """Return a notebook as an editor stores it that keeps neither ids nor metadata, perhaps with other texts."""
    notebook.metadata = {}
    for cell in notebook.cells:
        del cell["id"]
        cell.metadata = {}
        if translated and cell.cell_type == "markdown":
            cell.source = "练习"
        else:
            cell.source = cell.source.replace("\n", "  \n") + "\n"
        if translated:
            cell.source = cell.source.replace("your turn: two answers", "练习")
    return notebook


@pytest.mark.parametrize("translated", [False, True])
def test_notebooks_that_lost_all_names(lesson, translated):
    """A notebook without ids and metadata is known by its sources, word by word, and so are the places of answers."""
    def change(cells):
        cell_of(cells, "try-1").source = "answer_1 = 6"
        cells.insert(cells.index(cell_of(cells, "check-1")) + 1, new_code_cell("answer_1 = 5"))

    notebook = without_names(submitted(change), translated)
    assert lesson_of(notebook, {lesson.name: lesson})[0] is lesson
    answers = answers_in(notebook, lesson)
    assert answers.own == {1: ["answer_1 = 6\n"], 2: []}
    assert answers.edited == {}
    assert answers.added["check-1"] == ["answer_1 = 5\n"]
    assert "was changed" not in shown(answers, 1)


def test_texts_that_stand_twice(lesson):
    """A text that stands at two exercises does not say at which of them a cell stands."""
    change = write(try_1="answer_1 = 6", run_1=["print(answer_1)"])
    assert answers_in(without_names(submitted(change)), lesson).own[1] == ["answer_1 = 6\n", "print(answer_1)\n"]


def test_a_copy_is_where_it_stands(lesson):
    """A copy of a lesson's cell beside an answer is run with it, and what follows belongs to the exercise, too."""
    def change(cells):
        check = cells.index(cell_of(cells, "check-1"))
        answer = new_code_cell("answer_1 = 5", metadata=cell_of(cells, "try-1").metadata)
        cells[check + 1:check + 1] = [answer, new_code_cell("late = 9")]
        cells[check:check] = [new_code_cell("size = 3"), new_code_cell("answer_1 = 2 * size")]
        cells.insert(0, new_code_cell("size = 3"))

    answers = answers_in(submitted(change), lesson)
    assert answers.own[1] == ["size = 3", "answer_1 = 2 * size"]
    assert answers.added == {"": ["size = 3"], "check-1": ["answer_1 = 5", "late = 9"]}


# What is right in the student's own notebook


def write(**sources):
    """Return a change that puts sources into cells, which are named with _ for -; several are cells added below it."""
    def change(cells):
        for name, source in sources.items():
            cell = cell_of(cells, name.replace("_", "-"))
            if isinstance(source, list):
                place = cells.index(cell) + 1
                cells[place:place] = map(new_code_cell, source)
            else:
                cell.source = source
    return change


def remove_and(name, change):
    """Return a change that also removes a cell."""
    def both(cells):
        change(cells)
        cells.remove(cell_of(cells, name))
    return both


@pytest.mark.parametrize(("change", "number", "note"), [
    (write(size=["from math import *"], try_1="answer_1 = ceil(5.5)"), 1, ""),
    (write(size=["def slow():\n    return 6"], try_1="answer_1 = slow()"), 1, ""),
    (write(size=["def size():\n    return 6"], try_2="answer_2 = size()"), 2, ""),
    (write(size=["mine = []", "mine.append(6)"], try_1="answer_1 = mine[0]"), 1, ""),
    (write(try_1="answer_1 = 6", check_1=["answer_1 = 5"]), 1, "what answers it below its check was not run"),
    (write(size=["answer_2 = 6"], try_2="# above"), 2, "its answer stands in a cell elsewhere"),
    (remove_and("try-2", write(size=["answer_2 = 6"])), 2, "its answer cell was renamed or moved"),
    (write(try_1="answer_1 = 5\nanswer_2 = 6", try_2="name_2 = 1"), 2, "its answer stands at exercise 1"),
    (write(try_1="answer_2 = 5", try_2="answer_1 = 6"), 1, "its answer stands at exercise 2; its answer stands below"),
    (write(try_1="answer_2 = 6", try_2="answer_1 = 5"), 2, "its answer stands at exercise 1"),
    (write(try_1="answer_1 = ...\nanswer_2 = 5", try_2="answer_2 = ...\nanswer_1 = 6"), 1, "stands at exercise 2"),
    (write(try_1="answer_1 = ...\nanswer_1 = 6", size=["answer_1 = 5"]), 1, ""),
    (remove_and("check-1", write(try_2="answer_1 = 6")), 1, "its answer stands at exercise 2; its answer stands below"),
], ids=range(13))
def test_an_earned_point_is_not_refused(lesson, change, number, note):
    """What answers an exercise is run last, whatever stands elsewhere; a remark says so where that is odd."""
    answers = answers_in(submitted(change), lesson)
    assert ran(cut(lesson, number, answers))[f"answer_{number}"] == 6
    assert note in shown(answers, number) if note else number not in answers.notes


def test_what_is_not_answered_at_an_exercise_is_run_for_others(lesson):
    """A cell at an exercise that answers only another one is no answer to it, but may be needed."""
    answers = answers_in(submitted(write(try_1="answer_2 = 5\nhelper = 6", try_2="answer_2 = helper")), lesson)
    assert answers.own == {1: [], 2: ["answer_2 = helper"]}
    assert ran(cut(lesson, 2, answers))["answer_2"] == 6


def test_a_changed_check_is_noted(lesson):
    """Who changes the cell of a check is told that the lesson's own was run, and nobody else is."""
    assert "its check cell was changed" in shown(answers_in(submitted(write(check_1="print('right')")), lesson), 1)
    assert answers_in(submitted(), lesson).notes == {}


# The whole notebook


def test_the_whole_is_what_the_student_ran(lesson):
    """All of a student's cells above the check are run as they are, without checks, and the set-up is the lesson's."""
    answers = answers_in(submitted(write(
        setup="import cmath", slow="slow = 2", size=["answer_2 = size"], try_1="answer_1 = 5", check_1=["mine = 4"],
        try_2="name_2 = mine", check_2=["never = 1"])), lesson)
    assert whole(lesson, 2, answers) == [
        Cell("import math", "lesson", 0, True), Cell("import cmath", "student"), Cell("slow = 2", "student"),
        Cell("size = 3", "lesson"), Cell("answer_2 = size", "student", 2, True), Cell("answer_1 = 5", "student", 1),
        Cell("mine = 4", "student"), Cell("name_2 = mine", "student", 2, True)]
    assert [cell.source for cell in whole(lesson, 1, answers)][-2:] == ["answer_2 = size", "answer_1 = 5"]


def test_the_whole_ends_at_the_last_copy_of_the_check(lesson):
    """Who tries again in copies of the answer's cell and of the check has all tries run; the slice has the first."""
    def change(cells):
        cell_of(cells, "try-1").source = "answer_1 = 5"
        check = cells.index(cell_of(cells, "check-1"))
        cells[check + 1:check + 1] = [new_code_cell("answer_1 = 6"), new_code_cell(cells[check].source)]

    answers = answers_in(submitted(change), lesson)
    assert ran(cut(lesson, 1, answers))["answer_1"] == 5
    assert ran(whole(lesson, 1, answers))["answer_1"] == 6


def test_without_its_check_the_whole_ends_where_it_stood(lesson):
    """Where a student has deleted a check, what stands below it in the lesson ends the cells that are run."""
    answers = answers_in(submitted(remove_and("check-1", write(try_1="answer_1 = 6", try_2="answer_1 = 5"))), lesson)
    assert ran(whole(lesson, 1, answers))["answer_1"] == 6
    assert [cell.source for cell in whole(lesson, 1, answers)].count("import math") == 1


def test_the_whole_has_no_solutions(lesson):
    """Of a lesson with its solutions in it, none is run, unless the student has changed it."""
    notebook = stored.read(Path("01-small.ipynb"))
    assert "double" not in str(whole(lesson, 2, answers_in(notebook, lesson)))
    cell_of(notebook.cells, "solution-1").source = "double = 6"
    assert "double" in str(whole(lesson, 2, answers_in(notebook, lesson)))


# What an answer reaches for


FORGERIES = {
    "its check": "import checks_mxnet.rules; checks_mxnet.rules.check_2 = lambda *a: print('right') or True",
    "all checks": "import d2lhelpers.exercises; d2lhelpers.exercises.check = lambda *a: print('right') or True",
    "its file": "import os\nopen(os.path.abspath('checks/lesson_03.py'), 'a').write('')",
    "its call": "get_ipython().input_transformers_cleanup.append(lambda lines: [line[:9] for line in lines])",
    "its frame": "import sys\ndef answer_2(*case): return sys._getframe(1).f_locals.get('wanted', 4)",
    "equal to all": "class Yes(int): __eq__ = lambda self, other: True\nanswer_2 = lambda *a: Yes(4)",
    "the solution": "json.loads((Path(d2lhelpers.__file__).parents[1] / 'notebooks/pytorch/03.ipynb').read_text())",
    "a shell": "!echo 'check_2 = bool' >> checks_mxnet/rules.py", "a magic": "%%writefile rules.py\ncheck_2 = bool",
    "in a magic": "%%time\nimport inspect", "modules": "from sys import modules as m\nm['x'] = 1",
    "another name": "import gc as collector\ncollector.get_objects()", "by its name": "getattr(sys, '__dict__')\n"
    "type('Yes', (int,), {'__eq__': None})", "a trace": "threading.settrace(print)", "code": "answer_2.__code__ = 1",
    "its class": "answer_2.__class__ = int", "its own check": "def check_2(*a): return True",
    "a module": "setattr(math, 'ceil', max)", "a builtin": "__builtins__.print = 1",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_remarked(lesson, name):
    """The instructor, and not the student, is told what an answer reaches for with which a check can be forged."""
    answers = answers_in(submitted(write(try_2=FORGERIES[name] + "\nanswer_2 = 9")), lesson)
    note = answers.notes[2][-1]
    assert "it reaches for" in note.text
    assert not note.for_student
    assert answers.to_read[2] >= 1
    assert answers.to_read[1] == 0


@pytest.mark.parametrize("source", [
    "import os\nanswer_2 = os.cpu_count()", "answer_2 = torch.compile(net.eval())", "%timeit f()\nanswer_2 = 1",
    "class Net(Module):\n    def __init__(self, **all):\n        for n in all: setattr(self, n, all[n])", "x = (",
    "TABLE = {(1, 2): 4}\nanswer_2 = lambda *case: TABLE.get(case)", "answer_2 = io.BytesIO()"])
def test_an_honest_answer_is_not_remarked(source):
    """What reaches for nothing odd is not remarked, nor is what cannot be parsed."""
    assert reaches_for(source) == []


def test_a_helper_is_looked_at_too(lesson):
    """A cell elsewhere on which an answer depends is looked at with it, and what changes the given is counted."""
    answers = answers_in(submitted(write(size=["import gc\nmine = gc"], try_1="answer_1 = mine\ngiven = max")), lesson)
    assert "it changes given, which the check uses: look at it; it reaches for gc: look at it" in shown(answers, 1)
    assert answers.to_read == {1: 2, 2: 0}


def test_an_exercise_may_need_what_others_do_not(lesson):
    """What an exercise's own cells name, its answers may name; of a module, just what they name of it."""
    lesson.exercises[2].solution.append("from checks_mxnet.rules import tool\nopen('a file')")
    source = "from checks_mxnet.rules import tool\nopen(tool.name)"
    assert reached_by(lesson, 2, [Cell(source, "student")]) == []
    assert reached_by(lesson, 2, [Cell("import checks_mxnet.rules", "student")]) == ["checks_mxnet.rules"]
    assert reached_by(lesson, 2, [Cell("import checks_mxnet.rules", "lesson")]) == []


def test_magics_are_named_as_they_are_written():
    """What a magic or a shell does is remarked under its own name."""
    assert reaches_for("!ls\n%run other.py\n%time a = 1") == ["!", "%run"]


EXCEPTIONS = {("pytorch/11-make-it-fast", 2): ["__class__"]}  # gives a network's parts another class, to compile them


def test_no_right_answer_is_remarked():
    """Of the right answers in all tables, only those that are explained here reach for anything."""
    found = {}
    for name, lesson in grade.all_lessons().items():
        for answer in (each for each in of_lesson(name) if each.wanted == "right"):
            reached = reached_by(lesson, answer.exercise, [Cell(answer.source, "student")])
            if reached:
                found[name, answer.exercise] = reached
    assert found == EXCEPTIONS
