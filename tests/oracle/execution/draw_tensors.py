"""Tensors: tensor, linalg and bufferization. Sums of floats are in the order of the loops that linalg is."""

from collections.abc import Callable, Iterator, Sequence

from tests.oracle.draw_types import Draw
from tests.oracle.execution.case import Case
from tests.oracle.execution.draw_control import body
from tests.oracle.execution.draw_expressions import function
from tests.oracle.execution.draw_values import array
from tests.oracle.execution.values import FLOATS, STORED, is_float

CALLS = 2
_ELEMENTS = (*STORED, *FLOATS)
_INDICES = [f"%c{i} = arith.constant {i} : index" for i in range(4)]
Shape = tuple[int, ...]


def tensors(draw: Draw, count: int) -> Iterator[Case]:
    """Each rule in turn."""
    for i in range(count):
        yield _RULES[i % len(_RULES)](draw, draw.choice(_ELEMENTS))


def tensor(shape: Sequence[int | str], element: str) -> str:
    return f"tensor<{''.join(f'{dim}x' for dim in shape)}{element}>"


def _case(
    draw: Draw, lines: list[str], operands: list[tuple[Shape, str]], results: list[tuple[Sequence[int | str], str]]
) -> Case:
    """A function of tensors `%t0`, `%t1`, ... to `%r`, or `%r0` and `%r1`."""
    arguments = [f"%t{i}: {tensor(shape, element)}" for i, (shape, element) in enumerate(operands)]
    names = ["%r"] if len(results) == 1 else [f"%r{i}" for i in range(len(results))]
    text = function(lines, arguments, names, [tensor(shape, element) for shape, element in results])
    calls = [[array(draw, element, shape) for shape, element in operands] for _ in range(CALLS)]
    return Case("tensors and linalg", text, calls, defined=[True] * CALLS)


def _zero(element: str) -> str:
    return f"%zero = arith.constant {'0.0' if is_float(element) else '0'} : {element}"


def _filled(name: str, shape: Shape, element: str, value: str = "%zero") -> list[str]:
    return [
        f"%{name}e = tensor.empty() : {tensor(shape, element)}",
        f"%{name} = linalg.fill ins({value} : {element}) outs(%{name}e : {tensor(shape, element)})"
        f" -> {tensor(shape, element)}",
    ]


# -- tensor ------------------------------------------------------------------------------------------------------------


def _slices(draw: Draw, element: str) -> Case:
    row, step = draw.randint(0, 1), draw.randint(1, 2)
    part = tensor((2, 2), element)
    lines = [
        *_INDICES,
        f"%s = tensor.extract_slice %t0[{row}, %c{draw.randint(0, 2)}] [2, 2] [{step}, 1]"
        f" : {tensor((4, 4), element)} to {part}",
        f"%u = tensor.insert_slice %s into %t1[%c{draw.randint(0, 1)}, 1] [2, 2] [1, {step}]"
        f" : {part} into {tensor((3, 4), element)}",
        f"%v = tensor.extract %u[%c2, %c{draw.randint(0, 3)}] : {tensor((3, 4), element)}",
        f"%r = tensor.insert %v into %u[%c0, %c0] : {tensor((3, 4), element)}",
    ]
    return _case(draw, lines, [((4, 4), element), ((3, 4), element)], [((3, 4), element)])


def _dynamic_slice(draw: Draw, element: str) -> Case:
    size = draw.randint(0, 3)
    made = tensor(("?", 3), element)
    lines = [
        *_INDICES,
        f"%s = tensor.extract_slice %t0[1, 0] [%c{size}, 3] [1, 1] : {tensor((4, 3), element)} to {made}",
        f"%d = tensor.dim %s, %c0 : {made}",
        f"%r0 = tensor.cast %s : {made} to {tensor(('?', '?'), element)}",
        f"%r1 = tensor.from_elements %d, %c{size} : {tensor((2,), 'index')}",
    ]
    return _case(draw, lines, [((4, 3), element)], [(("?", "?"), element), ((2,), "index")])


