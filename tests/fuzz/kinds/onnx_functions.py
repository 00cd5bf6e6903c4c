"""ONNX files whose nodes stand in functions, and these in others: what they compute stays the same."""

from random import Random
from typing import Any

from onnx import AttributeProto, NodeProto, helper

DOMAIN = "drawn"
_NAMES = ("a", "b", "t", "i0", "i1", "o0", "o0/t")
"""Names in functions, of which some are names of the graphs that call them."""


def put_in_functions(draw: Random, message: Any) -> None:
    """Puts a node in a function, once to four times; a function as well, whose call is the last node of another."""
    for number in range(draw.choice((1, 1, 2, 3, 4))):
        nodes = [
            node for node in message.graph.node if not any(part.type == AttributeProto.GRAPH for part in node.attribute)
        ]
        if not nodes:
            return
        node = draw.choice(nodes)
        _put_in_function(draw, message, node, f"f{number}")


def _put_in_function(draw: Random, message: Any, node: Any, name: str) -> None:
    """Makes a node the call of a function that holds it, perhaps behind others whose values nothing reads."""
    inner = NodeProto()
    inner.CopyFrom(node)
    taken: dict[str, str] = {}

    def rename(old: str) -> str:
        if old and old not in taken:
            free = [other for other in _NAMES if other not in taken.values()]
            taken[old] = draw.choice(free) if free and draw.random() < 0.7 else f"v{len(taken)}"
        return taken.get(old, "")

    inner.input[:] = [rename(old) for old in node.input]
    inner.output[:] = [rename(old) for old in node.output]
    inputs = [new for old, new in taken.items() if old in node.input]
    outputs = [new for old, new in taken.items() if old in node.output and old not in node.input]
    attributes, given = [], []
    for part in inner.attribute:
        if draw.random() < 0.5 and not part.ref_attr_name:
            kept = AttributeProto()
            kept.CopyFrom(part)
            kept.name = draw.choice((part.name, f"of_{part.name}"))
            attributes.append(kept.name)
            given.append(kept)
            part.CopyFrom(AttributeProto(name=part.name, type=part.type, ref_attr_name=kept.name))
    nodes = [inner]
    if inputs and draw.random() < 0.3:
        nodes.insert(0, helper.make_node("Identity", inputs[:1], [rename("#more")]))
    if draw.random() < 0.2:
        nodes.append(helper.make_node("Constant", [], [rename("#last")], value_int=1))
    opsets = [*message.opset_import]
    if all(each.domain != DOMAIN for each in opsets):
        message.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    message.functions.append(
        helper.make_function(DOMAIN, name, inputs, outputs, nodes, message.opset_import, attributes)
    )
    old_of = {new: old for old, new in taken.items()}
    node.input[:] = [old_of[new] for new in inputs]
    node.output[:] = [old_of[new] for new in outputs]
    node.op_type, node.domain = name, DOMAIN
    del node.attribute[:]
    node.attribute.extend(given)
