"""Integrity of quantization parameters on every value. Hazards: channels that arrive on another axis of the same size;
slices that cut, reverse or drop the channels; parameters that are equal, which may go anywhere; values that no `quant`
op reads; scalars; places known only at run time."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError, VerifyError
from qrt.ir.core.registry import every_definition
from qrt.ir.dialects.quant.channels import AXIS_KEEPING_OPS, MOVES, SCALAR_OPS, SHAPE_OPS, varying_axes
from qrt.runtime.interpreter import Interpreter
from qrt.types import UniformType, parse_type

Q = "!quant.uniform<i8:f32:0, {1.0, 2.0}>"
Q1 = "!quant.uniform<i8:f32:1, {1.0, 2.0}>"
EQUAL = "!quant.uniform<i8:f32:0, {0.5:3, 0.5:3}>"
BLOCKS = "!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0}, {2.0}}>"


def check(arguments, body, result=""):
    """Compile a program; the strict verifier says the same."""
    returned = f" -> {result}" if result else ""
    text = f"func.func @f({arguments}){returned} {{\n{body}\n}}"
    module = ir.parse(text)
    module.verify()
    refused = None
    try:
        module.verify(strict=True)
    except VerifyError as error:
        refused = str(error)
    if refused is None:
        qrt.compile(module)
        return
    with pytest.raises(VerifyError) as caught:
        qrt.compile(module)
    assert str(caught.value) == refused
    raise caught.value


TRANSPOSE = """%e = tensor.empty() : tensor<2x2x{q}>
%t = linalg.transpose ins(%a : tensor<2x2x{q}>) outs(%e : tensor<2x2x{q}>) permutation = [1, 0]
return %t : tensor<2x2x{q}>"""


@pytest.mark.parametrize(
    ("q", "words"),
    [(Q, "axis 0 of %a"), (Q1, "axis 1 of %a"), (EQUAL, None), ("!quant.uniform<i8:f32, 0.5>", None),
     (BLOCKS, "axis 0 of %a")],
)  # fmt: skip
def test_a_transpose_keeps_the_type_so_it_may_not_move_channels(q, words):
    arguments, body, result = f"%a: tensor<2x2x{q}>", TRANSPOSE.format(q=q), f"tensor<2x2x{q}>"
    if words is None:
        check(arguments, body, result)
        return
    with pytest.raises(VerifyError, match=r"'linalg.transpose' op moves channels: ") as caught:
        check(arguments, body, result)
    assert words in str(caught.value)
    assert "of %t" in str(caught.value)


REFUSED = {
    "an axis beyond the rank": (
        "%a: tensor<1x2x!quant.uniform<i8:f32:3, {1.0, 2.0}>>",
        "return",
        "'func.func' op has the value %a of type .*: quantized dimension must be less than tensor rank: axis 3, rank 2",
    ),
    "scales that are too many": (f"%a: tensor<3x{Q}>", "return", "the value %a .*dimension 0 has size 3"),
    "blocks that do not divide": (
        "%a: tensor<3x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>>", "return", "must be divisible by the .* block size 2",
    ),
    "a scalar argument": (f"%a: {Q}", "return", "the value %a .*scalar types may not .* a scalar has no axis 0"),
    "a scalar of blocks": (f"%a: {BLOCKS}", "return", "a scalar has no axes 0, 1"),
    "a scalar in a tuple": (f"%a: tuple<i32, {Q}>", "return", "scalar types may not"),
    "an extracted element": (
        f"%a: tensor<2x{Q}>, %i: index",
        f"%x = tensor.extract %a[%i] : tensor<2x{Q}>\nreturn",
        "'tensor.extract' op has the value %x of type .* a scalar has no axis 0",
    ),
    "an inserted element": (
        f"%a: tensor<2x{Q}>, %i: index, %s: {Q}",
        f"%x = tensor.insert %s into %a[%i] : tensor<2x{Q}>\nreturn",
        "the value %s of type .* a scalar has no axis 0",
    ),
    "a result that nothing reads": (
        "%a: tensor<2xi8>",
        f"%x = tensor.empty() : tensor<3x{Q}>\nreturn",
        "'tensor.empty' op has the value %x of type .*dimension 0 has size 3",
    ),
    "an argument of an inner block": (
        "%c: i1",
        f"%e = ub.poison : tensor<3x{Q}>\ncf.br ^b2(%e : tensor<3x{Q}>)\n^b2(%x: tensor<3x{Q}>):\nreturn",
        "dimension 0 has size 3",
    ),
    "a value in a loop": (
        "%a: tensor<2x3xf32>, %n: index",
        "%0 = arith.constant 0 : index\nscf.for %i = %0 to %n step %n {\n"
        f"%x = tensor.empty() : tensor<2x4x{Q1}>\n}}\nreturn",
        "the value %x .*dimension 1 has size 4",
    ),
    "a slice at one channel, without its axis": (
        f"%a: tensor<2x2x{Q}>",
        f"%x = tensor.extract_slice %a[1, 0] [1, 2] [1, 1] : tensor<2x2x{Q}> to tensor<2x{Q}>\nreturn",
        "'tensor.extract_slice' op moves channels: axis 0 of %a.* is dropped in %x",
    ),
    "a slice backwards": (
        f"%a: tensor<2x{Q}>",
        f"%x = tensor.extract_slice %a[1] [2] [-1] : tensor<2x{Q}> to tensor<2x{Q}>\nreturn",
        "axis 0 of %a.* is not copied as a whole, from 0 in steps of 1, to %x",
    ),
    "a slice at a place that the run knows": (
        f"%a: tensor<?x{Q}>, %i: index",
        f"%x = tensor.extract_slice %a[%i] [2] [1] : tensor<?x{Q}> to tensor<2x{Q}>\nreturn",
        "axis 0 of %a.* is not copied as a whole",
    ),
    "a slice without an axis before the channels": (
        f"%a: tensor<1x2x2x{Q1}>",
        f"%x = tensor.extract_slice %a[0, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<1x2x2x{Q1}> to tensor<2x2x{Q1}>\nreturn",
        "axis 1 of %a.* becomes axis 0 of %x",
    ),
    "an insertion along the channels": (
        f"%a: tensor<2x{Q}>, %b: tensor<?x{Q}>",
        f"%x = tensor.insert_slice %a into %b[1] [2] [1] : tensor<2x{Q}> into tensor<?x{Q}>\nreturn",
        "'tensor.insert_slice' op moves channels: axis 0 of %a.* is not copied as a whole",
    ),
    "a parallel insertion of rows": (
        f"%a: tensor<2x2x{Q}>, %b: tensor<2x{Q}>",
        f"%x = scf.forall (%i) in (2) shared_outs(%o = %a) -> (tensor<2x2x{Q}>) {{\nscf.forall.in_parallel {{\n"
        f"tensor.parallel_insert_slice %b into %o[%i, 0] [1, 2] [1, 1] : tensor<2x{Q}> into tensor<2x2x{Q}>\n"
        "}\n}\nreturn",
        "'tensor.parallel_insert_slice' op moves channels: axis 0 of %b.* becomes axis 1 of",
    ),
    "an expansion before the channels": (
        f"%a: tensor<4x2x{Q1}>",
        f"%x = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 2, 2] : tensor<4x2x{Q1}> into tensor<2x2x2x{Q1}>"
        "\nreturn",
        "axis 1 of %a.* becomes axis 2 of %x",
    ),
    "a collapse into the channels' number": (
        f"%a: tensor<2x2x2x{Q1}>",
        f"%x = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x2x2x{Q1}> into tensor<4x2x{Q1}>\nreturn",
        "axis 1 of %a.* becomes axis 0 of %x",
    ),
    "a reshape": (
        f"%a: tensor<2x2x1x{Q}>, %s: tensor<3xindex>",
        f"%x = tensor.reshape %a(%s) : (tensor<2x2x1x{Q}>, tensor<3xindex>) -> tensor<2x1x2x{Q}>\n"
        f"%y = tensor.reshape %x(%s) : (tensor<2x1x2x{Q}>, tensor<3xindex>) -> tensor<2x?x?x{Q}>\n"
        f"%z = tensor.reshape %y(%s) : (tensor<2x?x?x{Q}>, tensor<3xindex>) -> tensor<2x2x2x{Q}>\n"
        f"%u = tensor.cast %z : tensor<2x2x2x{Q}> to tensor<*x{Q}>\n"
        f"%v = tensor.reshape %u(%s) : (tensor<*x{Q}>, tensor<3xindex>) -> tensor<2x2x2x{Q}>\nreturn",
        "axis 0 of %u.* becomes an unknown axis, because a type is unranked, of %v",
    ),
    "a concatenation of channels": (
        f"%a: tensor<?x{Q}>",
        f"%x = tensor.concat dim(0) %a, %a : (tensor<?x{Q}>, tensor<?x{Q}>) -> tensor<?x{Q}>\nreturn",
        "'tensor.concat' op moves channels: axis 0 of %a",
    ),
    "a broadcast in front": (
        f"%a: tensor<2x{Q}>",
        f"%e = tensor.empty() : tensor<2x2x{Q}>\n%x = linalg.broadcast ins(%a : tensor<2x{Q}>) "
        f"outs(%e : tensor<2x2x{Q}>) dimensions = [0]\nreturn",
        "'linalg.broadcast' op moves channels: axis 0 of %a.* becomes axis 1 of %x",
    ),
    "a generic that swaps": (
        f"%a: tensor<2x2x{Q}>",
        f"%e = tensor.empty() : tensor<2x2x{Q}>\n%x = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (j, i)>, "
        'affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} '
        f"ins(%a : tensor<2x2x{Q}>) outs(%e : tensor<2x2x{Q}>) {{\n^bb0(%p: {Q}, %r: {Q}):\nlinalg.yield %p : {Q}\n}} "
        f"-> tensor<2x2x{Q}>\nreturn",
        "'linalg.generic' op moves channels: axis 0 of %a.* becomes axis 1 of %x",
    ),
    "a generic that reads the diagonal": (
        f"%a: tensor<2x2x{Q}>",
        f"%e = tensor.empty() : tensor<2x2x{Q}>\n%x = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (1, j)>, "
        'affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} '
        f"ins(%a : tensor<2x2x{Q}>) outs(%e : tensor<2x2x{Q}>) {{\n^bb0(%p: {Q}, %r: {Q}):\nlinalg.yield %p : {Q}\n}} "
        f"-> tensor<2x2x{Q}>\nreturn",
        "axis 0 of %a.* has no corresponding axis in %x",
    ),
    "a reduction over the channels": (
        f"%a: tensor<2x2x{Q}>, %e: tensor<2x{Q}>",
        f"%x = linalg.reduce ins(%a : tensor<2x2x{Q}>) outs(%e : tensor<2x{Q}>) dimensions = [0]\n"
        f"(%p: {Q}, %r: {Q}) {{\nlinalg.yield %p : {Q}\n}}\nreturn",
        "'linalg.reduce' op moves channels: axis 0 of %a.* has no corresponding axis in %x",
    ),
    "an element that a body takes": (
        f"%a: tensor<2x{Q}>, %b: tensor<2x{Q}>, %i: index",
        f"%x = linalg.map ins(%a : tensor<2x{Q}>) outs(%b : tensor<2x{Q}>)\n(%p: {Q}, %r: {Q}) {{\n"
        f"%y = tensor.extract %a[%i] : tensor<2x{Q}>\nlinalg.yield %y : {Q}\n}}\nreturn",
        "'tensor.extract' op has the value %y of type",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_by_name(case):
    arguments, body, message = REFUSED[case]
    with pytest.raises(VerifyError, match=message):
        check(arguments, body)


ACCEPTED = {
    "a slice along another axis": (
        f"%a: tensor<2x4x{Q}>, %i: index",
        f"%x = tensor.extract_slice %a[0, %i] [2, 2] [1, 2] : tensor<2x4x{Q}> to tensor<2x2x{Q}>\nreturn",
    ),
    "a slice from a constant that is 0": (
        f"%a: tensor<2x4x{Q}>",
        "%z = arith.constant 0 : index\n"
        f"%x = tensor.extract_slice %a[%z, 1] [2, 1] [1, 1] : tensor<2x4x{Q}> to tensor<2x{Q}>\nreturn",
    ),
    "an insertion of columns": (
        f"%a: tensor<2x{Q}>, %b: tensor<2x3x{Q}>, %i: index",
        f"%x = tensor.insert_slice %a into %b[0, %i] [2, 1] [1, 1] : tensor<2x{Q}> into tensor<2x3x{Q}>\nreturn",
    ),
    "ones beside the channels": (
        f"%a: tensor<2x3x{Q}>",
        f"%x = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 1, 3] : tensor<2x3x{Q}> into tensor<2x1x3x{Q}>\n"
        f"%y = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x1x3x{Q}> into tensor<2x3x{Q}>\nreturn",
    ),
    "a concatenation along another axis": (
        f"%a: tensor<2x?x{Q}>",
        f"%x = tensor.concat dim(1) %a, %a : (tensor<2x?x{Q}>, tensor<2x?x{Q}>) -> tensor<2x?x{Q}>\nreturn",
    ),
    "an unranked value": (f"%a: tensor<*x{Q}>", f"%x = tensor.cast %a : tensor<*x{Q}> to tensor<2x?x{Q}>\nreturn"),
    "a choice": (f"%a: tensor<2x{Q}>, %c: i1", f"%x = arith.select %c, %a, %a : tensor<2x{Q}>\nreturn"),
    "a copy": (
        f"%a: tensor<2x{Q}>, %b: tensor<2x{Q}>",
        f"%x = linalg.copy ins(%a : tensor<2x{Q}>) outs(%b : tensor<2x{Q}>) -> tensor<2x{Q}>\nreturn",
    ),
    "a broadcast behind": (
        f"%a: tensor<2x{Q}>",
        f"%e = tensor.empty() : tensor<2x2x{Q}>\n%x = linalg.broadcast ins(%a : tensor<2x{Q}>) "
        f"outs(%e : tensor<2x2x{Q}>) dimensions = [1]\nreturn",
    ),
    "a size that the operand's shape says": (
        f"%a: tensor<2x{Q}>",
        f"%i = arith.constant 0 : index\n%n = tensor.dim %a, %i : tensor<2x{Q}>\nreturn",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_keeps_its_channels_is_accepted(case):
    arguments, body = ACCEPTED[case]
    check(arguments, body)


def test_a_declared_function_is_checked_too():
    module = ir.parse(f"func.func private @g(tensor<3x{Q}>)\nfunc.func @f() {{ return }}")
    with pytest.raises(VerifyError, match=r"has a value of type .*dimension 0 has size 3, the type has 2 scales"):
        qrt.compile(module, "f")
    assert module.verify() == []  # as upstream


@pytest.mark.parametrize(
    ("text", "axes"),
    [(Q, (0,)), (EQUAL, ()), ("!quant.uniform<i8:f32:0, {0.5:3, 0.5:4}>", (0,)), ("!quant.uniform<i8:f32, 0.5>", ()),
     (BLOCKS, (0,)), ("!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0, 2.0}, {1.0, 2.0}}>", (1,)),
     ("!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0:1, 1.0}, {1.0, 1.0}}>", (0, 1))],
)  # fmt: skip
def test_varying_axes(text, axes):
    element = parse_type(text)
    assert isinstance(element, UniformType)
    assert varying_axes(element) == axes


# -- what is accepted is what is right -------------------------------------------------------------------------------


def _sizes(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def _draw_slice(rng, shape):
    """A slice of the whole along most axes, without some of those that have size 1."""
    offsets, sizes, kept = [], [], []
    for size in shape:
        whole = rng.random() < 0.6
        taken = size if whole else 1
        offsets.append(int(rng.integers(size - taken + 1)))
        sizes.append(taken)
        kept.append(taken > 1 or rng.random() < 0.5)
    return offsets, sizes, [size for size, keep in zip(sizes, kept, strict=True) if keep]


def _transposed(rng, shape, q):
    order = rng.permutation(len(shape)).tolist()
    out = [shape[axis] for axis in order]
    return out, (f"%e = tensor.empty() : {_sizes(out, q)}\n%r = linalg.transpose ins(%a : {_sizes(shape, q)}) "
                 f"outs(%e : {_sizes(out, q)}) permutation = {order}")  # fmt: skip


def _broadcast(rng, shape, q):
    axis = int(rng.integers(len(shape) + 1))
    out = [*shape[:axis], 2, *shape[axis:]]
    return out, (f"%e = tensor.empty() : {_sizes(out, q)}\n%r = linalg.broadcast ins(%a : {_sizes(shape, q)}) "
                 f"outs(%e : {_sizes(out, q)}) dimensions = [{axis}]")  # fmt: skip


def _groups(rng, rank):
    cuts = [axis for axis in range(1, rank) if rng.random() < 0.5]
    return [list(range(a, b)) for a, b in zip([0, *cuts], [*cuts, rank], strict=True)]


def _collapsed(rng, shape, q):
    groups = _groups(rng, len(shape))
    out = [int(np.prod([shape[axis] for axis in group])) for group in groups]
    return out, f"%r = tensor.collapse_shape %a {groups} : {_sizes(shape, q)} into {_sizes(out, q)}"


def _expanded(rng, shape, q):
    out, groups = [], []
    for size in shape:
        parts = [[size], [1, size], [size, 1], [2, size // 2] if size % 2 == 0 else [size]][int(rng.integers(4))]
        groups.append(list(range(len(out), len(out) + len(parts))))
        out += parts
    return out, f"%r = tensor.expand_shape %a {groups} output_shape {out} : {_sizes(shape, q)} into {_sizes(out, q)}"


def _sliced(rng, shape, q):
    offsets, sizes, out = _draw_slice(rng, shape)
    ones = [1] * len(shape)
    return out, f"%r = tensor.extract_slice %a{offsets} {sizes} {ones} : {_sizes(shape, q)} to {_sizes(out, q)}"


def _inserted(rng, shape, q):
    """A slice of the tensor, put at another place of it."""
    offsets, sizes, part = _draw_slice(rng, shape)
    ones = [1] * len(shape)
    places = [int(rng.integers(size - taken + 1)) for size, taken in zip(shape, sizes, strict=True)]
    return shape, (
        f"%p = tensor.extract_slice %a{offsets} {sizes} {ones} : {_sizes(shape, q)} to {_sizes(part, q)}\n"
        f"%r = tensor.insert_slice %p into %a{places} {sizes} {ones} : {_sizes(part, q)} into {_sizes(shape, q)}"
    )


def _reshaped(rng, shape, q):
    out = rng.permutation(shape).tolist()
    places = f"tensor<{len(out)}xindex>"
    return out, (
        f"%s = arith.constant dense<{out}> : {places}\n"
        f"%r = tensor.reshape %a(%s) : ({_sizes(shape, q)}, {places}) -> {_sizes(out, q)}"
    )


def _generic(rng, shape, q):
    order = rng.permutation(len(shape)).tolist()
    out = [shape[axis] for axis in order]
    loops = ", ".join(f"d{i}" for i in range(len(shape)))
    read = ", ".join(f"d{order.index(axis)}" for axis in range(len(shape)))
    kinds = ", ".join(['"parallel"'] * len(shape))
    maps = f"[affine_map<({loops}) -> ({read})>, affine_map<({loops}) -> ({loops})>]"
    return out, (
        f"%e = tensor.empty() : {_sizes(out, q)}\n"
        f"%r = linalg.generic {{indexing_maps = {maps}, iterator_types = [{kinds}]}} ins(%a : {_sizes(shape, q)}) "
        f"outs(%e : {_sizes(out, q)}) {{\n^bb0(%p: {q}, %o: {q}):\nlinalg.yield %p : {q}\n}} -> {_sizes(out, q)}"
    )


DRAWS = [_transposed, _broadcast, _collapsed, _expanded, _sliced, _inserted, _reshaped, _generic]


def _draw_element(rng, shape):
    if rng.random() < 0.3:
        blocks = {axis: 1 if rng.random() < 0.6 else size for axis, size in enumerate(shape)}
        counts = [size // blocks[axis] for axis, size in enumerate(shape)]
        scales = 2.0 ** np.arange(np.prod(counts)).reshape(counts)
        return UniformType("i8", "f32", scales.tolist(), block_sizes=blocks)
    axis = int(rng.integers(len(shape)))
    return UniformType("i8", "f32", [1.0, 2.0, 4.0, 8.0][: shape[axis]], axis=axis)


def _run(text, stored):
    """The result of the interpreter, which moves what it is told to move."""
    module = ir.parse(text)
    return np.asarray(Interpreter(module).call(module.function("f"), [stored])[0])


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__.strip("_"))
def test_a_move_is_accepted_where_its_values_are_those_of_the_floats_alone(draw):
    """Both ways: nothing wrong is accepted, and nothing right is refused. The oracle moves the floats."""
    seen = {True: 0, False: 0}
    for seed in range(300):
        rng = np.random.default_rng([seed, len(draw.__name__)])
        shape = [int(size) for size in rng.choice([1, 2, 2, 2, 3], int(rng.integers(1, 5)))]
        element = _draw_element(rng, shape)
        out, line = draw(np.random.default_rng(seed), shape, element)
        held, floats = _sizes(shape, element), _sizes(out, "f32")
        text = (
            f"func.func @f(%a: {held}) -> {floats} {{\n{line}\n"
            f"%d = quant.dcast %r : {_sizes(out, element)} to {floats}\nreturn %d : {floats}\n}}"
        )
        try:
            module = ir.parse(text)
            module.verify()
        except VerifyError:  # the result does not fit its type, which the cast checks
            continue
        try:
            module.check_channels()
            accepted = True
        except VerifyError:
            accepted = False
        _, line = draw(np.random.default_rng(seed), shape, "f32")
        oracle = (
            f"func.func @f(%q: {held}) -> {floats} {{\n%a = quant.dcast %q : {held} to {_sizes(shape, 'f32')}\n{line}\n"
            f"return %r : {floats}\n}}"
        )
        stored = np.random.default_rng(seed).permutation(np.arange(1, 1 + int(np.prod(shape)))).reshape(shape)
        # odd numbers: no two of them are equal under any scales, which are powers of two
        stored = (2 * stored - 1).astype(np.int8)
        try:
            right = np.array_equal(_run(text, stored), _run(oracle, stored))
        except ModelError:  # a value between does not fit its type
            right = False
        is_undone = draw is _inserted and right  # a slice put back where it was, whose own values are wrong
        assert accepted == right or is_undone, f"{text}\nis {'right' if right else 'wrong'}"
        seen[accepted] += 1
    assert min(seen.values()) > 2


# -- the table -------------------------------------------------------------------------------------------------------

WITHOUT_TENSORS = frozenset(
    {"bufferization.clone", "bufferization.to_buffer", "bufferization.to_tensor", "cf.assert", "func.func",
     "ml_program.global", "scf.forall.in_parallel", "ub.unreachable"}
)  # fmt: skip
"""Operations of which no quantized tensor is an operand or a result: memrefs hold none."""


@pytest.mark.parametrize("dialect", ["tensor", "scf", "cf", "func", "ml_program", "bufferization", "ub"])
def test_every_operation_that_may_hold_a_quantized_tensor_is_in_the_table(dialect):
    listed = {*MOVES, *AXIS_KEEPING_OPS, *SHAPE_OPS, *SCALAR_OPS, *WITHOUT_TENSORS}
    missing = {name for name in every_definition() if name.startswith(f"{dialect}.")} - listed
    assert missing == set()


def test_the_table_names_operations_that_exist_once():
    names = [*MOVES, *AXIS_KEEPING_OPS, *SHAPE_OPS, *SCALAR_OPS]
    assert len(names) == len(set(names))
    assert set(names) <= set(every_definition())
