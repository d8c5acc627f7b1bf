"""The generator's configuration. `make docs` stages the sources that it reads: sitemaker/stage.py."""

import json
from pathlib import Path

_HERE = Path(__file__).parent
_STAGED = _HERE / "build" / "extra"

project = "kexbench"
release = version = json.loads((_STAGED / "versions.json").read_text())[0]["version"]
language = "en"
extensions = ["myst_parser"]
myst_heading_anchors = 4  # the anchors of headings are those of a forge
nitpicky = True
highlight_language = "none"

html_theme = "furo"
html_title = "kexbench"
html_static_path = [str(_HERE / "static")]
templates_path = [str(_HERE / "templates")]
html_search_scorer = str(_HERE / "scorer.js")
html_favicon = str(_HERE / "../../frontend/public/icon.svg")
html_css_files = ["site.css"]
html_js_files = [("versions.js", {"defer": "defer"}), ("scrolling.js", {"defer": "defer"})]
html_extra_path = [str(_STAGED)]  # the schemas at the addresses that their $id names, and versions.json
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
html_permalinks_icon = "#"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
