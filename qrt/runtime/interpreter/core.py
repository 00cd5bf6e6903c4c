"""Compilation of functions to lists of Python calls over a frame of values, so that an operation costs few calls.

A frame is a list with one slot for each value. A value of scalar type is a NumPy scalar. A tensor, vector or memref is
an array, which is written in place only for a memref. The module of a dialect, here or registered by an extension, has
up to three tables from op names to functions:

- `HANDLERS`: `bind(op, compiler)` returns `f(*operands)`, which returns the result, a tuple of results, or None;
- `STRUCTURED`: `build(op, compiler)` returns a function of the frame, for ops with regions or effects on the run;
- `BRANCHES`: `bind(op, compiler)` returns `choose(*operands)`, which returns a successor's number and its arguments.

An undefined operation raises `UndefinedError`; the caller of these functions adds the op and its location to the error.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

from qrt.errors import MANY_STEPS, KernelError, ModelError, QuantError, UndefinedError, many_rounds, plural
from qrt.ir import Block, Module, Operation, Region, Value
from qrt.ir.core.registry import DIALECTS
from qrt.ir.core.traits import CONSTANT_LIKE, MEM_FREE, TERMINATOR
from qrt.ir.dialects.func.inlining import MAX_CALL_DEPTH
from qrt.registry import Registry
from qrt.runtime.operations import failure
from qrt.runtime.values import as_tensor, concrete
from qrt.types import TensorType

Frame = list[Any]
"""The values of one call of a function, by slot; slot 0 has its `Run`."""
Step = Callable[[Frame], None]
Function = Callable[..., Any]
Handler = Callable[[Operation, "Compiler"], Function]
Builder = Callable[[Operation, "Compiler"], Step]


INTERPRETERS: Registry[Any] = Registry(
    "interpreter",
    {
        "affine": "qrt.runtime.interpreter.affine",
        "arith": "qrt.runtime.interpreter.arith",
        "bufferization": "qrt.runtime.interpreter.bufferization",
        "cf": "qrt.runtime.interpreter.cf",
        "func": "qrt.runtime.interpreter.func",
        "linalg": "qrt.runtime.interpreter.linalg",
        "math": "qrt.runtime.interpreter.math",
        "memref": "qrt.runtime.interpreter.memref",
        "ml_program": "qrt.runtime.interpreter.ml_program",
        "qrt": "qrt.runtime.interpreter.qrt",
        "quant": "qrt.runtime.interpreter.quant",
        "scf": "qrt.runtime.interpreter.scf",
        "shape": "qrt.runtime.interpreter.shape",
        "tensor": "qrt.runtime.interpreter.tensor",
        "ub": "qrt.runtime.interpreter.ub",
        "vector": "qrt.runtime.interpreter.vector",
    },
)
"""The modules with the handlers of each dialect's ops."""


def identity(op: Operation, compiler: "Compiler") -> Function:
    """Return a handler that returns the operand unchanged, for ops that only change the type."""
    return lambda value: value


class Tables:
    """The handlers of all dialects, by op name. A dialect's module is loaded when its first op is compiled."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}
        self.structured: dict[str, Builder] = {}
        self.branches: dict[str, Handler] = {}
        self._loaded: set[str] = set()

    def load(self, dialect: str) -> None:
        """Load the handlers of a dialect; do nothing if it has none or they are loaded."""
        if dialect in self._loaded:
            return
        file = INTERPRETERS.get(dialect)
        if file is None and dialect not in DIALECTS.own:
            file = DIALECTS.get(dialect)
        if file is not None:
            self.handlers.update(getattr(file, "HANDLERS", {}))
            self.structured.update(getattr(file, "STRUCTURED", {}))
            self.branches.update(getattr(file, "BRANCHES", {}))
            self._loaded.add(dialect)  # last, so that another thread that sees it here also sees the tables

    def every_op(self) -> set[str]:
        """Return the names of all ops that the interpreter can run."""
        for dialect in DIALECTS:
            self.load(dialect)
        return {*self.handlers, *self.structured, *self.branches}


Tap = Callable[[Operation, Any], Any]
"""A function that is called with each `quant.stats_ref` and its value.

