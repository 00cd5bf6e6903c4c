"""Machine code of one function for concrete input types, and its runs on arrays."""

import ctypes
from collections.abc import Sequence
from math import prod
from typing import NoReturn

import numpy as np
from llvmlite import ir as ll

from qrt.errors import QuantTypeError, UndefinedError
from qrt.ir import Value
from qrt.ir.core.functions import FuncOp
from qrt.ir.passes.planned import body
from qrt.ops.core import Array, element_dtype, row_major_strides, static_shape
from qrt.runtime.codegen import control, memrefs, structured, tensors
from qrt.runtime.codegen.buffers import Buffer, Slot
from qrt.runtime.codegen.elements import I32, I64, POINTER, element_form, is_buffer, scalar_type
from qrt.runtime.codegen.emitter import MOST_VALUES, Emitter, Handler, not_emitted
from qrt.runtime.codegen.target import compile_text
from qrt.runtime.interpreter.buffers import memref_argument
from qrt.runtime.interpreter.core import raise_located
from qrt.runtime.operations import failure
from qrt.types import MemRefType, TensorType

HANDLERS: dict[str, Handler] = {**tensors.HANDLERS, **memrefs.HANDLERS, **structured.HANDLERS, **control.HANDLERS}
"""The emission of each op, by its name."""
_ALIGNMENT = 64


class CompiledFunction:
    """A function as machine code for inputs of these types. ``run`` may be called from several threads at once.

    Raise NotEmittedError at an operation for which no code is emitted.
    """

    def __init__(self, function: FuncOp, types: Sequence[TensorType], *, saturating: bool) -> None:
        block = body(function)
        if block is None:
            raise not_emitted(function, "has several blocks, for which no code is emitted")
        emitter = Emitter(HANDLERS, saturating=saturating)
        self._memrefs = [
            (number, value.type) for number, value in enumerate(block.arguments) if isinstance(value.type, MemRefType)
        ]
        try:
            for number, (value, t) in enumerate(zip(block.arguments, types, strict=True)):
                _define_input(emitter, function, value, t, number, len(self._memrefs) > 1)
            returned = emitter.body(block)
            self.results = [_define_result(emitter, value, number) for number, value in enumerate(returned)]
        except QuantTypeError as error:
            raise not_emitted(function, str(error)) from error
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

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Run on arrays of the types, and return new arrays. Raise ModelError at an operation that is undefined."""
        for number, t in self._memrefs:
            memref_argument(inputs[number], t, number)
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


def _define_input(e: Emitter, function: FuncOp, value: Value, t: TensorType, number: int, may_overlap: bool) -> None:
    if isinstance(value.type, MemRefType):
        memrefs.require_row_major(function, value.type)
    element_form(scalar_type(value.type))  # raises an error for a vector
    shape = tuple(size or 0 for size in t.shape or ())
    nbytes = prod(shape) * element_dtype(t.element).itemsize
    slot = e.slot("input", nbytes, number, aliased=may_overlap and isinstance(value.type, MemRefType))
    buffer = Buffer(slot, t.element, shape, row_major_strides(shape))
    if is_buffer(value.type):
        e.set_buffer(value, buffer)
    else:
        e.define(value, e.load(buffer, ()))


def _define_result(e: Emitter, value: Value, number: int) -> TensorType:
    """Emit the result: in the slot of its buffer, which becomes that of the result array, or as a copy."""
    element, shape = scalar_type(value.type), e.shape(value)
    source = e.buffer(value) if is_buffer(value.type) else None
    if source is not None and source.slot.kind == "temporary" and source.is_whole:
        source.slot.kind, source.slot.number = "result", number
        return TensorType(shape, element)
    nbytes = prod(shape) * element_form(element).dtype.itemsize
    target = Buffer(e.slot("result", nbytes, number), element, shape, row_major_strides(shape))
    if source is None:
        e.store(e.register(value), target, ())
    else:
        e.copy(source, target)
    return TensorType(shape, element)


def _finished(e: Emitter) -> str:
    """Finish the body, add the function that calls it with the slots of a table, and return the module's text."""
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
