"""The seller and the buyer, as an invoice keeps them."""

from dataclasses import asdict, dataclass
from typing import Self

LONGEST_ADDRESS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """The seller or the buyer of an invoice, as the invoice keeps it. A buyer has no tax number and no texts."""

    name: str = ""
    address: str = ""
    vat_id: str = ""
    email: str = ""
    phone: str = ""
    tax_number: str = ""
    payment_details: str = ""
    footer: str = ""

    @classmethod
    def from_json(cls, stored: dict[str, str]) -> Self:
        return cls(**stored)

    def as_json(self) -> dict[str, str]:
        """Return the parts that are not empty."""
        return {name: text for name, text in asdict(self).items() if text}
