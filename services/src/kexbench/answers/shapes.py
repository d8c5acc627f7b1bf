"""The shapes that answers of several questions have in common."""

from datetime import datetime

from pydantic import Field

from kexbench.domain.cases import Case, kinds_of
from kexbench.domain.dimensions import Kind
from kexbench.domain.frozen import Frozen
from kexbench.domain.library_commits import LibraryCommit


class SubjectView(Frozen):
    """A library in a version and build, as measured."""

    subject: str = Field(
        description="unique name: library, version, source and build profile",
        examples=["openssl@3.5.7~debian/trixie~1f3c"],
    )
    library: str = Field(examples=["openssl"])
    version: str = Field(examples=["3.5.7"])
    version_key: str = Field(description="sorts as text by version, then commits by their history")
    source: str = Field(examples=["debian/trixie"])
    build_profile: str = Field(description="id of how it was built; different profiles never join in a series")
    build_profile_label: str = Field(examples=["debian shared x86_64"])
    kit_id: str
    commit: LibraryCommit | None = Field(description="commit that it was built from; null if there is none")


class CaseView(Case):
    """A case with its id and title."""

    id: str = Field(description="the case id", examples=["tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm"])
    title: str = Field(examples=["TLS 1.2 ECDHE-RSA, RSA 2048, P-256"])
    kinds: tuple[Kind, ...] = Field(description="filters of the pages")

    @classmethod
    def of(cls, case: Case) -> "CaseView":
        return cls(**case.model_dump(), id=case.case_id, title=case.label, kinds=tuple(kinds_of(case)))


class CaseChoice(Frozen):
    id: str
    title: str


class RunChoice(Frozen):
    run_id: str
    measured_at: datetime
