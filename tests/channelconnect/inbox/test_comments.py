"""From a callback to a stored comment and its fact: each once, on Facebook and Instagram, with edits and removals."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.providers.notices.events import Unknown
from tests import furnished
from tests.channelconnect.inbox.notices import INSTAGRAM, PAGE, read
from tests.channelconnect.inbox.signed import event, post
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox
from workspaces.automations.models import ContactQueue, TriggerEvent
from workspaces.contacts.models import Contact
from workspaces.contacts.services.contacts import merge_contacts, remove_contact
from workspaces.conversations.facts import CommentReceived
from workspaces.conversations.models import Comment, Conversation
from workspaces.conversations.services.inbound import use_private_replies
from workspaces.subaccounts.models import Channel

a = furnished.a_with_customer

POST = f"{PAGE}_77"
BEGUN = int(now().timestamp()) - 3_600
PAGE_ADA = {"id": "91", "name": "Ada L"}
INSTAGRAM_ADA = {"id": "92", "username": "ada.l"}
LINK = "https://www.facebook.com/page/posts/77"


def of_page(verb: str = "add", seconds: int = 0, author: Any = PAGE_ADA, **value: Any) -> bytes:
    """A change of a Page's feed as Meta writes it."""
    change = {
        "item": "comment",
        "verb": verb,
        "comment_id": "77_900",
        "post_id": POST,
        "parent_id": POST,
        "from": author,
        "created_time": BEGUN + seconds,
        "message": "How much?",
        "post": {"id": POST, "permalink_url": LINK, "is_published": True},
        **value,
    }
    entry = [{"id": PAGE, "time": BEGUN + seconds, "changes": [{"field": "feed", "value": change}]}]
    return json.dumps({"object": "page", "entry": entry}).encode()


def of_instagram(field: str = "comments", seconds: int = 0, author: Any = INSTAGRAM_ADA, **value: Any) -> bytes:
    change = {
        "id": "18001",
        "from": author,
        "text": "Price please",
        "media": {"id": "17900", "media_product_type": "REELS"},
        **value,
    }
    entry = [{"id": INSTAGRAM, "time": BEGUN + seconds, "changes": [{"field": field, "value": change}]}]
    return json.dumps({"object": "instagram", "entry": entry}).encode()


def data_of(event: TriggerEvent) -> dict[str, Any]:
    assert event.data is not None
    return dict(event.data)


@pytest.mark.django_db
def test_a_comment_is_stored_and_told_once(meta: RunningSandbox, channels: dict[str, Channel]) -> None:
    for body in (of_page(), of_page(seconds=1), of_instagram(), of_instagram(seconds=1)):
        post(meta, body)
    page, instagram = Comment.objects.select_related("contact").order_by("id")
    assert page.contact
    assert instagram.contact
    assert (page.channel_id, page.comment_id, page.post_id, page.parent_id, page.text) == (
        channels["facebook"].pk,
        "77_900",
        POST,
        "",
        "How much?",
    )
    assert (page.contact.name, instagram.contact.name, page.contact.last_inbound_at) == ("Ada L", "", None)
    assert not Conversation.objects.exists()
    told = {one.subject: one for one in TriggerEvent.objects.all()}
    assert set(told) == {POST, "17900"}
    assert (told[POST].kind, told[POST].source_key, told[POST].contact_id, told[POST].conversation_id) == (
        "comment",
        f"comment:{page.pk}",
        page.contact_id,
        None,
    )
    data = data_of(told[POST])
    assert (data["comment"], data["text"]) == ("77_900", "How much?")
    assert data["permalink"] == LINK
    assert datetime.fromisoformat(data["at"]) == page.at
    assert data_of(told["17900"]) | {"at": ""} == {
        "comment": "18001",
        "text": "Price please",
        "media": "reels",
        "at": "",
    }
    assert set(ContactQueue.objects.values_list("contact_id", flat=True)) == {page.contact_id, instagram.contact_id}


