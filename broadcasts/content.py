"""A broadcast's message: its variables, what is fixed when sending begins, and what one recipient gets of it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

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
        by_name = dict(zip(self.variables, values or (), strict=False))

        def write(text: str) -> str:
            return VARIABLE.sub(lambda found: by_name.get(found[1], ""), text) if "{{" in text else text

        for number, address in enumerate(self.links):
            written = link(number) if link else write(address)
            by_name[f"link.{number}"] = written
            by_name[f"token.{number}"] = written.rpartition("/")[2] if link else written
        return write(self.text), filled(self.template, write) if self.template else None
