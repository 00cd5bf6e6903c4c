"""Writes docs/accuracy.md, section by section, and says which thresholds are missed."""

from collections.abc import Mapping
from pathlib import Path

from benches.accuracy.measure import BUDGET, Case, Row

PAGE = Path(__file__).resolve().parents[2] / "docs" / "accuracy.md"
TITLES = {
    "digits": "digits: a convolutional network on scikit-learn's digits",
    "mnist": "mnist: a convolutional network with batch norm on 5,000 images of MNIST",
    "vowels": "vowels: a gated recurrent unit on the Japanese vowels",
    "peers": "Beside ONNX Runtime",
}
ABOUT = {
    "digits": "Two convolutions 3x3 of 16 and 32 channels with ReLU, a max pool, and a dense layer.",
    "mnist": "Two convolutions 3x3 of 8 and 16 channels, each with batch norm, ReLU and a max pool, and a dense layer.",
    "vowels": "A cell of 64 units in a function that is called once for each of 29 steps, and a dense layer. "
    "Zeros are put before shorter series.",
}
THRESHOLDS = {
    ("qrt-cpu", "cnn"): (0.99, 0.5, 41.0),
    ("int4-weights", "cnn"): (0.99, 2.0, 24.0),
    ("qrt-cpu", "gru"): (0.985, 0.5, 26.0),
    ("int4-weights", "gru"): (0.97, 2.0, 20.0),
}
"""By target and kind of network: the least share of same answers, the most points lost, the least decibels."""
HEAD = """# Accuracy of quantized networks

This page shows how much accuracy three networks lose when qrt quantizes them. It helps you to judge whether 8 or 4 bits
are enough for a network of your own, and which method and passes to use. Two commands measure again, and write their
own sections of this page. `make accuracy` trains each network in floats, quantizes it with its training data, and
compares the quantized program with the float program on held-out data. `make accuracy-peers` compares qrt with ONNX
Runtime, in the last section:

    make accuracy
    make accuracy-peers

`benches/accuracy` fixes the architectures, seeds, splits and data, and training gives the same bits on every machine.
The settings of the training were chosen with the held-out data, so that the figures are a little better than on data
that was never used. All operations of the quantized programs, except the casts of inputs and outputs, run in kernels:
`make accuracy` fails if the interpreter runs any of them.

## How to read the tables

| column | meaning |
|---|---|
| *target*, *method* | the options `--target` and `--method` of `qrt quantize` |
| *passes* | the [optional passes](reference/passes_optional.md) that ran; *auto* runs those that reduce the error \
on a sample of the training data. Rows are equal if a pass finds nothing to change, or if *auto* runs no pass |
| *same* | the share of held-out inputs to which both programs give the same answer |
| *lost* | the right answers of the float program minus those of the quantized program; a negative number is a gain |
| *signal-to-noise* | the signal-to-noise ratio of the logits, the outputs of the last layer |

One image of the digits is 0.28 percentage points of accuracy. Because this is coarse, the tables also have the
signal-to-noise ratio.

In the table of mnist, the method *entropy* gives bad results. In one channel of the first convolution, four fifths of
the values other than 0 are equal: those of the blank background. The method chooses a range in which this frequent
value has a storage integer of its own, and the values beyond the range saturate.

The table of the digits has two more kinds of rows. The row with `size=0.8` has the bit widths that the search chooses
for `--budget size=0.8`. The rows with *widths* have the given numbers of bits for the three weight tensors. There is a
row for each assignment of 4 and 8 bits that is small enough for this budget.

With the default options, method *mse* and passes *auto*, the networks must reach the limits of the next table, or
`make accuracy` fails. The networks digits and mnist are convolutional, vowels is recurrent. Here *lost* is in
percentage points; 2 lost answers are allowed even if they are more than 0.5 points:

| target | network | same, at least | lost, at most | signal-to-noise, at least |
|---|---|---:|---|---:|
| `qrt-cpu` | convolutional | 99% | 0.5 points, or 2 answers | 41 dB |
| `qrt-cpu` | recurrent | 98.5% | 0.5 points, or 2 answers | 26 dB |
| `int4-weights` | convolutional | 99% | 2 points | 24 dB |
| `int4-weights` | recurrent | 97% | 2 points | 20 dB |
"""


def section(case: Case, rows: list[Row]) -> str:
    """The lines of a network."""
    count, train = len(case.split.test), len(case.split.train)
    lines = [
        f"{ABOUT[case.name]} It is trained and calibrated on {train:,} inputs; {count:,} others are held out.",
        f"The float program gives the right answer for {case.right:,} of these, or {100 * case.right / count:.2f}%.",
        "",
        "| target | method | passes | same | lost | signal-to-noise |",
        "|---|---|---|---:|---:|---:|",
        *(f"| `{row.target}` | {row.method} | {row.passes} | {_numbers(row)} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _numbers(row: Row) -> str:
    return f"{100 * row.same / row.count:.2f}% | {row.lost} | {row.snr:.2f} dB"


def missed(case: Case, rows: list[Row]) -> list[str]:
    """Return the thresholds that the default method and passes miss."""
    found = []
    for row in rows:
        if (row.method, row.passes) != ("mse", "auto") or (row.target, _kind(case)) not in THRESHOLDS:
            continue
        same, points, snr = THRESHOLDS[row.target, _kind(case)]
        few = row.target == "qrt-cpu" and row.lost <= 2
        if row.same < same * row.count or row.snr < snr or (row.points > points and not few):
            found.append(f"{case.name}: {row} misses {same:.1%} same answers, {points} points or {snr} dB")
    return found + _missed_by_search(rows)


def _missed_by_search(rows: list[Row]) -> list[str]:
    """Return the budgets that gain less than 3 dB over 4 bits, or are 0.5 dB below the best assignment."""
    searched = [row for row in rows if BUDGET in row.passes]
    tried = [row.snr for row in rows if "widths" in row.passes]
    plain = [row.snr for row in rows if (row.target, row.method, row.passes) == ("int4-weights", "mse", "auto")]
    return [
        f"{BUDGET}: {row.snr:.2f} dB; int4-weights has {plain[0]:.2f} dB, and the best assignment {max(tried):.2f} dB"
        for row in searched
        if row.snr < plain[0] + 3 or row.snr < max(tried) - 0.5
    ]


def _kind(case: Case) -> str:
    return "gru" if case.name == "vowels" else "cnn"


def write(sections: Mapping[str, str]) -> None:
    """Writes the page: its head, these sections, and those others that it has."""
    parts = PAGE.read_text(encoding="utf-8").split("\n## ") if PAGE.exists() else []
    known = {part.partition("\n")[0]: part.partition("\n")[2] for part in parts[1:]}
    known |= {TITLES[name]: f"\n{text}" for name, text in sections.items()}
    texts = (f"\n## {title}\n{known[title].rstrip()}\n" for title in TITLES.values() if title in known)
    PAGE.write_text(HEAD + "".join(texts), encoding="utf-8")
