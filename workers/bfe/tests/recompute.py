"""Recomputes the test vectors with py_ecc, which shares no code with blst: arguments are the files to check.

Written from the description in bfe.h. Nothing here is fast or in constant time.
"""

import hashlib
import math
import sys
from pathlib import Path

from py_ecc.bls.hash_to_curve import hash_to_G1
from py_ecc.bls.point_compression import compress_G1, compress_G2
from py_ecc.optimized_bls12_381 import G1, G2, curve_order, field_modulus, multiply, pairing

TAG = b"KEXBENCH-BFE-V01-"
POINT_TAG = TAG + b"CS01-with-BLS12381G1_XMD:SHA-256_SSWU_RO_"
POSITIONS, HASHES, DAY = math.ceil(2 * 3 / math.log(2)), 3, 20000


def expand(tag: bytes, message: bytes, length: int) -> bytes:
    """expand_message_xmd of RFC 9380, section 5.3.1."""
    suffix = TAG + tag + bytes([len(TAG + tag)])
    first = hashlib.sha256(bytes(64) + message + length.to_bytes(2, "big") + b"\0" + suffix).digest()
    blocks = [hashlib.sha256(first + b"\1" + suffix).digest()]
    while 32 * len(blocks) < length:
        mixed = bytes(a ^ b for a, b in zip(first, blocks[-1]))
        blocks.append(hashlib.sha256(mixed + bytes([len(blocks) + 1]) + suffix).digest())
    return b"".join(blocks)[:length]


def number(value: int) -> bytes:
    return value.to_bytes(4, "big")


def scalar(wide: bytes) -> int:
    return int.from_bytes(wide, "big") % curve_order


def g2_bytes(point) -> bytes:
    return b"".join(half.to_bytes(48, "big") for half in compress_G2(point))


def target_bytes(value) -> bytes:
    """An element of the target group as blst computes and writes it. Its pairing is py_ecc's to the power of -3: blst
    takes the curve's parameter with its sign, and the third power saves it a division in the exponent. It writes the
    coefficients in Fp2 of 1, w, ..., w^5, where py_ecc has those in Fp modulo w^12 - 2 w^6 + 2, with w^6 = 1 + i."""
    coefficients = [int(c) for c in (value**3).inv().coeffs]
    halves = []
    for low, high in zip(coefficients[:6], coefficients[6:]):
        halves += [(low + high) % field_modulus, high]
    return b"".join(half.to_bytes(48, "big") for half in halves)


def encapsulate(public_point, identity: bytes, message: bytes) -> tuple[bytes, bytes]:
    wide = expand(b"coins", identity + message, 96)
    coins = scalar(wide[:64])
    u = g2_bytes(multiply(G2, coins))
    numbers = expand(b"positions", identity + u, 8 * 32)
    ciphertext = bytes([1, HASHES]) + u
    for i in range(HASHES):
        position = int.from_bytes(numbers[8 * i : 8 * i + 8], "big") % POSITIONS
        point = hash_to_G1(identity + number(position), POINT_TAG, hashlib.sha256)
        shared = pairing(public_point, point) ** coins
        pad = expand(b"pad", identity + number(i) + target_bytes(shared), 32)
        ciphertext += bytes(a ^ b for a, b in zip(message, pad))
    return ciphertext, wide[64:]


def recompute(given: dict[str, list[bytes]]) -> dict[str, list[bytes]]:
    """All values, from those that are chosen: the seeds and messages."""
    seed = given["seed"][0]
    alpha = scalar(expand(b"alpha", seed, 64))
    public_point = multiply(G2, alpha)
    header = number(POSITIONS) + number(HASHES) + number(DAY) + g2_bytes(public_point)
    public_key = b"BFEpub\0\1" + header
    identity = expand(b"id", public_key, 32)
    points = [hash_to_G1(identity + number(i), POINT_TAG, hashlib.sha256) for i in range(POSITIONS)]
    elements = [compress_G1(multiply(point, alpha)).to_bytes(48, "big") for point in points]
    sent = [encapsulate(public_point, identity, message) for message in given["message"]]
    chain, days = given["chain_seed"][0], []
    for day in range(DAY, DAY + len(given["day_seed"])):
        seeds = expand(b"day", number(day) + chain, 64)
        days.append(seeds[:32])
        chain = seeds[32:]
    return {
        **{name: given[name] for name in ("seed", "message", "chain_seed")},
        "public_key": [public_key],
        "id": [identity],
        "secret_key": [b"BFEsec\0\1" + header + b"".join(elements)],
        "ciphertext": [ciphertext for ciphertext, _ in sent],
        "secret": [secret for _, secret in sent],
        "day_seed": days,
        "pairing_of_generators": [target_bytes(pairing(G2, G1))],
    }


def main() -> None:
    for path in sys.argv[1:]:
        given: dict[str, list[bytes]] = {}
        for line in Path(path).read_text(encoding="ascii").splitlines():
            name, value = line.split()
            given.setdefault(name, []).append(bytes.fromhex(value))
        computed = recompute(given)
        wrong = sorted(name for name in given.keys() | computed.keys() if given.get(name) != computed.get(name))
        if wrong:
            sys.exit(f"{path}: py_ecc computes another {', '.join(wrong)}")
        print(f"  ok   {path}: py_ecc computes the same")


main()
