"""The summary that a newcomer reads once the system is ready."""

from typing import Any

UNKNOWN = "(known only at creation; `make manage ARGS='bootstrap --rotate'` makes a new one)"

LOG_INS = {"console": "Console", "customer": "Customer's dashboard", "admin": "Support admin"}
MAILS_HERE = "are not sent: each is printed below, in lines that begin with `mail`, with the links in it"


def summary(url: str, known: dict[str, Any], seconds: float) -> str:
    """Give the addresses, log-ins and keys, one on each line."""
    rows = [
        ("Ready after", f"{seconds:.1f} s"),
        ("Address", url),
        ("API references", f"{url}/api/docs/agency  {url}/api/docs/workspace"),
        ("Health", f"{url}/healthz  {url}/readyz"),
    ]
    for name, title in LOG_INS.items():
        login = known.get(name) or {}
        if login:
            rows.append((title, f"{login.get('url')}  {login.get('email')}  {login.get('password') or UNKNOWN}"))
    for name, title in (("agency_key", "Agency key"), ("copy_key", "Agency key that may copy")):
        if name in known:
            rows.append((title, str(known[name] or UNKNOWN)))
    workspace = known.get("workspace") or {}
    if workspace:
        rows.append(("Workspace", f"{workspace.get('uuid')}  {workspace.get('name')}"))
        rows.append(("Workspace key", str(workspace.get("key") or UNKNOWN)))
    if known.get("sandbox"):
        rows.append(("Sandbox provider", str(known["sandbox"])))
    rows.append(("E-mails", f"go to {known['smtp']}" if known.get("smtp") else MAILS_HERE))
    width = max(len(title) for title, _ in rows)
    lines = [f"  {title:<{width}}  {text}" for title, text in rows]
    return "\n".join(["", *lines, "", "  ^C ends everything.", ""])
