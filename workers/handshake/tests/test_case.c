/* Cases: contradictions, what TLS lacks, what has to be negotiated, and how a mismatch reads. */
#include "request.h"

#include "check.h"

static struct tls_case a_case(const char *words) {
    char line[1024], reason[REASON_MAX];
    struct request request;
    snprintf(line, sizeof line, "setup id=a key=k certificate=c %s", words);
    if (!request_parse(line, strlen(line), &request, reason))
        CHECK_TEXT(reason, words);
    return request.tls_case;
}

static void refused(enum fault_kind kind, const char *words, const char *why) {
    struct tls_case c = a_case(words);
    struct fault fault = {0};
    CHECK(!case_check(&c, &fault));
    CHECK(fault.kind == kind);
    CHECK_TEXT(fault.reason, why);
}

#define RSA_2048 " rsa_bits=2048 curve=-"
#define NO_DH " dh_parameters=-"
#define GCM " cipher=AES-128-GCM"

static void contradictions(void) {
    refused(FAULT_ERROR, "protocol=TLSv1.2 key_exchange=RSA group=P-256" GCM RSA_2048 NO_DH,
            "key_exchange=RSA can't use group=P-256");
    refused(FAULT_ERROR, "protocol=TLSv1.2 key_exchange=ECDHE-RSA group=ffdhe2048" GCM RSA_2048 NO_DH,
            "key_exchange=ECDHE-RSA can't use group=ffdhe2048");
    refused(FAULT_ERROR, "protocol=TLSv1.2 key_exchange=DHE-RSA group=X25519" GCM RSA_2048 NO_DH,
            "key_exchange=DHE-RSA can't use group=X25519");
    refused(FAULT_ERROR, "protocol=TLSv1.2 key_exchange=ECDHE-RSA group=-" GCM RSA_2048 NO_DH,
            "key_exchange=ECDHE-RSA can't use group=-");
    refused(FAULT_ERROR, "protocol=TLSv1.2 key_exchange=RSA group=- rsa_bits=2048 curve=P-256" GCM NO_DH,
            "key_exchange=RSA takes no curve");
    refused(FAULT_ERROR, "protocol=TLSv1.2 key_exchange=RSA group=- rsa_bits=0 curve=-" GCM NO_DH,
            "key_exchange=RSA needs rsa_bits");
    refused(FAULT_ERROR, "protocol=TLSv1.2 key_exchange=ECDHE-ECDSA group=P-256 rsa_bits=0 curve=-" GCM NO_DH,
            "key_exchange=ECDHE-ECDSA needs a curve");
    refused(FAULT_ERROR, "protocol=TLSv1.2 key_exchange=DHE-RSA group=dh-1024" GCM RSA_2048 NO_DH,
            "group=dh-1024 needs dh_parameters");
    refused(FAULT_ERROR, "protocol=TLSv1.2 key_exchange=DHE-RSA group=ffdhe2048 dh_parameters=d" GCM RSA_2048,
            "group=ffdhe2048 takes no dh_parameters");
}

static void standards(void) {
    refused(FAULT_UNSUPPORTED, "protocol=TLSv1.3 key_exchange=RSA group=-" GCM RSA_2048 NO_DH,
            "TLS 1.3 has no RSA key exchange");
    refused(FAULT_UNSUPPORTED,
            "protocol=TLSv1.3 key_exchange=DHE-RSA group=dh-1024 dh_parameters=d" GCM RSA_2048,
            "TLS 1.3 has no custom DH parameters");
    refused(FAULT_UNSUPPORTED, "protocol=TLSv1.3 key_exchange=ECDHE-RSA group=secp192r1" GCM RSA_2048 NO_DH,
            "TLS 1.3 has no group secp192r1");
    refused(FAULT_UNSUPPORTED,
            "protocol=TLSv1.3 key_exchange=ECDHE-ECDSA group=X25519 rsa_bits=0 curve=secp192r1" GCM NO_DH,
            "TLS 1.3 has no signature scheme for secp192r1");
    refused(FAULT_UNSUPPORTED,
            "protocol=TLSv1.2 key_exchange=RSA group=- cipher=CHACHA20-POLY1305" RSA_2048 NO_DH,
            "TLS 1.2 has no CHACHA20-POLY1305 suite with RSA key exchange");
}

