"""What the documents show passes a type checker in its strict mode, as a reader's own code would."""

import subprocess
import sys

from tests.docs.documents import ROOT
from tests.docs.snippets import write

WRONG = 'import qrt\n\nt = qrt.UniformType("i8", "f32", 0.5)\nqrt.qcast([1.0], t, rounding="up")\n'


def test_snippets_pass_mypy(tmp_path):
    """One with an option that no function has stands beside them: where it is not found, nothing is checked."""
    snippets = tmp_path / "snippets"
    assert write(snippets)
    (snippets / "wrong.py").write_text(WRONG)
    options = ("--follow-imports=silent", "--hide-error-context", "--no-pretty", "--cache-dir", tmp_path / "cache")
    done = subprocess.run([sys.executable, "-m", "mypy", *options, snippets], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    *found, _ = done.stdout.splitlines()
    assert [line for line in found if "wrong.py" not in line] == []
    assert "Literal['half_even', 'half_away', 'toward_zero']" in "".join(found)
