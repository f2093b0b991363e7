"""Names and counts refused fields."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS
from django.core.exceptions import ValidationError as ModelValidationError

WHOLE = "non_field_errors"
NAMELESS = frozenset({WHOLE, NON_FIELD_ERRORS, ""})


def _walk(detail: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(detail, Mapping):
        for name, below in detail.items():
            yield from _walk(below, _join(path, str(name)))
    elif isinstance(detail, list | tuple):
        for position, below in enumerate(detail):
            leaf = not isinstance(below, Mapping | list | tuple)
            yield from _walk(below, path if leaf else _join(path, str(position)))
    else:
        yield path or WHOLE, str(detail)


def _join(path: str, name: str) -> str:
    if name in NAMELESS:
        return path
    return f"{path}.{name}" if path else name


def flatten(detail: Any) -> dict[str, list[str]]:
    """Turn nested errors into dotted paths: `{"owner": {"email": […]}}` becomes `{"owner.email": […]}`."""
    errors: dict[str, list[str]] = {}
    for path, sentence in _walk(detail, ""):
        errors.setdefault(path, []).append(sentence)
    return errors


def flatten_model_error(error: ModelValidationError) -> dict[str, list[str]]:
    return flatten(error.message_dict if hasattr(error, "error_dict") else error.messages)


def summary(errors: Mapping[str, list[str]]) -> str:
    """Return the first error's sentence and the number of further errors."""
    sentences = [sentence for found in errors.values() for sentence in found]
    more = len(sentences) - 1
    if more < 1:
        return sentences[0] if sentences else "The data is not valid."
    return f"{sentences[0]} (and {more} more error{'s' if more > 1 else ''})"
