"""Float programs of one function, each with the op family that computes the same, in the forms in which front ends
write them; and programs that are near to one."""

ZERO = "%z = arith.constant 0.0 : f32"
MATMUL = f"""{ZERO}
%e = tensor.empty() : tensor<2x4xf32>
%f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
%m = linalg.matmul ins(%a, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>"""
AW = "%a: tensor<2x3xf32>, %w: tensor<3x4xf32>"
SPREAD = "%s = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<2x4xf32>) dimensions = [0]"
IMAGES = "%x: tensor<1x6x7x2xf32>"
LEAST = "%least = arith.constant 0xFF800000 : f32"


def pad(fill: str, size: str = "1x8x8x2") -> str:
    """Text that pads `IMAGES` by one above, two below and one on the right."""
    indices = ", ".join(f"%i{n}: index" for n in range(4))
    return f"""%p = tensor.pad %x low[0, 1, 0, 0] high[0, 1, 1, 0] {{
  ^bb0({indices}):
    tensor.yield {fill} : f32
}} : tensor<1x6x7x2xf32> to tensor<{size}xf32>"""


def conv(source: str, size: str, out: str, op: str = "conv_2d_nhwc_hwcf", filters: str = "3x2x2x5") -> str:
    """Text of a convolution with stride 2."""
    return f"""{ZERO}
%e = tensor.empty() : tensor<{out}xf32>
%f = linalg.fill ins(%z : f32) outs(%e : tensor<{out}xf32>) -> tensor<{out}xf32>
%c = linalg.{op} {{strides = dense<[2, 1]> : tensor<2xi64>}}
  ins({source}, %w : tensor<{size}xf32>, tensor<{filters}xf32>) outs(%f : tensor<{out}xf32>) -> tensor<{out}xf32>"""


def generic(maps: str, kinds: str, operands: str, out: str, body: str, made: str) -> str:
    """Text of a `linalg.generic`; `maps` are separated by `;`, `operands` is `%a, %b : t, t`."""
    spelled = ", ".join(f"affine_map<{map.strip()}>" for map in maps.split(";"))
    iterators = ", ".join(f'"{kind}"' for kind in kinds.split())
    return f"""{made} = linalg.generic {{indexing_maps = [{spelled}], iterator_types = [{iterators}]}}
  ins({operands}) outs({out}) {{ {body} }} -> {out.partition(": ")[2]}"""


def reduce(made: str, op: str, source: str, given: str, start: str, out: str, axes: str) -> str:
    """Text of a `linalg.reduce`."""
    return f"""%i_{made} = tensor.empty() : {out}
%s_{made} = linalg.fill ins({start} : f32) outs(%i_{made} : {out}) -> {out}
%{made} = linalg.reduce ins({source} : {given}) outs(%s_{made} : {out}) dimensions = [{axes}]
  (%l: f32, %r: f32) {{ %o = {op} %l, %r : f32  linalg.yield %o : f32 }}"""


def pool(fold: str, start: str, source: str = "%x", size: str = "1x6x7x2", out: str = "1x3x3x2") -> str:
    """Text of a pool of 2 by 3 with strides 2 and 2."""
    return f"""%e = tensor.empty() : tensor<{out}xf32>
%k = tensor.empty() : tensor<2x3xf32>
%f = linalg.fill ins({start} : f32) outs(%e : tensor<{out}xf32>) -> tensor<{out}xf32>
%c = linalg.pooling_nhwc_{fold} {{strides = dense<2> : tensor<2xi64>}}
  ins({source}, %k : tensor<{size}xf32>, tensor<2x3xf32>) outs(%f : tensor<{out}xf32>) -> tensor<{out}xf32>"""


