"""Dimensions that are open. Hazards: inputs that disagree on a name run, and the result is of one of them; a number
beside a tensor of open sizes leaves the operator, and all behind it, to the interpreter."""

from pathlib import Path

import numpy as np
import pytest

import qrt
from tests.models.onnx.running import imported, run
from tests.models.onnx.writing import model, node, port


@pytest.fixture
def program(tmp_path: Path) -> qrt.Program:
    """Two inputs that no operator joins."""
    nodes = [node("Neg", ["a"], ["y"]), node("Abs", ["b"], ["z"])]
    ports = (
        [port("a", "FLOAT", ("batch", 2)), port("b", "FLOAT", (3, "batch"))],
        [
            port("y", "FLOAT", ("batch", 2)),
            port("z", "FLOAT", (3, "batch")),
        ],
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, *ports))
    return qrt.compile(qrt.load(str(path)))


def _given(a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    return np.ones((a, 2), np.float32), np.ones((3, b), np.float32)


def test_a_dimension_of_one_name_has_one_size(program: qrt.Program) -> None:
    said = "dimension 0 of input 'a' and dimension 1 of input 'b' must be equal, because both have the name 'batch'"
    for _ in range(2):  # nothing of a refused call is kept
        with pytest.raises(qrt.QuantError, match=said):
            program(*_given(2, 4))
        for n in (1, 4):
            y, z = program(*_given(n, n))
            assert (np.shape(y), np.shape(z)) == ((n, 2), (3, n))


def test_names_of_dimensions_stay_in_the_text_and_in_a_saved_program(program: qrt.Program, tmp_path: Path) -> None:
    program(*_given(4, 4))
    program.save(tmp_path / "p.qrt")
    for again in (qrt.load_program(tmp_path / "p.qrt"), qrt.compile(qrt.ir.parse(program.module.print()))):
        again(*_given(4, 4))
        with pytest.raises(qrt.QuantError, match="both have the name 'batch'"):
            again(*_given(4, 5))


@pytest.mark.parametrize("said", ["5 : i64", "[5 : i64, {a = 1 : i64}]", "[]", '["", "n", "n", "n"]'])
def test_what_else_a_text_gives_as_names_says_nothing(said: str) -> None:
    t = "tensor<?x?xf32>"
    text = f"func.func @f(%x: {t} {{qrt.dimensions = {said}}}) -> {t} {{ %0 = math.absf %x : {t}\n return %0 : {t} }}"
    assert np.shape(qrt.compile(qrt.ir.parse(text))(np.ones((2, 3), np.float32))) == (2, 3)


@pytest.mark.parametrize("kind", ["INT64", "INT32", "INT8"])
def test_a_number_beside_open_sizes_is_no_step_of_the_interpreter(tmp_path: Path, kind: str) -> None:
    nodes = [node("Less", ["x", "n"], ["m"]), node("Add", ["x", "n"], ["s"]), node("Where", ["m", "s", "x"], ["y"])]
    path = tmp_path / "m.onnx"
    ports = [port("x", kind, ("a", "b"))], [port("y", kind, ("a", "b"))]
    path.write_bytes(model(nodes, *ports, {"n": np.full((1, 1), 5, kind.lower())}))
    program = qrt.compile(qrt.load(str(path)))
    assert {step.engine for step in program.coverage((2, 3))} == {"kernel"}
    for shape in ((2, 3), (1, 1), (0, 3)):
        x = np.arange(np.prod(shape), dtype=kind.lower()).reshape(shape)
        for interpret in (False, True):
            found = program.run({"x": x}, interpret=interpret)["y"]
            assert found.tolist() == np.where(x < 5, x + 5, x).tolist()


def test_axes_of_size_1_must_be_known_to_be_removed() -> None:
    """A run with a batch of 1 would have a result of another rank."""
    content = model([node("Squeeze", ["x"], ["y"])], [port("x", shape=("n", 3, 1, 4))], [port("y")])
    with pytest.raises(qrt.errors.ModelError, match=r"Squeeze \(without axes, of a tensor of shape \[None, 3, 1, 4\]"):
        imported(content)
    axes = {"axes": np.int64([2])}
    content = model([node("Squeeze", ["x", "axes"], ["y"])], [port("x", shape=("n", 3, 1, 4))], [port("y")], axes)
    for n in (1, 2):
        (y,) = run(content, x=np.ones((n, 3, 1, 4), np.float32))
        assert y.shape == (n, 3, 4)
