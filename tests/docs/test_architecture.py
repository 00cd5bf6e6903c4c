"""The page of the architecture and the maps of packages. Hazards: a picture drawn before an import changed, and a map
that leads to a file which was moved or merged."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs import architecture
from tests.docs.documents import ROOT

MAPS = sorted(path for path in (ROOT / "qrt").glob("*/__init__.py") if "- Start with" in path.read_text())


def test_the_picture_is_drawn_from_the_imports_of_now() -> None:
    assert architecture.PAGE.read_text() == architecture.picture(), "make expected draws it anew"


def test_the_ways_of_data_go_through_parts_that_exist() -> None:
    parts = architecture.sources()
    assert [part for _, way in architecture.WAYS.values() for part in way if part not in parts] == []


def test_each_package_has_a_map() -> None:
    packages = {path.parent.name for path in (ROOT / "qrt").glob("*/__init__.py")}
    assert packages - {path.parent.name for path in MAPS} == set()


@pytest.mark.parametrize("path", MAPS, ids=lambda path: path.parent.name)
def test_the_files_that_a_map_names_exist(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    names = re.findall(r"`([\w/]+\.(?:py|pyx|pxi|pxd))`", text)
    assert names
    assert [name for name in names if not (path.parent / name).exists()] == []
