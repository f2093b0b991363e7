"""Messenger and Instagram, which work through Pages: their tasks, linked professional accounts, and subscriptions."""

from collections.abc import Iterator
from typing import ClassVar, Final

from channelconnect.providers.faults import ProviderFault
from channelconnect.providers.grants import Account, Grant
from channelconnect.providers.graph.client import Graph
from channelconnect.providers.graph.parsing import Row, ident, row, text, texts
from channelconnect.providers.platforms.provider import Provider, covered

PAGES_SHOW_LIST: Final = "pages_show_list"
PAGE_FIELDS: Final = "id,name,access_token,tasks,instagram_business_account{id,username,name}"
TASKS: Final = {"MESSAGING", "MODERATE", "MANAGE"}
# An Instagram account is subscribed through its Page. The Page's endpoint refuses all fields if it does not know one of
# them, so fields that only Instagram has, such as `messaging_seen`, are chosen in the app's settings.
MESSAGE_FIELDS: Final = ",".join(
    (
        "messages",
        "messaging_postbacks",
        "message_deliveries",
        "message_reads",
        "message_echoes",
        "message_reactions",
        "message_edits",
        "messaging_referrals",
        "messaging_handovers",
        "standby",
    )
)


class PageProvider(Provider):
    """A client of a platform based on Pages. `page_scopes` are the scopes whose targets are Pages."""

    page_scopes: ClassVar[tuple[str, ...]]

    def _eligible(self, graph: Graph, grant: Grant) -> Iterator[Account]:
        for page in _pages(graph, grant):
            page_id, token = ident(page.get("id")), page.get("access_token")
            if page_id and isinstance(token, str) and token.isascii() and covered(grant, self.page_scopes, page_id):
                account = self._account(page_id, token, page, grant)
                if account is not None:
                    yield account

    def _account(self, id: str, token: str, page: Row, grant: Grant) -> Account | None:
        """Return the account behind a Page, or None if there is none. Each platform implements this."""
        raise NotImplementedError

    def subscribe(self, account: Account, grant: Grant) -> None:
        """Subscribe the Page; an Instagram account's messages come through its Page."""
        edge = f"{account.container_id}/subscribed_apps"
        self._graph().write(edge, token=account.token, form={"subscribed_fields": self._fields(grant)})

    def _fields(self, grant: Grant) -> str:
        return MESSAGE_FIELDS


class Facebook(PageProvider):
    platform = "facebook"
    needed = (PAGES_SHOW_LIST, "pages_messaging", "pages_manage_metadata")
    sends_with = "pages_messaging"
    wanted = ("pages_read_engagement", "pages_manage_engagement", "pages_read_user_content", "business_management")
    page_scopes = needed

    def _account(self, id: str, token: str, page: Row, grant: Grant) -> Account | None:
        name = text(page.get("name")) or id
        return Account(external_id=id, container_id=id, name=name, handle=name, token=token)

    def _fields(self, grant: Grant) -> str:
        """Comments come with the feed, which needs its own permission."""
        return f"{MESSAGE_FIELDS},feed" if "pages_read_user_content" in grant.scopes else MESSAGE_FIELDS


class Instagram(PageProvider):
    platform = "instagram"
    needed = ("instagram_basic", "instagram_manage_messages", PAGES_SHOW_LIST, "pages_manage_metadata")
    sends_with = "instagram_manage_messages"
    wanted = ("instagram_manage_comments", "pages_read_engagement", "business_management")
    page_scopes = (PAGES_SHOW_LIST, "pages_manage_metadata")

    def _account(self, id: str, token: str, page: Row, grant: Grant) -> Account | None:
        linked = row(page.get("instagram_business_account"))
        external_id, username = ident(linked.get("id")), text(linked.get("username"))
        if not external_id or not covered(grant, ("instagram_basic", "instagram_manage_messages"), external_id, id):
            return None
        handle = f"@{username}" if username else external_id
        return Account(
            external_id=external_id,
            container_id=id,
            name=text(linked.get("name")) or handle,
            handle=handle,
            token=token,
        )


def _pages(graph: Graph, grant: Grant) -> Iterator[Row]:
    """Yield the Pages on which the person has a task that messages need.

    The list leaves out a portfolio's Pages if the person may not manage the portfolio. Then the Pages that the consent
    named are read by their ids.
    """
    is_empty = True
    for page in graph.pages("me/accounts", token=grant.token, fields=PAGE_FIELDS):
        is_empty = False
        if TASKS & set(texts(page.get("tasks"))):
            yield page
    if is_empty:
        yield from _named_pages(graph, grant)


def _named_pages(graph: Graph, grant: Grant) -> Iterator[Row]:
    for page_id in grant.targets.get(PAGES_SHOW_LIST, ()):
        try:
            page = graph.read(page_id, token=grant.token, fields=PAGE_FIELDS)
        except ProviderFault as fault:
            if fault.code != "provider_request_failed":
                raise
            continue  # chosen, but gone or not readable
        if "tasks" not in page or TASKS & set(texts(page.get("tasks"))):
            yield page
