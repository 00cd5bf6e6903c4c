"""Traffic of memory: memref and affine, on memrefs that the caller reads afterwards."""

from collections.abc import Callable, Iterator

from tests.oracle.draw_types import Draw
from tests.oracle.execution.case import Case
from tests.oracle.execution.draw_control import body
from tests.oracle.execution.draw_expressions import function
from tests.oracle.execution.draw_values import array
from tests.oracle.execution.values import FLOATS, STORED, width

CALLS = 2
_ELEMENTS = (*STORED, *FLOATS)
_INDICES = [f"%c{i} = arith.constant {i} : index" for i in range(5)]


def memory(draw: Draw, count: int) -> Iterator[Case]:
    for _ in range(count):
        yield draw.choice(_RULES)(draw, draw.choice(_ELEMENTS))


def _case(draw: Draw, element: str, lines: list[str], shapes: list[tuple[int, ...]], before: str = "") -> Case:
    """A function of memrefs `%m0`, `%m1`, ..."""
    types = [f"memref<{''.join(f'{dim}x' for dim in shape)}{element}>" for shape in shapes]
    text = before + function(lines, [f"%m{i}: {t}" for i, t in enumerate(types)], [], [])
    calls = [[array(draw, element, shape) for shape in shapes] for _ in range(CALLS)]
    return Case("memory", text, calls, defined=[True] * CALLS)


def _loads_and_stores(draw: Draw, element: str) -> Case:
    lines = [*_INDICES]
    names = []
    for i in range(draw.randint(2, 5)):
        lines.append(f"%v{i} = memref.load %m0[%c{draw.randint(0, 2)}, %c{draw.randint(0, 3)}] : memref<3x4x{element}>")
        names.append(f"%v{i}")
        lines += body(draw, element, names, f"u{i}x", f"%w{i}")
        store = f"memref.store %w{i}, %m0[%c{draw.randint(0, 2)}, %c{draw.randint(0, 3)}] : memref<3x4x{element}>"
        lines.append(store)
    return _case(draw, element, lines, [(3, 4)])


def _subview(draw: Draw, element: str) -> Case:
    """A copy from one strided view to another."""
    offset, step = draw.randint(0, 1), draw.randint(1, 2)
    view = f"memref<2x2x{element}, strided<[{5 * step}, 2], offset: {5 * offset + 1}>>"
    taken = f"memref.subview %m0[{offset}, 1] [2, 2] [{step}, 2] : memref<4x5x{element}> to {view}"
    other = f"memref<2x2x{element}, strided<[2, 1]>>"
    lines = [
        f"%s = {taken}",
        f"%t = memref.subview %m1[0, 0] [2, 2] [1, 1] : memref<2x2x{element}> to {other}",
        f"memref.copy %s, %t : {view} to {other}",
        *_INDICES,
        f"%v = memref.load %t[%c1, %c{draw.randint(0, 1)}] : {other}",
        f"memref.store %v, %s[%c0, %c{draw.randint(0, 1)}] : {view}",
    ]
    return _case(draw, element, lines, [(4, 5), (2, 2)])


def _dynamic_subview(draw: Draw, element: str) -> Case:
    view = f"memref<?x2x{element}, strided<[?, ?], offset: ?>>"
    lines = [
        *_INDICES,
        f"%s = memref.subview %m0[%c{draw.randint(0, 1)}, %c{draw.randint(0, 2)}] [%c2, 2]"
        f" [%c{draw.randint(1, 2)}, %c1] : memref<4x4x{element}> to {view}",
        f"%d = memref.dim %s, %c0 : {view}",
        "scf.for %i = %c0 to %d step %c1 {",
        f"%v = memref.load %s[%i, %c1] : {view}",
        f"%w = memref.load %s[%i, %c0] : {view}",
        *body(draw, element, ["%v", "%w"], "u", "%new"),
        f"memref.store %new, %s[%i, %c0] : {view}",
        "}",
    ]
    return _case(draw, element, lines, [(4, 4)])


