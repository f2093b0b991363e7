"""E-mails as people get them: text and HTML that say the same, from whom they know, and nothing hidden in them."""

import re
from html.parser import HTMLParser
from itertools import product

import pytest
from django.conf import settings
from django.core import mail as outbox
from django.core.mail import EmailMultiAlternatives
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, Domain, Mail, MailSettings, User
from agency.services import change_sender, queue_mail, set_accent, set_picture
from agency.services.mail.content import Sender
from agency.services.mail.html import blocks_of
from agency.services.mail.queue import agency_server_for
from agency.services.mail.settings import SenderRefused
from agency.services.passwords import answer_address_requests
from agency.tasks import send_mail
from config.errors import InvalidInput
from tests.agency.mail_samples import BLANK_LINE, every_mail, html_of
from tests.agency.mail_servers import a_mail
from tests.factories import AgencyFactory, DomainFactory, MemberFactory, UserFactory, WorkspaceFactory
from tests.images.pictures import a_picture
from tests.tenants import Tenant
from workspaces.finance.models import Invoice
from workspaces.finance.services.invoices import credit_invoice
from workspaces.subaccounts.services import create_workspace

pytestmark = pytest.mark.django_db


OPENS_NO_ACCOUNT = {"test", "domain_record_missing", "agency_message"}


