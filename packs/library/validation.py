"""Validates the library's files, also as a system check. Each error names the file and the id."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from agency.limits import CHANNEL_TYPES
from config.db import name_key
from packs.library.loading import PLATFORM_PACKS, Industry, Library, build, read_files
from workspaces.automations.flows.checks import is_publishable, problems_of
from workspaces.automations.flows.copies import reasons_not_copyable, sanitized_copy
from workspaces.automations.flows.flow import Flow
from workspaces.automations.flows.privacy import private_content
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.subaccounts.models.workspaces import BusinessType

ITEM_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
FEWEST_ITEMS = 40
FEWEST_PER_INDUSTRY = 4
MOST_ENTRIES = 9


def file_errors(files: Mapping[str, object]) -> Iterator[str]:
    """Yield the files' errors. Without any, the library can be built."""
    yield from _structure_errors(files)
    items = list(_items(files))
    yield from _repetitions(items, _retired(files))
    for file, industry, item in items:
        yield from (f"{file}: {item.get('id')}: {error}" for error in _item_errors(industry, item))
    known = {item.get("id"): item for _, _, item in items}
    yield from (f"{PLATFORM_PACKS}: {error}" for error in _packs_errors(files.get(PLATFORM_PACKS), known))


def _structure_errors(files: Mapping[str, object]) -> Iterator[str]:
    for name, content in files.items():
        if name == PLATFORM_PACKS:
            continue
        industry = name.removesuffix(".json")
        if industry not in Industry.values:
            yield f"{name}: there is no industry of that name."
        elif not isinstance(content, dict) or content.get("industry") != industry:
            yield f"{name}: `industry` must be {industry}."
        elif not isinstance(content.get("automations"), list):
            yield f"{name}: `automations` must be a list."


def _items(files: Mapping[str, object]) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    for name, content in files.items():
        if name != PLATFORM_PACKS and isinstance(content, dict):
            for item in content.get("automations") or []:
                yield name, name.removesuffix(".json"), item if isinstance(item, dict) else {}


def _retired(files: Mapping[str, object]) -> list[str]:
    contents = [content for name, content in files.items() if name != PLATFORM_PACKS and isinstance(content, dict)]
    return [str(item.get("id")) for content in contents for item in content.get("retired", [])]


def _repetitions(items: list[tuple[str, str, Mapping[str, object]]], retired: list[str]) -> Iterator[str]:
    ids = Counter([str(item.get("id")) for _, _, item in items] + retired)
    names = Counter(name_key(str(item.get("name"))) for _, _, item in items)
    yield from (f"The id {name} is used more than once." for name, times in ids.items() if times > 1)
    yield from (f"The name {name} is used more than once." for name, times in names.items() if times > 1)


def _item_errors(industry: str, item: Mapping[str, object]) -> Iterator[str]:
    yield from _text_errors(item, {"name": 120, "description": 500})
    identity = item.get("id")
    if not isinstance(identity, str) or not ITEM_ID.fullmatch(identity) or len(identity) > 80:
        yield "the id must be lower-case letters, digits and -, at most 80."
    elif not identity.startswith(f"{industry.replace('_', '-')}-"):
        yield f"the id must begin with {industry.replace('_', '-')}-."
    channels = item.get("channels")
    if not isinstance(channels, list) or not channels or not set(channels) <= set(CHANNEL_TYPES):
        yield "channels must name channel types."
        return
    if len(set(channels)) != len(channels):
        yield "a channel type is named twice."
    for platform in channels:
        yield from (
            f"on {platform}: {problem.sentence}" for problem in problems_of(item.get("flow"), platform=platform)
        )
    yield from _leaks(item, channels[0])


def _leaks(item: Mapping[str, object], platform: str) -> Iterator[str]:
    """Yield the parts of a flow that a copy would remove, because they are a customer's or look private."""
    flow = item.get("flow")
    if not is_publishable(flow, platform=platform):
        return
    refusals = reasons_not_copyable(flow, platform=platform)
    yield from refusals
    if not refusals:
        kept, slots = sanitized_copy(flow)
        yield from (f"holds something private: {slot.sentence}." for slot in slots)
        yield from _foreign_accounts(flow, kept)


