"""The variables of a program, which a model takes as inputs and gives as outputs."""

from collections.abc import Sequence

from qrt.ir import Block, DenseElementsAttr, Module, Operation, Value
from qrt.models.importing.node import UnsupportedForm
from qrt.models.onnx.exporting.exported_value import ExportedValue, as_unsigned, is_unsigned
from qrt.models.onnx.exporting.graph import ExportGraph
from qrt.ops.core import Array
from qrt.types import TensorType

LOAD, STORE = "ml_program.global_load", "ml_program.global_store"


class Variables:
    """What each global of a program holds while the operations of a function are written, by its name."""

    def __init__(self, program: Module, block: Block) -> None:
        made = {
            op.attributes["sym_name"].python: op for op in program.operation.walk() if op.name == "ml_program.global"
        }
        uses = [op for op in block if op.name in (LOAD, STORE)]
        stored = dict.fromkeys(_symbol(op) for op in uses if op.name == STORE)
        self.stored: Sequence[str] = tuple(stored)
        self.held = {name: _initial(made[name], uses) for name in dict.fromkeys(map(_symbol, uses))}
        self.inputs: dict[str, str] = {}

    def begin(self, graph: ExportGraph) -> list[tuple[str, ExportedValue]]:
        """The inputs, with their names: the variables that the function changes. They have initializers."""
        found = []
        for symbol in self.stored:
            held = self.held[symbol]
            assert held.array is not None  # a global without a value is refused
            name = self.inputs[symbol] = graph.initializer(held.array, symbol, held.data_type)
            held.array = None
            held.names[held.canonical] = name
            found.append((name, held))
        return found

    def load(self, graph: ExportGraph, op: Operation) -> None:
        """The value of a variable."""
        graph.values[op.results[0]] = self.held[_symbol(op)]

    def store(self, graph: ExportGraph, op: Operation) -> None:
        """Gives a variable a value."""
        self.held[_symbol(op)] = graph.held(op.operands[0])


def _symbol(op: Operation) -> str:
    return str(op.attributes["global"].python)


def _initial(made: Operation, uses: Sequence[Operation]) -> ExportedValue:
    """What a variable begins with. Signless integers are unsigned where any of its values is."""
    kind, value = made.attributes["type"].python, made.attributes.get("value")
    name = str(made.attributes["sym_name"].python)
    if not isinstance(kind, TensorType) or not isinstance(value, DenseElementsAttr):
        raise UnsupportedForm(f"variable {name!r}, which has no initial value")
    values: list[Value] = [op.results[0] if op.name == LOAD else op.operands[0] for op in uses if _symbol(op) == name]
    array: Array = value.array
    held = ExportedValue(kind, array, any(map(is_unsigned, values)))
    if held.is_unsigned:
        held.array = as_unsigned(array, kind.element)
    return held
