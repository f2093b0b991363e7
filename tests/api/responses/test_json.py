"""How values are written."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from django.utils.translation import gettext_lazy

from config.api.responses import JSONRenderer, iso, to_json

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (NOON, "2026-03-01T12:00:00Z"),
        (NOON.replace(microsecond=5), "2026-03-01T12:00:00.000005Z"),
        (NOON.astimezone(timezone(timedelta(hours=2))), "2026-03-01T12:00:00Z"),
    ],
)
def test_a_time_is_utc_and_ends_in_z(moment: datetime, written: str) -> None:
    assert iso(moment) == written


@pytest.mark.parametrize("moment", [NOON, NOON.replace(microsecond=123456)])
def test_answers_write_times_as_the_function_does(moment: datetime) -> None:
    assert to_json(moment).decode() == f'"{iso(moment)}"'


def test_ids_are_lower_case_and_lazy_texts_are_texts() -> None:
    data = {"id": UUID("0B7A4D9E-C0DE-4000-8000-00000000ABCD"), "label": gettext_lazy("Thing")}
    assert JSONRenderer().render(data) == b'{"id":"0b7a4d9e-c0de-4000-8000-00000000abcd","label":"Thing"}'


def test_what_has_no_json_form_is_a_fault() -> None:
    with pytest.raises(TypeError):
        to_json(object())
