"""Builds the kit of a reference in a container without a token. Another container sends the kit."""

from collections.abc import Callable

from pydantic import Field

from kexbench.agent.environment import BuildContainer
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import SubjectRef
from kexbench.files import write_whole
from kexbench.kits.transport import pack
from kexbench.settings import Settings
from kexbench.wiring import Installation

ARCHIVE, NOTE = "kit.tar", "built.json"
"""Files in the folder that both containers share."""


class Built(Frozen):
    """What the build container reports. It ran scripts of the sources, so nothing of this can be trusted."""

    kit_id: str = Field(pattern=r"^[0-9a-f]{16}$")
    ingredients: str = Field(pattern=r"^[0-9a-f]{32}$")


def build(pod: BuildContainer, say: Callable[[str], None]) -> None:
    """Raises KitError."""
    reference = SubjectRef.parse(pod.reference)
    settings = Settings(home=pod.work / "home", cache=pod.work / "cache")
    kit_store = Installation(settings).kits()
    kit = kit_store.add(reference, say, architecture=pod.architecture)
    ingredients = kit_store.made_of(reference, pod.architecture)
    assert ingredients is not None, "it was just made"
    pack(kit_store.folder(kit.kit_id), pod.built / ARCHIVE)
    note = Built(kit_id=kit.kit_id, ingredients=ingredients)
    write_whole(pod.built / NOTE, note.model_dump_json().encode())
    say(f"built {kit.folder_name}")
