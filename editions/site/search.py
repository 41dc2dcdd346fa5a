"""How the site's search, which needs no network and no dictionary, splits Chinese: into pairs of characters."""
import re

from sphinx.search.zh import SearchChinese


class SearchPairs(SearchChinese):
    """Indexes each pair of neighbouring Chinese characters, and Latin words as Sphinx does."""

    js_splitter_code = """
function splitQuery(query) {
    const runs = query.match(/[a-zA-Z0-9_]+|[\\u3400-\\u9fff]+/g) || [];
    return runs.flatMap(run => !/[\\u3400-\\u9fff]/.test(run) || run.length < 3 ? [run]
        : [...run].slice(1).map((last, at) => run[at] + last));
}
"""

    def split(self, input: str) -> list[str]:
        """Return the words of a text.

        >>> SearchPairs({}).split("计算图 graph, 快")
        ['计算', '算图', '快', 'graph']
        """
        latin = self.latin1_letters.findall(input)
        self.latin_terms.update(latin)
        runs = re.findall("[\u3400-\u9fff]+", input)
        return [run[at:at + 2] for run in runs for at in range(max(1, len(run) - 1))] + latin