def exponentials(axis: str, kept: str, scale: str = "") -> str:
    """Text of softmax of a tensor of 3 by 4, along an axis; `kept` is the size of the other."""
    full, less = "tensor<3x4xf32>", f"tensor<{kept}xf32>"
    return "\n".join([
        ZERO,
        LEAST,
        f"%e = tensor.empty() : {full}",
        reduce("max", "arith.maximumf", "%x", full, "%least", less, axis),
        f"%m = linalg.broadcast ins(%max : {less}) outs(%e : {full}) dimensions = [{axis}]",
        f"%d = arith.subf %x, %m : {full}",
        scale,
        f"%p = math.exp %{'t' if scale else 'd'} : {full}",
        reduce("sum", "arith.addf", "%p", full, "%z", less, axis),
        f"%t_sum = linalg.broadcast ins(%sum : {less}) outs(%e : {full}) dimensions = [{axis}]",
        f"%y = arith.divf %p, %t_sum : {full}",
    ])  # fmt: skip


_ADD = "^bb0(%p: f32, %q: f32, %o: f32): %r = arith.addf %p, %q : f32  linalg.yield %r : f32"
_FMA = (
    "^bb0(%p: f32, %q: f32, %o: f32): %r = arith.mulf %p, %q : f32  %t = arith.addf %o, %r : f32  linalg.yield %t : f32"
)
_GELU = """%h = arith.constant dense<0.5> : tensor<5xf32>
%one = arith.constant dense<1.0> : tensor<5xf32>
%root = arith.constant dense<0.70710678> : tensor<5xf32>
%l = arith.mulf %x, %h : tensor<5xf32>
%s = arith.mulf %x, %root : tensor<5xf32>
%v = math.erf %s : tensor<5xf32>
%p = arith.addf %v, %one : tensor<5xf32>
%y = arith.mulf %l, %p : tensor<5xf32>"""
_HALF = """%h = arith.constant dense<0.5> : tensor<3x4xf32>
%t = arith.mulf %d, %h : tensor<3x4xf32>"""
_SELECT = """%z = arith.constant dense<0.0> : tensor<5xf32>
%c = arith.cmpf {predicate}, {left}, {right} : tensor<5xf32>
%y = arith.select %c, {kept}, {other} : tensor<5xi1>, tensor<5xf32>"""

