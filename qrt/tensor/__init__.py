"""Quantized tensors that behave as NumPy arrays, the public functions, and files of tensors.

- `QuantTensor` (`quant_tensor.py`) has storage and a type. Functions are in `casts.py`, `functions.py` and
  `products.py`. `protocol` has a table from NumPy's own functions to their implementations on quantized tensors.
- `binding.py` describes a call, finds it in the call cache or binds a `KernelCall`, and runs it.
- `npz.py`, `safetensors.py` and `tensor_files.py` read and write files; `choose.py` chooses a type from data.
- Start with `quant_tensor.py`, then `binding.py`.
- Imports `ops`, `types`, `kernels` and the packages below them. Neither of `tensor` and `ir` imports the other.
"""

from qrt.tensor.quant_tensor import PackedTensor, QuantTensor, _rebuild

__all__ = ["PackedTensor", "QuantTensor", "_rebuild"]  # pickles name the three here