If the op allows the value to be replaced, the run continues with the returned array, if that is not None. Otherwise the
function must not keep a reference to the value.
"""


MOST_ROUNDS = 1_000_000
"""The largest number of iterations of an `scf.while`, if the steps are not limited."""


class Run:
    """One execution of a program.

    - ``steps`` is the number of operations that may still run, ``rounds`` the most iterations of a loop.
    - ``depth`` is the number of active calls.
    - ``globals`` has the memory of each `memref.global`; ``state`` has the globals that outlive the run.
    - ``tap`` is the caller's function, to which a `quant.stats_ref` passes its value.
    """

    __slots__ = ("depth", "globals", "rounds", "state", "steps", "tap")

    def __init__(
        self, max_steps: int | None = None, tap: Tap | None = None, state: dict[str, Any] | None = None
    ) -> None:
        self.steps: float = np.inf if max_steps is None else max_steps
        self.rounds: float = MOST_ROUNDS if max_steps is None else np.inf
        self.tap = tap
        self.depth = 0
        self.globals: dict[Operation, Any] = {}
        self.state = {} if state is None else state

    def count(self, steps: int, owner: Operation) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise failure(owner, MANY_STEPS)

    def check_round(self, number: int, owner: Operation) -> None:
        """Raise ModelError if iteration ``number`` (from 0) of the loop ``owner`` exceeds the limit of iterations."""
        if number >= self.rounds:
            raise failure(owner, many_rounds(self.rounds))


class Compiler:
    """A compiler of the regions of one function, whose values share a frame (a list with a slot for each value)."""

    def __init__(self, module: "ModuleCode") -> None:
        self.code = module
        self.template: Frame = [None]
        """The initial frame, with the constants in their slots."""
        self._slots: dict[Value, int] = {}

    @property
    def module(self) -> Module:
        return self.code.module

    @property
    def saturating(self) -> bool:
        """True if a float outside an integer type's range converts to the nearest integer; else that is undefined."""
        return self.code.saturating

    def slot(self, value: Value) -> int:
        """Return the number of a value's slot in the frame; assign a new slot if it has none."""
        slot = self._slots.get(value)
        if slot is None:
            slot = self._slots[value] = len(self.template)
            self.template.append(None)
        return slot

    def place(self, value: Value, slot: int) -> None:
        """Assign an existing slot to a value."""
        self._slots[value] = slot

    def region(self, region: Region) -> "Code":
        return Code(region, self)

    def steps(self, operations: Iterable[Operation]) -> list[Step]:
        """Return one step for each operation except constants, whose values are stored in the initial frame."""
        return [step for operation in operations if (step := self._step(operation)) is not None]

    def branches(self, operation: Operation) -> bool:
        """Return True if a terminator branches to another block; other terminators end the region."""
        return bool(operation.successors) or operation.name in self._tables(operation).branches

    def branch(self, operation: Operation) -> Function:
        """Return a function of the frame that evaluates a terminator to (number of the successor, its arguments)."""
        choose = self._bound(self._tables(operation).branches, operation)
        slots = [self.slot(value) for value in operation.operands]

        def branch(frame: Frame) -> tuple[int, Sequence[Any]]:
            try:
                chosen: tuple[int, Sequence[Any]] = choose(*[frame[slot] for slot in slots])
                return chosen
            except QuantError as error:
                raise_located(operation, error)

        return branch

    def _step(self, operation: Operation) -> Step | None:
        tables = self._tables(operation)
        if operation.name in tables.structured:
            step: Step = self._bound(tables.structured, operation)
            return step
        function = self.handler(operation)
        results = [self.slot(value) for value in operation.results]
        if operation.has_trait(CONSTANT_LIKE):
            self.template[results[0]] = function()
            return None
        return _step(operation, function, [self.slot(value) for value in operation.operands], results)

    def handler(self, operation: Operation) -> Function:
        """Return the function that computes an operation's results from its operands."""
        function: Function = self._bound(self._tables(operation).handlers, operation)
        return function

    def _tables(self, operation: Operation) -> Tables:
        self.code.tables.load(operation.name.partition(".")[0])
        return self.code.tables

    def _bound(self, table: dict[str, Any], operation: Operation) -> Any:
        bind = table.get(operation.name)
        if bind is None:
            raise failure(operation, "cannot run: qrt's interpreter does not implement this op")
        try:
            return bind(operation, self)
        except QuantError as error:
            raise_located(operation, error)


def raise_located(operation: Operation, error: QuantError) -> NoReturn:
    """Raise an error as a ModelError with the op's location. A ModelError already has a location; it is unchanged."""
    if isinstance(error, ModelError):
        raise error
    if isinstance(error, KernelError) and error.reason is not None:
        if error.is_limit:
            raise failure(operation, error.reason) from None
        error = UndefinedError(error.reason)
    raise failure(operation, str(error)) from error


def _step(operation: Operation, function: Function, operands: list[int], results: list[int]) -> Step:
    if any(isinstance(value.type, TensorType) for value in operation.results):
        function = _checked(operation, function)
    if not operands:
        call: Function = lambda frame: function()  # noqa: E731
    elif len(operands) == 1:
        (only,) = operands
        call = lambda frame: function(frame[only])  # noqa: E731
    else:
        get = itemgetter(*operands)
        call = lambda frame: function(*get(frame))  # noqa: E731
    if len(results) == 1:
        (target,) = results

        def step(frame: Frame) -> None:
            try:
                frame[target] = call(frame)
            except QuantError as error:
                raise_located(operation, error)

    else:

        def step(frame: Frame) -> None:
            try:
                values = call(frame)
            except QuantError as error:
                raise_located(operation, error)
            for slot, value in zip(results, values or (), strict=True):
                frame[slot] = value

    return step


