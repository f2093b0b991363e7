"""A broadcast's message: its variables, what is fixed when sending begins, and what one recipient gets of it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self
from uuid import uuid4

import orjson

# A name may hold blanks, not begin or end with them.
VARIABLE: Final = re.compile(r"\{\{\s*([a-z]+\.[A-Za-z0-9_-](?:[A-Za-z0-9_ -]{0,62}[A-Za-z0-9_-])?)\s*\}\}")


def variables_in(message: Any) -> Iterator[str]:
    """Give the names of the variables in all texts of a message, such as `contact.name`, each as often as it stands."""
    if isinstance(message, str):
        yield from (found[1] for found in VARIABLE.finditer(message))
    elif isinstance(message, Mapping | list | tuple):
        for below in message.values() if isinstance(message, Mapping) else message:
            yield from variables_in(below)


def filled(message: Any, write: Callable[[str], str]) -> Any:
    """Give a message of the same form in which `write` has changed each text."""
    if isinstance(message, str):
        return write(message)
    if isinstance(message, Mapping):
        return {name: filled(below, write) for name, below in message.items()}
    if isinstance(message, list | tuple):
        return [filled(below, write) for below in message]
    return message


@dataclass(frozen=True, slots=True)
class FrozenMessage:
    """A message as it was when sending began, kept as JSON in `Broadcast.frozen`.

    Either `text` or `template` ({name, language, components}, as a provider takes it). The workspace's own variables
    are filled in; `variables` are those of contacts that are left, each once, in the order of `Recipient.values`.
    `links` are the addresses that are replaced by tracked links, in the order of their numbers; empty where none is. In
    text and template `{{link.N}}` stands for such a link and `{{token.N}}` for its last part, which a button takes;
    an address may hold variables itself.
    """

    text: str = ""
    template: Mapping[str, Any] | None = None
    variables: Sequence[str] = ()
    links: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "template": self.template,
            "variables": list(self.variables),
            "links": list(self.links),
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        return cls(kept["text"], kept["template"], tuple(kept["variables"]), tuple(kept["links"]))

    def for_recipient(
        self, values: Sequence[str] | None, link: Callable[[int], str] | None = None
    ) -> tuple[str, Mapping[str, Any] | None]:
        """Give text and template as one recipient gets them.

        `link` gives the tracked link of a number; without it people would see the addresses themselves.
        """
        if not self.variables and not self.links:
            return self.text, self.template
        write = partial(_written, self.names_of(values, link))
        return write(self.text), filled(self.template, write) if self.template else None

    def names_of(self, values: Sequence[str] | None, link: Callable[[int], str] | None = None) -> dict[str, str]:
        """Give by its name what stands for each variable in what one recipient gets; see `for_recipient`."""
        by_name = dict(zip(self.variables, values or (), strict=False))
        for number, address in enumerate(self.links):
            written = link(number) if link else _written(by_name, address)
            by_name[f"link.{number}"] = written
            by_name[f"token.{number}"] = written.rpartition("/")[2] if link else written
        return by_name


def _written(by_name: Mapping[str, str], text: str) -> str:
    return VARIABLE.sub(lambda found: by_name.get(found[1], ""), text) if "{{" in text else text


class WrittenJson:
    """A value whose JSON is written once, but for the variables in its texts."""

    __slots__ = ("_form", "_names")

    def __init__(self, value: Any) -> None:
        mark = uuid4().hex  # stands in no text
        marked = filled(value, partial(VARIABLE.sub, rf"{mark}\g<1>{mark}"))
        pieces = orjson.dumps(marked).split(mark.encode())
        self._names = [name.decode() for name in pieces[1::2]]
        self._form = b"%b".join(piece.replace(b"%", b"%%") for piece in pieces[::2])

    def with_names(self, by_name: Mapping[str, str]) -> orjson.Fragment:
        """Give the JSON with what stands for each variable; those that are missing are empty."""
        return orjson.Fragment(self._form % tuple([_inside_quotes(by_name.get(name, "")) for name in self._names]))


def _inside_quotes(text: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError(text)
    return orjson.dumps(text)[1:-1]
