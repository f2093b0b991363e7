import os
from datetime import timedelta
import pytest
from django.conf import settings as project
from django.test import Client
from django.utils.timezone import now
from broadcasts.models import Broadcast, Wave, BroadcastCount, Recipient
from broadcasts.content import FrozenMessage
from broadcasts.services.costs import add_billed
from broadcasts.services.costs.billing import Billed
from broadcasts.services.creating import create_broadcast
from channelconnect.models import ChannelCredential, MessageTemplate
from tests.broadcasts.under_way import a_broadcast, a_recipient
from tests.factories import ChannelFactory, ContactFactory, SegmentFactory, WorkspaceFactory
from tests.agency.console.browsers import a_member
from agency.actors import SYSTEM

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OUT = "/tmp/links-shots"


def test_shots(browser, live_server):
    os.makedirs(OUT, exist_ok=True)
    ws = WorkspaceFactory.create(name="Quayside Cycles", owner_email="o@example.com")
    ch = ChannelFactory.create(workspace=ws, name="Quayside Support")
    ChannelCredential.objects.create(channel=ch, token="t", container_id="c1")
    t = MessageTemplate.objects.create(
        container_id="c1",
        name="summer_sale",
        language="en_US",
        category="marketing",
        status="approved",
        components=[
            {"type": "HEADER", "format": "IMAGE"},
            {"type": "BODY", "text": "Hello {{1}}, the *summer sale* begins on {{2}}. _See you soon_ ~later~"},
            {"type": "FOOTER", "text": "Reply STOP to hear nothing more"},
            {
                "type": "BUTTONS",
                "buttons": [
                    {"type": "URL", "text": "See the offers", "url": "https://x/l/{{1}}"},
                    {"type": "QUICK_REPLY", "text": "Call me"},
                ],
            },
        ],
        parameters=[
            {"component": "header", "index": 1, "name": None, "type": "image", "example": None},
            {"component": "body", "index": 1, "name": None, "type": "text", "example": "Ada"},
            {"component": "body", "index": 2, "name": None, "type": "text", "example": "1 June"},
            {"component": "button", "index": 0, "name": None, "type": "url", "example": "offers"},
        ],
    )
    SegmentFactory.create(workspace=ws, name="Regulars")
    b = a_broadcast(
        channel=ch,
        name="Autumn sale for everybody",
        recipients_count=1840,
        message={
            "text": "Hello {{contact.first_name}}, look: https://shop.example/sale",
            "track_clicks": True,
            "template": None,
            "language": None,
            "components": [],
            "header": None,
        },
    )
    BroadcastCount.objects.create(
        broadcast_id=b.pk,
        bucket=0,
        pending=840,
        sent=100,
        delivered=300,
        read=520,
        failed=30,
        skipped=50,
        held=800,
        clicked=91,
    )
    for i in range(14):
        Wave.objects.create(
            broadcast=b, due_at=now() + timedelta(hours=i - 3), total=(i * 53) % 400 + 3, timezones=["UTC"]
        )
    from datetime import date

    add_billed(
        {
            Billed(b.pk, date(2026, 11, 1), "marketing", "DE", True): 700,
            Billed(b.pk, date(2026, 11, 1), "marketing", "US", False): 12,
        }
    )
    for s, more in [
        ("read", {}),
        ("failed", {"error_code": "131026", "error_message": "The message cannot be delivered to this number."}),
        ("skipped", {"skip_reason": "opted_out", "address": None}),
        ("failed", {"error_code": "send_outcome_unknown"}),
        ("pending", {}),
        ("delivered", {"clicked_at": now()}),
    ]:
        a_recipient(b, status=s, **({"sent_at": now()} if s in ("read", "delivered") else {}), **more)
    d = a_broadcast(
        channel=ch,
        name="Paused",
        status="paused",
        paused_reason="The template summer_sale was paused by WhatsApp: people reported it.",
    )
    dr = create_broadcast(
        workspace=ws,
        now=now(),
        by=SYSTEM,
        name="A draft with a template",
        channel=ch,
        audience={"type": "segment", "segment": "all"},
        message={
            "template": "summer_sale",
            "language": "en_US",
            "components": [
                {
                    "type": "body",
                    "parameters": [
                        {"type": "text", "text": "{{contact.first_name}}"},
                        {"type": "text", "text": "1 June"},
                    ],
                },
                {
                    "type": "button",
                    "sub_type": "url",
                    "index": "0",
                    "parameters": [{"type": "text", "text": "https://shop.example"}],
                },
            ],
            "header": {"url": "https://93.184.215.14/a.png"},
        },
        timezone_mode="contact",
        scheduled_local_at="2026-12-24 09:00:00",
        requires_approval=True,
    )
    member = a_member(ws.agency, "owner")

    def cookies(person):
        c = Client()
        c.force_login(person)
        return [
            {
                "name": project.SESSION_COOKIE_NAME,
                "value": c.cookies[project.SESSION_COOKIE_NAME].value,
                "url": live_server.url,
            }
        ]

    pages = {
        "list": "/app/broadcasts",
        "new": "/app/broadcasts/new",
        "detail": f"/app/broadcasts/{b.uuid}",
        "draft": f"/app/broadcasts/{dr.uuid}",
        "edit": f"/app/broadcasts/{dr.uuid}/edit",
        "preview": f"/app/broadcasts/{dr.uuid}/preview",
        "recipients": f"/app/broadcasts/{b.uuid}/recipients",
        "test": f"/app/broadcasts/{dr.uuid}/test",
        "cancel": f"/app/broadcasts/{b.uuid}/cancel",
    }
    console = {"c-list": "/console/broadcasts", "c-one": f"/console/broadcasts/{b.uuid}"}
    for theme in os.environ.get("THEMES", "light").split(","):
        for width in [int(w) for w in os.environ.get("WIDTHS", "1280").split(",")]:
            for who, some in ((ws.owner, pages), (member.user, console)):
                ctx = browser.new_context(
                    base_url=live_server.url, color_scheme=theme, viewport={"width": width, "height": 900}
                )
                ctx.add_cookies(cookies(who))
                page = ctx.new_page()
                errors = []
                page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
                page.on("pageerror", lambda e: errors.append(str(e)))
                for name, path in some.items():
                    if os.environ.get("ONLY") and name not in os.environ["ONLY"].split(","):
                        continue
                    r = page.goto(path)
                    print(name, r.status, page.url, errors, page.evaluate("document.documentElement.scrollWidth"))
                    page.screenshot(path=f"{OUT}/{name}-{theme}-{width}.png", full_page=True)
                ctx.close()
