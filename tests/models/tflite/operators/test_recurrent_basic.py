"""LSTM with kernel_type BASIC beside plain loops. Hazards: the order of the gates, a state that is not handed on or not
reset, a state that LiteRT overwrites, options that it ignores."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Operator, Signature, Subgraph, Tensor, one_op, write

BATCH, INPUTS, CELLS = 2, 3, 5
OPTIONS = {"kernel_type": "BASIC", "fused_activation_function": "TANH"}


def weights(seed: int, *shape: int) -> Tensor:
    return Tensor(shape, "float32", data=np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def operands(has_variables: bool = True, **changed: Tensor | None) -> list[Tensor | None]:
    x, hidden, cell = (
        Tensor((BATCH, size), "float32", is_variable=has_variables and name != "x", name=name)
        for name, size in (("x", INPUTS), ("hidden", CELLS), ("cell", CELLS))
    )
    given: list[Tensor | None] = [x, hidden, weights(0, 4 * CELLS, INPUTS + CELLS), weights(1, 4 * CELLS), cell]
    for name, tensor in changed.items():
        given[int(name[1:])] = tensor
    return given


def results() -> list[Tensor]:
    return [Tensor((BATCH, size), "float32") for size in (CELLS, CELLS, INPUTS + CELLS, 4 * CELLS)]


def model(given: list[Tensor | None], count: int = 4, **options: Any) -> bytes:
    return one_op("LSTM", given, results()[:count], {**OPTIONS, **options})


def imported(content: bytes) -> qrt.ir.Module:
    return import_model(read(content), profile("litert"))


def step(x: np.ndarray, h: np.ndarray, c: np.ndarray) -> list[np.ndarray]:
    """In float64."""
    w, b = (np.asarray(tensor.data, np.float64) for tensor in operands()[2:4] if tensor is not None)
    rows = np.concatenate([x, h], axis=1)
    sums = rows @ w.T + b
    i, g, f, o = np.split(sums, 4, axis=1)
    enter, forget, out = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
    c = enter * np.tanh(g) + forget * c
    return [out * np.tanh(c), c, rows, sums]


def test_calls_go_on_from_the_state() -> None:
    program = qrt.compile(imported(model(operands())))
    rng = np.random.default_rng(2)
    for _ in range(2):
        h = c = np.zeros((BATCH, CELLS))
        program.reset()
        for _ in range(4):
            x = rng.normal(size=(BATCH, INPUTS)).astype(np.float32)
            expected = step(x, h, c)
            h, c = expected[:2]
            for result, wanted in zip(program.run({program.inputs[0].name: x}).values(), expected, strict=True):
                np.testing.assert_allclose(np.asarray(result), wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("interpret", [False, True])
def test_a_given_state_stays_as_it_is(interpret: bool) -> None:
    program = qrt.compile(imported(model(operands(has_variables=False))))
    rng = np.random.default_rng(3)
    x, h, c = (rng.normal(size=(BATCH, size)).astype(np.float32) for size in (INPUTS, CELLS, CELLS))
    before = h.copy(), c.copy()
    for _ in range(2):
        results = program.run({"x": x, "hidden": h, "cell": c}, interpret=interpret)
        for result, wanted in zip(results.values(), step(x, h, c), strict=True):
            np.testing.assert_allclose(np.asarray(result), wanted, rtol=2e-5, atol=2e-6)
    np.testing.assert_array_equal(h, before[0])
    np.testing.assert_array_equal(c, before[1])


def with_add(read_later: bool) -> bytes:
    """A model that adds 1 to the hidden values after they were read, or before."""
    given, outputs = operands(has_variables=False), results()
    x, hidden, _, _, cell = given
    assert x is not None
    assert hidden is not None
    assert cell is not None
    one, total = Tensor((CELLS,), "float32", data=np.ones(CELLS)), Tensor((BATCH, CELLS), "float32")
    lstm = Operator("LSTM", given if read_later else [x, total, *given[2:]], outputs, OPTIONS)
    addition = Operator("ADD", [hidden, one], [total], {"fused_activation_function": "NONE"})
    operators = [lstm, addition] if read_later else [addition, lstm]
    return write([Subgraph([x, hidden, cell], [outputs[0], *([total] if read_later else [])], operators)])


def called() -> bytes:
    """A model that calls the subgraph of an LSTM."""
    given, outputs, outer, y = operands(has_variables=False), results(), operands(has_variables=False), results()[0]
    inner = Subgraph(
        [tensor for tensor in (given[0], given[1], given[4]) if tensor is not None],
        outputs[:1],
        [Operator("LSTM", given, outputs, OPTIONS)],
    )
    x = [tensor for tensor in (outer[0], outer[1], outer[4]) if tensor is not None]
    return write([Subgraph(x, [y], [Operator("CALL", x, [y], {"subgraph": 1})]), inner])


def test_an_entry_that_is_not_the_first_subgraph() -> None:
    given, outputs = operands(has_variables=False), results()
    x = [tensor for tensor in (given[0], given[1], given[4]) if tensor is not None]
    other = Tensor((1,), "float32")
    doubled = Tensor((1,), "float32")
    first = Subgraph(
        [other], [doubled], [Operator("ADD", [other, other], [doubled], {"fused_activation_function": "NONE"})]
    )
    lstm = Subgraph(x, outputs[:1], [Operator("LSTM", given, outputs, OPTIONS)])
    signatures = [
        Signature({"x": other}, {"y": doubled}, "first", 0),
        Signature(dict(zip("xhc", x, strict=True)), {"y": outputs[0]}, "second", 1),
    ]
    program = qrt.compile(imported(write([first, lstm], signatures)), function="second")
    arrays = [np.full(tensor.shape, 0.5, np.float32) for tensor in x]
    y = np.asarray(next(iter(program.run(dict(zip("xhc", arrays, strict=True))).values())))
    np.testing.assert_allclose(y, step(*arrays)[0], rtol=2e-5, atol=2e-6)


BYTES = Tensor((4 * CELLS, INPUTS + CELLS), "int8", 0.1, data=np.ones((4 * CELLS, INPUTS + CELLS)))
SHARED = Tensor((BATCH, CELLS), "float32", is_variable=True)
REFUSED: dict[str, tuple[bytes, str]] = {
    "one result": (model(operands(), count=1), "it must have 5 inputs and 4 results, got 5 and 1"),
    "the inputs of the other kernel": (
        model([*operands(), *[None] * 15]), "it must have 5 inputs and 4 results, got 20 and 4"
    ),
    "no bias": (model(operands(_3=None)), "input 3 is required, but missing"),
    "an activation that LiteRT ignores": (
        model(operands(), fused_activation_function="RELU"), "function RELU, which LiteRT ignores; write TANH"
    ),
    "a clip that LiteRT ignores": (model(operands(), cell_clip=0.5), "cell_clip 0.5, which LiteRT ignores; write 0"),
    "weights of another depth": (
        model(operands(_2=weights(0, 4 * CELLS, INPUTS))), r"must have the shape \[20, 8\], got \[20, 3\]"
    ),
    "a bias of one gate": (model(operands(_3=weights(1, CELLS))), r"must have the shape \[20\], got \[5\]"),
    "a cell of another batch": (
        model(operands(_4=Tensor((3, CELLS), "float32", is_variable=True))),
        r"must have the shape \[2, 5\], got \[3, 5\]",
    ),
    "a sequence": (model(operands(_0=Tensor((2, BATCH, INPUTS), "float32"))), r"\(inputs tensor<2x2x3xf32>\)"),
    "a scalar cell": (model(operands(_4=Tensor((), "float32", is_variable=True))), "with a cell state tensor<f32>"),
    "int8 weights": (model(operands(_2=BYTES)), r"\(int8 among floats\)"),
    "uint8": (
        model([Tensor((BATCH, INPUTS), "uint8", 0.1), *operands()[1:]]), r"LSTM \(the kernel BASIC of uint8\)"
    ),
    "a constant state": (
        model(operands(_1=weights(4, BATCH, CELLS))), "neither a variable nor an input of the model"
    ),
    "a computed state": (with_add(read_later=False), "neither a variable nor an input of the model"),
    "a state that is read later": (with_add(read_later=True), "'hidden' that is read elsewhere too"),
    "a state of a subgraph that is called": (called(), "neither a variable nor an input of the model"),
    "one state for both": (model(operands(_1=SHARED, _4=SHARED)), "must be one input only"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_form_that_is_refused(name: str) -> None:
    content, message = REFUSED[name]
    with pytest.raises(qrt.errors.ModelError, match=message):
        imported(content)
