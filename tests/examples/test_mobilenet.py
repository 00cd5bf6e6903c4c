"""What is on a photograph. Hazards: an image upside down, colours in another order, a padded row, a label one off,
outputs that are not LiteRT's and said to be."""

import os
import struct
from importlib.util import find_spec

import numpy as np
import pytest

from examples.mobilenet import demo
from examples.mobilenet.bmp import read, resized

IMAGE = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
NEEDS = [
    pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="make test-oracle runs it"),
    pytest.mark.skipif(not demo.MODELS.exists(), reason="the models are not here"),
    pytest.mark.skipif(find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed"),
]


def bmp(rows, width, height, bits, palette=b"", compression=0):
    start = 54 + len(palette)
    head = b"BM" + struct.pack("<IHHI", start + len(rows), 0, 0, start)
    return head + struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, 0, 0, 0, 0, 0) + palette + rows


def stored(image):
    """Rows of whole words, blue first."""
    return [row[:, ::-1].tobytes() + b"\xff" * (-row.size % 4) for row in image]


@pytest.mark.parametrize("is_upright", [True, False])
def test_rows_of_24_bits(is_upright, tmp_path):
    path = tmp_path / "a.bmp"
    rows = stored(IMAGE)
    path.write_bytes(bmp(b"".join(rows[::-1] if is_upright else rows), 3, 2 if is_upright else -2, 24))
    np.testing.assert_array_equal(read(path), IMAGE)


def test_a_palette(tmp_path):
    path = tmp_path / "a.bmp"
    palette = b"".join(bytes([i, 2 * i % 256, 3 * i % 256, 0]) for i in range(256))
    path.write_bytes(bmp(b"\x05\x06\x07\x00" + b"\x01\x02\x03\x00", 3, 2, 8, palette))
    assert read(path)[0].tolist() == [[3, 2, 1], [6, 4, 2], [9, 6, 3]]
    assert read(path)[1, 0].tolist() == [15, 10, 5]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"P6", "is not a .bmp file"),
        (bmp(b"", 3, 2, 32), "32 bits"),
        (bmp(b"", 3, 2, 8, compression=1), "compression 1"),
    ],
)
def test_other_files_are_refused(content, said, tmp_path):
    path = tmp_path / "a.bmp"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=said):
        read(path)


def test_resizing():
    np.testing.assert_array_equal(resized(IMAGE, 2, 3), IMAGE)
    flat = np.full((7, 5, 3), 93, np.uint8)
    assert (resized(flat, 3, 11) == 93).all()
    edge = np.zeros((1, 8, 3), np.uint8)
    edge[:, 4:] = 200
    assert resized(edge, 1, 2)[0, :, 0].tolist() == [29, 171]  # the weights beyond the middle: 0.5 of 3.5
    assert resized(edge, 1, 16)[0, :, 0].tolist() == [0] * 7 + [50, 150] + [200] * 7


def test_the_first_of_equal_scores_leads():
    scores = np.uint8([0, 7, 255, 7])
    assert demo.top(scores, ["a", "b", "c", "d"], 3) == [("c", 255 / 256), ("b", 7 / 256), ("d", 7 / 256)]
    assert demo.bars([("c", 0.5)]) == f"   50.0%  {'#' * 15:30}  c"


@pytest.mark.parametrize("needs", [pytest.param(None, marks=NEEDS)])
def test_the_showcase(needs, monkeypatch, capsys):
    monkeypatch.setattr(demo, "ROUNDS", 1)
    monkeypatch.setattr(demo, "CALLS", 1)
    assert demo.main([]) == 0
    text = capsys.readouterr().out
    assert text.count("0 of 1,001 scores differ from LiteRT's") == 2
    portrait, cat = (part.splitlines()[1] for part in text.split("LiteRT's")[1:])
    assert portrait.endswith("  military uniform")
    assert cat.endswith("  Egyptian cat")
