"""What a grading tells people: a page for each student, one for the instructor, and lines on the screen."""
import hashlib
import html
import math
import re
import time
import unicodedata
from concurrent.futures import as_completed

from ..translations import ENGLISH
from .remarks import remark_of, say

ISOLATED = say("each runs alone: it can write nothing of yours, reaches no network, and sees no other process")
NOT_ISOLATED = say("NOT ISOLATED, as you asked: limits hold, but a submission could read, change or delete your files "
                   "and use the network. Use a container or an account of its own")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
FRAME = re.compile(r"Cell In\[(\d{1,6})\], line (\d{1,6})")  # of a traceback
FILE_OF_CELL = re.compile(r" \(\d+\.py, line \d+\)$")  # in what IPython says about code that is no Python
LOOK = "look at it"  # in a remark about an answer that may reach for its check
PAGE = """<!DOCTYPE html>
<html lang="{tag}"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ max-width: 50em; margin: 2em auto; font: 16px sans-serif }} pre {{ background: #f4f4f4; padding: .6em;
white-space: pre-wrap; overflow-wrap: anywhere }}</style></head><body>
<h1>{title}</h1>
{body}
</body></html>
"""


def plain(text):
    """Return a text without characters that nobody sees: they control a terminal, or turn the direction of others."""
    return "".join(each for each in text if each in "\n\t\u200c\u200d"  # two join letters, in emoji and some scripts
                   or unicodedata.category(each) not in ("Cc", "Cf", "Cs", "Zl", "Zp"))


def in_a_line(text):
    """Return a plain text in one line."""
    return plain(" ".join(text.split()))


def line_of_error(traceback):
    """Return the number of the line at which the cell that was run failed, or None; other cells have lower numbers."""
    text = COLOURS.sub("", "\n".join(map(str, traceback))) if isinstance(traceback, list) else ""
    frames = [(int(cell), int(line)) for cell, line in FRAME.findall(text)]
    ran = max(frames, default=(0, 0))[0]
    return next((line for cell, line in reversed(frames) if cell == ran), None)


def text_of(outputs, but=None, translation=ENGLISH):
    """Return the outputs of a cell as text; those of a check without the line that begins with the word `but`."""
    texts = []
    for output in outputs:
        if output["output_type"] == "error":
            line = translation.say(" (line {line})", line=output["line"]) if output.get("line") and not but else ""
            texts.append(f"{output['ename']}: {FILE_OF_CELL.sub('', output['evalue'])}{line}\n")
        elif output["output_type"] == "stream":
            texts.append(output["text"])
        elif but is None:  # a check returns nothing but its points
            texts.append(output["data"]["text/plain"] + "\n")
    lines = COLOURS.sub("", "".join(texts)).splitlines()
    return "\n".join(line for line in lines if not (but and line.startswith(but))).strip()


def name_of(row):
    """Return the name and the number of a row's student in one line."""
    return in_a_line(f"{row.submission.student} {row.submission.number}")


def line_of(row, translation=ENGLISH):
    """Return one line about a row: the student, the lesson, the points, and what there is to remark."""
    of_lesson = [row.title, points_of(row.points, len(row.lesson.exercises), translation)] if row.lesson else []
    return in_a_line(" · ".join(filter(None, [name_of(row), *of_lesson, row.remark(translation)])))


def show_progress(waiting, line, translation):
    """Wait for what a pool does, and print what `line` says about each as soon as it is done, with the time left."""
    begun = time.monotonic()
    for count, done in enumerate(as_completed(waiting), 1):
        done.result()
        left = (len(waiting) - count) * (time.monotonic() - begun) / count
        rest = " · " + translation.say("{minutes} min left", minutes=math.ceil(left / 60)) if left else ""
        print(f"[{count}/{len(waiting)}] {line(waiting[done])}{rest}", flush=True)


def write_feedback(rows, folder, translation):
    """Write a page for each student, with all of the student's lessons, in the language of the translation."""
    folder.mkdir(exist_ok=True)
    students = {}
    for row in rows:
        students.setdefault((row.submission.student, row.submission.number), []).append(row)
    for (student, number), own in students.items():
        path = folder / f"{file_name(student, number)}.html"
        write_page(path, name_of(own[0]), [section(row, translation) for row in own], translation)


