"""The `func.func` operation, with the names of its arguments, results and dimensions."""

from typing import Literal, cast

from qrt.ir.core.attributes import ArrayAttr, Attribute, DictAttr, StringAttr, TypeAttr
from qrt.ir.core.operations import Operation
from qrt.types import FunctionType

PORT_NAME = "qrt.name"
"""The attribute that names an argument or a result to the command line and to programs."""

_ATTRIBUTES_OF = {"inputs": "arg_attrs", "results": "res_attrs"}


class FuncOp(Operation):
    """A `func.func` operation: symbol name, function type, and attributes of arguments and results."""

    __slots__ = ()

    @property
    def sym_name(self) -> str:
        return cast("StringAttr", self.attributes["sym_name"]).value  # the verifier holds it

    @property
    def type(self) -> FunctionType:
        return cast("FunctionType", cast("TypeAttr", self.attributes["function_type"]).type)  # the verifier holds it

    @property
    def is_declaration(self) -> bool:
        return not self.regions[0].blocks

    def port_attributes(self, kind: Literal["inputs", "results"], index: int) -> dict[str, Attribute]:
        """Return the attributes of argument number `index` (kind "inputs") or result number `index` ("results")."""
        dictionaries = self.attributes.get(_ATTRIBUTES_OF[kind])
        if not isinstance(dictionaries, ArrayAttr) or index >= len(dictionaries.elements):
            return {}
        entry = dictionaries.elements[index]
        return dict(entry.items) if isinstance(entry, DictAttr) else {}

    def port_name(self, kind: Literal["inputs", "results"], index: int) -> str | None:
        """Return the `qrt.name` of an argument (kind "inputs") or of a result (kind "results"); None if it has none."""
        value = self.port_attributes(kind, index).get(PORT_NAME)
        return value.value if isinstance(value, StringAttr) else None

    def dimension_names(self, index: int) -> tuple[str, ...]:
        """Return the names in the attribute `{qrt.dimensions = ["batch", ""]}` of argument number `index`.

        An unnamed dimension has an empty name. Without the attribute the tuple is empty.
        """
        names = self.port_attributes("inputs", index).get("qrt.dimensions")
        elements = names.elements if isinstance(names, ArrayAttr) else ()
        return tuple(name.value if isinstance(name, StringAttr) else "" for name in elements)
