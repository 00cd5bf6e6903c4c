"""Memory of tensors and memrefs. Hazards: an op that writes over a tensor that is read later, views, storage that is
narrower than memory, tensors without elements, and stores beyond the end of an array."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from qrt import kernels
from qrt.errors import ModelError
from qrt.runtime.codegen import emitter, target
from qrt.runtime.compilation import compile
from tests.runtime.codegen.harness import check

X = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


def test_views_of_a_tensor_that_is_then_written() -> None:
    text = """func.func @main(%x: tensor<2x3x4xi32>, %i: index) -> (tensor<4xi32>, tensor<12x2xi32>,
        tensor<2x3x4xi32>) {
      %c0 = arith.constant 0 : index
      %v = arith.constant -1 : i32
      %y = arith.addi %x, %x : tensor<2x3x4xi32>
      %s = tensor.extract_slice %y[1, %i, 0] [1, 1, 4] [1, 1, 1] : tensor<2x3x4xi32> to tensor<4xi32>
      %f = tensor.collapse_shape %y [[0, 1, 2]] : tensor<2x3x4xi32> into tensor<24xi32>
      %e = tensor.expand_shape %f [[0, 1]] output_shape [12, 2] : tensor<24xi32> into tensor<12x2xi32>
      %w = tensor.insert %v into %y[%c0, %c0, %c0] : tensor<2x3x4xi32>
      return %s, %e, %w : tensor<4xi32>, tensor<12x2xi32>, tensor<2x3x4xi32>
    }"""
    for index in (0, 2, 3, -1):
        check(text, X, np.array(index))


def test_insert_into_a_slice_of_itself() -> None:
    text = """func.func @main(%x: tensor<6xi32>) -> tensor<6xi32> {
      %y = arith.addi %x, %x : tensor<6xi32>
      %s = tensor.extract_slice %y[0] [4] [1] : tensor<6xi32> to tensor<4xi32>
      %r = tensor.insert_slice %s into %y[2] [4] [1] : tensor<4xi32> into tensor<6xi32>
      return %r : tensor<6xi32>
    }"""
    check(text, np.arange(6, dtype=np.int32))


@pytest.mark.parametrize("stride", [1, 2, -1])
def test_strided_slices(stride: int) -> None:
    offset = 5 if stride < 0 else 1
    text = f"""func.func @main(%x: tensor<6x5xi8>, %i: index) -> (tensor<3x5xi8>, tensor<6x5xi8>) {{
      %s = tensor.extract_slice %x[{offset}, 0] [3, 5] [{stride}, 1] : tensor<6x5xi8> to tensor<3x5xi8>
      %r = tensor.insert_slice %s into %x[%i, 0] [3, 5] [1, 1] : tensor<3x5xi8> into tensor<6x5xi8>
      return %s, %r : tensor<3x5xi8>, tensor<6x5xi8>
    }}"""
    for index in (0, 3, 4):
        check(text, np.arange(30, dtype=np.int8).reshape(6, 5), np.array(index))


def test_pad_concat_generate_and_reshape() -> None:
    text = """func.func @main(%x: tensor<2x3xi5>, %v: i5) -> (tensor<4x5xi5>, tensor<4x3xi5>, tensor<3x3xindex>,
        tensor<6xi5>) {
      %shape = arith.constant dense<6> : tensor<1xindex>
      %p = tensor.pad %x low[1, 2] high[1, 0] { ^bb0(%i: index, %j: index): tensor.yield %v : i5 } : tensor<2x3xi5>
          to tensor<4x5xi5>
      %c = tensor.concat dim(0) %x, %x : (tensor<2x3xi5>, tensor<2x3xi5>) -> tensor<4x3xi5>
      %g = tensor.generate { ^bb0(%i: index, %j: index): %k = arith.muli %i, %j : index tensor.yield %k : index } :
          tensor<3x3xindex>
      %r = tensor.reshape %x(%shape) : (tensor<2x3xi5>, tensor<1xindex>) -> tensor<6xi5>
      return %p, %c, %g, %r : tensor<4x5xi5>, tensor<4x3xi5>, tensor<3x3xindex>, tensor<6xi5>
    }"""
    check(text, np.arange(-3, 3, dtype=np.int8).reshape(2, 3), np.array(-16, np.int8))


def test_tensors_without_elements() -> None:
    text = """func.func @main(%x: tensor<0x3xi32>, %y: tensor<2x0xi32>) -> (tensor<0x3xi32>, tensor<2x3xi32>,
        tensor<1x3xi32>) {
      %z = arith.constant 5 : i32
      %e = tensor.empty() : tensor<2x3xi32>
      %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
      %s = arith.addi %x, %x : tensor<0x3xi32>
      %m = linalg.matmul ins(%y, %x : tensor<2x0xi32>, tensor<0x3xi32>) outs(%f : tensor<2x3xi32>) -> tensor<2x3xi32>
      %p = tensor.pad %x low[1, 0] high[0, 0] { ^bb0(%i: index, %j: index): tensor.yield %z : i32 } :
          tensor<0x3xi32> to tensor<1x3xi32>
      return %s, %m, %p : tensor<0x3xi32>, tensor<2x3xi32>, tensor<1x3xi32>
    }"""
    check(text, np.zeros((0, 3), np.int32), np.zeros((2, 0), np.int32))


def test_output_that_the_body_reads_and_a_reduction_of_nothing() -> None:
    """Hazards: outputs are initialized from the operand where the body reads it, or where no iteration writes."""
    text = """func.func @main(%x: tensor<3x0xi32>, %o: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
      %e = tensor.empty() : tensor<3xi32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x0xi32>) outs(%o : tensor<3xi32>) {
      ^bb0(%a: i32, %b: i32): linalg.yield %a : i32 } -> tensor<3xi32>
      %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%o :
          tensor<3xi32>) {
      ^bb0(%b: i32): %t = arith.addi %b, %b : i32 linalg.yield %t : i32 } -> tensor<3xi32>
      %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e :
          tensor<3xi32>) {
      ^bb0(%b: i32): %t = arith.addi %b, %b : i32 linalg.yield %t : i32 } -> tensor<3xi32>
      return %r, %s, %z : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
    }"""
    check(text, np.zeros((3, 0), np.int32), np.int32([4, 5, 6]))


def test_float_sums_keep_the_order_of_the_loops() -> None:
    """Hazard: the parallel loop becomes the innermost one, and a vectorized sum would round in another order."""
    rng = np.random.default_rng(2)
    x = (rng.standard_normal((40, 33)) * 10.0 ** rng.integers(-3, 4, (40, 33))).astype(np.float32)
    text = """func.func @main(%x: tensor<40x33xf32>, %o: tensor<33xf32>, %q: tensor<40xf32>) -> (tensor<33xf32>,
        tensor<40xf32>) {
      %r = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>],
          iterator_types = ["parallel", "reduction"]} ins(%x : tensor<40x33xf32>) outs(%o : tensor<33xf32>) {
      ^bb0(%a: f32, %b: f32): %s = arith.addf %b, %a : f32 linalg.yield %s : f32 } -> tensor<33xf32>
      %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]} ins(%x : tensor<40x33xf32>) outs(%q : tensor<40xf32>) {
      ^bb0(%a: f32, %b: f32): %s = arith.addf %b, %a : f32 linalg.yield %s : f32 } -> tensor<40xf32>
      return %r, %c : tensor<33xf32>, tensor<40xf32>
    }"""
    check(text, x, np.zeros(33, np.float32), np.zeros(40, np.float32))


def test_structured_op_on_memrefs_that_overlap() -> None:
    """Hazard: the loops run in another order, which an output that is also an input shows."""
    text = """func.func @main(%m: memref<6xi32>) {
      %a = memref.subview %m[0] [5] [1] : memref<6xi32> to memref<5xi32, strided<[1]>>
      %b = memref.subview %m[1] [5] [1] : memref<6xi32> to memref<5xi32, strided<[1], offset: 1>>
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%a : memref<5xi32, strided<[1]>>) outs(%b : memref<5xi32, strided<[1], offset: 1>>) {
      ^bb0(%x: i32, %y: i32): %s = arith.addi %x, %y : i32 linalg.yield %s : i32 }
      return
    }"""
    check(text, np.arange(1, 7, dtype=np.int32))


def test_the_same_array_for_two_memrefs() -> None:
    """Hazard: arguments that the compiler believes not to overlap."""
    text = """func.func @main(%m: memref<40xi32>, %o: memref<40xi32>) {
      affine.for %i = 0 to 39 {
        %v = affine.load %m[%i] : memref<40xi32>
        affine.store %v, %o[%i + 1] : memref<40xi32>
      }
      return
    }"""
    array = np.arange(40, dtype=np.int32)
    compile(text, codegen=True).run({"arg0": array, "arg1": array})
    assert array.tolist() == [0] * 40


def shifts(count: int) -> str:
    """Return a program that shifts 3 x ``count`` numbers and truncates them."""
    return f"""func.func @main(%x: tensor<3x{count}xi64>, %s: tensor<{count}xi64>, %o: memref<3x{count}xi24>) {{
      %a = bufferization.to_buffer %x : tensor<3x{count}xi64> to memref<3x{count}xi64>
      %b = bufferization.to_buffer %s : tensor<{count}xi64> to memref<{count}xi64>
      affine.for %k = 0 to 3 {{
        affine.for %i = 0 to {count} {{
          %v = affine.load %a[%k, %i] : memref<3x{count}xi64>
          %n = affine.load %b[%i] : memref<{count}xi64>
          %r = arith.shrsi %v, %n : i64
          %low = arith.constant -8388608 : i64
          %high = arith.constant 8388607 : i64
          %l = arith.maxsi %r, %low : i64
          %w = arith.minsi %l, %high : i64
          %t = arith.trunci %w : i64 to i24
          affine.store %t, %o[%k, %i] : memref<3x{count}xi24>
        }}
      }}
      return
    }}"""


def test_the_same_array_for_a_tensor_and_a_memref() -> None:
    """Hazard: the tensor's elements are read after the memref was written, which the interpreter does too."""
    text = """func.func @main(%t: tensor<40xi32>, %o: memref<40xi32>) -> tensor<40xi32> {
      %k = arith.constant 9 : i32
      affine.for %i = 0 to 40 {
        affine.store %k, %o[%i] : memref<40xi32>
      }
      return %t : tensor<40xi32>
    }"""
    results = []
    for options in ({}, {"interpret": True}):
        array = np.arange(40, dtype=np.int32)
        result = compile(text, codegen=not options).run({"arg0": array, "arg1": array}, **options)
        results.append((array.tolist(), result["result0"].tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("count", [1, 7, 9, 11, 13, 15, 16, 17, 25, 31, 33])
def test_nothing_is_written_behind_an_array(count: int) -> None:
    """Hazard: LLVM 22 writes 8 bytes for a masked store of one 4-byte element that is truncated from 8 bytes."""
    rng = np.random.default_rng(count)
    x = rng.integers(-(2**40), 2**40, (3, count))
    amounts = rng.integers(0, 30, count)
    behind = np.full(3 * count + 4, 77, np.int32)
    out = behind[: 3 * count].reshape(3, count)
    compile(shifts(count), codegen=True).run({"arg0": x, "arg1": amounts, "arg2": out})
    np.testing.assert_array_equal(out, np.clip(x >> amounts, -(2**23), 2**23 - 1))
    assert behind[3 * count :].tolist() == [77] * 4


@pytest.mark.skipif("avx2" not in kernels.available(), reason="this CPU has no masked stores")
@pytest.mark.parametrize("short", [emitter.SHORT_LOOP, 0])
def test_short_loops_keep_the_others_vectorized(monkeypatch: pytest.MonkeyPatch, short: int) -> None:
    """Hazard: masked stores, for which the whole function is compiled again without vectors. The guard alone (``short``
    0) protects too."""
    runs = []
    plain = target._optimized
    monkeypatch.setattr(
        target, "_optimized", lambda *given, vectorized: runs.append(vectorized) or plain(*given, vectorized=vectorized)
    )
    monkeypatch.setattr(emitter, "SHORT_LOOP", short)
    target._compiled.cache_clear()
    x = np.arange(39).reshape(3, 13) << 40
    check(shifts(13), x, np.arange(13), np.zeros((3, 13), np.int32))
    assert runs == ([True] if short else [True, False])


def test_memrefs_and_tensors() -> None:
    """Hazard: a memref that is written after a tensor was made of it."""
    text = """func.func @main(%x: tensor<5xi16>, %v: i16) -> (tensor<5xi16>, tensor<5xi16>) {
      %c2 = arith.constant 2 : index
      %m = memref.alloc() : memref<5xi16>
      affine.for %i = 0 to 5 {
        %e = tensor.extract %x[%i] : tensor<5xi16>
        affine.store %e, %m[%i] : memref<5xi16>
      }
      %first = bufferization.to_tensor %m restrict : memref<5xi16> to tensor<5xi16>
      memref.store %v, %m[%c2] : memref<5xi16>
      %second = bufferization.to_tensor %m restrict : memref<5xi16> to tensor<5xi16>
      return %first, %second : tensor<5xi16>, tensor<5xi16>
    }"""
    check(text, np.arange(5, dtype=np.int16), np.array(-7, np.int16))


def test_memory_is_zero_at_first_in_each_iteration() -> None:
    text = """func.func @main(%o: memref<4xi32>) {
      affine.for %i = 0 to 4 {
        %m = memref.alloc() : memref<4xi32>
        %k = arith.index_cast %i : index to i32
        affine.store %k, %m[%i] : memref<4xi32>
        affine.for %j = 0 to 4 {
          %v = affine.load %m[%j] : memref<4xi32>
          %w = affine.load %o[%i] : memref<4xi32>
          %s = arith.addi %v, %w : i32
          affine.store %s, %o[%i] : memref<4xi32>
        }
      }
      return
    }"""
    check(text, np.zeros(4, np.int32))


@pytest.mark.parametrize("storage", ["u5", "i5", "u8", "i1", "u1", "u16", "i31", "u31"])
def test_storage_casts(storage: str) -> None:
    """Hazard: memory has zeros above an unsigned type's bits, and the sign above those of a signless integer."""
    width = int(storage[1:])
    quantized, plain = f"tensor<6x!quant.uniform<{storage}:f32, 0.5>>", f"tensor<6xi{width}>"
    text = f"""func.func @main(%x: {quantized}, %y: {plain}) -> ({plain}, {quantized}, {quantized}) {{
      %a = quant.scast %x : {quantized} to {plain}
      %b = arith.addi %a, %y : {plain}
      %c = quant.scast %b : {plain} to {quantized}
      %k = arith.constant dense<{"true" if width == 1 else -1}> : {plain}
      %q = quant.scast %k : {plain} to {quantized}
      return %b, %c, %q : {plain}, {quantized}, {quantized}
    }}"""
    low, high = (0, 2**width - 1) if storage[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    dtypes = {1: bool, 5: np.int8, 8: np.int8, 16: np.int16, 31: np.int32}
    kind = "u" if storage[0] == "u" else ""
    stored = np.dtype(f"{kind}int{ {1: 8, 5: 8, 8: 8, 16: 16, 31: 32}[width] }")
    x = np.array([low, high, low, high, 0, low], stored)
    y = np.array([1, 0, 1, 1, 0, 1], dtypes[width])
    check(text, x, y)


def test_large_constants_are_not_in_the_text() -> None:
    from qrt.runtime.codegen.function import CompiledFunction

    values = ", ".join(map(str, range(3000)))
    text = f"""func.func @main(%x: tensor<3000xi32>) -> tensor<3000xi32> {{
      %k = arith.constant dense<[{values}]> : tensor<3000xi32>
      %r = arith.addi %x, %k : tensor<3000xi32>
      return %r : tensor<3000xi32>
    }}"""
    program = compile(text)
    function = program.module.functions[0]
    assert len(CompiledFunction(function, [program.inputs[0].type], saturating=False).text) < 3000
    check(text, np.arange(3000, dtype=np.int32)[::-1].copy())


def chain(length: int, last: str = "") -> str:
    """Return a program of sums, each of the two values before it; ``last`` follows them."""
    t = "tensor<1000xi32>"
    lines = [f"%v{n} = arith.addi %v{n - 1}, %v{n - 2} : {t}" for n in range(2, length)]
    lines.append(last or f"return %v{length - 1} : {t}")
    results = t if not last else f"({t}, {t})"
    return f"func.func @main(%v0: {t}, %v1: {t}) -> {results} {{ {' '.join(lines)} }}"


def test_memory_of_values_that_are_not_used_any_more_is_used_again() -> None:
    x = np.arange(1000, dtype=np.int32)
    check(chain(30), x, x[::-1].copy())
    assert compile(chain(30), codegen=True).memory().arena_bytes <= 3 * 4096


def test_memory_of_values_that_are_returned_or_viewed_is_not_used_again() -> None:
    """Hazard: a view, or a loop that reads a value later than it stands."""
    t = "tensor<1000xi32>"
    last = f"""%s = tensor.extract_slice %v2[0] [10] [1] : {t} to tensor<10xi32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c10 = arith.constant 10 : index
      %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %v9) -> ({t}) {{
        %e = tensor.extract %s[%i] : tensor<10xi32>
        %n = tensor.insert %e into %a[%i] : {t}
        %m = arith.addi %n, %v5 : {t}
        scf.yield %m : {t}
      }}
      return %v4, %r : {t}, {t}"""
    x = np.arange(1000, dtype=np.int32)
    check(chain(12, last), x, x[::-1].copy())


def test_runs_at_once_have_memory_of_their_own() -> None:
    program = compile(chain(40), codegen=True)
    arrays = [np.full(1000, n, np.int32) for n in range(16)]
    expected = [program(array, array) for array in arrays]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: program(arrays[n % 16], arrays[n % 16]), range(200)))
    for number, result in enumerate(results):
        np.testing.assert_array_equal(result, expected[number % 16])


def test_bufferized_program() -> None:
    """Views, copies and frees, as upstream's one-shot-bufferize writes them."""
    text = """memref.global "private" constant @weights : memref<4x6xi8> = dense<3>
    func.func @main(%x: memref<2x12xi8>, %o: memref<24xi8>) {
      %c1 = arith.constant 1 : index
      %n = memref.dim %x, %c1 : memref<2x12xi8>
      %k = arith.index_cast %n : index to i8
      %w = memref.get_global @weights : memref<4x6xi8>
      %e = memref.collapse_shape %x [[0, 1]] : memref<2x12xi8> into memref<24xi8>
      %f = memref.expand_shape %e [[0, 1]] output_shape [4, 6] : memref<24xi8> into memref<4x6xi8>
      %a = memref.alloc() {alignment = 64 : i64} : memref<4x6xi8>
      linalg.add ins(%f, %w : memref<4x6xi8>, memref<4x6xi8>) outs(%a : memref<4x6xi8>)
      %t = memref.transpose %a (i, j) -> (j, i) : memref<4x6xi8> to memref<6x4xi8, strided<[1, 6]>>
      %b = memref.alloc() : memref<6x4xi8>
      memref.copy %t, %b : memref<6x4xi8, strided<[1, 6]>> to memref<6x4xi8>
      memref.dealloc %a : memref<4x6xi8>
      %s = memref.subview %b[1, 0] [5, 4] [1, 1] : memref<6x4xi8> to memref<5x4xi8, strided<[4, 1], offset: 4>>
      linalg.map { arith.muli } ins(%s, %s : memref<5x4xi8, strided<[4, 1], offset: 4>>,
          memref<5x4xi8, strided<[4, 1], offset: 4>>) outs(%s : memref<5x4xi8, strided<[4, 1], offset: 4>>)
      %r = memref.reinterpret_cast %b to offset: [0], sizes: [24], strides: [1] : memref<6x4xi8> to memref<24xi8>
      affine.for %i = 0 to 24 {
        %v = affine.load %r[%i] : memref<24xi8>
        %p = arith.addi %v, %k : i8
        affine.store %p, %o[23 - %i] : memref<24xi8>
      }
      memref.dealloc %b : memref<6x4xi8>
      return
    }"""
    check(text, np.arange(24, dtype=np.int8).reshape(2, 12), np.zeros(24, np.int8))


@pytest.mark.parametrize(
    "end",
    [
        "memref.dealloc %m : memref<4xi8> %v = memref.load %s[%c0] : memref<2xi8, strided<[1]>>",
        "memref.dealloc %m : memref<4xi8> memref.dealloc %m : memref<4xi8> %v = arith.constant 0 : i8",
        "%r = memref.reinterpret_cast %m to offset: [1], sizes: [4], strides: [1] : memref<4xi8> to "
        "memref<4xi8, strided<[1], offset: 1>> %v = arith.constant 0 : i8",
    ],
)
def test_use_of_freed_memory_and_of_elements_behind_it_is_refused(end: str) -> None:
    text = f"""func.func @main() -> i8 {{
      %c0 = arith.constant 0 : index
      %m = memref.alloc() : memref<4xi8>
      %s = memref.subview %m[0] [2] [1] : memref<4xi8> to memref<2xi8, strided<[1]>>
      {end}
      return %v : i8
    }}"""
    with pytest.raises(ModelError, match=r"'memref\.(dealloc|reinterpret_cast)' op (frees memory|elements 1 to 4)"):
        compile(text, codegen=True)
