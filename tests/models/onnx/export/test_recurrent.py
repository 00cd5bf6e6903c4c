"""Recurrent ops and what stands around them as nodes of ONNX. Hazards: a division that truncates where the program
floors, or rounds halves another way; a sum that wraps where the program saturates; a table that is read from its
middle; a direction, a zero point or a gate in another place; a reshape that forgets which of its sizes are open."""

import numpy as np
import onnx
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError
from qrt.models.onnx.export import model_proto
from tests.models.onnx.export.test_export import drawn, outputs
from tests.models.onnx.running import has_oracle, imported, run_oracle

X, H, Y, C = (f"!quant.uniform<{each}>" for each in ("i8:f32, 0.05:-7", "i8:f32, 0.0078:3", "i8:f32, 0.0078:3", "{}"))


def dense(array, kind):
    """A constant, its type, and the type of what it is cast to."""
    shape, signless = "x".join(map(str, array.shape)), f"i{8 * array.dtype.itemsize}"
    plain = f"tensor<{shape}x{signless}>"
    return f'arith.constant dense<"0x{array.tobytes().hex()}"> : {plain}', plain, f"tensor<{shape}x{kind}>"


def lstm(exponent=-11, time_major=False, clip=0.0, scale=0.01, seed=0, hidden=H, cifg=False):
    """A memory of 3 steps, 2 rows, 5 inputs and 4 cells. Large scales saturate every sum. With ``cifg`` it has no input
    gate."""
    rng = np.random.default_rng(seed)
    cell = C.format(f"i16:f32, {2.0**exponent:.17e}")
    lines, names, kinds = [], ["%x"], []
    shape = "3x2x5" if time_major else "2x3x5"
    kinds.append(f"tensor<{shape}x{X}>")
    for i in range(12):
        if i < 8:
            array = rng.integers(-127, 128, (4, 5 if i < 4 else 4)).astype(np.int8)
            kind = f"!quant.uniform<i8:f32, {scale * (1 + i % 3):.17e}>"
        else:
            array = rng.integers(-20000, 20000, 4).astype(np.int32)
            kind = f"!quant.uniform<i32:f32, {0.05 * float(f'{scale * (1 + (i - 8) % 3):.17e}'):.17e}>"
        text, plain, quantized = dense(array, kind)
        lines += [f"%c{i} = {text}", f"%w{i} = quant.scast %c{i} : {plain} to {quantized}"]
        if not cifg or i % 4:
            names.append(f"%w{i}")
            kinds.append(quantized)
    names += ["%h", "%c"]
    kinds += [f"tensor<2x4x{hidden}>", f"tensor<2x4x{cell}>"]
    y = f"tensor<{'3x2' if time_major else '2x3'}x4x{Y}>"
    results = f"{y}, tensor<2x4x{Y}>, tensor<2x4x{cell}>"
    said = f"time_major = {str(time_major).lower()}, cell_clip = {clip} : f64, cifg = {str(cifg).lower()}"
    body = "\n  ".join(lines)
    return f"""func.func @main(%x: {kinds[0]}, %h: {kinds[-2]}, %c: {kinds[-1]}) -> ({results}) {{
  {body}
  %0:3 = qrt.lstm {", ".join(names)} {{{said}}} : ({", ".join(kinds)}) -> ({results})
  return %0#0, %0#1, %0#2 : {results}
}}"""


LSTMS = {
    "plain": lstm(),
    "steps first, a clip": lstm(time_major=True, clip=3.0, seed=1),
    "sums that saturate": lstm(scale=0.9, seed=2),
    "small sums": lstm(scale=0.00002, seed=3),
    "a cell of another scale": lstm(exponent=-15, seed=4),
    "hidden values of another type": lstm(hidden="!quant.uniform<i8:f32, 0.02:-100>", seed=5),
}


@pytest.mark.parametrize("name", LSTMS)
def test_an_integer_memory_has_its_own_bits_everywhere(name):
    """ONNX Runtime computes them too: the Scan is exact."""
    module = ir.parse(LSTMS[name])
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    content = model.SerializeToString()
    back = imported(content)
    assert "qrt.lstm" in {op.name for op in back.operation.walk()}
    for seed in range(20):
        arguments = list(drawn(module, seed))
        wanted = outputs(module, arguments)
        found = outputs(back, arguments)
        names = [port.name for port in model.graph.input]
        theirs = found
        if has_oracle():
            theirs = run_oracle(content, {n: v.storage for n, v in zip(names, arguments, strict=True)})
        for each in zip(wanted, found, theirs, strict=True):
            np.testing.assert_array_equal(each[0], each[1])
            np.testing.assert_array_equal(each[0], each[2])


