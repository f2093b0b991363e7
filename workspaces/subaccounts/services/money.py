"""Currencies, and amounts of money as people of a language write them."""

from decimal import Decimal

from config.formats import format_currency

CURRENCY_CODES = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP
CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD
IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR
MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP
SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG
XOF XPF YER ZAR ZMW ZWG
"""
CURRENCIES = tuple(CURRENCY_CODES.split())
# Currencies whose amounts have no decimals, and those with three. All others have two.
WITHOUT_DECIMALS = frozenset(
    ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF")
)
WITH_THREE_DECIMALS = frozenset(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"))


def decimals_of(currency: str) -> int:
    """Give how many decimals amounts in a currency of ISO 4217 have."""
    if currency in WITHOUT_DECIMALS:
        return 0
    return 3 if currency in WITH_THREE_DECIMALS else 2


def from_minor(minor: int, exponent: int) -> Decimal:
    """Return an amount in major units, with all decimals of its currency."""
    return Decimal(minor).scaleb(-exponent)


def format_money(minor: int, currency: str, language: str = "") -> str:
    """Write an amount of minor units, such as `€1,234.50`. Without a language it is the page's."""
    exponent = decimals_of(currency)
    return format_currency(from_minor(minor, exponent), currency, exponent, language)


def format_price(price: Decimal, currency: str, language: str = "") -> str:
    """Write a price. It keeps decimals that its currency does not have. Without a language it is the page's."""
    exponent = decimals_of(currency)
    own = -int(price.as_tuple().exponent)
    return format_currency(price, currency, exponent if price == round(price, exponent) else own, language)
