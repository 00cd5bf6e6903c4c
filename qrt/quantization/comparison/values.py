"""Values that a float program and its quantized one have in common, by names that both give them."""

from dataclasses import dataclass, field

from qrt.errors import ModelError
from qrt.ir import Module, Operation, StringAttr, Value
from qrt.ir.dialects.quant.region import outside_bodies
from qrt.quantization.annotations.attach_stats_ref import CONTROL
from qrt.quantization.annotations.region_metadata import KERNEL, KEY, key_of
from qrt.quantization.calibration.observe import flattened


@dataclass(eq=False)
class Values:
    """A function whose calls are inlined, and the names of its values.

    Attributes
    ----------
    module : Module
        A copy of the program, which holds the function.
    function : Operation
        The function.
    names : dict of Value to str
        Arguments, what operations with a key give, and what loops and branches carry and give. In each of these
        programs a name is of one value.
    keyed : dict of str to list of Operation
        The operations that have each key: several where a function is called several times.
    """

    module: Module
    function: Operation
    names: dict[Value, str] = field(default_factory=dict)
    keyed: dict[str, list[Operation]] = field(default_factory=dict)

    @classmethod
    def of(cls, module: Module, name: str) -> "Values":
        """The values of a function of a program."""
        copy = flattened(module, name)
        values = cls(copy, copy.function(name))
        values._name_all()
        return values

    @property
    def by_name(self) -> dict[str, Value]:
        """The values by their names."""
        return {name: value for value, name in self.names.items()}

    def results(self, key: str, number: int = 0) -> list[str]:
        """The names of the results of one of the operations that have a key."""
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
        """A result of a region that has several is an operation of its own in an export: it has the result's key."""
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
    """Refuses a program in which no operation has a key."""
    if not any(KERNEL in op.attributes for ops in values.keyed.values() for op in ops):
        message = f"no operation has quant.key: {what} was not written by `qrt quantize`"
        raise ModelError(f"{values.function.location.filename}: {message}")