def _foreign_accounts(flow: Flow, kept: Flow) -> Iterator[str]:
    for before, after in zip(flow["steps"], kept["steps"], strict=True):
        for name in before.get("config", {}).keys() - after["config"].keys():
            yield f"{before['id']}: {name} points at an account."


def _text_errors(holder: Mapping[str, object], longest: dict[str, int]) -> Iterator[str]:
    for name, most in longest.items():
        value = holder.get(name)
        if not isinstance(value, str) or not value.strip() or value != value.strip() or len(value) > most:
            yield f"{name} must be a trimmed text of at most {most} characters."
        elif private_content(value):
            yield f"{name} holds {private_content(value)}."


def _packs_errors(content: object, items: Collection[object]) -> Iterator[str]:
    packs = content.get("packs") if isinstance(content, dict) else None
    if not isinstance(packs, list):
        yield "`packs` must be a list."
        return
    types = [pack.get("business_type") for pack in packs]
    if Counter(types) != Counter(BusinessType.values):
        yield f"there must be exactly one pack for each of: {', '.join(BusinessType.values)}."
    if len({pack.get("id") for pack in packs}) != len(packs):
        yield "two packs have the same id."
    for pack in packs:
        yield from (f"{pack.get('id')}: {error}" for error in _pack_errors(pack, items))


def _pack_errors(pack: Mapping[str, object], items: Collection[object]) -> Iterator[str]:
    yield from _text_errors(pack, {"name": 120, "summary": 300})
    if pack.get("industry") is not None and pack["industry"] not in Industry.values:
        yield "industry is not known."
    entries = pack.get("entries")
    if not isinstance(entries, list) or not 1 <= len(entries) <= MOST_ENTRIES:
        yield f"a pack has one to {MOST_ENTRIES} entries."
        return
    named = [entry.get("item") for entry in entries]
    yield from (f"{item} is not in the library." for item in named if item not in items)
    if len(set(named)) != len(named):
        yield "the same automation is in it twice."
    if any(entry.get("tier") not in {"core", "optional"} for entry in entries):
        yield "tier must be core or optional."


def library_errors(library: Library) -> Iterator[str]:
    """Yield what the library lacks as a whole, and the packs that break a rule."""
    if len(library.items) < FEWEST_ITEMS:
        yield f"The library has {len(library.items)} automations; it needs {FEWEST_ITEMS}."
    per_industry = Counter(item.industry for item in library.items.values())
    for industry in Industry.values:
        number = per_industry[industry]
        if number < FEWEST_PER_INDUSTRY:
            yield f"The library has {number} automations for {industry}; it needs {FEWEST_PER_INDUSTRY}."
    used = {channel for item in library.items.values() for channel in item.channels}
    yield from (f"No automation is for {channel}." for channel in CHANNEL_TYPES if channel not in used)
    required = {name for item in library.items.values() for name in item.requires}
    yield from (f"No automation requires {name}." for name in REQUIREMENTS if name not in required)
    if not any(item.ai for item in library.items.values()):
        yield "No automation has an A.I. step."
    if not any(item.catch_all for item in library.items.values()):
        yield "No automation is a catch-all."
    for pack in library.packs:
        if sum(entry.item.catch_all for entry in pack.entries) > 1:
            yield f"{PLATFORM_PACKS}: {pack.id}: more than one catch-all."


# The product does not start with a broken library.

CHECK_HINT = "packs/library/README.md describes the files."


@register("packs")
def check_library(app_configs: Sequence[AppConfig] | None, **_: object) -> list[CheckMessage]:
    """Check every file, every flow, and the library as a whole."""
    try:
        files = read_files(settings.PACK_LIBRARY)
    except ValueError as error:
        return [Error(str(error), hint=CHECK_HINT, id="packs.E001")]
    errors = list(file_errors(files))
    if errors:
        return [Error(error, hint=CHECK_HINT, id="packs.E002") for error in errors]
    return [Error(error, hint=CHECK_HINT, id="packs.E003") for error in library_errors(build(files))]
