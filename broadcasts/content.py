"""A broadcast's message: its variables, its frozen form, and the text for each recipient."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Self
from uuid import uuid4

import orjson

# A name may contain blanks, but may not begin or end with a blank.
VARIABLE: Final = re.compile(r"\{\{\s*([a-z]+\.[A-Za-z0-9_-](?:[A-Za-z0-9_ -]{0,62}[A-Za-z0-9_-])?)\s*\}\}")


def variables_in(message: object) -> Iterator[str]:
    """Yield the name of every variable in a message's texts, such as `contact.name`; repeats included."""
    if isinstance(message, str):
        yield from (found[1] for found in VARIABLE.finditer(message))
    elif isinstance(message, Mapping | list | tuple):
        for below in message.values() if isinstance(message, Mapping) else message:
            yield from variables_in(below)


def map_texts(message: object, write: Callable[[str], str]) -> Any:
    """Return a copy of a message in which `write` has changed each text."""
    if isinstance(message, str):
        return write(message)
    if isinstance(message, Mapping):
        return {name: map_texts(below, write) for name, below in message.items()}
    if isinstance(message, list | tuple):
        return [map_texts(below, write) for below in message]
    return message


@dataclass(frozen=True, slots=True)
class FrozenMessage:
    """A message as it was when sending began, kept as JSON in `Broadcast.frozen`.

    It has either `text` or `template` ({name, language, components}, in the provider's form). The workspace's own
    variables are already filled in. `variables` names the contacts' variables that are left, each once, in the order of
    `Recipient.values`. `fallbacks` has the text for contacts without a value, by variable.

    `links` are the addresses that tracked links replace, in the order of their numbers; without tracking it is empty.
    In text and template `{{link.N}}` stands for a tracked link, and `{{token.N}}` for its last part, which a button
    takes. An address may contain variables too.
    """

    text: str = ""
    template: Mapping[str, Any] | None = None
    variables: Sequence[str] = ()
    links: Sequence[str] = ()
    fallbacks: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        return {
            "text": self.text,
            "template": self.template,
            "variables": list(self.variables),
            "links": list(self.links),
            "fallbacks": dict(self.fallbacks),
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        return cls(
            kept["text"], kept["template"], tuple(kept["variables"]), tuple(kept["links"]), kept.get("fallbacks") or {}
        )

    def for_recipient(
        self, values: Sequence[str] | None, link: Callable[[int], str] | None = None
    ) -> tuple[str, Mapping[str, Any] | None]:
        """Return the text and template for one recipient.

        `link` returns the tracked link for a number. Without it recipients see the original addresses.
        """
        if not self.variables and not self.links:
            return self.text, self.template
        write = partial(_written, self.names_of(values, link))
        return write(self.text), map_texts(self.template, write) if self.template else None

    def names_of(self, values: Sequence[str] | None, link: Callable[[int], str] | None = None) -> dict[str, str]:
        """Return the value of each variable for one recipient, by its name. See `for_recipient` for the arguments."""
        by_name = dict(zip(self.variables, values or (), strict=False))
        for number, address in enumerate(self.links):
            written = link(number) if link else _written(by_name, address)
            by_name[f"link.{number}"] = written
            by_name[f"token.{number}"] = written.rpartition("/")[2] if link else written
        return by_name


def _written(by_name: Mapping[str, str], text: str) -> str:
    return VARIABLE.sub(lambda found: by_name.get(found[1], ""), text) if "{{" in text else text


class JsonTemplate:
    """A value that is serialized to JSON once, with gaps for the variables in its texts."""

    __slots__ = ("_form", "_names")

    def __init__(self, value: object) -> None:
        mark = uuid4().hex  # random, so that no text contains it
        marked = map_texts(value, partial(VARIABLE.sub, rf"{mark}\g<1>{mark}"))
        pieces = orjson.dumps(marked).split(mark.encode())
        self._names = [name.decode() for name in pieces[1::2]]
        self._form = b"%b".join(piece.replace(b"%", b"%%") for piece in pieces[::2])

    def with_names(self, by_name: Mapping[str, str]) -> orjson.Fragment:
        """Return the JSON with the variables filled in. A missing variable becomes an empty text."""
        return orjson.Fragment(self._form % tuple([_inside_quotes(by_name.get(name, "")) for name in self._names]))


def _inside_quotes(text: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError(text)
    return orjson.dumps(text)[1:-1]
