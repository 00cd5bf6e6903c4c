"""The compressed text of a saved program, which is read when it is needed: one that inflates without an end, that is
cut short, of another program, or no text at all."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from tests.runtime.saved.crafted import Index, index_of, pack, unpacked
from tests.runtime.saved.samples import OPEN, STATE, inputs_of, same


def refused_text(path: Path, index: Index) -> str:
    pack(path, index)
    loaded = qrt.load_program(path)
    with pytest.raises(qrt.errors.ModelError) as caught:
        loaded.run(inputs_of(loaded), interpret=True)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


def test_a_text_that_inflates_beyond_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte that is read became two gigabytes."""
    index = index_of(OPEN, tmp_path / "p.qrt")
    monkeypatch.setattr("qrt.runtime.saved.source.MOST_TEXT", 1 << 20)
    long = zlib.compress(bytes((1 << 20) + 1))
    index["program"] = {**index["program"], "text": np.frombuffer(long, np.uint8)}
    assert f"the program's text has more than {1 << 20} bytes" in refused_text(tmp_path / "p.qrt", index)
    index["program"]["text"] = np.frombuffer(zlib.compress(b"x" * 5000)[:-6], np.uint8)
    assert "the program's text is truncated" in refused_text(tmp_path / "p.qrt", index)
    index["program"]["text"] = np.frombuffer(zlib.compress(b"\xff"), np.uint8)
    assert "the program's text is not UTF-8" in refused_text(tmp_path / "p.qrt", index)


def test_a_text_at_its_limit_is_saved_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = qrt.compile(OPEN)
    program.save(tmp_path / "p.qrt")
    size = len(zlib.decompress(unpacked(tmp_path / "p.qrt")["program"]["text"]))
    for module in ("source", "save"):
        monkeypatch.setattr(f"qrt.runtime.saved.{module}.MOST_TEXT", size)
    program.save(tmp_path / "p.qrt")
    inputs = inputs_of(program)
    assert same(qrt.load_program(tmp_path / "p.qrt").run(inputs, interpret=True), program.run(inputs))
    monkeypatch.setattr("qrt.runtime.saved.save.MOST_TEXT", size - 1)
    with pytest.raises(qrt.errors.ModelError, match=f"bytes, got {size}"):
        program.save(tmp_path / "p.qrt")


def test_the_text_of_another_program(tmp_path: Path) -> None:
    index = index_of(OPEN, tmp_path / "p.qrt")
    other = index_of(STATE, tmp_path / "q.qrt")
    message = refused_text(tmp_path / "p.qrt", {**index, "program": other["program"]})
    assert "the arguments or results of main differ from those in its text" in message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda program: {**program, "text": "x"}, "text: "),
        (lambda program: {**program, "text": np.zeros((2, 2), np.uint8)}, "text: "),
        (lambda program: {**program, "constants": 3}, "constants: "),
        (lambda program: {**program, "constants": (1.5,)}, "constants: "),
        (lambda program: {**program, "more": 1}, "expected only the names"),
        (lambda program: {"constants": ()}, "text is missing"),
        (lambda program: 3, "expected a dictionary"),
    ],
)
def test_values_of_the_text(change: Callable[[Any], Any], said: str, tmp_path: Path) -> None:
    index = index_of(OPEN, tmp_path / "p.qrt")
    assert said in refused_text(tmp_path / "p.qrt", {**index, "program": change(index["program"])})
