"""vector: each case reads tensors into vectors, computes, and writes the vectors back."""

from collections.abc import Callable, Iterator

from tests.oracle.draw_types import Draw
from tests.oracle.execution.case import Case
from tests.oracle.execution.draw_expressions import function
from tests.oracle.execution.draw_tensors import tensor
from tests.oracle.execution.draw_values import array
from tests.oracle.execution.values import FLOATS, is_float

CALLS = 2
_SCALARS = ("i8", "i16", "i32", "i64", *FLOATS)
_INDICES = [f"%c{i} = arith.constant {i} : index" for i in range(4)]
Shape = tuple[int, ...]


def vectors(draw: Draw, count: int) -> Iterator[Case]:
    for i in range(count):
        yield _RULES[i % len(_RULES)](draw, draw.choice(_SCALARS))


def vector(shape: Shape, element: str) -> str:
    return f"vector<{'x'.join([*map(str, shape), element])}>"


def _case(draw: Draw, element: str, lines: list[str], shapes: list[Shape], out: Shape) -> Case:
    """Vectors `%v0`, `%v1`, ... of tensors of `shapes`; lines that make `%w`, of the shape `out`."""
    zero = f"%pad = arith.constant {'0.0' if is_float(element) else '0'} : {element}"
    reads = []
    for i, shape in enumerate(shapes):
        places = ", ".join(["%c0"] * len(shape))
        inside = ", ".join(["true"] * len(shape))
        reads.append(
            f"%v{i} = vector.transfer_read %t{i}[{places}], %pad {{in_bounds = [{inside}]}}"
            f" : {tensor(shape, element)}, {vector(shape, element)}"
        )
    made = tensor(out, element)
    places = ", ".join(["%c0"] * len(out))
    inside = ", ".join(["true"] * len(out))
    write = (
        f"%r = vector.transfer_write %w, %empty[{places}] {{in_bounds = [{inside}]}} : {vector(out, element)}, {made}"
    )
    text = function(
        [*_INDICES, zero, *reads, *lines, f"%empty = tensor.empty() : {made}", write],
        [f"%t{i}: {tensor(shape, element)}" for i, shape in enumerate(shapes)],
        ["%r"],
        [made],
    )
    calls = [[array(draw, element, shape) for shape in shapes] for _ in range(CALLS)]
    return Case("vectors", text, calls, defined=[True] * CALLS)


def _transfer(draw: Draw, element: str) -> Case:
    """Reads and writes that reach beyond their tensors."""
    t, v = tensor((3, 5), element), vector((2, 4), element)
    lines = [
        *_INDICES,
        f"%pad = tensor.extract %t0[%c0, %c{draw.randint(0, 3)}] : {t}",
        f"%v = vector.transfer_read %t0[%c{draw.randint(0, 2)}, %c{draw.randint(0, 3)}], %pad : {t}, {v}",
        f"%r = vector.transfer_write %v, %t1[%c{draw.randint(0, 2)}, %c{draw.randint(0, 3)}] : {v}, {t}",
    ]
    text = function(lines, [f"%t0: {t}", f"%t1: {t}"], ["%r"], [t])
    calls = [[array(draw, element, (3, 5)) for _ in "ab"] for _ in range(CALLS)]
    return Case("vectors", text, calls, defined=[True] * CALLS)


def _arithmetic(draw: Draw, element: str) -> Case:
    kind = "f" if is_float(element) else "i"
    v = vector((2, 3), element)
    lines = [
        f"%s = arith.add{kind} %v0, %v1 : {v}",
        f"%m = arith.mul{kind} %s, %v0 : {v}",
        f"%w = arith.sub{kind} %m, %v1 : {v}",
    ]
    return _case(draw, element, lines, [(2, 3), (2, 3)], (2, 3))


def _reduction(draw: Draw, element: str) -> Case:
    kinds = ["add", "mul", "maximumf", "minimumf"] if is_float(element) else _INTEGER_KINDS
    lines = [
        f"%first = vector.extract %v1[0] : {element} from {vector((1,), element)}",
        f"%s = vector.reduction <{draw.choice(kinds)}>, %v0, %first : {vector((4,), element)} into {element}",
        f"%w = vector.broadcast %s : {element} to {vector((1,), element)}",
    ]
    return _case(draw, element, lines, [(4,), (1,)], (1,))


_INTEGER_KINDS = ["add", "mul", "minsi", "maxsi", "minui", "maxui", "and", "or", "xor"]


def _multi_reduction(draw: Draw, element: str) -> Case:
    kinds = ["maximumf", "minimumf"] if is_float(element) else _INTEGER_KINDS
    axis = draw.randint(0, 1)
    out = (3,) if axis == 0 else (2,)
    line = (
        f"%w = vector.multi_reduction <{draw.choice(kinds)}>, %v0, %v1 [{axis}]"
        f" : {vector((2, 3), element)} to {vector(out, element)}"
    )
    return _case(draw, element, [line], [(2, 3), out], out)


