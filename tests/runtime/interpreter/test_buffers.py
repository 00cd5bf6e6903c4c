"""Memory of memrefs: a program touches what it was given or made, and nothing around it, planned and interpreted.
Hazards: a caller's array that is a view of a larger one, memory without elements, constant memory seen through a view,
strides of a tensor under a type that says others, offsets of a view that has no elements."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.ir import run_passes
from tests.runtime.interpreter.run import refused, run

i64 = np.int64
LINE = "memref<1xi64, strided<[1], offset: 4>>"
BEYOND = f"""
func.func @main(%m: memref<2xi64>) {{
  %c0 = arith.constant 0 : index
  %x = arith.constant -1 : i64
  %r = memref.reinterpret_cast %m to offset: [4], sizes: [1], strides: [1] : memref<2xi64> to {LINE}
  memref.store %x, %r[%c0] : {LINE}
  return
}}"""


def outcomes(text, *arguments, passes=""):
    """The results as planned, and by the interpreter."""
    module = qrt.ir.parse(text)
    program = qrt.compile(run_passes(module, passes) if passes else module)
    inputs = dict(zip((port.name for port in program.inputs), arguments, strict=True))
    return [
        [np.asarray(value).tolist() for value in program.run(inputs, interpret=interpret).values()]
        for interpret in (False, True)
    ]


def refusals(text, *arguments, message):
    """Runs a program that is refused with this message, planned and interpreted."""
    program = qrt.compile(text)
    inputs = dict(zip((port.name for port in program.inputs), arguments, strict=True))
    for interpret in (False, True):
        with pytest.raises(ModelError, match=message):
            program.run(inputs, interpret=interpret)


# -- the memory of the caller ------------------------------------------------------------------------------------------


def _slice(whole):
    return whole[2:4]


def _slice_of_slices(whole):
    return whole[1:][1:6][:2]


def _reshaped(whole):
    return whole.reshape(4, 2)[1]


def _on_bytes(whole):
    return np.frombuffer(memoryview(whole).cast("B"), np.int64)[2:4]


def _strided(whole):
    return np.lib.stride_tricks.as_strided(whole[2:], (2,), (8,))


@pytest.mark.parametrize("taken", [_slice, _slice_of_slices, _reshaped, _on_bytes, _strided])
def test_a_view_of_the_callers_array_bounds_what_is_written(taken):
    whole = np.arange(100, 108)
    refusals(
        BEYOND,
        taken(whole),
        message="'memref.reinterpret_cast' op elements 4 to 4 are out of bounds of the buffer of 2 elements",
    )
    assert whole.tolist() == list(range(100, 108))


def test_a_result_that_is_a_view_bounds_the_next_program():
    text = """
    func.func @main(%m: memref<8xi64>) -> memref<2xi64, strided<[1], offset: 2>> {
      %s = memref.subview %m[2] [2] [1] : memref<8xi64> to memref<2xi64, strided<[1], offset: 2>>
      return %s : memref<2xi64, strided<[1], offset: 2>>
    }"""
    whole = np.arange(8)
    part = qrt.compile(text)(whole)
    refusals(BEYOND, part, message="are out of bounds of the buffer of 2")
    part[...] = -1
    assert whole.tolist() == [0, 1, -1, -1, 4, 5, 6, 7]


def test_nothing_before_the_callers_array_is_seen():
    text = """
    func.func @main(%m: memref<?xi64, strided<[1], offset: ?>>, %o: index) -> i64 {
      %b, %at, %size, %stride = memref.extract_strided_metadata %m
        : memref<?xi64, strided<[1], offset: ?>> -> memref<i64>, index, index, index
      %r = memref.reinterpret_cast %b to offset: [%o], sizes: [], strides: []
        : memref<i64> to memref<i64, strided<[], offset: ?>>
      %x = memref.load %r[] : memref<i64, strided<[], offset: ?>>
      return %x : i64
    }"""
    whole = np.arange(100, 108)
    assert outcomes(text, whole[2:4], i64(1)) == [[103], [103]]
    for offset in (-1, 2):
        refusals(
            text,
            whole[2:4],
            i64(offset),
            message=f"elements {offset} to {offset} are out of bounds of the buffer of 2 elements",
        )


def test_arguments_that_overlap_are_each_bounded():
    text = """
    func.func @main(%a: memref<4xi64>, %b: memref<4xi64>) -> i64 {
      %c3 = arith.constant 3 : index
      memref.copy %a, %b : memref<4xi64> to memref<4xi64>
      %x = memref.load %a[%c3] : memref<4xi64>
      return %x : i64
    }"""
    for interpret in (False, True):
        whole = np.arange(6)
        results = qrt.compile(text).run({"arg0": whole[:4], "arg1": whole[2:]}, interpret=interpret)
        assert (int(results["result0"]), whole.tolist()) == (1, [0, 1, 0, 1, 2, 3])


def test_dimensions_of_size_one_have_the_strides_of_their_type():
    """NumPy calls an array contiguous whatever these strides are."""
    text = """
    func.func @main(%m: memref<1x4xi64>) -> index {
      %b, %o, %sizes:2, %strides:2 = memref.extract_strided_metadata %m
        : memref<1x4xi64> -> memref<i64>, index, index, index, index, index
      return %strides#0 : index
    }"""
    odd = np.lib.stride_tricks.as_strided(np.arange(4), (1, 4), (8000, 8))
    assert outcomes(text, odd) == [[4], [4]]


@pytest.mark.parametrize("layout", ["strided<[2]>", "strided<[-1], offset: ?>"])
def test_an_array_has_the_strides_of_the_argument(layout):
    text = f"""
    func.func @main(%m: memref<4xi64, {layout}>) -> i64 {{
      %c1 = arith.constant 1 : index
      %x = memref.load %m[%c1] : memref<4xi64, {layout}>
      return %x : i64
    }}"""
    refusals(
        text,
        np.arange(4),
        message=r"argument #0 is declared as memref<4xi64, .*>, but an array of shape \[4\] has strides \[1\]",
    )


# -- memory without elements -------------------------------------------------------------------------------------------

EMPTY = """
func.func @main(%m: memref<?xi64>) -> i64 {{
  %x = arith.constant 7 : i64
  %c0 = arith.constant 0 : index
  %b, %o, %size, %stride = memref.extract_strided_metadata %m : memref<?xi64> -> memref<i64>, index, index, index
  {}
  return %x : i64
}}"""


@pytest.mark.parametrize(
    ("line", "op"),
    [
        ("%y = memref.load %b[] : memref<i64>", "memref.load"),
        ("memref.store %x, %b[] : memref<i64>", "memref.store"),
        ("%y = affine.load %b[] : memref<i64>", "affine.load"),
        ("%a = memref.alloc() : memref<i64> memref.copy %b, %a : memref<i64> to memref<i64>", "memref.copy"),
        ("%a = memref.alloc() : memref<i64> memref.copy %a, %b : memref<i64> to memref<i64>", "memref.copy"),
        ("%t = bufferization.to_tensor %b : memref<i64> to tensor<i64>", "bufferization.to_tensor"),
        ("%t = bufferization.clone %b : memref<i64> to memref<i64>", "bufferization.clone"),
        ("%v = vector.load %b[] : memref<i64>, vector<i64>", "vector.load"),
        ("%v = vector.transfer_read %b[], %x : memref<i64>, vector<i64>", "vector.transfer_read"),
        ("linalg.fill ins(%x : i64) outs(%b : memref<i64>)", "linalg.fill"),
        ("linalg.add ins(%b, %b : memref<i64>, memref<i64>) outs(%b : memref<i64>)", "linalg.add"),
        ("%e = memref.expand_shape %b [] output_shape [1] : memref<i64> into memref<1xi64>", "memref.expand_shape"),
    ],
)
def test_the_base_of_nothing_is_not_accessed(line, op):
    whole = np.arange(9)
    message = f"'{op}' op (accesses the base of a memref that has no elements|elements 0 to 0 are out of bounds)"
    refusals(EMPTY.format(line), whole[3:3], message=message)


def test_the_base_of_nothing_is_no_result():
    text = """
    func.func @main(%m: memref<0xi64>) -> memref<i64> {
      %b, %o, %size, %stride = memref.extract_strided_metadata %m : memref<0xi64> -> memref<i64>, index, index, index
      return %b : memref<i64>
    }"""
    refusals(text, np.arange(9)[3:3], message="function 'main': accesses the base of a memref that has no elements")


@pytest.mark.parametrize(
    "line",
    [
        "%r = memref.reinterpret_cast %b to offset: [%o], sizes: [%size], strides: [%stride] : memref<i64> to "
        "memref<?xi64, strided<[?], offset: ?>>",
        "%s, %p = memref.extract_strided_metadata %b : memref<i64> -> memref<i64>, index",
        "memref.dealloc %b : memref<i64>",
        "%u = memref.cast %b : memref<i64> to memref<*xi64>",
    ],
)
def test_the_base_of_nothing_may_be_seen_again(line):
    """As lowered programs see it, whatever the size."""
    for size in (0, 3):
        assert outcomes(EMPTY.format(line), np.arange(size)) == [[7], [7]]


@pytest.mark.parametrize("offset", [-1, 5, 1 << 62])
def test_a_view_without_elements_begins_within_its_memory(offset):
    text = """
    func.func @main(%m: memref<4xi64>, %o: index) -> index {
      %r = memref.reinterpret_cast %m to offset: [%o], sizes: [0], strides: [1] : memref<4xi64> to
        memref<0xi64, strided<[1], offset: ?>>
      %b, %at, %size, %stride = memref.extract_strided_metadata %r
        : memref<0xi64, strided<[1], offset: ?>> -> memref<i64>, index, index, index
      return %at : index
    }"""
    assert outcomes(text, np.arange(4), i64(4)) == [[4], [4]]
    refusals(text, np.arange(4), i64(offset), message=f"element {offset} is out of bounds of the buffer of 4 elements")


@pytest.mark.parametrize(("size", "stride"), [(0, 1 << 62), (1, 1 << 62), ((1 << 63) - 1, 0)])
def test_sizes_and_strides_that_no_array_has(size, stride):
    """NumPy raises errors of its own for them."""
    text = """
    func.func @f(%m: memref<4xi64>, %n: index, %s: index) {
      %r = memref.reinterpret_cast %m to offset: [0], sizes: [%n], strides: [%s] : memref<4xi64> to
        memref<?xi64, strided<[?]>>
      return
    }"""
    refused(text, np.arange(4), i64(size), i64(stride), message="'memref.reinterpret_cast' op shape")


# -- constant memory ---------------------------------------------------------------------------------------------------

WRITE = """
  %z = arith.constant 9 : i64
  %c0 = arith.constant 0 : index
  %r = memref.reinterpret_cast %m to offset: [0], sizes: [1], strides: [1]
    : memref<2xi64> to memref<1xi64, strided<[1]>>
  memref.store %z, %r[%c0] : memref<1xi64, strided<[1]>>
  return
}"""


def test_a_tensor_is_not_written_through_a_view_of_its_buffer():
    text = f"""
    func.func @main(%t: tensor<2xi64>) {{
      %m = bufferization.to_buffer %t : tensor<2xi64> to memref<2xi64>
    {WRITE}"""
    tensor = np.array([1, 2])
    refusals(text, tensor, message="'memref.store' op writes to constant memory")
    assert tensor.tolist() == [1, 2]


def test_a_constant_global_is_not_written_through_a_view():
    text = f"""
    memref.global "private" constant @g : memref<2xi64> = dense<[1, 2]>
    func.func @main() {{
      %m = memref.get_global @g : memref<2xi64>
    {WRITE}"""
    refusals(text, message="'memref.store' op writes to constant memory")


def test_loop_nests_write_no_constant_and_no_freed_memory():
    text = """
    func.func @main(%t: tensor<2xi64>, %x: i64) {
      %m = bufferization.to_buffer %t : tensor<2xi64> to memref<2xi64>
      linalg.fill ins(%x : i64) outs(%m : memref<2xi64>)
      return
    }"""
    refusals(text, np.array([1, 2]), i64(3), message="'linalg.fill' op writes to constant memory")
    text = """
    func.func @main(%x: i64) {
      %m = memref.alloc() : memref<2xi64>
      memref.dealloc %m : memref<2xi64>
      linalg.fill ins(%x : i64) outs(%m : memref<2xi64>)
      return
    }"""
    refusals(text, i64(3), message="'linalg.fill' op accesses freed memory")


# -- layouts -----------------------------------------------------------------------------------------------------------

SLICE = """
func.func @main(%t: tensor<3x4xi32>) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %t[0, 1] [3, 1] [1, 1] : tensor<3x4xi32> to tensor<3xi32>
  %m = bufferization.to_buffer %s read_only : tensor<3xi32> to memref<3xi32>
  %r = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [1]
    : memref<3xi32> to memref<2xi32, strided<[1]>>
  %v = memref.load %r[%c0] : memref<2xi32, strided<[1]>>
  %w = memref.load %r[%c1] : memref<2xi32, strided<[1]>>
  return %v, %w : i32, i32
}"""
GRID = np.arange(12, dtype=np.int32).reshape(3, 4)


@pytest.mark.parametrize("passes", ["", "canonicalize", "canonicalize,cse", "constant-fold", "inline,canonicalize"])
def test_the_buffer_of_a_slice_is_contiguous(passes):
    assert outcomes(SLICE, GRID, passes=passes) == [[1, 5], [1, 5]]


def test_the_buffer_of_a_slice_is_cast_to_no_rank_and_back():
    text = """
    func.func @main(%t: tensor<3x4xi32>) -> i32 {
      %c2 = arith.constant 2 : index
      %s = tensor.extract_slice %t[0, 1] [3, 1] [1, 1] : tensor<3x4xi32> to tensor<3xi32>
      %u = tensor.cast %s : tensor<3xi32> to tensor<*xi32>
      %m = bufferization.to_buffer %u read_only : tensor<*xi32> to memref<*xi32>
      %r = memref.cast %m : memref<*xi32> to memref<3xi32>
      %v = memref.load %r[%c2] : memref<3xi32>
      return %v : i32
    }"""
    assert outcomes(text, GRID) == [[9], [9]]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("strided<[1]>", [0, 1, 9]),
        ("strided<[?], offset: ?>", [0, 1, 9]),
        ("strided<[4], offset: 1>", [1, 4, 9]),
        ("strided<[2], offset: 5>", [5, 2, 9]),
        ("strided<[?], offset: 5>", [5, 1, 9]),
    ],
)
@pytest.mark.parametrize("op", ["to_buffer", "clone"])
def test_a_buffer_has_the_layout_of_its_type(layout, expected, op):
    made = f"memref<3xi32, {layout}>"
    lines = {
        "to_buffer": f"%m = bufferization.to_buffer %s : tensor<3xi32> to {made}",
        "clone": f"""%n = bufferization.to_buffer %s : tensor<3xi32> to {made}
      %m = bufferization.clone %n : {made} to {made}""",
    }
    text = f"""
    func.func @main(%t: tensor<3x4xi32>) -> (index, index, i32) {{
      %c2 = arith.constant 2 : index
      %s = tensor.extract_slice %t[0, 1] [3, 1] [1, 1] : tensor<3x4xi32> to tensor<3xi32>
      {lines[op]}
      %b, %o, %size, %stride = memref.extract_strided_metadata %m : {made} -> memref<i32>, index, index, index
      %v = memref.load %m[%c2] : {made}
      return %o, %stride, %v : index, index, i32
    }}"""
    assert outcomes(text, GRID) == [expected] * 2


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (
            "strided<[0]>",
            r"elements of the memref type memref<3xi32, strided<\[0\]>> overlap in memory, so it cannot be the buffer",
        ),
        ("strided<[-1], offset: 2>", "must be at least 0, got strides \\[-1\\] and offset 2"),
    ],
)
def test_a_layout_that_no_tensor_has(layout, message):
    text = f"""
    func.func @f(%t: tensor<3xi32>) {{
      %m = bufferization.to_buffer %t : tensor<3xi32> to memref<3xi32, {layout}>
      return
    }}"""
    refused(text, np.arange(3, dtype=np.int32), message=message)


@pytest.mark.parametrize(("stride", "kept"), [(42, 0), (7, 1)])
def test_a_subview_drops_the_dimension_that_its_type_lacks(stride, kept):
    made = f"memref<1x4xi32, strided<[{stride}, 1]>>"
    text = f"""
    func.func @f(%m: memref<5x6x7xi32>) -> index {{
      %s = memref.subview %m[0, 0, 0] [1, 1, 4] [1, 1, 1] : memref<5x6x7xi32> to {made}
      %b, %o, %sizes:2, %strides:2 = memref.extract_strided_metadata %s
        : {made} -> memref<i32>, index, index, index, index, index
      return %strides#0 : index
    }}"""
    assert run(text, np.zeros((5, 6, 7), np.int32)) == [stride]


def test_offsets_count_from_a_view_of_bytes():
    """At any byte, and only to the end of the bytes."""
    text = """
    func.func @main(%m: memref<22xi8>, %o: index, %n: index) -> (index, i32) {
      %c0 = arith.constant 0 : index
      %v = memref.view %m[%o][%n] : memref<22xi8> to memref<?xi32>
      %s = memref.subview %v[1] [2] [1] : memref<?xi32> to memref<2xi32, strided<[1], offset: 1>>
      %d = memref.cast %s : memref<2xi32, strided<[1], offset: 1>> to memref<2xi32, strided<[?], offset: ?>>
      %b, %at, %size, %stride = memref.extract_strided_metadata %d
        : memref<2xi32, strided<[?], offset: ?>> -> memref<i32>, index, index, index
      %x = memref.load %b[] : memref<i32>
      return %at, %x : index, i32
    }"""
    memory = np.zeros(30, np.int8)
    memory[3:7] = 1
    assert outcomes(text, memory[:22], i64(3), i64(4)) == [[1, 0x01010101]] * 2
    refusals(text, memory[:22], i64(3), i64(5), message="bytes 3 to 23 are out of bounds of the buffer of 22")


def test_what_is_not_contiguous_is_not_reshaped():
    """A copy would lose what is written to it."""
    text = """
    func.func @f(%m: memref<8xi8>, %shape: memref<2xindex>) {
      %s = memref.subview %m[0] [4] [2] : memref<8xi8> to memref<4xi8, strided<[2]>>
      %u = memref.cast %s : memref<4xi8, strided<[2]>> to memref<*xi8>
      %r = memref.reshape %u(%shape) : (memref<*xi8>, memref<2xindex>) -> memref<2x2xi8>
      return
    }"""
    message = r"'memref.reshape' op the memref must be contiguous, got shape \[.*\] with strides \[2\]"
    refused(text, np.arange(8, dtype=np.int8), np.array([2, 2]), message=message)


def test_a_cast_does_not_change_the_offset():
    text = """
    func.func @f(%m: memref<8xi32>, %o: index) -> i32 {
      %c0 = arith.constant 0 : index
      %s = memref.subview %m[%o] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: ?>>
      %u = memref.cast %s : memref<4xi32, strided<[1], offset: ?>> to memref<4xi32, strided<[1], offset: 3>>
      %x = memref.load %u[%c0] : memref<4xi32, strided<[1], offset: 3>>
      return %x : i32
    }"""
    memory = np.arange(8, dtype=np.int32)
    assert run(text, memory, i64(3)) == [3]
    refused(
        text,
        memory,
        i64(2),
        message="'memref.cast' op the operand has offset 2, which does not match the result type memref<4xi32, strided",
    )


def test_a_printed_tensor_is_a_contiguous_buffer(capsys):
    text = """
    func.func private @printMemrefI32(tensor<*xi32>)
    func.func @main(%t: tensor<3x4xi32>) {
      %s = tensor.extract_slice %t[0, 1] [3, 1] [1, 1] : tensor<3x4xi32> to tensor<3xi32>
      %u = tensor.cast %s : tensor<3xi32> to tensor<*xi32>
      call @printMemrefI32(%u) : (tensor<*xi32>) -> ()
      return
    }"""
    outcomes(text, GRID)
    assert capsys.readouterr().out.count("rank = 1 offset = 0 sizes = [3] strides = [1] data = \n[1,  5,  9]\n") == 2


def test_a_loop_of_views_keeps_no_chain_of_them():
    """Such a chain is freed by recursion, which ends the process."""
    text = """
    func.func @f(%m: memref<8xi8>, %n: index) -> i8 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %m) -> memref<8xi8> {
        %v = memref.view %p[%c0][] : memref<8xi8> to memref<8xi8>
        %s = memref.subview %v[0] [8] [1] : memref<8xi8> to memref<8xi8, strided<[1]>>
        %q = memref.cast %s : memref<8xi8, strided<[1]>> to memref<8xi8>
        scf.yield %q : memref<8xi8>
      }
      %x = memref.load %r[%c0] : memref<8xi8>
      return %x : i8
    }"""
    assert run(text, np.arange(8, dtype=np.int8) + np.int8(5), i64(20_000)) == [5]
