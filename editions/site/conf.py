"""Sphinx's settings for the site: the lessons as they are stored, and the helpers' docstrings."""
import os
from importlib.util import find_spec

project = "How deep-learning frameworks get their speed"
copyright = "its authors; text and figures are under CC BY 4.0, the code is under the MIT licence"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]  # napoleon reads "Raises:"
exclude_patterns = ["checks", "*/checks", "contents.md"]
nb_execution_mode = "off"
nb_merge_streams = True
suppress_warnings = ["mystnb.unknown_mime_type", "misc.highlighting_failure"]  # such as cells that begin with %%
myst_heading_anchors = 3
autodoc_mock_imports = [name for name in ("mxnet", "torch") if not find_spec(name)]
autodoc_member_order = "bysource"
default_role = "code"

html_theme = "sphinx_book_theme"
html_title = project
html_show_search_summary = False  # the summary would be fetched, which a page that is opened from disk cannot do
html_use_index = False
html_static_path = ["site.css", "models"]
html_css_files = ["site.css"]
html_theme_options = {"use_fullscreen_button": False, "navbar_persistent": [], "show_toc_level": 2,
                      "home_page_in_toc": True}
if repository := os.environ.get("REPOSITORY"):
    html_theme_options |= {
        "repository_url": f"https://github.com/{repository}", "use_repository_button": True,
        "path_to_docs": "notebooks", "repository_branch": "main",
        "launch_buttons": {"notebook_interface": "jupyterlab", "binderhub_url": "https://mybinder.org",
                           "colab_url": "https://colab.research.google.com"}}


def setup(app):
    """Show Colab's button only on the pages of the PyTorch track, because Colab has no MXNet."""
    def without_colab(app, page, template, context, doctree):
        if not page.startswith("pytorch/"):
            for button in context.get("header_buttons", []):
                if "launch" in str(button.get("label")):
                    button["buttons"] = [each for each in button["buttons"] if "colab" not in each["url"]]

    app.connect("html-page-context", without_colab, priority=900)
