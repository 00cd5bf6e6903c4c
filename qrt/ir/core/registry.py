"""Registry of dialects and of op definitions by name.

A dialect is a module with a list `OPS` of definitions. It is imported when a text or a pass first names one of its ops
or attributes. Other packages add dialects by `register_dialect` or by an entry point of the group `qrt.dialects`.
"""

from typing import TYPE_CHECKING, Any

from qrt.errors import QuantError, require, shown
from qrt.registry import Registry

if TYPE_CHECKING:
    from qrt.ir.core.define import Definition


def _checked(name: str, room: Any) -> Any:
    ops = getattr(room, "OPS", None)
    if not isinstance(ops, list | tuple) or not ops:
        raise QuantError(
            f"dialect {shown(name)}: its module must have a non-empty list OPS of Definitions, got OPS = {shown(ops)}"
        )
    for definition in ops:
        if getattr(definition, "dialect", None) != name:
            raise QuantError(
                f"dialect {shown(name)}: OPS of its module must have only Definitions of ops named '{name}.…', "
                f"got {shown(getattr(definition, 'name', definition))}"
            )
    return room


DIALECTS: Registry[Any] = Registry(
    "dialect",
    {
        "affine": "qrt.ir.dialects.affine.ops",
        "arith": "qrt.ir.dialects.arith.ops",
        "bufferization": "qrt.ir.dialects.bufferization.ops",
        "builtin": "qrt.ir.dialects.builtin.ops",
        "cf": "qrt.ir.dialects.cf.ops",
        "complex": "qrt.ir.dialects.complex.ops",
        "func": "qrt.ir.dialects.func.ops",
        "linalg": "qrt.ir.dialects.linalg.ops",
        "math": "qrt.ir.dialects.math.ops",
        "memref": "qrt.ir.dialects.memref.ops",
        "ml_program": "qrt.ir.dialects.ml_program.ops",
        "quant": "qrt.ir.dialects.quant.ops",
        "qrt": "qrt.ir.dialects.qrt.ops",
        "scf": "qrt.ir.dialects.scf.ops",
        "shape": "qrt.ir.dialects.shape.ops",
        "tensor": "qrt.ir.dialects.tensor.ops",
        "ub": "qrt.ir.dialects.ub.ops",
        "vector": "qrt.ir.dialects.vector.ops",
    },
    group="qrt.dialects",
    check=_checked,
)
"""By name of a dialect: its module, or the object given to `register_dialect`."""

_UPSTREAM = (
    "acc amdgpu amx arm_neon arm_sme arm_sve async dlti emitc gpu index irdl llvm mpi nvgpu nvvm omp pdl "
    "pdl_interp ptr rocdl shard smt sparse_tensor spirv tosa transform wasmssa x86vector xegpu xevm"
)
UNSUPPORTED_DIALECTS = frozenset(_UPSTREAM.split())
"""Dialects that MLIR 22 registers and qrt does not support."""
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
    "ml_program": "func global_load_graph global_store_graph output return subgraph token",
    "shape": "any assuming assuming_all assuming_yield const_size const_witness cstr_broadcastable cstr_eq "
    "cstr_require debug_print from_extent_tensor from_extents func function_library index_to_size max meet min reduce "
    "return size_to_index value_as_shape value_of with_shape yield",
    "tensor": "gather scatter",
    "vector": "bitcast compressstore deinterleave expandload gather mask maskedload maskedstore outerproduct "
    "scalable.extract scalable.insert scan scatter type_cast vscale yield",
}
"""The ops of qrt's dialects that MLIR 22 registers and qrt does not support: by dialect, without the dialect's name."""
_OPEN = ("qrt", "shape")
"""Dialects in which unregistered ops are allowed: upstream MLIR has no `qrt`, and its `shape` allows them."""
UPSTREAM_ONLY = frozenset(
    f"{dialect}.{name}"
    for dialect, names in UNSUPPORTED_OPS.items()
    for name in names.split()
    if dialect not in (*_OPEN, "complex")
)
"""Ops of upstream MLIR that are parsed as unregistered ops, although qrt has their dialects."""

