"""What MLIR 22 registers and qrt does not support: whole dialects, and ops of the dialects that qrt has."""

_DIALECTS = (
    "acc amdgpu amx arm_neon arm_sme arm_sve async dlti emitc gpu index irdl llvm ml_program mpi nvgpu nvvm omp pdl "
    "pdl_interp ptr rocdl shard smt sparse_tensor spirv tosa transform wasmssa x86vector xegpu xevm"
)
DIALECTS = frozenset(_DIALECTS.split())
OPS = {
    "affine": "delinearize_index dma_start dma_wait linearize_index prefetch vector_load vector_store",
    "bufferization": "dealloc",
    "builtin": "unrealized_conversion_cast",
    "complex": "abs angle atan2 bitcast conj constant cos eq exp expm1 log log1p neg neq pow powi rsqrt sign sin sqrt "
    "tan tanh",
    "func": "call_indirect constant",
    "linalg": "fill_rng_2d pack softmax unpack winograd_filter_transform winograd_input_transform "
    "winograd_output_transform",
    "memref": "atomic_rmw atomic_yield distinct_objects dma_start dma_wait extract_aligned_pointer_as_index "
    "generic_atomic_rmw prefetch realloc",
    "shape": "any assuming assuming_all assuming_yield const_size const_witness cstr_broadcastable cstr_eq "
    "cstr_require debug_print from_extent_tensor from_extents func function_library index_to_size max meet min reduce "
    "return size_to_index value_as_shape value_of with_shape yield",
    "tensor": "gather scatter",
    "vector": "bitcast compressstore deinterleave expandload gather mask maskedload maskedstore outerproduct "
    "scalable.extract scalable.insert scan scatter type_cast vscale yield",
}
"""By dialect, without its name."""


def reason(name: str) -> str | None:
    """What to say of an op's name that qrt does not know, if MLIR does.

    >>> reason("vector.mask"), reason("vector.nonsense")
    ("'vector.mask' is known to MLIR, not supported here", None)
    """
    dialect, _, rest = name.partition(".")
    if dialect in DIALECTS:
        return f"'{name}' is of the dialect '{dialect}', which is known to MLIR, not supported here"
    if rest in OPS.get(dialect, "").split():
        return f"'{name}' is known to MLIR, not supported here"
    return None
