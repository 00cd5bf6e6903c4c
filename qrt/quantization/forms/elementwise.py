"""Recognition of elementwise op families: operations on two tensors, and functions of one."""

from qrt.ir import Operation, Value
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ops import FAMILIES
from qrt.ops.elementwise import BINDERS
from qrt.quantization.forms.elements import (
    INNER_ANNOTATIONS,
    MAX_OPERATIONS,
    Axes,
    Elements,
    Expression,
    elements_of,
    repeated,
    shape_of,
    splat_of,
    tensor_type,
)
from qrt.quantization.forms.model import KernelMatch
from qrt.quantization.forms.pools import average_pool, mean

MAX_FUNCTION = 256
"""The greatest number of operations in one function."""
MAX_BRANCHES = 24
"""The greatest number of operations that the search for a function's operand passes between two possible operands.

Functions such as gelu need ten. The limit bounds the search, which would otherwise repeat for every operation.
"""
BINARY = {
    family.traits.float_op: name
    for name, family in FAMILIES.items()
    if family.traits.float_op and len(family.declaration.operands) == 2
}
"""The families of two operands, by the float op that each approximates."""
_WITHOUT_NAN = {"arith.maxnumf": "arith.maximumf", "arith.minnumf": "arith.minimumf"}
"""Float ops, each with the op that equals it except for NaNs, which quantized values cannot be."""


def binary(value: Value) -> list[KernelMatch]:
    """Return the matches if float operations compute a value from two tensors that broadcast as in NumPy.

    The first match includes the operations that broadcast the operands. If there are such operations, a second match
    has the broadcast values as operands.
    """
    elements = elements_of(value)
    result_type = tensor_type(value)
    if elements is None or result_type is None or len(elements.inputs) not in (1, 2):
        return []
    name = str(elements.computed[0])
    family = BINARY.get(_WITHOUT_NAN.get(name, name))
    numbers = [part[1] for part in elements.computed[1:] if isinstance(part, tuple) and part[0] == "input"]
    if family is None or len(numbers) != 2:
        return []
    inputs = [(elements.inputs[int(str(n))], elements.axes[int(str(n))]) for n in numbers]
    matches = []
    for sources in ([repeated(*given) for given in inputs], [(*given, ()) for given in inputs]):
        types = [tensor_type(source) for source, _, _ in sources]
        same = all(type is not None and type.element is result_type.element for type in types)
        if same and _broadcast([axes for _, axes, _ in sources], result_type.shape or ()):
            operands = tuple((source, None) for source, _, _ in sources)
            copied = tuple(dict.fromkeys(operation for _, _, passed in sources for operation in passed))
            attributes = FAMILIES[family].traits.float_attributes
            matches.append(KernelMatch(family, operands, (elements.operation,), copied, attributes))
    return matches[: 2 if matches and matches[0].copied else 1]


def _broadcast(operands: list[Axes], shape: tuple[int | None, ...]) -> bool:
    """Return True if operands with these axes broadcast to a result of this shape as in NumPy."""
    rank = len(shape)
    last = all(axis in (None, rank - len(axes) + place) for axes in operands for place, axis in enumerate(axes))
    return last and all(size == 1 or any(axis in axes for axes in operands) for axis, size in enumerate(shape))


# -- functions of one variable ---------------------------------------------------------------------------------------


def lookup(value: Value) -> list[KernelMatch]:
    """Return the match if float operations compute a value as an elementwise function of one tensor (`lookup`).

    The kernel reads each result from a table with an entry for every storage value of the operand. The operand is the
    earliest tensor that determines the value. The search for this tensor stops at a `quant.stats` annotation, because
    the range would be lost inside of the function. It also stops at an average (a sum divided by a number of elements),
    because another kernel computes the sum and the division together.
    """
    first, parts = value.operation, _parts(value)
    if first is None or parts is None or first.name in INNER_ANNOTATIONS or _is_average(value):
        return []
    covered: dict[Operation, None] = {first: None}
    frontier = dict.fromkeys(parts)
    ends: set[Value] = set()
    best: tuple[Value, int] | None = None
    branches = 0
    computes, annotates = not _copies(value), False
    while True:
        (leaf, *others) = frontier or [None]
        if leaf is not None and not others and computes and not annotates and leaf.type is value.type:
            best = leaf, len(covered)
            if leaf.operation is not None and leaf.operation.name in INNER_ANNOTATIONS:
                break
        branches = branches + 1 if others else 0
        inner = next((v for v in frontier if v not in ends and all(user in covered for user, _ in v.uses)), None)
        if inner is None or len(covered) == MAX_FUNCTION or branches > MAX_BRANCHES:
            break
        parts = _parts(inner)
        source = inner.operation
        if parts is None or source is None or _is_average(inner):
            ends.add(inner)
            continue
        covered[source] = None
        annotates = source.name in INNER_ANNOTATIONS  # an annotated operand stays outside of the function
        computes = computes or (not annotates and not _copies(inner))
        del frontier[inner]
        frontier.update(dict.fromkeys(parts))
    if best is None:
        return []
    leaf, size = best
    return [KernelMatch("lookup", ((leaf, None),), tuple(reversed(list(covered)[:size])))]


