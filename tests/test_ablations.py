"""Every lesson runs under every ablation that its cells name, which shows that its claims can fail.

A lesson runs in a fresh kernel under the ablation and goes on after errors. Then
- every cell tagged `claim:<ablation>` must have failed with an AssertionError;
- no other cell may have failed with one: its assertion is a claim, too, and needs the tag;
- no cell that is tagged for other ablations only may have failed at all;
- untagged cells may have failed with other errors, because the ablation or a failed cell took away what they need.
The exercises are left out if none of their cells names the ablation.

After every change a lesson does so in a slice: the cells that claim an effect, and those on which they depend. A slice
must pass without its ablation. Of each lesson that is the shortest one, if it is short. Once a week all lessons run
under all their ablations, whole.
"""
import os

import pytest
from ablations import ABLATIONS, claims
from lessons import LESSONS, ROOT, tags

from editions.grading.dependencies import depends_on, names_of

LONG = {"kept-memory"}  # takes minutes
SHORT = 12  # cells
WHOLE = {"pytorch/07-many-machines"}  # its cells leave files to one another, which no slice sees
NAMED = {lesson: sorted(set().union(*map(claims, lesson.code)) & set(ABLATIONS)) for lesson in LESSONS}


def cells_for(lesson, name):
    """Return all code cells of a lesson, or those before the exercises if these do not name the ablation."""
    exercises = lesson.code[len(lesson.core):]
    return lesson.code if any(name in claims(cell) for cell in exercises) else lesson.core


def slice_of(lesson, name):
    """Return the cells of a lesson that claim the effect that an ablation takes away, and all on which they depend."""
    cells = cells_for(lesson, name)
    names = [names_of(cell.source) for cell in cells]
    setup = {index for index, cell in enumerate(cells) if "setup" in tags(cell)}
    kept = set()
    for index, cell in enumerate(cells):
        if name in claims(cell):
            kept |= {index, *depends_on(names[:index], names[index].uses, setup)}
    return [cells[index] for index in sorted(kept)]


def shortest_slice(lesson):
    """Return the ablation with the shortest slice of a lesson, or None if it is not short."""
    lengths = {name: len(slice_of(lesson, name)) for name in NAMED[lesson] if name not in LONG}
    name = min(lengths, key=lengths.get, default=None)
    return name if name and lengths[name] <= SHORT else None


SLICES = [pytest.param(lesson, name, id=lesson.name) for lesson in LESSONS
          if "deeper" not in lesson.name and lesson.name not in WHOLE and (name := shortest_slice(lesson))]
CASES = [pytest.param(lesson, name, id=f"{lesson}-{name}") for lesson in LESSONS for name in NAMED[lesson]]


def run_under(name, lesson, cells, folder):
    """Return cells of a lesson after they ran under the ablation `name`; `folder` must be empty."""
    program = f"import ablations\nablations.apply(ablations.ABLATIONS[{name!r}])\n"
    (folder / "sitecustomize.py").write_text(program)  # Python runs it
    search = [str(folder), str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return lesson.run(cells, env=os.environ | ABLATIONS[name].env | {"PYTHONPATH": os.pathsep.join(search)})


def faults(cells, name):
    """Yield a line for each cell that, under the ablation `name`, does not do what its tags say."""
    for cell in cells:
        if "raises-exception" in cell.metadata.get("tags", []):
            continue
        failed = False
        asserted = False
        how = ""
        for output in cell.outputs:
            if output.output_type == "error":
                failed = True
                asserted = output.ename == "AssertionError"
                how = f"fails with {output.ename}: {output.evalue.strip().splitlines()[:1]}"
        lines = "; ".join(line.strip() for line in cell.source.splitlines() if line.strip().startswith("assert"))
        if name in claims(cell) and not failed:
            yield f"{cell.id} passes without the effect, so it proves nothing: {lines}"
        elif name in claims(cell) and not asserted:
            yield f"{cell.id} {how}, not by its own assertion: {lines}"
        elif name not in claims(cell) and asserted:
            yield f"{cell.id} fails as well; tag it claim:{name}, or assert what holds without the effect: {lines}"
        elif name not in claims(cell) and failed and claims(cell):
            yield f"{cell.id} is about {', '.join(sorted(claims(cell)))}, but {how}"


def judge(lesson, name, cells):
    """Fail if the cells, which ran under the ablation `name`, do not do what their tags say."""
    found = list(faults(cells, name))
    if found:
        pytest.fail("\n".join([f"{lesson} under {name}:", *found]), pytrace=False)


@pytest.mark.slow
@pytest.mark.one_job
@pytest.mark.parametrize(("lesson", "name"), SLICES)
def test_slices_fail_under_their_ablation(lesson, name, tmp_path):
    """The cells that claim an effect, with what they need, pass; under the ablation, the claims fail, and no other."""
    lesson.skip_without_framework()
    cells = slice_of(lesson, name)
    lesson.run(cells, allow_errors=False)
    judge(lesson, name, run_under(name, lesson, cells, tmp_path))


@pytest.mark.slow
@pytest.mark.one_job
@pytest.mark.weekly
@pytest.mark.parametrize(("lesson", "name"), CASES)
def test_claims_fail_under_their_ablation(lesson, name, tmp_path):
    """Under an ablation, the cells that name it fail by their own assertions, and no other cell does."""
    lesson.skip_without_framework()
    judge(lesson, name, run_under(name, lesson, cells_for(lesson, name), tmp_path))


def test_a_slice_holds_what_a_claim_needs():
    """A slice has the set-up, the cells that claim, and no more than these need: about half of the cells in all."""
    kept = whole = 0
    for lesson, names in NAMED.items():
        for name in names:
            cells = slice_of(lesson, name)
            assert all(cell in cells for cell in lesson.code if name in claims(cell))
            kept += len(cells)
            whole += len(cells_for(lesson, name))
    assert 0.3 < kept / whole < 0.7


def test_every_tag_names_an_ablation():
    """Every tag that begins with `claim` names an ablation, and every ablation is named by some cell."""
    used = {tag for lesson in LESSONS for cell in lesson.code for tag in tags(cell)}
    assert {tag for tag in used if tag.startswith("claim")} == {f"claim:{name}" for name in ABLATIONS}
