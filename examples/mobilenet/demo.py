"""Says what is on photographs, by a quantized MobileNetV2 from a .tflite file, in qrt and in LiteRT.

    python -m examples.mobilenet.demo [--models ../shared/models] [IMAGE.bmp ...]

The exit status is 1 if an output of qrt is not LiteRT's.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import qrt
from examples.mobilenet.bmp import read, resized
from qrt.models.engines.engine import LoadedModel
from qrt.models.engines.litert import LiteRT

MODELS = Path(qrt.__file__).parents[2] / "shared" / "models"
MODEL = "tflite/tf2_mobilenet_v2_1.0_224_ptq.tflite"
ROUNDS, CALLS = 9, 5
"""How often the runtimes take turns, and the calls of a turn."""


def top(scores: NDArray[np.uint8], labels: list[str], count: int = 5) -> list[tuple[str, float]]:
    """The labels of the greatest scores, with their probability; of equal ones the first."""
    best = np.argsort(-scores.astype(np.int64), kind="stable")[:count]
    return [(labels[index], int(scores[index]) / 256) for index in best]


def bars(found: list[tuple[str, float]]) -> str:
    """A line for each label, with a bar as long as it is probable."""
    return "\n".join(f"  {share:6.1%}  {'#' * round(30 * share):30}  {label}" for label, share in found)


def microseconds(run: Callable[[], object], model: LoadedModel, image: NDArray[np.uint8]) -> tuple[float, float]:
    """The medians of a call of qrt and of LiteRT, which take turns: set, run and get."""
    ours, theirs = [], []
    run()
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            run()
        ours.append((time.perf_counter() - start) / CALLS)
        theirs.append(model.timed([image], CALLS))
    return statistics.median(ours) * 1e6, statistics.median(theirs) * 1e6


def main(arguments: list[str] | None = None) -> int:
    """Classifies the images; returns the exit status."""
    parser = argparse.ArgumentParser(description="what is on a photograph, by qrt and by LiteRT")
    parser.add_argument("images", nargs="*", type=Path, help="24-bit .bmp files: a portrait and a cat, if not given")
    parser.add_argument("--models", type=Path, default=MODELS, help="the folder of the model and the labels")
    options = parser.parse_args(arguments)
    pictures: list[Path] = options.images or [
        options.models / "images" / f"{name}.bmp" for name in ("grace_hopper", "cat")
    ]
    labels = (options.models / "images/imagenet_labels.txt").read_text(encoding="utf-8").splitlines()

    qrt.kernels.set_num_threads(1)
    start = time.perf_counter()
    program = qrt.compile(qrt.load(options.models / MODEL))
    print(f"loaded {Path(MODEL).name} in {(time.perf_counter() - start) * 1e3:.0f} ms")
    same = True
    with LiteRT() as litert:
        beside = litert.load(options.models / MODEL)
        for picture in pictures:
            image = resized(read(picture), 224, 224)[None]
            scores = np.asarray(program(image).storage)
            (expected,) = beside.run([image])
            differ = int(np.count_nonzero(scores != expected))
            same = same and not differ
            print(f"\n{picture.name}: {differ} of {expected.size:,} scores differ from LiteRT's")
            print(bars(top(scores[0], labels)))
            ours, theirs = microseconds(lambda image=image: program(image), beside, image)  # type: ignore[misc]
            print(f"  qrt {ours:,.0f} us, LiteRT {theirs:,.0f} us, one thread each")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
