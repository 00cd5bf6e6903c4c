"""The runtimes: peers by name. A name begins with its library's, up to the underscore; each library has a process.

A runtime is imported when its first case is made: one that is not installed is absent, and the others are timed.
"""

from importlib import import_module

from benches.peers.cases import Case
from benches.peers.runtimes.peer import Make, Peer

__all__ = ["PEERS", "Make", "Peer", "library_of"]

_PEERS = {  # name: module, function, options
    "qrt_float32": ("with_qrt", "make", {"requant": "float32"}),
    "qrt_fixed": ("with_qrt", "make", {"requant": "fixed"}),
    "meter_peak": ("meters", "peak", {}),
    "meter_copy": ("meters", "copy", {}),
    "numpy": ("with_numpy", "casts", {}),
    "torch_x86": ("with_torch", "quantized_engine", {"engine": "x86"}),
    "torch_onednn": ("with_torch", "quantized_engine", {"engine": "onednn"}),
    "torch_fbgemm": ("with_torch", "quantized_engine", {"engine": "fbgemm"}),
    "torch_pt2e_u8": ("with_torch", "pointwise", {"sign": False}),
    "torch_pt2e_s8": ("with_torch", "pointwise", {"sign": True}),
    "torch_int_mm_raw": ("with_torch", "int_mm", {}),
    "torch_cast": ("with_torch", "casts", {}),
    "torch_compile_cast": ("with_torch", "compiled_casts", {}),
    "torch_int4pack_bf16": ("with_torch", "weight_only", {"half": True}),
    "torch_int4pack_f32": ("with_torch", "weight_only", {"half": False}),
    "ort_u8": ("with_onnxruntime", "make", {"sign": False}),
    "ort_s8": ("with_onnxruntime", "make", {"sign": True}),
    "ort_nbits_acc4": ("with_onnxruntime", "weight_only", {"accuracy": 4}),
    "ort_nbits_acc0": ("with_onnxruntime", "weight_only", {"accuracy": 0}),
    "openvino_u8": ("with_openvino", "make", {"sign": False}),
    "openvino_s8": ("with_openvino", "make", {"sign": True}),
    "litert_xnnpack": ("with_litert", "make", {}),
}


def library_of(name: str) -> str:
    return name.partition("_")[0]


def _lazily(module: str, function: str, options: dict[str, object]) -> Make:
    def make(case: Case, threads: int) -> Peer | None:
        made = getattr(import_module(f"benches.peers.runtimes.{module}"), function)
        return made(case, threads, **options)

    return make


PEERS: dict[str, Make] = {name: _lazily(*where) for name, where in _PEERS.items()}
