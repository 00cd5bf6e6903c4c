"""Vector programs that canonicalize compute what they did, and what is an error when it runs stays one. Hazards: an
order of dimensions composed the wrong way round, a lane taken for one in bounds, a position or a start forgotten."""

from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import QuantError
from qrt.ir import run_passes
from qrt.types import IndexType, IntegerType
from tests.oracle.draw_numbers import NUMBERS
from tests.oracle.draw_types import Draw
from tests.oracle.draw_vectors import vectors

FILES = Path(__file__).parents[1] / "passes" / "files"
TEXTS = {path.name: path.read_text() for path in sorted(FILES.glob("canonicalize_vector*.mlir"))}
TEXTS = {name: text for name, text in TEXTS.items() if ".expected" not in name}
FUNCTIONS = [(name, function.sym_name) for name, text in TEXTS.items() for function in ir.parse(text).functions]


def given(types, indices):
    """Numbers that differ, small and of both signs, in the shapes of types."""
    numbers, index = iter(range(-7, 1 << 20)), iter(indices)
    for type in types:
        if isinstance(type, IndexType):
            yield np.int64(next(index, 2))
            continue
        shape = [4 if size is None else size for size in getattr(type, "shape", ())]
        element = getattr(type, "element", type)
        dtype = np.int32 if isinstance(element, IntegerType) else np.float32
        yield np.array([next(numbers) for _ in range(int(np.prod(shape)))], dtype).reshape(shape)[()]


def outcome(module, name, indices=()):
    """The bits of the results, and of the memory that was written."""
    types = [value.type for value in module.function(name).regions[0].blocks[0].arguments]
    arguments = {f"arg{number}": value for number, value in enumerate(given(types, indices))}
    results = qrt.compile(module, name).run(arguments, interpret=True)
    memory = [value for value in arguments.values() if value.ndim]
    return [(value.shape, value.tobytes()) for value in map(np.asarray, (*results.values(), *memory))]


@pytest.mark.parametrize(("file", "name"), FUNCTIONS)
def test_functions_compute_what_they_did(file, name):
    before, after = ir.parse(TEXTS[file]), run_passes(ir.parse(TEXTS[file]), "canonicalize")
    assert outcome(after, name) == outcome(before, name)


def test_drawn_programs_compute_what_they_did(capsys):
    draw = Draw("values of vectors")
    for _ in range(150):
        text = vectors(draw)
        after = run_passes(ir.parse(text), "canonicalize")
        after.verify()
        found = outcome(after, "f", NUMBERS), capsys.readouterr().out
        assert found == (outcome(ir.parse(text), "f", NUMBERS), capsys.readouterr().out), text


def test_canonical_programs_stay():
    draw = Draw("again")
    for _ in range(40):
        module = run_passes(ir.parse(vectors(draw)), "canonicalize")
        assert str(run_passes(ir.parse(str(module)), "canonicalize")) == str(module)