FORMS: dict[str, tuple[str, str, str, str]] = {
    "matmul": (AW, MATMUL, "%m: tensor<2x4xf32>", "matmul"),
    "bias": (
        f"{AW}, %b: tensor<4xf32>",
        f"{MATMUL}\n{SPREAD}\n%y = arith.addf %m, %s : tensor<2x4xf32>",
        "%y: tensor<2x4xf32>",
        "matmul",
    ),
    "bias first": (
        f"%b: tensor<4xf32>, {AW}",
        f"""%e = tensor.empty() : tensor<2x4xf32>
{SPREAD}
%m = linalg.matmul ins(%a, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%s : tensor<2x4xf32>) -> tensor<2x4xf32>""",
        "%m: tensor<2x4xf32>",
        "matmul",
    ),
    "zeros that are broadcast first": (
        AW,
        f"""%b = arith.constant dense<0.0> : tensor<4xf32>
%e = tensor.empty() : tensor<2x4xf32>
{SPREAD}
%m = linalg.matmul ins(%a, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%s : tensor<2x4xf32>) -> tensor<2x4xf32>""",
        "%m: tensor<2x4xf32>",
        "matmul",
    ),
    "bias by a generic op, and relu6": (
        f"{AW}, %b: tensor<4xf32>",
        f"""{MATMUL}
{
            generic(
                "(i, j) -> (j); (i, j) -> (i, j); (i, j) -> (i, j)",
                "parallel parallel",
                "%b, %m : tensor<4xf32>, tensor<2x4xf32>",
                "%e : tensor<2x4xf32>",
                _ADD,
                "%y",
            )
        }
%r = linalg.max ins(%y, %f : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
%six = arith.constant dense<0.75> : tensor<2x4xf32>
%t = arith.minimumf %r, %six : tensor<2x4xf32>""",
        "%t: tensor<2x4xf32>",
        "matmul",
    ),
    "weights transposed, by a generic op": (
        "%a: tensor<2x3xf32>, %w: tensor<4x3xf32>",
        ZERO
        + """
%e = tensor.empty() : tensor<2x4xf32>
%f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
"""
        + generic(
            "(m, n, k) -> (m, k); (m, n, k) -> (n, k); (m, n, k) -> (m, n)",
            "parallel parallel reduction",
            "%a, %w : tensor<2x3xf32>, tensor<4x3xf32>",
            "%f : tensor<2x4xf32>",
            _FMA,
            "%m",
        ),
        "%m: tensor<2x4xf32>",
        "matmul",
    ),
    "batches": (
        "%a: tensor<5x2x3xf32>, %w: tensor<5x3x4xf32>",
        ZERO
        + """
%e = tensor.empty() : tensor<5x2x4xf32>
%f = linalg.fill ins(%z : f32) outs(%e : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
%m = linalg.batch_matmul ins(%a, %w : tensor<5x2x3xf32>, tensor<5x3x4xf32>) outs(%f : tensor<5x2x4xf32>)
  -> tensor<5x2x4xf32>""",
        "%m: tensor<5x2x4xf32>",
        "matmul",
    ),
    "a matrix times a vector": (
        "%w: tensor<4x3xf32>, %a: tensor<3xf32>",
        ZERO
        + """
%e = tensor.empty() : tensor<4xf32>
%f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
%m = linalg.matvec ins(%w, %a : tensor<4x3xf32>, tensor<3xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>""",
        "%m: tensor<4xf32>",
        "matmul",
    ),
    "conv2d": (
        f"{IMAGES}, %w: tensor<3x2x2x5xf32>",
        conv("%x", "1x6x7x2", "1x2x6x5"),
        "%c: tensor<1x2x6x5xf32>",
        "conv2d",
    ),
    "conv2d with padding": (
        f"{IMAGES}, %w: tensor<5x3x2x2xf32>",
        f"%zero = arith.constant 0.0 : f32\n{pad('%zero')}\n"
        + conv("%p", "1x8x8x2", "1x3x7x5", "conv_2d_nhwc_fhwc", "5x3x2x2"),
        "%c: tensor<1x3x7x5xf32>",
        "conv2d",
    ),
    "conv2d with padding of qrt and fused products": (
        f"{IMAGES}, %w: tensor<5x3x2x2xf32>",
        f"""{ZERO}
%p = qrt.pad %x {{padding = [[0, 0], [1, 1], [0, 1], [0, 0]]}} : (tensor<1x6x7x2xf32>) -> tensor<1x8x8x2xf32>
%e = tensor.empty() : tensor<1x3x7x5xf32>
%f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x7x5xf32>) -> tensor<1x3x7x5xf32>
"""
        + generic(
            "(n, i, j, o, r, s, c) -> (n, i * 2 + r, j + s, c); (n, i, j, o, r, s, c) -> (o, r, s, c);"
            "(n, i, j, o, r, s, c) -> (n, i, j, o)",
            "parallel parallel parallel parallel reduction reduction reduction",
            "%p, %w : tensor<1x8x8x2xf32>, tensor<5x3x2x2xf32>",
            "%f : tensor<1x3x7x5xf32>",
            "^bb0(%l: f32, %r: f32, %a: f32): %q = math.fma %l, %r, %a : f32  linalg.yield %q : f32",
            "%c",
        ),
        "%c: tensor<1x3x7x5xf32>",
        "conv2d",
    ),
    "pad of qrt": (
        IMAGES,
        "%c = qrt.pad %x {padding = [[0, 0], [1, 1], [0, 1], [0, 0]], value = 1.5 : f64} : (tensor<1x6x7x2xf32>) -> "
        "tensor<1x8x8x2xf32>",
        "%c: tensor<1x8x8x2xf32>",
        "pad",
    ),
    "reshape of qrt": (
        IMAGES,
        "%c = qrt.reshape %x : (tensor<1x6x7x2xf32>) -> tensor<42x2xf32>",
        "%c: tensor<42x2xf32>",
        "reshape",
    ),
    "transpose of qrt": (
        IMAGES,
        "%c = qrt.transpose %x {permutation = [0, 3, 1, 2]} : (tensor<1x6x7x2xf32>) -> tensor<1x2x6x7xf32>",
        "%c: tensor<1x2x6x7xf32>",
        "transpose",
    ),
    "transpose of qrt, without its permutation": (
        IMAGES,
        "%c = qrt.transpose %x : (tensor<1x6x7x2xf32>) -> tensor<2x7x6x1xf32>",
        "%c: tensor<2x7x6x1xf32>",
        "transpose",
    ),
    "concat of qrt, without its axis": (
        f"{IMAGES}, %y: tensor<1x6x7x2xf32>",
        "%c = qrt.concat %x, %y : (tensor<1x6x7x2xf32>, tensor<1x6x7x2xf32>) -> tensor<2x6x7x2xf32>",
        "%c: tensor<2x6x7x2xf32>",
        "concat",
    ),
    "concat of qrt": (
        f"{IMAGES}, %y: tensor<1x6x7x2xf32>",
        "%c = qrt.concat %x, %y {axis = 3 : i64} : (tensor<1x6x7x2xf32>, tensor<1x6x7x2xf32>) -> tensor<1x6x7x4xf32>",
        "%c: tensor<1x6x7x4xf32>",
        "concat",
    ),
    "depthwise_conv2d": (
        f"{IMAGES}, %w: tensor<3x2x2xf32>",
        conv("%x", "1x6x7x2", "1x2x6x2", "depthwise_conv_2d_nhwc_hwc", "3x2x2"),
        "%c: tensor<1x2x6x2xf32>",
        "depthwise_conv2d",
    ),
    "max_pool2d": (IMAGES, f"{LEAST}\n{pool('max', '%least')}", "%c: tensor<1x3x3x2xf32>", "max_pool2d"),
    "max_pool2d with padding": (
        IMAGES,
        f"{LEAST}\n{pad('%least')}\n{pool('max', '%least', '%p', '1x8x8x2', '1x4x3x2')}",
        "%c: tensor<1x4x3x2xf32>",
        "max_pool2d",
    ),
    "avg_pool2d": (
        IMAGES,
        f"{ZERO}\n{pool('sum', '%z')}\n%six = arith.constant dense<6.0> : tensor<1x3x3x2xf32>\n"
        "%y = arith.divf %c, %six : tensor<1x3x3x2xf32>",
        "%y: tensor<1x3x3x2xf32>",
        "avg_pool2d",
    ),
    "mean": (
        "%x: tensor<2x3x4xf32>",
        f"{ZERO}\n{reduce('sum', 'arith.addf', '%x', 'tensor<2x3x4xf32>', '%z', 'tensor<3xf32>', '0, 2')}\n"
        "%n = arith.constant dense<0.125> : tensor<3xf32>\n%y = arith.mulf %sum, %n : tensor<3xf32>",
        "%y: tensor<3xf32>",
        "mean",
    ),
    "mean that keeps axes": (
        "%x: tensor<2x3xf32>",
        f"{ZERO}\n{reduce('sum', 'arith.addf', '%x', 'tensor<2x3xf32>', '%z', 'tensor<2xf32>', '1')}\n"
        "%n = arith.constant dense<3.0> : tensor<2xf32>\n%q = arith.divf %sum, %n : tensor<2xf32>\n"
        "%y = tensor.expand_shape %q [[0, 1]] output_shape [2, 1] : tensor<2xf32> into tensor<2x1xf32>",
        "%y: tensor<2x1xf32>",
        "mean",
    ),
    "softmax": ("%x: tensor<3x4xf32>", exponentials("1", "3"), "%y: tensor<3x4xf32>", "softmax"),
    "softmax of the first axis, scaled": (
        "%x: tensor<3x4xf32>",
        exponentials(
            "0", "4", "%h = arith.constant dense<0.5> : tensor<3x4xf32>\n%t = arith.mulf %d, %h : tensor<3x4xf32>"
        ),
        "%y: tensor<3x4xf32>",
        "softmax",
    ),
    "add": (
        "%a: tensor<2x5xf32>, %b: tensor<2x5xf32>",
        "%y = arith.addf %a, %b : tensor<2x5xf32>",
        "%y: tensor<2x5xf32>",
        "add",
    ),
    "sub of a broadcast operand": (
        "%a: tensor<5xf32>, %b: tensor<2x5xf32>",
        """%e = tensor.empty() : tensor<2x5xf32>
%s = linalg.broadcast ins(%a : tensor<5xf32>) outs(%e : tensor<2x5xf32>) dimensions = [0]
%y = arith.subf %s, %b : tensor<2x5xf32>""",
        "%y: tensor<2x5xf32>",
        "sub",
    ),
    "mul, clamped": (
        "%a: tensor<5xf32>, %b: tensor<5xf32>",
        """%e = tensor.empty() : tensor<5xf32>
%m = linalg.mul ins(%a, %b : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
%low = arith.constant dense<-0.5> : tensor<5xf32>
%y = arith.maximumf %low, %m : tensor<5xf32>""",
        "%y: tensor<5xf32>",
        "mul",
    ),
    "maximum of a tensor and a row": (
        "%a: tensor<5xf32>, %b: tensor<2x5xf32>",
        """%e = tensor.empty() : tensor<2x5xf32>
%s = linalg.broadcast ins(%a : tensor<5xf32>) outs(%e : tensor<2x5xf32>) dimensions = [0]
%y = arith.maxnumf %s, %b : tensor<2x5xf32>""",
        "%y: tensor<2x5xf32>",
        "maximum",
    ),
    "minimum": (
        "%a: tensor<5xf32>, %b: tensor<5xf32>",
        "%y = arith.minimumf %a, %b : tensor<5xf32>",
        "%y: tensor<5xf32>",
        "minimum",
    ),
    "quotient, clamped": (
        "%a: tensor<5xf32>, %b: tensor<5xf32>",
        """%m = arith.divf %a, %b : tensor<5xf32>
%z = arith.constant dense<0.0> : tensor<5xf32>
%y = arith.maximumf %m, %z : tensor<5xf32>""",
        "%y: tensor<5xf32>",
        "div",
    ),
    "sum along an axis, relu": (
        "%x: tensor<2x3xf32>",
        f"{ZERO}\n{reduce('sum', 'arith.addf', '%x', 'tensor<2x3xf32>', '%z', 'tensor<2xf32>', '1')}\n"
        "%zero = arith.constant dense<0.0> : tensor<2xf32>\n%y = arith.maximumf %sum, %zero : tensor<2xf32>",
        "%y: tensor<2xf32>",
        "sum",
    ),
    "maximum along axes that stay": (
        "%x: tensor<2x3xf32>",
        f"{LEAST}\n{reduce('max', 'arith.maximumf', '%x', 'tensor<2x3xf32>', '%least', 'tensor<2xf32>', '1')}\n"
        "%y = tensor.expand_shape %max [[0, 1]] output_shape [2, 1] : tensor<2xf32> into tensor<2x1xf32>",
        "%y: tensor<2x1xf32>",
        "reduce_max",
    ),
    "minimum along an axis": (
        "%x: tensor<2x3xf32>",
        f"%top = arith.constant 0x7F800000 : f32\n"
        f"{reduce('min', 'arith.minnumf', '%x', 'tensor<2x3xf32>', '%top', 'tensor<3xf32>', '0')}",
        "%min: tensor<3xf32>",
        "reduce_min",
    ),
    "slice": (
        "%x: tensor<5x6xf32>",
        "%y = tensor.extract_slice %x[1, 0] [2, 3] [2, 1] : tensor<5x6xf32> to tensor<2x3xf32>",
        "%y: tensor<2x3xf32>",
        "slice",
    ),
    "tile": (
        "%x: tensor<2x1x3xf32>",
        "%e = tensor.empty() : tensor<2x4x3xf32>\n"
        + generic(
            "(i, j, k) -> (i, 0, k); (i, j, k) -> (i, j, k)",
            "parallel parallel parallel",
            "%x : tensor<2x1x3xf32>",
            "%e : tensor<2x4x3xf32>",
            "^bb0(%p: f32, %o: f32): linalg.yield %p : f32",
            "%y",
        ),
        "%y: tensor<2x4x3xf32>",
        "tile",
    ),
    "lookup": ("%x: tensor<5xf32>", "%y = math.tanh %x : tensor<5xf32>", "%y: tensor<5xf32>", "lookup"),
    "gelu": ("%x: tensor<5xf32>", _GELU, "%y: tensor<5xf32>", "lookup"),
    "transpose": (
        "%x: tensor<2x3x4xf32>",
        """%e = tensor.empty() : tensor<4x2x3xf32>
%y = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<4x2x3xf32>) permutation = [2, 0, 1]""",
        "%y: tensor<4x2x3xf32>",
        "transpose",
    ),
    "reshape": (
        "%x: tensor<2x3x4xf32>",
        "%y = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>",
        "%y: tensor<6x4xf32>",
        "reshape",
    ),
    "concat": (
        "%a: tensor<2x3xf32>, %b: tensor<2x1xf32>",
        "%y = tensor.concat dim(1) %a, %b, %a : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>",
        "%y: tensor<2x7xf32>",
        "concat",
    ),
    "pad": (IMAGES, f"%v = arith.constant 0.25 : f32\n{pad('%v')}", "%p: tensor<1x8x8x2xf32>", "pad"),
    **{
        f"relu by {predicate}": (
            "%x: tensor<5xf32>",
            _SELECT.format(predicate=predicate, left=left, right=right, kept=kept, other=other),
            "%y: tensor<5xf32>",
            "clamp",
        )
        for predicate, left, right, kept, other in (
            ("ogt", "%x", "%z", "%x", "%z"),
            ("ult", "%x", "%z", "%z", "%x"),
            ("olt", "%z", "%x", "%x", "%z"),
            ("uge", "%x", "%z", "%z", "%x"),
        )
    },
}
"""Arguments, body, what is returned, and the family."""

