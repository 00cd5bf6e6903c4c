"""The layout that a memref type says is the one that its memory has, for arguments and globals, planned and
interpreted. Hazard: passes fold what a program reads of it to what the type says."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.ir import run_passes
from tests.runtime.interpreter.test_buffers import outcomes

_OFFSET = """
func.func @main(%m: {0}) -> (index, i64) {{
  %c1 = arith.constant 1 : index
  {1}
  %x = memref.load %m[%c1] : {0}
  return %o, %x : index, i64
}}"""
_READS_OF_OFFSETS = {
    "its metadata": "%b, %o, %n, %s = memref.extract_strided_metadata %m : {0} -> memref<i64>, index, index, index",
    "the metadata of a cast": """%d = memref.cast %m : {0} to memref<?xi64, strided<[?], offset: ?>>
      %b, %o, %n, %s = memref.extract_strided_metadata %d
        : memref<?xi64, strided<[?], offset: ?>> -> memref<i64>, index, index, index""",
    "a reinterpretation": """%r = memref.reinterpret_cast %m to offset: [0], sizes: [4], strides: [1]
        : {0} to memref<4xi64, strided<[1]>>
      %b, %o, %n, %s = memref.extract_strided_metadata %r
        : memref<4xi64, strided<[1]>> -> memref<i64>, index, index, index""",
    "a call": "%o = call @offset(%m) : ({0}) -> index",
}
_CALLED = """
func.func private @offset(%m: {0}) -> index {{
  %b, %o, %n, %s = memref.extract_strided_metadata %m : {0} -> memref<i64>, index, index, index
  return %o : index
}}"""


def _of_offset(read, type):
    return _OFFSET.format(type, _READS_OF_OFFSETS[read].format(type)) + (_CALLED.format(type) if "call" in read else "")


@pytest.mark.parametrize(
    "layout", ["strided<[1], offset: 3>", "strided<[?], offset: 3>", "affine_map<(d0) -> (d0 + 3)>"]
)
@pytest.mark.parametrize("read", _READS_OF_OFFSETS)
@pytest.mark.parametrize("passes", ["", "canonicalize", "inline,canonicalize"])
def test_an_argument_of_another_offset_is_refused(layout, read, passes):
    """Its reads fold to the offset that the type says, and an array begins at 0 of its memory, wherever that is."""
    program = qrt.compile(
        run_passes(qrt.ir.parse(_of_offset(read, f"memref<4xi64, {layout}>")), passes or "cse"), "main"
    )
    for array in (np.arange(4), np.arange(9)[3:7]):
        for interpret in (False, True):
            with pytest.raises(
                ModelError, match=r"argument #0 is declared as memref<4xi64, .*at offset 0 .*declare 'offset: \?'"
            ):
                program.run({"arg0": array}, interpret=interpret)


@pytest.mark.parametrize("layout", ["", ", strided<[1]>", ", strided<[1], offset: 0>", ", strided<[?], offset: ?>"])
@pytest.mark.parametrize("read", _READS_OF_OFFSETS)
@pytest.mark.parametrize("passes", ["", "canonicalize", "inline,canonicalize"])
def test_an_argument_begins_at_offset_0_of_its_memory(layout, read, passes):
    program = qrt.compile(run_passes(qrt.ir.parse(_of_offset(read, f"memref<4xi64{layout}>")), passes or "cse"), "main")
    for interpret in (False, True):
        results = program.run({"arg0": np.arange(9)[3:7]}, interpret=interpret)
        assert [np.asarray(value).tolist() for value in results.values()] == [0, 4]


@pytest.mark.parametrize("passes", ["", "canonicalize"])
def test_what_is_inside_a_program_may_have_an_offset(passes):
    """A view that is passed to another function, and returned, stands at the offset that its type says."""
    view = "memref<4xi64, strided<[1], offset: 3>>"
    text = f"""
    func.func @main(%m: memref<9xi64>) -> (index, {view}) {{
      %v = memref.subview %m[3] [4] [1] : memref<9xi64> to {view}
      %o = call @offset(%v) : ({view}) -> index
      return %o, %v : index, {view}
    }}"""
    program = qrt.compile(run_passes(qrt.ir.parse(text + _CALLED.format(view)), passes or "cse"), "main")
    for interpret in (False, True):
        results = program.run({"arg0": np.arange(9)}, interpret=interpret)
        assert [np.asarray(value).tolist() for value in results.values()] == [3, [3, 4, 5, 6]]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("strided<[1], offset: 3>", [3, 1, 2]),
        ("strided<[2]>", [0, 2, 2]),
        ("strided<[2], offset: 5>", [5, 2, 2]),
        ("strided<[?], offset: ?>", [0, 1, 2]),
        ("affine_map<(d0) -> (d0 * 2 + 1)>", [1, 2, 2]),
    ],
)
@pytest.mark.parametrize("constant", ["", "constant "])
@pytest.mark.parametrize("passes", ["cse", "canonicalize"])
def test_a_global_has_the_layout_of_its_type(layout, expected, constant, passes):
    """It was contiguous, while passes folded the offset and the strides to those that its type says."""
    type = f"memref<4xi64, {layout}>"
    text = f"""
    memref.global "private" {constant}@g : {type} = dense<[1, 2, 3, 4]>
    func.func @main() -> (index, index, i64) {{
      %c1 = arith.constant 1 : index
      %m = memref.get_global @g : {type}
      %b, %o, %n, %s = memref.extract_strided_metadata %m : {type} -> memref<i64>, index, index, index
      %x = memref.load %m[%c1] : {type}
      return %o, %s, %x : index, index, i64
    }}"""
    assert outcomes(text, passes=passes) == [expected] * 2
