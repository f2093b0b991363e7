"""The currencies of ISO 4217 that people pay in."""

CODES = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP
CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD
IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR
MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP
SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG
XOF XPF YER ZAR ZMW ZWG
"""
CURRENCIES = tuple(CODES.split())
# Currencies whose amounts have no decimals, and those with three. All others have two.
WITHOUT_DECIMALS = frozenset(
    ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF")
)
WITH_THREE = frozenset(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"))


def decimals_of(currency: str) -> int:
    """Give how many decimals amounts in a currency of ISO 4217 have."""
    if currency in WITHOUT_DECIMALS:
        return 0
    return 3 if currency in WITH_THREE else 2
