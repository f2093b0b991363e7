"""The product's own list with its layers taken off one by one."""

from functools import lru_cache

from django.db import connection
from django.http import HttpRequest

from agency.models import Agency, AgencyKey
from agency.services.authentication import AgencyCaller
from config.api.errors.refusals import Unauthorized
from config.api.keys import key_digest, looks_like_key, presented_key
from workspaces.subaccounts.api.agency.views import SubAccountViewSet

# The product's statement without the stamp.
FIND = """
SELECT key.id, key.uuid, key.name, key.can_copy,
    agency.id, agency.uuid, agency.name, agency.status, agency.sub_account_count,
    coalesce((SELECT enabled FROM agency_switch WHERE name = 'agency_api'), TRUE)
FROM agency_agencykey key JOIN agency_agency agency ON agency.id = key.agency_id
WHERE key.key_hash = %(digest)s AND key.revoked_at IS NULL
"""


@lru_cache(maxsize=4)
def caller_with(text: str) -> AgencyCaller:
    """Look a caller up once for the whole run."""
    key = AgencyKey.objects.select_related("agency").get(key_hash=key_digest(text))
    return AgencyCaller(key.pk, key.uuid, key.name, key.can_copy, key.agency, True)


class KeylessList(SubAccountViewSet):
    """No key is looked up and nothing is counted."""

    def authenticate(self, request: HttpRequest) -> AgencyCaller:
        return caller_with(request.META["HTTP_X_API_KEY"])


class KeyedList(SubAccountViewSet):
    """The key is checked and looked up at each request; nothing is counted or stamped."""

    def authenticate(self, request: HttpRequest) -> AgencyCaller:
        presented = presented_key(request)
        if presented is None or not looks_like_key(self.key_prefix, presented):
            raise Unauthorized
        with connection.cursor() as cursor:
            cursor.execute(FIND, {"digest": key_digest(presented)})
            row = cursor.fetchone()
        agency = Agency(id=row[4], uuid=row[5], name=row[6], status=row[7], sub_account_count=row[8])
        caller = AgencyCaller(row[0], row[1], row[2], row[3], agency, row[9])
        self.check_caller(caller)
        return caller


class LimitedList(KeyedList):
    """Also counted; only the stamp is missing."""

    def authenticate(self, request: HttpRequest) -> AgencyCaller:
        caller = super().authenticate(request)
        self.count(self.key_limit(caller))
        return caller
