"""Names of values by which a value of a float program is matched with the same value of the quantized program."""

from dataclasses import dataclass, field

from qrt.errors import ModelError
from qrt.ir import Module, Operation, StringAttr, Value
from qrt.ir.dialects.quant.region import outside_bodies
from qrt.quantization.annotations.attach_stats_ref import CONTROL
from qrt.quantization.annotations.region_metadata import KERNEL, KEY, key_of
from qrt.quantization.calibration.observe import flattened


@dataclass(eq=False)
class Values:
    """A function with inlined calls, and names for its values.

    Attributes
    ----------
    module : Module
        A copy of the program that contains the function.
    function : Operation
        The function.
    names : dict of Value to str
        The names of arguments, of results of operations with a key, and of the values that loops and branches carry
        and yield. In each program a name belongs to one value.
    keyed : dict of str to list of Operation
        The operations with each key: several if a function is called several times.
    """

    module: Module
    function: Operation
    names: dict[Value, str] = field(default_factory=dict)
    keyed: dict[str, list[Operation]] = field(default_factory=dict)

    @classmethod
    def of(cls, module: Module, name: str) -> "Values":
        """Inline the calls of the function ``name`` in a copy of its module, and return its values with names."""
        copy = flattened(module, name)
        values = cls(copy, copy.function(name))
        values._name_all()
        return values

    @property
    def by_name(self) -> dict[str, Value]:
        """The values that have a name, by name."""
        return {name: value for value, name in self.names.items()}

    def results(self, key: str, number: int = 0) -> list[str]:
        """Return the names of the results of an operation, given its key.

        ``number`` selects an operation, in program order, if several have the same key.
        """
        return [self.names[value] for value in self.keyed[key][number].results]

    def _name_all(self) -> None:
        blocks = self.function.regions[0].blocks
        for number, block in enumerate(blocks):
            for value in block.arguments:
                self.names[value] = f"argument {value.index}" if not number else f"block{number}.arg{value.index}"
        for operation in outside_bodies(self.function):
            key = operation.attributes.get(KEY)
            if isinstance(key, StringAttr):
                same = self.keyed.setdefault(key.value, [])
                name = self._name_control if operation.name.startswith(CONTROL) else self._name
                name(operation, key.value, len(same))
                same.append(operation)

    def _name(self, operation: Operation, key: str, number: int) -> None:
        """Name the results of the operation with this key, for example ``main/split.0#1 (0)``.

        ``number`` is the position of the operation among those with the same key. Export replaces a region with several
        results by one operation for each result. Their keys, ``main/split.0#0`` and ``main/split.0#1``, lead to the
        names of the region's results.
        """
        for value in operation.results:
            self.names[value] = f"{key_of(key, value.index, len(operation.results))} ({number})"

    def _name_control(self, operation: Operation, key: str, number: int) -> None:
        for value in operation.results:
            self.names[value] = f"{key} ({number})#{value.index}"
        for place, region in enumerate(operation.regions):
            for at, block in enumerate(region.blocks):
                for value in block.arguments:
                    self.names[value] = f"{key} ({number})/region{place}.block{at}.arg{value.index}"


def require_keys(values: Values, what: str) -> None:
    """Raise ModelError if no operation has the attribute ``quant.kernel``, which `qrt quantize` writes.

    ``what`` names the program in the message.
    """
    if not any(KERNEL in op.attributes for ops in values.keyed.values() for op in ops):
        message = f"no operation has quant.key: {what} was not written by `qrt quantize`"
        raise ModelError(f"{values.function.location.filename}: {message}")
