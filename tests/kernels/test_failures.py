"""Every allocation of every entry fails in turn, of binding and of calling: a clean error, and right bits afterwards.

Hazards: a pointer that is not looked at, a workspace whose size is kept though it was not got, packed weights that are
left half made. In a process of its own, in which the allocator is replaced."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels.compiled import compiled
from tests.kernels.draws import ISAS
from tests.kernels.sizes import ENTRIES


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="failing.c replaces glibc's allocator")
def test_every_allocation_fails_in_turn(tmp_path: Path) -> None:
    library = str(compiled("failing", tmp_path, "-shared", "-fPIC"))
    environment = os.environ | {"LD_PRELOAD": library, "QRT_FAILING_LIBRARY": library}
    isas = dict.fromkeys((ISAS[0], ISAS[-1]))
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.kernels.failures", ",".join(isas)]
    done = subprocess.run(
        command, env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.returncode}\n{done.stderr[-6000:]}"
    counts = json.loads(done.stdout)
    print(", ".join(f"{count} {name}" for name, count in counts.items()), *isas)
    assert counts["entries"] == len(ENTRIES)
    assert counts["failures"] > 200
