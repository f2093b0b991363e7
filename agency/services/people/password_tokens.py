"""The tokens in links that set a password: each is valid for the host of its link, while that is its agency's.

The next holder of an agency's host may read what browsers request there. A token that they read is worth nothing.
"""

from typing import Any, Final

from django.contrib.auth.tokens import PasswordResetTokenGenerator

from agency.models import User
from agency.services.domains.hosts import hosts_of
from agency.services.people.agencies import only_agency_id_of


class TokensForHost(PasswordResetTokenGenerator):
    """Makes and checks the tokens of links on one host; an empty host is the installation's."""

    def __init__(self, host: str) -> None:
        super().__init__()
        if host:
            self.key_salt = f"{PasswordResetTokenGenerator.key_salt}.{host}"


class PasswordTokens(PasswordResetTokenGenerator):
    """Checks tokens of links on the installation's host, and on the hosts of the person's only agency."""

    def check_token(self, user: Any, token: str | None) -> bool:
        if user is None or super().check_token(user, token):
            return user is not None
        return any(TokensForHost(host).check_token(user, token) for host in hosts_of_person(user))


def hosts_of_person(user: User) -> list[str]:
    """Return the hosts on which a person may set a password, besides the installation's."""
    agency_id = only_agency_id_of(user)
    return [] if agency_id is None else hosts_of(agency_id)


PASSWORD_TOKENS: Final = PasswordTokens()
