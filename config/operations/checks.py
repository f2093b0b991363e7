"""System checks: stored secrets can be read, startup options arrive, no fail-over or restore is overlooked."""

import re
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as CheckWarning
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from config.encryption import Column, UnreadableSecret, columns_of, keyring
from config.recovery.identity import waits_for_confirmation

# The number of standbys that follow, whether commits wait for one, and whether commits of web connections do.
STANDBYS = """
SELECT (SELECT count(*) FROM pg_stat_replication WHERE application_name !~ '^pg_(basebackup|receivewal)'),
    current_setting('synchronous_standby_names'), current_setting('synchronous_commit')
"""
STARTUP_OPTION = re.compile(r"-c (\w+)=(\S+)")


@register(Tags.security)
def encryption_keys_are_usable(app_configs: Sequence[AppConfig] | None, **_: object) -> list[CheckMessage]:
    """Fail without a usable key for secrets at rest."""
    try:
        keyring()
    except (ImproperlyConfigured, ValueError) as error:
        hint = "Set FIELD_ENCRYPTION_KEYS to one or more Fernet keys, comma separated; the first encrypts."
        return [Error(str(error), hint=hint, id="operations.E001")]
    return []


@register(Tags.database)
def stored_secrets_are_readable(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Read the oldest and the newest secret of each column. A removed key shows at the oldest first."""
    if not databases or encryption_keys_are_usable(app_configs):
        return []
    tables = {name for alias in databases for name in connections[alias].introspection.table_names()}
    return [
        Error(
            f"Stored secrets of {column.label} cannot be read with FIELD_ENCRYPTION_KEYS.",
            hint="Put the missing key back at the end of the list, then run rotate_encryption_keys. It names the rows "
            "that it cannot read: with every key there, they hold what belongs to others.",
            id="operations.E002",
        )
        for column in columns_of(*apps.get_models())
        if column.table in tables and not _is_readable(column)
    ]


@register(Tags.database)
def startup_options_arrived(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Compare the options that connections ask for with the settings that hold. A pooler may drop options."""
    return [
        CheckWarning(
            f"Connections ask for {name} = {wanted}, and have {found}.",
            hint="A pooler in between drops startup options: set them there, as docs/operations.md describes.",
            id="operations.W001",
        )
        for alias in databases or ()
        for name, wanted in STARTUP_OPTION.findall(connections[alias].settings_dict["OPTIONS"].get("options", ""))
        if (found := _setting_of(alias, name)) != wanted
    ]


@register(Tags.database)
def standbys_are_synchronous(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Warn if a standby follows and commits do not wait for it.

    If a lagging standby takes over, it has lost claims, so their messages would be sent once more.
    """
    return [
        CheckWarning(
            "A standby follows this database, and commits do not wait for it.",
            hint="Set synchronous_standby_names, and leave synchronous_commit on. Else a fail-over to it loses "
            "commits, and needs manage.py after_restore as a restore does: docs/operations.md has it.",
            id="operations.W002",
        )
        for alias in databases or ()
        if _follows_behind(*_row_of(alias, STANDBYS))
    ]


@register(Tags.database)
def database_is_confirmed(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Warn if workers wait, after a restore or a fail-over, for somebody who says what was lost."""
    return [
        CheckWarning(
            "The database was restored, or a standby took its place: senders and dispatchers claim nothing.",
            hint="Run manage.py after_restore; docs/operations.md says in which order.",
            id="operations.W003",
        )
        for alias in databases or ()
        if "recovery_databaseidentity" in connections[alias].introspection.table_names() and _waits(alias)
    ]


def _follows_behind(standbys: int, names: str, commit: str) -> bool:
    return bool(standbys) and (not names or commit in ("off", "local"))


def _waits(alias: str) -> bool:
    with connections[alias].cursor() as cursor:
        return waits_for_confirmation(cursor)


def _row_of(alias: str, statement: str) -> tuple[Any, ...]:
    with connections[alias].cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
    return tuple(row)


def _setting_of(alias: str, name: str) -> str:
    """Return a setting in its own unit, as startup options name it."""
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT setting FROM pg_settings WHERE name = %s", [name])
        row = cursor.fetchone()
    return str(row[0]) if row else ""


def _is_readable(column: Column) -> bool:
    name = column.field.name
    rows = column.model._base_manager.exclude(**{name: None}).only(column.field.bound_to, name)
    try:
        for row in (*rows.order_by("pk")[:1], *rows.order_by("-pk")[:1]):
            getattr(row, name)
    except UnreadableSecret:
        return False
    return True
