"""All that the database holds, to tell whether a call left anything behind."""

from typing import Any

from django.apps import apps

APPS = ("api", "agency", "workspaces", "webhooks", "packs")
# Every known caller is stamped; that is no trace of what was asked for.
STAMPS = frozenset({"last_used_at"})


def traces() -> dict[str, list[dict[str, Any]]]:
    """Every row of our tables, without the stamps of a key's use."""
    return {
        model._meta.label: [
            {name: value for name, value in row.items() if name not in STAMPS}
            for row in model._default_manager.order_by("pk").values()
        ]
        for app in APPS
        for model in apps.get_app_config(app).get_models()
    }
