"""Folders of trust anchors in which libraries find a certificate by the hash of its subject."""

import hashlib
import tempfile
from collections import Counter
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from kexbench.material import der

FOLDER_SUFFIX = ".d"
"""Behind the name of the bundle that a folder holds the certificates of."""
_TEXTS = {
    0x0C: "utf-8",
    0x13: "ascii",
    0x14: "latin-1",
    0x16: "ascii",
    0x1A: "ascii",
    0x1C: "utf-32-be",
    0x1E: "utf-16-be",
}
"""Encodings of strings in names, by tag."""
_UTF8 = 0x0C


def lay_out(bundle: Path) -> None:
    """Make the folder of a bundle beside it, whole or not at all. An existing one stays."""
    folder = bundle.with_name(bundle.name + FOLDER_SUFFIX)
    if folder.exists():
        return
    with tempfile.TemporaryDirectory(dir=bundle.parent, prefix=".new-") as temporary:
        made = Path(temporary) / "made"
        made.mkdir(mode=0o755)
        seen: Counter[str] = Counter()
        for certificate in x509.load_pem_x509_certificates(bundle.read_bytes()):
            name = subject_hash(certificate)
            (made / f"{name}.{seen[name]}").write_bytes(certificate.public_bytes(Encoding.PEM))
            seen[name] += 1
        try:
            made.rename(folder)
        except OSError:  # another process was first
            if not folder.exists():
                raise


def subject_hash(certificate: x509.Certificate) -> str:
    """As `openssl x509 -subject_hash` prints it: of the name's canonical form (`x509_name_canon` in
    crypto/x509/x_name.c of OpenSSL), in which strings have one encoding, lower case and single blanks."""
    parts = (_canonical_part(part) for part in der.children(certificate.subject.public_bytes()))
    digest = hashlib.sha1(b"".join(parts), usedforsecurity=False).digest()
    return f"{int.from_bytes(digest[:4], 'little'):08x}"


def _canonical_part(part: bytes) -> bytes:
    entries = []
    for entry in der.children(part):
        kind, value = der.children(entry)
        if encoding := _TEXTS.get(value[0]):
            words = der.content_of(value).decode(encoding).split()
            lower = " ".join(words).encode().lower()
            value = der.element(_UTF8, lower)
        entries.append(der.element(der.SEQUENCE, kind, value))
    return der.element(_SET, *sorted(entries))


_SET = 0x31
