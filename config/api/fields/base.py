"""The base of every field: errors that name the field, and an example for the documents."""

from typing import Any, NoReturn

from rest_framework import serializers

UNSET: Any = serializers.empty


def path_of(field: serializers.BaseSerializer[Any] | serializers.Field[Any, Any, Any, Any]) -> str:
    """Return a field's dotted path below the body, such as `owner.email`. The path of the body itself is empty."""
    names: list[str] = []
    link: Any = field
    while link is not None:
        names.append(link.field_name or "")
        link = link.parent
    return ".".join(name for name in reversed(names) if name)


def subject_of(field: serializers.Field[Any, Any, Any, Any]) -> str:
    """Return a sentence's subject: `The owner.email field`, `Each entry of the order field`, `The body`."""
    path = path_of(field).replace("_", " ")
    if not path:
        return "The body"
    return f"The {path} field" if field.field_name else f"Each entry of the {path} field"


class FieldErrors(serializers.Field[Any, Any, Any, Any]):
    """A field whose errors name it. Messages may use `{subject}`."""

    default_error_messages = {
        "required": "{subject} is required.",
        "null": "{subject} is required.",
    }

    def fail(self, key: str, **parameters: Any) -> NoReturn:
        super().fail(key, subject=subject_of(self), **parameters)


class Field(FieldErrors):
    """A field with one value.

    The documents show `example`; without it an example is made from the type. `is_written_as_it_is` says that the JSON
    writer takes the value without a conversion.
    """

    is_written_as_it_is: bool = True

    def __init__(self, *choices: Any, example: Any = UNSET, **options: Any) -> None:
        super().__init__(*choices, **options)
        self.example_value = example
