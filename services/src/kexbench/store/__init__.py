"""Stores runs, events and invocations: one port, one adapter for two engines.

Start at `port.py`: the rest of kexbench uses only these interfaces.

- `port.py`, `clickhouse.py`: the ports, one a subject, and the adapter for embedded chDB and a ClickHouse server.
- `runs.py`, `hosts.py`, `fleet.py`, `triggers.py`, `measured.py`, `profiles.py`, `bisections.py`, `screenings.py`,
  `alerts.py`, `notifications.py`, `people.py`: a file for the tables of each subject; `rows.py`: from values to rows
  and back.
- `columns.py`, `exports.py`: samples enter and leave in columns (docs/adr/0037).
- `summaries.py`, `appearances.py`, `levels.py`: what readers find results by (docs/adr/0035), and histories without
  batches.
- `evidence.py`, `kept.py`: which results are stored, and what was computed from them (docs/adr/0036).
- `backups.py`: all rows for a backup, and back (docs/adr/0047); `turns.py`: a moment at which nothing is written.
- `pruning.py`: removes old batches, and keeps what comparisons need (docs/adr/0038).
- `connection.py`, `lock.py`: the database client, and the lock of an installation's store.
- `definitions.py`, `causes.py`, `damage.py`: what a full disk or a kill can do to an embedded store.
- `migrate.py`, `migrations/`: numbered migrations; `rights.py`: what the server has to allow.
"""
