"""Programs of loop nests of floats and of integers, with the operators of ONNX that their export has."""

import numpy as np

IMAGES = "(n, y, x, o, i, j, c) -> (n, y + i, x * 2 + j, c)"
SUMS = "(n, y, x, o, i, j, c) -> (n, y, x, o)"


def nest(maps, iterators, ports, body):
    """A loop nest; ``ports`` are its operands and their types, behind the last comma its result."""
    said = ", ".join(f"affine_map<{map_}>" for map_ in maps)
    kinds = '", "'.join({"p": "parallel", "r": "reduction"}[each] for each in iterators)
    return f'linalg.generic {{indexing_maps = [{said}], iterator_types = ["{kinds}"]}} {ports} {{\n{body}\n}}'


def convolution():
    """Filters HWIO, a bias with which the sums begin, products that are not rounded, and a clamp."""
    maps = [IMAGES, "(n, y, x, o, i, j, c) -> (i, j, c, o)", SUMS]
    begun = nest(
        ["(n, y, x, o) -> (o)", "(n, y, x, o) -> (n, y, x, o)"],
        "pppp",
        "ins(%b : tensor<3xf32>) outs(%e : tensor<?x4x2x3xf32>)",
        "^bb0(%p: f32, %q: f32):\n linalg.yield %p : f32",
    )
    sums = nest(
        maps,
        "pppprrr",
        "ins(%x, %w : tensor<?x5x5x2xf32>, tensor<2x3x2x3xf32>) outs(%s : tensor<?x4x2x3xf32>)",
        "^bb0(%p: f32, %q: f32, %r: f32):\n %m = math.fma %p, %q, %r : f32\n linalg.yield %m : f32",
    )
    values = np.random.default_rng(3).normal(size=(2, 3, 2, 3)).astype(np.float32)
    return f"""func.func @main(%x: tensor<?x5x5x2xf32>) -> tensor<?x4x2x3xf32> {{
      %w = arith.constant dense<{values.tolist()}> : tensor<2x3x2x3xf32>
      %b = arith.constant dense<[0.5, -0.25, 1.5]> : tensor<3xf32>
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x5x5x2xf32>
      %e = tensor.empty(%n) : tensor<?x4x2x3xf32>
      %s = {begun} -> tensor<?x4x2x3xf32>
      %z = arith.constant dense<0.0> : tensor<f32>
      %0 = {sums} -> tensor<?x4x2x3xf32>
      %y = {
        nest(
            ["(n, y, x, o) -> (n, y, x, o)", "(n, y, x, o) -> ()", "(n, y, x, o) -> (n, y, x, o)"],
            "pppp",
            "ins(%0, %z : tensor<?x4x2x3xf32>, tensor<f32>) outs(%e : tensor<?x4x2x3xf32>)",
            "^bb0(%p: f32, %q: f32, %r: f32):"
            + chr(10)
            + " %m = arith.maximumf %p, %q : f32"
            + chr(10)
            + " linalg.yield %m : f32",
        )
    } -> tensor<?x4x2x3xf32>
      return %y : tensor<?x4x2x3xf32>
    }}"""


def integers():
    """A convolution of integers of 32 bits by bytes, and a product of matrices of them."""
    step = """^bb0(%p: i32, %q: i8, %r: i32):
      %v = arith.extsi %q : i8 to i32
      %m = arith.muli %p, %v : i32
      %a = arith.addi %r, %m : i32
      linalg.yield %a : i32"""
    conv = nest(
        [IMAGES, "(n, y, x, o, i, j, c) -> (o, i, j, c)", SUMS],
        "pppprrr",
        "ins(%x, %w : tensor<?x5x5x2xi32>, tensor<3x2x3x2xi8>) outs(%s : tensor<?x4x2x3xi32>)",
        step,
    )
    product = nest(
        ["(m, n, k) -> (m, k)", "(m, n, k) -> (n, k)", "(m, n, k) -> (m, n)"],
        "ppr",
        "ins(%flat, %u : tensor<?x24xi32>, tensor<5x24xi8>) outs(%t : tensor<?x5xi32>)",
        step,
    )
    rng = np.random.default_rng(5)
    return f"""func.func @main(%x: tensor<?x5x5x2xi32>) -> tensor<?x5xi32> {{
      %w = arith.constant dense<{rng.integers(-128, 128, (3, 2, 3, 2)).tolist()}> : tensor<3x2x3x2xi8>
      %u = arith.constant dense<{rng.integers(-128, 128, (5, 24)).tolist()}> : tensor<5x24xi8>
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %n = tensor.dim %x, %c0 : tensor<?x5x5x2xi32>
      %e = tensor.empty(%n) : tensor<?x4x2x3xi32>
      %s = linalg.fill ins(%zero : i32) outs(%e : tensor<?x4x2x3xi32>) -> tensor<?x4x2x3xi32>
      %0 = {conv} -> tensor<?x4x2x3xi32>
      %flat = qrt.reshape %0 : (tensor<?x4x2x3xi32>) -> tensor<?x24xi32>
      %f = tensor.empty(%n) : tensor<?x5xi32>
      %t = linalg.fill ins(%zero : i32) outs(%f : tensor<?x5xi32>) -> tensor<?x5xi32>
      %y = {product} -> tensor<?x5xi32>
      return %y : tensor<?x5xi32>
    }}"""