@pytest.mark.django_db
def test_an_answer_of_a_known_person_below_an_advertisement(meta: RunningSandbox, channels: dict[str, Channel]) -> None:
    post(meta, event("instagram", message={"mid": "m_1", "text": "Hello"}))
    media = {"id": "17950", "media_product_type": "AD", "ad_id": "6045", "original_media_id": "17900"}
    post(meta, of_instagram(author={"id": "91", "username": "ada"}, media=media, parent_id="18000"))
    conversation, told = Conversation.objects.get(), TriggerEvent.objects.get(kind="comment")
    assert (told.contact_id, told.conversation_id) == (conversation.contact_id, conversation.pk)
    assert (told.subject, data_of(told)["parent"], data_of(told)["ad"]) == ("17900", "18000", "6045")


@pytest.mark.django_db
def test_edits_and_removals_change_the_comment_and_tell_nothing(
    meta: RunningSandbox, channels: dict[str, Channel]
) -> None:
    """A removal that comes first keeps the comment out for good. An edit of an unknown comment makes none."""
    post(meta, of_page("remove", 5, comment_id="77_901"))
    post(meta, of_page(comment_id="77_901"))
    post(meta, of_page("edited", 5, comment_id="77_902"))
    assert (Comment.objects.get().text, TriggerEvent.objects.count()) == ("", 0)
    post(meta, of_page())
    post(meta, of_page("edited", 9, message="How much is it?"))
    post(meta, of_page("edited", 7, message="an older edit"))
    comment = Comment.objects.get(comment_id="77_900")
    assert comment.text == "How much is it?"
    post(meta, of_page("remove", 12))
    post(meta, of_page("edited", 14, message="after its removal"))
    comment.refresh_from_db()
    assert (comment.text, comment.removed_at) == ("", datetime.fromtimestamp(BEGUN + 12, UTC))
    assert TriggerEvent.objects.count() == 1


STRANGE = (
    of_page(author={"id": PAGE, "name": "The page itself"}),
    of_page("edited", author={"id": PAGE}),
    of_page("hide"),
    of_page(item="reaction", reaction_type="like"),
    of_page(item=["comment"]),
    of_page(author=None),
    of_page(comment_id="../me"),
    of_page(comment_id="1" * 200),
    of_instagram(author={"id": INSTAGRAM, "username": "us"}),
    of_instagram(author={"id": "99", "self_ig_scoped_id": "99"}),
    of_instagram(author={"id": {"$ne": 1}}),
    of_instagram(id=True),
    of_instagram("mentions", media_id="1", comment_id="2"),
    of_instagram("feed"),
)


@pytest.mark.parametrize("body", STRANGE, ids=range(len(STRANGE)))
def test_what_is_no_comment_of_a_person_is_only_counted(body: bytes) -> None:
    assert [type(fact) for fact in read(body)] == [Unknown]


def test_a_comment_is_bounded() -> None:
    huge: dict[str, Any] = {
        "text": "x\x00" * 50_000,
        "media": {"id": ["1"], "media_product_type": "y" * 5_000, "ad_id": "z"},
    }
    [fact] = read(of_instagram("live_comments", **huge, parent_id="1; DROP"))
    assert isinstance(fact, CommentReceived)
    assert (len(fact.text), fact.post_id, fact.parent_id, fact.details) == (8_000, "", "", {"media": "y" * 40})


@pytest.mark.django_db
def test_a_comment_is_answered_privately_once_within_a_week(meta: RunningSandbox, channels: dict[str, Channel]) -> None:
    page = channels["facebook"].pk
    post(meta, of_page())
    post(meta, of_page(comment_id="77_901", seconds=-7 * 86_400))
    post(meta, of_page(comment_id="77_902"))
    post(meta, of_page("remove", 3, comment_id="77_902"))
    asked = [(page, f"77_90{number}") for number in range(4)]
    comment = Comment.objects.get(comment_id="77_900")
    assert use_private_replies(asked, now=now()) == {(page, "77_900"): comment.at + timedelta(days=7)}
    assert use_private_replies(asked, now=now()) == {}


@pytest.mark.django_db
def test_comments_follow_their_contact(meta: RunningSandbox, a: Tenant, channels: dict[str, Channel]) -> None:
    post(meta, of_page())
    post(meta, of_instagram())
    kept, gone = Contact.objects.order_by("id")
    merge_contacts(contact=kept, other=gone, now=now(), by=SYSTEM)
    assert list(Comment.objects.values_list("contact_id", flat=True)) == [kept.pk] * 2
    remove_contact(contact=kept, now=now(), by=SYSTEM)
    assert not Comment.objects.exists()
