"""The emitter: LLVM IR of one function for concrete input types, built operation by operation.

A scalar value is a register, or a NumPy scalar if the value is known while emitting. All sizes are known while
emitting, even those that the program computes. A tensor or memref is a `Buffer`. The other modules have tables
(`HANDLERS`) from op names to the functions that emit the ops.

The emitted function returns 0, or the number of a `CheckedPlace`: an operation that is undefined for the run's values.
LLVM does not vectorize a loop that a failed check can leave. In a loop whose number of iterations is known, a failed
check therefore sets a flag, and the iteration continues with another operand, for which the operation is defined. The
flag is tested after the loop.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

from llvmlite import ir as ll

from qrt.errors import ModelError, QuantTypeError
from qrt.ir import Block, Operation, Value
from qrt.ops.core import Array, row_major_strides
from qrt.runtime.codegen.buffers import Buffer, Index, Shape, Slot
from qrt.runtime.codegen.elements import I1, I32, I64, POINTER, element_form, is_buffer, scalar_type, splat_of
from qrt.types import IndexType, Type

Handler = Callable[["Emitter", Operation], None]
Message = str | Callable[[Sequence[int]], str]
_LOW, _HIGH = -(1 << 63), (1 << 63) - 1
MOST_VALUES = 64
"""The largest number of values that a `CheckedPlace` reports, for the error's message."""


SHORT_LOOP = 16
"""The number of iterations below which loops are not vectorized, because of masked stores (see `target.py`)."""


class _LoopMetadata(ll.values.MDValue):  # type: ignore[misc] # llvmlite has no types
    """The LLVM metadata node of a loop.

    Its first operand is the node itself, which llvmlite's own nodes cannot print.
    """

    def descr(self, buf: list[str]) -> None:
        operands = ", ".join(node.get_reference() for node in (self, *self.operands))
        buf += (f"distinct !{{ {operands} }}\n",)


class NotEmittedError(ModelError):
    """A part of a program for which no machine code is emitted."""


@dataclass(frozen=True)
class CheckedPlace:
    """An operation at which a run may end with an error, and the error's message.

    ``message`` is the text, or a function that makes the text from the values that the run reports.
    """

    operation: Operation
    message: Message
    count: int = 0
    """The number of values that the run reports."""
    is_limit: bool = False


def not_emitted(op: Operation, why: str) -> NotEmittedError:
    """Return the error for an op without machine code. ``why`` follows the op's name."""
    advice = 'write codegen="best-effort" (--best-effort) to run functions with such ops without machine code'
    return NotEmittedError(op.location.render(f"'{op.name}' op {why}; {advice}"))