def _reshapes(draw: Draw, element: str) -> Case:
    expanded = f"memref<2x3x2x{element}>"
    transposed = f"memref<2x6x{element}, strided<[1, 2]>>"
    recast = f"memref<3x2x{element}, strided<[2, 1], offset: {draw.randint(0, 3)}>>"
    offset = recast.rpartition(": ")[2].removesuffix(">>")
    lines = [
        *_INDICES,
        f"%e = memref.expand_shape %m0 [[0, 1], [2]] output_shape [2, 3, 2] : memref<6x2x{element}> into {expanded}",
        f"%l = memref.collapse_shape %e [[0, 1, 2]] : {expanded} into memref<12x{element}>",
        f"%t = memref.transpose %m0 (i, j) -> (j, i) : memref<6x2x{element}> to {transposed}",
        f"%r = memref.reinterpret_cast %m0 to offset: [{offset}], sizes: [3, 2], strides: [2, 1]"
        f" : memref<6x2x{element}> to {recast}",
        f"%v0 = memref.load %e[%c1, %c2, %c0] : {expanded}",
        f"memref.store %v0, %r[%c1, %c{draw.randint(0, 1)}] : {recast}",
        f"%v1 = memref.load %t[%c1, %c4] : {transposed}",
        f"memref.store %v1, %l[%c{draw.randint(0, 4)}] : memref<12x{element}>",
    ]
    return _case(draw, element, lines, [(6, 2)])


def _allocations(draw: Draw, element: str) -> Case:
    lines = [
        *_INDICES,
        f"%h = memref.alloc(%c3) : memref<?x2x{element}>",
        f"%s = memref.alloca() : memref<2x{element}>",
        f"%v = memref.load %m0[%c1, %c0] : memref<3x2x{element}>",
        f"memref.store %v, %s[%c1] : memref<2x{element}>",
        f"%k = memref.cast %m0 : memref<3x2x{element}> to memref<?x2x{element}>",
        f"memref.copy %k, %h : memref<?x2x{element}> to memref<?x2x{element}>",
        f"%w = memref.load %s[%c1] : memref<2x{element}>",
        f"memref.store %w, %h[%c2, %c{draw.randint(0, 1)}] : memref<?x2x{element}>",
        f"memref.copy %h, %k : memref<?x2x{element}> to memref<?x2x{element}>",
        f"memref.dealloc %h : memref<?x2x{element}>",
    ]
    return _case(draw, element, lines, [(3, 2)])


def _metadata(draw: Draw, element: str) -> Case:
    """A view of bytes, a strided view's numbers, and a memref as a tensor."""
    t, view = f"memref<2x3x{element}>", f"memref<2x2x{element}, strided<[3, 1], offset: 1>>"
    size = 8 if element == "index" else (width(element) + 7) // 8
    size = 1 << (size - 1).bit_length()
    lines = [
        *_INDICES,
        f"%bytes = memref.alloc() : memref<{6 * size + 16}xi8>",
        f"%place = arith.constant {draw.choice([0, size, 2 * size])} : index",
        f"%v = memref.view %bytes[%place][] : memref<{6 * size + 16}xi8> to {t}",
        f"memref.copy %m0, %v : {t} to {t}",
        f"%s = memref.subview %v[0, 1] [2, 2] [1, 1] : {t} to {view}",
        f"%base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %s : {view}"
        f" -> memref<{element}>, index, index, index, index, index",
        f"%x = memref.load %s[%offset, %c{draw.randint(0, 1)}] : {view}",
        f"%y = bufferization.to_tensor %v restrict : {t} to tensor<2x3x{element}>",
        f"%z = tensor.extract %y[%strides#1, %sizes#1] : tensor<2x3x{element}>",
        f"memref.store %x, %m0[%c1, %sizes#0] : {t}",
        f"memref.store %z, %m0[%c0, %c{draw.randint(0, 2)}] : {t}",
    ]
    return _case(draw, element, lines, [(2, 3)])


def _ranks(draw: Draw, element: str) -> Case:
    element = "i64" if element == "index" else element  # no result of an alloca_scope, in mlir-opt
    t = f"memref<2x3x{element}>"
    lines = [
        *_INDICES,
        f"%k = memref.assume_alignment %m0, 1 : {t}",
        f"%u = memref.cast %k : {t} to memref<*x{element}>",
        f"%d = memref.rank %u : memref<*x{element}>",
        f"%copy = bufferization.clone %k : {t} to {t}",
        "%shape = memref.alloca() : memref<2xindex>",
        "memref.store %c3, %shape[%c0] : memref<2xindex>",
        "memref.store %d, %shape[%c1] : memref<2xindex>",
        f"%turned = memref.reshape %copy(%shape) : ({t}, memref<2xindex>) -> memref<3x2x{element}>",
        f"%v = memref.alloca_scope -> ({element}) {{",
        f"%w = memref.load %turned[%d, %c{draw.randint(0, 1)}] : memref<3x2x{element}>",
        f"memref.alloca_scope.return %w : {element}",
        "}",
        f"memref.store %v, %k[%c0, %c{draw.randint(0, 2)}] : {t}",
    ]
    return _case(draw, element, lines, [(2, 3)])


