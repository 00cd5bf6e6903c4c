"""The variables of a program during export. Each becomes an input and an output of the model."""

from collections.abc import Sequence

from qrt.ir import Block, DenseElementsAttr, Module, Operation, Value
from qrt.models.importing.node import UnsupportedForm
from qrt.models.onnx.exporting.exported_value import ExportedValue, as_unsigned, is_unsigned
from qrt.models.onnx.exporting.graph import ExportGraph
from qrt.ops.core import Array
from qrt.types import TensorType

LOAD, STORE = "ml_program.global_load", "ml_program.global_store"


class Variables:
    """The current value of each variable, by name, while a function is exported operation by operation."""

    def __init__(self, program: Module, block: Block) -> None:
        globals_by_name = {
            op.attributes["sym_name"].python: op for op in program.operation.walk() if op.name == "ml_program.global"
        }
        uses = [op for op in block if op.name in (LOAD, STORE)]
        stored = dict.fromkeys(_symbol(op) for op in uses if op.name == STORE)
        self.stored: Sequence[str] = tuple(stored)
        self.values = {name: _initial(globals_by_name[name], uses) for name in dict.fromkeys(map(_symbol, uses))}
        self.inputs: dict[str, str] = {}

    def begin(self, graph: ExportGraph) -> list[tuple[str, ExportedValue]]:
        """Create an input of the model for each variable that the function stores to.

        Return the inputs' names and values. The initializer of an input is the variable's initial value.
        """
        inputs = []
        for symbol in self.stored:
            exported = self.values[symbol]
            assert exported.array is not None  # a global without a value is refused
            name = self.inputs[symbol] = graph.initializer(exported.array, symbol, exported.data_type)
            exported.array = None
            exported.names[exported.canonical] = name
            inputs.append((name, exported))
        return inputs

    def load(self, graph: ExportGraph, op: Operation) -> None:
        """Set the result of a load operation to the variable's current value."""
        graph.values[op.results[0]] = self.values[_symbol(op)]

    def store(self, graph: ExportGraph, op: Operation) -> None:
        """Set a variable's current value to the operand of a store operation."""
        self.values[_symbol(op)] = graph.exported(op.operands[0])


def _symbol(op: Operation) -> str:
    return str(op.attributes["global"].python)


def _initial(declaration: Operation, uses: Sequence[Operation]) -> ExportedValue:
    """Return the initial value of a variable, as unsigned integers if a loaded or stored value is unsigned."""
    kind, value = declaration.attributes["type"].python, declaration.attributes.get("value")
    name = str(declaration.attributes["sym_name"].python)
    if not isinstance(kind, TensorType) or not isinstance(value, DenseElementsAttr):
        raise UnsupportedForm(f"variable {name!r} without an initial value")
    values: list[Value] = [op.results[0] if op.name == LOAD else op.operands[0] for op in uses if _symbol(op) == name]
    array: Array = value.array
    exported = ExportedValue(kind, array, any(map(is_unsigned, values)))
    if exported.is_unsigned:
        exported.array = as_unsigned(array, kind.element)
    return exported
