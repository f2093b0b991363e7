"""How packs, entries, library items and previews read."""

from dataclasses import asdict
from typing import Any

from packs.library import LibraryItem
from packs.services.copies import ImportSource, Preview
from packs.services.reading import EntryView, PackView


def pack_card(view: PackView) -> dict[str, Any]:
    """A pack with its entries in the order customers read them."""
    pack = view.pack
    return {
        "uuid": pack.uuid,
        "name": pack.name,
        "summary": pack.summary,
        "industry": pack.industry,
        "business_type": pack.business_type,
        "status": pack.status,
        "installed_in": view.installed_in,
        "entries": [entry_card(entry) for entry in view.entries],
    }


def entry_card(view: EntryView) -> dict[str, Any]:
    return asdict(view)


def library_card(item: LibraryItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "name": item.name,
        "description": item.description,
        "catch_all": item.catch_all,
        "ai": item.ai,
        "requires": item.requires,
        "industry": item.industry,
        "industry_label": item.industry_label,
        "trigger_label": item.trigger_label,
        "channels": item.channels,
    }


def source_card(source: ImportSource) -> dict[str, Any]:
    return asdict(source)


def preview_card(preview: Preview) -> dict[str, Any]:
    return {
        "name": preview.name,
        "platform": preview.platform,
        "refusals": preview.refusals,
        "catch_all": preview.catch_all,
        "slots": [slot.sentence for slot in preview.slots],
    }
