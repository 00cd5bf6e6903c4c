"""Operators that ONNX defines by simpler operators. They are imported as these simpler operators.

Older versions of some operators, from opsets before the definition, are imported in this way, too. The package `onnx`
has the definitions.
"""

from typing import Any

from qrt.errors import shown
from qrt.extras import extra
from qrt.models.onnx.composed import composed
from qrt.models.onnx.graph import Constant
from qrt.models.onnx.model import Operator, Tensor
from qrt.models.onnx.node import Node, attribute_text
from qrt.models.onnx.read import read_definition
from qrt.models.onnx.subgraphs import Subgraph
from qrt.models.onnx.types import NUMBERS, dtype_of

_SHAPES = ("AffineGrid", "CenterCropPad")
"""The operators whose second input is the shape of the result."""
_ITEMS = {"INT": int, "FLOAT": int | float, "STRING": str, "TENSOR": Tensor}
"""The Python type of an attribute's value, by the name of its kind. The kind of a list ends in S."""
_TEXTS = {
    "activation": ("none", "silu", "swish"),
    "reduction": ("mean", "none", "sum"),
    "update_rule": ("delta", "gated", "gated_delta", "linear"),
}
"""The valid texts of attributes. The package has definitions for others too, which compute something else."""
_BY_NAME = {name: number for number, name in NUMBERS.items()}
_DEFINED_SINCE = {
    "LogSoftmax": 13,
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"), 18),
}
"""The first opset in which ONNX defines an operator."""


def defined(node: Node) -> None:
    """Import an operator as the simpler operators by which ONNX defines it. All of them must be supported."""
    op, place = node.op, node.graph.place(node.op)
    defs: Any = extra("onnx.defs", "onnx")
    try:
        schema = defs.get_schema(op.type, op.opset, op.domain)
    except Exception:  # SchemaError, which is not public
        node.refuse(f"in opset {op.opset}")
    _check_attributes(node, schema)
    if node.opset < _DEFINED_SINCE.get(op.type, 0):
        _import_newer_form(node)
        return
    if op.type == "Attention" and not op.attributes.get("scale", 1.0) >= 0:
        scale = op.attributes["scale"]
        node.fail(f"attribute 'scale' must be at least 0, because its root scales queries and keys, got {scale}")
    if any(0 in node.shape(i) for i in range(len(op.inputs)) if node.has(i)):
        node.refuse("of tensors without elements")
    function = _function(node, schema)
    attributes = {name: _default_value(attribute.default_value) for name, attribute in schema.attributes.items()}
    given = {name: value for name, value in {**attributes, **op.attributes}.items() if value is not None}
    definition = read_definition(place, function, op, given, max_bytes=node.graph.importer.max_bytes)
    graph = Subgraph(node, "definition", definition)
    if op.type in _SHAPES:
        graph.learn(node.input(1), Constant(node.known(1, "a shape"), node.plain(1)))
    graph.inline()
    graph.set_results()


def _import_newer_form(node: Node) -> None:
    """Import an operator of an old opset as the operator of the first opset that defines it by simpler operators."""
    op = node.op
    if len(op.inputs) != 1 or not op.inputs[0]:
        node.fail(f"its inputs are {shown(list(op.inputs))}, expected 1")
    graph = composed(node)
    opset = _DEFINED_SINCE[op.type]
    if op.type == "LogSoftmax":  # over all axes from ``axis`` on
        flat = graph.add("Flatten", op.inputs[0], axis=node.axis(node.attribute("axis", 1), len(node.shape())))
        result = graph.add("LogSoftmax", flat, axis=1, opset=opset)
        graph.replace(node, graph.add("Reshape", result, graph.add("Shape", op.inputs[0])))
        return
    axes = (graph.integers(*node.ints("axes")),) if node.ints("axes") else ()
    keepdims = node.attribute("keepdims", 1)
    graph.replace(node, graph.add(op.type, op.inputs[0], *axes, keepdims=keepdims, opset=opset))


