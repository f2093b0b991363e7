"""The product's list with its layers removed one by one."""

from functools import lru_cache

from django.db import connection
from django.http import HttpRequest

from agency.models import Agency, AgencyKey
from agency.services.keys import AgencyCaller
from config.api.errors import Unauthorized
from config.api.keys import IS_USABLE, has_key_format, key_digest, presented_key
from workspaces.subaccounts.api.agency import SubAccountViewSet

# The product's statement, but without the stamp.
FIND = f"""
SELECT key.id, key.uuid, key.name, key.can_copy, key.can_make_keys,
    agency.id, agency.uuid, agency.name, agency.status, agency.sub_account_count,
    coalesce((SELECT enabled FROM agency_switch WHERE name = 'agency_api'), TRUE)
FROM agency_agencykey key JOIN agency_agency agency ON agency.id = key.agency_id
WHERE {IS_USABLE}
"""  # only our own texts


@lru_cache(maxsize=4)
def caller_with(text: str) -> AgencyCaller:
    """Give the caller of a key, looked up once for the whole run."""
    key = AgencyKey.objects.select_related("agency").get(key_hash=key_digest(text))
    return AgencyCaller(key.pk, key.uuid, key.name, key.can_copy, key.can_make_keys, key.agency, True)


class KeylessList(SubAccountViewSet):
    """No key is looked up and nothing is counted."""

    def authenticate(self, request: HttpRequest) -> AgencyCaller:
        return caller_with(request.META["HTTP_X_API_KEY"])


class KeyedList(SubAccountViewSet):
    """The key is checked and looked up at each request; nothing is counted or stamped."""

    def authenticate(self, request: HttpRequest) -> AgencyCaller:
        presented = presented_key(request)
        if presented is None or not has_key_format(self.key_prefix, presented):
            raise Unauthorized
        with connection.cursor() as cursor:
            cursor.execute(FIND, {"digest": key_digest(presented), "address": None})
            row = cursor.fetchone()
        agency = Agency(id=row[5], uuid=row[6], name=row[7], status=row[8], sub_account_count=row[9])
        caller = AgencyCaller(row[0], row[1], row[2], row[3], row[4], agency, row[10])
        self.check_caller(caller)
        return caller


class LimitedList(KeyedList):
    """Also counted; only the stamp is missing."""

    def authenticate(self, request: HttpRequest) -> AgencyCaller:
        caller = super().authenticate(request)
        self.count(self.key_limit(caller))
        return caller