def _reshapes(draw: Draw, element: str) -> Case:
    lines = [
        f"%e = tensor.expand_shape %t0 [[0, 1], [2]] output_shape [2, 3, 2]"
        f" : {tensor((6, 2), element)} into {tensor((2, 3, 2), element)}",
        f"%l = tensor.collapse_shape %e [[0], [1, 2]] : {tensor((2, 3, 2), element)} into {tensor((2, 6), element)}",
        "%s = arith.constant dense<[3, 4]> : tensor<2xindex>",
        f"%r = tensor.reshape %l(%s) : ({tensor((2, 6), element)}, tensor<2xindex>) -> {tensor((3, 4), element)}",
    ]
    return _case(draw, lines, [((6, 2), element)], [((3, 4), element)])


def _pad(draw: Draw, element: str) -> Case:
    low, high = [draw.randint(0, 2) for _ in "ab"], [draw.randint(0, 2) for _ in "ab"]
    shape = (2 + low[0] + high[0], 3 + low[1] + high[1])
    lines = [
        *_INDICES,
        f"%v = tensor.extract %t0[%c1, %c2] : {tensor((2, 3), element)}",
        f"%r = tensor.pad %t0 low{low} high{high} {{",
        "^bb0(%i: index, %j: index):",
        f"tensor.yield %v : {element}",
        f"}} : {tensor((2, 3), element)} to {tensor(shape, element)}",
    ]
    return _case(draw, lines, [((2, 3), element)], [(shape, element)])


def _generate(draw: Draw, element: str) -> Case:
    lines = [
        *_INDICES,
        "%g = tensor.generate %c3 {",
        "^bb0(%i: index, %j: index):",
        f"%v = tensor.extract %t0[%j, %i] : {tensor((2, 3), element)}",
        *body(draw, element, ["%v"], "u", "%w"),
        f"tensor.yield %w : {element}",
        f"}} : {tensor(('?', 2), element)}",
        f"%r = tensor.concat dim(1) %g, %t1 : ({tensor(('?', 2), element)}, {tensor((3, 1), element)})"
        f" -> {tensor(('?', 3), element)}",
    ]
    return _case(draw, lines, [((2, 3), element), ((3, 1), element)], [(("?", 3), element)])


def _elements(draw: Draw, element: str) -> Case:
    lines = [
        *_INDICES,
        f"%a = tensor.extract %t0[%c{draw.randint(0, 2)}] : {tensor((3,), element)}",
        f"%b = tensor.extract %t0[%c{draw.randint(0, 2)}] : {tensor((3,), element)}",
        *body(draw, element, ["%a", "%b"], "u", "%c"),
        f"%r0 = tensor.from_elements %a, %b, %c, %a : {tensor((2, 2), element)}",
        f"%r1 = tensor.splat %c : {tensor((2,), element)}",
    ]
    return _case(draw, lines, [((3,), element)], [((2, 2), element), ((2,), element)])


def _loop_of_tensors(draw: Draw, element: str) -> Case:
    t = tensor((4,), element)
    lines = [
        *_INDICES,
        f"%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %t0) -> ({t}) {{",
        f"%v = tensor.extract %x[%i] : {t}",
        "%next = arith.addi %i, %c1 : index",
        f"%w = tensor.extract %x[%next] : {t}",
        *body(draw, element, ["%v", "%w"], "u", "%new"),
        f"%y = tensor.insert %new into %x[%next] : {t}",
        f"scf.yield %y : {t}",
        "}",
    ]
    return _case(draw, lines, [((4,), element)], [((4,), element)])


def _alloc_tensor(draw: Draw, element: str) -> Case:
    t = tensor((2, 3), element)
    lines = [
        *_INDICES,
        f"%m = bufferization.alloc_tensor() copy(%t0) : {t}",
        f"%v = tensor.extract %m[%c1, %c{draw.randint(0, 2)}] : {t}",
        f"%r0 = tensor.insert %v into %m[%c0, %c{draw.randint(0, 2)}] : {t}",
        f"%r1 = bufferization.materialize_in_destination %t1 in %t0 : ({t}, {t}) -> {t}",
    ]
    return _case(draw, lines, [((2, 3), element)] * 2, [((2, 3), element)] * 2)


