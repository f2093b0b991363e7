"""The permissions that a consent asks for, and the accounts that each of them covers."""

from typing import Final

from tools.sandbox.control.people import Person
from tools.sandbox.graph.tokens import Token

# A person gives all permissions of a configuration, or none.
OF_CONFIGURATION: Final[dict[str, tuple[str, ...]]] = {
    "whatsapp": ("whatsapp_business_management", "whatsapp_business_messaging", "business_management"),
    "facebook": (
        "pages_show_list",
        "pages_messaging",
        "pages_manage_metadata",
        "pages_read_engagement",
        "pages_manage_engagement",
        "pages_read_user_content",
        "business_management",
    ),
    "instagram": (
        "instagram_basic",
        "instagram_manage_messages",
        "pages_show_list",
        "pages_manage_metadata",
        "pages_read_engagement",
        "instagram_manage_comments",
        "business_management",
    ),
}


def platform_of(scopes: tuple[str, ...]) -> str:
    if any(scope.startswith("whatsapp_") for scope in scopes):
        return "whatsapp"
    return "instagram" if any(scope.startswith("instagram_") for scope in scopes) else "facebook"


def assets(person: Person, platform: str) -> list[tuple[str, str]]:
    """Give id and name of the accounts that the person may pick: business accounts, or Pages."""
    picked = person.businesses if platform == "whatsapp" else person.pages
    return [(asset.id, asset.name) for asset in picked]


def targets(person: Person, token: Token) -> list[dict[str, object]]:
    """Give `granular_scopes`: each permission with the ids that it is limited to."""
    return [_target(person, token, scope) for scope in token.granted if scope != "public_profile"]


def _target(person: Person, token: Token, scope: str) -> dict[str, object]:
    ids: list[str] | None = None
    if scope.startswith("whatsapp_"):
        ids = [business.id for business in person.businesses if token.may_see(business.id)]
    elif scope.startswith("pages_"):
        ids = [page.id for page in person.pages if token.may_see(page.id)]
    elif scope.startswith("instagram_"):
        ids = [page.instagram_id for page in person.pages if page.instagram_id and token.may_see(page.id)]
    return {"scope": scope} if ids is None or person.covers_all else {"scope": scope, "target_ids": ids}
