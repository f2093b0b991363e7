"""Shows appointments and money: a code, a race for one time, a deposit, an invoice, refunds, and equal books."""

import re
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.utils.crypto import salted_hmac

from tools.demo.api import WORKSPACE, Answer, DemoFailed, PatientClient
from tools.demo.browser import Browser, redirected
from tools.demo.progress import Progress
from tools.local.state import BOOTSTRAP, read_json, running_variables
from tools.sandbox.stripe.server import RunningStripe

STEPS = 11
CLIENTS = 8
KEY = "rk_test_demo_1234"
PRICE, DEPOSIT, PART = 119, 15, 19
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# The product takes no form that comes at once, because programs send such forms.
READING_SECONDS = 1.2
PAUSE_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class LocalSystem:
    """What the system that runs here tells its developer."""

    base_url: str
    workspace_key: str
    email: str
    password: str
    secret_key: str
    stripe_url: str

    @classmethod
    def read(cls, state: Path) -> "LocalSystem | None":
        """Give the running system's values; None if one of them is not known, or Stripe itself is used."""
        known, variables = read_json(state / BOOTSTRAP), running_variables(state)
        customer, workspace = known.get("customer") or {}, known.get("workspace") or {}
        values = (
            variables.get("PUBLIC_URL"),
            workspace.get("key"),
            customer.get("email"),
            customer.get("password"),
            variables.get("SECRET_KEY"),
            variables.get("STRIPE_API_URL"),
        )
        return cls(*map(str, values)) if all(values) and "127.0.0.1" in str(values[-1]) else None


class Books(NamedTuple):
    """Amounts in minor units, sorted."""

    payments: tuple[int, ...]
    refunds: tuple[int, ...]

    def __str__(self) -> str:
        def part(what: str, amounts: Sequence[int]) -> str:
            return f"{len(amounts)} {what} ({sum(amounts) / 100:.2f})"

        return f"{part('payments', self.payments)} and {part('refunds', self.refunds)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came of it: who got the raced time, how many appointments there are, and the books of both sides."""

    clients: int
    winners: int
    appointments: int
    ours: Books
    theirs: Books

    @property
    def problems(self) -> list[str]:
        found = []
        if self.winners != 1:
            found.append(f"{self.winners} of {self.clients} clients got the same time")
        if self.appointments != 2:
            found.append(f"there are {self.appointments} appointments, not 2")
        if self.ours != self.theirs or len(self.ours.payments) != 2 or len(self.ours.refunds) != 2:
            found.append(f"the books have {self.ours}, the payment provider's {self.theirs}")
        return found

    def __str__(self) -> str:
        books = "the same in both books" if self.ours == self.theirs else "but not the same in both books"
        return f"{self.winners} of {self.clients} clients got the time they all wanted; {self.ours}, {books}"


