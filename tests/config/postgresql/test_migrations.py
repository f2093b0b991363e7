from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models
from django.db.migrations import CreateModel
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ModelState, ProjectState

from config.postgresql.migrations import CreateModels

AUTHOR = CreateModel("Author", [("id", models.BigAutoField(primary_key=True))])
BOOK = CreateModel(
    "Book",
    [
        ("id", models.BigAutoField(primary_key=True)),
        ("author", models.ForeignKey("library.Author", models.CASCADE)),
        ("next", models.OneToOneField("library.Book", models.CASCADE, null=True)),
    ],
)
LOAN = CreateModel(
    "Loan", [("id", models.BigAutoField(primary_key=True)), ("book", models.ForeignKey("library.Book", models.CASCADE))]
)
TABLES = {"library_author", "library_book", "library_loan"}


@pytest.mark.django_db
def test_models_are_created_together_built_once_and_removed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    build = ModelState.render

    def counted(state: ModelState, *args: Any) -> Any:
        built.append(state.name)
        return build(state, *args)

    monkeypatch.setattr(ModelState, "render", counted)
    before, after = ProjectState(), ProjectState()
    assert after.apps.get_models() == []
    together = CreateModels([AUTHOR, BOOK, LOAN])
    together.state_forwards("library", after)
    with connection.schema_editor() as editor:
        together.database_forwards("library", editor, before, after)
    assert sorted(built) == ["Author", "Book", "Loan"]
    assert set(connection.introspection.table_names()) >= TABLES
    with connection.cursor() as cursor:
        assert set(connection.introspection.get_relations(cursor, "library_book")) == {"author_id", "next_id"}
    with connection.schema_editor() as editor:
        together.database_backwards("library", editor, after, before)
    assert TABLES.isdisjoint(connection.introspection.table_names())


def test_no_migration_creates_models_one_after_the_other() -> None:
    """Each of them would cost as much as all that are related to it."""
    ours = {config.label for config in apps.get_app_configs() if "site-packages" not in config.path}
    several = [
        str(migration)
        for (label, _), migration in MigrationLoader(None).disk_migrations.items()
        if label in ours and sum(isinstance(operation, CreateModel) for operation in migration.operations) > 1
    ]
    assert several == []