NEAR: dict[str, tuple[str, str, str]] = {
    "a bias of each row": (
        f"{AW}, %b: tensor<2xf32>",
        f"""{MATMUL}
%s = linalg.broadcast ins(%b : tensor<2xf32>) outs(%e : tensor<2x4xf32>) dimensions = [1]
%y = arith.addf %m, %s : tensor<2x4xf32>""",
        "%y: tensor<2x4xf32>",
    ),
    "a bias for products with a vector": (
        "%a: tensor<2x4x3xf32>, %w: tensor<3xf32>, %b: tensor<4xf32>",
        f"""{ZERO}
%e = tensor.empty() : tensor<2x4xf32>
%f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
{
            generic(
                "(m, l, k) -> (m, l, k); (m, l, k) -> (k); (m, l, k) -> (m, l)",
                "parallel parallel reduction",
                "%a, %w : tensor<2x4x3xf32>, tensor<3xf32>",
                "%f : tensor<2x4xf32>",
                _FMA,
                "%m",
            )
        }
{SPREAD}
%y = arith.addf %m, %s : tensor<2x4xf32>""",
        "%y: tensor<2x4xf32>",
    ),
    "the first row of a matrix beside each row of another": (
        "%a: tensor<2x4xf32>, %b: tensor<2x4xf32>",
        "%e = tensor.empty() : tensor<2x4xf32>\n"
        + generic(
            "(i, j) -> (0, j); (i, j) -> (i, j); (i, j) -> (i, j)",
            "parallel parallel",
            "%a, %b : tensor<2x4xf32>, tensor<2x4xf32>",
            "%e : tensor<2x4xf32>",
            "^bb0(%p: f32, %q: f32, %o: f32): %s = arith.addf %p, %q : f32  linalg.yield %s : f32",
            "%y",
        ),
        "%y: tensor<2x4xf32>",
    ),
    "a mean that begins with 1": (
        "%x: tensor<2x4xf32>",
        f"""{ZERO.replace("0.0", "1.0")}
{reduce("sum", "arith.addf", "%x", "tensor<2x4xf32>", "%z", "tensor<2xf32>", "1")}
%n = arith.constant dense<4.0> : tensor<2xf32>
%y = arith.divf %sum, %n : tensor<2xf32>""",
        "%y: tensor<2xf32>",
    ),
    "a maximum with zeros around it": (
        IMAGES,
        f"{LEAST}\n{ZERO}\n{pad('%z')}\n{pool('max', '%least', '%p', '1x8x8x2', '1x4x3x2')}",
        "%c: tensor<1x4x3x2xf32>",
    ),
    "a maximum of elements that are apart": (
        IMAGES,
        f"{LEAST}\n{pool('max', '%least', out='1x3x2x2')}".replace(
            "dense<2> : tensor<2xi64>", "dense<2> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>"
        ),
        "%c: tensor<1x3x2x2xf32>",
    ),
    "exponentials of the difference from another maximum": (
        "%x: tensor<4x4xf32>",
        exponentials("1", "4").replace("3x4", "4x4").replace("dimensions = [1]", "dimensions = [0]", 2),
        "%y: tensor<4x4xf32>",
    ),
    "exponentials divided by a sum of other values": (
        "%x: tensor<3x4xf32>",
        exponentials("1", "3").replace("ins(%p : tensor<3x4xf32>)", "ins(%d : tensor<3x4xf32>)"),
        "%y: tensor<3x4xf32>",
    ),
    "padding by what is no zero": (
        f"{IMAGES}, %w: tensor<3x2x2x5xf32>",
        f"%v = arith.constant 1.0 : f32\n{pad('%v')}\n{conv('%p', '1x8x8x2', '1x3x7x5')}",
        "%c: tensor<1x3x7x5xf32>",
    ),
    "a maximum that begins with 0": (IMAGES, f"{ZERO}\n{pool('max', '%z')}", "%c: tensor<1x3x3x2xf32>"),
    "a pool divided by another number": (
        IMAGES,
        f"{ZERO}\n{pool('sum', '%z')}\n%five = arith.constant dense<5.0> : tensor<1x3x3x2xf32>\n"
        "%y = arith.divf %c, %five : tensor<1x3x3x2xf32>",
        "%y: tensor<1x3x3x2xf32>",
    ),
    "a maximum along an axis that begins with 0": (
        "%x: tensor<2x3xf32>",
        f"{ZERO}\n{reduce('max', 'arith.maximumf', '%x', 'tensor<2x3xf32>', '%z', 'tensor<2xf32>', '1')}",
        "%max: tensor<2xf32>",
    ),
    "a minimum that begins with the least float": (
        "%x: tensor<2x3xf32>",
        f"{LEAST}\n{reduce('min', 'arith.minimumf', '%x', 'tensor<2x3xf32>', '%least', 'tensor<2xf32>', '1')}",
        "%min: tensor<2xf32>",
    ),
    "exponentials divided by the sum of others": (
        "%x: tensor<3x4xf32>",
        exponentials("1", "3").replace("arith.divf %p,", "arith.divf %d,"),
        "%y: tensor<3x4xf32>",
    ),
    "a function that knows its index": (
        "%x: tensor<5xf32>",
        generic(
            "(i) -> (i); (i) -> (i)", "parallel", "%x : tensor<5xf32>", "%x : tensor<5xf32>",
            """^bb0(%p: f32, %o: f32): %i = linalg.index 0 : index  %j = arith.index_cast %i : index to i32
               %k = arith.sitofp %j : i32 to f32  %r = arith.addf %p, %k : f32  linalg.yield %r : f32""", "%y"
        ),
        "%y: tensor<5xf32>",
    ),
    "a sum of what two functions return": (
        "%x: tensor<5xf32>, %v: tensor<5xf32>",
        """%l = math.tanh %x : tensor<5xf32>
%r = math.exp %v : tensor<5xf32>
%y = arith.addf %l, %r : tensor<5xf32>""",
        "%y: tensor<5xf32>",
    ),
    "a product of the elements at two places": (
        "%x: tensor<4x4xf32>",
        generic("(i, j) -> (i, j); (i, j) -> (j, i); (i, j) -> (i, j)", "parallel parallel",
                "%x, %x : tensor<4x4xf32>, tensor<4x4xf32>", "%x : tensor<4x4xf32>",
                "^bb0(%p: f32, %q: f32, %o: f32): %r = arith.mulf %p, %q : f32  linalg.yield %r : f32", "%y"),
        "%y: tensor<4x4xf32>",
    ),
}  # fmt: skip
"""Arguments, body and what is returned of programs that no single op of a family computes."""


def function(arguments: str, body: str, returned: str) -> str:
    """A function of a program above; `returned` is a value and its type."""
    value, _, type = returned.partition(": ")
    return f"func.func @f({arguments}) -> {type} {{\n{body}\nreturn {value} : {type}\n}}\n"