def quantized_rows():
    """Least elements of rows and greatest magnitudes, begun with 0; several results, of which one
    needs another one and one is a number; casts."""
    step = "^bb0(%p: f32, %q: f32):\n %m = arith.{1} %q, {0} : f32\n linalg.yield %m : f32"
    row, whole = "(n, k) -> (n)", "(n, k) -> (n, k)"
    ports = "ins(%x : tensor<?x7xf32>) outs(%s : tensor<?xf32>)"
    low = nest([whole, row], "pr", ports, step.format("%p", "minimumf"))
    high = nest(
        [whole, row], "pr", ports, step.format("%o", "maximumf").replace("\n", "\n %o = math.absf %p : f32\n", 1)
    )
    scales = nest(
        ["(n) -> (n)"] * 5,
        "p",
        "ins(%l, %h : tensor<?xf32>, tensor<?xf32>) outs(%e, %e, %e : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)",
        """^bb0(%p: f32, %q: f32, %r: f32, %t: f32, %u: f32):
      %one = arith.constant 1.0 : f32
      %steps = arith.constant 255.0 : f32
      %d = arith.subf %q, %p : f32
      %i = arith.divf %steps, %d : f32
      %c = arith.cmpf oeq, %p, %q : f32
      %v = arith.select %c, %one, %i : f32
      %w = arith.divf %one, %v : f32
      linalg.yield %v, %w, %steps : f32, f32, f32""",
    )
    codes = nest(
        [whole, row, whole],
        "pp",
        "ins(%x, %v#0 : tensor<?x7xf32>, tensor<?xf32>) outs(%k : tensor<?x7xi32>)",
        """^bb0(%p: f32, %q: f32, %r: i32):
      %m = arith.mulf %p, %q : f32
      %t = math.round %m : f32
      %o = arith.fptosi %t : f32 to i32
      linalg.yield %o : i32""",
    )
    back = nest(
        [whole, row, whole],
        "pp",
        "ins(%i, %v#1 : tensor<?x7xi32>, tensor<?xf32>) outs(%g : tensor<?x7xf32>)",
        """^bb0(%p: i32, %q: f32, %r: f32):
      %half = arith.constant 0.1 : f32
      %f = arith.sitofp %p : i32 to f32
      %m = math.fma %f, %q, %half : f32
      linalg.yield %m : f32""",
    )
    return f"""func.func @main(%x: tensor<?x7xf32>) -> (tensor<?x7xi32>, tensor<?x7xf32>, tensor<?xf32>) {{
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x7xf32>
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty(%n) : tensor<?xf32>
      %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %l = {low} -> tensor<?xf32>
      %h = {high} -> tensor<?xf32>
      %v:3 = {scales} -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
      %k = tensor.empty(%n) : tensor<?x7xi32>
      %i = {codes} -> tensor<?x7xi32>
      %g = tensor.empty(%n) : tensor<?x7xf32>
      %y = {back} -> tensor<?x7xf32>
      return %i, %y, %v#2 : tensor<?x7xi32>, tensor<?x7xf32>, tensor<?xf32>
    }}"""


