"""Einsum: sums of products of one or two tensors. An equation names the axes by letters."""

from collections.abc import Sequence

from qrt.errors import plural
from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent
from qrt.models.importing import float_products
from qrt.models.importing.float_reductions import reduced
from qrt.models.importing.node import lowering_context
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32


def einsum(node: Node) -> None:
    """Import Einsum: sum products of the elements of one or two float32 tensors.

    Each sum begins with 0. The loops over the letters that the result lacks are nested in the order in which the
    operands name the letters. Products of two tensors are added by fused multiply-adds.
    """
    count = len(node.op.inputs)
    if count not in (1, 2):
        node.refuse(f"of {count} tensors")
    for i in range(count):
        if node.type(i).element is not F32:
            node.refuse(f"of {node.dtype(i)}")
    sources, result = _letters(node, node.required("equation", str))
    context, values = lowering_context(node), [node.value(i) for i in range(count)]
    extents: dict[str, Extent] = {}
    ones: dict[str, int] = {}
    for value, letters, i in zip(values, sources, range(count), strict=True):
        for axis, letter in enumerate(letters):
            size = node.shape(i)[axis]
            if size == 1:
                ones.setdefault(letter, 1)
                continue
            known = extents.setdefault(letter, context.extent(value, axis))
            if isinstance(known, int) and size is not None and known != size:
                node.fail(f"all axes with the letter {letter!r} must have the same size, got {known} and {size}")
    extents = {**ones, **extents}
    lost = [letter for letter in extents if letter not in result]
    order = {letter: i for i, letter in enumerate((*result, *lost))}

    def read(nest: LoopNest, i: int) -> Value:
        shape = node.shape(i)
        places = [0 if n == 1 and extents[letter] != 1 else nest.loops[order[letter]]
                  for letter, n in zip(sources[i], shape, strict=True)]  # fmt: skip
        return nest.read(values[i], places)

    result_extents = [extents[letter] for letter in result]
    if count == 2:
        output = float_products.total(
            context, result_extents, [extents[letter] for letter in lost], lambda nest: (read(nest, 0), read(nest, 1)),
            node.rule("float_products"), None,
        )  # fmt: skip
    else:
        nest = LoopNest(context, "arrange", [*result_extents, *(extents[letter] for letter in lost)])
        (output,) = nest.finish(read(nest, 0))
        if lost:
            output = reduced(context, output, range(len(result), len(order)), "arith.addf", 0.0)
    node.set(0, output)


def _letters(node: Node, equation: str) -> tuple[list[str], str]:
    """Return the letters that name each operand's axes, and those of the result.

    The axes of an ellipsis get capital letters that the equation does not use.
    """
    compact = equation.replace(" ", "")
    left, arrow, result = compact.partition("->")
    terms = left.split(",")
    if len(terms) != len(node.op.inputs):
        node.fail(
            f"the equation {equation!r} is for {plural(len(terms), 'input')}, but the node has {len(node.op.inputs)}"
        )
    used = {letter for letter in compact if letter.isalpha()}
    free = [chr(code) for code in range(ord("A"), ord("Z") + 1) if chr(code) not in used]
    rest = [len(node.shape(i)) - len(term.replace("...", "")) for i, term in enumerate(terms)]
    most = max((n for n, term in zip(rest, terms, strict=True) if "..." in term), default=0)
    if any(n < 0 or (n and "..." not in term) for n, term in zip(rest, terms, strict=True)) or most > len(free):
        ranks = [len(node.shape(i)) for i in range(len(terms))]
        node.fail(
            f"the equation {equation!r} must have a letter for each axis of its inputs, which have the ranks {ranks}"
        )
    dots = "".join(free[:most])
    expanded = [term.replace("...", dots[most - n :] if n else "") for n, term in zip(rest, terms, strict=True)]
    if arrow:
        result = result.replace("...", dots)
    else:
        named = [letter for letter in sorted(used) if "".join(terms).count(letter) == 1]
        result = dots + "".join(named)
    _check(node, equation, expanded, result)
    return expanded, result


def _check(node: Node, equation: str, terms: Sequence[str], result: str) -> None:
    letters = "".join(terms)
    if not (letters + result).isalpha() and letters + result:
        node.fail(f"the labels of the equation {equation!r} must be letters")
    if len({*result}) < len(result) or not {*result} <= {*letters}:
        node.fail(f"each letter of the result of the equation {equation!r} must occur there once and in an input")
