"""ONNX Runtime: fused integer ops, casts, and products with weights of few bits."""

import numpy as np
import onnxruntime

from benches.peers.cases import Case, signed
from benches.peers.runtimes import onnx_models
from benches.peers.runtimes.peer import Peer

DTYPES = {"tensor(uint8)": np.uint8, "tensor(int8)": np.int8, "tensor(float)": np.float32}


def make(case: Case, threads: int, sign: bool) -> Peer | None:
    if case.kind in ("gemm", "conv"):
        x = signed(case) if sign else case.d["x"]
        return _session(onnx_models.product(case, sign, fused=True), x, threads)
    if case.kind in ("qcast", "dcast") and not sign:
        return _session(onnx_models.cast(case), case.d["x"], threads)
    return None


def weight_only(case: Case, threads: int, accuracy: int) -> Peer | None:
    """``accuracy`` 4 lets the runtime quantize activations to 8 bits, 0 does not."""
    if case.kind != "weight_only":
        return None
    return _session(onnx_models.weight_only(case, accuracy), case.d["x"], threads)


def _session(model: bytes, x: np.ndarray, threads: int) -> Peer:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    (output,) = session.get_outputs()
    x_value = onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(x))
    y_value = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(output.shape, DTYPES[output.type]))
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", x_value)
    binding.bind_ortvalue_output("y", y_value)
    run, bound = session._sess.run_with_iobinding, binding._iobinding  # without the checks of the public method
    return Peer(lambda: run(bound, None), y_value.numpy, keeps=(session, binding, x_value))
