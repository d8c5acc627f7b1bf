/* Cases that no backend sets up, and what is told of each. */
#ifndef KEXBENCH_FAULTS_H
#define KEXBENCH_FAULTS_H

#include "case.h"

struct fault_row {
    const char *words; /* appended to `setup id=a cipher=AES-128-GCM` */
    enum fault_kind kind;
    const char *reason;
};
#define RSA_1_2 "protocol=TLSv1.2 key_exchange=RSA group=- rsa_bits=2048 curve=- dh_parameters=- "
#define EC_1_2 "protocol=TLSv1.2 key_exchange=ECDHE-ECDSA group=P-256 rsa_bits=0 dh_parameters=- "
#define DHE                                                                                                  \
    "protocol=TLSv1.2 key_exchange=DHE-RSA rsa_bits=2048 curve=- key=rsa-2048.key.pem "                      \
    "certificate=rsa-2048.cert.pem "

#define VERIFIED_1_3                                                                                         \
    "protocol=TLSv1.3 key_exchange=ECDHE-ECDSA group=X25519 rsa_bits=0 curve=P-256 chain_length=2 "          \
    "verification=yes key=ec-P-256-verified.key.pem certificate=ec-P-256-verified.cert.pem "

static const struct fault_row fault_rows[] = {
    {RSA_1_2 "key=missing.pem certificate=rsa-2048.cert.pem", FAULT_ERROR,
     "can't read the material file missing.pem"},
    {RSA_1_2 "key=rsa-2048.key.pem certificate=missing.pem", FAULT_ERROR,
     "can't read the material file missing.pem"},
    {RSA_1_2 "key=folder.pem certificate=rsa-2048.cert.pem", FAULT_ERROR,
     "can't read the material file folder.pem"},
    {RSA_1_2 "key=empty.pem certificate=rsa-2048.cert.pem", FAULT_ERROR,
     "can't read the material file empty.pem"},
    {RSA_1_2 "key=garbage.pem certificate=rsa-2048.cert.pem", FAULT_ERROR, "the key can't be read"},
    {RSA_1_2 "key=rsa-2048.key.pem certificate=garbage.pem", FAULT_ERROR, "the certificate can't be read"},
    {RSA_1_2 "key=rsa-2048.cert.pem certificate=rsa-2048.cert.pem", FAULT_ERROR, "the key can't be read"},
    {RSA_1_2 "key=rsa-2048-other.key.pem certificate=rsa-2048.cert.pem", FAULT_ERROR,
     "the key does not belong to the certificate"},
    {RSA_1_2 "key=rsa-1024.key.pem certificate=rsa-1024.cert.pem", FAULT_ERROR,
     "peer_key_bits: wanted 2048, the certificate has 1024"},
    {EC_1_2 "curve=P-384 key=ec-P-256.key.pem certificate=ec-P-256.cert.pem", FAULT_ERROR,
     "curve: wanted P-384, the certificate has P-256"},
    {EC_1_2 "curve=P-256 key=rsa-2048.key.pem certificate=rsa-2048.cert.pem", FAULT_ERROR,
     "peer_key: wanted EC, the certificate has RSA"},
    {RSA_1_2 "key=ec-P-256.key.pem certificate=ec-P-256.cert.pem", FAULT_ERROR,
     "peer_key: wanted RSA, the certificate has EC"},
    {RSA_1_2 "key=rsa-2048.key.pem certificate=rsa-2048.cert.pem chain_length=3", FAULT_ERROR,
     "chain_length: wanted 3, the file holds 1"},
    {RSA_1_2 "key=rsa-2048.key.pem certificate=rsa-2048-chain-3.cert.pem", FAULT_ERROR,
     "chain_length: wanted 1, the file holds 3"},
    {RSA_1_2 "key=rsa-2048.key.pem certificate=rsa-2048.cert.pem certificate_names=2", FAULT_ERROR,
     "certificate_names: wanted 2, the certificate has 1"},
    {EC_1_2 "curve=P-256 key=ec-P-256-large.key.pem certificate=ec-P-256-large.cert.pem chain_length=2 "
            "certificate_names=100 certificate_policies=3 crl_distribution_points=2",
     FAULT_ERROR, "certificate_policies: wanted 3, the certificate has 2"},
    {EC_1_2 "curve=P-256 key=ec-P-256-large.key.pem certificate=ec-P-256-large.cert.pem chain_length=2 "
            "certificate_names=100 certificate_policies=2",
     FAULT_ERROR, "crl_distribution_points: wanted 0, the certificate has 3"},
    {EC_1_2 "curve=P-256 key=ec-P-256-large.key.pem certificate=ec-P-256-large.cert.pem chain_length=2 "
            "certificate_names=100 certificate_policies=2 crl_distribution_points=3 intermediate_bytes=1499",
     FAULT_ERROR, "intermediate_bytes: wanted 1499, a certificate has 1500"},
    {RSA_1_2 "key=rsa-2048.key.pem certificate=rsa-2048.cert.pem ocsp_response=missing.der", FAULT_ERROR,
     "can't read the material file missing.der"},
    {DHE "group=dh-1024 dh_parameters=missing.pem", FAULT_ERROR, "can't read the material file missing.pem"},
    {DHE "group=dh-1024 dh_parameters=garbage.pem", FAULT_ERROR, "the DH parameters can't be read"},
    {DHE "group=dh-1024 dh_parameters=rsa-2048.cert.pem", FAULT_ERROR, "the DH parameters can't be read"},
    {DHE "group=dh-1024 dh_parameters=dh-1776.pem", FAULT_ERROR,
     "group: wanted dh-1024, the file has a prime of 1776 bits"},
    {DHE "group=dh-1024 dh_parameters=dh-1024-generator-5.pem", FAULT_ERROR,
     "the generator of the DH parameters is not 2"},
    {DHE "group=dh-1024 dh_parameters=dh-1024-length-160.pem", FAULT_ERROR,
     "the DH parameters hold a privateValueLength of 160 bits"},
    {VERIFIED_1_3 "trust_anchors_file=missing.pem", FAULT_ERROR, "can't read the material file missing.pem"},
    {VERIFIED_1_3 "trust_anchors_file=garbage.pem", FAULT_ERROR, "the trust anchors can't be read"},
    {VERIFIED_1_3 "trust_anchors_file=root.pem trust_anchors=3", FAULT_ERROR,
     "trust_anchors: wanted 3, the file holds 1"},
    {"protocol=TLSv1.3 key_exchange=RSA group=- rsa_bits=2048 curve=- dh_parameters=- key=k certificate=c",
     FAULT_UNSUPPORTED, "TLS 1.3 has no RSA key exchange"},
};

#endif
