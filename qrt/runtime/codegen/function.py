"""Machine code of one function for concrete input types, and its runs on arrays."""

import ctypes
from collections.abc import Sequence
from functools import cached_property, partial
from math import prod
from typing import Any, NoReturn

import numpy as np
from llvmlite import ir as ll

from qrt.errors import QuantTypeError, UndefinedError
from qrt.ir import Value
from qrt.ir.core.functions import FuncOp
from qrt.ops.core import Array, element_dtype, row_major_strides, static_shape
from qrt.runtime.codegen import branches, control, memrefs, structured, tensors, vectors
from qrt.runtime.codegen.branches import emit_region, static_variable
from qrt.runtime.codegen.buffers import Buffer, Slot
from qrt.runtime.codegen.elements import I32, I64, POINTER, element_form, is_buffer, scalar_type
from qrt.runtime.codegen.emitter import MOST_VALUES, Emitter, Handler, not_emitted
from qrt.runtime.codegen.target import compile_text
from qrt.runtime.interpreter.buffers import memref_argument
from qrt.runtime.interpreter.core import raise_located
from qrt.runtime.operations import failure
from qrt.types import MemRefType, TensorType, Type, VectorType

HANDLERS: dict[str, Handler] = {
    name: handler
    for part in (branches, control, memrefs, structured, tensors, vectors)
    for name, handler in part.HANDLERS.items()
}
"""The function that emits each op, by the op's name."""
_ALIGNMENT = 64


