"""What sentences of the propagation RFC say, one by one, of small programs. quantization_rfc.toml says which test holds
which sentence.
"""

from qrt import ir
from qrt.execute.passes import run_passes
from tests.reference import rfc


def passed(text, pipeline):
    return run_passes(ir.parse(text, "f.mlir"), pipeline)


# -- the region -------------------------------------------------------------------------------------------------------

FILLED_IN = {
    "%..": "%y",
    "(imported_ssa_values)": "(%x, %w)",
    "…high precision ops w/ model constraints for intermediates values…": """
        %e = tensor.empty() : tensor<2x3xf32>
        %zero = arith.constant 0.0 : f32
        %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
        %m = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
        %s = "quant.stats"(%m) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
        """,
    "exported_ssa_values": "%s : tensor<2x3xf32>",
    "input_specs: [QT]": "input_specs: [!quant.any<i4:f32>, f32]",
    "output_specs: [QT]": "output_specs: [!quant.calibrated<f32<-1.0:1.0>>]",
    "“kernel_name”": '"matmul"',
    "(high-precision tensor types) ->": "(tensor<2x4xf32>, tensor<4x3xf32>) ->",
    "-> (high-precision tensor types)": "-> (tensor<2x3xf32>)",
}


def test_the_region_of_the_rfc_is_read():
    """Word for word, once what it leaves out is filled in."""
    (said,) = (each.text for each in rfc.sections()["The region"] if "quant.region (" in each.text)
    text = said[said.index("%..") :]
    for left_out, filled in FILLED_IN.items():
        assert left_out in text
        text = text.replace(left_out, filled)
    program = f"func.func @f(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) {{ {text} return }}"
    module = ir.parse(program)
    module.verify()
    (region,) = (operation for operation in module.operation.walk() if operation.name == "quant.region")
    assert region.attributes["kernel"].python == "matmul"
    assert str(ir.parse(str(module))) == str(module)
