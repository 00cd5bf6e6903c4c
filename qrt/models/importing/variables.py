"""Variables of an imported model as `ml_program.global` operations, whose elements are integers or floats."""

from qrt.ir import Attribute, Builder, Module, Operation, StringAttr, SymbolRefAttr, TypeAttr, Value
from qrt.ir.core.attributes import UNIT
from qrt.ir.core.operations import NOWHERE
from qrt.ir.text.dense import DenseElementsAttr
from qrt.models.importing.graph import Graph, Operator, bits
from qrt.ops.core import Array
from qrt.types import TensorType


def declare(module: Module, symbol: str, type: TensorType) -> Operation:
    """Add a global named ``symbol`` before all other operations of the module and return it."""
    attributes: dict[str, Attribute] = {
        "sym_name": StringAttr(symbol),
        "sym_visibility": StringAttr("private"),
        "is_mutable": UNIT,
        "type": TypeAttr(type),
    }
    return Builder(module.body.first or module, NOWHERE).emit("ml_program.global", attributes=attributes)


def initialise(variable: Operation, array: Array, type: TensorType) -> None:
    """Set the initial value of a global."""
    variable.attributes["value"] = DenseElementsAttr(bits(array), type)


def load(graph: Graph, op: Operator | None, symbol: str, type: TensorType) -> Value:
    """Append a load of the global named ``symbol`` and return the loaded value."""
    return graph.append(op, "ml_program.global_load", (), [type], _named(symbol)).result


def store(graph: Graph, op: Operator | None, symbol: str, value: Value) -> None:
    """Append a store of a value to the global named ``symbol``."""
    graph.append(op, "ml_program.global_store", [value], (), _named(symbol))


def _named(symbol: str) -> dict[str, Attribute]:
    return {"global": SymbolRefAttr((symbol,))}
