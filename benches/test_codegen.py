"""Machine code of lowered programs, and raised programs, against kernels on one thread.

Goals: machine code of a product takes 8 times as long as the AVX2 kernel, by dot products of four terms 3 times; a
raised program takes 1.1 times as long as the kernel; a network is compiled in one second of CPU time.
"""

import re
from time import process_time

import numpy as np
import pytest

import qrt
from benches.accuracy.programs import FOLDER, program
from qrt import ir
from qrt.runtime.codegen import target

TYPES = """
!a = !quant.uniform<i8:f32, 0.02:3>
!w = !quant.uniform<i8:f32, 0.01>
!o = !quant.uniform<i8:f32, 0.1:-5>
"""
FORMS = [f"to={to} zero-point={point}" for to in ("linalg", "loops") for point in ("post-accumulation", "in-loop")]
FORMS.append("to=dot4")


def function(op: str, attributes: str, *shapes: str) -> str:
    a, w, o = (f"tensor<{shape}x!{name}>" for shape, name in zip(shapes, "awo", strict=True))
    return f"""{TYPES}
    func.func @main(%a: {a}, %w: {w}) -> {o} {{
      %r = qrt.{op} %a, %w {attributes} : ({a}, {w}) -> {o}
      return %r : {o}
    }}"""


SAME = "{strides = [1, 1], padding = [[1, 1], [1, 1]]}"
PROGRAMS = {
    "product 256^3": function("matmul", "", "256x256", "256x256", "256x256"),
    "convolution 28x28, 64 to 64": function("conv2d", SAME, "1x28x28x64", "64x3x3x64", "1x28x28x64"),
    "depthwise 56x56, 64": function("depthwise_conv2d", SAME, "1x56x56x64", "3x3x64", "1x56x56x64"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_lowered_program(benchmark, paired, report, one_thread, name, form):
    if "avx2" not in qrt.kernels.available():
        pytest.skip("the yardstick is the AVX2 kernel")
    text, rng = PROGRAMS[name], np.random.default_rng(0)
    code = qrt.compile(ir.run_passes(ir.parse(text), f"lower-qrt{{{form}}}"), codegen=True)
    arrays = [rng.integers(-128, 128, port.type.shape, np.int8) for port in code.inputs]
    with qrt.kernels.use("avx2"):
        kernel = qrt.compile(text)
        np.testing.assert_array_equal(code(*arrays).storage, kernel(*arrays).storage)
        time, ratio = paired(lambda: code(*arrays), lambda: kernel(*arrays), clock=process_time)
    benchmark.extra_info["ratio"] = round(ratio, 2)
    benchmark.pedantic(lambda: code(*arrays), rounds=9)
    report(f"machine code, {name}, {form}: {time * 1e6:.0f} us, {ratio:.1f} times the AVX2 kernel")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_raised_program(benchmark, paired, report, one_thread, name, form):
    text, rng = PROGRAMS[name], np.random.default_rng(0)
    passes = f"lower-qrt{{{form}}},quant-to-integer-types,canonicalize,raise-to-qrt,canonicalize"
    raised = qrt.compile(ir.run_passes(ir.parse(text), passes))
    kernel = qrt.compile(text)
    arrays = [rng.integers(-128, 128, port.type.shape, np.int8) for port in kernel.inputs]
    np.testing.assert_array_equal(raised(*arrays), kernel(*arrays).storage)
    time, ratio = paired(lambda: raised(*arrays), lambda: kernel(*arrays), clock=process_time)
    benchmark.extra_info["ratio"] = round(ratio, 2)
    benchmark.pedantic(lambda: raised(*arrays), rounds=9)
    report(f"raised, {name}, {form}: {time * 1e6:.0f} us, {ratio:.2f} times the kernel")


def test_compilation_of_a_network(benchmark, report, one_thread):
    rng = np.random.default_rng(0)
    shapes = re.findall(r"dense_resource<(\w+)> : tensor<([\dx]+)xf32>", FOLDER.joinpath("digits.mlir").read_text())
    weights = {name: rng.normal(0, 0.2, tuple(map(int, shape.split("x")))) for name, shape in shapes}
    images = rng.random((64, 8, 8, 1)).astype(np.float32)
    quantized = qrt.quantize_program(ir.parse(program("digits", weights)), {"images": images}).program

    def compile_and_run() -> np.ndarray:
        target._compiled.cache_clear()
        return qrt.compile(quantized.module, codegen=True)(images)

    compile_and_run()  # LLVM starts
    start = process_time()
    result = compile_and_run()
    taken = process_time() - start
    np.testing.assert_array_equal(result, quantized(images))
    benchmark.pedantic(compile_and_run, rounds=3)
    report(f"machine code of the digits network: compiled and run in {taken * 1e3:.0f} ms")
