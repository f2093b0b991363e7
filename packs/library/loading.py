"""Reads the library's files into items and packs, each for one industry."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import orjson
from django.conf import settings
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from workspaces.automations.flows.flow import Flow, digest_of, has_ai, is_catch_all, requires_of, trigger_label


class Industry(TextChoices):
    ECOMMERCE = "ecommerce", _("E-commerce")
    REAL_ESTATE = "real_estate", _("Real estate")
    RESTAURANTS = "restaurants", _("Restaurants")
    CLEANING = "cleaning", _("Cleaning")
    SALONS = "salons", _("Salons")
    HEALTHCARE = "healthcare", _("Healthcare")
    EDUCATION = "education", _("Education")
    EVENTS = "events", _("Events")
    AUTOMOTIVE = "automotive", _("Automotive")
    PROFESSIONAL = "professional", _("Professional services")


PLATFORM_PACKS = "platform_packs.json"
# The UUIDs of the service's own packs and entries derive from this. Installed automations store them, so it must stay.
NAMESPACE = UUID("5f0c5a54-0c31-4a7e-9f0a-6f5e3c1d2b10")


@dataclass(frozen=True)
class LibraryItem:
    """One of the service's own automations. Its properties follow from the flow."""

    id: str
    name: str
    description: str
    industry: str
    channels: list[str]
    flow: Flow

    @cached_property
    def flow_digest(self) -> str:
        return digest_of(self.flow)

    @cached_property
    def requires(self) -> list[str]:
        return requires_of(self.flow)

    @cached_property
    def ai(self) -> bool:
        return has_ai(self.flow)

    @cached_property
    def catch_all(self) -> bool:
        return is_catch_all(self.flow)

    @cached_property
    def trigger_label(self) -> str:
        return trigger_label(self.flow)

    @property
    def industry_label(self) -> str:
        return str(Industry(self.industry).label)


@dataclass(frozen=True, slots=True)
class PlatformEntry:
    """An automation in one of the service's own packs."""

    uuid: UUID
    item: LibraryItem
    tier: str


@dataclass(frozen=True, slots=True)
class PlatformPack:
    """One of the service's own packs, with which customers of a business type begin."""

    uuid: UUID
    id: str
    business_type: str
    industry: str | None
    name: str
    summary: str
    entries: list[PlatformEntry]


@dataclass(frozen=True, slots=True)
class Library:
    """All content of the files: items and the names of retired items by id, and packs in gallery order."""

    items: dict[str, LibraryItem] = field(default_factory=dict)
    retired: dict[str, str] = field(default_factory=dict)
    packs: list[PlatformPack] = field(default_factory=list)

    def pack_for(self, business_type: str) -> PlatformPack | None:
        return next((pack for pack in self.packs if pack.business_type == business_type), None)


def read_files(folder: Path) -> dict[str, object]:
    """Return each file's content by its name. Raises `ValueError`, with the file's name, for invalid JSON."""
    found: dict[str, object] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            found[path.name] = orjson.loads(path.read_bytes())
        except orjson.JSONDecodeError as error:
            raise ValueError(f"{path.name}: {error}") from error
    return found


def build(files: Mapping[str, Any]) -> Library:
    """Build the library from files that have passed the checks."""
    built = Library()
    for name, content in files.items():
        if name == PLATFORM_PACKS:
            continue
        for item in content["automations"]:
            built.items[item["id"]] = LibraryItem(
                id=item["id"],
                name=item["name"],
                description=item["description"],
                industry=content["industry"],
                channels=item["channels"],
                flow=item["flow"],
            )
        built.retired.update({item["id"]: item["name"] for item in content.get("retired", [])})
    for pack in files.get(PLATFORM_PACKS, {}).get("packs", []):
        built.packs.append(_pack(pack, built.items))
    return built


def _pack(pack: Mapping[str, Any], items: dict[str, LibraryItem]) -> PlatformPack:
    return PlatformPack(
        uuid=uuid5(NAMESPACE, pack["id"]),
        id=pack["id"],
        business_type=pack["business_type"],
        industry=pack.get("industry"),
        name=pack["name"],
        summary=pack["summary"],
        entries=[
            PlatformEntry(uuid5(NAMESPACE, f"{pack['id']}/{entry['item']}"), items[entry["item"]], entry["tier"])
            for entry in pack["entries"]
        ],
    )


@lru_cache(maxsize=4)
def _loaded(folder: Path) -> Library:
    return build(read_files(folder))


def library() -> Library:
    """Return the library. Each process reads its files once."""
    return _loaded(settings.PACK_LIBRARY)
