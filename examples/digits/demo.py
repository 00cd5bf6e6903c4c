"""Trains, writes `digits_float.mlir`, makes `digits.mlir` of it with `qrt quantize`, runs that with `qrt run` on the
held-out images and compares it with floats.

    python -m examples.digits.demo [--program digits.mlir]

The exit status is 1 if the int8 program is below 95 % accuracy or more than 1 % away from the float network.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import qrt
from examples.digits.network import Array, Network, unrounded
from examples.digits.train import Digits, accuracy, load, train
from examples.digits.write_float import write_float

PROGRAM = Path(__file__).with_name("digits.mlir")
SHADES = " .:-=+*#%@"


def qrt_command(*arguments: str | Path) -> None:
    """Runs the command line tool."""
    subprocess.run([sys.executable, "-m", "qrt", *map(str, arguments)], check=True)


def qrt_quantize(program: Path, images: Array, output: Path) -> None:
    """Quantizes a float program, with ranges from images."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "train.npz")
        np.savez(data, images=images)
        qrt_command("quantize", program, "--data", data, "-o", output)


def qrt_run(program: Path, images: Array) -> Array:
    """The logits that a program computes, through .npy files."""
    with tempfile.TemporaryDirectory() as folder:
        images_file, logits_file = Path(folder, "images.npy"), Path(folder, "logits.npy")
        np.save(images_file, images)
        qrt_command("run", program, "--input", f"images={images_file}", "--output", f"logits={logits_file}")
        logits: Array = np.load(logits_file)
        return logits


def microseconds_per_image(run: Callable[[Array], object], images: Array) -> float:
    """The best of ten runs over all the images."""
    seconds = []
    for _ in range(10):
        start = time.perf_counter()
        run(images)
        seconds.append(time.perf_counter() - start)
    return min(seconds) / len(images) * 1e6


def constants(module: qrt.ir.Module) -> list[Array]:
    """The tensors of integers that a quantized program reads as weights and biases."""
    stored = [op.operands[0].operation for op in module.operation.walk() if op.name == "quant.scast"]
    return [op.attributes["value"].python for op in stored if op is not None and op.name == "arith.constant"]


def table(digits: Digits, network: Network, program: Path, logits: dict[str, Array]) -> str:
    """Both networks side by side."""
    module = qrt.load(program)
    compiled = qrt.compile(module)
    times = (
        microseconds_per_image(lambda images: network.forward(images, unrounded), digits.test_images),
        microseconds_per_image(compiled, digits.test_images),
    )
    scores = [accuracy(one, digits.test_labels) for one in logits.values()]
    sizes = [sum(array.nbytes for array in arrays) / 1000 for arrays in (vars(network).values(), constants(module))]
    agreement = accuracy(logits["int8"], logits["float32"].argmax(axis=1))
    return "\n".join([
        f"{'':24}{'float32, NumPy':>16}{'int8, qrt':>16}",
        f"{'accuracy':24}{scores[0]:>16.2%}{scores[1]:>16.2%}",
        f"{'same answer':24}{'':16}{agreement:>16.2%}",
        f"{'weights and biases':24}{sizes[0]:>13.1f} kB{sizes[1]:>13.1f} kB",
        f"{'time per image':24}{times[0]:>13.1f} us{times[1]:>13.1f} us",
    ])  # fmt: skip


def pictures(images: Array, labels: NDArray[np.integer], predictions: NDArray[np.integer]) -> str:
    """The images side by side, each over what was predicted and what it is."""
    shades = np.array(list(SHADES))[np.rint(images[..., 0] * (len(SHADES) - 1)).astype(int)]
    rows = ["  ".join("".join(image[row].repeat(2)) for image in shades) for row in range(8)]
    captions = (f"{p} ({'right' if p == t else f'is {t}'})" for p, t in zip(predictions, labels, strict=True))
    return "\n".join([*rows, "  ".join(f"{caption:^16}" for caption in captions)])


def main(arguments: list[str] | None = None) -> int:
    """The whole way from the images to the comparison; returns the exit status."""
    parser = argparse.ArgumentParser(description="handwritten digits, from float training to an int8 program")
    parser.add_argument(
        "--program",
        type=Path,
        default=PROGRAM,
        help="where to write the program, and beside it that in floats (%(default)s)",
    )
    program: Path = parser.parse_args(arguments).program

    digits = load()
    start = time.perf_counter()
    with threadpool_limits(limits=1):  # products this small lose time to BLAS's threads
        network = train(digits.train_images, digits.train_labels)
    print(f"trained on {len(digits.train_images)} images in {time.perf_counter() - start:.1f} s")
    in_floats = program.with_stem(f"{program.stem}_float")
    in_floats.write_text(write_float(network), encoding="utf-8")
    qrt_quantize(in_floats, digits.train_images, program)
    print(f"wrote {in_floats} and {program}; running it on {len(digits.test_images)} held-out images\n")

    logits = {
        "float32": network.forward(digits.test_images, unrounded).logits,
        "int8": qrt_run(program, digits.test_images),
    }
    print(table(digits, network, program, logits), end="\n\n")

    predictions = logits["int8"].argmax(axis=1)
    right = predictions == digits.test_labels
    shown = [image for digit in (0, 3, 5, 8) for image in np.flatnonzero(right & (digits.test_labels == digit))[:1]]
    shown += list(np.flatnonzero(~right)[:2])
    print(pictures(digits.test_images[shown], digits.test_labels[shown], predictions[shown]))

    float32, int8 = (accuracy(one, digits.test_labels) for one in logits.values())
    if int8 < 0.95 or abs(int8 - float32) > 0.01:
        print("the int8 program is not as good as it has to be", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