static void wanted(void) {
    struct tls_case c = a_case("protocol=TLSv1.2 key_exchange=RSA group=-" GCM RSA_2048 NO_DH);
    struct negotiated n = case_wanted(&c);
    CHECK_TEXT(n.protocol, "TLSv1.2");
    CHECK_TEXT(n.cipher, "AES-128-GCM");
    CHECK_TEXT(n.group, "-");
    CHECK_TEXT(n.signature, "-");
    CHECK_TEXT(n.peer_key, "RSA");
    CHECK_NUMBER(n.peer_key_bits, 2048);
    CHECK(!n.resumed);

    struct tls_case ec =
        a_case("protocol=TLSv1.3 key_exchange=ECDHE-ECDSA group=X25519 rsa_bits=0 curve=P-521" GCM NO_DH);
    n = case_wanted(&ec);
    CHECK_TEXT(n.group, "X25519");
    CHECK_TEXT(n.signature, "ecdsa_secp521r1_sha512");
    CHECK_TEXT(n.peer_key, "EC");
    CHECK_NUMBER(n.peer_key_bits, 521);

    struct tls_case dhe =
        a_case("protocol=TLSv1.2 key_exchange=DHE-RSA group=dh-1776 dh_parameters=d" GCM RSA_2048);
    n = case_wanted(&dhe);
    CHECK_TEXT(n.group, "dh-1776");
    CHECK_TEXT(n.signature, "rsa_pkcs1_sha256");
    struct tls_case pss = a_case("protocol=TLSv1.3 key_exchange=ECDHE-RSA group=P-256" GCM RSA_2048 NO_DH);
    CHECK_TEXT(case_signature(&pss), "rsa_pss_rsae_sha256");
}

static void differs(struct negotiated got, const char *why) {
    struct tls_case c = a_case("protocol=TLSv1.2 key_exchange=ECDHE-RSA group=P-256" GCM RSA_2048 NO_DH);
    struct negotiated n = case_wanted(&c);
    struct fault fault = {0};
    CHECK(!negotiated_matches(&n, &got, "client", &fault));
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK_TEXT(fault.reason, why);
}

static void mismatches(void) {
    struct tls_case c = a_case("protocol=TLSv1.2 key_exchange=ECDHE-RSA group=P-256" GCM RSA_2048 NO_DH);
    struct negotiated same = case_wanted(&c), got;
    struct fault fault = {0};
    CHECK(negotiated_matches(&same, &same, "client", &fault));
    got = same, got.protocol = "TLSv1.3";
    differs(got, "protocol: wanted TLSv1.2, the client got TLSv1.3");
    got = same, got.cipher = "AES-256-GCM";
    differs(got, "cipher: wanted AES-128-GCM, the client got AES-256-GCM");
    got = same, got.group = "X25519";
    differs(got, "group: wanted P-256, the client got X25519");
    got = same, got.signature = "rsa_pkcs1_sha512";
    differs(got, "signature: wanted rsa_pkcs1_sha256, the client got rsa_pkcs1_sha512");
    got = same, got.peer_key = "EC";
    differs(got, "peer_key: wanted RSA, the client got EC");
    got = same, got.peer_key_bits = 1024;
    differs(got, "peer_key_bits: wanted 2048, the client got 1024");
    got = same, got.resumed = true;
    differs(got, "resumed: wanted false, the client got true");
    got = same, got.group = NULL; /* this side can't tell */
    CHECK(negotiated_matches(&same, &got, "server", &fault));
}

int main(void) {
    sentence("a case whose parts contradict each other is an error", contradictions);
    sentence("what TLS itself lacks is unsupported", standards);
    sentence("a case says what has to be negotiated", wanted);
    sentence("each differing field is a mismatch that names wanted and got", mismatches);
    return check_failures != 0;
}