class CompiledFunction:
    """The machine code of a function for given input types. ``run`` may be called from several threads at once.

    If ``is_shared``, memory of inputs may overlap. Raise NotEmittedError at an operation for which no code is emitted.
    """

    def __init__(
        self, function: FuncOp, types: Sequence[TensorType], *, saturating: bool, is_shared: bool = False
    ) -> None:
        if any(isinstance(t, VectorType) for t in (*function.type.inputs, *function.type.results)):
            raise not_emitted(function, "has vectors as arguments or results, for which no code is emitted")
        block = function.regions[0].blocks[0]
        emitter = Emitter(HANDLERS, saturating=saturating)
        self._is_shared = is_shared
        self._compile_shared = partial(CompiledFunction, function, types, saturating=saturating, is_shared=True)
        self._memrefs = [
            (number, value.type) for number, value in enumerate(block.arguments) if isinstance(value.type, MemRefType)
        ]
        try:
            for number, (value, t) in enumerate(zip(block.arguments, types, strict=True)):
                _define_input(emitter, function, value, t, number, is_shared)
            returned = _body(emitter, function)
            self.results = [
                _define_result(emitter, t, content, number)
                for number, (t, content) in enumerate(zip(function.type.results, returned, strict=True))
            ]
        except QuantTypeError as error:
            raise not_emitted(function, str(error)) from error
        except RecursionError:
            raise not_emitted(function, "has regions that are nested too deeply") from None
        self.sites = emitter.sites
        self.text = _finished(emitter)
        self._code = compile_text(self.text)
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(self._code.address)
        self._slots = emitter.slots
        self._offsets: dict[int, int] = {}
        self.scratch_bytes = 0
        self._free: list[Array] = []
        """Memory for temporaries that no run uses now; several runs may be in progress at once."""
        for place, slot in enumerate(self._slots):
            if slot.kind == "temporary":
                self._offsets[place] = self.scratch_bytes
                self.scratch_bytes += -(-slot.nbytes // _ALIGNMENT) * _ALIGNMENT

    @cached_property
    def _of_shared_inputs(self) -> "CompiledFunction":
        """Slower code for inputs whose memory overlaps, compiled when it is first needed."""
        return self._compile_shared()

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Run the code on arrays, and return new arrays. Raise ModelError at an operation that is undefined."""
        for number, t in self._memrefs:
            memref_argument(inputs[number], t, number)
            others = (*inputs[:number], *inputs[number + 1 :])
            if not self._is_shared and any(np.may_share_memory(inputs[number], other) for other in others):
                return self._of_shared_inputs.run(inputs)
        outputs = [np.empty(static_shape(t, "codegen"), element_dtype(t.element)) for t in self.results]
        try:
            scratch = self._free.pop()
        except IndexError:
            scratch = np.empty(self.scratch_bytes + _ALIGNMENT, np.uint8)
        start = -(-scratch.ctypes.data // _ALIGNMENT) * _ALIGNMENT
        table = np.array(
            [self._place(slot, number, inputs, outputs, start) for number, slot in enumerate(self._slots)], np.uint64
        )
        report = np.zeros(MOST_VALUES, np.int64)
        status = self._call(table.ctypes.data, report.ctypes.data)
        self._free.append(scratch)
        if status:
            self._raise(int(status), report.tolist())
        return outputs

    def _place(self, slot: Slot, number: int, inputs: Sequence[Array], outputs: Sequence[Array], start: int) -> int:
        arrays = {"input": inputs, "result": outputs}.get(slot.kind)
        if slot.kind == "temporary":
            return start + self._offsets[number]
        array = slot.array if arrays is None else arrays[slot.number]
        assert array is not None  # a slot of a constant has its array
        return int(array.ctypes.data)

    def _raise(self, status: int, values: list[int]) -> NoReturn:
        site = self.sites[status - 1]
        message = site.message if isinstance(site.message, str) else site.message(values[: site.count])
        if site.is_limit:
            raise failure(site.operation, message)
        raise_located(site.operation, UndefinedError(message))


def _define_input(e: Emitter, function: FuncOp, value: Value, t: TensorType, number: int, is_shared: bool) -> None:
    if isinstance(value.type, MemRefType):
        memrefs.require_row_major(function, value.type)
    shape = tuple(size or 0 for size in t.shape or ())
    nbytes = prod(shape) * element_dtype(t.element).itemsize
    slot = e.slot("input", nbytes, number, aliased=is_shared)
    buffer = Buffer(slot, t.element, shape, row_major_strides(shape))
    if is_buffer(value.type):
        e.set_buffer(value, buffer)
    else:
        e.define(value, e.load(buffer, ()))


def _body(e: Emitter, function: FuncOp) -> list[Any]:
    """Emit the function's blocks. Return a buffer for each result that is a tensor, a register for each scalar."""
    (region,) = function.regions
    if len(region.blocks) == 1:
        returned = e.body(region.blocks[0])
        return [e.buffer(value) if is_buffer(value.type) else e.register(value) for value in returned]
    if any(isinstance(t, MemRefType) for t in function.type.results):
        raise not_emitted(function, "returns memrefs from one of several blocks, for which no code is emitted")
    types = function.type.results
    variables = [static_variable(e, function, t) for t in types]
    emit_region(e, region, variables)
    return [
        variable if is_buffer(t) else e.builder.load(variable, typ=element_form(t).register)
        for t, variable in zip(types, variables, strict=True)
    ]


def _define_result(e: Emitter, t: Type, content: Any, number: int) -> TensorType:
    """Emit a result: a temporary's memory becomes the result array; any other value is copied to a new result array."""
    element, shape = scalar_type(t), content.shape if isinstance(content, Buffer) else ()
    if isinstance(content, Buffer) and content.slot.kind == "temporary" and content.is_whole:
        content.slot.kind, content.slot.number = "result", number
        return TensorType(shape, element)
    nbytes = prod(shape) * element_form(element).dtype.itemsize
    target = Buffer(e.slot("result", nbytes, number), element, shape, row_major_strides(shape))
    if isinstance(content, Buffer):
        e.copy(content, target)
    else:
        e.store(content, target, ())
    return TensorType(shape, element)


def _finished(e: Emitter) -> str:
    """Finish the body, and return the module's text.

    The module also gets an entry function, which reads the addresses of the arrays from a table and calls the body.
    """
    e.builder.ret(I64(0))
    start = e.function.blocks[1]
    e.allocas.branch(start)
    entry = ll.Function(e.module, ll.FunctionType(I64, [POINTER, POINTER]), "entry")
    builder = ll.IRBuilder(entry.append_basic_block("entry"))
    table, report = entry.args
    arguments = [report]
    for number in range(len(e.slots)):
        address = builder.gep(table, [I32(number)], source_etype=I64)
        arguments.append(builder.inttoptr(builder.load(address, typ=I64), POINTER))
    builder.ret(builder.call(e.function, arguments))
    return str(e.module)
