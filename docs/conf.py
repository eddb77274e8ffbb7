"""How the documentation site is built: Sphinx reads the pages and the docstrings as they are. `make docs` calls it."""

from __future__ import annotations

import planner

project = "zvm-planner"
author = "zvm-planner"
release = version = planner.__version__
copyright = "zvm-planner contributors, BSD-3-Clause"

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx-mathjax-offline"]
exclude_patterns = ["examples", "templates", "extra"]
nitpicky = False

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
myst_update_mathjax = False  # formulas in the output of notebooks are set, too
nb_execution_mode = "off"  # `make test-notebooks` has run them
nb_merge_streams = True
nb_ipywidgets_js: dict[str, object] = {}  # nothing moves on a page, and nothing comes from the net
nb_mime_priority_overrides = [
    ("html", "application/vnd.jupyter.widget-view+json", None)
]  # sliders show their answer

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc says types and units in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()
templates_path = ["templates"]

html_theme = "furo"
html_title = "zvm-planner"
html_static_path = ["static"]
html_extra_path = ["extra"]
html_css_files = ["planner.css"]
html_show_sphinx = False
html_copy_source = False
