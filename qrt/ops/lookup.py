"""lookup: any function of one variable, as a table.

``table`` has an entry for each value of x's storage type (2 to the power of its width, at most 256), in ascending
order: ``y = table[q - least]`` with the least value of the storage type, regardless of its bounds. The result has the
table's type. ``x`` and the table are per layer.

lookup_interpolated reads a table of 513 entries for i16. The upper 9 bits of a value choose an entry. The lower 7 bits
are the fraction of the way to the next entry, which is interpolated linearly and rounded half up.
"""

from collections.abc import Callable, Sequence
from functools import cache
from math import prod

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_lookup, bind_lookup_interpolated
from qrt.errors import QuantTypeError
from qrt.ops.accumulate import check_expressed
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    checked_result,
    container,
    declared_element,
    fail,
    quantized,
    static_shape,
    storage_dtype,
    uniform,
)
from qrt.ops.declare import Declaration, Operand, Result, Traits
from qrt.ops.traits import values_of_storage
from qrt.types import TensorType, UniformType


def table_of(
    function: Callable[[float], float], x: UniformType, out: UniformType, rounding: numerics.Rounding = "half_even"
) -> Array:
    """Return the lookup table of ``function`` from values of type ``x`` to storage of type ``out``, both per layer.

    For each entry, ``function`` gets the dequantized value as a float64, and its result is quantized by the default
    cast rule with this ``rounding``. Entries outside the storage bounds, which no value reaches, repeat the nearest
    entry inside. Raises ``QuantTypeError`` for a type of more than 8 bits or one that is not per layer.

    >>> table_of(lambda x: x * x, UniformType("i2", "f32", 0.5), UniformType("u8", "f32", 0.25)).tolist()
    [4, 1, 0, 1]
    """
    _check_table_types(x, out, (x, out))
    values = numerics.dequantize(values_of_storage(x), x.scale, x.zero_point, x.expressed_type.name)
    results = np.array([function(float(v)) for v in values], np.float64)
    bounds = out.storage_min, out.storage_max, out.expressed_type.name
    stored = numerics.quantize(results, out.scale, out.zero_point, *bounds, rounding=rounding)
    return stored.astype(storage_dtype(out))


@cache
def is_fast(isa: str) -> bool:
    """Return True if a table lookup on an instruction set is faster than any other computation of 8-bit elements.

    That is the case if the instruction set has a vector kernel for lookups.
    """
    return kernels.coverage()[isa]["lookup_row"] != "ref"


def bind_bytes(
    storage: str, out: str, size: int, table: Array, tail_table: Array | None = None, block: int = 1
) -> KernelCall:
    """Bind a lookup in a table with an entry for each of the 256 bytes, regardless of the type's width and bounds.

    Entry ``i`` of ``table`` is the result for the i-th value of ``storage`` (``i8`` or ``u8``), in ascending order. If
    there is a ``tail_table``, it is used for the elements after the last whole ``block`` of elements.
    """
    return bind_lookup(
        isa=kernels.active(), storage=storage, width=8, out=out, size=size,
        table=table, tail_table=tail_table, block=block,
    )  # fmt: skip


def _check_table_types(x: UniformType, out: UniformType, types: Sequence[TensorType | UniformType]) -> None:
    if not x.is_per_layer or x.storage_width > 8:
        fail("lookup", f"'q' must have a per-layer type with storage of at most 8 bits, got {x}", types)
    if not out.is_per_layer:
        fail("lookup", f"'table' must have a per-layer type, got {out}", types)


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, table = quantized(types[0], "lookup", "q"), quantized(types[1], "lookup", "table")
    _check_table_types(x, table, types)
    check_expressed("lookup", x, table)
    entries = 1 << x.storage_width
    if types[1].rank != 1 or types[1].shape not in ((entries,), (None,)):
        wanted = f"a vector of {entries} entries, one for each value of {x.storage}"
        fail("lookup", f"'table' must be {wanted}, got {types[1]}", types)
    element = declared_element("lookup", result) or table
    if element != table:
        raise QuantTypeError(f"lookup: the result must have the type of 'table', {table}, got {element}")
    return TensorType(None, table) if types[0].shape is None else checked_result("lookup", types[0].shape, table)


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    q, table = arrays
    least, _ = uniform(types[0]).default_bounds
    return table.astype(np.int64)[q.astype(np.int64) - least]


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    x = uniform(types[0])
    return bind_lookup(
        isa=kernels.active(),
        storage=container(x),
        width=x.storage_width,
        out=container(uniform(types[1])),
        size=prod(static_shape(types[0], "lookup")),
        table=constants.get(1),
    )


def _infer_interpolated(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    name = "lookup_interpolated"
    x, table = quantized(types[0], name, "q"), quantized(types[1], name, "table")
    check_expressed(name, x, table)
    for what, t in (("q", x), ("table", table)):
        whole = container(t) == "i16" and (t.storage_min, t.storage_max) == t.default_bounds and t.storage_width == 16
        if not whole or not t.is_per_layer:
            fail(name, f"{what!r} must have a per-layer type with storage i16, got {t}", types)
    if types[1].rank != 1 or types[1].shape not in ((_INTERPOLATED,), (None,)):
        fail(name, f"'table' must be a vector of {_INTERPOLATED} entries, got {types[1]}", types)
    element = declared_element(name, result) or table
    if element != table:
        raise QuantTypeError(f"{name}: the result must have the type of 'table', {table}, got {element}")
    return TensorType(None, table) if types[0].shape is None else checked_result(name, types[0].shape, table)


def _reference_interpolated(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    q, table = arrays
    return numerics.lookup_interpolated(q, table)


def _bind_interpolated(
    types: Types, result: TensorType, attributes: Attributes, constants: Constants
) -> KernelCall | None:
    return bind_lookup_interpolated(
        isa=kernels.active(),
        fraction=numerics.INTERPOLATED_BITS,
        size=prod(static_shape(types[0], "lookup_interpolated")),
        table=constants.get(1),
    )


_INTERPOLATED = (1 << (16 - numerics.INTERPOLATED_BITS)) + 1
FAMILIES = (
    OpFamily(
        Declaration(
            "lookup",
            operands=(Operand("q", "at most 8 bits"), Operand("table", "2^width entries, least value first")),
            result=Result("of the table's type"),
        ),
        packs=(1,),
        infer=_infer,
        reference=_reference,
        bind=_bind,
        traits=Traits(is_elementwise=True, tables=(1,), constraint="free", operand_bits=8),
    ),
    OpFamily(
        Declaration(
            "lookup_interpolated",
            operands=(Operand("q", "i16"), Operand("table", f"{_INTERPOLATED} entries")),
            result=Result("of the table's type"),
            public=False,
        ),
        packs=(1,),
        infer=_infer_interpolated,
        reference=_reference_interpolated,
        bind=_bind_interpolated,
        traits=Traits(is_elementwise=True, tables=(1,)),
    ),
)