class BookingStory:
    """One visitor, and clients who race, at a service of this story's own. It is removed at the end."""

    def __init__(self, system: LocalSystem, progress: Progress, wait: float) -> None:
        self.system, self.progress, self.wait = system, progress, wait
        self.name = f"Demonstration {uuid.uuid4().hex[:6]}"
        self.api = self._client()
        self.browser = Browser(system.base_url)
        self.stripe = RunningStripe(system.stripe_url)
        self.sessions: list[str] = []
        self.staff = self.service = self.contact = self.slug = self.deposit = ""
        self.winners = 0

    def play(self) -> bool:
        """Play it all; say whether the figures are as they must be."""
        try:
            self.connect_payments()
            self.offer_service()
            self.race()
            self.book_with_code()
            self.pay_doubled()
            invoice = self.pay_lost()
            self.open_pdf(invoice)
            figures = self.figures(self.refund(invoice))
            self.clean_up()
        finally:
            self.stripe.control("hold", on=False)
        for problem in figures.problems:
            self.progress.problem(problem)
        self.progress.summary(str(figures))
        return not figures.problems

    # The workspace's side ---------------------------------------------------------------------------

    def connect_payments(self) -> None:
        """Sign in as the customer, and connect the stand-in for the payment provider."""
        started, browser = time.monotonic(), Browser(self.system.base_url)
        form = browser.get("/account/sign-in?next=/app/payment-account")
        redirected(browser.submit(form, 'name="password"', email=self.system.email, password=self.system.password))
        page = browser.get("/app/payment-account")
        answer = browser.submit(page, 'name="key"', key=KEY)
        if answer.status_code not in {302, 303}:  # a stand-in that has started anew knows no earlier account
            redirected(browser.submit(browser.get("/app/payment-account/disconnect"), "made_for", confirm="on"))
            page = browser.get("/app/payment-account")
            redirected(browser.submit(page, 'name="key"', key=KEY))
        self.slug = urlsplit(browser.link(browser.get("/app/booking-page"), "/book/")).path.rsplit("/", 1)[1]
        self.stripe.control("hold")
        self.stripe.control("take")
        self._step("POST", "card payments connected to the stand-in for Stripe", started)

    def offer_service(self) -> None:
        started = time.monotonic()
        self.staff = self._create("/staff", {"name": self.name})
        hours = {"timezone": "UTC", "weekly": {day: [["00:00", "24:00"]] for day in DAYS}, "exceptions": []}
        self.api.call("PUT", f"/staff/{self.staff}/working-hours", hours)
        offered = {"kind": "appointment", "duration_minutes": 30, "price": 40, "deposit": DEPOSIT}
        self.service = self._create("/services", {"name": self.name, "staff": [self.staff], **offered})
        self.contact = self._create("/contacts", {"name": self.name, "email": f"{uuid.uuid4().hex}@example.com"})
        self._step("POST", "a service with a deposit, and a staff member with hours", started)

    def race(self) -> None:
        """Let several clients book the same time at once."""
        day = datetime.now(UTC) + timedelta(days=1)
        asked = f"service={self.service}&from={day:%Y-%m-%dT%H:%M:%SZ}&to={day + timedelta(hours=3):%Y-%m-%dT%H:%M:%SZ}"
        starts_at = self.api.call("GET", f"/availability?{asked}").data[0]["starts_at"]
        wanted = {"service": self.service, "contact": self.contact, "starts_at": starts_at}
        clients = [self._client() for _ in range(CLIENTS)]

        def book(client: PatientClient) -> Answer:
            key = str(uuid.uuid4())
            return client.call("POST", "/appointments", wanted, also=(409,), idempotency_key=key)

        started = time.monotonic()
        with ThreadPoolExecutor(CLIENTS) as pool:
            answers = list(pool.map(book, clients))
        self.winners = sum(answer.status == 201 for answer in answers)
        self._step("POST", f"{CLIENTS} clients want the same time: {self.winners} got it", started)

    # The visitor's side -----------------------------------------------------------------------------

    def book_with_code(self) -> None:
        """Choose a time and type the code; a wrong one first. The deposit is asked for then."""
        started, browser = time.monotonic(), self.browser
        week = datetime.now(UTC) + timedelta(days=3)
        times = browser.get(f"/book/{self.slug}/{self.service}?week={week:%Y-%m-%d}")
        details = browser.get(browser.link(times, "/details[?]"))
        time.sleep(READING_SECONDS)
        typed = {"name": "Vera Visitor", "email": f"{uuid.uuid4().hex}@example.com"}
        page = browser.get(redirected(browser.submit(details, 'name="opened"', **typed)))
        code = self._code(urlsplit(page.url).path.rsplit("/", 1)[1])
        wrong = browser.submit(page, 'name="code"', code=f"{(int(code) + 1) % 1_000_000:06}")
        if wrong.status_code != 422:
            raise DemoFailed(f"A wrong code was answered with {wrong.status_code}.")
        self._step("POST", "a visitor chooses a time; a wrong code is refused", started)
        started = time.monotonic()
        self.deposit = redirected(browser.submit(page, 'name="code"', code=code))
        self._step("POST", "the code of the e-mail holds the time; the deposit is due", started)

    def _code(self, booking: str) -> str:
        """Compute the code that the product has sent to the visitor, with the key of the system that runs here."""
        secret, salt = self.system.secret_key, "appointments.booking_code"
        digest = salted_hmac(salt, uuid.UUID(booking).hex, secret=secret, algorithm="sha256").digest()
        return f"{int.from_bytes(digest[:8]) % 10**6:06}"

    def pay_doubled(self) -> None:
        """Pay the deposit. Each notice of the payment comes twice, in any order."""
        started = time.monotonic()
        back = self._pay(self.deposit)
        if not self.stripe.control("release", doubled=True, shuffled=True)["accepted"]:
            raise DemoFailed("No notice of the payment was accepted.")
        self._until(lambda: self.browser.get(back).status_code == 302, "the appointment whose deposit is paid")
        self._step("POST", "deposit paid, each notice came twice: the time is booked", started)

    def pay_lost(self) -> dict[str, Any]:
        """Issue an invoice and pay it. The notices are lost, and the product asks before the invoice is cancelled."""
        started = time.monotonic()
        lines = [{"description": "Consulting", "unit_price": PRICE}]
        invoice = self._create("/invoices", {"contact": self.contact, "lines": lines})
        issued = self.api.call("POST", f"/invoices/{invoice}/issue").data
        self._step("POST", f"invoice {issued['number']} issued", started)
        started = time.monotonic()
        page = self.browser.get(issued["pay_url"])
        self._pay(redirected(self.browser.submit(page, "/checkout")))
        self.stripe.control("release", lost=True)
        refused = self.api.call("POST", f"/invoices/{invoice}/void", also=(409,))
        status = self.api.call("GET", f"/invoices/{invoice}").data["status"]
        if (refused.status, status) != (409, "paid"):
            raise DemoFailed(f"An invoice that was paid is {status}.")
        self._step("POST", "paid, all notices lost: found by asking, and not cancelled", started)
        return dict(issued)

    def open_pdf(self, invoice: dict[str, Any]) -> None:
        started = time.monotonic()
        file = self.browser.get(f"{invoice['pay_url']}/invoice.pdf").content
        if not file.startswith(b"%PDF-"):
            raise DemoFailed("The invoice's PDF is none.")
        self._step("GET", f"its PDF opened: {len(file):,} bytes", started)

    def refund(self, invoice: dict[str, Any]) -> list[str]:
        """Give the deposit back, and a part of the invoice; give the ids of both invoices."""
        started = time.monotonic()
        visitors = [one for one in self._appointments() if one["contact"]["id"] != self.contact]
        of_deposit = self.api.call("GET", f"/invoices?contact={visitors[0]['contact']['id']}").data
        invoices = [of_deposit[0]["id"], invoice["id"]]
        payments = [self._payment(one) for one in invoices]
        for payment, amount in zip(payments, (DEPOSIT, PART), strict=True):
            self.api.call("POST", f"/payments/{payment['id']}/refunds", {"amount": amount})
        ended = [lambda one=one: self._refund_status(one) != "pending" for one in payments]
        for number, is_ended in enumerate(ended, 1):
            self._until(is_ended, f"refund {number} of 2")
        self._step("POST", "the deposit and a part of the invoice given back", started)
        return invoices

    def figures(self, invoices: list[str]) -> Figures:
        """Count appointments, and read the books of both sides."""
        ledger = self.stripe.control("ledger")
        intents = {one["payment_intent"] for one in ledger["sessions"] if one["id"] in self.sessions}
        refunds = [one for one in ledger["refunds"] if one["payment_intent"] in intents]
        succeeded = [one["amount"] for one in refunds if one["status"] == "succeeded"]
        received = [one["amount_received"] for one in ledger["intents"] if one["id"] in intents]
        payments = [self._payment(one) for one in invoices]
        ours, back = [_minor(one["amount"]) for one in payments], [_minor(one["refunded"]) for one in payments]
        return Figures(
            clients=CLIENTS,
            winners=self.winners,
            appointments=len(self._appointments()),
            ours=Books(tuple(sorted(ours)), tuple(sorted(filter(None, back)))),
            theirs=Books(tuple(sorted(received)), tuple(sorted(succeeded))),
        )

    def clean_up(self) -> None:
        """Cancel the appointments, and remove the service and who provides it."""
        started = time.monotonic()
        for appointment in self._appointments():
            self.api.call("POST", f"/appointments/{appointment['id']}/cancel", {"reason": "demonstration"})
        for path in (f"/services/{self.service}", f"/staff/{self.staff}"):
            self.api.call("DELETE", path, also=(404,))
        self._step("DELETE", "appointments cancelled, service removed", started)

    # Small steps ------------------------------------------------------------------------------------

    def _client(self) -> PatientClient:
        client = PatientClient(self.system.base_url, self.system.workspace_key, self.progress.remark)
        client.surface = WORKSPACE
        return client

    def _create(self, path: str, body: dict[str, Any]) -> str:
        return str(self.api.call("POST", path, body, idempotency_key=str(uuid.uuid4())).data["id"])

    def _appointments(self) -> list[dict[str, Any]]:
        return list(self.api.call("GET", f"/appointments?service={self.service}&status=booked").data)

    def _payment(self, invoice: str) -> dict[str, Any]:
        [payment] = self.api.call("GET", f"/invoices/{invoice}/payments").data
        return dict(payment)

    def _refund_status(self, payment: dict[str, Any]) -> str:
        return str(self.api.call("GET", f"/payments/{payment['id']}/refunds").data[0]["status"])

    def _pay(self, address: str) -> str:
        """Press the button of the provider's page; give the address to which the payer returns."""
        self.sessions.append(re.sub(r"[?#].*", "", address).rsplit("/", 1)[1])
        return redirected(self.browser.submit(self.browser.get(address), 'value="pay"', decision="pay"))

    def _until(self, is_true: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + self.wait
        while not is_true():
            if time.monotonic() > until:
                raise DemoFailed(f"{what[0].upper()}{what[1:]} did not come within {self.wait:.0f} seconds.")
            time.sleep(PAUSE_SECONDS)

    def _step(self, method: str, what: str, started: float) -> None:
        self.progress.step(method, what, (time.monotonic() - started) * 1000)


def _minor(amount: float) -> int:
    return round(amount * 100)
