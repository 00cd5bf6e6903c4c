"""Arguments of `bind_*` functions and executables that are no plain numbers. Hazards: products of small integers that
wrap; operands of objects or of texts; an executable whose bases are one array."""

from typing import Any

import numpy as np
import pytest

from qrt._ext.kernels import (
    Executable,
    KernelCall,
    bind_contraction,
    bind_copy,
    bind_dcast,
    bind_dynamic_matmul,
    bind_float_loops,
    bind_gather,
    bind_pack_bits,
    bind_plain_select,
    bind_qcast,
    bind_resize_bilinear,
    bind_svdf,
    bind_top_k,
    bind_unpack_bits,
)
from qrt.errors import KernelError
from qrt.runtime.argument_binder import ArgumentBinder

SMALL = np.array(64, np.int8)
"""Four of these multiply to 0."""


def copy_of(size: int, **changed: Any) -> KernelCall:
    given: dict[str, Any] = {
        "dtype": np.int8, "shapes": [(size,)], "source_strides": [(1,)], "target_strides": [(1,)],
        "source_sizes": [size], "target_size": size,
    }  # fmt: skip
    return bind_copy(**(given | changed))


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda n: bind_gather(dtype=np.int8, index_dtype=np.int32, batches=n, outer=n, sizes=(n,), count=n,
                                     inner=n), (64, 64, 64, 64)),
        (lambda n: bind_top_k(isa="ref", dtype=np.int8, rows=n, size=n, k=n), (64, 64)),
        (lambda n: bind_pack_bits(isa="ref", storage="i8", width=4, rows=n, columns=n), (64, 32)),
        (lambda n: bind_unpack_bits(isa="ref", storage="i8", width=4, rows=n, columns=n), (64, 64)),
        (lambda n: bind_svdf(isa="ref", batch=n, inputs=n, units=n, rank=n, memory=n, has_bias=False,
                                   x_zero_point=0, result_zero_point=0, multipliers=[(1, 1)] * 2), (64, 64**3)),
        (lambda n: bind_dynamic_matmul(isa="ref", rows=n, depth=n, columns=n, w="i8", w_zero_points=[0] * 64,
                                             w_scales=[1.0] * 64), (64, 64)),
        (lambda n: bind_qcast(isa="ref", expressed="f32", storage="i8", shape=(n, n, n, n), scales=[1.0],
                                    zero_points=[0], storage_min=-128, storage_max=127, rounding="half_even",
                                    zero_point="before", scale="divide"), (64, 64, 64, 64)),
        (lambda n: bind_dcast(isa="ref", expressed="f32", storage="i8", shape=(n, n, n, n), scales=[1.0],
                                    zero_points=[0]), (64, 64, 64, 64)),
    ],
    ids=["gather", "top_k", "pack_bits", "unpack_bits", "svdf", "dynamic_matmul", "qcast", "dcast"],
)  # fmt: skip
def test_sizes_are_numbers_that_do_not_wrap(call: Any, shape: tuple[int, ...]) -> None:
    """An operand has as many elements as the sizes say, whatever kind of integer they are."""
    result = call(SMALL).operand_shapes[-1]
    assert result == shape
    assert all(type(extent) is int for extent in result)
    for wrong in (np.array(1.5), 1.5, "1", None):
        with pytest.raises((TypeError, KernelError)):
            call(wrong)


@pytest.mark.parametrize("name", ["source_sizes", "source_offsets", "target_offsets"])
def test_sizes_and_offsets_of_copies(name: str) -> None:
    for wrong in ([np.array(0.5)], [0.5], [None], ["0"]):
        with pytest.raises(TypeError):
            copy_of(4, **{name: wrong})
    for wrong in ([-1], [1 << 41]):
        with pytest.raises(KernelError, match=name):
            copy_of(4, **{name: wrong})


@pytest.mark.parametrize("dtype", ["O", "S8", "U2", "M8[s]", "c8", "V4", "i4,i4", "(2,)i2"])
def test_dtypes_of_no_numbers(dtype: str) -> None:
    with pytest.raises(KernelError):
        copy_of(4, dtype=dtype)
    with pytest.raises(KernelError):
        bind_gather(dtype=dtype, index_dtype=np.int64, batches=1, outer=1, sizes=(4,), count=1, inner=1)
    with pytest.raises(KernelError):
        bind_plain_select(isa="ref", dtype=dtype, size=4)
    with pytest.raises(KernelError, match="must be of bools, integers or floats"):
        executable(externals=[(dtype, (4,)), (np.int8, (4,))])


