"""Recognition of the target's kernels in float code, by the patterns of the target and of qrt's op families."""

from collections.abc import Sequence

from qrt.errors import QuantError, VerifyError, require, shown
from qrt.ir import Block, Value
from qrt.quantization.forms import KernelForm, KernelMatch, Operand, match_of, matches_of
from qrt.quantization.forms.elements import behind
from qrt.quantization.targets.kernel import TargetKernel
from qrt.quantization.targets.model import Target


def match_kernel(kernel: str, value: Value) -> KernelMatch | None:
    """Return the largest set of float operations before a value that a kernel of qrt can replace.

    A target's own fusion pattern may call this function, and reject some of its matches.

    Parameters
    ----------
    kernel : str
        The name of the kernel, such as ``"conv2d"``.
    value : Value
        A result of a float operation.

    Returns
    -------
    KernelMatch or None
        The operations, with the operands and attributes of the kernel; None if the kernel does not compute the value.

    Raises
    ------
    QuantTypeError
        If ``kernel`` is not text or ``value`` is not a Value.

    Examples
    --------
    >>> from qrt.ir import parse
    >>> text = '''func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    ...   %0 = arith.addf %x, %y : tensor<4xf32>
    ...   return %0 : tensor<4xf32>
    ... }'''
    >>> sum = parse(text).functions[0].regions[0].blocks[0].first.results[0]
    >>> len(match_kernel("add", sum).operands), match_kernel("mul", sum)
    (2, None)
    """
    require(kernel, str, "match_kernel: kernel", "a name")
    require(value, Value, "match_kernel: value", "a Value")
    return next((match for match in matches_of(value) if match.family == kernel), None)


def match_pattern(kernel: TargetKernel, value: Value) -> KernelMatch | None:
    """Return the match that a kernel's pattern function finds at a value; None if it finds none.

    Raises VerifyError if the function raises an exception, returns another object than a match, or returns a match
    without the operation that defines the value.
    """
    assert callable(kernel.pattern)
    assert value.operation is not None
    name = f"pattern '{name_of(kernel.pattern)}' of kernel '{kernel.name}'"
    try:
        match = kernel.pattern(value)
    except VerifyError:
        raise
    except Exception as error:  # a user's function may raise any exception
        raise value.operation.op_error(f"{name} fails: {text_of(error)}") from error
    if match is None:
        return None
    if not isinstance(match, KernelMatch) or value.operation not in match.operations:
        returned = "returned operations without it" if isinstance(match, KernelMatch) else f"returned {shown(match)}"
        raise value.operation.op_error(f"{name} {returned}: it must return None or a KernelMatch that ends in this op")
    return match


def body_match(body: Block, name: str, target: Target | None) -> KernelMatch | None:
    """Return a kernel that computes a region's body, with its operands; None if no kernel is recognized.

    ``name`` is the region's kernel. If the target's kernel has a pattern function, only this function is tried.
    Otherwise the op family of the kernel is preferred, and then the family that covers the most operations. The
    operands of the match are arguments of the body.
    """
    own: Sequence[TargetKernel] = () if target is None else target.signatures(name)
    if not any(callable(kernel.pattern) for kernel in own):
        return match_of(body, own[0].family if own else name)
    last = body.last
    if last is None or len(last.operands) != 1 or last.operands[0].operation is None:
        return None
    value = behind(last.operands[0], [])
    matches = (match_pattern(kernel, value) for kernel in own if callable(kernel.pattern))
    return next((match for match in matches if match and all(value.owner is body for value, _ in match.operands)), None)


def body_form(body: Block, name: str, target: Target | None) -> KernelForm | None:
    """Return the body of a region as one call of the op family that ``body_match`` finds; None if it finds none."""
    match = body_match(body, name, target)
    if match is None:
        return None
    operands = tuple(Operand(value.index, permutation) for value, permutation in match.operands)
    return KernelForm(match.family, operands, match.attributes, match.low, match.high)


def name_of(function: object) -> str:
    """Return the name of a function for messages, or the name of its class if it has none."""
    return str(getattr(function, "__name__", None) or type(function).__name__)


def text_of(error: Exception) -> str:
    """Return the message of an exception that a function of the target raised, even if ``str(error)`` fails."""
    try:
        text = str(error) if isinstance(error, QuantError) else f"{type(error).__name__}: {error}"
    except Exception:
        text = type(error).__name__
    return " ".join(text.split())[:300]
