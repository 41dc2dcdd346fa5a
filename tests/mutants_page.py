"""The page tests/mutants.md: figures of each module, and the changes of its lines that no test noticed."""
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "tests" / "mutants.md"
NO_REASON = "?"
LEFT_OUT = {
    "editions/grading/sandbox.py": "a change to what it ends could end every program",
    "editions/site/source/conf.py": "only Sphinx runs it",
}


def modules():
    """Return the modules whose code is changed."""
    paths = [*ROOT.glob("d2lhelpers/**/*.py"), *ROOT.glob("editions/**/*.py")]
    return sorted({path.relative_to(ROOT).as_posix() for path in paths} - set(LEFT_OUT))


def read_page():
    """Return the figures of each module on the page, and the reason of each surviving change (old line, new line)."""
    figures, survivors = {}, {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if row := re.fullmatch(r"\| (\S+\.py) \| ([\d |]+) \|", line):
            figures[row[1]] = tuple(map(int, row[2].split(" | ")))
        elif heading := re.fullmatch(r"## (\S+)", line):
            reasons = survivors[heading[1]] = {}
        elif before := re.fullmatch(r"- `(.+)`", line):
            old = before[1]
        elif after := re.fullmatch(r"  → `(.+)`: (.+)", line):
            reasons[old, after[1]] = after[2]
    return figures, survivors


def lines_of(module):
    """Return the lines of a module without their indentation; none if there is no such module."""
    path = ROOT / module
    return {line.strip() for line in path.read_text(encoding="utf-8").splitlines()} if path.exists() else set()


def still_there(figures, survivors):
    """Return the part of a page that is about lines of the present code; a module that lost one loses its figures."""
    kept = {}
    for module, reasons in survivors.items():
        lines = lines_of(module)
        kept[module] = {change: why for change, why in reasons.items() if change[0] in lines}
    unchanged = [module for module in figures if lines_of(module) and kept.get(module) == survivors.get(module)]
    return {module: figures[module] for module in unchanged}, kept


def write_page(figures, survivors):
    """Write the page."""
    tried, survived = (sum(row[column] for row in figures.values()) for column in (1, 4))
    not_tried = [f"`{module}`" for module in modules() if module not in figures]
    lines = ["# Changes that no test notices", "",
             f"`make mutants` tried {tried} changes of the code, one at a time: all of a module, or a random sample. "
             f"The tests did not notice {survived} of them ({survived / max(1, tried):.1%}). Below the table stands "
             "what such changes made of a line, and why it may stay so (`?`: nobody has said). A later run tries them "
             "again; of a module without figures stands what an earlier run found in lines that are still there. The "
             "command writes this page; only the reasons are typed by hand.", "",
             "| Module | Changes | Tried | Noticed | of these by the time limit | Survived |",
             "|---|--:|--:|--:|--:|--:|"]
    lines += [f"| {module} | {' | '.join(map(str, figures[module]))} |" for module in sorted(figures)]
    lines += ["", f"Not tried since they were changed: {', '.join(not_tried) or 'none'}."]
    lines += [f"Never tried: `{module}`, because {why}." for module, why in LEFT_OUT.items()]
    for module in sorted(survivors):
        changes = [f"- `{old}`\n  → `{new}`: {why}" for (old, new), why in survivors[module].items()]
        lines += ["", f"## {module}", "", *changes] if changes else []
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