def _function(node: Node, schema: Any) -> bytes:
    """Return the serialized definition of the node's operator, which may depend on its attributes and types."""
    versions, function_of = schema.function_opset_versions, schema.get_function_with_opset_version
    of_types = schema.context_dependent_function_opset_versions
    onnx: Any = extra("onnx", "onnx")
    if of_types:
        version, described = _version(of_types, node.opset), _as_node(onnx, node.op, schema)
        types = [_as_type(onnx, node, i) for i in range(len(node.op.inputs))]
        try:
            content = schema.get_context_dependent_function_with_opset_version(version, described, types)
        except Exception as error:  # the package's C++ code raises no public classes
            text = next(iter(str(error).splitlines()), type(error).__name__)
            node.fail(f"the package onnx does not define this form: {shown(text)}")
        if not content:
            node.refuse("of this form, which the package onnx does not define")
    elif versions:
        content = function_of(_version(versions, node.opset))
    else:
        node.refuse(f"in opset {node.opset}, which does not define it by other operators")
    return bytes(content)


def _version(versions: list[int], opset: int) -> int:
    """Return the largest of ``versions`` that is at most ``opset``, or the smallest version if all are larger."""
    return max((version for version in versions if version <= opset), default=min(versions))


def _check_attributes(node: Node, schema: Any) -> None:
    """Raise ModelError if an attribute is missing, has the wrong type, or does not exist in the operator's schema."""
    for name, value in node.op.attributes.items():
        expected = schema.attributes.get(name)
        if expected is None:
            node.fail(f"this operator has no attribute {shown(name)}")
        kind = expected.type.name
        item = _ITEMS.get(kind.removesuffix("S"))
        is_list = kind.endswith("S")
        values = value if is_list and isinstance(value, tuple) else (value,)
        if item is None or is_list != isinstance(value, tuple) or not all(isinstance(one, item) for one in values):
            node.fail(f"attribute '{name}' must be of type {kind}, got {attribute_text(value)}")
        if name in _TEXTS and value not in _TEXTS[name]:
            node.fail(f"attribute '{name}' must be {' or '.join(map(shown, _TEXTS[name]))}, got {shown(value)}")
    for name, expected in schema.attributes.items():
        if expected.required and name not in node.op.attributes:
            node.fail(f"attribute '{name}' is required, but missing")


def _as_node(onnx: Any, op: Operator, schema: Any) -> bytes:
    message = onnx.helper.make_node(op.type, op.inputs, op.outputs, domain=op.domain)
    message.attribute.extend(
        onnx.helper.make_attribute(name, _as_package_value(onnx, value, kind), attr_type=int(kind.value))
        for name, value in op.attributes.items()
        for kind in [schema.attributes[name].type]
    )
    return bytes(message.SerializeToString())


def _as_package_value(onnx: Any, value: Any, kind: Any) -> Any:
    """Convert an attribute's value to the type that the package `onnx` takes for an attribute of this kind."""
    if isinstance(value, int) and kind.name == "FLOAT":
        return float(value)
    if not isinstance(value, Tensor):
        return value
    return onnx.helper.make_tensor(value.name, _BY_NAME[value.dtype], value.shape, value.data.ravel().tolist())


def _as_type(onnx: Any, node: Node, i: int) -> bytes:
    tensor_type = onnx.TypeProto()
    if node.has(i):
        tensor_type = onnx.helper.make_tensor_type_proto(_BY_NAME[dtype_of(node.plain(i))], node.shape(i))
    return bytes(tensor_type.SerializeToString())


def _default_value(default: Any) -> Any:
    """Return the value of an attribute's default, or None if the attribute has no default."""
    onnx: Any = extra("onnx", "onnx")
    value = onnx.helper.get_attribute_value(default) if default.type else None
    if isinstance(value, bytes):
        return value.decode()
    return tuple(value) if isinstance(value, list) else value
