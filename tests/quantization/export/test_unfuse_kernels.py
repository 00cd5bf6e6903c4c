"""Bodies put back. Hazards: a decided port without its cast, a region of the target that goes too, an annotation
that is lost."""

import numpy as np
import pytest

from qrt import ir
from qrt.ir.pipeline import module_steps, run_steps
from tests.quantization.export.programs import BODIES, drawn_arrays, ran
from tests.quantization.export.test_kernels import ops
from tests.quantization.export.test_program import ARRAYS, Q, add, main, rescale


def unfused(text, target=""):
    """The module and the remarks."""
    module, said = ir.parse(text), []
    options = f"{{target={target}}}" if target else ""
    run_steps(module, module_steps(f"unfuse-kernels{options}"), report=said.append)
    return module, [each.message for each in said]


def test_what_a_target_lacks_is_put_back():
    """`mine.gate` is a kernel of nobody: casts at its ports, none between it and its neighbour."""
    text = main(add("0", "x", "z", kernel="mine.gate") + add("y", "0", "0"))
    module, _ = unfused(text, "tflite")
    assert ops(module, "quant") == ["qcast", "dcast", "qcast", "dcast", "qcast", "dcast", "region", "return"]
    ir.run_passes(module, "export-quant")
    assert ops(module) == ["add"]
    assert ops(module, "quant") == ["qcast", "dcast", "qcast", "dcast", "qcast", "dcast"]
    simulated = ir.run_passes(ir.parse(text), "export-quant{to=simulate}")
    assert np.abs(np.subtract(ran(module, ARRAYS), ran(simulated, ARRAYS))).max() < 0.101


def test_rescales_stay_with_a_target():
    """Every target has them; without a target they go too."""
    text = main(add("0", "x", "z") + rescale("y", "0", Q, "!quant.uniform<i8:f32, 0.5>"))
    assert ops(unfused(text, "tflite")[0], "quant").count("region") == 2
    module, said = unfused(text)
    assert "region" not in ops(module, "quant")
    assert np.array_equal(ran(module, ARRAYS), ran(ir.run_passes(ir.parse(text), "export-quant{to=simulate}"), ARRAYS))
    assert not said


def test_what_is_undecided_is_said():
    """A float program is what it was before it was fused; an annotation is lost with a remark."""
    text = main(add("y", "x", "z", ("f32", "!quant.calibrated<f32<-1.0:1.0>>"), "!quant.none<f32>"))
    module, said = unfused(text)
    (message,) = said
    assert message.startswith("operand #1 of kernel 'add' was !quant.calibrated<f32<-1.0")
    assert ops(module, "quant") == []
    assert np.array_equal(ran(module, ARRAYS)[0], ARRAYS[0] + ARRAYS[1])


@pytest.mark.parametrize("kernel", BODIES)
def test_what_is_fused_is_put_back(kernel):
    """The operations that were wrapped, and no other."""
    types, result, body = BODIES[kernel]
    arguments = ", ".join(f"%{name}: {type}" for name, type in zip("abc", types, strict=False))
    module = ir.parse(f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn %y : {result}\n}}")
    ir.run_passes(module, "canonicalize,cse")
    names = [op.name for op in module.operation.walk()]
    before = drawn_arrays(module, np.random.default_rng(0))
    want = ran(module, before)
    ir.run_passes(module, "fuse-kernels")
    assert "quant.region" in [op.name for op in module.operation.walk()]
    ir.run_passes(module, "unfuse-kernels,canonicalize,cse")
    assert sorted(op.name for op in module.operation.walk()) == sorted(names)
    assert np.array_equal(ran(module, before), want)