def executable(**changed: Any) -> Executable:
    """An executable that copies its input, with other arguments."""
    given: dict[str, Any] = {
        "calls": [copy_of(4)], "operands": [[(1, 0), (2, 0)]], "bases": [None, 0, 1],
        "externals": [(np.int8, (4,)), (np.int8, (4,))], "inputs": 1, "outputs": 1, "arena_bytes": 0, "most_rounds": 10,
    }  # fmt: skip
    return Executable(**(given | changed))


def test_an_executable_copies() -> None:
    (result,) = executable().run((np.int8([1, 2, 3, 4]),))
    assert result.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bases": [None, 0, 1, 1]}, "the bases must be different arrays"),
        ({"bases": [None, 0, 1, None]}, "the bases must be different arrays"),
        ({"bases": [None, 0, 2]}, "names array 2 of 2"),
        ({"bases": [None, 0, -1]}, "names array -1 of 2"),
        ({"operands": [[(1, 0), (-1, 0)]]}, "names base -1 of 3"),
        ({"operands": [[(1, 0), (3, 0)]]}, "names base 3 of 3"),
        ({"operands": [[(1, -1), (2, 0)]]}, "4 bytes at -1, does not fit"),
        ({"operands": [[(1, 1), (2, 0)]]}, "4 bytes at 1, does not fit"),
        ({"inputs": 2}, "2 inputs and 1 outputs of 2 arrays"),
        ({"inputs": (1 << 31) - 1}, "2147483647 inputs and 1 outputs of 2 arrays"),
        ({"outputs": (1 << 31) - 1}, "1 inputs and 2147483647 outputs of 2 arrays"),
        ({"outputs": -1}, "1 inputs and -1 outputs of 2 arrays"),
        ({"arena_bytes": (1 << 63) - 1}, "an arena of 9223372036854775807 bytes"),
        ({"arena_bytes": -1}, "an arena of -1 bytes"),
        ({"bases": [None, np.array([object()] * 4), 1]}, "holds object"),
    ],
)
def test_arguments_of_an_executable(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        executable(**changed)


@pytest.mark.parametrize("offset", [np.array(0.5), 0.5, None, "0"])
def test_offsets_of_an_executable(offset: Any) -> None:
    """A float rounds down what it is added to."""
    with pytest.raises(TypeError):
        executable(operands=[[(1, offset), (2, 0)]])


def test_an_argument_binder_has_a_name_for_each_state() -> None:
    """It read the arrays of states behind the end of an empty tuple."""
    more = executable(externals=[(np.int8, (4,))] * 3)
    with pytest.raises(TypeError, match="a name is needed for each array of the state"):
        ArgumentBinder(more, "ref", True, (None,), (True,), (None,), ((4,),), None, (), ())


def test_multipliers_that_are_no_pairs() -> None:
    """Cython read behind the end of a tuple as behind that of an array of C."""
    given: dict[str, Any] = {
        "isa": "ref", "batch": 1, "inputs": 1, "units": 1, "rank": 1, "memory": 1, "has_bias": False,
        "x_zero_point": 0, "result_zero_point": 0,
    }  # fmt: skip
    for multipliers in ([], [(1, 1)], [(1, 1)] * 3, [(1,), (1, 1)], [(1, 1), ()], [(1, 1, 1), (1, 1)]):
        with pytest.raises(KernelError, match="2 multipliers, each a pair of M0 and a shift"):
            bind_svdf(**given, multipliers=multipliers)
    for rows in ((), ((0,), (0,)), ((0,),) * 4):
        with pytest.raises(KernelError, match="first neighbours, second neighbours, weights"):
            bind_resize_bilinear(isa="ref", dtype=np.int8, rule="fixed11", x_shape=(1, 1, 1, 1), rows=rows,
                                       columns=((0,), (0,), (0,)))  # fmt: skip


@pytest.mark.parametrize("count", [17, 1 << 31, 1 << 40])
def test_numbers_of_loops(count: int) -> None:
    """C holds them in 32 bits."""
    with pytest.raises(KernelError, match=r"loops must be from 0 to 16"):
        bind_float_loops(isa="ref", loops=(count, 0), extents=(), reads=(), writes=(), steps=(), registers=1,
                               values=np.zeros(0, np.uint32))  # fmt: skip
    with pytest.raises(KernelError, match=r"loops must be from 0 to 16"):
        bind_contraction(isa="ref", loops=(0, count, 0), extents=(), strides=((),) * 4, offsets=(0,) * 4,
                               sizes=(1,) * 4, fused=False)  # fmt: skip
