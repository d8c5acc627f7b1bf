/* Cases: contradictions, what TLS lacks, what has to be negotiated, and how a mismatch reads. */
#include "iana.h"
#include "request.h"

#include "check.h"

/* The usual values of the keys that `words` does not give. */
static struct tls_case a_case(const char *words) {
    static const char *const usual[] = {"ocsp_response=-",
                                        "chain_length=1",
                                        "client_authentication=no",
                                        "resumption=none",
                                        "early_data_bytes=0",
                                        "anti_replay=no",
                                        "hello_retry=no",
                                        "fips=no",
                                        "verification=no",
                                        "trust_anchors_file=-",
                                        "trust_anchors=1",
                                        "tickets=none",
                                        "transfer_bytes=0",
                                        "context=shared",
                                        "threads=1",
                                        "roles=both",
                                        "certificate_names=1",
                                        "certificate_policies=0",
                                        "crl_distribution_points=0",
                                        "intermediate_bytes=0",
                                        "trust_store=file",
                                        "reload_every=0",
                                        "server_names=1",
                                        "dh_parameters=-",
                                        "cipher=AES-128-GCM"};
    char line[2048], reason[REASON_MAX];
    struct request request;
    int length = snprintf(line, sizeof line, "setup id=a key=k certificate=c %s", words);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, " %.*s=", (int)strcspn(usual[i], "="), usual[i]);
        if (strstr(line, key) == NULL)
            length += snprintf(line + length, sizeof line - (size_t)length, " %s", usual[i]);
    }
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
    refused(FAULT_ERROR,
            "protocol=TLSv1.2 key_exchange=RSA group=- intermediate_bytes=1500" GCM RSA_2048 NO_DH,
            "intermediate_bytes needs chain_length of at least 2");
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
    refused(FAULT_UNSUPPORTED,
            "protocol=TLSv1.3 key_exchange=ECDHE-RSA group=P-256 cipher=AES-128-CBC-SHA" RSA_2048,
            "TLS 1.3 has no cipher AES-128-CBC-SHA");
    refused(FAULT_UNSUPPORTED, "protocol=TLSv1.2 key_exchange=RSA group=- cipher=AES-256-CBC-SHA384" RSA_2048,
            "TLS 1.2 has no AES-256-CBC-SHA384 suite with RSA key exchange");
    refused(FAULT_UNSUPPORTED,
            "protocol=TLSv1.2 key_exchange=ECDHE-RSA group=P-256 cipher=AES-256-CBC-SHA256" RSA_2048,
            "TLS 1.2 has no AES-256-CBC-SHA256 suite with ECDHE key exchange");
}

static void wanted(void) {
    struct tls_case c = a_case("protocol=TLSv1.2 key_exchange=RSA group=-" GCM RSA_2048 NO_DH);
    struct negotiated n = case_wanted(&c, false);
    CHECK_TEXT(n.protocol, "TLSv1.2");
    CHECK_TEXT(n.cipher, "AES-128-GCM");
    CHECK_TEXT(n.group, "-");
    CHECK_TEXT(n.signature, "-");
    CHECK_TEXT(n.peer_key, "RSA");
    CHECK_NUMBER(n.peer_key_bits, 2048);
    CHECK(!n.resumed);

    struct tls_case ec =
        a_case("protocol=TLSv1.3 key_exchange=ECDHE-ECDSA group=X25519 rsa_bits=0 curve=P-521" GCM NO_DH);
    n = case_wanted(&ec, false);
    CHECK_TEXT(n.group, "X25519");
    CHECK_TEXT(n.signature, "ecdsa_secp521r1_sha512");
    CHECK_TEXT(n.peer_key, "EC");
    CHECK_NUMBER(n.peer_key_bits, 521);

    struct tls_case dhe =
        a_case("protocol=TLSv1.2 key_exchange=DHE-RSA group=dh-1776 dh_parameters=d" GCM RSA_2048);
    n = case_wanted(&dhe, false);
    CHECK_TEXT(n.group, "dh-1776");
    CHECK_TEXT(n.signature, "rsa_pkcs1_sha256");
    CHECK_NUMBER(n.encrypt_then_mac, 0);
    struct tls_case cbc =
        a_case("protocol=TLSv1.2 key_exchange=ECDHE-RSA group=P-256 cipher=AES-256-CBC-SHA384" RSA_2048);
    n = case_wanted(&cbc, false);
    CHECK_TEXT(n.cipher, "AES-256-CBC-SHA384");
    CHECK_NUMBER(n.encrypt_then_mac, 1);
    CHECK_NUMBER(case_wanted(&ec, false).encrypt_then_mac, -1);
    struct tls_case pss = a_case("protocol=TLSv1.3 key_exchange=ECDHE-RSA group=P-256" GCM RSA_2048 NO_DH);
    CHECK_TEXT(case_signature(&pss), "rsa_pss_rsae_sha256");
}