def _contract(draw: Draw, element: str) -> Case:
    """A product of matrices of integers: sums of floats are in no order that is promised."""
    element = "i32" if is_float(element) else element
    a, b, c = (vector(shape, element) for shape in ((2, 3), (3, 2), (2, 2)))
    maps = "affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>"
    line = (
        f'%w = vector.contract {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"],'
        f" kind = #vector.kind<add>}} %v0, %v1, %v2 : {a}, {b} into {c}"
    )
    return _case(draw, element, [line], [(2, 3), (3, 2), (2, 2)], (2, 2))


def _movement(draw: Draw, element: str) -> Case:
    v = vector((2, 3), element)
    picks = ", ".join(str(draw.randint(0, 3)) for _ in range(3))
    lines = [
        f"%t = vector.transpose %v0, [1, 0] : {v} to {vector((3, 2), element)}",
        f"%s = vector.shape_cast %t : {vector((3, 2), element)} to {v}",
        f"%row = vector.extract %s[{draw.randint(0, 1)}] : {vector((3,), element)} from {v}",
        f"%first = vector.extract %v0[1, 2] : {element} from {v}",
        f"%one = vector.from_elements %first : {vector((1,), element)}",
        f"%mixed = vector.shuffle %row, %one [{picks}] : {vector((3,), element)}, {vector((1,), element)}",
        f"%k = vector.insert %mixed, %s[{draw.randint(0, 1)}] : {vector((3,), element)} into {v}",
        f"%part = vector.extract_strided_slice %k {{offsets = [0, 1], sizes = [2, 2], strides = [1, 1]}}"
        f" : {v} to {vector((2, 2), element)}",
        f"%w = vector.insert_strided_slice %part, %v0 {{offsets = [0, {draw.randint(0, 1)}], strides = [1, 1]}}"
        f" : {vector((2, 2), element)} into {v}",
    ]
    return _case(draw, element, lines, [(2, 3)], (2, 3))


def _elements(draw: Draw, element: str) -> Case:
    """Taken apart, and put together in another order."""
    order = ", ".join(f"%e#{draw.randint(0, 5)}" for _ in range(4))
    lines = [
        f"%i = vector.interleave %v0, %v1 : {vector((3,), element)} -> {vector((6,), element)}",
        f"%e:6 = vector.to_elements %i : {vector((6,), element)}",
        f"%w = vector.from_elements {order} : {vector((4,), element)}",
    ]
    return _case(draw, element, lines, [(3,), (3,)], (4,))


def _masks(draw: Draw, element: str) -> Case:
    lines = [
        f"%m = vector.create_mask %c{draw.randint(0, 3)} : vector<3xi1>",
        f"%k = vector.constant_mask [{draw.randint(0, 3)}] : vector<3xi1>",
        "%both = arith.xori %m, %k : vector<3xi1>",
        f"%w = arith.select %both, %v0, %v1 : vector<3xi1>, {vector((3,), element)}",
    ]
    return _case(draw, element, lines, [(3,), (3,)], (3,))


def _fma(draw: Draw, element: str) -> Case:
    element = element if is_float(element) else "f32"
    v = vector((3,), element)
    return _case(draw, element, [f"%w = vector.fma %v0, %v1, %v2 : {v}"], [(3,)] * 3, (3,))


def _memory(draw: Draw, element: str) -> Case:
    m, v = f"memref<2x4x{element}>", vector((3,), element)
    lines = [
        *_INDICES,
        f"%v = vector.load %m[%c{draw.randint(0, 1)}, %c{draw.randint(0, 1)}] : {m}, {v}",
        f"%w = arith.{'addf' if is_float(element) else 'addi'} %v, %v : {v}",
        f"vector.store %w, %m[%c{draw.randint(0, 1)}, %c{draw.randint(0, 1)}] : {m}, {v}",
        "return",
    ]
    text = f"func.func @f(%m: {m}) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"
    return Case("vectors", text, [[array(draw, element, (2, 4))] for _ in range(CALLS)], defined=[True] * CALLS)


def _step(draw: Draw, _: str) -> Case:
    """Indices, by the lanes of a vector."""
    lines = [
        *_INDICES,
        "%s = vector.step : vector<4xindex>",
        f"%b = vector.broadcast %c{draw.randint(0, 3)} : index to vector<4xindex>",
        "%w = arith.muli %s, %b : vector<4xindex>",
        "%r = vector.transfer_write %w, %t[%c0] {in_bounds = [true]} : vector<4xindex>, tensor<4xindex>",
    ]
    text = function(lines, ["%t: tensor<4xindex>"], ["%r"], ["tensor<4xindex>"])
    return Case("vectors", text, [[array(draw, "index", (4,))]], defined=[True])


_RULES: tuple[Callable[[Draw, str], Case], ...] = (
    _transfer,
    _arithmetic,
    _reduction,
    _multi_reduction,
    _contract,
    _movement,
    _elements,
    _masks,
    _fma,
    _memory,
    _step,
)
