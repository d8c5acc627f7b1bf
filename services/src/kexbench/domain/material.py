"""The names of a case's files inside the folder of key material."""

from pydantic import BaseModel, ConfigDict, Field


class MaterialFiles(BaseModel):
    """Content-addressed file names; `-` for none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(description="PEM of the certificate's private key")
    certificate: str
    dh_parameters: str
    ocsp_response: str = Field("-", description="DER of the stapled response")
