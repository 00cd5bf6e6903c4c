"""Whole programs: parsing, verification and printing."""

from collections.abc import Sequence
from typing import Any, cast

from qrt.errors import Diagnostic, require
from qrt.ir.core import registry
from qrt.ir.core.comparison import equal
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.operations import Block, Operation, Region, garbage_uncollected
from qrt.ir.core.symbols import symbol_of
from qrt.ir.core.verifier import verify
from qrt.ir.text.dense import elided_above
from qrt.ir.text.parser import Parser
from qrt.ir.text.printer import print_program
from qrt.types.scanner import Source

MODULE = "builtin.module"


class Module:
    """A whole program: a `builtin.module` operation, and the MLIR version in whose syntax it is printed.

    Parameters
    ----------
    operation : Operation, optional
        The `builtin.module`; by default a new, empty one.
    upstream : int, default 22
        The version of upstream MLIR in whose syntax the program is printed: 22 or 24.

    Examples
    --------
    >>> from qrt import ir
    >>> module = ir.parse("func.func private @f(i32)")
    >>> module.verify(), [function.sym_name for function in module.functions]
    ([], ['f'])
    >>> print(module, end="")
    module {
      func.func private @f(i32)
    }
    """

    __slots__ = ("operation", "upstream")

    def __init__(self, operation: Operation | None = None, upstream: int = 22) -> None:
        if operation is None:
            operation = Operation(MODULE, regions=[Region([Block()])], definition=registry.definition(MODULE))
        self.operation = operation
        self.upstream = upstream

    @property
    def body(self) -> Block:
        """The block that contains the module's operations."""
        return self.operation.regions[0].blocks[0]

    @property
    def functions(self) -> list[FuncOp]:
        """The `func.func` operations of the module, in text order."""
        return [cast(FuncOp, operation) for operation in self.body if operation.name == "func.func"]

    def function(self, name: str | None = None) -> FuncOp:
        """Return the function `name`; if `name` is None, return the only function that has a body.

        Raises VerifyError if there is no such function, or if `name` is None and several functions have a body.
        """
        functions = self.functions
        if name is None:
            functions = [function for function in functions if not function.is_declaration]
            if len(functions) == 1:
                return functions[0]
            raise self.operation.error(
                "without a function's name, exactly one function of the module must have a body, found "
                f"{_named(functions)}"
            )
        for function in functions:
            if function.sym_name == name:
                return function
        raise self.operation.error(
            f"no function is named @{name}; the functions of the module are: {_named(functions)}"
        )

    def callee(self, call: Operation) -> FuncOp:
        """Return the function that a `func.call` calls. Raise VerifyError if it is not defined."""
        function = symbol_of(call)
        if function is None or function.name != "func.func":
            raise call.op_error("does not reference a valid function")
        return cast(FuncOp, function)

    def verify(self, strict: bool = False) -> list[Diagnostic]:
        """Verify the program, and return the warnings.

        A warning is about a zero point outside its storage type's range. Raises VerifyError for the first invalid
        operation; its `diagnostics` lists all errors. `strict` makes the warnings errors, and also calls
        `check_channels`; upstream MLIR makes that check only on `quant` ops.
        """
        warnings = verify(self.operation, strict)
        if strict:
            self.check_channels()
        return warnings

    def check_channels(self) -> None:
        """Raise VerifyError at the first operation with inconsistent per-axis or sub-channel quantization parameters.

        They are inconsistent if the parameters of a value do not fit its shape, or if an operation moves elements to a
        channel or block with other parameters. The module must be valid.
        """
        registry.CHECKS["channels"](self.operation)

    def print(
        self, generic: bool = False, locations: bool = False, exact: bool = False, elide_above: int | None = None
    ) -> str:
        """Return the program's text, in custom forms or with `generic` in generic form.

        `locations` prints the `loc(...)` of the source. The syntax of upstream version 22 has no storage types `siN`
        and `uiN`, so they are printed as `iN` and `uN`. With `exact`, they are printed unchanged, so that parsing the
        text gives the same types. Constants of more than `elide_above` elements, except splats, are printed without
        their values.
        """
        with elided_above(elide_above):
            return print_program(self.operation, self.upstream, generic, locations, exact)

    def __str__(self) -> str:
        return self.print()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and equal(self.operation, other.operation)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.print(generic=True, locations=True, exact=True), self.upstream)


def _named(functions: Sequence[FuncOp]) -> str:
    return ", ".join(f"@{function.sym_name}" for function in functions) or "none"


def parse(text: str, filename: str = "<string>", allow_unregistered: bool = False, upstream: int = 22) -> Module:
    """Parse a program, without verifying it.

    Top-level operations other than a single ``builtin.module`` are wrapped in a new module. To verify the program, call
    ``Module.verify``.

    Parameters
    ----------
    text : str
        MLIR text, in custom or generic form.
    filename : str, default "<string>"
        The file name in error messages.
    allow_unregistered : bool, default False
        True accepts operations and types of unknown dialects; False raises a ParseError for them.
    upstream : {22, 24}, default 22
        The version of upstream MLIR whose syntax is parsed and printed. 24 also has float storage types and
        ``!quant.quantile``.

    Returns
    -------
    Module

    Raises
    ------
    ParseError
        If the text is not valid MLIR, or has an unknown op, type or attribute; located at the offending text.
    QuantTypeError
        If an argument is of a wrong type, or ``upstream`` is an unknown version.

    Examples
    --------
    >>> print(parse("func.func @f(%x: f32) -> f32 { return %x : f32 }"), end="")
    module {
      func.func @f(%arg0: f32) -> f32 {
        return %arg0 : f32
      }
    }
    """
    require(text, str, "parse: 'text'", "a string")
    require(filename, str, "parse: 'filename'", "a string")
    with garbage_uncollected():
        return Module(Parser(Source(text, filename), allow_unregistered, upstream).program(), upstream)


def _restore(text: str, upstream: int) -> Module:
    module = parse(text, "<pickle>", allow_unregistered=True, upstream=24)  # whatever the parts were made of
    module.upstream = upstream
    return module
