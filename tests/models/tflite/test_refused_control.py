"""Control, variables, shapes and tensors whose types do not match: each is refused where it stands.

Hazard: a check that is deleted, so that the program which is made is wrong, or fails when it runs."""

from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Operator, Signature, Subgraph, Tensor, one_op, write


def _int(*shape: int, **others: Any) -> Tensor:
    return Tensor(shape, "int32", **others)


def _handle() -> Tensor:
    return Tensor((), "resource")


def _variable() -> tuple[Tensor, Operator]:
    handle = _handle()
    return handle, Operator("VAR_HANDLE", [], [handle], {"shared_name": "total"})


def _negated(*shape: int) -> Subgraph:
    x, y = _int(*shape), _int(*shape)
    return Subgraph([x], [y], [Operator("NEG", [x], [y])])


def _called(operand: Tensor, result: Tensor, function: Subgraph) -> list[Subgraph]:
    """A graph that calls another."""
    return [Subgraph([operand], [result], [Operator("CALL", [operand], [result], {"subgraph": 1})]), function]


def _initial(*tensors: Tensor) -> list[Subgraph]:
    """A variable that CALL_ONCE sets to these in turn."""
    handle, made = _variable()
    x, y = _int(2), _int(2)
    once = Operator("CALL_ONCE", [], [], {"init_subgraph_index": 1})
    steps = [made, *(Operator("ASSIGN_VARIABLE", [handle, tensor], []) for tensor in tensors)]
    return [Subgraph([x], [y], [once, Operator("NEG", [x], [y])]), Subgraph([], [], steps)]


def _given_a_handle() -> list[Subgraph]:
    (handle, made), y = _variable(), _int()
    return [Subgraph([], [y], [made, Operator("CALL", [handle], [y], {"subgraph": 1})]), _negated()]


def _returned_handle() -> list[Subgraph]:
    (handle, made), x, y, own = _variable(), _int(2), _int(2), _handle()
    steps = [made, Operator("CALL", [handle], [_handle()], {"subgraph": 1}), Operator("NEG", [x], [y])]
    return [Subgraph([x], [y], steps), Subgraph([own], [own], [])]


def _branches(other: int) -> list[Subgraph]:
    said, x, y = Tensor((), "bool"), _int(2), _int(2)
    options = {"then_subgraph_index": 1, "else_subgraph_index": 2}
    return [Subgraph([said, x], [y], [Operator("IF", [said, x], [y], options)]), _negated(2), _negated(other)]


def _two_conditions() -> list[Subgraph]:
    x, y, own, said = _int(), _int(), _int(), Tensor((), "bool")
    options = {"cond_subgraph_index": 1, "body_subgraph_index": 2}
    condition = Subgraph([own], [said, said], [Operator("LESS", [own, _int(data=3)], [said])])
    return [Subgraph([x], [y], [Operator("WHILE", [x], [y], options)]), condition, _negated()]


@pytest.mark.parametrize(
    ("subgraphs", "said"),
    [
        (
            _initial(_int(2, data=[1, 2]), _int(3, data=[1, 2, 3])),
            "subgraph 1, operator 2 ASSIGN_VARIABLE: variable 'total' has the type tensor<2xi32>, but gets a value",
        ),
        (_given_a_handle(), "operator 1 CALL: tensor 't0' has the type resource, but input 't0' of subgraph 1"),
        (_returned_handle(), "CALL (a result that is a handle of a variable)"),
        (
            _called(_int(2), Tensor((2,), "float32"), _negated(2)),
            "operator 0 CALL: its outputs must have the number and the types of the outputs of subgraph @subgraph_1",
        ),
        (
            _called(_int(3), _int(2), _negated(2)),
            "CALL (operands whose types differ from those of the subgraph's inputs)",
        ),
        (_branches(3), "IF (branches whose tensors have other types)"),
        (_two_conditions(), "operator 0 WHILE: the subgraph of its condition must have 1 result, got 2"),
    ],
    ids=["initial", "given handle", "returned handle", "results", "operands", "branches", "conditions"],
)
def test_control_whose_types_do_not_fit(subgraphs: list[Subgraph], said: str) -> None:
    with pytest.raises(ModelError) as caught:
        import_model(read(write(subgraphs)), profile("litert"))
    assert said in str(caught.value)


_X, _OPEN = _int(2), Tensor((1, 2), "int32", signature=(-1, 2))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (one_op("SHAPE", [_X], [Tensor((1,), "float32")], {"out_type": "INT32"}), "SHAPE (float32)"),
        (one_op("ZEROS_LIKE", [_OPEN], [Tensor((1, 2), "int32")]), ""),
        (one_op("ZEROS_LIKE", [Tensor((2,), "int64")], [Tensor((2,), "int64")]), ""),
        (one_op("ZEROS_LIKE", [Tensor((2,), "bool")], [Tensor((2,), "bool")]), "ZEROS_LIKE (bool)"),
        (
            one_op("FILL", [_int(1, data=[4]), _int(2)], [_int(4)]),
            "operator 0 FILL: its value (input 1) must have one element, got shape (2,)",
        ),
        (
            one_op("RANGE", [_int(), _int(data=4), _int(data=1)], [_int(4)]),
            "RANGE (bounds known only at run time)",
        ),
        (
            one_op("RANGE", [_int(data=0), _int(data=4), Tensor((), "int64", data=1)], [_int(4)]),
            "operator 0 RANGE: its start, limit and delta must be scalars of one type",
        ),
        (
            one_op("RANGE", [_int(data=0), _int(data=4), _int(2, data=[1, 1])], [_int(4)]),
            "operator 0 RANGE: its start, limit and delta must be scalars of one type",
        ),
        (
            one_op("BROADCAST_ARGS", [_int(2, data=[0, 1]), _int(1, data=[1])], [_int(2)]),
            "operator 0 BROADCAST_ARGS: a shape must have at most 8 sizes from 1 to 2**31 - 1, got (0, 1)",
        ),
        (
            one_op("SELECT", [Tensor((2,), "bool"), _int(2), _int(1)], [_int(2)]),
            "operator 0 SELECT: inputs 1 and 2 must have the same shape, got (2,) and (1,)",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_shapes_that_are_refused(content: bytes, said: str) -> None:
    """An empty text: the form is imported, so that the tests beside it fail for their own reasons."""
    if not said:
        import_model(read(content), profile("litert"))
        return
    with pytest.raises(ModelError) as caught:
        import_model(read(content), profile("litert"))
    assert said in str(caught.value)


def _with_constant(**others: Any) -> bytes:
    w = Tensor((1, 4), "int8", scales=0.5, data=np.arange(4), name="w", **others)
    return one_op("ADD", [Tensor((1, 4), "int8", scales=0.5), w], [Tensor((1, 4), "int8", scales=0.5)])


def test_a_custom_quantization_is_refused_with_the_operators() -> None:
    import_model(read(_with_constant()), profile("litert"))
    with pytest.raises(ModelError, match=r"ADD \(input 1 'w' with a custom quantization\): subgraph 0, operator 0 ADD"):
        import_model(read(_with_constant(has_custom_quantization=True)), profile("litert"))


def test_a_signature_that_says_a_name_twice() -> None:
    a, b, y = _int(2), _int(2), _int(2)
    graph = Subgraph([a, b], [y], [Operator("ADD", [a, b], [y])])
    content = write([graph], [Signature({"first": a, "other": b}, {"y": y}, "go")])
    read(content)
    with pytest.raises(ModelError, match="signature 'go': the names of its inputs or outputs must differ, got"):
        read(content.replace(b"other", b"first"))
