"""The shapes that answers of several questions have in common."""

from datetime import datetime

from pydantic import Field

from kexbench.domain.cases import Case, kinds_of
from kexbench.domain.dimensions import Kind
from kexbench.domain.frozen import Frozen


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
    spec_name: str | None = Field(None, description="null where the choice is among runs of any spec")
    measured_at: datetime