def sums_of_bytes():
    """Both ends of rows by one nest; bytes, the exact sums of their products, and integers that wrap."""
    whole, row = "(n, k) -> (n, k)", "(n, k) -> (n)"
    ends = nest(
        [whole, row, row],
        "pr",
        "ins(%x : tensor<?x7xf32>) outs(%s, %s : tensor<?xf32>, tensor<?xf32>)",
        """^bb0(%p: f32, %q: f32, %r: f32):
      %m = arith.minimumf %q, %p : f32
      %o = arith.maximumf %r, %p : f32
      linalg.yield %m, %o : f32, f32""",
    )
    codes = nest(
        [whole, whole],
        "pp",
        "ins(%x : tensor<?x7xf32>) outs(%k : tensor<?x7xi8>)",
        """^bb0(%p: f32, %r: i8):
      %least = arith.constant -128.0 : f32
      %most = arith.constant 127.0 : f32
      %m = arith.maximumf %p, %least : f32
      %t = arith.minimumf %m, %most : f32
      %j = arith.fptosi %t : f32 to i32
      %o = arith.trunci %j : i32 to i8
      linalg.yield %o : i8""",
    )
    shifted = nest(
        [whole, "(n, k) -> (k)", whole],
        "pp",
        "ins(%sums, %each : tensor<?x5xi32>, tensor<5xi32>) outs(%f : tensor<?x5xi32>)",
        """^bb0(%p: i32, %q: i32, %r: i32):
      %large = arith.constant 2000000000 : i32
      %m = arith.muli %q, %large : i32
      %o = arith.subi %p, %m : i32
      linalg.yield %o : i32""",
    )
    weights = np.random.default_rng(7).integers(-128, 128, (7, 5))
    x, w = "!quant.uniform<i8:f32, 1.0>", "!quant.uniform<i8:f32:1, {1.0, 0.5, 0.25, 0.1, 2.0}>"
    exact = w.replace("i8", "i32")
    return f"""func.func @main(%x: tensor<?x7xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x5xi32>) {{
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x7xf32>
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty(%n) : tensor<?xf32>
      %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %v:2 = {ends} -> (tensor<?xf32>, tensor<?xf32>)
      %k = tensor.empty(%n) : tensor<?x7xi8>
      %i = {codes} -> tensor<?x7xi8>
      %bytes = quant.scast %i : tensor<?x7xi8> to tensor<?x7x{x}>
      %c = arith.constant dense<{weights.tolist()}> : tensor<7x5xi8>
      %w = quant.scast %c : tensor<7x5xi8> to tensor<7x5x{w}>
      %product = qrt.matmul %bytes, %w : (tensor<?x7x{x}>, tensor<7x5x{w}>) -> tensor<?x5x{exact}>
      %sums = quant.scast %product : tensor<?x5x{exact}> to tensor<?x5xi32>
      %each = arith.constant dense<{weights.sum(axis=0).tolist()}> : tensor<5xi32>
      %f = tensor.empty(%n) : tensor<?x5xi32>
      %y = {shifted} -> tensor<?x5xi32>
      return %v#0, %v#1, %y : tensor<?xf32>, tensor<?xf32>, tensor<?x5xi32>
    }}"""


def images_of_bytes():
    """The exact sums of a convolution of bytes with padding, and of a depthwise one."""
    x, w, exact = (f"!quant.uniform<{each}, 1.0>" for each in ("i8:f32", "i8:f32", "i32:f32"))
    rng = np.random.default_rng(9)
    many, each = rng.integers(-128, 128, (3, 2, 2, 2)), rng.integers(-128, 128, (2, 2, 4))
    padded = "{padding = [[1, 0], [0, 1]]}"
    return f"""func.func @main(%a: tensor<2x5x5x2xi8>) -> (tensor<2x5x5x3xi32>, tensor<2x4x4x4xi32>) {{
      %x = quant.scast %a : tensor<2x5x5x2xi8> to tensor<2x5x5x2x{x}>
      %c = arith.constant dense<{many.tolist()}> : tensor<3x2x2x2xi8>
      %w = quant.scast %c : tensor<3x2x2x2xi8> to tensor<3x2x2x2x{w}>
      %d = arith.constant dense<{each.tolist()}> : tensor<2x2x4xi8>
      %v = quant.scast %d : tensor<2x2x4xi8> to tensor<2x2x4x{w}>
      %0 = qrt.conv2d %x, %w {padded} : (tensor<2x5x5x2x{x}>, tensor<3x2x2x2x{w}>) -> tensor<2x5x5x3x{exact}>
      %1 = qrt.depthwise_conv2d %x, %v : (tensor<2x5x5x2x{x}>, tensor<2x2x4x{w}>) -> tensor<2x4x4x4x{exact}>
      %2 = quant.scast %0 : tensor<2x5x5x3x{exact}> to tensor<2x5x5x3xi32>
      %3 = quant.scast %1 : tensor<2x4x4x4x{exact}> to tensor<2x4x4x4xi32>
      return %2, %3 : tensor<2x5x5x3xi32>, tensor<2x4x4x4xi32>
    }}"""


