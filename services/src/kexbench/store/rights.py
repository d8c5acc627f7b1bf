"""The rights that a ClickHouse server has to give the user of KEXBENCH_STORE_URL."""

SYSTEM_TABLES = ("parts", "parts_columns", "disks")
"""Read by statements to a server. Servers of today let nobody read them without a grant."""


def grants(database: str) -> list[str]:
    """SQL, without the user: all in one database, and nothing else but reading these tables."""
    return [f"GRANT ALL ON {database}.*", *(f"GRANT SELECT ON system.{table}" for table in SYSTEM_TABLES)]
