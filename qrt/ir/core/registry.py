"""The known ops, by name. A dialect is a package of `qrt.dialects` whose module `ops` has a list `OPS`, loaded when a
text or a pass first names something of it; or one from outside, which was registered or has an entry point. Where many
programs need few ops of a dialect, its package has a table `FILES` of other modules with such lists, and the names of
their ops: one is loaded when an op of it is first named.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from qrt.errors import QuantError, require, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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
    "ml_program",
    "quant",
    "qrt",
    "scf",
    "shape",
    "tensor",
    "ub",
    "vector",
)

_UPSTREAM = (
    "acc amdgpu amx arm_neon arm_sme arm_sve async dlti emitc gpu index irdl llvm mpi nvgpu nvvm omp pdl "
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
_registered: dict[str, Any] = {}


def register_dialect(name: str, room: Any) -> None:
    """Registers a dialect that is no part of qrt. Programs that use its ops can then be read, verified and printed, and
    run if the room says how.

    An installed package can do the same without a call, by an entry point of the group ``qrt.dialects``: its name is
    that of the dialect, and its value is the room.

    Parameters
    ----------
    name : str
        The part of its ops' names before the dot.
    room : module or object
        Its ``OPS`` is a list of definitions. ``HANDLERS``, ``STRUCTURED`` and ``BRANCHES``, each optional, are tables
        that say how its ops run, by name, as in the files of ``qrt.execute.interpret``.

    Raises
    ------
    QuantError
        If there is another dialect of this name, or the room has no ops of it.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from qrt.ir import Definition
    >>> register_dialect("arith", SimpleNamespace(OPS=[Definition("arith.mine")]))
    Traceback (most recent call last):
    qrt.errors.QuantError: there is a dialect 'arith' already
    """
    require(name, str, "register_dialect: name", "text")
    _checked(name, room)
    if name in DIALECTS or name in UNSUPPORTED_DIALECTS or _registered.setdefault(name, room) is not room:
        raise QuantError(f"there is a dialect {shown(name)} already")


@cache
def _entry_points() -> "dict[str, EntryPoint]":
    """The dialects of installed packages."""
    from importlib.metadata import entry_points  # here: it takes longer to import than the rest of this package

    return {entry.name: entry for entry in entry_points(group="qrt.dialects") if entry.name not in DIALECTS}


def _checked(name: str, room: Any) -> Any:
    ops = getattr(room, "OPS", None)
    if not isinstance(ops, list | tuple) or not ops:
        raise QuantError(f"the room of dialect {shown(name)} needs a list OPS of definitions, got {shown(ops)}")
    for definition in ops:
        if getattr(definition, "dialect", None) != name:
            raise QuantError(f"the room of dialect {shown(name)} has an op of another: {shown(definition)}")
    return room


def outside(dialect: str) -> Any:
    """The room of a dialect from outside; None if there is none."""
    if dialect not in _registered and dialect in _entry_points():
        entry = _entry_points()[dialect]
        try:
            _registered[dialect] = _checked(dialect, entry.load())
        except Exception as error:  # a package of somebody else's may raise anything
            raise QuantError(f"the dialect {shown(dialect)} of {entry.value} does not load: {error}") from error
    return _registered.get(dialect)


def dialects() -> tuple[str, ...]:
    """The names of all dialects, those from outside last."""
    return tuple(dict.fromkeys((*DIALECTS, *_registered, *_entry_points())))


def load(dialect: str) -> None:
    """Make the ops and attributes of a dialect known, if there is one of this name."""
    if dialect not in DIALECTS:
        _load(dialect)
    else:
        for file in dict.fromkeys(("ops", *_files(dialect).values())):
            _load(dialect, file)


def _load(dialect: str, file: str = "") -> None:
    """Makes the ops of a file of a dialect known, or those of a dialect from outside."""
    place = f"qrt.dialects.{dialect}.{file}" if file else dialect
    if place in _loaded:
        return
    room = import_module(place) if file else outside(dialect)
    if room is not None:
        DEFINITIONS.update((definition.name, definition) for definition in room.OPS)
        _loaded.add(place)  # last: another thread that finds it here finds the ops too


@cache
def _files(dialect: str) -> dict[str, str]:
    """The files that `FILES` has of ops, by the names of these."""
    table: dict[str, str] = getattr(import_module(f"qrt.dialects.{dialect}"), "FILES", {})
    return {name: file for file, names in table.items() for name in names.split()}


def find(name: str) -> "Definition | None":
    """The op of a name."""
    found = DEFINITIONS.get(name)
    if found is None:
        dialect, _, own = name.partition(".")
        _load(dialect, _files(dialect).get(own, "ops") if dialect in DIALECTS else "")
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
    for dialect in dialects():
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