static void differs(struct negotiated got, const char *why) {
    struct tls_case c = a_case("protocol=TLSv1.2 key_exchange=ECDHE-RSA group=P-256" GCM RSA_2048 NO_DH);
    struct negotiated n = case_wanted(&c, false);
    struct fault fault = {0};
    CHECK(!negotiated_matches(&n, &got, "client", &fault));
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK_TEXT(fault.reason, why);
}

static void mismatches(void) {
    struct tls_case c = a_case("protocol=TLSv1.2 key_exchange=ECDHE-RSA group=P-256" GCM RSA_2048 NO_DH);
    struct negotiated same = case_wanted(&c, false), got;
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
    got = same, got.client_key = "RSA";
    differs(got, "client_key: wanted -, the client got RSA");
    got = same, got.chain_length = 2;
    differs(got, "chain_length: wanted 1, the client got 2");
    got = same, got.encrypt_then_mac = 1;
    differs(got, "encrypt_then_mac: wanted 0, the client got 1");
    got = same, got.hello_retry = 1;
    differs(got, "hello_retry: wanted 0, the client got 1");
    got = same, got.verified_length = 2;
    differs(got, "verified_length: wanted 0, the client got 2");
    got = same, got.chain_length = -1, got.client_key = NULL;
    CHECK(negotiated_matches(&same, &got, "client", &fault));
    got = same, got.group = NULL; /* this side can't tell */
    CHECK(negotiated_matches(&same, &got, "server", &fault));
}

#define ECDHE_1_3 "protocol=TLSv1.3 key_exchange=ECDHE-ECDSA group=X25519 rsa_bits=0 curve=P-256 "
#define ECDHE_1_2 "protocol=TLSv1.2 key_exchange=ECDHE-ECDSA group=X25519 rsa_bits=0 curve=P-256 "

