"""The known ops, by name. A dialect is a package of `qrt.dialects` whose module `ops` has a list `OPS`. It is loaded
when a text or a pass first names something of it.
"""

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

_UPSTREAM = (
    "acc amdgpu amx arm_neon arm_sme arm_sve async dlti emitc gpu index irdl llvm ml_program mpi nvgpu nvvm omp pdl "
    "pdl_interp ptr rocdl shard smt sparse_tensor spirv tosa transform wasmssa x86vector xegpu xevm"
)
UNSUPPORTED_DIALECTS = frozenset(_UPSTREAM.split())
"""The other dialects that MLIR 22 registers."""
UNSUPPORTED_OPS = {
    "affine": "delinearize_index dma_start dma_wait linearize_index prefetch vector_load vector_store",
    "bufferization": "dealloc",
    "builtin": "unrealized_conversion_cast",
    "complex": "abs angle atan2 bitcast conj constant cos eq exp expm1 log log1p neg neq pow powi rsqrt sign sin sqrt "
    "tan tanh",
    "func": "call_indirect constant",
    "linalg": "fill_rng_2d pack softmax unpack winograd_filter_transform winograd_input_transform "
    "winograd_output_transform",
    "memref": "atomic_rmw atomic_yield distinct_objects dma_start dma_wait extract_aligned_pointer_as_index "
    "generic_atomic_rmw prefetch realloc",
    "shape": "any assuming assuming_all assuming_yield const_size const_witness cstr_broadcastable cstr_eq "
    "cstr_require debug_print from_extent_tensor from_extents func function_library index_to_size max meet min reduce "
    "return size_to_index value_as_shape value_of with_shape yield",
    "tensor": "gather scatter",
    "vector": "bitcast compressstore deinterleave expandload gather mask maskedload maskedstore outerproduct "
    "scalable.extract scalable.insert scan scatter type_cast vscale yield",
}
"""The ops of qrt's dialects that MLIR 22 registers and qrt does not support: by dialect, without the dialect's name."""
_OPEN = ("qrt", "shape")
"""Dialects that allow ops they do not know: upstream has no `qrt`, and its `shape` is open."""
UPSTREAM_ONLY = frozenset(
    f"{dialect}.{name}"
    for dialect, names in UNSUPPORTED_OPS.items()
    for name in names.split()
    if dialect not in (*_OPEN, "complex")
)
"""The ops that are kept as unregistered ops, although qrt has their dialects."""

DEFINITIONS: "dict[str, Definition]" = {}
"""The ops of the dialects that are loaded."""
_loaded: set[str] = set()


def load(dialect: str) -> None:
    """Make the ops and attributes of a dialect known, if qrt has it."""
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
    """Whether an op without a definition is refused even where unregistered ops are allowed: qrt has its dialect, and
    upstream's dialect does not have the op either.
    """
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


def reason(name: str) -> str | None:
    """The reason why an op is unknown to qrt, if MLIR knows it; else None.

    >>> reason("vector.mask"), reason("vector.nonsense")
    ("'vector.mask' is known to MLIR, not supported here", None)
    """
    dialect, _, rest = name.partition(".")
    if dialect in UNSUPPORTED_DIALECTS:
        return f"'{name}' is of the dialect '{dialect}', which is known to MLIR, not supported here"
    if rest in UNSUPPORTED_OPS.get(dialect, "").split():
        return f"'{name}' is known to MLIR, not supported here"
    return None