def test_a_changed_body_is_imported_as_it_stands():
    """The hash of a Scan is of the nodes inside too; what is imported then is the Scan, node by node, with its bits."""
    module = ir.parse(LSTMS["plain"])
    model = model_proto(module)
    (scan,) = [node for node in model.graph.node if node.op_type == "Scan"]
    (body,) = [each.g for each in scan.attribute if each.name == "body"]
    body.node[0].name += "!"
    same = imported(model.SerializeToString())
    assert "qrt.lstm" in {op.name for op in same.operation.walk()}  # a name computes nothing
    (last,) = [node for node in body.node if node.op_type == "Identity"]
    last.op_type = "Neg"
    other = imported(model.SerializeToString())
    assert "qrt.lstm" not in {op.name for op in other.operation.walk()}
    arguments = list(drawn(module, 0))
    mine, theirs = outputs(module, arguments), outputs(other, arguments)
    np.testing.assert_array_equal(mine[0], -theirs[0])
    np.testing.assert_array_equal(mine[2], theirs[2])


W = "!quant.uniform<{}8:f32:1, {{0.01:{z},0.02:{z},0.03:{z},0.04:{z},0.05:{z},0.06:{z},0.07:{z},0.08:{z}}}>"


def dynamic(reverse=False, storage="i", zero=0):
    rng = np.random.default_rng(3)
    kind = W.format(storage, z=zero)
    w, r = (dense(rng.integers(-128, 128, (n, 8)).astype(np.int8), kind) for n in (5, 2))
    bias = ", ".join(f"{each:.3f}" for each in rng.normal(size=8))
    return f"""func.func @main(%x: tensor<?x?x5xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>) ->
    (tensor<?x1x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {{
  %0 = {w[0]}
  %1 = quant.scast %0 : {w[1]} to {w[2]}
  %2 = {r[0]}
  %3 = quant.scast %2 : {r[1]} to {r[2]}
  %4 = arith.constant dense<[{bias}]> : tensor<8xf32>
  %5:3 = qrt.dynamic_lstm %x, %1, %3, %4, %h, %c {{reverse = {str(reverse).lower()}}} :
    (tensor<?x?x5xf32>, {w[2]}, {r[2]}, tensor<8xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  %6 = qrt.reshape %5#0 {{open_axes = [0, 1]}} : (tensor<?x?x2xf32>) -> tensor<?x1x?x2xf32>
  return %6, %5#1, %5#2 : tensor<?x1x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}}"""


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("storage", "zero"), [("i", 0), ("u", 128)])
def test_a_memory_of_floats_is_an_operator_of_onnx_runtime(reverse, storage, zero):
    """Its products saturate there on a CPU without VNNI, so that its results are not compared."""
    module = ir.parse(dynamic(reverse, storage, zero))
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    assert {each.domain for each in model.opset_import} == {"", "com.microsoft"}
    (made,) = [node for node in model.graph.node if node.domain]
    assert made.op_type == "DynamicQuantizeLSTM"
    back = imported(model.SerializeToString())
    rng = np.random.default_rng(1)
    for rows, steps in ((1, 3), (2, 1)):
        arguments = [rng.normal(size=shape).astype(np.float32) for shape in ((steps, rows, 5), (rows, 2), (rows, 2))]
        for before, after in zip(outputs(module, arguments), outputs(back, arguments), strict=True):
            np.testing.assert_array_equal(before, after)
    if has_oracle():
        names = [port.name for port in model.graph.input]
        found = run_oracle(model.SerializeToString(), dict(zip(names, arguments, strict=True)))
        assert [each.shape for each in found] == [each.shape for each in outputs(module, arguments)]


def test_a_memory_of_another_form_is_refused():
    with pytest.raises(ModelError, match=r"qrt.lstm \(a forget gate without an input gate\)"):
        model_proto(ir.parse(lstm(cifg=True)))


def test_weights_that_the_operator_does_not_take_are_refused():
    """ONNX Runtime wants one zero point, and 0 for signed weights."""
    with pytest.raises(ModelError, match=r"qrt.dynamic_lstm \(signed weights with a zero point\)"):
        model_proto(ir.parse(dynamic(zero=1)))
    with pytest.raises(ModelError, match=r"qrt.dynamic_lstm \(weights of several zero points\)"):
        model_proto(ir.parse(dynamic(storage="u", zero=7).replace("0.03:7", "0.03:8")))


