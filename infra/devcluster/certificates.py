"""Keys, certificates and kubeconfigs of one cluster; they live as long as it does."""

import base64
import ipaddress
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = timedelta(days=30)


class Authority:
    """Signs what is in one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("kexbench devcluster", ())
        builder = _builder(self._name, self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.certificate = folder / "ca.crt"
        self._write("ca", self._key, builder.sign(self._key, hashes.SHA256()))

    def issue(self, name: str, common_name: str, groups: tuple[str, ...] = (), hosts: tuple[str, ...] = ()) -> Path:
        """Certificate NAME.crt and key NAME.key, for serving as `hosts` and for signing in as user and groups."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(common_name, groups), self._name, key.public_key())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        if hosts:
            names = [_host(host) for host in hosts]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return self._write(name, key, builder.sign(self._key, hashes.SHA256()))

    def signing_key(self, name: str) -> Path:
        """An RSA key in NAME.key, with which the API server signs tokens of service accounts."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        path = self._folder / f"{name}.key"
        _write_secret(path, _private(key))
        return path

    def kubeconfig(self, path: Path, server: str, common_name: str, groups: tuple[str, ...] = ()) -> Path:
        """A file with which this user reaches the API at `server`; it needs no other file."""
        certificate = self.issue(path.stem, common_name, groups)
        user = {
            "client-certificate-data": _encoded(certificate),
            "client-key-data": _encoded(certificate.with_suffix(".key")),
        }
        name = "devcluster"
        cluster = {"server": server, "certificate-authority-data": _encoded(self.certificate)}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": common_name, "user": user}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": common_name}}],
            "current-context": name,
        }
        _write_secret(path, json.dumps(document, indent=1).encode())
        return path

    def _write(self, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> Path:
        path = self._folder / f"{name}.crt"
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        _write_secret(path.with_suffix(".key"), _private(key))
        return path


def _name(common_name: str, groups: tuple[str, ...]) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder(subject_name=subject, issuer_name=issuer, public_key=key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + _LIFETIME)
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _private(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _write_secret(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
