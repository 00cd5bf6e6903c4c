"""Imports of a file's content in tests: the error of one that is refused, and the results of one that is not."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.ir import Module
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read


def imported(content: bytes, name: str = "litert") -> Module:
    """Return the program of a model by the rules of a profile."""
    return import_model(read(content), profile(name))


def refusal(content: bytes, name: str = "litert") -> str:
    """Return the error of a model that cannot be imported."""
    with pytest.raises(ModelError) as raised:
        imported(content, name)
    return str(raised.value)


def result_of(content: bytes, *arrays: np.ndarray, name: str = "litert") -> Any:
    """Return the result of a model, or its results, for these inputs."""
    return qrt.compile(imported(content, name))(*arrays)
