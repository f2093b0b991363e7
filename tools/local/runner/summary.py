"""What a newcomer reads once the system is ready."""

from typing import Any

UNKNOWN = "(known only at creation; `make manage ARGS='bootstrap --rotate'` makes a new one)"


def summary(url: str, known: dict[str, Any], seconds: float) -> str:
    """Give the addresses, log-ins and keys, one a line."""
    rows = [("Ready after", f"{seconds:.1f} s"), ("Address", url), ("Health", f"{url}/healthz  {url}/readyz")]
    for name, title in (("console", "Console"), ("admin", "Support admin")):
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
    width = max(len(title) for title, _ in rows)
    lines = [f"  {title:<{width}}  {text}" for title, text in rows]
    return "\n".join(["", *lines, "", "  ^C ends everything.", ""])