static void settings(void) {
    refused(FAULT_ERROR, ECDHE_1_3 "early_data_bytes=10", "early_data_bytes needs resumption=psk or psk-dhe");
    refused(FAULT_ERROR, ECDHE_1_3 "anti_replay=yes resumption=psk-dhe",
            "anti_replay needs early_data_bytes");
    refused(FAULT_ERROR, ECDHE_1_3 "anti_replay=yes resumption=psk-dhe early_data_bytes=9 threads=2",
            "anti_replay takes one thread: its sessions are used once");
    refused(FAULT_ERROR, ECDHE_1_3 "hello_retry=yes resumption=psk",
            "a resumption takes neither client_authentication nor ocsp_response nor hello_retry");
    refused(FAULT_ERROR, ECDHE_1_3 "roles=client threads=2",
            "a single role takes neither threads nor resumption");
    refused(FAULT_ERROR, ECDHE_1_3 "verification=yes", "verification needs trust_anchors_file");
    refused(FAULT_ERROR, ECDHE_1_3 "trust_anchors_file=a", "trust_anchors_file needs verification");
    refused(FAULT_ERROR, ECDHE_1_3 "trust_anchors=2", "trust_anchors and trust_store need verification");
    refused(FAULT_ERROR, ECDHE_1_3 "trust_store=folder", "trust_anchors and trust_store need verification");
    refused(FAULT_ERROR, ECDHE_1_3 "verification=yes trust_anchors_file=a trust_anchors=0",
            "verification needs one of trust_anchors");
    refused(FAULT_ERROR, ECDHE_1_3 "tickets=default resumption=psk",
            "a resumption takes neither verification nor tickets nor context");
    refused(FAULT_UNSUPPORTED, ECDHE_1_3 "tickets=cached", "TLS 1.3 has no session ids for tickets=cached");
    refused(FAULT_ERROR, ECDHE_1_3 "context=thread", "context=thread needs threads");
    refused(FAULT_ERROR, ECDHE_1_3 "reload_every=2 threads=2",
            "reload_every takes neither resumption nor threads nor context nor a single role");
    refused(FAULT_ERROR, ECDHE_1_3 "server_names=2 resumption=psk",
            "server_names takes neither resumption nor threads nor context nor a single role");
    refused(FAULT_ERROR, ECDHE_1_3 "server_names=2 reload_every=2", "reload_every takes one of server_names");
    refused(FAULT_ERROR, ECDHE_1_3 "context=library", "context=library needs threads");
    refused(FAULT_ERROR, ECDHE_1_3 "context=pool threads=3", "context=pool needs at least 4 threads");
    refused(FAULT_ERROR, ECDHE_1_3 "transfer_bytes=1 resumption=psk-dhe early_data_bytes=9 anti_replay=yes",
            "anti_replay takes no transfer_bytes");
    refused(FAULT_ERROR, ECDHE_1_3 "transfer_bytes=1 roles=client",
            "a single role takes neither tickets nor transfer_bytes nor context");
    refused(FAULT_ERROR,
            "protocol=default key_exchange=default-RSA group=- cipher=- tickets=default" RSA_2048,
            "default settings take no tickets: they are the library's already");
    refused(FAULT_ERROR, "protocol=default key_exchange=ECDHE-RSA group=X25519" RSA_2048,
            "default settings are all of protocol=default, cipher=- and key_exchange=default-…");
    refused(FAULT_ERROR, "protocol=default key_exchange=default-RSA group=X25519 cipher=-" RSA_2048,
            "key_exchange=default-RSA can't use group=X25519");
    refused(FAULT_UNSUPPORTED, ECDHE_1_2 "resumption=psk", "TLS 1.2 resumes by session-id or ticket");
    refused(FAULT_UNSUPPORTED, ECDHE_1_2 "hello_retry=yes", "TLS 1.2 has no HelloRetryRequest");
    refused(FAULT_UNSUPPORTED, ECDHE_1_3 "resumption=ticket", "TLS 1.3 resumes by psk or psk-dhe");
    refused(FAULT_UNSUPPORTED,
            "protocol=TLSv1.2 key_exchange=ECDHE-ML-DSA-44 group=X25519 rsa_bits=0 curve=-",
            "TLS 1.2 has no signature scheme for ML-DSA");
    refused(FAULT_UNSUPPORTED, "protocol=TLSv1.2 key_exchange=ECDHE-RSA group=X25519MLKEM768" RSA_2048,
            "TLS 1.2 has no group X25519MLKEM768");
    refused(FAULT_UNSUPPORTED, "protocol=TLSv1.2 key_exchange=DHE-Ed25519 group=ffdhe2048 rsa_bits=0 curve=-",
            "TLS 1.2 has no DHE-Ed25519 suite");
}

static void wanted_resumed(void) {
    struct tls_case c = a_case(ECDHE_1_3 "resumption=psk-dhe early_data_bytes=64");
    struct negotiated full = case_wanted(&c, false), n = case_wanted(&c, true);
    CHECK(!full.resumed && n.resumed);
    CHECK_NUMBER(full.early_data_bytes, 0);
    CHECK_NUMBER(n.early_data_bytes, 64);
    CHECK_TEXT(full.signature, "ecdsa_secp256r1_sha256");
    CHECK_TEXT(n.signature, "-");
    CHECK_TEXT(n.group, "X25519");
    struct tls_case psk = a_case(ECDHE_1_3 "resumption=psk"), ticket = a_case(ECDHE_1_2 "resumption=ticket");
    CHECK_TEXT(case_wanted(&psk, true).group, "-");
    CHECK_TEXT(case_wanted(&ticket, true).group, "-");
}