DOT = """vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"], kind = #vector.kind<KIND>}"""
UNLIKE_UPSTREAM = {
    "an element of a splat at any place, f32": """
      %0 = vector.broadcast %x : f32 to vector<4xf32>
      %1 = vector.extract %0[%i] : f32 from vector<4xf32>""",
    "an element of a constant at any place, f32": """
      %0 = arith.constant dense<1.0> : vector<4xf32>
      %1 = vector.extract %0[%i] : f32 from vector<4xf32>""",
    "a part of a mask at any place, vector<1xi1>": """
      %c2 = arith.constant 2 : index
      %0 = vector.create_mask %c2, %n : vector<2x1xi1>
      %1 = vector.extract %0[%i] : vector<1xi1> from vector<2x1xi1>""",
    "all of a vector put at any place, vector<1x4xf32>": """
      %1 = vector.insert %v, %r[%i] : vector<4xf32> into vector<1x4xf32>""",
    "a shape of a part at any place, vector<2x2xf32>": """
      %0 = vector.shape_cast %v : vector<4xf32> to vector<1x2x2xf32>
      %1 = vector.extract %0[%i] : vector<2x2xf32> from vector<1x2x2xf32>""",
    "an element at no place, f32": "%1 = vector.extract %v[-1] : f32 from vector<4xf32>",
    "a lane that is poison, vector<2xf32>": """
      %0 = arith.constant dense<1.0> : vector<2xf32>
      %1 = vector.shuffle %0, %0 [0, -1] : vector<2xf32>, vector<2xf32>""",
    "a splat with a lane that is poison, vector<2xf32>": """
      %0 = vector.broadcast %x : f32 to vector<2xf32>
      %1 = vector.shuffle %0, %0 [0, -1] : vector<2xf32>, vector<2xf32>""",
    "a sum of a negative zero, f32": """
      %0 = arith.constant dense<-0.0> : vector<1xf32>
      %1 = vector.reduction <add>, %0 : vector<1xf32> into f32""",
    "a reduction of no dimensions, vector<4xf32>": """
      %1 = vector.multi_reduction <add>, %v, %v [] : vector<4xf32> to vector<4xf32>""",
    "a product that begins with zero, i32": f"""
      %c = arith.constant 0 : i32
      %0 = {DOT.replace("KIND", "mul")} %w, %w, %c : vector<4xi32>, vector<4xi32> into i32
      %1 = arith.addi %0, %j : i32""",
    "the order of a float sum, f32": f"""
      %0 = arith.constant dense<[1.0e8, 1.0, -1.0e8, 1.0]> : vector<4xf32>
      %one = arith.constant dense<1.0> : vector<4xf32>
      %c = arith.constant 0.0 : f32
      %2 = {DOT.replace("KIND", "add")} %0, %one, %c : vector<4xf32>, vector<4xf32> into f32
      %1 = arith.addf %2, %x : f32""",
    "a slice of a mask of the least size, vector<2xi1>": """
      %0 = vector.create_mask %i : vector<4xi1>
      %1 = vector.extract_strided_slice %0 {offsets = [1], sizes = [2], strides = [1]}
        : vector<4xi1> to vector<2xi1>""",
    "a read before the beginning, vector<4xf32>": """
      %c = arith.constant -1 : index
      %1 = vector.transfer_read %t[%c], %x : tensor<8xf32>, vector<4xf32>""",
    "a masked read written over all, tensor<8xf32>": """
      %c0 = arith.constant 0 : index
      %2 = vector.constant_mask [3] : vector<8xi1>
      %0 = vector.transfer_read %t[%c0], %x, %2 : tensor<8xf32>, vector<8xf32>
      %3 = tensor.empty() : tensor<8xf32>
      %1 = vector.transfer_write %0, %3[%c0] : vector<8xf32>, tensor<8xf32>""",
    "a promise of what was read, tensor<8xf32>": """
      %0 = vector.transfer_read %t[%i], %x : tensor<8xf32>, vector<4xf32>
      %1 = vector.transfer_write %0, %t[%i] {in_bounds = [true]} : vector<4xf32>, tensor<8xf32>""",
    "a slice larger than what was written, tensor<8xf32>": """
      %c0 = arith.constant 0 : index
      %0 = tensor.empty() : tensor<4xf32>
      %2 = vector.transfer_write %v, %0[%c0] : vector<4xf32>, tensor<4xf32>
      %3 = tensor.extract_slice %2[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>
      %1 = tensor.insert_slice %3 into %t[0] [%n] [1] : tensor<?xf32> into tensor<8xf32>""",
    "transposed writes that only seem apart, vector<4x1xf32>": """
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %0 = vector.shape_cast %v : vector<4xf32> to vector<4x1xf32>
      %2 = tensor.empty() : tensor<2x8xf32>
      %3 = vector.transfer_write %0, %2[%c0, %c0] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
        : vector<4x1xf32>, tensor<2x8xf32>
      %4 = arith.addf %0, %0 : vector<4x1xf32>
      %5 = vector.transfer_write %4, %3[%c0, %c2] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
        : vector<4x1xf32>, tensor<2x8xf32>
      %1 = vector.transfer_read %5[%c0, %c0], %x {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
        : tensor<2x8xf32>, vector<4x1xf32>""",
}


def ending(module):
    """The outcome with a place that no vector has, or the kind of error."""
    try:
        return outcome(module, "f", (-(2**63), 5))
    except QuantError as error:
        return type(error)


@pytest.mark.parametrize("name", UNLIKE_UPSTREAM)
def test_what_upstream_changes(name):
    """It forgets positions that are out of bounds, takes poison for any value, and a sum for one in another order."""
    head = "%x: f32, %v: vector<4xf32>, %r: vector<1x4xf32>, %t: tensor<8xf32>, %w: vector<4xi32>, %j: i32"
    made, body = name.rpartition(", ")[2], UNLIKE_UPSTREAM[name]
    text = f"func.func @f({head}, %i: index, %n: index) -> {made} {{\n{body}\n  return %1 : {made}\n}}"
    assert ending(run_passes(ir.parse(text), "canonicalize")) == ending(ir.parse(text))


def test_an_insertion_with_an_attribute_that_is_named_as_one_of_an_extraction():
    """An operation may have any attributes beside its own: the fold of slices took them for its sizes."""
    text = """func.func @f(%v: vector<4x8xf32>, %q: vector<1x4xf32>) -> vector<1x2xf32> {
      %0 = vector.insert_strided_slice %q, %v {sizes = [@x, 1], offsets = [3, 0], strides = [1, 1]}
          : vector<1x4xf32> into vector<4x8xf32>
      %1 = vector.extract_strided_slice %0 {offsets = [3, 1], sizes = [1, 2], strides = [1, 1]}
          : vector<4x8xf32> to vector<1x2xf32>
      return %1 : vector<1x2xf32>
    }"""
    module = run_passes(ir.parse(text), "canonicalize")
    (taken,) = [op for op in module.operation.walk() if op.name.startswith("vector.")]
    assert taken.attributes["offsets"].python == (0, 1)
