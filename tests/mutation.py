"""Deletes one verifier rule at a time and runs the tests of types and verifiers: one must fail. By hand, in minutes:

    python -m tests.mutation [--jobs N] [--since REVISION] [FILE ...]

Only rules with a line that is not in the revision, if one is said.
A rule is a `raise`, a constraint's `return "must be ..."`, a `check...`, `verify...` or `expect` that is a statement,
or what an op's definition says: an attribute's constraint, `required`, `verify` and `verify_signature`. The tests run
in a copy of the repository. Prints the rules that no test misses; the status is 1 if there are any.
"""

import argparse
import ast
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).parent.parent
FILES = (
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "qrt/ir/dialects/quant").glob("*.py")),
    "qrt/ir/core/constraints.py",
    "qrt/ir/core/discardable.py",
    "qrt/ir/core/define.py",
    "qrt/ir/core/traits.py",
    "qrt/ir/core/verifier.py",
    "qrt/types/parser.py",
    "qrt/types/quantized.py",
)
TESTS = (
    "tests/ir/test_invalid.py",
    "tests/ir/test_extras.py",
    "tests/ir/test_assembly.py",
    "tests/ir/test_traits.py",
    "tests/ir/test_verifier.py",
    "tests/ir/test_verdicts.py",
    "tests/ir/test_elementwise_verifiers.py",
    "tests/ir/dialects/quant",
    "tests/ir/dialects/test_linalg_verifiers.py",
    "tests/ir/dialects/test_tensor_verifiers.py",
    "tests/ir/test_attribute_names.py",
    "tests/ir/test_spellings.py",
    "tests/ir/test_affine.py",
    "tests/ir/test_unsupported.py",
    "tests/types",
    "tests/reference",
    "tests/ir/test_core.py",
    "tests/quantization/annotations/test_boundary.py",
)
SECONDS = 600


def rules(tree):
    """The parts of a module that are rules, each with what stands in its place once it is deleted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            yield node, "pass"
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.JoinedStr):
            if "must be" in ast.unparse(node):
                yield node, "return None"
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = ast.unparse(node.value.func).rpartition(".")[2].lstrip("_")
            if name == "expect":
                yield node, f"{ast.unparse(node.value.func.value)}.accept({ast.unparse(node.value.args[0])})"
            elif name.startswith(("check", "verify")):
                yield node, "pass"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "AttributeSpec" and node.args:
            yield node.args[0], "None"
        elif isinstance(node, ast.keyword) and node.arg in ("required", "verify", "verify_signature"):
            yield node, f"{node.arg}=None"


def lines_since(revision, file):
    """The lines of a file that a revision does not have."""
    command = ["git", "diff", "--unified=0", revision, "--", file]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    hunks = re.findall(r"^@@ \S+ \+(\d+)(?:,(\d+))?", text, re.MULTILINE)
    return {int(first) + i for first, count in hunks for i in range(int(count or 1))}


def without(text, node, replacement):
    """The text with a statement replaced; lines keep their numbers."""
    lines = text.splitlines(keepends=True)
    first, last = lines[node.lineno - 1], lines[node.end_lineno - 1]
    new = first[: node.col_offset] + replacement + last[node.end_col_offset :]
    return "".join([*lines[: node.lineno - 1], new, "\n" * (node.end_lineno - node.lineno), *lines[node.end_lineno :]])


def passes(folder, *options):
    """Whether all tests pass in a copy of the repository."""
    command = [sys.executable, *options, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *TESTS]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def survives(folder, file, text):
    """Whether all tests pass where a file has this text."""
    path = folder / file
    original = path.read_text()
    path.write_text(text)
    try:
        return passes(folder, "-B")  # the bytecode that is kept is of what the files say
    finally:
        path.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--since", metavar="REVISION")
    options = parser.parse_args()
    mutants = []
    for file in options.files:
        text = (ROOT / file).read_text()
        found = list(rules(ast.parse(text)))
        if options.since:
            changed = lines_since(options.since, file)
            found = [rule for rule in found if changed & set(range(rule[0].lineno, rule[0].end_lineno + 1))]
        mutants += [(file, node, without(text, node, new)) for node, new in found]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as pool:
        copies = Queue()
        for number in range(options.jobs):
            folder = Path(scratch) / str(number)
            shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "build", "__pycache__"))
            copies.put(folder)
            if not passes(folder):
                sys.exit("the tests fail before anything is deleted")

        def attempt(mutant):
            file, node, text = mutant
            folder = copies.get()
            survived = survives(folder, file, text)
            copies.put(folder)
            if survived:
                print(f"{file}:{node.lineno}: no test misses: {ast.unparse(node)[:100]}", flush=True)
            return survived

        survivors = sum(pool.map(attempt, mutants))
    print(f"{len(mutants)} rules, {survivors} of which no test misses")
    sys.exit(survivors > 0)


if __name__ == "__main__":
    main()