def _checked(operation: Operation, function: Function) -> Function:
    """Return ``function`` with a check that the results' shapes fit the operation's result types.

    Shapes equal to those of the latest call are not checked again.
    """
    declared = [as_tensor(value.type) for value in operation.results]
    what = f"the result of {operation.name}"
    latest: list[tuple[int, ...]] = []

    def checked(*operands: Any) -> Any:
        nonlocal latest
        values = function(*operands)
        shapes = [value.shape for value in (values if len(declared) > 1 else (values,))]
        if shapes != latest:
            for type, shape in zip(declared, shapes, strict=True):
                concrete(type, shape, what)
            latest = shapes
        return values

    return checked


class BlockCode:
    """The compiled steps of a block."""

    __slots__ = ("arguments", "branch", "owner", "results", "size", "steps", "terminator")

    def __init__(self, block: Block, owner: Operation, compiler: Compiler) -> None:
        self.owner = owner
        self.arguments = [compiler.slot(value) for value in block.arguments]
        operations = block.operations
        last = operations[-1] if operations and operations[-1].has_trait(TERMINATOR) else None
        self.terminator = last
        self.steps = compiler.steps(operations if last is None else operations[:-1])
        self.size = len(operations)
        self.results = [] if last is None else [compiler.slot(value) for value in last.operands]
        self.branch = compiler.branch(last) if last is not None and compiler.branches(last) else None

    def enter(self, frame: Frame, arguments: Iterable[Any], branch: Operation | None = None) -> None:
        """Set the block's arguments and run its steps. The caller then runs the terminator.

        `branch` is the op that branched here, to which errors about the number of steps refer.
        """
        values = tuple(arguments)
        if len(values) != len(self.arguments):  # upstream's verifier allows block arguments in `scf.index_switch`
            expected = plural(len(self.arguments), "value")
            raise failure(self.owner, f"must pass {expected} to its block, one for each argument, got {len(values)}")
        for slot, value in zip(self.arguments, values, strict=True):
            frame[slot] = value
        frame[0].count(self.size, branch or self.owner)
        for step in self.steps:
            step(frame)


class Code:
    """The compiled blocks of a region, in the order of the text."""

    __slots__ = ("blocks", "numbers")

    def __init__(self, region: Region, compiler: Compiler) -> None:
        owner = region.parent
        assert owner is not None  # a compiled region belongs to an op
        self.blocks = [BlockCode(block, owner, compiler) for block in region.blocks]
        number = {block: index for index, block in enumerate(region.blocks)}
        self.numbers = [[number[block] for block in of.successors] for of in region.blocks]

    def run(self, frame: Frame, arguments: Iterable[Any] = ()) -> list[Any]:
        """Run the region from its entry block with these arguments, and return the operands of the last terminator."""
        number = 0
        block = self.blocks[0]
        block.enter(frame, arguments)
        while block.branch is not None:
            chosen, values = block.branch(frame)
            branch = block.terminator
            number = self.numbers[number][chosen]
            block = self.blocks[number]
            block.enter(frame, values, branch)
        return [frame[slot] for slot in block.results]


class FunctionCode:
    """A function of the program that is compiled when it is first called."""

    def __init__(self, operation: Operation, module: "ModuleCode") -> None:
        self.operation = operation
        self._module = module
        self._compiled: tuple[Code, Frame] | None = None

    def call(self, run: Run, arguments: Iterable[Any]) -> list[Any]:
        """Run the function on these arguments and return its results."""
        if not self.operation.regions[0].blocks:
            return self._call_external(arguments)
        run.depth += 1
        if run.depth > MAX_CALL_DEPTH:
            raise failure(self.operation, f"calls must be at most {MAX_CALL_DEPTH} deep, got deeper or recursive ones")
        if self._compiled is None:
            self._compiled = self._compile()
        code, template = self._compiled
        frame = template.copy()
        frame[0] = run
        results = code.run(frame, arguments)
        run.depth -= 1
        return results

    def _call_external(self, arguments: Iterable[Any]) -> list[Any]:
        call = Compiler(self._module).handler(self.operation)
        try:
            returned = call(*arguments)
            return [] if returned is None else [returned]
        except QuantError as error:
            raise_located(self.operation, error)

    def _compile(self) -> tuple[Code, Frame]:
        compiler = Compiler(self._module)
        return compiler.region(self.operation.regions[0]), compiler.template


class ModuleCode:
    """The compiled functions of a module. Calls from several threads are safe, because each call has its own frame."""

    def __init__(self, module: Module, tables: Tables, saturating: bool) -> None:
        self.module = module
        self.tables = tables
        self.saturating = saturating
        self._functions: dict[Operation, FunctionCode] = {}

    @cached_property
    def frees(self) -> bool:
        """True if the module has an op that frees memory. Otherwise accesses are not checked for freed memory."""
        return any(operation.has_trait(MEM_FREE) for operation in self.module.operation.walk())

    def function(self, operation: Operation) -> FunctionCode:
        return self._functions.setdefault(operation, FunctionCode(operation, self))
