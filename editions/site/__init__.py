"""How the site is made; `source` is what Sphinx reads beside the lessons."""
