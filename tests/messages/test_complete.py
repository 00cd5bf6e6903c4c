"""Every message that advises is followed by a test. Hazard: advice that nobody has tried."""

from importlib import import_module
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.messages.advice import ANYWHERE, TABLE, advice, messages, spans_of, unfollowed

PLACES = sorted(path.name for path in (ROOT / "qrt").iterdir() if path.suffix in ("", ".py") and path.name[0] != "_")
for path in Path(__file__).parent.glob("test_advice*.py"):
    import_module(f"{__package__}.{path.stem}")  # enters its tests into the table


@pytest.mark.parametrize("folder", PLACES)
def test_all_advice_is_followed(folder: str) -> None:
    missing = [
        f"qrt/{place}:{line}: {text!r} says {words!r}: no test follows it. Add one to tests/messages/test_advice*.py, "
        f'@advises("{place}", "a part of the message from these words on"), that gets the message and does what it says'
        for place, line, text in advice(folder)
        if (words := unfollowed(place, text))
    ]
    assert not missing, "\n".join(missing)


def test_what_is_followed_is_in_a_message() -> None:
    followed = [(place, part) for place, part in TABLE if place != ANYWHERE]
    folder = ROOT / "qrt"
    files = {place for place, _ in followed if (folder / place).exists()}
    texts = {place: [text for _, text in messages(folder / place)] for place in files}
    for place, part in followed:
        has_part = any(spans_of(part, text) for text in texts.get(place, ()))
        assert has_part, f"qrt/{place} has no message with {part!r}: name the file that has it, or remove the test"
