"""The names of a site's files."""

DATA = "data"
PAIRS = f"{DATA}/pairs.json"
"""The pairs of versions that are compared. No question of the API has this answer: a service compares any two."""
Query = dict[str, str]


def file_of(route: str, query: Query, ending: str = "json") -> str:
    """The file with the answer to a question. The pages have the same rule in `frontend/src/published.ts`, and both are
    tested with `bench-specs/schema/examples/published-files.json`.

    A digest, since names of versions are long and contain characters that file systems and servers treat differently.
    It is FNV-1a, since browsers offer no other without a secure connection."""
    asked = "\n".join(f"{name}={value}" for name, value in sorted(query.items()))
    return f"{DATA}/{route}/{_fnv1a(asked.encode()):016x}.{ending}" if asked else f"{DATA}/{route}.{ending}"


def _fnv1a(data: bytes) -> int:
    digest = 0xCBF29CE484222325
    for byte in data:
        digest = ((digest ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return digest
