"""Tables by name. Hazards: an entry that is imported before it is asked for; a package that hides an entry of qrt, or
is asked by who does not use it; unknown and does not say which are known."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from qrt import registry
from qrt.errors import QuantError, QuantTypeError
from qrt.registry import Registry


@pytest.fixture(autouse=True)
def _forget() -> Any:
    yield
    registry.installed.cache_clear()


def installed(monkeypatch: pytest.MonkeyPatch, **places: str) -> None:
    entries = {name: EntryPoint(name, place, "a.group") for name, place in places.items()}
    monkeypatch.setattr(registry, "installed", lambda group: entries if group == "a.group" else {})


def checked(name: str, value: Any) -> float:
    if not isinstance(value, float):
        raise QuantTypeError(f"{name} is no float")
    return value


def table(**entries: Any) -> Registry[float]:
    return Registry("constant", entries, group="a.group", check=checked)


def test_an_entry_is_imported_when_it_is_asked_for() -> None:
    program = (
        "import sys; from qrt.registry import Registry; t = Registry('module', {'a': 'this:s'}); "
        "print([*t], 'a' in t, len(t), 'this' in sys.modules, 'importlib.metadata' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["['a']", "True", "1", "False", "False"]


def test_a_place_is_an_attribute_or_a_module() -> None:
    assert Registry("thing", {"m": "math"})["m"].pi == table(pi="math:pi")["pi"]
    with pytest.raises(KeyError):
        table()["pi"]
    assert table().get("pi") is None


def test_packages_are_asked_last_and_never_hide_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, pi="math:e", tau="math:tau")
    constants = table(pi="math:pi")
    assert [*constants] == ["pi", "tau"]
    assert len(constants) == 2
    assert constants["pi"] == pytest.approx(3.14, abs=0.01)
    assert constants["tau"] == 2 * constants["pi"]
    assert "tau" not in Registry("constant", {}, group="another")


def test_what_is_known_asks_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(group: str) -> dict[str, EntryPoint]:
        raise AssertionError("installed packages are asked")

    monkeypatch.setattr(registry, "installed", fail)
    constants = table(pi="math:pi")
    constants.add("e", 2.7)
    assert "pi" in constants
    assert constants["pi"] + constants["e"] > 5


@pytest.mark.parametrize(
    ("place", "why"),
    [("no_such:x", "No module named"), ("math:no_such", "no attribute"), ("math:sin", "broken is no float")],
)
def test_a_package_that_does_not_load_is_named(place: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, broken=place)
    with pytest.raises(
        QuantError, match=f"the constant 'broken' cannot be loaded from the entry point {place}: .*{why}"
    ):
        table()["broken"]


def test_a_name_that_is_unknown_says_which_are_known() -> None:
    constants = table(pi="math:pi", e="math:e")
    assert constants.unknown("pie") == "there is no constant 'pie': did you mean 'pi'? There are pi, e"
    assert constants.unknown("zzz") == "there is no constant 'zzz': there are pi, e"
    assert constants.unknown(3) == "there is no constant 3: there are pi, e"


def test_what_is_added_twice_is_refused_unless_it_is_the_same() -> None:
    constants = table(pi="math:pi")
    constants.add("e", 2.7)
    constants.add("e", 2.7)
    with pytest.raises(QuantError, match="a constant named 'e' is registered already"):
        constants.add("e", 2.8)
    constants.add("e", 2.8, replaces=True)
    assert constants["e"] == 2.8
    with pytest.raises(QuantError, match="a constant named 'pi' is registered already"):
        constants.add("pi", 3.0, replaces=True)
    with pytest.raises(QuantTypeError, match="tau is no float"):
        constants.add("tau", 6)
    assert "tau" not in constants
