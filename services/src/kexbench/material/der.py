"""The subset of DER that is needed to change the certificate builder's output (X.690, section 8.1)."""

import base64
import textwrap

SEQUENCE, INTEGER, BIT_STRING, OCTET_STRING = 0x30, 0x02, 0x03, 0x04
ID_RSASSA_PSS = bytes.fromhex("06092a864886f70d01010a")
"""The object identifier 1.2.840.113549.1.1.10 (RFC 4055, section 3.1)."""


def element(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def pem(label: str, der: bytes) -> bytes:
    lines = "\n".join(textwrap.wrap(base64.b64encode(der).decode(), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n".encode()


def content_of(der: bytes) -> bytes:
    """The content of the first element."""
    start, end = _content(der)
    return der[start:end]


def children(der: bytes) -> list[bytes]:
    """The complete elements inside an element."""
    remaining = content_of(der)
    elements = []
    while remaining:
        end = _content(remaining)[1]
        elements.append(remaining[:end])
        remaining = remaining[end:]
    return elements


def _content(der: bytes) -> tuple[int, int]:
    start, length = 2, der[1]
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(der[2:start], "big")
    return start, start + length
