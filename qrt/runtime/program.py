"""Compiled programs: functions of a module with a bounded cache of plans by input types and ISA."""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import qrt.kernels as kernels
from qrt.errors import KernelError, ModelError, QuantError, QuantTypeError, plural, require, shortened
from qrt.ops.core import Array, static_shape
from qrt.runtime.argument_binder import ArgumentBinder
from qrt.runtime.bound import BoundProgram, bound_inputs, bound_outputs
from qrt.runtime.coverage import Coverage, PlanTiming, shares
from qrt.runtime.plan import Plan, PlanMemory
from qrt.runtime.plan_source import PlanSource
from qrt.runtime.ports import check_names, in_order
from qrt.runtime.saved.save import save
from qrt.runtime.values import State, at_border, incoming, is_whole, memory_reported, no_memory, outgoing
from qrt.tensor.storage import is_packed
from qrt.types import TensorType, UniformType

if TYPE_CHECKING:  # a saved program runs without the IR
    import qrt.ir as ir
    from qrt.runtime.interpreter.core import Tap

MAX_PLANS = 16


class Program:
    """A compiled function, made by ``qrt.compile``.

    Call the program with its inputs as arguments, in order, or call ``run`` with a dict of inputs by name. Both may be
    called from several threads at once.

    Float inputs are arrays of the declared dtype. Quantized inputs are QuantTensors of the declared type, or its
    storage integers; quantized results are QuantTensors. A program with dynamic dimensions is planned once for each
    set of input shapes that occurs, and keeps the latest 16 plans. ``inputs`` and ``outputs`` have the names and types
    of arguments and results.

    A program that sets an ``ml_program.global`` has state, which it keeps from call to call. Its calls run one after
    the other; use ``clone`` to give each thread its own state.

    Parameters
    ----------
    source : PlanSource
        The function, from a module or a saved file.

    Raises
    ------
    ModelError
        If the function has an operation that cannot run, arguments do not fit, or an operation is undefined for its
        values.

    Examples
    --------
    >>> import numpy as np
    >>> import qrt
    >>> program = qrt.compile("func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { return %x : tensor<2xi32> }")
    >>> program
    Program f(arg0: tensor<2xi32>) -> (result0: tensor<2xi32>)
    >>> program(np.int32([1, 2])).tolist()
    [1, 2]
    >>> program.run({"arg0": np.int32([3, 4])}, interpret=True)["result0"].tolist()
    [3, 4]
    """

    def __init__(self, source: PlanSource) -> None:
        require(source, PlanSource, "Program: 'source'", "a PlanSource (for a module, write qrt.compile(module))")
        self._source = source
        self.name, self.inputs, self.outputs = source.name, source.inputs, source.outputs
        self._plans: OrderedDict[tuple[Any, ...], Plan] = OrderedDict()
        self._lock = threading.Lock()
        self._names = [port.name for port in self.inputs]
        self._result_names = [port.name for port in self.outputs]
        self._preferred: tuple[Plan | None, ArgumentBinder | None] = None, None
        self._state = State()
        if all(port.type.has_static_shape for port in self.inputs) and source.is_eager:
            self._prefer(self._plan([port.type for port in self.inputs]))

    @property
    def module(self) -> "ir.Module":
        """The module before the passes that prepare it for planning; ``interpret=True`` runs this module."""
        return self._source.module

    def _prefer(self, plan: Plan) -> None:
        """Set the plan that the next call tries first: it is used if the input types fit, without a look-up."""
        if plan is not self._preferred[0]:
            self._preferred = plan, self._argument_binder(plan)

    def _argument_binder(self, plan: Plan) -> ArgumentBinder | None:
        """Return the `ArgumentBinder` of a plan: C code that checks arguments and runs the plan, without conversions.

        Return None if a step of the plan is not a kernel, or a type stores several values in one byte.
        """
        elements = [port.type.element for port in (*self.inputs, *self.outputs)]
        quantized = [element if isinstance(element, UniformType) else None for element in elements]
        if plan.executable is None or any(map(is_packed, elements)):
            return None
        count = len(self.inputs)
        return ArgumentBinder(
            plan.executable,
            plan.isa,
            kernels.forced_isa.get() is None,
            tuple(quantized[:count]),
            tuple(map(is_whole, elements[:count])),
            tuple(quantized[count:]),
            tuple([() if t is None else static_shape(t, "plan") for t in plan.results]),
            self._state,
            tuple(plan.states),
            tuple(plan.states.values()),
        )

    def __call__(self, *arguments: Any) -> Any:
        """Run the program on its inputs in order; return the result, or a tuple of results if there are several."""
        results = self._run_binder(arguments)
        if results is not None:
            return results[0] if len(results) == 1 else tuple(results)
        arrays = self._incoming(arguments)
        with memory_reported(self.name):
            results = self.run_arrays(arrays)
        return results[0] if len(results) == 1 else tuple(results)

    def run(
        self, inputs: Mapping[str, Any], *, interpret: bool = False, max_steps: int | None = None
    ) -> dict[str, Any]:
        """Run the program on ``inputs`` by name, and return the results by name.

        If ``interpret``, the interpreter runs the reference implementation of every op instead of the kernels, with the
        same bits. ``max_steps`` limits the number of operations that run in the interpreter, and in the plan's loops
        and branches; without it, an `scf.while` may run a million iterations. Raise ModelError if a limit is exceeded
        or an input does not fit.
        """
        if self._preferred[1] is not None and type(inputs) is dict and not interpret and max_steps is None:
            given = [inputs[name] for name in self._names if name in inputs]
            if len(given) == len(inputs) and (results := self._run_binder(tuple(given))) is not None:
                return dict(zip(self._result_names, results, strict=True))
        require(max_steps, (int, type(None)), "'max_steps'", "an integer")
        arrays = self.arrays_of(inputs)
        with memory_reported(self.name):
            results = self._interpret(arrays, max_steps) if interpret else self.run_arrays(arrays, max_steps)
        return self._named(results)

    def _run_binder(self, arguments: tuple[Any, ...]) -> list[Any] | None:
        """Run the preferred plan by its `ArgumentBinder`, and return the results.

        Return None if no plan is preferred, if the plan has no binder, or if an argument needs a conversion.
        """
        plan, binder = self._preferred
        if plan is None or binder is None:
            return None
        try:
            return binder(arguments)
        except KernelError as error:
            plan.raise_located(error)
        except MemoryError as error:
            raise no_memory(self.name, error) from None

    def bind(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any] | None = None) -> "BoundProgram":
        """Bind the program to arrays. Each call of the bound program reads the input arrays and writes the outputs.

        The plan is made for the currently active instruction set. The bound program uses this program's state, and only
        one thread may run it at a time.

        Parameters
        ----------
        inputs : mapping of str to array
            An array for each input, of its dtype and shape; for a quantized input storage integers or a QuantTensor.
        outputs : mapping of str to array, optional
            Arrays for some or all outputs. Arrays for the other outputs are allocated: at once, or at the first call
            if the output's shape is known only at run time.

        Returns
        -------
        BoundProgram
            Its ``inputs`` and ``outputs`` are the arrays by name. A quantized output's array has storage integers.

        Raises
        ------
        ModelError
            If an array is missing, is of another dtype or shape, is not C-contiguous and aligned, or if an output is
            read-only or overlaps another array.

        Examples
        --------
        >>> import qrt
        >>> program = qrt.compile("func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { return %x : tensor<2xi32> }")
        >>> import numpy as np
        >>> x = np.int32([1, 2])
        >>> run = program.bind({"arg0": x})
        >>> x[1] = 7
        >>> run()
        >>> run.outputs["result0"].tolist()
        [1, 7]
        """
        if any(port.in_place for port in (*self.inputs, *self.outputs)):
            raise ModelError(
                f"Program.bind does not support the memref inputs or results of {self.name}, only Program.run does"
            )
        arrays = bound_inputs(in_order(inputs, self.inputs), self.inputs)
        with memory_reported(self.name):
            plan = self._plan(self._types(list(arrays.values())))
            results = bound_outputs({} if outputs is None else outputs, self.outputs, plan, arrays)
        narrow = [port for port in self.inputs if not is_whole(port.type.element)]
        state = self._state if self._source.is_stateful else None
        return BoundProgram(self.name, plan, state, arrays, results, narrow, self._result_names)

    def run_timed(
        self, inputs: Mapping[str, Any], *, max_steps: int | None = None
    ) -> tuple[dict[str, Any], list[PlanTiming]]:
        """Run the program and return (results by name, as from ``run``; time of each step, as from ``timings``)."""
        require(max_steps, (int, type(None)), "'max_steps'", "an integer")
        arrays = self.arrays_of(inputs)
        with memory_reported(self.name):
            plan = self._plan(self._types(arrays))
            with self._stream() as state:
                results, seconds = plan.run_timed(arrays, max_steps, state)
            return self._named(self._outgoing(results)), shares([seconds])

    def timings(self, inputs: Mapping[str, Any], *, repeats: int = 1) -> list[PlanTiming]:
        """Run the program and measure each step: its seconds, and its share of the seconds of all steps.

        A step in a loop has the seconds of all its iterations. Memrefs and the state are copied, so that neither the
        caller's arrays nor the state changes.

        Parameters
        ----------
        inputs : mapping of str to array
            The inputs by name, as ``run`` takes them.
        repeats : int, default 1
            The number of runs. The seconds of a step are the median over the runs.

        Returns
        -------
        list of PlanTiming
            Named tuples of ``name``, ``seconds``, ``share``, ``location`` in the text, and ``engine``, as in
            ``coverage``.

        Raises
        ------
        ModelError
            If an input is missing or does not fit, or an operation is undefined for its values.
        QuantTypeError
            If ``repeats`` is not an integer of at least 1.

        Examples
        --------
        >>> text = "func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { %0 = arith.addi %x, %x : tensor<2xi32>  "
        >>> import qrt
        >>> program = qrt.compile(text + "return %0 : tensor<2xi32> }")
        >>> import numpy as np
        >>> [(step.name, step.share) for step in program.timings({"arg0": np.int32([1, 2])}, repeats=5)]
        [('arith.addi', 1.0)]
        """
        require(repeats, int, "'repeats'", "an integer")
        if repeats < 1:
            raise QuantTypeError(f"'repeats' must be at least 1, got {repeats}")
        arrays = self.arrays_of(inputs)
        with memory_reported(self.name):
            plan = self._plan(self._types(arrays))
            with self._stream() as state:
                streams = [{name: array.copy() for name, array in state.items()} for _ in range(repeats)]
            return shares([plan.run_timed(self._copied(arrays), None, copy)[1] for copy in streams])

    def reset(self) -> None:
        """Reset the state to its initial values.

        >>> text = '''ml_program.global private mutable @sum(dense<0> : tensor<2xi32>) : tensor<2xi32>
        ... func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> {
        ...   %0 = ml_program.global_load @sum : tensor<2xi32>
        ...   %1 = arith.addi %0, %x : tensor<2xi32>
        ...   ml_program.global_store @sum = %1 : tensor<2xi32>
        ...   return %1 : tensor<2xi32>
        ... }'''
        >>> import qrt
        >>> program = qrt.compile(text)
        >>> import numpy as np
        >>> x = np.int32([1, 2])
        >>> program(x).tolist(), program(x).tolist()
        ([1, 2], [2, 4])
        >>> program.reset()
        >>> program(x).tolist()
        [1, 2]
        """
        with self._state.lock:
            self._state.arrays.clear()

    def clone(self) -> "Program":
        """Return a program that shares the plans and has its own state, with the initial values."""
        clone = object.__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone._state = State()
        plan, binder = self._preferred
        clone._preferred = plan, None if binder is None else binder.with_state(clone._state)
        return clone

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Save the program's text, plans and packed weights to a file that ``qrt.load_program`` maps.

        Plans are saved for the active instruction set. A program with static shapes has one plan. A program with
        dynamic dimensions has the plans of the latest shapes it ran on, at most 16, or if it has not run, a plan with
        all dynamic dimensions 1. A plan with a step that is not a kernel is not saved; it is made again from the text.
        The state is not saved: the loaded program begins with the initial values. Only this version of qrt loads the
        file; keep the program's text to use it with other versions.

        Parameters
        ----------
        path : str or PathLike
            The file. An existing file is replaced once the new one is complete.

        Raises
        ------
        FileError
            If the file cannot be written. This error is an OSError too.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "f.qrt")
        >>> import qrt
        >>> qrt.compile("func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { return %x : tensor<2xi32> }").save(path)
        >>> os.listdir(os.path.dirname(path))
        ['f.qrt']
        """
        types = self._planned_types()
        if not types:
            with suppress(QuantError):  # a program without such a plan is saved without plans
                self.memory()
            types = self._planned_types()
        save(self._source, types, path)

    def memory(self, *shapes: Sequence[int]) -> PlanMemory:
        """Return the memory that a run needs for temporaries, for inputs of these shapes.

        ``arena_bytes`` is the size of the arena for all temporaries, ``live_bytes`` the most bytes of temporaries that
        are live at the same time. Dynamic dimensions of inputs without a given shape count as 1.

        >>> x = "tensor<4x!quant.uniform<i8:f32, 0.5>>"
        >>> text = f"func.func @f(%x: {x}) -> {x} {{ %0 = qrt.add %x, %x : ({x}, {x}) -> {x} "
        >>> import qrt
        >>> program = qrt.compile(text + f"%1 = qrt.add %0, %x : ({x}, {x}) -> {x} return %1 : {x} }}")
        >>> program.memory()
        PlanMemory(arena_bytes=4, live_bytes=4)
        """
        return self._plan_of(dict(zip(self._names, shapes, strict=False))).memory

    def coverage(self, *shapes: Sequence[int]) -> "list[Coverage]":
        """Return the engine that runs each op (a kernel or the interpreter), in order, for inputs of these shapes.

        Dynamic dimensions of inputs without a given shape count as 1.
        """
        return self._plan_of(dict(zip(self._names, shapes, strict=False))).coverage

    def planned(self, inputs: Mapping[str, Any]) -> Plan:
        """Return the plan that a call with these inputs runs."""
        return self._plan(self._types(self.arrays_of(inputs)))

    def plan_text(self, inputs: Mapping[str, Any]) -> str:
        """Return the plan for these inputs as text, as ``qrt run --print-plan`` prints it.

        Dynamic dimensions of inputs that are not given count as 1.
        """
        check_names(inputs, self.inputs)
        given = {
            port.name: incoming(inputs[port.name], port.type, f"input {port.name!r}", port.in_place).shape
            for port in self.inputs
            if port.name in inputs
        }
        return self._plan_of(given).text(self.name)

    def arrays_of(self, inputs: Mapping[str, Any]) -> list[Array]:
        """Return the inputs as arrays for ``run_arrays``, in order. Raise ModelError for an input that does not fit."""
        return self._incoming(in_order(inputs, self.inputs))

    def _named(self, results: Iterable[Any]) -> dict[str, Any]:
        return dict(zip(self._result_names, results, strict=True))

    def _plan_of(self, shapes: Mapping[str, Sequence[int]]) -> Plan:
        """Return the plan for inputs of these shapes by name. Dynamic dimensions without a given shape count as 1."""
        types = []
        for port in self.inputs:
            default = tuple(1 if d is None else d for d in port.type.shape or ())
            types.append(at_border(port.type, tuple(shapes.get(port.name, default)), f"input {port.name!r}"))
        return self._plan(types)

    def _copied(self, arrays: Sequence[Array]) -> list[Array]:
        """Return the input arrays, with copies of those that the program writes in place (memrefs)."""
        return [a.copy() if port.in_place else a for a, port in zip(arrays, self.inputs, strict=True)]

    def _incoming(self, arguments: Sequence[Any]) -> list[Array]:
        if len(arguments) != len(self.inputs):
            wanted = ", ".join(f"{port.name}: {port.type}" for port in self.inputs)
            count = plural(len(self.inputs), "argument")
            raise ModelError(f"{self.name} must be called with {count} ({wanted}), got {len(arguments)}")
        return [
            incoming(value, port.type, f"input {port.name!r}", port.in_place)
            for value, port in zip(arguments, self.inputs, strict=True)
        ]

    def run_arrays(self, arrays: Sequence[Array], max_steps: int | None = None, tap: "Tap | None" = None) -> list[Any]:
        """Run the program on the arrays that ``arrays_of`` returns, and return the results.

        ``tap`` is called with each `quant.stats_ref` op and its value, if the program was planned to observe these ops.
        """
        plan = self._plan(self._types(arrays))
        self._prefer(plan)
        with self._stream() as state:
            return self._outgoing(plan.run(arrays, max_steps, tap, state))

    @contextmanager
    def _stream(self) -> Iterator[dict[str, Array]]:
        """Yield the current arrays of the program's globals by name, and lock them within the `with` block.

        If the program does not change globals, yield an empty dict and lock nothing.
        """
        if not self._source.is_stateful:
            yield {}
            return
        state = self._state
        with state.lock:
            yield state.arrays

    def _types(self, arrays: Sequence[Array]) -> list[TensorType]:
        return [at_border(p.type, a.shape, f"input {p.name!r}") for a, p in zip(arrays, self.inputs, strict=True)]

    def _interpret(self, arrays: Sequence[Array], max_steps: int | None) -> list[Any]:
        with self._stream() as state:
            return self._outgoing(self._source.interpret(arrays, max_steps, state))

    def _outgoing(self, results: Iterable[Array]) -> list[Any]:
        return [
            outgoing(a, at_border(p.type, a.shape, f"result {p.name!r}"))
            for a, p in zip(results, self.outputs, strict=True)
        ]

    def _planned_types(self) -> list[tuple[TensorType, ...]]:
        """Return the input types for which there is a plan, in the saved file or in the cache."""
        with self._lock:
            return list(dict.fromkeys([*self._source.saved_types, *(key[1:] for key in self._plans)]))

    def _plan(self, types: Sequence[TensorType]) -> Plan:
        key = (kernels.active(), *types)
        with self._lock:
            if key in self._plans:
                self._plans.move_to_end(key)
                return self._plans[key]
        with memory_reported(self.name):
            plan = self._source.plan(types)
        with self._lock:
            self._plans[key] = plan
            if len(self._plans) > MAX_PLANS:
                self._plans.popitem(last=False)
        return plan

    def __repr__(self) -> str:
        inputs = ", ".join(f"{p.name}: {p.type.shown()}" for p in self.inputs)
        outputs = ", ".join(f"{p.name}: {p.type.shown()}" for p in self.outputs)
        return shortened(f"Program {self.name}({inputs}) -> ({outputs})")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._source,)


def _rebuild(*_: object) -> NoReturn:
    """Raise ModelError when a pickle of an earlier version is loaded, because such pickles call this function."""
    raise ModelError(
        "this program was pickled by an earlier version of qrt, which this version cannot load: compile its model again"
    )