class Emitter:
    """The state during the emission of LLVM IR for one function."""

    def __init__(self, handlers: Mapping[str, Handler], *, saturating: bool) -> None:
        self.handlers, self.saturating = handlers, saturating
        self.module = ll.Module("qrt")
        self.function = ll.Function(self.module, ll.FunctionType(I64, [POINTER]), "body")
        self.function.linkage = "internal"
        self.function.attributes.add("noinline")
        self.function.attributes.add("nounwind")
        self.allocas = ll.IRBuilder(self.function.append_basic_block("entry"))
        self.builder = ll.IRBuilder(self.function.append_basic_block("start"))
        self.slots: list[Slot] = []
        self.sites: list[CheckedPlace] = []
        self.flags: list[tuple[Any, int]] | None = None
        """In a loop of known length: for each check, its flag's address and the number of its place; else None."""
        self.loop_indices: list[Index] = []
        """The indices of the innermost structured op's loops."""
        self._registers: dict[Value, Any] = {}
        self._known: dict[Value, Any] = {}
        self._ranges: dict[Value, tuple[int, int]] = {}
        self._buffers: dict[Value, Buffer] = {}
        self._empty: dict[Value, Shape] = {}
        self._owners: set[Value] = set()
        self.calls: list[Operation] = []
        """The functions whose bodies are emitted now, in place of calls."""
        self._position = 0
        """The number of the operation of the function's block that is emitted now."""
        self._last_uses: dict[Value, int] = {}

    # -- operations ----------------------------------------------------------------------------------------------------

    def body(self, block: Block) -> list[Value]:
        """Emit the function's block without its terminator, and return the values that the function returns."""
        operations = list(block)
        for number, op in enumerate(operations):
            for inner in op.walk():
                self._last_uses.update(dict.fromkeys((*inner.operands, *inner.results), number))
        for self._position, op in enumerate(operations[:-1]):
            self.operation(op)
        self._position = len(operations) - 1
        return operations[-1].operands

    def block(self, block: Block) -> list[Value]:
        """Emit a block's operations without its terminator, and return the terminator's operands."""
        *operations, end = block
        self.operations(operations)
        return end.operands

    def operations(self, operations: Sequence[Operation]) -> None:
        for op in operations:
            self.operation(op)

    def operation(self, op: Operation) -> None:
        handler = self.handlers.get(op.name)
        if handler is None:
            raise not_emitted(op, "has no machine code")
        try:
            handler(self, op)
        except QuantTypeError as error:
            raise not_emitted(op, str(error)) from error

    # -- scalars -------------------------------------------------------------------------------------------------------

    def define(self, value: Value, register: Any, bounds: tuple[int, int] | None = None) -> None:
        """Set the register of a value and, if given, the least and the greatest number that the value may have."""
        self._registers[value] = register
        self._known.pop(value, None)
        if bounds is None:
            self._ranges.pop(value, None)
        else:
            self._ranges[value] = bounds

    def define_known(self, value: Value, number: Any) -> None:
        """Set a value to a NumPy scalar of its type's dtype, which is known while emitting."""
        self._known[value] = number

    def known(self, value: Value) -> Any:
        """Return the NumPy scalar of a scalar value, or the element of a buffer, if it is known; else None."""
        if is_buffer(value.type):
            return None if value in self._empty else self._buffers[value].splat
        return self._known.get(value)

    def register(self, value: Value) -> Any:
        """Return the register of a scalar value."""
        number = self._known.get(value)
        return self._registers[value] if number is None else element_form(value.type).constant(number)

    def bounds(self, value: Value) -> tuple[int, int]:
        """Return the least and the greatest number that an index value may have."""
        number = self._known.get(value)
        return self._ranges.get(value, (_LOW, _HIGH)) if number is None else (int(number), int(number))

    def index(self, value: Value) -> Index:
        """Return the register and the bounds of a value of type index."""
        return Index(self.register(value), *self.bounds(value))

    def alias(self, value: Value, source: Value) -> None:
        """Set a value to the register or buffer of ``source``. Uses of the value may not overwrite the buffer."""
        if source in self._empty:
            self._empty[value] = self._empty[source]
        elif is_buffer(source.type):
            self.set_buffer(value, self._buffers[source])
        elif source in self._known:
            self._known[value] = self._known[source]
        else:
            self.define(value, self._registers[source], self._ranges.get(source))

    def is_number(self, value: Value) -> bool:
        """Return True if a scalar value is known while emitting."""
        return value in self._known

    def size(self, op: Operation, value: Value) -> int:
        """Return an index value that must be known. Raise NotEmittedError if it is known only at run time."""
        number = self._known.get(value)
        if number is None:
            raise not_emitted(op, "has a size, offset or stride that is known only at run time")
        return int(number)

    def number(self, number: int) -> Index:
        return Index(I64(number), number, number)

    # -- memory --------------------------------------------------------------------------------------------------------

    def slot(self, kind: str, nbytes: int, number: int = -1, array: Array | None = None, aliased: bool = False) -> Slot:
        """Add a function argument for a block of memory. If ``aliased``, other blocks may overlap it."""
        pointer = ll.Argument(self.function, POINTER)
        if not aliased:
            pointer.add_attribute("noalias")
        self.function.args = (*self.function.args, pointer)
        self.function.ftype.args = (*self.function.ftype.args, POINTER)
        self.slots.append(Slot(kind, nbytes, pointer, number, array, aliased))
        return self.slots[-1]

    def alloca(self, type: Any, initial: Any = None) -> Any:
        """Return the address of a variable, which LLVM keeps in registers; ``initial`` is its initial value."""
        address = self.allocas.alloca(type)
        if initial is not None:
            self.allocas.store(initial, address)
        return address

    def fresh(self, type: Type, shape: Shape, *, zero: bool = False, is_exact: bool = False) -> Buffer:
        """Return a contiguous buffer in memory that no other value uses; its elements are undefined unless ``zero``.

        If ``is_exact``, the memory has the buffer's size; otherwise it may be larger.
        """
        nbytes = prod(shape) * element_form(type).dtype.itemsize
        buffer = Buffer(self._memory(nbytes, is_exact), type, shape, row_major_strides(shape))
        if zero:
            form = buffer.element
            self.fill(buffer, form.register(0) if form.dtype.kind != "f" else form.constant(form.dtype.type(0)))
        return buffer

    def _memory(self, nbytes: int, is_exact: bool) -> Slot:
        """Return a slot for a temporary: the smallest one that fits and is not used any more, or a new one.

        A slot of more than twice ``nbytes`` is not reused. If ``is_exact``, the slot's size is ``nbytes``.
        """
        free = [slot for slot in self.slots if slot.kind == "temporary" and slot.last < self._position]
        fitting = [slot for slot in free if nbytes <= slot.nbytes <= (nbytes if is_exact else 2 * nbytes)]
        slot = min(fitting, key=lambda slot: slot.nbytes) if fitting else self.slot("temporary", nbytes)
        slot.last = self._position
        return slot

    def constant(self, array: Array, type: Type) -> Buffer:
        """Return a buffer with the elements of an array."""
        splat, shape = splat_of(array), array.shape
        if splat is not None:
            array = array.reshape(-1)[:1].copy()
        array = array.copy(order="C")
        slot = self.slot("constant", array.nbytes, array=array)
        strides = (0,) * len(shape) if splat is not None else row_major_strides(shape)
        return Buffer(slot, type, shape, strides, splat=splat, is_read_only=True)

    def set_buffer(self, value: Value, buffer: Buffer, *, owned: bool = False) -> None:
        """Set the buffer of a value. If ``owned``, the value's last use may overwrite it."""
        self._check_shape(value, buffer.shape)
        self._buffers[value] = buffer
        self._empty.pop(value, None)
        buffer.slot.last = max(buffer.slot.last, self._last_uses.get(value, 0))
        if owned:
            self._owners.add(value)
        else:
            self._owners.discard(value)

    def set_empty(self, value: Value, shape: Shape) -> None:
        """Declare a tensor with undefined elements, such as a `tensor.empty`; an op that reads them gets zeros."""
        self._check_shape(value, shape)
        self._empty[value] = shape

    def _check_shape(self, value: Value, shape: Shape) -> None:
        declared = getattr(value.type, "shape", None)
        fits = declared is not None and len(declared) == len(shape)
        if not fits or any(d not in (None, n) for d, n in zip(declared or (), shape, strict=True)):
            raise QuantTypeError(f"a value must be {value.type}, got shape {list(shape)}")

    def shape(self, value: Value) -> Shape:
        """Return the shape of a tensor or memref; ``()`` for a scalar."""
        if not is_buffer(value.type):
            return ()
        empty = self._empty.get(value)
        return self._buffers[value].shape if empty is None else empty

    def buffer(self, value: Value) -> Buffer:
        """Return the buffer of a value, to read it."""
        empty = self._empty.get(value)
        return self._buffers[value] if empty is None else self.fresh(scalar_type(value.type), empty, zero=True)

    def is_owned(self, value: Value, op: Operation) -> bool:
        """Return True if ``op`` may overwrite a value's buffer: the value owns it and has no other use."""
        return value in self._owners and len(value.uses) == 1 and value.block is op.parent

    def writable(self, value: Value, op: Operation, *, is_read: bool = True) -> Buffer:
        """Return a buffer into which a result of ``op`` is written.

        The buffer is that of ``value`` if ``op`` may overwrite it, else a new one. If ``is_read``, a new buffer begins
        as a copy of the elements of ``value``.
        """
        if value in self._empty:
            return self.fresh(scalar_type(value.type), self._empty[value], zero=is_read)
        given = self._buffers[value]
        if self.is_owned(value, op):
            return given
        target = self.fresh(given.type, given.shape)
        if is_read:
            self.copy(given, target)
        return target

    def address(self, buffer: Buffer, indices: Sequence[Index]) -> Any:
        """Return the address of an element; the caller has checked that the indices are within the bounds."""
        offset, terms = buffer.offset, [] if buffer.base is None else [buffer.base]
        for index, stride in zip(indices, buffer.strides, strict=True):
            if index.is_constant:
                offset += index.low * stride
            elif stride:
                terms.append(index.value if stride == 1 else self._scaled(index.value, stride))
        total = I64(offset) if offset or not terms else None
        for term in terms:
            total = term if total is None else self.builder.add(total, term, flags=("nsw",))
        return self.builder.gep(buffer.slot.pointer, [total], inbounds=True, source_etype=buffer.element.memory)

    def _scaled(self, value: Any, factor: int) -> Any:
        return self.builder.mul(value, I64(factor), flags=("nsw",))

    def load(self, buffer: Buffer, indices: Sequence[Index]) -> Any:
        if buffer.splat is not None:
            return buffer.element.constant(buffer.splat)
        return buffer.element.load(self.builder, self.address(buffer, indices))

    def store(self, value: Any, buffer: Buffer, indices: Sequence[Index]) -> None:
        buffer.element.store(self.builder, value, self.address(buffer, indices))

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Emit a copy of all elements to a buffer of the same shape, whose element type may have another width."""
        if source.is_contiguous and target.is_contiguous:
            source, target = source.reshaped((source.size,)), target.reshaped((target.size,))
        with self.nest(target.shape) as indices:
            if indices is not None:
                self.store(self.load(source, indices), target, indices)

    def fill(self, buffer: Buffer, register: Any) -> None:
        """Emit stores of one value to all elements."""
        with self.nest(buffer.shape) as indices:
            if indices is not None:
                self.store(register, buffer, indices)

    def part(self, buffer: Buffer, offsets: Sequence[Index], sizes: Sequence[int], steps: Sequence[int]) -> Buffer:
        """Return a slice of a buffer; the caller has checked that the slice is within the bounds."""
        offset, base = buffer.offset, buffer.base
        for start, stride in zip(offsets, buffer.strides, strict=True):
            if start.is_constant:
                offset += start.low * stride
            else:
                term = self._scaled(start.value, stride)
                base = term if base is None else self.builder.add(base, term, flags=("nsw",))
        strides = tuple(stride * step for stride, step in zip(buffer.strides, steps, strict=True))
        return Buffer(buffer.slot, buffer.type, tuple(sizes), strides, offset, base, buffer.splat, buffer.is_read_only)

    # -- checks --------------------------------------------------------------------------------------------------------

    def trap_if(
        self, op: Operation, condition: Any, message: Message, values: Sequence[Any] = (), *, is_limit: bool = False
    ) -> None:
        """Emit a check that ends the run with an error at ``op`` if a condition (an i1 register) holds.

        In a loop whose number of iterations is known, the run ends only after the loop. The caller must then emit code
        that replaces the operand for which the operation would be undefined. The run ends at once if the message needs
        ``values``, or if ``is_limit``: the error is a limit of qrt, not an undefined operation.
        """
        self.sites.append(CheckedPlace(op, message, len(values), is_limit))
        number = len(self.sites)
        if self.flags is None or values or is_limit:
            self._exit_if(condition, number, values)
            return
        flag = self.alloca(I32, I32(0))
        bit = self.builder.zext(condition, I32)
        self.builder.store(self.builder.or_(self.builder.load(flag, typ=I32), bit), flag)
        self.flags.append((flag, number))

    def _exit_if(self, condition: Any, number: int, values: Sequence[Any]) -> None:
        failed, passed = (self.function.append_basic_block(name) for name in ("failed", "passed"))
        self.builder.cbranch(condition, failed, passed)
        self.builder.position_at_end(failed)
        for place, value in enumerate(values[:MOST_VALUES]):
            address = self.builder.gep(self.function.args[0], [I64(place)], source_etype=I64)
            self.builder.store(value, address)
        self.builder.ret(I64(number))
        self.builder.position_at_end(passed)

    def require_index(
        self, op: Operation, index: Index, size: int, message: Callable[[Sequence[int]], str], values: Sequence[Any]
    ) -> None:
        """Emit a check that an index is at least 0 and less than ``size``.

        Emit nothing if the bounds of the index already show that.
        """
        if not (index.low >= 0 and index.high < size):
            self.trap_if(op, self.builder.icmp_unsigned(">=", index.value, I64(size)), message, values)

    @contextmanager
    def _deferred_checks(self) -> Iterator[None]:
        """Let each check in a loop only set a flag when it fails, and emit tests of the flags after the loop."""
        if self.flags is not None:
            yield
            return
        self.flags = []
        yield
        flags, self.flags = self.flags, None
        for flag, number in flags:
            failed = self.builder.icmp_unsigned("!=", self.builder.load(flag, typ=I32), I32(0))
            self._exit_if(failed, number, ())

    @contextmanager
    def immediate_checks(self) -> Iterator[None]:
        """Emit tests of the flags set so far. In the `with` block, let a failed check end the run at once.

        A loop whose number of iterations is known only at run time needs this. If a failed check only replaced an
        operand, the loop might never end.
        """
        outer = self.flags
        for flag, number in outer or ():
            failed = self.builder.icmp_unsigned("!=", self.builder.load(flag, typ=I32), I32(0))
            self._exit_if(failed, number, ())
        self.flags = None
        yield
        self.flags = outer

    # -- control -------------------------------------------------------------------------------------------------------

    @contextmanager
    def counted(self, count: int | Any) -> Iterator[Any]:
        """Emit a loop and yield the register that counts its iterations from 0; ``count`` is a number or a register.

        If ``count`` is a number, it must be at least 1.
        """
        with ExitStack() as stack:
            stack.enter_context(self._deferred_checks() if isinstance(count, int) else self.immediate_checks())
            before, is_short = self.builder.block, isinstance(count, int) and count < SHORT_LOOP
            body, after = (self.function.append_basic_block(name) for name in ("loop", "done"))
            if isinstance(count, int):
                count = I64(count)
                self.builder.branch(body)
            else:
                self.builder.cbranch(self.builder.icmp_unsigned("!=", count, I64(0)), body, after)
            self.builder.position_at_end(body)
            number = self.builder.phi(I64)
            number.add_incoming(I64(0), before)
            yield number
            following = self.builder.add(number, I64(1), flags=("nuw",))
            number.add_incoming(following, self.builder.block)
            branch = self.builder.cbranch(self.builder.icmp_unsigned("<", following, count), body, after)
            if is_short:
                branch.set_metadata("llvm.loop", self._scalar_loop())
            self.builder.position_at_end(after)

    def _scalar_loop(self) -> Any:
        """Return new metadata that tells LLVM not to vectorize a loop."""
        option = self.module.add_metadata(["llvm.loop.vectorize.enable", I1(0)])
        return _LoopMetadata(self.module, [option], str(len(self.module.metadata)))

    @contextmanager
    def nest(self, extents: Sequence[int]) -> Iterator[list[Index] | None]:
        """Emit a nest of loops and yield the loop indices.

        Yield None if a loop has no iterations; the caller must then emit nothing.
        """
        if 0 in extents:
            yield None
            return
        with ExitStack() as stack:
            yield [
                Index(stack.enter_context(self.counted(extent)), 0, extent - 1) if extent > 1 else self.number(0)
                for extent in extents
            ]

    @contextmanager
    def branch(self, condition: Any) -> Iterator[tuple[Any, Any]]:
        """Emit a branch on a condition; yield two context managers, for emitting the true and the false branch."""
        first, second, after = (self.function.append_basic_block(name) for name in ("then", "else", "after"))
        self.builder.cbranch(condition, first, second)

        @contextmanager
        def inside(block: Any) -> Iterator[None]:
            self.builder.position_at_end(block)
            yield
            self.builder.branch(after)

        yield inside(first), inside(second)
        self.builder.position_at_end(after)

    # -- values that control flow carries ------------------------------------------------------------------------------

    def variable(self, type: Type, shape: Shape) -> Any:
        """Return memory for a value that control flow sets: a buffer for a tensor or memref, else an address."""
        return self.fresh(scalar_type(type), shape) if is_buffer(type) else self.alloca(element_form(type).register)

    def assign(self, variables: Sequence[Any], values: Sequence[Value]) -> None:
        """Emit the assignment of values to variables. All values are read before a variable is written."""
        moves: list[tuple[Any, Any]] = []
        for variable, value in zip(variables, values, strict=True):
            if not is_buffer(value.type):
                moves.append((variable, self.register(value)))
            elif (source := self.buffer(value)) != variable:
                if any(source.slot is other.slot for other in variables if isinstance(other, Buffer)):
                    copied = self.fresh(source.type, source.shape)
                    self.copy(source, copied)
                    source = copied
                moves.append((variable, source))
        for variable, source in moves:
            if isinstance(variable, Buffer):
                self.copy(source, variable)
            else:
                self.builder.store(source, variable)

    def take(self, values: Sequence[Value], variables: Sequence[Any]) -> None:
        """Set each value to the content of its variable."""
        for value, variable in zip(values, variables, strict=True):
            if isinstance(variable, Buffer):
                self.set_buffer(value, variable, owned=True)
            else:
                self.define(value, self.builder.load(variable, typ=element_form(value.type).register))


def is_index(t: Type) -> bool:
    return isinstance(t, IndexType)
