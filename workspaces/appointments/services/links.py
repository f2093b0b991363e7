"""The tokens of secret links, and the links on which contacts manage their appointments and seats in classes."""

import secrets
from hashlib import sha256
from typing import Final

from agency.services.hosts import base_url_of
from workspaces.appointments.models import Appointment, ClassBooking

TOKEN_BYTES: Final = 32
LONGEST_TOKEN: Final = 64


def new_token() -> tuple[str, bytes]:
    """Return a new token and its digest."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    return token, digest_of(token)


def digest_of(token: str) -> bytes:
    """Return the digest by which a token is found."""
    return sha256(token.encode(errors="replace")).digest()


def manage_url(appointment: Appointment) -> str:
    """Return the address of the page on the agency's host. Its holder may move and cancel the appointment."""
    return f"{base_url_of(appointment.workspace.agency_id)}/book/manage/{appointment.token}"


def appointment_of_token(token: str) -> Appointment | None:
    """Find the appointment that a link is about."""
    if len(token) > LONGEST_TOKEN:
        return None
    rows = Appointment.objects.with_names().select_related("workspace")
    return rows.filter(token_digest=digest_of(token)).first()


def seat_url(booking: ClassBooking) -> str:
    """Return the address of the page on the agency's host. Its holder may give the seat back."""
    return f"{base_url_of(booking.session.workspace.agency_id)}/book/seat/{booking.token}"


def class_booking_of_token(token: str) -> ClassBooking | None:
    """Find the booking of a class that a link is about."""
    if len(token) > LONGEST_TOKEN:
        return None
    return ClassBooking.objects.with_names().filter(token_digest=digest_of(token)).first()
