"""A list of thousands is walked by its links while it grows, and its last pages cost what its index costs."""

from typing import Any

import pytest
from django.db import connection

from tests.tenants import Tenant
from workspaces.media.models import Media

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
ROWS = 2_000
# So many that PostgreSQL prefers the index whatever the tests before have left in the table.
OF_A_LONG_LIST = 10_000
ADD = """
INSERT INTO media_media
    (uuid, workspace_id, token, storage_name, filename, content_type, size, sha256, source, created_at)
SELECT gen_random_uuid(), %(workspace)s, left(md5(random()::text) || md5(random()::text), 43), gen_random_uuid()::text,
    number || '.pdf', 'application/pdf', 1, '\\x00', 'uploaded', now() + number * interval '1 millisecond'
FROM generate_series(%(first)s, %(last)s) AS number
"""


def add(tenant: Tenant, first: int, last: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(ADD, {"workspace": tenant.workspace.pk, "first": first, "last": last})


def test_following_the_links_finds_everything_while_rows_are_added(a: Tenant, settings: Any) -> None:
    settings.ADDRESS_LIMIT = 10**6
    add(a, 1, ROWS)
    seen: set[str] = set()
    link, pages = "/media?limit=100", 0
    while link:
        answer = a.workspace_api.get(link)
        assert answer.status_code == 200
        page = answer.json()
        seen |= {one["filename"] for one in page["data"]}
        pages += 1
        add(a, ROWS + pages, ROWS + pages)
        link = page["links"]["next"]
    assert {f"{number}.pdf" for number in range(1, ROWS + 1)} <= seen
    assert pages in (20, 21, 22)


def test_a_page_is_read_by_the_index_alone_and_the_last_is_there(a: Tenant) -> None:
    add(a, 1, OF_A_LONG_LIST)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE media_media")
    plan = Media.objects.of(a.workspace).newest_first()[100:125].explain()
    assert "media_newest" in plan
    assert "Sort" not in plan
    last = a.workspace_api.get("/media?per_page=2&page=5000").json()
    assert [one["filename"] for one in last["data"]] == ["2.pdf", "1.pdf"]
    assert last["links"]["next"] is None
