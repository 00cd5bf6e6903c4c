"""`qrt opt --lower-quant-ops f.mlir | qrt run -` writes the bytes that `qrt run f.mlir` writes. Hazards: NaN,
infinities, ties, the ends of the storage type, blocks and channels of dynamic and unranked tensors, NaNs that the
processor would make of infinities."""

import io
import subprocess
import sys

import numpy as np
import pytest

from qrt.cli import main
from tests.oracle.draw_types import Draw
from tests.runtime.cast_variants import FORMS, RULES, Variant, variants

DRAWN = list(variants(Draw("lowered casts", noise=0)))


def program(casts: list[Variant]) -> str:
    """A qcast of floats and a dcast of storage integers for each variant."""
    arguments, lines, names, types = [], [], [], []
    for i, cast in enumerate(casts):
        arguments += [f"%x{i}: {cast.source}", f"%q{i}: {cast.result}"]
        lines += [
            f"  %s{i} = quant.qcast %x{i} {cast.attributes} : {cast.source} to {cast.result}\n",
            f"  %b{i} = quant.dcast %q{i} : {cast.result} to {cast.source}\n",
        ]
        names += [f"%s{i}", f"%b{i}"]
        types += [cast.result, cast.source]
    head = f"func.func @f({', '.join(arguments)}) -> ({', '.join(types)}) {{\n"
    return f"{head}{''.join(lines)}  return {', '.join(names)} : {', '.join(types)}\n}}\n"


class Files:
    """A program of casts, its operands, and the results of each run."""

    def __init__(self, folder, casts: list[Variant], seed: str) -> None:
        self.folder = folder
        self.count = 2 * len(casts)
        self.file = folder / "f.mlir"
        self.file.write_text(program(casts))
        draw = Draw(seed)
        operands = [operand for cast in casts for operand in (cast.floats(draw), cast.integers(draw))]
        for i, operand in enumerate(operands):
            np.save(folder / f"arg{i}.npy", operand)

    def options(self, *more: str) -> list[str]:
        """The arguments of `qrt run` after the file."""
        given = [f"--input=arg{i}={self.folder / f'arg{i}.npy'}" for i in range(self.count)]
        return [*given, *(f"--output=result{i}={self.folder / f'result{i}.npy'}" for i in range(self.count)), *more]

    def results(self) -> list[bytes]:
        return [(self.folder / f"result{i}.npy").read_bytes() for i in range(self.count)]


@pytest.mark.parametrize("form", FORMS)
def test_lowered_casts_write_the_same_bytes(form, tmp_path, monkeypatch, capsys):
    casts = [cast for cast in DRAWN if cast.form == form]
    files = Files(tmp_path, casts, f"operands {form}")

    def run(file, *options):
        assert main(["run", str(file), *files.options(*options)]) == 0
        return zip(casts, files.results()[::2], files.results()[1::2], strict=True)

    expected = list(run(files.file))
    assert list(run(files.file, "--interpret")) == expected
    assert main(["opt", str(files.file), "--lower-quant-ops"]) == 0
    lowered = capsys.readouterr().out
    assert "quant.qcast" not in lowered
    assert "quant.dcast" not in lowered
    for options in ([], ["--interpret"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lowered.encode())))
        assert list(run("-", *options)) == expected


def test_every_form_meets_every_rule():
    assert {(variant.form, variant.rule) for variant in DRAWN} == {(form, rule) for form in FORMS for rule in RULES}


def test_through_a_pipe(tmp_path):
    files = Files(tmp_path, DRAWN[90:95], "pipe")
    qrt = [sys.executable, "-m", "qrt"]
    subprocess.run([*qrt, "run", files.file, *files.options()], check=True)
    expected = files.results()
    lowered = subprocess.run([*qrt, "opt", files.file, "--lower-quant-ops"], stdout=subprocess.PIPE, check=True).stdout
    subprocess.run([*qrt, "run", "-", *files.options()], input=lowered, check=True)
    assert files.results() == expected


def test_a_lowered_cast_makes_the_one_nan(tmp_path):
    """q and the zero point are both infinite in f16: kernels, interpreter and lowered text make its positive NaN."""
    text = """func.func @f(%q: tensor<3x!quant.uniform<u32:f16, 1.0:70000>>) -> tensor<3xf16> {
  %0 = quant.dcast %q : tensor<3x!quant.uniform<u32:f16, 1.0:70000>> to tensor<3xf16>
  return %0 : tensor<3xf16>
}
"""
    (tmp_path / "f.mlir").write_text(text)
    lowered = tmp_path / "lowered.mlir"
    assert main(["opt", str(tmp_path / "f.mlir"), "--lower-quant-ops", "-o", str(lowered)]) == 0
    np.save(tmp_path / "q.npy", np.uint32([0, 65535, 70001]))
    for file, *options in ((tmp_path / "f.mlir",), (tmp_path / "f.mlir", "--interpret"), (lowered,)):
        out = tmp_path / "out.npy"
        given = [f"--input=arg0={tmp_path / 'q.npy'}", f"--output=result0={out}"]
        assert main(["run", str(file), *given, *options]) == 0
        np.testing.assert_array_equal(np.load(out).view(np.uint16), np.uint16([0xFC00, 0x7E00, 0x7E00]))
