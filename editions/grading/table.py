"""The table of points, grades.csv: its columns have the same names in all languages, because programs read them."""
import csv
import re

from ..translations import ENGLISH
from .feedback import in_a_line, write_feedback, write_look_first
from .lesson_grade import short

# where a spreadsheet may see a formula: at a cell's beginning, also of one into which a text is split
FORMULA = re.compile(r'(?<![^\s;,"])(?=[=+\-@＝＋－＠])')


def harmless(value):
    """Return a value for a spreadsheet, which would compute a text that begins like a formula."""
    return FORMULA.sub("'", in_a_line(value)) if isinstance(value, str) else value


def write_grades(rows, folder, translation=ENGLISH):
    """Write grades.csv and all pages; remarks and pages are in the language of the translation."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = range(1, 1 + max((len(row.results) for row in rows), default=0))
    with (folder / "grades.csv").open("w", encoding="utf-8-sig", errors="replace", newline="") as file:
        table = csv.writer(file)
        table.writerow(["student", "id", "lesson", "late", "points", "out of",
                        *(f"exercise {number}" for number in numbers), "remark"])
        for row in rows:
            points = [row.results.get(number, {}).get("points") for number in numbers]
            cells = [row.submission.student, row.submission.number, row.title, "yes" if row.submission.late else "",
                     row.points, len(row.lesson.exercises) if row.lesson else "",
                     *("" if each is None else short(each) for each in points), row.remark(translation)]
            table.writerow([harmless(cell) for cell in cells])
    write_feedback(rows, folder / "feedback", translation)
    write_look_first(rows, folder / "look-first.html", translation)
