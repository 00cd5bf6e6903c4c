"""The examples of the documents that the quant dialect follows, with the verdicts they give: "'quant' Dialect" and
QuantOps.td of upstream MLIR, the RFC on quantization transformations, and an article on lowering quantized ops.

QuantOps.td writes the same nine casts as the page of the dialect. Neither shows a pass, nor a printed form.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class TypeExample:
    text: str
    storage: tuple[str, int, int]
    """The storage type, and the bounds that the comment beside the example says."""
    expressed: str
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None


@dataclass(frozen=True)
class CastExample:
    text: str
    wrong: str = ""
    """Where the document says 'Incorrect': the type at which the caret stands."""
    message: str = ""


@dataclass(frozen=True)
class ProgramExample:
    completed: str
    """What the document leaves out, as it is filled in here."""
    text: str


TYPES = {
    "per layer, the whole range": TypeExample(
        "!quant.uniform<i8:f32, 3.0>", ("i8", -128, 127), "f32", scales=(3.0,), zero_points=(0,)
    ),
    "per layer, ten of sixteen bits": TypeExample(
        "!quant.uniform<u16<0:1023>:f32, 1.23:512>", ("u16", 0, 1023), "f32", scales=(1.23,), zero_points=(512,)
    ),
    "per channel, static": TypeExample(
        "tensor<2x3x4x!quant.uniform<i8:f32:1, {3.0, 4.0, 5.0}>>",
        ("i8", -128, 127),
        "f32",
        scales=(3.0, 4.0, 5.0),
        zero_points=(0, 0, 0),
        axis=1,
    ),
    "per channel, dynamic": TypeExample(
        "tensor<?x?x!quant.uniform<u16:f32:0, {2.0:10, 3.0:20}>>",
        ("u16", 0, 65535),
        "f32",
        scales=(2.0, 3.0),
        zero_points=(10, 20),
        axis=0,
    ),
}

CASTS = {
    "integrity, a scalar: incorrect": CastExample(
        "%result = quant.qcast %input : f32 to !quant.uniform<i8:f32:0, {1.0, 2.0}>",
        wrong="!quant.uniform<i8:f32:0, {1.0, 2.0}>",
        message="scalar types may not use per-axis quantization",
    ),
    "integrity, a tensor: correct": CastExample(
        "%result = quant.qcast %input : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>"
    ),
    "integrity, the axis beyond the rank: incorrect": CastExample(
        "%result = quant.qcast %input : tensor<1x2xf32> to tensor<1x2x!quant.uniform<i8:f32:3, {1.0, 2.0}>>",
        wrong="tensor<1x2x!quant.uniform<i8:f32:3, {1.0, 2.0}>>",
        message="quantized dimension must be less than tensor rank",
    ),
    "integrity, the axis within the rank: correct": CastExample(
        "%result = quant.qcast %input : tensor<1x2xf32> to tensor<1x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>"
    ),
    "integrity, a scale too many: incorrect": CastExample(
        "%result = quant.qcast %input : tensor<?x3xf32> to tensor<?x3x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0, 4.0}>>",
        wrong="tensor<?x3x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0, 4.0}>>",
        message="quantized dimension size does not match number of scales",
    ),
    "integrity, as many scales as channels: correct": CastExample(
        "%result = quant.qcast %input : tensor<?x3xf32> to tensor<?x3x!quant.uniform<i8:f32:1, {2.0, 3.0, 4.0}>>"
    ),
    "dcast of a scalar": CastExample("%result = quant.dcast %input : !quant.uniform<i8:f32, 2.0> to f32"),
    "dcast of a dynamic tensor": CastExample(
        "%result = quant.dcast %input : tensor<?x!quant.uniform<i8:f32, 2.0>> to tensor<?xf32>"
    ),
    "dcast of an unranked tensor, per axis": CastExample(
        "%result = quant.dcast %input : tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>> to tensor<*xf32>"
    ),
    "qcast of a scalar": CastExample("%result = quant.qcast %input : f32 to !quant.uniform<i8:f32, 2.0>"),
    "qcast of a dynamic tensor": CastExample(
        "%result = quant.qcast %input : tensor<?xf32> to tensor<?x!quant.uniform<i8:f32, 2.0>>"
    ),
    "qcast of an unranked tensor, per axis": CastExample(
        "%result = quant.qcast %input : tensor<*xf32> to tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>>"
    ),
    "scast of a scalar": CastExample("%result = quant.scast %input : !quant.uniform<i8:f32, 2.0> to i8"),
    "scast of a dynamic tensor": CastExample(
        "%result = quant.scast %input : tensor<?x!quant.uniform<i8:f32, 2.0>> to tensor<?xi8>"
    ),
    "scast of an unranked tensor, per axis": CastExample(
        "%result = quant.scast %input : tensor<*xi8> to tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>>"
    ),
}

EXTRAS = {
    "RFC: a region": ProgramExample(
        "One operand and one result, an op inside, a specification for each, the kernel's name, straight quotes.",
        """\
func.func @f(%imported: tensor<2xf32>) -> tensor<2xf32> {
  %0 = quant.region (%imported) {
    %exported = math.absf %imported : tensor<2xf32>
    quant.return %exported : tensor<2xf32>
  } {input_specs: [!quant.any<i8:f32>], output_specs: [!quant.none<f32>], kernel = "kernel_name"} :
    (tensor<2xf32>) -> (tensor<2xf32>)
  return %0 : tensor<2xf32>
}""",
    ),
    "RFC: statistics": ProgramExample(
        "The RFC names the op alone: operand, type and attributes are those of the op as upstream once had it.",
        """\
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "quant.stats"(%x) {
    axis = 1 : i64, axisStats = dense<[[-1.0, 1.0], [0.0, 2.0], [-3.0, 0.0]]> : tensor<3x2xf32>,
    layerStats = dense<[-3.0, 2.0]> : tensor<2xf32>
  } : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}""",
    ),
    "article: a quantized convolution": ProgramExample(
        "The sizes and what stands for `...`; the operand types of an op in parentheses, as generic form has them. "
        "The weights lie as qrt has them, OHWI.",
        """\
!x = tensor<1x4x4x2x!quant.uniform<i8:f32, 0.5:3>>
!w = tensor<3x2x2x2x!quant.uniform<i8:f32, 0.25>>
!b = tensor<3x!quant.uniform<i32:f32, 0.125>>
!y = tensor<1x3x3x3x!quant.uniform<i8:f32, 1.0:-4>>
func.func @f(%input_fp32: tensor<1x4x4x2xf32>, %weight_fp32: tensor<3x2x2x2xf32>, %bias_fp32: tensor<3xf32>) -> !y {
  %input_q = "quant.cast"(%input_fp32) : (tensor<1x4x4x2xf32>) -> !x
  %weight_q = "quant.cast"(%weight_fp32) : (tensor<3x2x2x2xf32>) -> !w
  %bias_q = "quant.cast"(%bias_fp32) : (tensor<3xf32>) -> !b
  %output_q = "quant.conv2d"(%input_q, %weight_q, %bias_q) {
    strides = [1, 1], padding = [[0, 0], [0, 0]], output_scale = 1.0 : f64, output_zero_point = -4 : i64
  } : (!x, !w, !b) -> !y
  return %output_q : !y
}""",
    ),
}
