"""The customers' side, as small Django apps that stand on the agency: sub-accounts, and what each of them runs."""