static void wanted_extras(void) {
    struct tls_case c = a_case(
        "protocol=TLSv1.3 key_exchange=MLKEM-ML-DSA-87 group=MLKEM1024 rsa_bits=0 curve=- chain_length=3 "
        "client_authentication=yes ocsp_response=o");
    struct negotiated n = case_wanted(&c, false);
    CHECK_TEXT(n.signature, "mldsa87");
    CHECK_TEXT(n.peer_key, "ML-DSA-87");
    CHECK_TEXT(n.client_key, "ML-DSA-87");
    CHECK_NUMBER(n.peer_key_bits, 0);
    CHECK_NUMBER(n.chain_length, 3);
    CHECK_NUMBER(n.hello_retry, 0);
    struct tls_case defaults = a_case("protocol=default key_exchange=default-RSA group=- cipher=-" RSA_2048);
    struct fault fault = {0};
    CHECK(case_check(&defaults, &fault));
    n = case_wanted(&defaults, false);
    CHECK(n.protocol == NULL && n.cipher == NULL && n.group == NULL && n.signature == NULL);
    CHECK_TEXT(n.peer_key, "RSA");
}

static void suite_is(const char *words, unsigned number) {
    struct tls_case c = a_case(words);
    enum cipher cipher;
    enum method method;
    CHECK_NUMBER(iana_suite_number(&c), number);
    CHECK(iana_suite(number, &cipher, &method) && cipher == c.cipher);
    CHECK(method == (c.protocol == TLS_1_3 ? METHOD_DEFAULT : c.method));
}

/* Numbers of RFC 8446 (appendix B), 5289, 5288, 7905, 8422, 7919 and draft-ietf-tls-ecdhe-mlkem. */
static void registry(void) {
    suite_is("protocol=TLSv1.3 key_exchange=ECDHE-RSA group=X25519" RSA_2048, 0x1301);
    suite_is("protocol=TLSv1.2 key_exchange=ECDHE-RSA group=X25519" RSA_2048, 0xc02f);
    suite_is("protocol=TLSv1.2 key_exchange=ECDHE-Ed25519 group=X25519 rsa_bits=0 curve=-", 0xc02b);
    suite_is("protocol=TLSv1.2 key_exchange=RSA group=- cipher=AES-256-CBC-SHA256" RSA_2048, 0x003d);
    suite_is("protocol=TLSv1.2 key_exchange=DHE-RSA group=ffdhe2048 cipher=CHACHA20-POLY1305" RSA_2048,
             0xccaa);
    for (enum group group = GROUP_SECP192R1; group < GROUP_BLS12_381; group++)
        CHECK_TEXT(iana_group_word(iana_group_number(group)), group_name(group));
    CHECK_NUMBER(iana_group_number(GROUP_X25519MLKEM768), 0x11ec);
    CHECK_NUMBER(iana_group_number(GROUP_CUSTOM_DH), 0);
    CHECK_TEXT(iana_group_word(0), "-");
    CHECK_NUMBER(iana_signature_number("rsa_pss_rsae_sha256"), 0x0804);
    CHECK_TEXT(iana_signature_word(0x0503), "ecdsa_secp384r1_sha384");
    CHECK_TEXT(iana_protocol_word(0x0304), "TLSv1.3");
    CHECK(iana_group_word(0xffff) == NULL && iana_signature_word(0xffff) == NULL &&
          iana_protocol_word(0x0301) == NULL);
}

int main(void) {
    sentence("a case whose parts contradict each other is an error", contradictions);
    sentence("what TLS itself lacks is unsupported", standards);
    sentence("settings that exclude each other are refused", settings);
    sentence("a case says what has to be negotiated", wanted);
    sentence("a resumption negotiates less, the full handshake before it all", wanted_resumed);
    sentence("certificates, chains and default settings are part of what is wanted", wanted_extras);
    sentence("words have the numbers of the registry, and numbers their words", registry);
    sentence("each differing field is a mismatch that names wanted and got", mismatches);
    return check_failures != 0;
}
