"""A page that is wrong is found. Hazard: a page whose examples are passed over."""

import re

import pytest

from tests.docs.walkthrough import Walk, change, shows, steps

PAGE = """# Title

Save this as `program.mlir`:

```mlir
func.func private @f(i32)
```

    qrt opt program.mlir  # a comment

```text
module {
  ...
}
```

```python
x = 1
```

Text.

```python
print(x)
```

```text
1
```

    make build FLAG=1

```sh
qrt --version
make build
```
"""
WRONG = [
    ("print(x)", "print(x + 1)", r"page:24 prints\n2"),
    ("x = 1", "y = 1", "name 'x' is not defined"),
    ("make build F", "make biuld F", "the Makefile has no {'biuld'}"),
    ("private @f(i32)", "@f(i32", "status 1"),
    ("module {\n  ...\n}\n", "error: none\n", "status 0"),
    ("qrt opt", "pip install", "pip is not run"),
    ("opt program", "opt missing", "status 1"),
    ("qrt --version", "qrt --vision", "status 2"),
]


def walk(page):
    done = Walk("page", "build: there\n")
    for step in steps(page):
        done.do(step)


def test_every_step_is_found_in_order():
    kinds = [step.kind for step in steps(PAGE) if step.kind != "text"]
    assert kinds == ["mlir", "command", "python", "python", *["command"] * 3]


def test_a_name_with_a_dot_is_no_file():
    """Hazard: an example after such a name would be written, not run."""
    (step,) = steps("This uses `qrt.pack`:\n\n```python\nx\n```\n")
    assert step.path is None


def test_a_right_page_passes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    walk(PAGE)
    assert (tmp_path / "program.mlir").read_text() == "func.func private @f(i32)\n"


@pytest.mark.parametrize(("right", "wrong", "message"), WRONG)
def test_a_wrong_page_fails(right, wrong, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert PAGE.count(right) == 1
    with pytest.raises((AssertionError, NameError), match=message if "prints" in message else re.escape(message)):
        walk(PAGE.replace(right, wrong))


@pytest.mark.parametrize(
    ("shown", "holds"),
    [
        ("a\nb\nc\n", True),
        ("a\nb\n", False),
        ("a\n...\nc\n", True),
        ("...\nb\n...\n", True),
        ("...\nb\n", False),
        ("b\n...\n", False),
        ("...\nc\n...\nb\n...\n", False),
    ],
)
def test_dots_stand_for_lines_that_are_left_out(shown, holds):
    assert shows(shown, "a\nb\nc\n") == holds


def test_a_diff_changes_the_place_that_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.py").write_text("a\nb\nc\n")
    change("--- file.py\n a\n-b\n+d\n c\n")
    assert (tmp_path / "file.py").read_text() == "a\nd\nc\n"
    with pytest.raises(AssertionError, match="does not have the place"):
        change("--- file.py\n a\n-b\n")