def _is_average(value: Value) -> bool:
    return bool(mean(value) or average_pool(value))


def _copies(value: Value) -> bool:
    elements = elements_of(value)
    return elements is not None and elements.is_copy


def _parts(value: Value) -> list[Value] | None:
    """Return the tensors, without constants, whose elements at the same index determine an element of ``value``.

    Returns None if the value is not computed element by element.
    """
    source = value.operation
    if source is None or len(source.results) != 1 or tensor_type(value) is None:
        return None
    if source.name in INNER_ANNOTATIONS:
        return [source.operands[0]]
    if isinstance(source, StructuredOp):
        if not _is_function(source):
            return None
        candidates = _read_operands(source)
    elif source.name in BINDERS:
        candidates = source.operands
    else:
        return None
    parts = []
    for operand in dict.fromkeys(candidates):
        if tensor_type(operand) is None:
            if constant_of(operand) is None:
                return None
        elif splat_of(operand) is None:
            if shape_of(operand) != shape_of(value):
                return None
            parts.append(operand)
    return parts


def _read_operands(source: StructuredOp) -> list[Value]:
    arguments = source.regions[0].blocks[0].arguments
    return [operand for operand, argument in zip(source.operands, arguments, strict=True) if argument.uses]


def _is_function(source: StructuredOp) -> bool:
    """Return True if an operation computes each element from constants and operand elements at the same index."""
    block = source.regions[0].blocks[0]
    maps = source.indexing_maps
    plain = all(
        map == maps[-1] or (splat_of(operand) is not None and _is_plain(map))
        for map, operand, argument in zip(maps, source.operands, block.arguments, strict=True)
        if argument.uses
    )
    if not plain or any(kind != "parallel" for kind in source.iterators) or len(source.outputs) != 1:
        return False
    is_permutation = sorted(map(str, maps[-1].results)) == sorted(str(("d", i)) for i in range(maps[-1].dimensions))
    return is_permutation and all(_is_computed_inside(operation) for operation in block)


def _is_plain(map: AffineMapAttr) -> bool:
    """Return True if each index expression of an indexing map is a single loop or 0."""
    return all(result == 0 or (isinstance(result, tuple) and result[0] == "d") for result in map.results)


def _is_computed_inside(operation: Operation) -> bool:
    if operation.name not in BINDERS and operation.name not in ("arith.constant", "linalg.yield"):
        return False
    return all(value.block is operation.parent or constant_of(value) is not None for value in operation.operands)


_X: Expression = ("input", 0)
_ONE: Expression = ("constant", 1.0)


def _either(name: str, left: Expression, right: Expression) -> tuple[Expression, Expression]:
    return (name, left, right), (name, right, left)


_NEGATIVE = (
    ("arith.negf", _X),
    ("arith.subf", ("constant", 0.0), _X),
    *_either("arith.mulf", _X, ("constant", -1.0)),
)
_FUNCTIONS: dict[Expression, str] = {
    **{
        (family.traits.float_op, _X): name
        for name, family in FAMILIES.items()
        if family.traits.float_op and len(family.declaration.operands) == 1
    },
    **{
        ("arith.divf", _ONE, denominator): "logistic"
        for negative in _NEGATIVE
        for denominator in _either("arith.addf", ("math.exp", negative), _ONE)
    },
}


def name_of_function(match: KernelMatch) -> str | None:
    """Return the op family that computes the function of a `lookup` match, such as `tanh`; None if there is none."""
    if len(match.operations) > MAX_OPERATIONS:
        return None
    ((source, _),) = match.operands
    whole = elements_of(match.operations[-1].results[0])
    while whole is not None:
        whole = whole.simplified()
        if len(whole.inputs) != 1:
            return None
        if whole.inputs[0] is source:
            return _FUNCTIONS.get(whole.computed)
        inner: Elements | None = elements_of(whole.inputs[0])
        whole = None if inner is None else whole.with_input(0, inner)
    return None
