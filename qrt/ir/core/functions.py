"""Functions: the operations that a program consists of, which modules find by name."""

from typing import Literal, cast

from qrt.ir.core.attributes import ArrayAttr, Attribute, DictAttr, StringAttr, TypeAttr
from qrt.ir.core.operations import Operation
from qrt.types import FunctionType

PORT_NAME = "qrt.name"
"""The attribute that names an argument or a result to the command line and to programs."""

_ATTRIBUTES_OF = {"inputs": "arg_attrs", "results": "res_attrs"}


class FuncOp(Operation):
    """A `func.func`: an operation with a name, a type, and attributes of its arguments and results."""

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
        """Return the attributes of an argument or a result."""
        dictionaries = self.attributes.get(_ATTRIBUTES_OF[kind])
        if not isinstance(dictionaries, ArrayAttr) or index >= len(dictionaries.elements):
            return {}
        entry = dictionaries.elements[index]
        return dict(entry.items) if isinstance(entry, DictAttr) else {}

    def port_name(self, kind: Literal["inputs", "results"], index: int) -> str | None:
        """Return the name that `{qrt.name = "..."}` gives, or None."""
        value = self.port_attributes(kind, index).get(PORT_NAME)
        return value.value if isinstance(value, StringAttr) else None

    def dimension_names(self, index: int) -> tuple[str, ...]:
        """Return the names that `{qrt.dimensions = ["batch", ""]}` gives to the dimensions of an argument.

        An empty text means that a dimension has no name.
        """
        names = self.port_attributes("inputs", index).get("qrt.dimensions")
        elements = names.elements if isinstance(names, ArrayAttr) else ()
        return tuple(name.value if isinstance(name, StringAttr) else "" for name in elements)
