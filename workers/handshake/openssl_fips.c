/* Library contexts. The FIPS provider has one of its own, so that a worker may have cases with and without it
 * one after the other. Its configuration lies beside its module in the folder that the worker runs in. */
#include "openssl_backend.h"

#if OPENSSL_HAS_PROVIDERS

#include <openssl/provider.h>

#include <string.h>
#include <unistd.h>

#define MODULES "ossl-modules"
static const char configuration[] = MODULES "/fips.cnf";

/* What is fetched without asking for anything comes from that provider. */
static bool is_on(OSSL_LIB_CTX *library) {
    EVP_MD *digest = EVP_MD_fetch(library, "SHA2-256", NULL);
    bool on = digest != NULL && EVP_default_properties_is_fips_enabled(library) &&
              strcmp(OSSL_PROVIDER_get0_name(EVP_MD_get0_provider(digest)), "fips") == 0;
    EVP_MD_free(digest);
    return on;
}

/* What the configuration did not activate is loaded here, if only to hear why it can't be. */
static bool has(OSSL_LIB_CTX *library, const char *provider) {
    return OSSL_PROVIDER_available(library, provider) || OSSL_PROVIDER_load(library, provider) != NULL;
}

/* `base` reads keys and certificates, and has no cryptography. */
static bool load(OSSL_LIB_CTX *library, struct fault *fault) {
    if (OSSL_PROVIDER_set_default_search_path(library, MODULES) != 1 ||
        OSSL_LIB_CTX_load_config(library, configuration) != 1)
        return openssl_fault(fault, FAULT_UNSUPPORTED, "the FIPS provider's configuration can't be loaded");
    if (!has(library, "fips"))
        return openssl_fault(fault, FAULT_UNSUPPORTED, "the FIPS provider can't be loaded");
    if (!has(library, "base"))
        return openssl_fault(fault, FAULT_UNSUPPORTED, "the base provider can't be loaded");
    if (EVP_default_properties_enable_fips(library, 1) != 1 || !is_on(library))
        return openssl_fault(fault, FAULT_UNSUPPORTED, "the FIPS provider is not what algorithms come from");
    return true;
}

OSSL_LIB_CTX *openssl_fips_library(struct fault *fault) {
    if (access(configuration, R_OK) != 0) {
        fault_set(fault, FAULT_UNSUPPORTED, "there is no FIPS provider here: no file %s", configuration);
        return NULL;
    }
    OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
    if (library == NULL)
        openssl_fault(fault, FAULT_ERROR, "no library context");
    else if (load(library, fault))
        return library;
    openssl_fips_free(library);
    return NULL;
}

OSSL_LIB_CTX *openssl_library(struct fault *fault) {
    OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
    if (library == NULL)
        openssl_fault(fault, FAULT_ERROR, "no library context");
    return library;
}

bool openssl_fips_takes_dh(OSSL_LIB_CTX *library, EVP_PKEY *parameters) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(library, parameters, NULL);
    bool takes = ctx != NULL && EVP_PKEY_keygen_init(ctx) == 1 && EVP_PKEY_keygen(ctx, &key) == 1;
    EVP_PKEY_free(key);
    EVP_PKEY_CTX_free(ctx);
    return takes;
}

/* Providers that are loaded go with their context. */
void openssl_fips_free(OSSL_LIB_CTX *library) {
    OSSL_LIB_CTX_free(library);
}

#else

OSSL_LIB_CTX *openssl_library(struct fault *fault) {
    fault_set(fault, FAULT_UNSUPPORTED, "OpenSSL before 3.0 has no library contexts");
    return NULL;
}

OSSL_LIB_CTX *openssl_fips_library(struct fault *fault) {
    fault_set(fault, FAULT_UNSUPPORTED, "OpenSSL before 3.0 has no FIPS provider");
    return NULL;
}

bool openssl_fips_takes_dh(OSSL_LIB_CTX *library, EVP_PKEY *parameters) {
    (void)library, (void)parameters;
    return false;
}

void openssl_fips_free(OSSL_LIB_CTX *library) {
    (void)library;
}

#endif
