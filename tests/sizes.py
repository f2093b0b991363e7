"""The sizes of all searches: small in `make test`, full in `make prove`, which writes down what ran (docs/proof.md).

A search tries very many values, requests, people, or moments at which a process dies. The small size is seeded and
bounded, and the same in every run. It still fails for each fault that the search looks for.
"""

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

FULL_SIZE: Final = os.environ.get("PROOF") == "full"
# The variable that names the file in which a search at full size counts its tries.
COUNTS: Final = "PROOF_COUNTS"
PYTEST: Final = ("-m", "pytest")
CHAOS: Final = ("-m", "tests.chaos")
PRODUCT: Final = ("config", "agency", "workspaces", "webhooks", "packs", "channelconnect", "broadcasts")


class Proof(NamedTuple):
    """A row of docs/proof.md.

    `tests` are the files of the search, `proves` the files of the product that it proves. The row is stale if any of
    these has changed. `sizes` are small and full. `run` is the program of the search; pytest also gets `tests`.
    """

    title: str
    tests: tuple[str, ...]
    proves: tuple[str, ...]
    sizes: Mapping[str, tuple[int, int]]
    run: tuple[str, ...] = PYTEST


PROOFS: Final[Mapping[str, Proof]] = {
    "kills": Proof(
        "Work that is killed at a statement is finished by the next process, exactly once",
        (
            "tests/agency/jobs/test_killed_jobs.py",
            "tests/agency/notifications/test_killed.py",
            "tests/broadcasts/services/test_killed_preparation.py",
            "tests/agency/jobs/killed_working.py",
            "tests/agency/notifications/killed_notifying.py",
            "tests/broadcasts/services/killed_preparation.py",
            "tests/workspaces/automations/engine/test_killed_engine.py",
            "tests/workspaces/automations/engine/killed_engine.py",
            "tests/processes",
        ),
        (
            "agency/services/bulk.py",
            "agency/services/exports.py",
            "agency/services/bulk.py",
            "agency/services/jobs.py",
            "agency/services/mail",
            "agency/services/notifications",
            "broadcasts/services",
            "config/db.py",
            "config/smtp.py",
            "config/tries",
            "workspaces/automations/engine",
            "workspaces/automations/execution",
        ),
        # Small: before or after each statement that writes, alternately. Full: before and after every statement.
        {
            "every statement": (0, 1),
            "things": (3, 5),
            "channels": (2, 3),
            "people": (40, 100),
            "killed workers": (1, 3),
        },
    ),
    "stories of automations": Proof(
        "Whatever happens to automations and in whatever order, each fact counts once and each message is sent once",
        (
            "tests/workspaces/automations/engine/test_random_stories.py",
            "tests/workspaces/automations/execution/test_random_flows.py",
        ),
        ("workspaces/automations",),
        {"stories": (4, 300), "things that happen": (10, 50)},
    ),
    "workers": Proof(
        "Processes that are killed at their work lose nothing and double nothing",
        (
            "tests/broadcasts/sending/test_killed_senders.py",
            "tests/channelconnect/inbox/test_to_conversations.py",
            "tests/channelconnect/sending/test_killed_senders.py",
            "tests/workspaces/contacts/test_file_imports.py",
            "tests/processes",
        ),
        (
            "broadcasts/sending",
            "channelconnect/inbox",
            "channelconnect/sending",
            "config/leases",
            "workspaces/contacts/services",
            "workspaces/conversations/services",
        ),
        {
            "messages of each number": (60, 150),
            "recipients of each number": (60, 130),
            "killed senders": (1, 2),
            "notices": (40, 120),
            "killed readers": (1, 3),
            "killed importers": (1, 2),
        },
    ),
    "secrets": Proof(
        "No secret of a random flow reaches another customer",
        (
            "tests/packs/test_secrets.py",
            "tests/workspaces/automations/flows/secrets.py",
            "tests/workspaces/automations/flows/test_cleaning.py",
        ),
        ("packs", "workspaces/automations"),
        {"flows copied and installed": (6, 300), "flows cleaned": (40, 3_000), "flows cleaned twice": (10, 500)},
    ),
    "requests": Proof(
        "Whatever is sent, the answer is a plain one",
        (
            "tests/api/requests/test_bodies.py",
            "tests/api/requests/test_fields.py",
            "tests/api/responses/test_pagination.py",
            "tests/api/test_fuzz.py",
        ),
        ("config/api",),
        {
            "hostile requests": (200, 5_000),
            "bodies": (100, 5_000),
            "fields": (50, 2_000),
            "query strings": (200, 2_000),
        },
    ),
    "documents": Proof(
        "Every operation of both documents keeps what it promises, whatever its schema allows",
        ("tests/fuzz", "tests/routes.py"),
        PRODUCT,
        {"requests of each operation": (2, 100)},
    ),
    "pages": Proof(
        "No page of console, dashboard and admin opens to anybody who may not, whatever the method and the host",
        (
            "tests/admin/test_permissions.py",
            "tests/agency/console/test_access.py",
            "tests/agency/console/test_safety.py",
            "tests/flows/white_label/test_every_route.py",
            "tests/page_walk.py",
            "tests/test_page_access.py",
            "tests/workspaces/subaccounts/dashboard/pages.py",
            "tests/workspaces/subaccounts/dashboard/test_access.py",
        ),
        (
            "agency/admin",
            "agency/console",
            "agency/pages",
            "broadcasts/admin.py",
            "broadcasts/console.py",
            "broadcasts/dashboard",
            "channelconnect/console.py",
            "config/serving",
            "packs/console",
            "packs/dashboard.py",
            "webhooks/console.py",
            "webhooks/dashboard.py",
            "workspaces/automations/dashboard",
            "workspaces/catalogue/dashboard",
            "workspaces/classes/dashboard",
            "workspaces/contacts/dashboard",
            "workspaces/conversations/dashboard",
            "workspaces/subaccounts/console",
            "workspaces/subaccounts/dashboard",
        ),
        # Small: one page of all that have the same checks for a rule of the base classes; people and methods alternate.
        {"every kind of request at every page": (0, 1)},
    ),
    "routes": Proof(
        "No route of the two surfaces opens to anybody who may not, and each refuses alike, whatever is wrong",
        (
            "tests/document/provoking.py",
            "tests/document/test_statuses.py",
            "tests/page_walk.py",
            "tests/route_walk.py",
            "tests/routes.py",
            "tests/test_routes.py",
        ),
        PRODUCT,
        # Small: what the base class refuses is asked of each route in turn, and of one route of each declaration.
        {"every kind of request at every route": (0, 1)},
    ),
    "values": Proof(
        "Rules of values hold for whatever value",
        (
            "tests/agency/console/test_brand.py",
            "tests/agency/console/test_colours.py",
            "tests/agency/test_limits.py",
            "tests/api/test_keys.py",
            "tests/broadcasts/services/test_links.py",
            "tests/broadcasts/services/test_schedule.py",
            "tests/channelconnect/providers/test_notices.py",
            "tests/config/http/test_targets.py",
            "tests/workspaces/automations/execution/test_answers.py",
            "tests/workspaces/automations/execution/test_decisions.py",
            "tests/workspaces/automations/execution/test_keywords.py",
        ),
        (
            "agency/limits.py",
            "agency/pages",
            "broadcasts/services",
            "channelconnect/inbox",
            "channelconnect/providers",
            "config/api",
            "config/http",
            "workspaces/automations/execution",
        ),
        {"values": (100, 5_000), "colours": (25, 2_000), "wall clocks": (300, 50_000), "damaged pictures": (4, 600)},
    ),
    "counts": Proof(
        "Stock, and how many people are written to in any 24 hours, are right after whatever is done, by many at once",
        (
            "tests/broadcasts/sending/test_allowance.py",
            "tests/broadcasts/services/test_two_connections.py",
            "tests/clocks/test_allowance.py",
            "tests/workspaces/catalogue/test_stock.py",
        ),
        ("broadcasts", "channelconnect/sending", "config/leases", "workspaces/catalogue"),
        {
            "seeds of stock": (2, 100),
            "writers of stock": (16, 50),
            "people of an allowance": (36, 90),
            "people of several days": (13, 26),
            "seeds of two connections": (1, 20),
        },
    ),
    "raced times": Proof(
        "A time is booked once for each person who is free, however many want it in the same moment",
        ("tests/parallel.py", "tests/workspaces/appointments/services/test_booking.py"),
        ("workspaces/appointments/models", "workspaces/appointments/services", "workspaces/catalogue/services"),
        {"clients": (10, 200), "rounds": (2, 20)},
    ),
    "invoice numbers": Proof(
        "Numbers of invoices have no gap, however many are issued at once, fail, or die at a statement",
        (
            "tests/parallel.py",
            "tests/processes",
            "tests/workspaces/finance/invoices/killed_issuing.py",
            "tests/workspaces/finance/invoices/test_numbers.py",
        ),
        ("workspaces/finance/models", "workspaces/finance/services"),
        {"issued at once": (24, 400), "issued by killed processes": (2, 8)},
    ),
    "payments": Proof(
        "Whatever payers, people and Stripe do in whatever order, and whatever notice is lost, both books are the same",
        (
            "tests/workspaces/finance/payments/paying.py",
            "tests/workspaces/finance/payments/test_stories.py",
            "tools/sandbox/stripe",
        ),
        ("workspaces/finance",),
        {"stories": (12, 120), "things that happen": (14, 24)},
    ),
    "killed payments": Proof(
        "A process that is killed before or after Stripe does its call charges and refunds once",
        (
            "tests/processes",
            "tests/workspaces/finance/payments/killed_paying.py",
            "tests/workspaces/finance/payments/paying.py",
            "tests/workspaces/finance/payments/test_killed.py",
            "tools/sandbox/stripe",
        ),
        ("config/tries", "workspaces/finance"),
        # A piece of work that breaks its process five times is given up.
        {"kills at each call": (1, 4), "invoices": (1, 10)},
    ),
    "zones": Proof(
        "A broadcast at everybody's own time reaches each time zone on earth at its own moment",
        ("tests/clocks",),
        ("broadcasts", "channelconnect/sending"),
        {"moments": (10, 38)},
    ),
    "large": Proof(
        "The list of very many sub-accounts takes its indexes, and what is dear to read takes a bounded memory",
        (
            "tests/config/test_dear_inputs.py",
            "tests/workspaces/contacts/test_upload_limits.py",
            "tests/workspaces/subaccounts/api/test_hundred_thousand.py",
        ),
        (
            "broadcasts/services/costs.py",
            "broadcasts/services/markets.py",
            "channelconnect/providers/notices",
            "config/api",
            "config/db.py",
            "workspaces/contacts/services/contact_rows.py",
            "workspaces/contacts/services/csv_files.py",
            "workspaces/contacts/services/file_imports.py",
            "workspaces/contacts/services/importing.py",
            "workspaces/subaccounts",
        ),
        {"sub-accounts": (20_000, 100_000), "rows of a file": (20_000, 200_000), "quarters of a MiB": (1, 4)},
    ),
    "chaos": Proof(
        "Everything broken while clients are at work: nothing that was confirmed is lost, nothing comes twice",
        ("tests/chaos",),
        PRODUCT,
        {},
        CHAOS,
    ),
    "mutations": Proof(
        "Each mutation of the product is noticed by a scenario of chaos",
        ("tests/chaos",),
        PRODUCT,
        {},
        (*CHAOS, "mutations"),
    ),
}


def size(proof: str, name: str) -> int:
    """Give the size of a part of a search in this run."""
    return PROOFS[proof].sizes[name][FULL_SIZE]
