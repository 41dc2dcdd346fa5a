"""What a grading tells people: a page of feedback per student, and lines on the screen."""
import hashlib
import html
import re

ISOLATED = "each runs alone: it can write nothing of yours, reaches no network, and sees no other process"
NOT_ISOLATED = ("NOT ISOLATED, because this system has no namespaces for it: limits hold, but a submission could "
                "change or delete your files and use the network. Use a container or an account of its own")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PAGE = """<!DOCTYPE html>
<html lang="{tag}"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ max-width: 50em; margin: 2em auto; font: 16px sans-serif }} pre {{ background: #f4f4f4; padding: .6em;
white-space: pre-wrap; overflow-wrap: anywhere }}</style></head><body>
<h1>{title}</h1>
{body}
</body></html>
"""


def text_of(outputs, but=None):
    """Return the outputs of a cell as text, without the line that begins with the word `but`."""
    texts = []
    for output in outputs:
        if output["output_type"] == "error":
            texts.append(f"{output['ename']}: {output['evalue']}\n")
        elif output["output_type"] == "stream":
            texts.append(output["text"])
        elif but is None:  # a check returns nothing but its points
            texts.append(output["data"]["text/plain"] + "\n")
    lines = COLOURS.sub("", "".join(texts)).splitlines()
    return "\n".join(line for line in lines if not (but and line.startswith(but))).strip()


def harmless(value):
    """Return a value for a spreadsheet, which would compute a text that begins like a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def line_of(row):
    """Return one line about a row: the student, the lesson, the points, and what there is to remark."""
    lesson = f" · {row.lesson.name}: {row.points} of {len(row.lesson.exercises)}" if row.lesson else ""
    remark = f" ({row.remark})" if row.remark else ""
    return f"{row.submission.student} {row.submission.number}".strip() + lesson + remark


def write_feedback(rows, folder, translation):
    """Write a page for each student, with all of the student's lessons, in the language of the translation."""
    folder.mkdir(exist_ok=True)
    students = {}
    for row in rows:
        students.setdefault((row.submission.student, row.submission.number), []).append(row)
    for (student, number), own in students.items():
        title = html.escape(f"{student} {number}".strip())
        path = folder / f"{file_name(student, number)}.html"
        path.write_text(PAGE.format(tag=translation.tag, title=title, body="\n".join(
            section(row, translation) for row in own)), encoding="utf-8", errors="replace")


def file_name(student, number):
    """Return a name for a file that is safe on any system, and differs for different students."""
    bare = re.sub(r"[^\w-]+", "-", f"{student}-{number}").strip("-")[:60]
    return f"{bare}-{hashlib.sha256(f'{student} {number}'.encode()).hexdigest()[:6]}"


def points_of(points, most, say):
    """Return how many of the most possible points there are, or that nothing could be graded."""
    return say("not graded") if points is None else say("points: {points} of {most}", points=f"{points:g}", most=most)


def section(row, translation):
    """Return the part of a page about one lesson."""
    say = translation.say
    parts = [f"<h2>{html.escape(row.lesson.name if row.lesson else row.submission.file)}</h2>"]
    if row.lesson:
        parts.append(f"<p>{points_of(row.points, len(row.lesson.exercises), say)}</p>")
    if row.remark:
        parts.append(f"<p>{html.escape(row.remark)}</p>")
    for number in sorted(row.results):
        result = row.results[number]
        text = row.lesson.exercises[number].text
        heading = re.search("^#+ (.+)", translation(row.lesson.name, text.id, text.source), re.MULTILINE)[1]
        parts.append(f"<h3>{html.escape(heading)}</h3>\n<p>{points_of(result['points'], 1, say)}</p>")
        for source, printed in result["cells"]:
            parts.append(f"<pre>{html.escape(source)}</pre>")
            if printed:
                parts.append(f"<p>{say('It printed:')}</p><pre>{html.escape(printed)}</pre>")
        said = result["why"] or result["said"]
        parts.append(f"<p>{say('The check:')}</p><pre>{html.escape(said)}</pre>")
    return "\n".join(parts)
