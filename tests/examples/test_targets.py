"""The targets of the examples, as files. Hazards: an example that no longer quantizes, exports that differ in a bit, an
operation of qrt left in a program for a device that lacks it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir.core.constraints import element_of
from qrt.quantization.targets import find
from qrt.types import UniformType
from tests.registries import restored_registries

FOLDER = Path(__file__).parents[2] / "examples" / "targets"
STATS = '"quant.stats"(%{0}) {{layerStats = dense<[{2}, {3}]> : tensor<2xf32>}} : (tensor<{1}xf32>) -> tensor<{1}xf32>'


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    with restored_registries():
        yield
    for name in ("npu", "dsp"):
        sys.modules.pop(name, None)


def constant(values: np.ndarray) -> str:
    return f"arith.constant dense<{np.float32(values).tolist()}> : tensor<{'x'.join(map(str, values.shape))}xf32>"


def images(seed: int, *, is_last: bool) -> str:
    """Return two convolutions with a sum around the second; the sizes and the ranges are drawn."""
    rng = np.random.default_rng(seed)
    n, c, size = (int(x) for x in rng.integers((1, 1, 4), (3, 5, 7)))
    low, high = -float(rng.uniform(0.1, 4)), float(rng.uniform(0.1, 4))
    shape = f"{n}x{size}x{size}x{c}" if is_last else f"{n}x{c}x{size}x{size}"
    filters = rng.normal(size=(1, 1, c, c) if is_last else (c, c, 1, 1))
    name = "conv_2d_nhwc_hwcf" if is_last else "conv_2d_nchw_fchw"
    kernel = "x".join(map(str, filters.shape))
    conv = (
        f"linalg.{name} ins(%{{0}}, %w : tensor<{shape}xf32>, tensor<{kernel}xf32>)"
        f" outs(%f : tensor<{shape}xf32>) -> tensor<{shape}xf32>"
    )
    return f"""func.func @main(%x: tensor<{shape}xf32>) -> tensor<{shape}xf32> {{
      %xs = {STATS.format("x", shape, low, high)}
      %w = {constant(filters)}
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<{shape}xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{shape}xf32>) -> tensor<{shape}xf32>
      %y = {conv.format("xs")}
      %ys = {STATS.format("y", shape, 8 * low, 8 * high)}
      %z = {conv.format("ys")}
      %zs = {STATS.format("z", shape, low, high)}
      %s = arith.addf %zs, %ys : tensor<{shape}xf32>
      %r = {STATS.format("s", shape, 9 * low, 9 * high)}
      return %r : tensor<{shape}xf32>
    }}"""


def product(seed: int) -> str:
    rng = np.random.default_rng(seed)
    rows, depth, columns = (int(x) for x in rng.integers(1, (5, 17, 6)))
    low, high = -float(rng.uniform(0.1, 4)), float(rng.uniform(0.1, 4))
    w, b = rng.normal(size=(depth, columns)), rng.normal(0, 10.0 ** rng.integers(-2, 4), size=columns)
    y = f"{rows}x{columns}"
    return f"""func.func @main(%x: tensor<{rows}x{depth}xf32>, %u: tensor<{y}xf32>) -> tensor<{y}xf32> {{
      %xs = {STATS.format("x", f"{rows}x{depth}", low, high)}
      %us = {STATS.format("u", y, high / -3, high / 2)}
      %w = {constant(w)}
      %b = {constant(b)}
      %e = tensor.empty() : tensor<{y}xf32>
      %v = linalg.broadcast ins(%b : tensor<{columns}xf32>) outs(%e : tensor<{y}xf32>) dimensions = [0]
      %m = linalg.matmul ins(%xs, %w : tensor<{rows}x{depth}xf32>, tensor<{depth}x{columns}xf32>)
        outs(%v : tensor<{y}xf32>) -> tensor<{y}xf32>
      %z = arith.constant dense<0.0> : tensor<{y}xf32>
      %r = arith.maximumf %m, %z : tensor<{y}xf32>
      %rs = {STATS.format("r", y, 0.0, high)}
      %s = arith.addf %rs, %us : tensor<{y}xf32>
      %ss = {STATS.format("s", y, low, high)}
      return %ss : tensor<{y}xf32>
    }}"""


def exports(text: str, file: Path) -> tuple[ir.Module, list[bytes]]:
    """Return the fixed export, and the results of both exports and of the text of the fixed one."""
    passes = ",".join(f"{name}{{target={file}}}" for name in ("fuse-kernels", "propagate-quant", "check-quant"))
    module = ir.run_passes(ir.parse(text), passes)
    assert qrt.quantization.is_fully_quantized(module, find(str(file)))
    fixed, codegen = (
        ir.run_passes(ir.parse(str(module)), f"export-quant{{to={to} target={file}}}") for to in ("fixed", "codegen")
    )
    rng = np.random.default_rng(0)
    programs = [qrt.compile(program) for program in (fixed, codegen, ir.parse(str(fixed)))]
    inputs = [rng.normal(0, 2, port.type.shape).astype(np.float32) for port in programs[0].inputs]
    return fixed, [np.asarray(program(*inputs)).tobytes() for program in programs]


def names(module: ir.Module, prefix: str) -> list[str]:
    return [operation.name for operation in module.operation.walk() if operation.name.startswith(prefix)]


@pytest.mark.parametrize("is_last", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_networks_run_on_the_kernels_of_the_npu(seed: int, is_last: bool) -> None:
    module, results = exports(images(seed, is_last=is_last), FOLDER / "npu.py")
    assert len(set(results)) == 1
    assert names(module, "npu.conv2d") == ["npu.conv2d"] * 2
    assert names(module, "npu.add") == ["npu.add"]
    assert set(names(module, "qrt.")) <= ({"qrt.transpose"} if is_last else set())


@pytest.mark.parametrize("seed", range(12))
def test_products_run_on_the_kernels_of_the_dsp(seed: int) -> None:
    module, results = exports(product(seed), FOLDER / "dsp.py")
    assert len(set(results)) == 1
    assert names(module, "dsp.") == ["dsp.mac", "dsp.shift", "dsp.add"]
    elements = [element_of(value.type) for operation in module.operation.walk() for value in operation.results]
    scales = [scale for element in elements if isinstance(element, UniformType) for scale in element.scales]
    assert {float(np.frexp(scale)[0]) for scale in scales} == {0.5}


@pytest.mark.parametrize(("depth", "count"), [(16, 1), (17, 0)])
def test_a_sum_that_may_pass_16_bits_stays_float(depth: int, count: int) -> None:
    text = f"""func.func @main(%x: tensor<2x{depth}xf32>) -> tensor<2x3xf32> {{
      %f = tensor.empty() : tensor<2x3xf32>
      %w = arith.constant dense<1.0> : tensor<{depth}x3xf32>
      %zero = arith.constant 0.0 : f32
      %i = linalg.fill ins(%zero : f32) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
      %m = linalg.matmul ins(%x, %w : tensor<2x{depth}xf32>, tensor<{depth}x3xf32>)
        outs(%i : tensor<2x3xf32>) -> tensor<2x3xf32>
      return %m : tensor<2x3xf32>
    }}"""
    module = ir.run_passes(ir.parse(text), f"fuse-kernels{{target={FOLDER / 'dsp.py'}}}")
    assert str(module).count('kernel = "dsp.matmul"') == count


def test_a_file_without_a_target_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "nothing_here.py"
    file.write_text("TARGET = 1\n")
    with pytest.raises(qrt.errors.ModelError, match="the file of a target defines TARGET, a Target, got 1"):
        find(str(file))
    sys.modules.pop("nothing_here")
