#!/bin/sh
# Makes the keys and certificates of the tests with the openssl command line tool, once per
# folder. Throw-away keys; the DH parameters are public and checked in (their safe primes take
# minutes to find). A file `complete` marks a whole folder. Suites that run side by side share it.
set -eu
to=$1
here=$(dirname "$0")
mkdir -p "$to"
exec 9>"$to/lock"
flock 9
cp -u "$here"/data/*.pem "$to" # among them the faulty ones: generator 5, and a privateValueLength
printf %032d 46 >"$to/key.psk"
# The tool of this system knows no ML-DSA, so those pairs are checked in as well.
[ -e "$to/complete-5" ] && exit 0 # 5: a folder of trust anchors
OPENSSL_CONF=/dev/null
export OPENSSL_CONF
san=subjectAltName=DNS:kexbench.invalid

certificate() { # NAME [DIGEST]: of the key NAME.key.pem
    openssl req -x509 -new -key "$to/$1.key.pem" ${2:+-$2} -subj "/CN=$1.test" -days 3650 -addext "$san" \
        -addext basicConstraints=CA:TRUE \
        -out "$to/$1.cert.pem"
}
for bits in 1024 1776 2048 3072 4096; do
    openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:$bits -out "$to/rsa-$bits.key.pem"
    certificate rsa-$bits sha256
done
for curve in secp192r1:prime192v1:sha256 P-256:prime256v1:sha256 P-384:secp384r1:sha384 P-521:secp521r1:sha512 \
             other:brainpoolP256r1:sha256; do
    name=${curve%%:*} rest=${curve#*:}
    openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:"${rest%:*}" -out "$to/ec-$name.key.pem"
    certificate "ec-$name" "${rest#*:}"
done
# Issued by another key: OpenSSL 3.6 and newer staple nothing to a certificate that signed itself.
echo "$san" >"$to/name.cnf"
openssl req -new -key "$to/ec-P-256.key.pem" -subj /CN=ec-P-256.test |
    openssl x509 -req -extfile "$to/name.cnf" -CA "$to/rsa-3072.cert.pem" -CAkey "$to/rsa-3072.key.pem" -CAcreateserial -days 3650 \
        -out "$to/ec-P-256.cert.pem" 2>/dev/null
openssl genpkey -quiet -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -out "$to/rsa-pss-2048.key.pem"
certificate rsa-pss-2048 sha256
for kind in ed25519 ed448; do
    openssl genpkey -quiet -algorithm $kind -out "$to/$kind.key.pem"
    certificate $kind
done
# Real chains of three: GnuTLS drops what does not belong to one. The root and the one between are RSA keys'.
signed() { # NAME ISSUER EXTENSION: the certificate of NAME.key.pem, by the issuer's key
    openssl req -new -key "$to/$1.key.pem" -subj "/CN=$1.test" -out "$to/request.csr"
    echo "basicConstraints=critical,$3" >"$to/extensions.cnf"
    openssl x509 -req -in "$to/request.csr" -CA "$to/$2.cert.pem" -CAkey "$to/$2.key.pem" -set_serial 2 -days 3650 \
        -sha256 -extfile "$to/extensions.cnf" -out "$to/$1.cert.pem" 2>/dev/null
}
cp "$to/rsa-4096.key.pem" "$to/between.key.pem"
signed between rsa-3072 "CA:TRUE
keyUsage=critical,keyCertSign" # without which older wolfSSL takes it for no issuer
for kind in rsa-2048 ec-P-256; do
    cp "$to/$kind.key.pem" "$to/$kind-chain-3.key.pem"
    signed "$kind-chain-3" between "CA:FALSE
$san"
    cat "$to/between.cert.pem" "$to/rsa-3072.cert.pem" >>"$to/$kind-chain-3.cert.pem"
done
# Chains whose root is not sent, and roots that they do not lead to.
printf '%s\n' "$san" 'extendedKeyUsage=serverAuth,clientAuth' >"$to/leaf.cnf"
for kind in rsa-2048 ec-P-256; do
    cp "$to/$kind.key.pem" "$to/$kind-verified.key.pem"
    signed "$kind-verified" between "CA:FALSE
$(cat "$to/leaf.cnf")"
    cat "$to/between.cert.pem" >>"$to/$kind-verified.cert.pem"
done
# With a hundred names, two policies and three CRL distribution points.
names=$(i=1; while [ $i -lt 100 ]; do printf 'DNS:%s.kexbench.invalid,' "$i"; i=$((i + 1)); done)
cp "$to/ec-P-256.key.pem" "$to/ec-P-256-large.key.pem"
cat >"$to/large.cnf" <<END
CA:FALSE
subjectAltName=${names}DNS:kexbench.invalid
certificatePolicies=2.23.140.1.2.1,2.23.140.1.2.2
crlDistributionPoints=URI:http://crl.invalid/1,URI:http://crl.invalid/2,URI:http://crl.invalid/3
extendedKeyUsage=serverAuth,clientAuth
END
# The one between with exactly 1,500 bytes, whatever else the tool puts into it.
cp "$to/between.key.pem" "$to/between-1500.key.pem"
padding=300
for _ in first exact; do
    signed between-1500 rsa-3072 "CA:TRUE
keyUsage=critical,keyCertSign
nsComment=$(printf "%0${padding}d" 0)"
    padding=$((padding + 1500 - $(openssl x509 -in "$to/between-1500.cert.pem" -outform DER | wc -c)))
done
signed ec-P-256-large between-1500 "$(cat "$to/large.cnf")"
cat "$to/between-1500.cert.pem" >>"$to/ec-P-256-large.cert.pem"
cp "$to/rsa-3072.cert.pem" "$to/root.pem"
# wolfSSL finds an issuer by its key alone, so that no other root has the key of the one between.
cat "$to/rsa-3072.cert.pem" "$to/ec-P-521.cert.pem" "$to/ec-P-384.cert.pem" >"$to/three-roots.pem"
cat "$to/ec-P-521.cert.pem" "$to/rsa-3072.cert.pem" >"$to/root-second.pem"
cp "$to/rsa-4096.cert.pem" "$to/other-root.pem"
# Of another host.
cp "$to/ec-P-256.key.pem" "$to/elsewhere.key.pem"
signed elsewhere between "CA:FALSE
subjectAltName=DNS:elsewhere.invalid"
cat "$to/between.cert.pem" >>"$to/elsewhere.cert.pem"
# An OCSP response from the certificate's issuer.
openssl ocsp -issuer "$to/rsa-3072.cert.pem" -cert "$to/ec-P-256.cert.pem" -reqout "$to/request.der" -no_nonce >/dev/null
serial=$(openssl x509 -in "$to/ec-P-256.cert.pem" -noout -serial | cut -d= -f2)
printf 'V\t360101000000Z\t\t%s\tunknown\t/CN=ec-P-256.test\n' "$serial" >"$to/index.txt"
openssl ocsp -index "$to/index.txt" -rsigner "$to/rsa-3072.cert.pem" -rkey "$to/rsa-3072.key.pem" \
    -CA "$to/rsa-3072.cert.pem" -reqin "$to/request.der" -respout "$to/ec-P-256.ocsp.der" -ndays 3650 >/dev/null 2>&1
# A second RSA-2048 pair, and the deliberate faults.
openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$to/rsa-2048-other.key.pem"
certificate rsa-2048-other sha256
echo "not PEM" >"$to/garbage.pem"
: >"$to/empty.pem"
mkdir -p "$to/folder.pem"
# The same as a folder, where each has the hash of its subject as its name.
mkdir -p "$to/three-roots.pem.d"
for root in rsa-3072 ec-P-521 ec-P-384; do
    cp "$to/$root.cert.pem" "$to/three-roots.pem.d/$(openssl x509 -in "$to/$root.cert.pem" -noout -subject_hash).0"
done
touch "$to/complete-5"