class Page(HTMLParser):
    """What an HTML part holds: its tags with their attributes, and what a person reads."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.inside: list[str] = []
        # Each text by the element with a class that it stands in, such as the paragraphs in `p.text`.
        self.texts: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        classes = dict(attributes).get("class") or ""
        if tag not in {"br", "img", "meta"}:
            self.inside.append(".".join([tag, *classes.split()]))
        if tag in {"p", "div", "a", "title"}:
            self.texts.append((self.inside[-1], ""))

    def handle_endtag(self, tag: str) -> None:
        self.inside.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.texts:
            name, text = self.texts[-1]
            self.texts[-1] = name, f"{text} {data}"

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def all_texts(self, *names: str) -> list[str]:
        """Give the texts of the elements of these names, such as `p.text`, in their order."""
        return [" ".join(text.split()) for name, text in self.texts if name in names]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def word_s(html: str) -> Page:
    """Give what Outlook on Windows reads: it draws with Word, for which some comments are markup."""
    without = re.sub(r"<!--\[if !mso\]><!-->.*?<!--<!\[endif\]-->", "", html, flags=re.DOTALL)
    return Page(re.sub(r"<!--\[if mso\]>(.*?)<!\[endif\]-->", r"\1", without, flags=re.DOTALL))


def sent() -> EmailMultiAlternatives:
    send_mail()
    message = outbox.outbox[-1]
    assert isinstance(message, EmailMultiAlternatives)
    return message


def header(message: EmailMultiAlternatives, name: str) -> str:
    return str(message.message()[name])


def test_each_e_mail_says_the_same_in_text_and_html_and_leads_to_the_same_place(a: Tenant) -> None:
    samples = every_mail(a.agency)
    assert {sample.mail.kind for sample in samples} == set(Mail.Kind)
    for sample, language in product(samples, dict(settings.LANGUAGES)):
        message = sample.render(language)
        page = Page(html_of(message))
        [root], [button], [preview, *_] = page.all("html"), page.all_texts("a.button.edged"), page.all_texts("div")
        assert root["lang"] == language
        assert [one["href"] for one in page.all("a")] == [sample.link] * 2
        paragraphs = [" ".join(part.split()) for part in str(message.body).strip().split(BLANK_LINE)]
        in_words = [part.removesuffix(sample.link).strip() or button for part in paragraphs]
        name = [sample.mail.agency.name] if sample.mail.agency else []
        assert page.all_texts("p.text", "a.button.edged") == [*name, *in_words]
        assert preview
        assert " ".join(part for part in in_words[1:] if part != button).startswith(preview.removesuffix("…"))
    written = samples[0].render("en").message()
    assert written.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in written.get_payload()] == ["text/plain", "text/html"]  # type: ignore[union-attr]  # parts


def test_a_link_that_no_sentence_introduces_has_the_button_s_label_above_it(a: Tenant) -> None:
    bodies = {sample.mail.kind: str(sample.render("en").body) for sample in every_mail(a.agency)}
    assert "\n\nOpen the appointment\nhttp://" in bodies["appointment_cancelled"]
    assert "Choose your password here. The link works once, for three days:\n\nhttp" in bodies["owner_invitation"]


def test_an_invoice_that_is_not_paid_online_has_no_button_and_names_no_address(a: Tenant) -> None:
    [sample] = [one for one in every_mail(a.agency) if one.mail.kind == Mail.Kind.INVOICE]
    invoice = Invoice.objects.get(uuid=sample.mail.context["invoice"])
    sample.mail.context["invoice"] = str(credit_invoice(invoice=invoice, now=now(), by=SYSTEM).uuid)
    message = sample.render("en")
    assert "credit note" in str(message.body)
    assert Page(html_of(message)).all("a") == []


def test_outlook_on_windows_gets_a_table_of_one_width_and_one_logo_with_its_size(a: Tenant) -> None:
    for kind in ("logo", "dark_logo"):
        set_picture(kind=kind, agency=a.agency, file=a_picture(960, 160), by=SYSTEM)
    a_mail(a.agency)
    html = html_of(sent())
    page = word_s(html)
    assert page.inside == []
    assert [(one.get("role"), one.get("width")) for one in page.all("table")] == [
        ("presentation", "520"),
        ("presentation", None),
    ]
    [logo] = page.all("img")
    assert (logo["width"], logo["height"]) == ("240", "40")
    assert {one["width"] for one in Page(html).all("img")} == {"240"}
    button = page.all("td")[-1]
    assert str(button["bgcolor"]) in str(page.all("a")[0]["style"])


def test_nothing_of_another_host_is_in_it_and_nothing_follows_who_reads_it(a: Tenant) -> None:
    DomainFactory.create(agency=a.agency, host="app.bright.localhost")
    set_picture(kind="logo", agency=a.agency, file=a_picture(), by=SYSTEM)
    a_mail_to_a_customer(a)
    page = Page(html_of(sent()))
    [logo] = page.all("img")
    assert re.fullmatch(r"http://app\.bright\.localhost/brand/[0-9a-f]{64}\.png", logo["src"] or "")
    assert logo["alt"] == a.agency.name
    assert all((one["href"] or "").startswith("http://app.bright.localhost/") for one in page.all("a"))
    assert not {"script", "link", "iframe", "form", "table", "video", "object"} & {tag for tag, _ in page.tags}
    names = {one.get("name") for one in page.all("meta")}
    assert {"viewport", "color-scheme"} <= names
    assert "http://testserver" not in page.text


@pytest.mark.parametrize(("accent", "on"), [("#ffcc00", "#000000"), ("#1f6feb", "#ffffff"), ("#767676", "#ffffff")])
def test_the_button_has_the_agency_s_colour_and_text_in_contrast_to_it(accent: str, on: str, a: Tenant) -> None:
    set_accent(agency=a.agency, accent=accent, by=SYSTEM)
    a_mail(a.agency)
    [button] = [one for one in Page(html_of(sent())).all("a") if "button" in (one.get("class") or "")]
    assert f"background: {accent}; color: {on};" in (button["style"] or "")


def test_what_a_tenant_has_written_is_text(a: Tenant) -> None:
    name = "<img src=x onerror=alert(1)> {{ 7 }} & co"
    agency = AgencyFactory.create(name=name)
    a_mail(agency)
    html = html_of(sent())
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt; {{ 7 }} &amp; co" in html


@pytest.mark.parametrize(
    "name",
    [
        "Bright",
        "Schöne Grüße GmbH",
        "株式会社" * 30,
        'Say "hi", <all>; (now)',
        "Bright\r\nBcc: all@example.com",
        "Bright\u2028Bcc: all@example.com",
        "a" * 120,
        "=?utf-8?q?Bcc?=",
        "evil@bank.example <x",
    ],
)
def test_a_sender_s_name_is_one_header_whatever_it_holds(name: str) -> None:
    agency = AgencyFactory.create(name="Plain")
    Agency.objects.filter(pk=agency.pk).update(name=name)
    agency.refresh_from_db()
    a_mail(agency)
    message = sent()
    written = message.message()
    assert {key.lower() for key in written.keys()} == {  # noqa: SIM118 - a message, not a dictionary
        "content-type", "mime-version", "subject", "from", "to", "date", "message-id", "auto-submitted",
    }  # fmt: skip
    raw = written.as_bytes().split(b"\n\n")[0]
    assert not re.search(rb"^bcc:", raw, re.MULTILINE | re.IGNORECASE)
    assert raw.isascii()
    assert "=?utf-8?q?Bcc?=" not in header(message, "From")
    assert header(message, "From").endswith("<no-reply@localhost>")
    assert header(message, "Message-ID").endswith("@localhost>")


def test_the_sender_chosen_by_the_agency_is_in_every_e_mail_of_it_and_in_no_other(a: Tenant, b: Tenant) -> None:
    change_sender(agency=a.agency, sender_name="Zoë of Bright", reply_to="Team@Bright.example", by=SYSTEM)
    a_mail(a.agency)
    message = sent()
    assert header(message, "From") == "=?utf-8?q?Zo=C3=AB_of_Bright?= <no-reply@localhost>"
    assert header(message, "Reply-To") == "team@bright.example"
    queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=UserFactory.create(), context={})
    assert header(sent(), "From") == "no-reply@localhost"
    a_mail(b.agency)
    assert header(sent(), "From") == f"{b.agency.name} <no-reply@localhost>"
    assert outbox.outbox[-1].reply_to == []


@pytest.mark.parametrize(
    "name", ["help@bank.example", "Bright\nBcc: x", "www.bank.example", "a\u202eb", "=?utf-8?q?help=40bank.example?="]
)
def test_a_sender_s_name_pretends_to_be_nobody_else(name: str, a: Tenant) -> None:
    with pytest.raises(SenderRefused):
        change_sender(agency=a.agency, sender_name=name, reply_to="", by=SYSTEM)


@pytest.mark.parametrize(
    "address",
    ["nobody", "a@b.example\r\nBcc: x@y.example", "a@b.example, c@d.example", "<a@b.example>", '"a"@b.example'],
)
def test_an_address_for_answers_is_one_address(address: str, a: Tenant) -> None:
    with pytest.raises(InvalidInput):
        change_sender(agency=a.agency, sender_name="", reply_to=address, by=SYSTEM)


def test_only_a_paragraph_that_is_the_link_becomes_the_button() -> None:
    blocks = blocks_of("Hello,\n\nopen\nhttps://x.example/a now:\n\nhttps://x.example/a\n\nBye", "https://x.example/a")
    assert [(block.text, block.is_link) for block in blocks] == [
        ("Hello,", False),
        ("open\nhttps://x.example/a now:", False),
        ("https://x.example/a", True),
        ("Bye", False),
    ]


def test_a_name_that_encodes_nothing_is_written_as_it_is() -> None:
    assert Sender("Bright", "a@b.example").header == "Bright <a@b.example>"
    assert Sender("", "a@b.example").header == "a@b.example"


def test_a_server_that_nobody_trusts_carries_no_link_that_opens_an_account(a: Tenant) -> None:
    MailSettings.objects.create(
        agency=a.agency, host="x.example", port=465, security="tls", from_address="a@x.example", verified_at=now()
    )
    person, carried = UserFactory.create(password="!"), set()
    for kind in Mail.Kind:
        mail = queue_mail(kind=kind, user=person, agency=a.agency, context={})
        if agency_server_for(mail, now()):
            carried.add(kind.value)
    assert carried <= OPENS_NO_ACCOUNT


OWN, OURS = "http://app.bright.localhost/account/set-password/", "http://testserver/account/set-password/"


def a_customer(*tenants: Tenant) -> User:
    """Owns a workspace of each of these agencies."""
    person = UserFactory.create(password="long-known-password")
    for tenant in tenants:
        WorkspaceFactory.create(agency=tenant.agency, owner_email=person.email)
    return person


def named_as_owner(tenant: Tenant, person: User) -> None:
    """Asked to own a workspace, and not answered yet."""
    create_workspace(
        agency=tenant.agency, name="Salon", owner_name="Ada", owner_email=person.email, now=now(), by=SYSTEM
    )


def a_mail_to_a_customer(tenant: Tenant) -> None:
    queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=a_customer(tenant), agency=tenant.agency, context={})


def test_a_link_that_sets_a_password_is_on_the_host_of_the_one_agency_of_its_person(a: Tenant, b: Tenant) -> None:
    """Whoever has a host's DNS may read what is typed there, and one person has one account at all agencies."""
    domain = DomainFactory.create(agency=a.agency, host="app.bright.localhost")
    customer, both, nobody = a_customer(a), a_customer(a, b), UserFactory.create()
    colleague, support = UserFactory.create(), a_customer(a)
    MemberFactory.create(agency=a.agency, email=colleague.email)
    User.objects.filter(pk=support.pk).update(is_staff=True)
    fresh = WorkspaceFactory.create(agency=a.agency).owner
    invited_by_both = WorkspaceFactory.create(agency=a.agency).owner
    named_as_owner(b, invited_by_both)
    Mail.objects.all().delete()
    places = {customer: OWN, colleague: OWN, fresh: OWN, both: OURS, nobody: OURS, support: OURS, invited_by_both: OURS}
    for person, place in places.items():
        for kind in (Mail.Kind.PASSWORD_RESET, Mail.Kind.NEW_SIGN_IN):
            queue_mail(kind=kind, user=person, agency=a.agency, context={})
            assert place in str(sent().body)
    Domain.objects.filter(pk=domain.pk).update(failing_since=now())
    a_mail_to_a_customer(a)
    assert OURS in str(sent().body)


def test_who_asks_on_the_host_of_an_agency_that_is_not_theirs_is_written_to_by_the_installation(
    a: Tenant, b: Tenant
) -> None:
    DomainFactory.create(agency=a.agency, host="app.bright.localhost")
    customer, stranger = a_customer(a), a_customer(b)
    waiting = UserFactory.create(password="long-known-password")  # named as owner, and has accepted nothing
    named_as_owner(a, waiting)
    Mail.objects.all().delete()
    browser = Client(headers={"host": "app.bright.localhost"})
    for person in (customer, stranger, waiting):
        assert browser.post("/account/password-reset", {"email": person.email}).status_code == 302
    answer_address_requests()
    assert list(Mail.objects.order_by("id").values_list("user", "agency")) == [
        (customer.pk, a.agency.pk),
        (stranger.pk, None),
        (waiting.pk, None),
    ]
    send_mail()
    [own, *others] = [str(message.body) for message in outbox.outbox]
    assert OWN in own
    assert all(OURS in other for other in others)
