"""Attributes that describe a region after export: record key, kernel, origins of types, and the cause of a rescale.

Export puts them on the operation that defines the region's result.
"""

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
"""A module attribute that names the target."""
PASSES: Final = "quant.passes"
"""A module attribute that lists the optional passes that changed the module's floats, in order."""

Tags = dict[str, Attribute]


def key_of(key: str, number: int, count: int) -> str:
    """Return the key of result ``number`` of ``count`` results; ``key`` is the key of the first result.

    >>> key_of("main/add.0", 0, 1), key_of("main/split.0#0", 1, 2), key_of("seen", 1, 2)
    ('main/add.0', 'main/split.0#1', 'seen#1')
    """
    return key if number == 0 or count == 1 else f"{key.removesuffix('#0')}#{number}"


def keep_tags(region: RegionOp, values: Sequence[Value]) -> None:
    """Copy a region's attributes to the exported operations that define ``values``, which replace the region's results.

    An operation that computes the results of several regions has the attributes of the first region.
    """
    attributes = region.attributes
    key = attributes.get(KEY)
    tags = {name: attributes[name] for name in (CAUSE,) if name in attributes}
    for number, value in enumerate(values):
        if isinstance(key, StringAttr):
            tags = {KEY: StringAttr(key_of(key.value, number, len(values)))}
            if number == 0:
                tags |= {KERNEL: StringAttr(region.kernel)}
                tags |= {name: attributes[name] for name in (ORIGINS, CAUSE) if name in attributes}
        put_tags(_producer(value), tags)


def put_tags(operation: Operation | None, tags: Tags) -> None:
    """Add attributes to an operation. Do nothing for None, or if it already has a key or the cause of a rescale."""
    if operation is not None and KEY not in operation.attributes and CAUSE not in operation.attributes:
        operation.attributes |= tags


def tags_of(operation: Operation) -> Tags:
    """Return the attributes of an operation, such as ``quant.key``, that a rewrite must put on the replacement."""
    return {name: operation.attributes[name] for name in (KEY, KERNEL, ORIGINS, CAUSE) if name in operation.attributes}


def _producer(value: Value) -> Operation | None:
    """Return the operation that computes a value, or the operand of the `quant.dcast` that computes it."""
    source = value.operation
    if source is not None and source.name == "quant.dcast":
        stored = source.operands[0]
        return stored.operation if isinstance(element_of(stored.type), UniformType) else source
    return source