def test_a_product_that_is_quantized_at_run_time():
    w = dense(np.random.default_rng(3).integers(-128, 128, (5, 8)).astype(np.int8), W.format("i", z=0))
    module = ir.parse(f"""func.func @main(%x: tensor<?x5xf32>) -> tensor<?x8xf32> {{
      %0 = {w[0]}
      %1 = quant.scast %0 : {w[1]} to {w[2]}
      %2 = qrt.dynamic_matmul %x, %1 : (tensor<?x5xf32>, {w[2]}) -> tensor<?x8xf32>
      return %2 : tensor<?x8xf32>
    }}""")
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    assert [each.op_type for each in model.graph.node] == [
        "DynamicQuantizeLinear", "MatMulInteger", "Mul", "Cast", "Mul",
    ]  # fmt: skip
    x = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    np.testing.assert_array_equal(outputs(module, [x])[0], outputs(imported(model.SerializeToString()), [x])[0])


POSITIONS = """#same = affine_map<(d0, d1) -> (d0, d1)>
#last = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<?x3xi64>, %b: tensor<?x3xi1>)
    -> (tensor<?x3xi64>, tensor<?x3xi1>, tensor<2x?xf32>, tensor<?xi64>, tensor<?xi32>) {
  %0 = arith.constant dense<[4, -5, 6]> : tensor<3xi64>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xi64>
  %1 = tensor.empty(%n) : tensor<?x3xi1>
  %2 = linalg.generic {indexing_maps = [#same, #last, #same], iterator_types = ["parallel", "parallel"]}
    ins(%x, %0 : tensor<?x3xi64>, tensor<3xi64>) outs(%1 : tensor<?x3xi1>) {
  ^bb0(%p: i64, %q: i64, %r: i1):
    %s = arith.cmpi slt, %p, %q : i64
    linalg.yield %s : i1
  } -> tensor<?x3xi1>
  %3 = arith.addi %x, %x : tensor<?x3xi64>
  %4 = arith.select %2, %3, %x : tensor<?x3xi1>, tensor<?x3xi64>
  %5 = arith.xori %2, %b : tensor<?x3xi1>
  %f = arith.constant 1.5 : f32
  %6 = tensor.splat %f[%n] : tensor<2x?xf32>
  %g = arith.constant -7 : i64
  %7 = tensor.splat %g[%n] : tensor<?xi64>
  %d = arith.constant dense<2147483647> : tensor<i32>
  %e = tensor.extract %d[] : tensor<i32>
  %8 = tensor.splat %e[%n] : tensor<?xi32>
  return %4, %5, %6, %7, %8 : tensor<?x3xi64>, tensor<?x3xi1>, tensor<2x?xf32>, tensor<?xi64>, tensor<?xi32>
}"""


def test_positions_bools_and_sizes():
    module = ir.parse(POSITIONS)
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    rng = np.random.default_rng(2)
    x, b = rng.integers(-9, 9, (5, 3)), rng.integers(0, 2, (5, 3)).astype(bool)
    wanted = outputs(module, [x, b])
    found = [outputs(imported(model.SerializeToString()), [x, b])]
    if has_oracle():
        found.append(run_oracle(model.SerializeToString(), {"input0": x, "input1": b}))
    for each in found:
        for before, after in zip(wanted, each, strict=True):
            np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("slt", "ult", "linalg.generic (arith.cmpi)"),
        ("%3 = arith.addi %x, %x", "%3 = arith.shli %x, %x", "arith.shli (i64)"),
    ],
)
def test_what_onnx_cannot_say_of_integers(old, new, message):
    with pytest.raises(ModelError) as caught:
        model_proto(ir.parse(POSITIONS.replace(old, new)))
    assert message in str(caught.value)


def test_integers_of_few_bits_are_refused():
    """A runtime has no sums of them, and their sign is not known."""
    module = ir.parse("""func.func @main(%x: tensor<3xi16>) -> tensor<3xi16> {
      %0 = arith.addi %x, %x : tensor<3xi16>
      return %0 : tensor<3xi16>
    }""")
    with pytest.raises(ModelError, match=r"arith.addi \(a tensor of i16\)"):
        model_proto(module)
    assert qrt.compile(module)(np.int16([1, 2, 3])).tolist() == [2, 4, 6]
