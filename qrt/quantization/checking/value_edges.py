"""Checks that a value is used with the type with which it was defined, also after loops, branches and calls."""

from collections import defaultdict
from collections.abc import Iterator

from qrt.errors import VerifyError
from qrt.ir import Module, Operation, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.dialects.quant.region import RegionOp
from qrt.quantization.checking.regions import PortOf, operations_of, ports_of, shown
from qrt.types import FloatType, NoQuantizedType, Type, UniformType

_ARMS = ("scf.if", "scf.execute_region", "scf.index_switch", "affine.if")

_DEQUANTIZED = "the dequantized value"

Violation = tuple[Operation, str]


def edge_violations(module: Module) -> Iterator[Violation]:
    """Yield (operation, message) for each use of a value with another type than that of the value's definition."""
    flows = _flows(module)
    for operation in operations_of(module):
        if isinstance(operation, RegionOp):
            for port in ports_of(operation):
                if port.is_decided and not port.is_input:
                    yield from _from(port.spec, f"{port} of the region at {operation.location}", port.value, flows)
        elif operation.name == "quant.dcast":
            source = element_of(operation.operands[0].type)
            yield from _from(source, _DEQUANTIZED, operation.results[0], flows)


def _from(spec: Type, where: str, value: Value, flows: dict[Value, list[Value]]) -> Iterator[Violation]:
    """Yield an error message for each use of a value, direct or through control flow, with another type than ``spec``.

    ``where`` describes the definition in messages. ``flows`` maps each value to the values to which control flow copies
    it.
    """
    is_dequantized = where == _DEQUANTIZED
    seen, pending = {value}, [value]
    while pending:
        current = pending.pop()
        for user, index in current.uses:
            taken = _taken(user, index)
            if taken is None or taken is spec or _is_of_the_program(user, taken, spec, is_dequantized):
                continue
            end = _end(user, index)
            yield user, f"{end} is {shown(taken)}, but {where} is {shown(spec)}: insert a rescale between them"
        for following in flows.get(current, ()):
            if following not in seen:
                seen.add(following)
                pending.append(following)


def _taken(user: Operation, index: int) -> Type | None:
    """Return the type that ``user`` requires of its operand ``index``; None for a user that requires none.

    A region requires the specification of its operand, if this is final. A `quant.qcast` requires the type that it
    casts to.
    """
    if isinstance(user, RegionOp):
        port = PortOf(user, index, user.spec(index))
        return port.spec if port.is_decided else None
    return element_of(user.results[0].type) if user.name == "quant.qcast" else None


def _is_of_the_program(user: Operation, taken: Type, defined: Type, is_dequantized: bool) -> bool:
    """Return True if the program converts the value to the type ``taken`` by itself, so that no rescale is missing.

    This is true if the program quantizes a float or a dequantized value, or if a region takes a dequantized value as a
    float.
    """
    if isinstance(user, RegionOp):
        return is_dequantized and isinstance(taken, NoQuantizedType | FloatType)
    return is_dequantized or not isinstance(defined, UniformType)


def _end(user: Operation, index: int) -> str:
    return f"operand {index}" if isinstance(user, RegionOp) else "the type to quantize to"


# -- from value to value ---------------------------------------------------------------------------------------------


def _flows(module: Module) -> dict[Value, list[Value]]:
    """Map each value to the block arguments and operation results to which control flow copies the value."""
    targets: dict[Value, list[Value]] = defaultdict(list)
    for operation in operations_of(module):
        for source, target in _passed(module, operation):
            targets[source].append(target)
    return targets


def _passed(module: Module, operation: Operation) -> Iterator[tuple[Value, Value]]:
    name = operation.name
    if name in IDENTITIES:
        yield operation.operands[0], operation.results[0]
    elif name in ("scf.for", "affine.for"):
        inits = operation.operand_group("initArgs" if name == "scf.for" else "inits")
        arguments = operation.regions[0].blocks[0].arguments[1:]
        for values in (inits, _yielded(operation)):
            yield from zip(values, arguments, strict=True)
            yield from zip(values, operation.results, strict=True)
    elif name == "scf.while":
        before, after = (region.blocks[0] for region in operation.regions)
        assert before.last is not None
        assert after.last is not None
        carried = before.last.operands[1:]
        yield from zip(operation.operands, before.arguments, strict=True)
        yield from zip(after.last.operands, before.arguments, strict=True)
        yield from zip(carried, after.arguments, strict=True)
        yield from zip(carried, operation.results, strict=True)
    elif name in _ARMS:
        for region in operation.regions:
            for block in region.blocks:
                if block.last is not None and block.last.name.endswith(".yield"):
                    yield from zip(block.last.operands, operation.results, strict=True)
    elif name == "arith.select":
        yield from ((value, operation.results[0]) for value in operation.operands[1:])
    elif name == "func.call":
        yield from _called(module, operation)
    elif operation.successors and operation.definition is not None and operation.definition.passed_values is not None:
        passed = operation.definition.passed_values(operation)
        for block, values in zip(operation.successors, passed, strict=True):
            yield from zip(values, block.arguments, strict=True)


def _yielded(loop: Operation) -> list[Value]:
    last = loop.regions[0].blocks[0].last
    return [] if last is None else last.operands


def _called(module: Module, call: Operation) -> Iterator[tuple[Value, Value]]:
    try:
        callee = module.callee(call)
    except VerifyError:
        return
    if callee.is_declaration:
        return
    blocks = callee.regions[0].blocks
    yield from zip(call.operands, blocks[0].arguments, strict=True)
    for block in blocks:
        if block.last is not None and block.last.name == "func.return":
            yield from zip(block.last.operands, call.results, strict=True)
