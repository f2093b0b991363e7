"""PostgreSQL and Valkey beside the checkout, and the runner that starts the whole system on them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATE = ROOT / ".local"
