"""Settings are arguments, attributes and parts of a signature at once."""

from __future__ import annotations

import inspect

import pytest
from smdebug._hook.settings import Configured, Setting
from smdebug.exceptions import SMDebugTypeError, SMDebugValueError


def _whole(name: str, given: object) -> int:
    if not isinstance(given, int):
        raise SMDebugTypeError(f"{name}: {given!r}")
    return given


def _positive(name: str, given: object) -> int:
    if _whole(name, given) < 1:
        raise SMDebugValueError(f"{name}: {given!r}")
    return _whole(name, given)


class Base(Configured):
    first: Setting[int, int] = Setting("The first.", _whole, default=1)
    last: Setting[int, int] = Setting("The last.", _whole, default=9, kw_only=True)


class Own(Base):
    """Needs what its base does not, and has one more."""

    first: Setting[int, int] = Setting("The first, above 0.", _positive)
    second: Setting[int, int] = Setting("The second.", _whole, default=2)

    def _set_up(self) -> None:
        super()._set_up()
        self.total = self.first + self.second + self.last


class Further(Own):
    def __init__(self, *args: int) -> None:
        super().__init__(*args, last=0)


def test_the_signature_has_the_settings_of_bases_first() -> None:
    assert str(inspect.signature(Base)) == "(first=1, *, last=9)"
    assert str(inspect.signature(Own)) == "(first, second=2, *, last=9)"
    assert list(inspect.signature(Further).parameters) == ["args"]
    assert (
        Own.__init__.__doc__ == "first: The first, above 0.\nlast: The last.\nsecond: The second."
    )


def test_arguments_become_attributes_before_the_set_up() -> None:
    assert (Base().first, Base(3).first, Base(last=4).last) == (1, 3, 4)
    assert Own(3, 4).total == 16
    assert Own(3, last=0).total == 5
    assert Further(3, 4).total == 7


@pytest.mark.parametrize(
    ("arguments", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"third": 3}), ((1,), {"first": 1})]
)
def test_a_wrong_call_is_refused_as_python_does(
    arguments: tuple[int, ...], named: dict[str, int]
) -> None:
    with pytest.raises(TypeError):
        Own(*arguments, **named)


def test_whatever_a_setting_is_set_to_is_checked() -> None:
    with pytest.raises(SMDebugValueError, match="first: 0"):
        Own(0)
    own = Own(1)
    own.second = 5
    assert own.second == 5
    with pytest.raises(SMDebugTypeError, match="second: 'x'"):
        own.second = "x"  # type: ignore[assignment]
    assert own.second == 5


def test_what_was_not_set_up_has_no_settings() -> None:
    with pytest.raises(AttributeError, match="Own has no first yet"):
        _ = Own.__new__(Own).first
