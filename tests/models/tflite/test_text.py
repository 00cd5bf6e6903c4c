"""The files at hand as text. Hazard: a program that runs, and whose text is another one, or none that MLIR reads."""

import os
from pathlib import Path

import pytest

import qrt
from tests import mlir_opt
from tests.models.tflite.oracle import MODELS, PROFILES

FILES = sorted((MODELS / "tflite").glob("*.tflite"))
pytestmark = pytest.mark.skipif(
    not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes a minute: make test-oracle runs it"
)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_model_reads_back_as_the_same_program(path: Path, profile: str) -> None:
    module = qrt.load(path, profile=profile)
    module.verify()
    assert qrt.ir.parse(str(module)) == module
    generic = module.print(generic=True)
    assert qrt.ir.parse(generic) == module
    accepted, said = mlir_opt.upstream(generic, "--allow-unregistered-dialect")
    assert accepted, said
