"""Verification of discardable attributes, such as `bufferization.writable`, that a dialect allows only on some ops."""

from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.attributes import Attribute, IntegerAttr, OpaqueAttr, StringAttr
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import MEM_ALLOC, MEM_FREE

_CHECKED = ("bufferization.", "linalg.")
_MEMOIZED_MAPS = "linalg.memoized_indexing_maps"
_MANUAL = "bufferization.manual_deallocation"


def check_attributes(operation: Operation) -> None:
    """Raise VerifyError for a `bufferization.` or `linalg.` attribute that its dialect forbids on the operation."""
    for name in operation.attributes:
        if name.startswith(_CHECKED):
            _check(operation, name)


def _check(operation: Operation, name: str) -> None:
    if name == _MANUAL:
        known = operation.definition
        effects = () if known is None else known.traits if known.effects is None else known.effects(operation)
        if known is not None and MEM_ALLOC not in effects and MEM_FREE not in effects:
            raise operation.op_error(
                f"attribute '{name}' can be used only on ops that have an allocation and/or free side effect"
            )
    elif name.startswith("bufferization."):
        raise operation.error(f"attribute '\"{name}\"' not supported as an op attribute by the bufferization dialect")
    elif name != _MEMOIZED_MAPS:
        raise operation.error(f"attribute '\"{name}\"' not supported by the linalg dialect")


def check_argument(function: Operation, name: str, value: Attribute) -> None:
    """Raise VerifyError for a `bufferization.` attribute that the dialect forbids on a function argument."""
    if not name.startswith("bufferization."):
        return
    if name == "bufferization.writable":
        if not isinstance(value, IntegerAttr) or not value.is_bool:
            raise function.error(f"'{name}' is expected to be a boolean attribute")
        if not function.regions[0].blocks:
            raise function.error(f"'{name}' is invalid on external functions")
    elif name == "bufferization.access":
        if not isinstance(value, StringAttr):
            raise function.error(f"'{name}' is expected to be a string attribute")
        if value.value not in ("none", "read", "write", "read-write"):
            raise function.error(f"invalid value for '{name}'")
    elif name == "bufferization.buffer_layout":
        is_strided = isinstance(value, OpaqueAttr) and value.text.startswith("strided<")
        if not is_strided and not isinstance(value, AffineMapAttr):
            raise function.error(f"'{name}' is expected to be a memref layout attribute")
    else:  # upstream names this attribute, whichever it is
        raise function.error(
            "attribute 'bufferization.buffer_layout' not supported as a region arg attribute by the bufferization "
            "dialect"
        )
