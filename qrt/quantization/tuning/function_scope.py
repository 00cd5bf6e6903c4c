"""The part of a module that is quantized: the chosen function and the functions that it calls."""

from qrt.errors import Diagnostic, ModelError, VerifyError
from qrt.ir import Module, Operation
from qrt.ir.core.symbols import references
from qrt.quantization.checking.regions import operations_of, regions_of
from qrt.quantization.steps import NamedProgram, all_of, copied
from qrt.runtime.functions import choose
from qrt.types import QuantizedType, TensorType

_MOST_REMARKS = 3


def called(module: Module, function: str | None) -> tuple[Module, list[str]]:
    """Return a module of a function and all functions that it calls, and the names of the other functions.

    Values of the other functions have no records, because these functions do not run on the data.
    """
    pending, live = [choose(module, function)], set[str]()
    functions = {_name(member): member for member in module.functions}
    while pending:
        current = pending.pop()
        if _name(current) not in live:
            live.add(_name(current))
            named = {path.path[-1] for operation in current.walk() for path in references(operation)}
            pending += [functions[name] for name in sorted(named & functions.keys())]
    others = [name for name in functions if name not in live]
    if not others:
        return module, []
    module.verify()
    copy = copied(module)
    for member in copy.functions:
        if _name(member) in others:
            member.erase()
    return copy, others


def with_others(quantized: Module, module: Module, others: list[str]) -> Module:
    """Return a quantized module with the functions ``others`` of the original module put back at their positions."""
    if not others:
        return quantized
    copy = copied(quantized)
    place = {_name(member): member for member in copy.functions}
    names = [_name(member) for member in module.functions]
    for number, member in enumerate(module.functions):
        if _name(member) in others:
            later = next((place[name] for name in names[number + 1 :] if name in place), None)
            clone = member.clone({})
            if later is None:
                copy.body.append(clone)
            else:
                copy.body.insert_before(later, clone)
    return copy


def left_out(others: list[str], name: str) -> tuple[Diagnostic, ...]:
    """Return a remark for each function in ``others``, which is not quantized: ``name`` does not call it."""
    return tuple(
        Diagnostic("remark", f"function '{other}' is not quantized: '{name}' does not call it") for other in others
    )


def check_any(start: NamedProgram, name: str, *, is_full: bool) -> None:
    """Raise ModelError if no operation of a program can be quantized, or if the program is quantized already.

    ``name`` names the program in messages. With ``is_full``, raise VerifyError that lists each operation that stays
    float.
    """
    if regions_of(start.module):
        return
    for operation in operations_of(start.module):
        if _is_quantized(operation):
            message = f"{name} is quantized already: it contains '{operation.name}'; give the float program"
            raise ModelError(operation.location.render(message))
    if not start.remarks:
        raise ModelError(f"nothing of {name} can be quantized: the target has no kernel for its operations on floats")
    if is_full:
        raise all_of([VerifyError(r.message, r.location) for r in start.remarks if r.location is not None])
    messages = [remark.message for remark in start.remarks[:_MOST_REMARKS]]
    if len(start.remarks) > _MOST_REMARKS:
        messages.append(f"{len(start.remarks) - _MOST_REMARKS} more stay float")
    message = f"nothing of {name} can be quantized: {'; '.join(messages)}"
    location = start.remarks[0].location
    raise ModelError(message if location is None else location.render(message))


def _is_quantized(operation: Operation) -> bool:
    types = [value.type for value in operation.results]
    elements = [type.element if isinstance(type, TensorType) else type for type in types]
    return operation.name.startswith("qrt.") or any(isinstance(element, QuantizedType) for element in elements)


def _name(function: Operation) -> str:
    return str(function.attributes["sym_name"].python)
