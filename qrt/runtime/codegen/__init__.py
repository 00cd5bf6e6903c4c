"""Machine code for functions: `qrt.compile` with ``codegen``. The package needs llvmlite, the extra ``codegen``.

- `source.py` lowers the ops of ``qrt`` and ``quant`` in a copy of the module, and makes plans of machine code.
- `function.py` emits one function for concrete input types (each dimension has a size) and runs the result.
- Handlers, which emit the ops by name, are in `structured.py` (``linalg``, and ``arith`` and ``math`` on scalars and
  tensors, with the tables of `integers.py` and `floats.py`), `tensors.py`, `memrefs.py`, `vectors.py`,
  `control.py` (loops) and `branches.py` (functions of several blocks).
- `emitter.py` has the state of the emission, and helpers for the handlers: to get values, to allocate memory
  (`buffers.py`, `elements.py`), and to emit checks and loops.
- `loop_order.py` chooses the order of loops.
- `target.py` compiles the text for this CPU.

Bufferization happens while the ops are emitted. A tensor is a `Buffer`: a view of memory with static shape and strides.
An op writes its result over an operand if the operand owns its memory, has no other use, and is defined in the op's
block. Otherwise the op writes to new memory. Values that loops and branches carry are copied to memory of the loop or
branch. All memory is part of one allocation per run.

Machine code is emitted for:

- ``arith``, and the functions of ``math`` that are exact or rounded once by the CPU, on integers of 1 to 64 bits,
  index, f32 and f64, on scalars and tensors;
- the structured ops of ``linalg``, on tensors and memrefs;
- ``tensor`` except ``gather``, ``scatter``, ``pack``, ``unpack`` and ``bitcast``;
- ``memref`` except atomic ops, ``alloca_scope``, ``view``, ``reshape``, ``extract_strided_metadata`` and globals that
  are not constant; ``bufferization`` except ``dealloc_tensor``;
- ``vector.broadcast``, ``extract``, ``insert``, ``load``, ``reduction`` and ``store``, and ``arith`` on vectors of one
  dimension;
- ``affine`` except ``parallel``; ``scf`` except ``parallel`` and ``forall``; ``cf``, ``ub`` and ``func``;
- ``quant.scast``.

Sizes must follow from the input types and constants.
"""
