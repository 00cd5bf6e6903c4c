"""Detection of x86-64 processors other than this one. A feature is what the CPU has, the operating system saves and,
for tiles, Linux grants: with any part of it missing the first instruction would end the process."""

import platform
import subprocess
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import pytest

from tests.kernels.compiled import compiled

pytestmark = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="the answers are those of Linux on x86-64"
)

AVX2, FMA, AVX512, AVX512_VNNI, AVX_VNNI, AMX, AVX512_VBMI = (1 << bit for bit in range(7))


@dataclass(frozen=True)
class Machine:
    """Sapphire Rapids under Linux, unless told otherwise."""

    leaf1_ecx: int = 1 << 12 | 1 << 27 | 1 << 29  # FMA, OSXSAVE, F16C
    leaf7_ebx: int = 1 << 5 | 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31  # AVX2, AVX-512 F, DQ, BW, VL
    leaf7_ecx: int = 1 << 1 | 1 << 11  # AVX512-VBMI, AVX512-VNNI
    leaf7_edx: int = 1 << 24 | 1 << 25  # AMX-TILE, AMX-INT8
    leaf7_1_eax: int = 1 << 4  # AVX-VNNI
    palette_eax: int = 1024 << 16 | 8192
    palette_ebx: int = 8 << 16 | 64
    palette_ecx: int = 16
    xcr0: int = 0x602E7
    granted: int = 1


ALL = AVX2 | FMA | AVX512 | AVX512_VNNI | AVX_VNNI | AMX | AVX512_VBMI
MACHINE = Machine()


@pytest.fixture(scope="module")
def detect(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("cpu", tmp_path_factory.mktemp("cpu"))


@pytest.mark.parametrize(
    ("machine", "features"),
    [
        (MACHINE, ALL),
        (replace(MACHINE, leaf1_ecx=1 << 12), 0),  # no OSXSAVE: XGETBV itself would fault
        (replace(MACHINE, leaf1_ecx=1 << 12 | 1 << 27), ALL & ~AVX2),  # no F16C, which the casts of avx2 use
        (replace(MACHINE, xcr0=3), 0),
        (replace(MACHINE, xcr0=7), AVX2 | FMA | AVX_VNNI),
        (replace(MACHINE, xcr0=0xE7), ALL & ~AMX),
        (replace(MACHINE, xcr0=0x200E7), ALL & ~AMX),  # tile configuration without tile data
        (replace(MACHINE, granted=0), ALL & ~AMX),
        (replace(MACHINE, leaf7_edx=1 << 24), ALL & ~AMX),  # tiles without 8-bit products
        (replace(MACHINE, palette_ebx=4 << 16 | 64), ALL & ~AMX),
        (replace(MACHINE, leaf7_1_eax=0), ALL & ~AVX_VNNI),
        (replace(MACHINE, leaf7_ecx=1 << 1), ALL & ~AVX512_VNNI),
        (replace(MACHINE, leaf7_ecx=1 << 11), ALL & ~AVX512_VBMI),  # Cascade Lake
        (replace(MACHINE, leaf7_ebx=1 << 5), AVX2 | FMA | AVX_VNNI),  # Alder Lake
        (replace(MACHINE, leaf7_ebx=1 << 5 | 1 << 16), AVX2 | FMA | AVX_VNNI),  # AVX-512 F alone
    ],
)
def test_features(detect: Path, machine: Machine, features: int) -> None:
    words = [f"{word:x}" for word in astuple(machine)]
    assert int(subprocess.run([detect, *words], check=True, capture_output=True, text=True).stdout) == features
