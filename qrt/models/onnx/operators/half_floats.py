"""Operators on 16-bit floats, computed in float32 between casts.

ONNX Runtime computes operators in this way if it has no kernel for 16-bit floats.
"""

from qrt.ir import Value
from qrt.models.importing.unquantized import apply
from qrt.models.onnx.composed import composed
from qrt.models.onnx.model import ABSENT
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32
from qrt.models.onnx.subgraphs import Subgraph
from qrt.models.onnx.types import HALF_FLOATS
from qrt.types import FloatType, Type

F16 = FloatType("f16")

_FLOAT = 1
"""ONNX's number of float32."""
_MIXED = ("OneHot", "Pow", "Resize", "Upsample")
"""Operators that may have inputs of several types of floats."""
_WIDE_OUTPUTS = {"LayerNormalization": (1, 2)}
"""Outputs that are of float32 whatever the type of the inputs is."""


def in_float32(node: Node) -> None:
    """Import an operator of 16-bit floats: compute it in float32, and round its float results to the inputs' type.

    If an input of float16 is itself the rounded result of such an operator, the float32 result is read instead. The
    runtime does the same.
    """
    graph, op = composed(node), node.op
    kinds = [node.plain(i) if node.has(i) else None for i in range(len(op.inputs))]
    floats = sorted({str(kind) for kind in kinds if isinstance(kind, FloatType)})
    if not op.domain and op.type not in _MIXED and len(floats) > 1:
        node.fail(f"its float inputs must have the same type, got {' and '.join(floats)}")
    names = []
    for name, kind in zip(op.inputs, kinds, strict=True):
        wide = node.graph.wide.get(name, "")
        names.append((wide or graph.add("Cast", name, to=_FLOAT)) if kind in HALF_FLOATS else name)
    narrow = next(kind for kind in kinds if kind in HALF_FLOATS)
    assert narrow is not None
    attributes = {name: value for name, value in op.attributes.items() if name not in ("outputs", "domain", "opset")}
    results = graph.add(op.type, *names, domain=op.domain, outputs=len(op.outputs), opset=op.opset, **attributes)
    results = [results] if isinstance(results, str) else results
    wanted = [i for i, name in enumerate(op.outputs) if name != ABSENT]
    nested = Subgraph(node, "definition", graph.graph((), tuple(results[i] for i in wanted)))
    nested.inline()
    for i in wanted:
        _set_result(node, i, nested, results[i], narrow)


def _set_result(node: Node, i: int, nested: Subgraph, name: str, narrow: Type) -> None:
    """Set output ``i`` to the tensor ``name`` of the nested graph. A float32 tensor is rounded to ``narrow``."""
    constant, element = nested.known(name), nested.type(name).element
    result = nested.value(name) if constant is None else constant.array
    if element is F32 and i not in _WIDE_OUTPUTS.get(node.op.type, ()):
        output = node.op.outputs[i]
        if narrow is F16 and isinstance(result, Value):
            node.graph.values[name] = result
            node.graph.wide[output] = name
        result, element = apply(node, "arith.truncf", [result], [F32], narrow), narrow
    if isinstance(result, Value):
        node.set(i, result)
    else:
        node.set_constant(i, result, element)
    if name in nested.sizes:
        node.graph.sizes[node.op.outputs[i]] = nested.sizes[name]
