"""Makes a certificate authority for one run, and a certificate for this machine's own address."""

from pathlib import Path

import trustme


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write an authority's certificate, and a file with a certificate for 127.0.0.1 and its key; give both paths."""
    authority = trustme.CA()
    authority_file, own_file = folder / "authority.pem", folder / "receiver.pem"
    authority.cert_pem.write_to_path(str(authority_file))
    own_file.touch(mode=0o600)
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(own_file))
    return authority_file, own_file
