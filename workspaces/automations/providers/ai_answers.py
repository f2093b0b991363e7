"""Reads what an A.I. provider answers: finds the JSON object, and checks it against its schema and the facts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson

# A value nests at most this deep; schemas of ours nest three levels.
DEEPEST: Final = 8
LONGEST_TEXT: Final = 4_000
MOST_ITEMS: Final = 100
TYPES: Final[dict[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def object_in(text: str) -> dict[str, Any] | None:
    """Find the JSON object in a text, which may surround it with prose or a code fence; None without one."""
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        return None
    try:
        found = orjson.loads(text[begin : end + 1])
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def fits(value: Any, schema: Mapping[str, Any], *, depth: int = 0) -> bool:
    """Return whether a value fits a schema of ours.

    This knows `type`, `enum`, `properties`, `required`, `items`, `maxLength` and `maxItems`. An object may have no
    other properties than the declared ones, whatever the schema says. Texts and lists are bounded in any case.
    """
    if depth > DEEPEST or not _has_type(value, schema.get("type")):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, str):
        return len(value) <= min(int(schema.get("maxLength", LONGEST_TEXT)), LONGEST_TEXT)
    if isinstance(value, list):
        most = min(int(schema.get("maxItems", MOST_ITEMS)), MOST_ITEMS)
        return len(value) <= most and all(fits(one, schema.get("items", {}), depth=depth + 1) for one in value)
    if isinstance(value, dict):
        return _object_fits(value, schema, depth)
    return True


def _object_fits(value: Mapping[str, Any], schema: Mapping[str, Any], depth: int) -> bool:
    properties: Mapping[str, Any] = schema.get("properties", {})
    if not set(schema.get("required", ())) <= value.keys() <= properties.keys():
        return False
    return all(fits(one, properties[name], depth=depth + 1) for name, one in value.items())


def _has_type(value: Any, wanted: str | Sequence[str] | None) -> bool:
    if wanted is None:
        return True
    names = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, TYPES.get(name, ())) for name in names)


# Links in any spelling that a messenger makes clickable, and numbers of two digits or more.
LINK: Final = re.compile(
    r"\w{2,20}://\S{1,500}|(?<![\w@.])(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w.])(?:/\S{0,500})?|\S{1,64}@\S{1,200}"
)
NUMBER: Final = re.compile(r"\d(?:[\d.,:/ \u00a0-]{0,30}\d)+")
DIGITS: Final = re.compile(r"\D+")


def unknown_links_and_numbers(text: str, sources: Iterable[str]) -> list[str]:
    """Return the links and numbers of an answer that no source contains. Numbers are compared by their digits."""
    known = "\n".join(sources)
    folded, digits = known.casefold(), {DIGITS.sub("", one) for one in NUMBER.findall(known)}
    links = [one.rstrip(".,;:!?)").casefold() for one in LINK.findall(text)]
    strange = [one for one in links if not re.search(rf"(?<![\w.-]){re.escape(one)}(?![\w-])", folded)]
    rest = LINK.sub(" ", text)
    return strange + [one for one in NUMBER.findall(rest) if DIGITS.sub("", one) not in digits]
