"""Hazards: a budget that is read as another number; a message that leaves the three forms to be guessed; an exception
of the user's metric that says neither which metric nor which trial; a NaN that compares as better than all."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError, QuantTypeError
from qrt.quantization.search.budget import Budget, measured


@pytest.mark.parametrize(
    ("text", "kind", "limit"),
    [
        ("size=0.6", "size", Fraction(3, 5)),
        (" snr = 33 ", "snr", Fraction(33)),
        ("snr=-3.5", "snr", Fraction(-7, 2)),
        ("drop=5e-3", "drop", Fraction(1, 200)),
        ("drop=0", "drop", Fraction(0)),
        ("SIZE=.75", "size", Fraction(3, 4)),
    ],
)
def test_a_budget_is_the_decimal_that_is_written(text: str, kind: str, limit: Fraction) -> None:
    """0.6 of 1,000 bits are 600: the double nearest to 0.6 would allow 599."""
    assert Budget.parse(text) == Budget(kind, limit)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "33",
        "snr",
        "snr=",
        "snr=33dB",
        "sise=0.6",
        "size=nan",
        "snr=inf",
        "size=1/2",
        "size=0x1",
        "drop=0.1,0.2",
        "size=-0.5",
        "drop=-1e-9",
        "snr=1e999999999",
        "snr=1_0",
        "size=0.6\nsnr=3",
        "size=" + "9" * 9999,
        None,
        33,
        b"snr=3",
    ],
)
def test_another_text_names_the_three_forms(text: Any) -> None:
    with pytest.raises(QuantTypeError, match=r"budget must be size=0\.6 .*, snr=33 .* or drop=0\.005 .*got ") as error:
        Budget.parse(text)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.25), np.array(2.0), Fraction(1, 2), np.int64(3)])
def test_metrics_are_real_numbers(value: Any) -> None:
    assert measured(lambda _: value, None, "trial 1") == float(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "returned nan"),
        (np.float32("inf"), "returned inf"),
        (10**400, "returned inf"),
        (None, "returned None"),
        ("0.5", "returned '0.5'"),
        (True, "returned True"),
        (1j, "returned 1j"),
        (np.zeros(3), "returned an ndarray of shape (3,)"),
        ([0.5], "returned [0.5]"),
    ],
)
def test_a_metric_that_is_no_number_is_named_with_its_trial(value: Any, said: str) -> None:
    def accuracy(_: Any) -> Any:
        return value

    with pytest.raises(
        ModelError, match=r"the metric .*accuracy. returned .* at trial 7: it must return a finite"
    ) as e:
        measured(accuracy, None, "trial 7")  # type: ignore[arg-type]
    assert said in str(e.value)


def test_a_metric_that_raises_is_named_with_its_trial() -> None:
    """The text of the exception may be long, or fail itself."""

    class Hostile(Exception):
        def __str__(self) -> str:
            raise ValueError("no text")

    def of(error: Exception) -> str:
        def recall(_: Any) -> float:
            raise error

        with pytest.raises(ModelError, match=r"the metric '.*recall' raised at trial 3: ") as found:
            measured(recall, None, "trial 3")  # type: ignore[arg-type]
        assert found.value.__cause__ is error
        return str(found.value)

    assert of(KeyError("logits")).endswith("KeyError: 'logits'")
    assert of(Hostile()).endswith("raised at trial 3: Hostile")
    assert len(of(ValueError("x" * 10_000))) < 500
    assert "\n" not in of(ValueError("one\ntwo"))