def _forall(draw: Draw, element: str) -> Case:
    t, row = tensor((4, 3), element), tensor((1, 3), element)
    lines = [
        *_INDICES,
        f"%r = scf.forall (%i) = (0) to (4) step ({draw.randint(1, 2)}) shared_outs(%o = %t1) -> ({t}) {{",
        f"%s = tensor.extract_slice %t0[%i, 0] [1, 3] [1, 1] : {t} to {row}",
        "scf.forall.in_parallel {",
        f"tensor.parallel_insert_slice %s into %o[%i, 0] [1, 3] [1, 1] : {row} into {t}",
        "}",
        "}",
    ]
    return _case(draw, lines, [((4, 3), element)] * 2, [((4, 3), element)])


def _shapes(draw: Draw, element: str) -> Case:
    shape = (draw.randint(1, 3), 1, draw.randint(1, 3))
    other = f"[{draw.randint(1, 4)}, {shape[2]}]"
    lines = [
        *_INDICES,
        f"%x = tensor.cast %t0 : {tensor(shape, element)} to {tensor('???', element)}",
        f"%s = shape.shape_of %x : {tensor('???', element)} -> tensor<3xindex>",
        "%any = tensor.cast %s : tensor<3xindex> to tensor<?xindex>",
        f"%k = shape.const_shape {other} : tensor<2xindex>",
        "%all = tensor.cast %k : tensor<2xindex> to tensor<?xindex>",
        "%r0 = shape.broadcast %any, %all : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>",
        "%n = shape.num_elements %any : tensor<?xindex> -> index",
        "%d = shape.rank %all : tensor<?xindex> -> index",
        f"%e = shape.get_extent %any, %c{draw.randint(0, 2)} : tensor<?xindex>, index -> index",
        "%m = shape.mul %n, %d : index, index -> index",
        "%p = shape.add %m, %e : index, index -> index",
        '%head, %tail = "shape.split_at"(%any, %c1) : (tensor<?xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)',
        "%h = shape.num_elements %tail : tensor<?xindex> -> index",
        f"%rank = tensor.rank %x : {tensor('???', element)}",
        "%r1 = tensor.from_elements %n, %d, %e, %m, %p, %h, %rank : tensor<7xindex>",
    ]
    return _case(draw, lines, [(shape, element)], [("?", "index"), ((7,), "index")])


# -- linalg ------------------------------------------------------------------------------------------------------------

