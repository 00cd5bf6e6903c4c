"""StableHLO's reference interpreter, from the Python package `jaxlib`: one op of floats or integers at a time."""

import importlib.util
import os

import numpy as np
import pytest

FOUND = importlib.util.find_spec("jaxlib")
if FOUND is None and os.environ.get("QRT_REQUIRE_ORACLE"):
    raise RuntimeError("jaxlib is not installed, and QRT_REQUIRE_ORACLE says that it must be")
needed = pytest.mark.skipif(FOUND is None, reason="jaxlib is not installed: see `make test-oracle`")


def quantized(x, quantized_type, storage):
    """`uniform_quantize` of float32: storage integers, as signless `storage` reads them."""
    made, stored = (_tensor(x.shape, element) for element in (quantized_type, storage))
    return _evaluated(
        f"func.func @main(%x: {_tensor(x.shape, 'f32')}) -> {stored} {{\n"
        f"  %0 = stablehlo.uniform_quantize %x : ({_tensor(x.shape, 'f32')}) -> {made}\n"
        f"  %1 = stablehlo.bitcast_convert %0 : ({made}) -> {stored}\n"
        f"  return %1 : {stored}\n}}\n",
        x,
    )


def dequantized(integers, quantized_type, storage):
    """`uniform_dequantize` of storage integers: float32."""
    made, stored = (_tensor(integers.shape, element) for element in (quantized_type, storage))
    floats = _tensor(integers.shape, "f32")
    return _evaluated(
        f"func.func @main(%x: {stored}) -> {floats} {{\n"
        f"  %0 = stablehlo.bitcast_convert %x : ({stored}) -> {made}\n"
        f"  %1 = stablehlo.uniform_dequantize %0 : ({made}) -> {floats}\n"
        f"  return %1 : {floats}\n}}\n",
        integers,
    )


def _tensor(shape, element):
    return f"tensor<{''.join(f'{dim}x' for dim in shape)}{element}>"


def _evaluated(text, operand):
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import func, stablehlo  # noqa: F401  func registers its ops

    stablehlo.register_stablehlo_passes()
    with ir.Context() as context:
        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        stablehlo.register_dialect(context)
        # jaxlib registers no quant dialect; this pass depends on it, and brings it into the context
        pipeline = passmanager.PassManager.parse("builtin.module(vhlo-legalize-to-stablehlo)")
        pipeline.run(ir.Module.parse("module {}").operation)
        (result,) = stablehlo.eval_module(ir.Module.parse(text), [ir.DenseElementsAttr.get(operand)])
        return np.array(result)
