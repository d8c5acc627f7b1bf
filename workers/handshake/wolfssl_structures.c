/* The one file that reads and writes wolfSSL's structures: without its OpenSSL layer, which other builds have
 * and users of the crate do not, there is no function for any of this. */
#include <wolfssl/options.h>

#include <wolfssl/internal.h>

#include "wolfssl_structures.h"

/* Until 5.6 a side forgot what its peer had signed with, and the peer's own view stands alone. */
#if LIBWOLFSSL_VERSION_HEX >= 0x05007000
#define PEER_SIGNATURE(options) scheme((options).peerSigAlgo, (options).peerHashAlgo)
#else
#define PEER_SIGNATURE(options) WOLFSSL_FORGOTTEN
#endif

static unsigned group_of_curve(unsigned oid) {
    switch (oid) {
    case ECC_X25519_OID:
        return WOLFSSL_ECC_X25519;
    case ECC_X448_OID:
        return WOLFSSL_ECC_X448;
    case ECC_SECP256R1_OID:
        return WOLFSSL_ECC_SECP256R1;
    case ECC_SECP384R1_OID:
        return WOLFSSL_ECC_SECP384R1;
    case ECC_SECP521R1_OID:
        return WOLFSSL_ECC_SECP521R1;
    default:
        return 0;
    }
}

/* The library keeps the wire's two bytes apart, in words of its own. */
static unsigned scheme(unsigned algorithm, unsigned hash) {
    switch (algorithm) {
    case ed25519_sa_algo:
        return 0x0807;
    case ed448_sa_algo:
        return 0x0808;
    case rsa_pss_sa_algo:
        return 0x0800 | hash;
    case rsa_pss_pss_algo:
        return 0x0800 | (hash + (pss_sha256 - sha256_mac));
    default:
        return hash << 8 | algorithm;
    }
}

struct wolfssl_facts wolfssl_facts(const WOLFSSL *ssl) {
    /* DTLS counts down. */
    bool tls_1_3 = ssl->version.major == DTLS_MAJOR ? ssl->version.minor <= DTLSv1_3_MINOR
                                                    : ssl->version.minor >= TLSv1_3_MINOR;
    return (struct wolfssl_facts){
        .version = (unsigned)ssl->version.major << 8 | ssl->version.minor,
        .group = tls_1_3 ? ssl->namedGroup : group_of_curve(ssl->ecdhCurveOID),
        .own_signature = scheme(ssl->options.sigAlgo, ssl->options.hashAlgo),
        .peer_signature = PEER_SIGNATURE(ssl->options),
        .extended_master_secret = ssl->options.haveEMS,
        .pre_shared_key_alone = ssl->options.noPskDheKe,
        .signed_as_client = ssl->options.sendVerify == SEND_CERT,
    };
}

bool wolfssl_has_ticket(const WOLFSSL *ssl) {
    return ssl->session != NULL && ssl->session->ticketLen > 0;
}

bool wolfssl_leave_signature(WOLFSSL_CTX *ctx, unsigned number) {
    Suites *suites = ctx->suites;
    for (unsigned i = 0; suites != NULL && i + 1u < suites->hashSigAlgoSz; i += 2) {
        if (((unsigned)suites->hashSigAlgo[i] << 8 | suites->hashSigAlgo[i + 1]) == number) {
            suites->hashSigAlgo[0] = (byte)(number >> 8);
            suites->hashSigAlgo[1] = (byte)number;
            suites->hashSigAlgoSz = 2;
            return true;
        }
    }
    return false;
}