def write_look_first(rows, path, translation):
    """Write a page for the instructor with the answers that are worth reading, in the language of the translation."""
    parts = paragraphs([translation.say(
        "Read these answers first: those that may reach for their own check, then what else is odd. An answer that is "
        "not here can have cheated, too. Nothing can be proof against code that runs beside its own check: such code "
        "can forge whatever the check says.")])
    answers = worth_reading(rows)
    for row, number in answers:
        heading = " · ".join([name_of(row), row.title, heading_of(row.lesson, number, translation)])
        parts += [f"<h2>{escaped(heading)}</h2>", *of_answer(row, number, row.about(number), translation)]
    if not answers:
        parts += paragraphs([translation.say("Nothing odd was found.")])
    write_page(path, translation.say("Look at these answers first"), parts, translation)


def worth_reading(rows):
    """Return (row, number) of each answer with a remark: the likeliest to cheat first, by points and what it uses."""
    def rank(answer):
        row, number = answer
        to_instructor = [remark.text for remark in row.about(number) if not remark.for_student]
        things = (row.answers.to_read or {}).get(number, 0)
        return (not any(LOOK in text for text in to_instructor), not to_instructor, -row.results[number]["points"],
                -things)

    return sorted(((row, number) for row in rows for number, result in sorted(row.results.items())
                   if result["points"] is not None and row.answers.own[number] and row.about(number)), key=rank)


def write_page(path, title, parts, translation):
    """Write a page of HTML with a title and parts."""
    page = PAGE.format(tag=translation.tag, title=escaped(title), body="\n".join(parts))
    path.write_text(page, encoding="utf-8", errors="replace")


def escaped(text):
    """Return a text as HTML that shows it."""
    return html.escape(plain(text))


def file_name(student, number):
    """Return a name for a file that is safe on any system, and differs for different students."""
    bare = re.sub(r"[^\w-]+", "-", f"{student}-{number}").strip("-")[:60]
    return f"{bare}-{hashlib.sha256(repr((student, number)).encode()).hexdigest()[:6]}"


def points_of(points, most, translation):
    """Return how many of the most possible points there are, or that nothing could be graded."""
    if points is None:
        return translation.say("not graded")
    return translation.say("points: {points} of {most}", points=f"{points:g}", most=most)


def paragraphs(texts):
    """Return texts as paragraphs of HTML."""
    return [f"<p>{escaped(text)}</p>" for text in texts]


def heading_of(lesson, number, translation):
    """Return the heading of an exercise without markup."""
    text = lesson.exercises[number].text
    heading = re.search("^#+ (.+)", translation(lesson.name, text.id, text.source), re.MULTILINE)[1]
    return re.sub("[`*]", "", heading)


def section(row, translation):
    """Return the part of a student's page about one lesson."""
    parts = [f"<h2>{escaped(row.title or row.submission.file)}</h2>"]
    if row.lesson:
        parts += paragraphs([points_of(row.points, len(row.lesson.exercises), translation)])
    parts += paragraphs(remark.shown(translation) for remark in row.remarks if remark.for_student)
    for number in sorted(row.results):
        parts.append(f"<h3>{escaped(heading_of(row.lesson, number, translation))}</h3>")
        remarks = [remark for remark in row.about(number) if remark.for_student]
        parts += of_answer(row, number, remarks, translation)
    return "\n".join(parts)


def of_answer(row, number, remarks, translation):
    """Return what a page shows of an answer: points, remarks, cells and what they printed, what the check said."""
    result = row.results[number]
    said = result["said"] or ""
    by_check = isinstance(said, str)
    texts = [points_of(result["points"], 1, translation), *(remark.shown(translation) for remark in remarks)]
    parts = paragraphs(texts if by_check else [*texts, remark_of(said).shown(translation)])
    for source, printed in result["cells"] or [(source, "") for source in row.answers.own[number]]:
        parts.append(f"<pre>{escaped(source)}</pre>")
        if printed:
            parts.append(f"<p>{translation.say('It printed:')}</p><pre>{escaped(printed)}</pre>")
    if by_check and said:
        parts.append(f"<p>{translation.say('The check:')}</p><pre>{escaped(said)}</pre>")
    return parts
