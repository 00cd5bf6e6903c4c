"""What tests compare with and a program writes: `python -m tests.expected`, or `make expected`, writes it anew.

The `.expected.mlir` files beside those of `tests/ir`, printed again, and of `tests/ir/passes/files`, after the pipeline
that their first line names; the table of op families in docs/reference/dialects/qrt.md; docs/reference/numpy.md,
quantization_rfc.md, requantization.md, tflite.md, onnx.md, targets_operations.md, api.md and the pages below api;
the picture of docs/internals/architecture.md. Look at the difference before you commit it.
"""

from pathlib import Path

from qrt import ir
from qrt.ops import FAMILIES
from tests.docs import architecture
from tests.docs.documents import DIALECTS, ROOT, family_row
from tests.messages import listing
from tests.reference import api_page, onnx_page, rfc, rules_page, targets_page, tflite_page
from tests.tensor.protocol import numpy_page

TESTS = Path(__file__).parent
SUFFIX = ".expected.mlir"
PRINTED = sorted(path for path in (TESTS / "ir").glob("*.mlir") if path.with_suffix(SUFFIX).exists())
PASSED = sorted(path for path in (TESTS / "ir" / "passes" / "files").glob("*.mlir") if not path.name.endswith(SUFFIX))
_HEAD = "| op | operands | attributes (default) | result |\n|---|---|---|---|\n"


def printed(path: Path) -> ir.Module:
    """A file of `tests/ir`."""
    module = ir.parse(path.read_text(), filename=path.name)
    module.verify(strict=True)
    return module


def passed(path: Path) -> ir.Module:
    """A file of `tests/ir/passes/files` after its pipeline."""
    text = path.read_text()
    return ir.run_passes(ir.parse(text, path.name), text.partition("\n")[0].removeprefix("//").strip())


def table_of_families() -> str:
    """The page, with the table as the declarations have it."""
    page = DIALECTS["qrt"].read_text()
    start = page.index(_HEAD) + len(_HEAD)
    rows = [family_row(family.declaration) for family in FAMILIES.values() if family.declaration.dialect == "qrt"]
    return page[:start] + "".join(f"{row}\n" for row in rows) + page[page.index("\n\n", start - 1) + 1 :]


def main() -> None:
    texts = {path.with_suffix(SUFFIX): str(printed(path)) for path in PRINTED}
    texts |= {path.with_suffix(SUFFIX): str(passed(path)) for path in PASSED}
    texts |= {DIALECTS["qrt"]: table_of_families(), numpy_page.PAGE: numpy_page.page()}
    texts |= {rfc.PAGE: rfc.page(), tflite_page.PAGE: tflite_page.page(), onnx_page.PAGE: onnx_page.page()}
    texts |= {targets_page.PAGE: targets_page.page(), listing.PATH: listing.page()}
    texts |= {rules_page.PAGE: rules_page.page(), architecture.PAGE: architecture.picture()}
    texts |= api_page.pages()
    api_page.FOLDER.mkdir(exist_ok=True)
    for path, text in texts.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
