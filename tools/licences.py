"""Writes docs/licences.md: the installed packages and their licences.

`python -m tools.licences PIP_LICENSES` runs the program pip-licenses for the packages of lock/production.txt.
"""

import json
import re
import subprocess
import sys

from packaging.markers import Marker

from tools.local import ROOT

PAGE = ROOT / "docs" / "licences.md"
# The Python and platform of deploy/Dockerfile. On other platforms a few packages differ.
INSTALLATION = {
    "python_full_version": "3.11.14",
    "python_version": "3.11",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}
HEAD = """# Licences of what is installed

Made by `make licences` from `lock/production.txt`, as the image has it (CPython 3.11 on Linux). A package's own files
have the licence's text, in `site-packages/*.dist-info`. Wheels with compiled parts bring libraries along:
psycopg-binary libpq (PostgreSQL's licence) and OpenSSL (Apache-2.0), cryptography OpenSSL, pycurl libcurl (curl's
licence) and OpenSSL, pillow the libraries that its own `LICENSE` names.

| Package | Version | Licence | Where it comes from |
| - | - | - | - |
"""


def locked() -> dict[str, str]:
    """Give the version of each package of an installation, by its name in the lock file."""
    lines = re.findall(
        r"^([\w.-]+)==([^\s;\\]+)(?: ; ([^\\\n]+?))?(?: \\)?$",
        (ROOT / "lock" / "production.txt").read_text(),
        re.MULTILINE,
    )
    return {
        name: version for name, version, marker in lines if not marker or Marker(marker).evaluate(dict(INSTALLATION))
    }


def main(program: str) -> int:
    """Write the page. The status is 1 if a package of the lock file is not installed here in that version."""
    wanted = locked()
    command = [program, "--python", sys.executable, "--format=json", "--from=mixed", "--with-urls", "--with-system"]
    answer = subprocess.run([*command, "--packages", *wanted], capture_output=True, check=True)
    found = {normal(one["Name"]): one for one in json.loads(answer.stdout)}
    rows = []
    for name, version in sorted(wanted.items()):
        one = found.get(normal(name), {})
        if one.get("Version") != version:
            print(f"{name} {version} is not installed here; `make install` does that.", file=sys.stderr)
            return 1
        rows.append(f"| {name} | {version} | {one['License'].replace('|', '/')} | {one['URL']} |\n")
    PAGE.write_text(HEAD + "".join(rows))
    return 0


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
