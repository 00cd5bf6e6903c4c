"""How Sphinx builds the documents: `make docs`. The sources are the whole repository, so that README.md,
CONTRIBUTING.md and the examples are pages, and every relative link is one on a forge too."""

from pathlib import Path

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from qrt import __version__

project = "qrt"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
root_doc = "docs/index"
include_patterns = ["README.md", "CONTRIBUTING.md", "docs/**", "examples/**"]
exclude_patterns = [".*", "build", "csrc", "benches", "qrt", "tests", "**/__pycache__"]

myst_heading_anchors = 4  # a forge makes an anchor of every heading
default_role = "code"  # docstrings write `name` for code
autodoc_typehints = "none"  # the section Parameters says the types
numpydoc_show_class_members = False  # autodoc shows them

html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
html_show_sourcelink = False


class FolderLinks(SphinxTransform):
    """A link to a folder, which a forge lists and HTML has no page for, becomes its text."""

    default_priority = 500

    def apply(self) -> None:
        here = Path(self.env.doc2path(self.env.docname)).parent
        for link in list(self.document.findall(pending_xref)):
            if link.get("reftype") == "myst" and (here / link["reftarget"]).is_dir():
                link.replace_self(nodes.inline("", "", *link.children))


def setup(app: Sphinx) -> None:
    app.add_transform(FolderLinks)
    app.add_lexer("mlir", TextLexer)  # Pygments knows no MLIR