def _globals(draw: Draw, element: str) -> Case:
    element = draw.choice(["i8", "i16", "i32", "f32", "f16"])
    spelled = "[3, -7, 100]" if element.startswith("i") else "[0.5, -1.25, 3.0e+02]"
    known = f'memref.global "private" constant @fdata : memref<3x{element}> = dense<{spelled}>\n'
    lines = [
        *_INDICES,
        f"%g = memref.get_global @fdata : memref<3x{element}>",
        "scf.for %i = %c0 to %c3 step %c1 {",
        f"%v = memref.load %g[%i] : memref<3x{element}>",
        f"%w = memref.load %m0[%i] : memref<3x{element}>",
        *body(draw, element, ["%v", "%w"], "u", "%new"),
        f"memref.store %new, %m0[%i] : memref<3x{element}>",
        "}",
    ]
    return _case(draw, element, lines, [(3,)], known)


def _affine_loops(draw: Draw, element: str) -> Case:
    """Maps of sums, quotients and remainders; bounds of the outer loop's variable."""
    step = draw.randint(1, 2)
    place = draw.choice(["%i floordiv 2", "(%i + 3) mod 4", "%i ceildiv 3", "%i * 2 mod 4"])
    lines = [
        f"affine.for %i = 0 to 4 step {step} {{",
        "affine.for %j = affine_map<(d0) -> (d0)>(%i)"
        f" to min affine_map<(d0) -> (d0 + {draw.randint(1, 3)}, 4)>(%i) {{",
        f"%v = affine.load %m0[%i, %j] : memref<4x4x{element}>",
        f"%w = affine.load %m0[{place}, %j] : memref<4x4x{element}>",
        *body(draw, element, ["%v", "%w"], "u", "%new"),
        f"affine.store %new, %m0[%j, %i] : memref<4x4x{element}>",
        "}",
        "}",
    ]
    return _case(draw, element, lines, [(4, 4)])


def _affine_reduction(draw: Draw, element: str) -> Case:
    lines = [
        f"%first = affine.load %m0[0] : memref<6x{element}>",
        f"%sum = affine.for %i = 1 to 6 iter_args(%s = %first) -> ({element}) {{",
        f"%v = affine.load %m0[%i] : memref<6x{element}>",
        *body(draw, element, ["%s", "%v"], "u", "%new"),
        f"affine.yield %new : {element}",
        "}",
        f"affine.store %sum, %m0[{draw.randint(0, 5)}] : memref<6x{element}>",
    ]
    return _case(draw, element, lines, [(6,)])


def _affine_if(draw: Draw, element: str) -> Case:
    relation = draw.choice(["d0 - d1 >= 0", "d0 - d1 == 0, d0 - 1 >= 0", "d0 * 2 - d1 - 1 >= 0"])
    expression = draw.choice(["(d0 * 3 + d1) mod 4", "(d0 + d1) floordiv 2", "d0 ceildiv 2 + d1 mod 2"])
    lines = [
        "affine.for %i = 0 to 4 {",
        "affine.for %j = 0 to 4 {",
        f"%p = affine.apply affine_map<(d0, d1) -> ({expression})>(%i, %j)",
        "%q = affine.min affine_map<(d0, d1) -> (d0, d1 + 1, 3)>(%p, %j)",
        "%o = affine.max affine_map<(d0)[s0] -> (d0 - 2, s0 - 3, 0)>(%i)[%q]",
        f"%v = memref.load %m0[%p, %q] : memref<4x4x{element}>",
        f"affine.if affine_set<(d0, d1) : ({relation})>(%i, %j) {{",
        f"memref.store %v, %m0[%i, %o] : memref<4x4x{element}>",
        "} else {",
        f"memref.store %v, %m0[%o, %j] : memref<4x4x{element}>",
        "}",
        "}",
        "}",
    ]
    return _case(draw, element, lines, [(4, 4)])


_RULES: tuple[Callable[[Draw, str], Case], ...] = (
    _loads_and_stores,
    _subview,
    _dynamic_subview,
    _reshapes,
    _allocations,
    _metadata,
    _ranks,
    _globals,
    _affine_loops,
    _affine_reduction,
    _affine_if,
)
