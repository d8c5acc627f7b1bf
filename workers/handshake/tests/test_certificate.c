/* Certificates that the openssl tool made, read by the worker itself. The folder with them is the argument.
 */
#include "certificate.h"
#include "material.h"

#include "check.h"

static const char *folder;

static bool first_of(const char *name, unsigned *count, struct certificate_facts *facts) {
    struct material pem;
    struct fault fault;
    struct certificate one;
    size_t at = 0;
    bool read = true;
    *count = 0;
    if (!CHECK(material_read(folder, name, &pem, &fault)))
        return false;
    for (; certificate_next(pem.bytes, pem.length, &at, &one); ++*count) {
        struct certificate_facts more;
        read = certificate_read(&one, *count == 0 ? facts : &more) && read;
        certificate_free(&one);
    }
    read = read && at == pem.length;
    material_free(&pem);
    return read;
}

static void keys(void) {
    static const struct {
        const char *file, *key, *curve;
        unsigned bits, count;
    } known[] = {{"rsa-2048.cert.pem", "RSA", NULL, 2048, 1},
                 {"rsa-1776.cert.pem", "RSA", NULL, 1776, 1},
                 {"rsa-pss-2048.cert.pem", "RSA-PSS", NULL, 2048, 1},
                 {"ec-P-256.cert.pem", "EC", "P-256", 256, 1},
                 {"ec-P-384.cert.pem", "EC", "P-384", 384, 1},
                 {"ec-P-521.cert.pem", "EC", "P-521", 521, 1},
                 {"ec-secp192r1.cert.pem", "EC", "secp192r1", 192, 1},
                 {"ec-other.cert.pem", "EC", NULL, 0, 1},
                 {"ed25519.cert.pem", "Ed25519", NULL, 0, 1},
                 {"ed448.cert.pem", "Ed448", NULL, 0, 1},
                 {"ml-dsa-65.cert.pem", "ML-DSA-65", NULL, 0, 1},
                 {"rsa-2048-chain-3.cert.pem", "RSA", NULL, 2048, 3}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct certificate_facts facts = {0};
        unsigned count;
        if (!CHECK(first_of(known[i].file, &count, &facts))) {
            printf("      %s\n", known[i].file);
            continue;
        }
        CHECK_TEXT(facts.key, known[i].key);
        CHECK((facts.curve == NULL) == (known[i].curve == NULL));
        if (facts.curve != NULL && known[i].curve != NULL)
            CHECK_TEXT(facts.curve, known[i].curve);
        CHECK_NUMBER(facts.bits, known[i].bits);
        CHECK_NUMBER(count, known[i].count);
        CHECK_NUMBER(facts.parts.names, 1);
    }
}

static void extensions(void) {
    struct certificate_facts facts = {0};
    unsigned count;
    CHECK(first_of("ec-P-256-large.cert.pem", &count, &facts));
    CHECK_NUMBER(count, 2);
    CHECK_NUMBER(facts.parts.names, 100);
    CHECK_NUMBER(facts.parts.policies, 2);
    CHECK_NUMBER(facts.parts.crl_distribution_points, 3);
}

static void unreadable(void) {
    static const char cut[] = "-----BEGIN CERTIFICATE-----\nMIIB", wrong[] =
                                                                       "-----BEGIN CERTIFICATE-----\n?\n"
                                                                       "-----END CERTIFICATE-----";
    struct certificate one;
    struct certificate_facts facts;
    size_t at = 0;
    CHECK(!first_of("garbage.pem", &(unsigned){0}, &facts) || at == 0);
    CHECK(!certificate_next((const unsigned char *)cut, sizeof cut - 1, &at, &one) && at < sizeof cut - 1);
    at = 0;
    CHECK(!certificate_next((const unsigned char *)wrong, sizeof wrong - 1, &at, &one) &&
          at < sizeof wrong - 1);
    one = (struct certificate){(unsigned char *)"\x30\x03\x02\x01", 4};
    CHECK(!certificate_read(&one, &facts));
}

int main(int argc, char **argv) {
    folder = argc > 1 ? argv[1] : ".";
    sentence("a certificate's key, curve and size are read, and a chain's certificates counted", keys);
    sentence("names, policies and CRL distribution points are counted", extensions);
    sentence("what is no certificate is not read", unreadable);
    return check_failures != 0;
}
