"""One run of a lesson, as a plug-in of pytest: after nbval has compared all cells, answers are shown to the checks.

An item follows the cells of a lesson for each exercise whose answers are in a table. It runs in the kernel in which the
cells have run. If it is selected alone, it first runs the cells that it needs.
"""
from pathlib import Path

import depends
import pytest
from answer_tables import of_lesson
from lessons import NOTEBOOKS, SLOW_ANSWERS, Lesson
from nbval.plugin import IPyNbFile

from d2lhelpers import attempts
from d2lhelpers.exercises import CHECK_SECONDS

SHORT = 2  # seconds that an answer gets here that never ends
SHORT_ON_RANKS = 3  # the same for one on whose ranks nothing ends
PATIENCE = 10 * CHECK_SECONDS  # seconds that any other answer gets, on a busy machine
LIMITS = ("from d2lhelpers import attempts as a, exercises as e; "
          "e.CHECK_SECONDS, a.PATIENCE, e.broken = {}, {}, '-'; del a, e")
LIMIT = 600  # seconds after which a cell is stopped
LOADED = "import sys; print(*[m.__file__ for m in [*sys.modules.values()] if getattr(m, '__file__', 0)], sep='\\n')"


class LessonFile(IPyNbFile):
    """A lesson: its code cells, and an item for the answers to each of its exercises."""

    def collect(self):
        """Yield the cells that nbval compares, then the answers."""
        self.lesson = Lesson(self.path)
        self.executed = set()
        yield from super().collect()
        yield LoadedItem.from_parent(self, name="Files that it loads")
        answers = of_lesson(self.lesson.name)
        for number in self.lesson.exercises if answers else []:
            given = [answer for answer in answers if answer.exercise == number]
            yield AnswersItem.from_parent(self, name=f"Answers to exercise {number}", number=number, answers=given)


class LoadedItem(pytest.Item):
    """The files of the project that the lesson has loaded: its result must depend on each of them (`depends.py`)."""

    def runtest(self):
        """Compare them with those on which the lesson's result depends."""
        loaded = execute(self.parent.kernel.kc, LOADED).splitlines()
        assert len(loaded) > 3
        assert set(map(Path, loaded)) & set(depends.project()) <= depends.files(self.path)

    def reportinfo(self):
        """Return where the item is, and its name."""
        return self.path, 0, f"{self.parent.lesson.file}::{self.name}"


class AnswersItem(pytest.Item):
    """The answers to one exercise: a right one must be called right, a wrong one must break the rule that it names."""

    def __init__(self, number, answers, **options):
        super().__init__(**options)
        self.number = number
        self.answers = answers
        self.add_marker(pytest.mark.slow)
        self.add_marker(pytest.mark.one_job)
        if SLOW_ANSWERS.search(self.parent.lesson.name):
            self.add_marker(pytest.mark.weekly)

    def runtest(self):
        """Show each answer to the check, in the lesson's kernel."""
        kernel = self.parent.kernel.kc
        for cell in self.parent.lesson.core:
            if cell.id not in self.parent.executed:
                execute(kernel, cell.source)
                self.parent.executed.add(cell.id)
        found = list(faults(kernel, *self.parent.lesson.exercises[self.number], self.answers))
        if found:
            pytest.fail("\n".join(found), pytrace=False)

    def reportinfo(self):
        """Return where the item is, and its name."""
        return self.path, 0, f"{self.parent.lesson.file}::{self.name}"


def execute(kernel, source):
    """Run code in a kernel, and return what it prints, or the error in which it ends."""
    printed = []

    def keep(message):
        content = message["content"]
        printed.append(f"{content['ename']}: {content['evalue']}" if "ename" in content else content.get("text", ""))

    kernel.execute_interactive(source, store_history=False, allow_stdin=False, stop_on_error=False, output_hook=keep,
                               timeout=LIMIT)
    return "".join(printed).strip()


def faults(kernel, given, check, answers):
    """Yield a line for each answer that does not get from the cell `check` what it must; `given` precedes an answer."""
    for answer in answers:
        patience = SHORT if answer.wanted == "endless" else PATIENCE
        on_ranks = SHORT_ON_RANKS if answer.wanted in ("rank-endless", "rank-waits") else attempts.PATIENCE
        for source in (given.source, answer.source):
            execute(kernel, source)
        execute(kernel, LIMITS.format(patience, on_ranks))
        said = execute(kernel, check.source)
        broken = execute(kernel, "import d2lhelpers.exercises as e; print(e.broken); del e")
        right = said.splitlines()[-1:] == ["right"] and not broken
        if not (right if answer.wanted == "right" else broken == answer.wanted and "Hint:" in said):
            yield (f"exercise {answer.exercise}, wanted {answer.wanted!r}, got {'right' if right else broken!r}:\n"
                   f"{answer.source}\n{said}\n")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent):
    """Let nbval collect a lesson together with its answers."""
    found = yield
    ours = [node for node in found if isinstance(node, IPyNbFile) and NOTEBOOKS in node.path.parents]
    return [LessonFile.from_parent(parent, path=node.path) if node in ours else node for node in found]


def pytest_runtest_call(item):
    """Remember which cells of a lesson have run."""
    if isinstance(item.parent, LessonFile) and hasattr(item, "cell"):
        item.parent.executed.add(item.cell.id)
