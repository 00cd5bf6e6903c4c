"""ONNX files for the kind `models`: models of one operator and exported programs, mutated where a message has a number,
a name or bytes, in the text of their metadata, or in any byte.
"""

import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np
import onnx

from qrt import ir
from qrt.models.onnx.export import onnx_bytes
from tests.fuzz.kinds.onnx_functions import put_in_functions
from tests.fuzz.kinds.onnx_outside import put_outside
from tests.models.onnx.export.float_programs import PROGRAMS as NESTS
from tests.models.onnx.export.programs import PROGRAMS
from tests.models.onnx.forms import forms
from tests.models.onnx.one_of_each import models
from tests.models.onnx.qdq_graphs import draw_graph
from tests.models.onnx.variants import changed, changes

LARGEST = 16 << 10
"""Bytes of a file to start from."""
_INTEGERS = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 7, 8, 127, 255, 256, 65535, 2**31 - 1, 2**40, 2**63 - 1)
_FLOATS = (0.0, -0.0, -1.0, 1.0, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"))


@cache
def of_forms() -> tuple[bytes, ...]:
    """A model of each form that is compared with the runtime."""
    return tuple(content for content in (form.content() for form in forms()) if len(content) <= LARGEST)


@cache
def of_operators() -> tuple[bytes, ...]:
    """A small model of each operator."""
    return tuple(content for content in models().values() if len(content) <= LARGEST)


@cache
def exported() -> tuple[bytes, ...]:
    """Programs as models, whose metadata has rules and texts."""
    texts = [PROGRAMS[name][0] for name in ("add", "conv2d", "lookup")] + [text for text, _ in NESTS.values()]
    return tuple(onnx_bytes(ir.parse(text)) for text in texts)


@cache
def of_groups() -> tuple[bytes, ...]:
    """Return drawn graphs of operators between casts."""
    return tuple(draw_graph(np.random.default_rng([11, number])) for number in range(64))


SOURCES: dict[Callable[[], tuple[bytes, ...]], float] = {of_forms: 5, of_operators: 4, of_groups: 3, exported: 1}
"""The models to start from, by how often one of them is drawn."""


def draw(draw: Random) -> bytes:
    """A model with up to three changes, perhaps with nodes in functions and data in another file; a few are changed in
    any byte, or cut short.
    """
    (source,) = draw.choices([*SOURCES], [*SOURCES.values()])
    content = draw.choice(source())
    if draw.random() < 0.25:
        content = changed(content, draw.choice([*changes(content)])[1])
    message = onnx.load_from_string(content)
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
        is_entry = message.metadata_props and draw.random() < 0.7
        (_metadata if is_entry else draw.choice(_CHANGES))(draw, message)
    for change, share in ((put_in_functions, 0.15), (put_outside, 0.05)):
        if draw.random() < share:
            change(draw, message)
    mutant = bytearray(message.SerializeToString())
    kind = draw.random()
    if kind < 0.05 and mutant:
        mutant[draw.randrange(len(mutant))] = draw.randrange(256)
    elif kind < 0.07 and mutant:
        del mutant[draw.randrange(len(mutant)) :]
    return bytes(mutant)


def _integer(draw: Random, old: int) -> int:
    near = old + draw.choice((-2, -1, 1, 2))
    return max(-(2**63), min(2**63 - 1, draw.choice((near, draw.choice(_INTEGERS)))))


def _attribute(draw: Random, message: Any) -> None:
    """A number of an attribute, or one attribute less or of another name."""
    node = draw.choice(message.graph.node)
    if not node.attribute:
        return
    each = draw.choice(node.attribute)
    if each.ints:
        each.ints[draw.randrange(len(each.ints))] = _integer(draw, 1)
        if draw.random() < 0.2:
            each.ints.append(1)
    elif each.HasField("f"):
        each.f = draw.choice(_FLOATS)
    elif each.HasField("s"):
        each.s = draw.choice((b"", b"VALID", b"SAME_UPPER", b"reflect", b"\xff"))
    elif each.HasField("i"):
        each.i = _integer(draw, each.i)
    if draw.random() < 0.1:
        each.name = draw.choice(("axis", "pads", "strides", "block_size", "to", "other"))


def _constant(draw: Random, message: Any) -> None:
    """The shape, the type or the elements of an initializer."""
    if not message.graph.initializer:
        return
    each, kind = draw.choice(message.graph.initializer), draw.random()
    if kind < 0.3 and each.dims:
        each.dims[draw.randrange(len(each.dims))] = _integer(draw, each.dims[0])
    elif kind < 0.5:
        each.data_type = draw.randrange(30)
    elif each.raw_data:
        data = bytearray(each.raw_data)
        at = draw.randrange(len(data))
        data[at : at + draw.choice((1, 4, 8))] = draw.randbytes(draw.choice((1, 4, 8)))
        each.raw_data = bytes(data)


def _operands(draw: Random, message: Any) -> None:
    """An operand less, one more, or another one."""
    node = draw.choice(message.graph.node)
    names = [*node.input, *node.output, "", "lost"]
    if node.input and draw.random() < 0.7:
        node.input[draw.randrange(len(node.input))] = draw.choice(names)
    elif node.input and draw.random() < 0.5:
        del node.input[-1]
    else:
        node.input.append(draw.choice(names))


def _operator(draw: Random, message: Any) -> None:
    """Another operator on the same operands."""
    other = onnx.load_from_string(draw.choice(of_forms())).graph.node[0]
    node = draw.choice(message.graph.node)
    node.op_type, node.domain = other.op_type, other.domain


def _port(draw: Random, message: Any) -> None:
    """The type or the shape of an input."""
    if not message.graph.input:
        return
    told = draw.choice(message.graph.input).type.tensor_type
    if draw.random() < 0.4:
        told.elem_type = draw.randrange(30)
    elif told.shape.dim:
        at = draw.choice(told.shape.dim)
        if draw.random() < 0.3:
            at.dim_param = "n"
        else:
            at.dim_value = _integer(draw, at.dim_value)


def _version(draw: Random, message: Any) -> None:
    """The version of the operators."""
    draw.choice(message.opset_import).version = draw.choice((0, 7, 9, 10, 11, 12, 13, 18, 21, 28, 99))


_PIECES = (
    "", " ", "0", "-1", "1000000000", "?", "f32", "i64", "index", "tensor<", "%0", "%arg0", "d0", "mod 0", "dense<",
    "{", "}", ")", "qrt.pad", "scf.if", "func.call @f", "arith.constant", "tensor.empty", "linalg.yield", "reduction",
)  # fmt: skip


def _metadata(draw: Random, message: Any) -> None:
    """A piece of an entry, of its program where it has one."""
    entry = draw.choice(message.metadata_props)
    try:
        members = json.loads(entry.value)
    except ValueError:  # it was changed before, or is a type
        members = {}
    members = members if isinstance(members, dict) and isinstance(members.get("program"), str) else {}
    text = members.get("program", entry.value)
    at = draw.randrange(len(text) + 1)
    text = text[:at] + draw.choice(_PIECES) + text[at + draw.choice((0, 1, 3, 9, 40)) :]
    entry.value = json.dumps({**members, "program": text}) if "program" in members else text


_CHANGES: tuple[Callable[[Random, Any], None], ...] = (
    _attribute, _attribute, _constant, _constant, _operands, _operator, _port, _version,
)  # fmt: skip