TEXT_FORMS: Registry[Any] = Registry(
    "text form",
    {
        "printed operation": "qrt.ir.text.printer:print_operation",
        "assembly": "qrt.ir.text.assembly:Assembly",
    },
)
"""Functions of `qrt.ir.text` that `qrt.ir.core` calls but cannot import, because the text modules import the core."""
CHECKS: Registry[Any] = Registry("check", {"channels": "qrt.ir.dialects.quant.channels:check_channels"})
"""Checks of whole programs that depend on the ops of several dialects."""

DEFINITIONS: "dict[str, Definition]" = {}
"""Definitions of all ops of the dialects loaded so far, by name."""
_loaded: set[str] = set()


def register_dialect(name: str, room: Any) -> None:
    """Register a dialect that is not part of qrt.

    Programs with ops of the dialect can then be parsed, verified and printed, and be run if ``room`` implements the
    ops.

    Instead of this call, an installed package can declare an entry point of the group ``qrt.dialects``, with the name
    of the dialect, that refers to ``room``.

    Parameters
    ----------
    name : str
        The name of the dialect: the part of its ops' names before the dot.
    room : module or object
        The module of the dialect, or an object with the same attributes: ``OPS`` is a list of definitions;
        ``HANDLERS``, ``STRUCTURED`` and ``BRANCHES`` are optional dicts from names of ops to their implementations, as
        in the modules of ``qrt.runtime.interpreter``.

    Raises
    ------
    QuantError
        If a dialect of this name is already registered, or ``OPS`` is empty or has an op of another dialect.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from qrt.ir import Definition
    >>> register_dialect("arith", SimpleNamespace(OPS=[Definition("arith.mine")]))
    Traceback (most recent call last):
    qrt.errors.QuantError: a dialect named 'arith' is registered already
    """
    require(name, str, "register_dialect: 'name'", "a string")
    if name in UNSUPPORTED_DIALECTS:
        raise QuantError(f"register_dialect: 'name' must not be the name of a dialect of MLIR, got {shown(name)}")
    DIALECTS.add(name, room)


def load(dialect: str) -> None:
    """Load the ops and attributes of a dialect; do nothing if there is no such dialect."""
    if dialect not in _loaded and dialect in DIALECTS:
        DEFINITIONS.update((definition.name, definition) for definition in DIALECTS[dialect].OPS)
        _loaded.add(dialect)  # last: another thread that finds it here finds the ops too


def find(name: str) -> "Definition | None":
    """Return the definition of an op, such as "arith.addi"; None if the op is not registered."""
    dialect, dot, _ = name.partition(".")
    if dot and name not in DEFINITIONS:  # installed packages need not be asked for `return`
        load(dialect)
    return DEFINITIONS.get(name)


def is_refused(name: str) -> bool:
    """Return True if the parser must reject an unregistered op even if unregistered ops are allowed.

    It rejects an op of a dialect that qrt has, if upstream MLIR's dialect does not have the op either. In the dialects
    `qrt` and `shape` it rejects none.
    """
    dialect = name.partition(".")[0]
    return dialect in DIALECTS.own and dialect not in _OPEN and name not in UPSTREAM_ONLY


def definition(name: str) -> "Definition":
    """Return the definition of an op that is known to be registered."""
    known = find(name)
    assert known is not None
    return known


def every_definition() -> "dict[str, Definition]":
    """Load all dialects, and return the definitions of their ops by name."""
    for dialect in DIALECTS:
        load(dialect)
    return DEFINITIONS


def reason(name: str) -> str | None:
    """Return the reason why qrt does not support an op of upstream MLIR; None for any other name.

    >>> reason("vector.mask"), reason("vector.nonsense")
    ("'vector.mask' is an op of MLIR that qrt does not support", None)
    """
    dialect, _, rest = name.partition(".")
    if dialect in UNSUPPORTED_DIALECTS:
        return f"'{name}' is of the MLIR dialect '{dialect}', which qrt does not support"
    if rest in UNSUPPORTED_OPS.get(dialect, "").split():
        return f"'{name}' is an op of MLIR that qrt does not support"
    return None
