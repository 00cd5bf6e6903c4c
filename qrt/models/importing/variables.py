"""Variables of a module that is imported: globals of `ml_program`, which hold storage, integers or floats."""

from qrt.ir import Attribute, Builder, Module, Operation, StringAttr, SymbolRefAttr, TypeAttr, Value
from qrt.ir.core.attributes import UNIT
from qrt.ir.core.operations import NOWHERE
from qrt.ir.text.dense import DenseElementsAttr
from qrt.models.importing.graph import Graph, Operator, bits
from qrt.ops.core import Array
from qrt.types import TensorType


def declare(module: Module, symbol: str, held: TensorType) -> Operation:
    """A new global, before all other operations of the module."""
    attributes: dict[str, Attribute] = {
        "sym_name": StringAttr(symbol),
        "sym_visibility": StringAttr("private"),
        "is_mutable": UNIT,
        "type": TypeAttr(held),
    }
    return Builder(module.body.first or module, NOWHERE).emit("ml_program.global", attributes=attributes)


def initialise(made: Operation, array: Array, held: TensorType) -> None:
    """Says what a global begins with."""
    made.attributes["value"] = DenseElementsAttr(bits(array), held)


def load(graph: Graph, op: Operator | None, symbol: str, held: TensorType) -> Value:
    """The value of a global."""
    return graph.append(op, "ml_program.global_load", (), [held], _named(symbol)).result


def store(graph: Graph, op: Operator | None, symbol: str, value: Value) -> None:
    """Gives a global a value."""
    graph.append(op, "ml_program.global_store", [value], (), _named(symbol))


def _named(symbol: str) -> dict[str, Attribute]:
    return {"global": SymbolRefAttr((symbol,))}