def averages(taps=((0, 0), (1, 0), (0, 1), (1, 1)), turns=1, count=4):
    """Windows of 2 x 2 whose elements are added in two steps, columns first."""
    out, again = "(n, y, x, c, t) -> (n, y, x, c)", "(n, y, x, c, t) -> (t)"
    steps, before = [], ""
    for number in range(2):
        read = [f"(n, y, x, c, t) -> (n, y * 2 + t + {row}, x * 3 + t + {column}, c)" for row, column in taps[:2]]
        taps = taps[2:]
        kind, image = "tensor<?x3x2x4xf32>", "tensor<?x6x6x4xf32>"
        maps = [*read, *([out] if before else []), again, out]
        given = f"%x, %x{before}, %one : {image}, {image}{', ' + kind if before else ''}, tensor<{turns}xi1>"
        arguments = "%p: f32, %q: f32, " + ("%b: f32, " if before else "") + "%l: i1, %r: f32"
        body = f"^bb0({arguments}):\n %m = arith.addf %p, %q : f32\n"
        body += "%s = arith.addf %b, %m : f32\n linalg.yield %s : f32" if before else "linalg.yield %m : f32"
        steps.append(f"%{number} = {nest(maps, 'ppppr', f'ins({given}) outs(%e : {kind})', body)} -> {kind}")
        before = f", %{number}"
    mean = nest(
        ["(n, y, x, c) -> (n, y, x, c)"] * 2,
        "pppp",
        "ins(%1 : tensor<?x3x2x4xf32>) outs(%e : tensor<?x3x2x4xf32>)",
        f"""^bb0(%p: f32, %q: f32):
      %part = arith.constant {1 / count} : f32
      %m = arith.mulf %p, %part : f32
      linalg.yield %m : f32""",
    )
    return f"""func.func @main(%x: tensor<?x6x6x4xf32>) -> tensor<?x3x2x4xf32> {{
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x6x6x4xf32>
      %e = tensor.empty(%n) : tensor<?x3x2x4xf32>
      %one = tensor.empty() : tensor<{turns}xi1>
      {chr(10).join(steps)}
      %y = {mean} -> tensor<?x3x2x4xf32>
      return %y : tensor<?x3x2x4xf32>
    }}"""


CAST = "Cast"
PROGRAMS = {
    "convolution": (convolution(), ["Transpose", "Conv", "Relu", "Transpose"]),
    "integers": (
        integers(),
        ["Transpose", CAST, CAST, "Conv", CAST, "Transpose", "Reshape", CAST, CAST, "MatMul", CAST],
    ),
    "quantized rows": (
        quantized_rows(),
        [
            *(
                "ReduceMin",
                "Min",
                "Abs",
                "ReduceMax",
                "Max",
                "Equal",
                "Sub",
                "Div",
                "Where",
                "Identity",
                "Div",
                "Shape",
                "Expand",
            ),
            *("Reshape", "Mul", "Abs", "Floor", "Sub", "Less", "Add", "Sign", "Where", "Mul", CAST, CAST, "Reshape"),
            *("Mul", "Add"),
        ],
    ),
    "sums of bytes": (
        sums_of_bytes(),
        ["ReduceMin", "Min", "ReduceMax", "Max", "Max", "Min", CAST, CAST, "MatMulInteger", "Mul", "Sub"],
    ),
    "images of bytes": (
        images_of_bytes(),
        ["Transpose", CAST, CAST, "Conv", CAST, CAST, CAST, "Conv", CAST, "Transpose", "Transpose"],
    ),
    "averages": (averages(), ["Transpose", "AveragePool", "Transpose"]),
}
