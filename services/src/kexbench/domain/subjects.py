"""A subject: a library in a version and build, as measured."""

from typing import Annotated

from pydantic import Field, computed_field
from pydantic.dataclasses import dataclass

from kexbench.domain.library_commits import LibraryCommit


@dataclass(frozen=True)
class Subject:
    """A library in a version and build, as measured."""

    library: Annotated[str, Field(examples=["openssl"])]
    version: Annotated[str, Field(examples=["3.5.7"])]
    version_key: Annotated[str, Field(description="sorts as text by version, then commits by their history")]
    source: Annotated[str, Field(examples=["debian/trixie"])]
    build_profile: Annotated[
        str, Field(description="id of how it was built; different profiles never join in a series")
    ]
    build_profile_label: Annotated[str, Field(examples=["debian shared x86_64"])]
    kit_id: str
    commit: Annotated[
        LibraryCommit | None, Field(description="commit that it was built from; null if there is none")
    ] = None

    @computed_field(  # type: ignore[prop-decorator]
        description="unique: library, version, source and build profile", examples=["openssl@3.5.7~debian/trixie~1f3c"]
    )
    @property
    def name(self) -> str:
        return f"{self.library}@{self.version}~{self.source}~{self.build_profile}"
