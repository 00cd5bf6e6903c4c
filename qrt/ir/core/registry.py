"""The ops that are known, by name. A dialect is a room of `qrt.dialects` whose `ops` has a list `OPS`, loaded when a
text or a pass first names something of it."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qrt.ir.core.define import Definition

DIALECTS = (
    "affine",
    "arith",
    "bufferization",
    "builtin",
    "cf",
    "complex",
    "func",
    "linalg",
    "math",
    "memref",
    "quant",
    "qrt",
    "scf",
    "shape",
    "tensor",
    "ub",
    "vector",
)

_NOT_HERE = {
    "affine": "delinearize_index dma_start dma_wait linearize_index parallel prefetch vector_load vector_store",
    "bufferization": "dealloc",
    "builtin": "unrealized_conversion_cast",
    "func": "call_indirect constant",
    "linalg": "fill_rng_2d pack softmax unpack winograd_filter_transform winograd_input_transform "
    "winograd_output_transform",
    "memref": "atomic_rmw atomic_yield distinct_objects dma_start dma_wait extract_aligned_pointer_as_index "
    "generic_atomic_rmw prefetch realloc",
    "tensor": "gather scatter",
    "vector": "bitcast compressstore deinterleave expandload gather mask maskedload maskedstore outerproduct "
    "scalable.extract scalable.insert scan scatter type_cast vscale yield",
}
UPSTREAM_ONLY = frozenset(f"{dialect}.{name}" for dialect, names in _NOT_HERE.items() for name in names.split())
"""The ops of our dialects that upstream has and we do not: as unregistered ops they are carried."""
_OPEN = ("qrt", "shape")
"""Dialects that allow ops they do not know: upstream has no `qrt`, and its `shape` is open."""

DEFINITIONS: "dict[str, Definition]" = {}
"""The ops of the dialects that are loaded."""
_loaded: set[str] = set()


def load(dialect: str) -> None:
    """Make the ops and attributes of a dialect known, if it is one of ours."""
    if dialect in DIALECTS and dialect not in _loaded:
        module = import_module(f"qrt.dialects.{dialect}.ops")
        DEFINITIONS.update((definition.name, definition) for definition in module.OPS)
        _loaded.add(dialect)  # last: another thread that finds it here finds the ops too


def find(name: str) -> "Definition | None":
    """The op of a name."""
    found = DEFINITIONS.get(name)
    if found is None:
        load(name.partition(".")[0])
        found = DEFINITIONS.get(name)
    return found


def is_refused(name: str) -> bool:
    """Whether an op without a definition is refused even where unregistered ops are allowed: its dialect is one of
    ours, and upstream's does not have it either."""
    dialect = name.partition(".")[0]
    return dialect in DIALECTS and dialect not in _OPEN and name not in UPSTREAM_ONLY


def definition(name: str) -> "Definition":
    """The op of a name that is known to be one."""
    found = find(name)
    assert found is not None
    return found


def every_definition() -> "dict[str, Definition]":
    """All ops of all dialects."""
    for dialect in DIALECTS:
        load(dialect)
    return DEFINITIONS
