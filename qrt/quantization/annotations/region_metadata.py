"""What is said of a region, kept by the op that gives its result: the key of the value, the kernel, where the types of
the ports came from, and the cause of a rescale."""

from collections.abc import Sequence
from typing import Final

from qrt.ir import Attribute, Operation, StringAttr, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.quant.region import RegionOp
from qrt.types import UniformType

KEY: Final = "quant.key"
KERNEL: Final = "quant.kernel"
ORIGINS: Final = "quant.origins"
CAUSE: Final = "quant.cause"
TARGET: Final = "quant.target"
"""An attribute of the module: the device."""
PASSES: Final = "quant.passes"
"""An attribute of the module: the optional passes that have changed its floats, in order."""

Tags = dict[str, Attribute]


def key_of(key: str, number: int, count: int) -> str:
    """The key of one of the results of an operation, of which the first has ``key``.

    >>> key_of("main/add.0", 0, 1), key_of("main/split.0#0", 1, 2), key_of("seen", 1, 2)
    ('main/add.0', 'main/split.0#1', 'seen#1')
    """
    return key if number == 0 or count == 1 else f"{key.removesuffix('#0')}#{number}"


def keep_tags(region: RegionOp, values: Sequence[Value]) -> None:
    """Puts what is said of a region on the operations that give the values that stand in its place, where each is one
    operation. What an operation says already stays: it is of a value that several regions give."""
    said = region.attributes
    key = said.get(KEY)
    tags = {name: said[name] for name in (CAUSE,) if name in said}
    for number, value in enumerate(values):
        if isinstance(key, StringAttr):
            tags = {KEY: StringAttr(key_of(key.value, number, len(values)))}
            if number == 0:
                tags |= {KERNEL: StringAttr(region.kernel)}
                tags |= {name: said[name] for name in (ORIGINS, CAUSE) if name in said}
        put_tags(_giver(value), tags)


def put_tags(operation: Operation | None, tags: Tags) -> None:
    """Adds tags to an operation that has none."""
    if operation is not None and KEY not in operation.attributes and CAUSE not in operation.attributes:
        operation.attributes |= tags


def tags_of(operation: Operation) -> Tags:
    """The tags of an operation."""
    return {name: operation.attributes[name] for name in (KEY, KERNEL, ORIGINS, CAUSE) if name in operation.attributes}


def _giver(value: Value) -> Operation | None:
    """The operation that gives a value, quantized if it comes so."""
    source = value.operation
    if source is not None and source.name == "quant.dcast":
        stored = source.operands[0]
        return stored.operation if isinstance(element_of(stored.type), UniformType) else source
    return source
