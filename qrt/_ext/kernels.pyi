"""Calls into the C kernels: bind once, run many times with the GIL released.

The storage of a value is named by its array's dtype: "i8", "u8", "i16", "u16", "i32" or "u32". The names of expressed
types are "f16", "bf16", "f32" and "f64". Every bind_* function copies the arrays that it is given (any dtype that
converts exactly), and raises KernelError, with the name of its C entry, for arguments with which a kernel would read or
write out of bounds. The operands of a KernelCall are C-contiguous, aligned arrays of `operand_dtypes`. Only the number
of elements must be that of `operand_shapes`; the shape may differ. Inputs come first, then the output (the comment of a
bind_* function tells if there are several). Constants given to bind_* are not operands.

The index of an element's parameters (scale, zero point, multiplier) in their arrays is the sum over the dimensions of
`shape` of index[d] // block[d] * step[d]. Per layer, `step` is () or all 0; per axis it is 1 on the axis; for
sub-channel types it has the row-major strides over the blocks. Parameter arrays are one-dimensional and have at least
as many values as the largest index needs.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from mmap import mmap
from typing import Any, Never, Protocol, Self, final, type_check_only

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

@type_check_only
class Requant(Protocol):
    """Parameters of a requantization: numerics.RequantParameters, or any object with these attributes.

    Only zero_point and the arrays in numerics.ARITHMETICS[rule] are read; each must have an entry for every parameter
    index. offset_f32 and divisor_f32 are needed only if the rule reads them.
    """

    @property
    def rule(self) -> str: ...  # a name of numerics.ARITHMETICS
    @property
    def storage(self) -> str: ...  # container of the result
    @property
    def storage_min(self) -> int: ...
    @property
    def storage_max(self) -> int: ...
    @property
    def multiplier(self) -> Any: ...  # int32
    @property
    def shift(self) -> Any: ...  # int32
    @property
    def scale_f32(self) -> Any: ...  # float32
    @property
    def scale_f64(self) -> Any: ...  # float64
    @property
    def zero_point(self) -> Any: ...  # int64

__pyx_capi__: dict[str, object]  # the C functions that qrt/tensor/calls.pyx imports

@final
class KernelCall:
    """A bound kernel, to be called as call(*inputs, *outputs). It is immutable and safe to call from many threads.

    Raises KernelError for a wrong number of operands, a wrong dtype, size or layout, and a read-only output. An output
    must not overlap another operand, except that it may be exactly the memory of one of the operands `in_place`.
    """

    def __new__(cls, unmakable: Never) -> Self: ...  # `bind_*` makes it
    @property
    def name(self) -> str: ...
    @property
    def isa(self) -> str: ...
    @property
    def outputs(self) -> int: ...  # the number of operands that it writes, the last ones
    @property
    def in_place(self) -> tuple[int, ...]: ...  # the operands whose memory the output may have
    @property
    def microkernel(self) -> str | None: ...  # of an 8-bit gemm or conv2d
    @property
    def packed(self) -> npt.NDArray[np.uint8] | None: ...  # a copy of the packed constant, as `stored` takes it
    @property
    def operand_shapes(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def operand_dtypes(self) -> tuple[np.dtype[Any], ...]: ...
    def __call__(self, *operands: npt.NDArray[Any]) -> None: ...

@final
class Frame:
    """The memory of one run of an executable: pointers to the operands of all steps, and an arena.

    `Executable.bind` returns a frame on the caller's arrays, whose current values each `run` reads. `run` raises
    KernelError if the frame is running in another thread.
    """

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]: ...
    def run(self, states: tuple[npt.NDArray[Any], ...] = ()) -> None: ...

@final
class Executable:
    """Kernel calls with the memory of their operands, run in order by one call into C.

    operands[i] has (number of the base, offset in bytes) of each operand of calls[i]. A base is a constant array, None
    for the arena, or the number of an external array. `externals` has the dtype and shape of each external array: first
    the inputs, then the outputs, which run() allocates, then the states (arrays of globals), which are read and
    written. The constructor checks that no operand leaves its base and that no step overwrites an operand that it
    reads. An executable may run in several threads at once, if each has its own states. After an error the contents of
    the outputs are unspecified.
    """

    def __new__(
        cls,
        calls: Sequence[KernelCall],
        operands: Sequence[Sequence[tuple[int, int]]],
        bases: Sequence[npt.NDArray[Any] | int | None],
        externals: Sequence[tuple[npt.DTypeLike, Sequence[int]]],
        inputs: int,
        outputs: int,
        arena_bytes: int,
        most_rounds: int,  # of one loop, where nobody limits the steps
        first_step: int = 0,  # the number of the first call, from which targets of control are counted
    ) -> Self: ...
    @property
    def most_rounds(self) -> int: ...
    @property
    def arena_bytes(self) -> int: ...
    @property
    def inputs(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def externals(self) -> int: ...
    @property
    def calls(self) -> tuple[KernelCall, ...]: ...
    def run(
        self,
        inputs: tuple[npt.NDArray[Any], ...],
        states: tuple[npt.NDArray[Any], ...] = (),
        max_steps: int | None = None,
    ) -> list[npt.NDArray[Any]]: ...
    # Runs on one array for each external, of any shape with as many elements. They may share memory where no single
    # step reads one and writes another. `seconds` (float64, one for each call) is added to. Returns the steps that are
    # left of `max_steps`, if it is given; then `most_rounds` is not a limit, nor if it is None.
    def run_over(
        self,
        arrays: Sequence[npt.NDArray[Any]],
        most_rounds: int | None = None,
        max_steps: int | None = None,
        seconds: npt.NDArray[np.float64] | None = None,
    ) -> int | None: ...
    def bind(self, arrays: tuple[npt.NDArray[Any], ...]) -> Frame: ...

def isas() -> tuple[str, ...]: ...  # available on this CPU, "ref" first, the best last
def microkernels(isa: str) -> tuple[str, ...]: ...  # of its 8-bit GEMM, in the order in which they are asked
def rows() -> tuple[str, ...]: ...  # of the kernel table
def built_isas() -> tuple[tuple[str, str, tuple[str, ...]], ...]: ...  # name, parent, own rows; this CPU may lack some
def differing_rows(isa: str, other: str) -> tuple[str, ...]: ...  # of the kernel tables of two ISAs of this CPU
def get_num_threads() -> int: ...
def set_num_threads(threads: int) -> None: ...

# A step of control, which runs in an Executable alone; `target` is the number of a step, which that counts from 0.
# "round" begins a round of a loop, and "jump" and "unless" may lead back to it, and forward to any step. "unless" goes
# on at its target unless its operand, one bool, is true. `cost` is taken from the steps that a run may take, but not by
# an "unless" that leaves.
def bind_control(*, kind: str, target: int = 0, cost: int = 0) -> KernelCall: ...

# x, out. `rounding` "half_even" "half_away" "toward_zero"; `zero_point` "before" "after"; `scale` "divide"
# "reciprocal". `scales` are doubles that already are values of the expressed type.
def bind_qcast(
    *,
    isa: str,
    expressed: str,
    storage: str,
    shape: Sequence[int],
    block: Sequence[int] | None = None,  # None: all 1
    step: Sequence[int] | None = None,  # None: all 0
    scales: npt.ArrayLike,
    zero_points: npt.ArrayLike,
    storage_min: int,
    storage_max: int,
    rounding: str,
    zero_point: str,
    scale: str,
) -> KernelCall: ...

# q, out
def bind_dcast(
    *,
    isa: str,
    expressed: str,
    storage: str,
    shape: Sequence[int],
    block: Sequence[int] | None = None,
    step: Sequence[int] | None = None,
    scales: npt.ArrayLike,
    zero_points: npt.ArrayLike,
) -> KernelCall: ...

# q, out. acc = q - zero_points; zero_points and requant's arrays share the parameter index and have equal lengths.
def bind_requantize(
    *,
    isa: str,
    storage: str,
    shape: Sequence[int],
    block: Sequence[int] | None = None,
    step: Sequence[int] | None = None,
    zero_points: npt.ArrayLike,
    requant: Requant,
) -> KernelCall: ...

# a, [b], [bias], out, where b is an operand unless b_constant is given, bias an operand when it is given as "i32",
# "i64" or "f32". out[batch] = requant(bias + (a[a_index[batch]] - za) @ (b[b_index[batch]] - zb)), of shapes
# (matrices, m, k), (matrices, k, n) or, transposed, (matrices, n, k), and (batch, m, n).
#   a_index, b_index: which matrix each batch uses (None: its own number, or 0 when there is one matrix)
#   a_zero_point_steps: (matrix, row); b_zero_point_steps: (matrix, block of K, column)
#   requant_steps: (batch, row, column) of requant's parameter index
#   bias: (n,), or (batch, n) with bias_batch_step = n; at scale sa * sw, zero point 0
# Sub-channel b: k_block values of K share a parameter; block arrays are (ceil(k / k_block), n), flat or not.
#   float32: block_scale (float32), and bias "f32" or a float32 array at scale sa. fixed: block_multiplier (int64),
#   bias_multiplier (int64, (n,)); requant.shift is the shared N and requant.multiplier is not read. No other rule.
def bind_gemm(
    *,
    isa: str,
    a: str,
    b: str,
    m: int,
    n: int,
    k: int,
    a_zero_points: npt.ArrayLike,
    b_zero_points: npt.ArrayLike,
    requant: Requant,
    requant_steps: tuple[int, int, int] = (0, 0, 0),
    a_zero_point_steps: tuple[int, int] = (0, 0),
    b_zero_point_steps: tuple[int, int, int] = (0, 0, 0),
    batch: int = 1,
    a_matrices: int | None = None,  # None: batch
    b_matrices: int | None = None,  # None: 1
    a_index: npt.ArrayLike | None = None,
    b_index: npt.ArrayLike | None = None,
    b_transposed: bool = False,
    b_constant: npt.NDArray[Any] | None = None,
    bias: npt.NDArray[Any] | str | None = None,
    bias_batch_step: int = 0,
    k_block: int = 0,
    block_scale: npt.ArrayLike | None = None,
    block_multiplier: npt.ArrayLike | None = None,
    bias_multiplier: npt.ArrayLike | None = None,
    microkernel: str | None = None,  # goes before the others where it takes the call
    stored: npt.NDArray[np.uint8] | None = None,  # KernelCall.packed of such a call on this ISA: nothing is packed
) -> KernelCall: ...

# a [m, k] @ w [k, n] in float32; operands a, [w], [bias], out. bias: a float32 array, "operand" or None.
def bind_float_matmul(
    *,
    isa: str,
    m: int,
    n: int,
    k: int,
    w_constant: npt.NDArray[Any] | None = None,
    bias: npt.NDArray[Any] | str | None = None,
    stored: npt.NDArray[np.uint8] | None = None,  # KernelCall.packed of such a call on this ISA: nothing is packed
) -> KernelCall: ...

# The loops of qrt/products/contraction.h: how many are batches, rows and depth, and one for the columns; their extents;
# the strides, offset and elements of a, b, init and the result.
def bind_contraction(
    *,
    isa: str,
    loops: Sequence[int],
    extents: Sequence[int],
    strides: Sequence[Sequence[int]],
    offsets: Sequence[int],
    sizes: Sequence[int],
    fused: bool,
    b_constant: npt.NDArray[Any] | None = None,
    init_constant: npt.NDArray[Any] | None = None,
    stored: npt.NDArray[np.uint8] | None = None,  # as for bind_float_matmul
    integers: bool = False,  # int32 in place of float32
) -> KernelCall: ...

# The loops of qrt/float_loops.h: how many are kept and reduced. Each operand is (f32, f64, i1, i8, i16, i32 or i64,
# register, strides, offset, elements, whether it is read once, the constant or None), each step (code, to, a, b, c).
# values are the bits of the last registers; in_place: so many of the operands stand element for element as the only
# result does.
def bind_float_loops(
    *,
    isa: str,
    loops: Sequence[int],
    extents: Sequence[int],
    reads: Sequence[Sequence[Any]],
    writes: Sequence[Sequence[Any]],
    steps: Sequence[Sequence[int]],
    registers: int,
    values: npt.NDArray[np.uint32],
    in_place: int = 0,
) -> KernelCall: ...

# float_matmul by weights of storage i8 or u8; nibbles: all of at most 4 bits. k_block values of K (None: all) share
# scales and zero_points [blocks, n], or [blocks, 1] for all columns, which are those of a storage type.
#   k_scales: (k,), by which rows are multiplied first; then k_block is K, and scales are 1
#   k_zero_points: (k,), beside k_scales; then zero_points are 0
def bind_mixed_matmul(
    *,
    isa: str,
    m: int,
    n: int,
    k: int,
    nibbles: bool,
    w: str,
    scales: npt.ArrayLike,
    zero_points: npt.ArrayLike,
    k_block: int | None = None,
    k_scales: npt.ArrayLike | None = None,
    k_zero_points: npt.ArrayLike | None = None,
    w_constant: npt.NDArray[Any] | None = None,
    bias: npt.NDArray[Any] | str | None = None,
    stored: npt.NDArray[np.uint8] | None = None,  # KernelCall.packed of such a call on this ISA: nothing is packed
) -> KernelCall: ...

# How many windows a dimension has, padding being (before, after). Not above 0: none.
def window_count(size: int, kernel: int, padding: Sequence[int], stride: int, dilation: int) -> int: ...

# x, [w], [bias], out: NHWC, weights (out_channels, kernel_height, kernel_width, channels / groups). The output size is
# window_count and at least 0; padding holds x's zero point.
#   w_zero_points has 1 or out_channels values; requant's arrays 1 or out_channels; bias (out_channels,)
def bind_conv2d(
    *,
    isa: str,
    x: str,
    w: str,
    x_shape: Sequence[int],
    w_shape: Sequence[int],
    x_zero_point: int,
    w_zero_points: npt.ArrayLike,
    requant: Requant,
    strides: Sequence[int],
    padding: Sequence[Sequence[int]],
    dilations: Sequence[int],
    groups: int,
    w_constant: npt.NDArray[Any] | None = None,
    bias: npt.NDArray[Any] | str | None = None,
    microkernel: str | None = None,  # goes before the others where it takes the call
    stored: npt.NDArray[np.uint8] | None = None,  # KernelCall.packed of such a call on this ISA: nothing is packed
) -> KernelCall: ...

# x, [w], [bias], out: NHWC, weights (kernel_height, kernel_width, out_channels), or with channels_first (out_channels,
# kernel_height, kernel_width); out_channels a multiple of channels; the rest as bind_conv2d.
# x: NHWC, w: OHWI; padding: the rows and columns that are cut off at the top and the left of the whole result.
def bind_transpose_conv2d(
    *,
    isa: str,
    x: str,
    w: str,
    x_shape: Sequence[int],
    w_shape: Sequence[int],
    out_size: Sequence[int],
    x_zero_point: int,
    w_zero_points: npt.ArrayLike,
    requant: Requant,
    strides: Sequence[int],
    padding: Sequence[int],
    w_constant: npt.NDArray[Any] | None = None,
    bias: npt.NDArray[Any] | str | None = None,
) -> KernelCall: ...
def bind_depthwise_conv2d(
    *,
    isa: str,
    x: str,
    w: str,
    x_shape: Sequence[int],
    w_shape: Sequence[int],
    x_zero_point: int,
    w_zero_points: npt.ArrayLike,
    requant: Requant,
    strides: Sequence[int],
    padding: Sequence[Sequence[int]],
    dilations: Sequence[int],
    channels_first: bool = False,
    w_constant: npt.NDArray[Any] | None = None,
    bias: npt.NDArray[Any] | str | None = None,
    stored: npt.NDArray[np.uint8] | None = None,  # KernelCall.packed of such a call on this ISA: nothing is packed
) -> KernelCall: ...

# a, b, out. kind "add" "sub" "mul". The shapes broadcast; step (and block) index the parameters over the result's
# shape. add, sub: requant(sum of (q - z) * multiplier) by the rule fixed; by fixed_double, with shifts of 0 or less to
# scale each operand by the rule too, requant(sum of scaled((q - z) << left_shift)). In whole blocks of `rounding_block`
# elements, if not 0, operands are rounded once. By raw_mean, with zero points of 0 and with scales instead of the
# multipliers, fma(qa, a_scale, fma(qb, b_scale, offset)), rounded.
# mul: requant((qa - za) * (qb - zb)).
def bind_binary(
    *,
    isa: str,
    kind: str,
    a: str,
    b: str,
    a_shape: Sequence[int],
    b_shape: Sequence[int],
    a_zero_points: npt.ArrayLike,
    b_zero_points: npt.ArrayLike,
    requant: Requant,
    a_multipliers: npt.ArrayLike | None = None,
    b_multipliers: npt.ArrayLike | None = None,
    a_shifts: npt.ArrayLike | None = None,
    b_shifts: npt.ArrayLike | None = None,
    left_shift: int = 0,
    rounding_block: int = 0,
    a_scales: npt.ArrayLike | None = None,
    b_scales: npt.ArrayLike | None = None,
    block: Sequence[int] | None = None,
    step: Sequence[int] | None = None,
) -> KernelCall: ...

# q, out: min(max(q, lower), upper)
# kind "maximum" or "minimum": storage a, b and out are one; "table": a and b have 8 bits, and the table has 65,536
# entries of out, at 256 * byte of a + byte of b; "prelu": requant has two parameters, for a minus its zero point where
# that is not negative, and for its product with b minus its zero point where it is.
def bind_pair(
    *,
    isa: str,
    kind: str,
    a: str,
    b: str,
    out: str,
    a_shape: Sequence[int],
    b_shape: Sequence[int],
    table: npt.NDArray[Any] | None = None,
    zero_points: tuple[int, int] = ...,
    requant: Requant | None = None,
) -> KernelCall: ...

# requant has two parameters: for values from zero_point up, and for those below.
def bind_leaky_relu(*, isa: str, storage: str, size: int, zero_point: int, requant: Requant) -> KernelCall: ...
def bind_clamp(
    *,
    isa: str,
    storage: str,
    shape: Sequence[int],
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    block: Sequence[int] | None = None,
    step: Sequence[int] | None = None,
) -> KernelCall: ...

# x, out: NHWC. acc = sum of (q - zero point) over the count valid elements; requant's parameter index is
# (count - 1) * count_step + channel * channel_step. A window without a valid element is a KernelError when bound.
def bind_avg_pool2d(
    *,
    isa: str,
    storage: str,
    x_shape: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[Sequence[int]],
    zero_points: npt.ArrayLike,  # 1 or channels values
    requant: Requant,
    count_step: int,
    channel_step: int = 0,
    order: str = "rows",  # in which dequantized adds: rows, columns, lanes
) -> KernelCall: ...

# x, out
def bind_max_pool2d(
    *,
    isa: str,
    storage: str,
    x_shape: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[Sequence[int]],
) -> KernelCall: ...

# x (i8 or u8), [table], out: table[x - the least value of the storage type], for `size` elements. The table has
# 2**width entries of `out` and is an operand unless given.
def bind_lookup(
    *,
    isa: str,
    storage: str,
    width: int,
    out: str,
    size: int,
    table: npt.NDArray[Any] | None = None,
    tail_table: npt.NDArray[Any] | None = None,
    block: int = 1,
) -> KernelCall: ...

# x, out: acc = sum of (q - zero point) over the axes. The result has the other axes; step indexes zero_points and
# requant's arrays over them. A sum over no element, or one that 64 bits may not hold, is a KernelError when bound.
def bind_mean(
    *,
    isa: str,
    storage: str,
    x_shape: Sequence[int],
    axes: Sequence[int],
    zero_points: npt.ArrayLike,
    requant: Requant,
    step: Sequence[int] | None = None,
) -> KernelCall: ...

# x (i8 or u8; i16 by "table_int16"), out: along the axis, by a rule of docs/numerics_functions.md. `table` has 256
# exponentials of the distance from the largest value: int32 from 0 to 2**30, float32 from 0 to 1, or int32 from 0 to
# 2**31 - 1 (gemmlowp), the first of them the largest; or it is a pair of tables of 513 entries (table_int16).
# `multiplier` and `shift` bring a difference to the units of the first of those, or, of log_softmax's "gemmlowp", back;
# `scaled` has the 256 scaled differences of that rule, `radius` the last that counts.
def bind_softmax(
    *,
    name: str = "softmax",
    rule: str = "table_int32",
    isa: str,
    storage: str,
    x_shape: Sequence[int],
    axis: int,
    table: Any = None,
    out: str,
    storage_min: int,
    storage_max: int,
    zero_point: int,
    scale: float,
    input_scale: float = 1.0,
    scaled: npt.ArrayLike | None = None,
    multiplier: int = 0,
    shift: int = 0,
    radius: int = 0,
) -> KernelCall: ...

# x, [table], out, all i16: the table has 2**(16 - fraction) + 1 entries, between which the low bits interpolate.
def bind_lookup_interpolated(
    *, name: str = "lookup_interpolated", isa: str, fraction: int, size: int, table: npt.NDArray[Any] | None = None
) -> KernelCall: ...

# x, the weights of x for the input, forget, cell and output gate, those of the hidden values, their biases, hidden,
# cell, peepholes, norms, the projection and its bias; then three outputs: y, hidden, cell. Multipliers are pairs (M0,
# shift). A gate has those of x, of the hidden values, of its peephole and of its norm, None where it lacks them, and
# its least variance; the first gate may be None. `points` are the zero points of x, of the hidden values, of what comes
# out of the cell and of the result.
def bind_lstm(
    *,
    isa: str,
    steps: int,
    batch: int,
    inputs: int,
    cells: int,
    values: int,
    time_major: bool,
    points: Sequence[int],
    gates: Sequence[
        tuple[tuple[int, int], tuple[int, int], tuple[int, int] | None, tuple[int, int] | None, int] | None
    ],
    made: tuple[int, int],
    projection: tuple[int, int] | None,
    has_projection_bias: bool,
    cell_exponent: int,
    cell_clip: int,
    projection_clip: int,
) -> KernelCall: ...

# x, weights of features, weights of time, state, [bias]; then two outputs: y, state. `multipliers`: of the features, of
# the result.
def bind_svdf(
    *,
    isa: str,
    batch: int,
    inputs: int,
    units: int,
    rank: int,
    memory: int,
    has_bias: bool,
    x_zero_point: int,
    result_zero_point: int,
    multipliers: Sequence[tuple[int, int]],
) -> KernelCall: ...

# x, [w], out: float32 rows times weights, of whose columns each has a scale and a zero point, which is a value of w.
def bind_dynamic_matmul(
    *,
    isa: str,
    rows: int,
    depth: int,
    columns: int,
    w: str,
    w_zero_points: npt.ArrayLike,
    w_scales: npt.ArrayLike,
    w_constant: npt.NDArray[Any] | None = None,
    stored: npt.NDArray[np.uint8] | None = None,
) -> KernelCall: ...

# x, [weights of x], [weights of the hidden values], bias, hidden, cell; then three outputs: y, hidden, cell. Weights
# have 4 * cells columns, each with a scale and a zero point.
def bind_dynamic_lstm(
    *,
    isa: str,
    steps: int,
    batch: int,
    inputs: int,
    cells: int,
    reverse: bool,
    w: str,
    w_zero_points: npt.ArrayLike,
    w_scales: npt.ArrayLike,
    r: str,
    r_zero_points: npt.ArrayLike,
    r_scales: npt.ArrayLike,
    w_constant: npt.NDArray[Any] | None = None,
    r_constant: npt.NDArray[Any] | None = None,
    stored: npt.NDArray[np.uint8] | None = None,
) -> KernelCall: ...

# source..., out: part i copies `shapes[i]` elements of source i, at source_strides[i] and source_offsets[i], to
# target_strides[i] and target_offsets[i] (all in elements). transpose and slice have one part, concat one per operand.
# source_sizes and target_size are the operands' element counts; dtype is any of 1, 2, 4 or 8 bytes. A part with a
# constant reads that, and has no operand.
def bind_copy(
    *,
    dtype: npt.DTypeLike,
    shapes: Sequence[Sequence[int]],
    source_strides: Sequence[Sequence[int]],
    target_strides: Sequence[Sequence[int]],
    source_sizes: Sequence[int],
    target_size: int,
    source_offsets: Sequence[int] | None = None,
    target_offsets: Sequence[int] | None = None,
    constants: Sequence[npt.NDArray[Any] | None] | None = None,
) -> KernelCall: ...

# x, numbers..., out: the elements of a slice of x, with `offsets`, `sizes` and `strides` for each axis. For each of
# `axes` an operand of one int64 is added to the offset. With `inserts`, part, x, numbers..., out: x with the slice
# replaced by the part; the output may have the memory of x. A slice that exceeds x is a KernelError when it runs; dtype
# is any of 1, 2, 4 or 8 bytes.
def bind_slice(
    *,
    dtype: npt.DTypeLike,
    x_shape: Sequence[int],
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    axes: Sequence[int],
    inserts: bool = False,
) -> KernelCall: ...

# a, b, out: plain integers or bools, `size` of them; an operand of step 0 is one element. kind is an op of arith
# without its dialect ("addi" "subi" "muli" "andi" "ori" "xori" "maxsi" "minsi" "maxui" "minui" "divsi" "floordivsi"
# "remsi") or a predicate of cmpi ("eq" "ne" "slt" ... "uge"), whose results are bools. dtype is bool, or int8 to int64.
# Sums and products wrap. A division by zero, or of the least number by -1, is a KernelError when it runs; bools are not
# divided.
def bind_plain(
    *, isa: str, kind: str, dtype: npt.DTypeLike, size: int, steps: Sequence[int] | None = None
) -> KernelCall: ...

# condition (bool), a, b, out: elements of any 1, 2, 4 or 8 bytes
def bind_plain_select(
    *, isa: str, dtype: npt.DTypeLike, size: int, steps: Sequence[int] | None = None
) -> KernelCall: ...

# x, out: extended by the sign, or by zeros where it is `unsigned`, or the low bits. A set bool reads as -1, or as 1.
def bind_plain_cast(
    *, isa: str, dtype: npt.DTypeLike, out: npt.DTypeLike, size: int, unsigned: bool = False
) -> KernelCall: ...

# values ("i8" or "u8", rows x columns), out (uint8, rows x ceil(columns * width / 8)); width 1, 2 or 4.
def bind_pack_bits(*, isa: str, storage: str, width: int, rows: int, columns: int) -> KernelCall: ...

# packed (uint8), out
def bind_unpack_bits(*, isa: str, storage: str, width: int, rows: int, columns: int) -> KernelCall: ...

# x, [indices], out: x is [batches][outer][sizes...][inner], indices are [batches][count][sizes], of int32 or int64, and
# out is [batches][outer][count][inner]. An index that names no element is a KernelError when it runs.
def bind_gather(
    *,
    dtype: npt.DTypeLike,
    index_dtype: npt.DTypeLike,
    batches: int,
    outer: int,
    sizes: Sequence[int],
    count: int,
    inner: int,
    indices: npt.NDArray[Any] | None = None,
) -> KernelCall: ...

# x, out: the greatest or least element over the axes, or with index_dtype (int32 or int64) the number of the first that
# is. The result has the other axes. dtype is an integer of up to 32 bits, int64, float32 or float64.
def bind_extremum(
    *,
    isa: str,
    dtype: npt.DTypeLike,
    x_shape: Sequence[int],
    axes: Sequence[int],
    least: bool,
    index_dtype: npt.DTypeLike | None = None,
) -> KernelCall: ...

# x (NHWC), out: rows and columns are (first neighbours, second neighbours, weights of the second), for each position of
# the result. Weights are integers for the rules that are called fixed, else float32.
def bind_resize_bilinear(
    *,
    isa: str,
    dtype: npt.DTypeLike,
    rule: str,
    x_shape: Sequence[int],
    rows: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    columns: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
) -> KernelCall: ...

# x, values, indices (int32): the k largest of each row in descending order, the first of equals first.
def bind_top_k(*, isa: str, dtype: npt.DTypeLike, rows: int, size: int, k: int) -> KernelCall: ...

# Called, while it is set, with the name of each bind_* function that runs (or "Executable"), its arguments and its
# result.
recorder: ContextVar[Callable[[str, dict[str, Any], Any], None] | None]

def layout() -> int: ...  # differs where packed weights may stand otherwise in memory
def checksum(data: Buffer) -> int: ...  # 64 bits, which a change within eight aligned bytes always changes

# The value that encoded bytes hold, its arrays views of the memory: qrt/runtime/saved/values.py. ValueError if nobody
# encoded the bytes.
def decode(content: Buffer, memory: mmap | bytes) -> Any: ...