_MAPS = {
    "transposed": ("(d0, d1) -> (d1, d0)", lambda m, n: (n, m)),
    "row": ("(d0, d1) -> (d1)", lambda m, n: (n,)),
    "column": ("(d0, d1) -> (d0)", lambda m, n: (m,)),
    "scalar": ("(d0, d1) -> ()", lambda m, n: ()),
    "plain": ("(d0, d1) -> (d0, d1)", lambda m, n: (m, n)),
    "window": ("(d0, d1) -> (d0 + d1)", lambda m, n: (m + n - 1,)),
    "strided": ("(d0, d1) -> (d0 * 2 + d1)", lambda m, n: (2 * m + n - 2,)),
    "blocks": ("(d0, d1) -> (d0 floordiv 2, d1)", lambda m, n: ((m + 1) // 2, n)),
}


def _generic(draw: Draw, element: str) -> Case:
    """Any maps for operands; results over both dimensions, or sums over one."""
    m, n = draw.randint(1, 4), draw.randint(1, 4)
    chosen = [draw.choice(list(_MAPS)) for _ in range(draw.randint(1, 3))]
    if "plain" not in chosen and "transposed" not in chosen:
        chosen[0] = "plain"
    target = draw.choice(["plain", "transposed", "row", "column", "scalar"])
    kinds = {"row": ("reduction", "parallel"), "column": ("parallel", "reduction"), "scalar": ("reduction",) * 2}
    iterators = ", ".join(f'"{kind}"' for kind in kinds.get(target, ("parallel",) * 2))
    maps = ", ".join(f"affine_map<{_MAPS[name][0]}>" for name in [*chosen, target])
    shapes = [_MAPS[name][1](m, n) for name in chosen]
    out = _MAPS[target][1](m, n)
    types = ", ".join(tensor(shape, element) for shape in shapes)
    inputs = ", ".join(f"%t{i}" for i in range(len(shapes)))
    names = [f"%b{i}" for i in range(len(shapes))]
    index = draw.chance(0.3) and element == "index"
    lines = [
        f"%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}"
        f" ins({inputs} : {types}) outs(%t{len(shapes)} : {tensor(out, element)}) {{",
        f"^bb0({', '.join(f'{name}: {element}' for name in [*names, '%out'])}):",
        *(["%at = linalg.index 1 : index"] if index else []),
        *body(draw, element, [*names, "%out", *(["%at"] if index else [])], "u", "%new"),
        f"linalg.yield %new : {element}",
        f"}} -> {tensor(out, element)}",
    ]
    return _case(draw, lines, [(shape, element) for shape in [*shapes, out]], [(out, element)])


def _named(name: str, inputs: Sequence[Shape], out: Shape, attributes: str = "") -> Callable[[Draw, str], Case]:
    """A named op that accumulates into its last operand."""

    def rule(draw: Draw, element: str) -> Case:
        element = "i32" if element == "index" else element
        given, result = (element, element) if draw.chance(0.5) else _widened(element)
        types = ", ".join(tensor(shape, given) for shape in inputs)
        names = ", ".join(f"%t{i}" for i in range(len(inputs)))
        made = tensor(out, result)
        line = f"%r = linalg.{name}{attributes} ins({names} : {types}) outs(%t{len(inputs)} : {made}) -> {made}"
        return _case(draw, [line], [*((shape, given) for shape in inputs), (out, result)], [(out, result)])

    return rule


def _widened(element: str) -> tuple[str, str]:
    """Operands of a narrower type than the sum."""
    return {"f64": ("f32", "f64"), "f32": ("f16", "f32"), "f16": ("f16", "f32"), "bf16": ("bf16", "f32")}.get(
        element, ("i8", "i32")
    )


def _pooling(name: str) -> Callable[[Draw, str], Case]:
    def rule(draw: Draw, element: str) -> Case:
        element = "i32" if element == "index" else element
        if is_float(element) == ("unsigned" in name):
            element = "i16" if "unsigned" in name else element
        types = f"{tensor((1, 5, 5, 2), element)}, {tensor((2, 2), element)}"
        made = tensor((1, 2, 2, 2), element)
        attributes = "{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}"
        line = f"%r = linalg.{name} {attributes} ins(%t0, %t1 : {types}) outs(%t2 : {made}) -> {made}"
        operands = [((1, 5, 5, 2), element), ((2, 2), element), ((1, 2, 2, 2), element)]
        return _case(draw, [line], operands, [((1, 2, 2, 2), element)])

    return rule


def _quantized_matmul(draw: Draw, _: str) -> Case:
    made = tensor((2, 4), "i32")
    lines = [
        f"%za = arith.constant {draw.randint(-128, 127)} : i32",
        f"%zb = arith.constant {draw.randint(-128, 127)} : i32",
        "%r = linalg.quantized_matmul"
        f" ins(%t0, %t1, %za, %zb : {tensor((2, 3), 'i8')}, {tensor((3, 4), 'i8')}, i32, i32)"
        f" outs(%t2 : {made}) -> {made}",
    ]
    return _case(draw, lines, [((2, 3), "i8"), ((3, 4), "i8"), ((2, 4), "i32")], [((2, 4), "i32")])


def _map(draw: Draw, element: str) -> Case:
    t = tensor((2, 3), element)
    lines = [
        f"%m = tensor.empty() : {t}",
        f"%r = linalg.map ins(%t0, %t1 : {t}, {t}) outs(%m : {t})",
        f"(%x: {element}, %y: {element}, %old: {element}) {{",
        *body(draw, element, ["%x", "%y"], "u", "%new"),
        f"linalg.yield %new : {element}",
        "}",
    ]
    return _case(draw, lines, [((2, 3), element)] * 2, [((2, 3), element)])


def _reduce(draw: Draw, element: str) -> Case:
    axis = draw.randint(0, 1)
    out = ((3,), (2,))[axis]
    lines = [
        f"%r = linalg.reduce ins(%t0 : {tensor((2, 3), element)}) outs(%t1 : {tensor(out, element)})"
        f" dimensions = [{axis}]",
        f"(%x: {element}, %y: {element}) {{",
        *body(draw, element, ["%x", "%y"], "u", "%new"),
        f"linalg.yield %new : {element}",
        "}",
    ]
    return _case(draw, lines, [((2, 3), element), (out, element)], [(out, element)])


def _movement(draw: Draw, element: str) -> Case:
    wide, turned = tensor((2, 4, 3), element), tensor((3, 2, 4), element)
    lines = [
        f"%we = tensor.empty() : {wide}",
        f"%w = linalg.broadcast ins(%t0 : {tensor((2, 3), element)}) outs(%we : {wide}) dimensions = [1]",
        f"%te = tensor.empty() : {turned}",
        f"%r = linalg.transpose ins(%w : {wide}) outs(%te : {turned}) permutation = [2, 0, 1]",
    ]
    return _case(draw, lines, [((2, 3), element)], [((3, 2, 4), element)])


def _filled_matmul(draw: Draw, element: str) -> Case:
    element = "i16" if element == "index" else element
    a, b, c = tensor((2, 3), element), tensor((3, 4), element), tensor((2, 4), element)
    lines = [
        _zero(element),
        *_filled("o", (2, 4), element),
        f"%p = linalg.matmul ins(%t0, %t1 : {a}, {b}) outs(%o : {c}) -> {c}",
        f"%r = linalg.add ins(%p, %t2 : {c}, {c}) outs(%o : {c}) -> {c}",
    ]
    return _case(draw, lines, [((2, 3), element), ((3, 4), element), ((2, 4), element)], [((2, 4), element)])


_TRANSPOSED = (
    " indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,"
    " affine_map<(m, n, k) -> (m, n)>]"
)
_WINDOW = " {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}"

_RULES: tuple[Callable[[Draw, str], Case], ...] = (
    _slices,
    _dynamic_slice,
    _reshapes,
    _pad,
    _generate,
    _elements,
    _loop_of_tensors,
    _alloc_tensor,
    _forall,
    _shapes,
    _generic,
    _generic,
    _generic,
    _named("matmul", ((2, 3), (3, 4)), (2, 4)),
    _named("matmul", ((3, 2), (3, 4)), (2, 4), _TRANSPOSED),
    _named("batch_matmul", ((2, 2, 3), (2, 3, 2)), (2, 2, 2)),
    _named("matvec", ((2, 3), (3,)), (2,)),
    _named("vecmat", ((2,), (2, 3)), (3,)),
    _named("dot", ((4,), (4,)), ()),
    _named("conv_1d", ((5,), (2,)), (4,)),
    _named("conv_2d", ((4, 4), (2, 2)), (3, 3)),
    _named("conv_2d_nhwc_hwcf", ((1, 5, 3, 2), (2, 2, 2, 2)), (1, 2, 2, 2), _WINDOW),
    _named("conv_2d_nchw_fchw", ((1, 2, 5, 3), (2, 2, 2, 2)), (1, 2, 2, 2), _WINDOW),
    _named("depthwise_conv_2d_nhwc_hwc", ((1, 5, 3, 2), (2, 2, 2)), (1, 2, 2, 2), _WINDOW),
    _pooling("pooling_nhwc_sum"),
    _pooling("pooling_nhwc_max"),
    _pooling("pooling_nhwc_min"),
    _pooling("pooling_nhwc_max_unsigned"),
    _quantized_matmul,
    _map,
    _reduce,
    _movement,
    _filled_matmul,
)
