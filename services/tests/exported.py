"""What a store exports, as rows."""

from typing import Any

from kexbench.store.port import Selection, Store


def exported_rows(store: Store, selection: Selection) -> list[dict[str, Any]]:
    with store.export(selection) as reader:
        return [row for batch in reader for row in batch.to_pylist()]
