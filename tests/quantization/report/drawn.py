"""Reports of drawn figures, and the histograms of drawn values."""

import math
from dataclasses import replace
from random import Random

import numpy as np

from qrt.quantization.calibration.observers import Summary
from qrt.quantization.report import FloatOperation, OutputReport, PortReport, RegionReport, Report, Rescale


def histogram(values: np.ndarray) -> dict[int, int]:
    """As a record has it."""
    summary = Summary()
    summary.update(values.astype(np.float32))
    record = summary.record()
    assert record is not None
    return dict(record.histogram)


def port(name: str, values: np.ndarray, scale: float, low: int = -128, high: int = 127, **fields: object) -> PortReport:
    """An 8-bit port, or one of other ends, in which values were seen."""
    known: dict[str, object] = {
        "direction": "input", "spec": f"!quant.uniform<i8:f32, {scale:e}>", "origin": "records main/x (mse)",
        "is_constant": False, "bits": 8,
    }  # fmt: skip
    ends = {"low": low * scale, "high": high * scale, "codes": high - low + 1, "scale": scale, "scales": 1}
    return PortReport(name=name, histogram=histogram(values), **{**known, **ends, **fields})  # type: ignore[arg-type]


def region(key: str, ports: tuple[PortReport, ...], error_share: float, **fields: object) -> RegionReport:
    known: dict[str, object] = {
        "kernel": "conv2d", "place": "network.mlir:12", "snr_alone": 41.5, "snr": 33.25, "saturated": 0.001,
        "unused_codes": 7, "weight_bytes": 1152,
    }  # fmt: skip
    return RegionReport(key=key, ports=ports, error_share=error_share, **{**known, **fields})  # type: ignore[arg-type]


def network(regions: int = 6, seed: int = 7) -> Report:
    """Convolutions whose ports have every form of a picture: one side, two, an outlier, a float, nothing. Those after
    the sixth have the values of those before."""
    rng, random = np.random.default_rng(seed), Random(seed)
    made = []
    for index in range(min(regions, 6)):
        values = rng.normal(size=4000) * 2.0 ** random.randint(-6, 6)
        scale = float(np.abs(values).max()) / 127
        positive = np.maximum(values, 0)
        outlier = np.append(positive, 1e6) if index % 6 == 3 else positive
        ports = (
            port("x", positive, scale * (8 if index % 6 == 0 else 1)),
            port("filter", values / 30, scale / 30 / (5 if index % 6 == 1 else 1), -127, is_constant=True, scales=32),
            port("bias", rng.normal(size=32), 2.0**-20, -(2**31), 2**31 - 1, bits=32),
            port("y", outlier, float(outlier.max()) / 255, 0, 255, direction="output"),
        )
        made.append(
            region(
                f"main/conv2d.{index}",
                ports,
                2.0 ** -(index + 1),
                snr=20.0 + index * 5 % 7,
                snr_alone=40.0 + index * 3 % 7,
            )
        )
    made += [replace(made[n % 6], key=f"main/conv2d.{n}", error_share=2.0 ** -(n + 1)) for n in range(6, regions)]
    still = PortReport("operand 0", "input", "f32", "default", False, 32, -math.inf, math.inf, 0)
    made.append(region("main/softmax.0", (still,), 0.0, kernel="softmax", snr=math.inf, snr_alone=math.inf))
    cause = (
        "network.mlir:5 lookup output 0 is !quant.uniform<i8:f32, 5.000000e-01>, network.mlir:10 lookup input 0 takes "
    )
    return Report(
        "main",
        "qrt-cpu",
        256,
        (OutputReport("logits", 41.16, 0.9961), OutputReport("state", math.inf, None)),
        tuple(made),
        (Rescale("network.mlir:5", "!quant.uniform<i8:f32, 0.5>", "!quant.uniform<i8:f32, 0.25>", cause + "another"),),
        (FloatOperation("math.exp", "network.mlir:20", "the target qrt-cpu has no kernel for it"),),
    )
