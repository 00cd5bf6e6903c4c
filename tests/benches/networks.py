"""The networks of `make accuracy` with drawn weights and data."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.accuracy.data import Split
from benches.accuracy.train import Trainable, untrained

SHAPES = {"digits": (8, 8, 1), "mnist": (28, 28, 1), "vowels": (29, 12)}
CLASSES = {"digits": 10, "mnist": 10, "vowels": 9}


def drawn_split(name: str, count: int = 6, steps: int = 29) -> Split:
    rng = np.random.default_rng(4)
    shape = (steps, *SHAPES[name][1:]) if name == "vowels" else SHAPES[name]
    values = rng.random((2, count, *shape)).astype(np.float32) - (name == "vowels") * np.float32(0.5)
    labels = rng.integers(0, CLASSES[name], (2, count))
    return Split(values[0], labels[0], values[1], labels[1])


def drawn(name: str, split: Split) -> Trainable:
    """Every parameter is drawn, those too that begin with 0 or 1."""
    rng = np.random.default_rng(5)
    network = untrained(name, split, rng)
    for value in network.parameters.values():
        value += rng.normal(size=value.shape) * 0.1
    return network
