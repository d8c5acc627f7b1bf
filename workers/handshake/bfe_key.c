/* See bfe_backend.h. The seed's file: what it is (8 bytes), connections and bits of the false-positive rate
 * (4 bytes each, the highest first), the seed. kexbench.material.bfe writes it. */
#include "bfe_backend.h"

#include "material.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIND_BYTES = 8, SEED_AT = KIND_BYTES + 2 * 4, SEED_FILE_BYTES = SEED_AT + BFE_SEED_BYTES };
static const unsigned char KIND[KIND_BYTES] = {'B', 'F', 'E', 's', 'e', 'e', 'd', 1};

static bool failed(struct fault *fault, const char *reason, const char *path) {
    int error = errno;
    fault_set(fault, FAULT_ERROR, "%s", reason);
    snprintf(fault->detail, sizeof fault->detail, "%s: %s", path, strerror(error));
    return false;
}

static uint32_t number(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool read_seed(const struct material *file, struct bfe_parameters *parameters, uint32_t *connections) {
    if (file->length != SEED_FILE_BYTES || memcmp(file->bytes, KIND, KIND_BYTES) != 0)
        return false;
    uint32_t bits = number(file->bytes + KIND_BYTES + 4);
    *connections = number(file->bytes + KIND_BYTES);
    return bits <= BFE_HASHES_MAX && bfe_parameters_for(*connections, ldexp(1, -(int)bits), parameters);
}

/* Under a name of this process, and complete before it has the other one. */
static bool make(const char *path, const struct bfe_parameters *parameters, const unsigned char *seed,
                 struct fault *fault) {
    struct bfe_file file;
    size_t size = strlen(path) + 32;
    char *partial = malloc(size);
    if (partial == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    snprintf(partial, size, "%s.%ld", path, (long)getpid());
    unlink(partial);
    bool made = bfe_file_create(&file, partial, bfe_secret_key_bytes(parameters));
    if (made) {
        made = bfe_generate(file.bytes, file.length, parameters, seed, 0, NULL, NULL) && bfe_file_sync(&file);
        bfe_file_close(&file);
        made = made && rename(partial, path) == 0;
    }
    if (!made) {
        failed(fault, "can't keep the key of Bloom filter encryption beside its seed", partial);
        unlink(partial);
    }
    free(partial);
    return made;
}

static bool map(struct bfe_key *key, struct fault *fault) {
    if (!bfe_file_open(&key->file, key->path, false))
        return failed(fault, "can't map the key of Bloom filter encryption", key->path);
    if (bfe_read_secret_key(&key->secret, key->file.bytes, key->file.length) == BFE_OK)
        return true;
    bfe_file_close(&key->file);
    errno = EINVAL;
    return failed(fault, "a damaged key of Bloom filter encryption: delete it", key->path);
}

static bool fits(const struct bfe_key *key, const struct bfe_parameters *parameters,
                 const unsigned char *seed) {
    unsigned char wanted[BFE_PUBLIC_KEY_BYTES], has[BFE_PUBLIC_KEY_BYTES];
    bfe_publish(has, &key->secret);
    return bfe_public_key_of(wanted, parameters, seed, 0) && memcmp(wanted, has, sizeof has) == 0;
}

bool bfe_key_open(struct bfe_key *out, const char *folder, const char *name, struct fault *fault) {
    struct material seed;
    struct bfe_parameters parameters;
    size_t size = strlen(folder) + strlen(name) + 32;
    *out = (struct bfe_key){0};
    if (!material_read(folder, name, &seed, fault))
        return false;
    bool good = read_seed(&seed, &parameters, &out->connections) ||
                fault_set(fault, FAULT_ERROR, "%s is no seed of a key of Bloom filter encryption", name);
    if (good)
        good = (out->path = malloc(size)) != NULL || fault_set(fault, FAULT_ERROR, "out of memory");
    if (good) {
        snprintf(out->path, size, "%s/%s.expanded", folder, name);
        good = (access(out->path, F_OK) == 0 || make(out->path, &parameters, seed.bytes + SEED_AT, fault)) &&
               map(out, fault);
    }
    if (good && !fits(out, &parameters, seed.bytes + SEED_AT)) {
        errno = EINVAL;
        good = failed(fault, "the key of Bloom filter encryption is of another seed: delete it", out->path);
    }
    material_free(&seed);
    if (!good)
        bfe_key_close(out);
    return good;
}

bool bfe_key_renew(struct bfe_key *key, struct fault *fault) {
    bfe_file_close(&key->file);
    return map(key, fault);
}

void bfe_key_close(struct bfe_key *key) {
    if (key->file.bytes != NULL)
        bfe_file_close(&key->file);
    free(key->path);
    *key = (struct bfe_key){0};
}
