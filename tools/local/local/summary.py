"""What a newcomer reads once the system is ready."""

from typing import Any

UNKNOWN = "(known only at creation; `./manage.py bootstrap --rotate` makes a new one)"


def summary(url: str, told: dict[str, Any], seconds: float) -> str:
    """Give the addresses, log-ins and keys, one a line."""
    rows = [("Ready after", f"{seconds:.1f} s"), ("Address", url), ("Health", f"{url}/healthz  {url}/readyz")]
    for name, title in (("console", "Console"), ("admin", "Support admin")):
        door = told.get(name) or {}
        if door:
            rows.append((title, f"{door.get('url')}  {door.get('email')}  {door.get('password') or UNKNOWN}"))
    for name, title in (("agency_key", "Agency key"), ("copy_key", "Agency key that may copy")):
        if name in told:
            rows.append((title, str(told[name] or UNKNOWN)))
    workspace = told.get("workspace") or {}
    if workspace:
        rows.append(("Workspace", f"{workspace.get('uuid')}  {workspace.get('name')}"))
        rows.append(("Workspace key", str(workspace.get("key") or UNKNOWN)))
    if told.get("sandbox"):
        rows.append(("Sandbox provider", str(told["sandbox"])))
    width = max(len(title) for title, _ in rows)
    lines = [f"  {title:<{width}}  {text}" for title, text in rows]
    return "\n".join(["", *lines, "", "  ^C ends everything.", ""])
