"""No transformation changes a value: 2,000 programs before and after passes. Hazards: an identity that holds for most
values, a cast through a narrower type, an op run where it did not run, IR that no longer verifies.

`python -m tests.ir.passes.values` draws more."""

from tests.ir.passes.values.report import swept


def test_passes_preserve_every_value(capsys):
    report = swept(2000, "1")
    with capsys.disabled():
        print(f"\n{report.text}")
    assert not report.failures, report.text
