/* What each operation costs, as one JSON object: `bench_bfe [PUNCTURES [BITS [ROUNDS [FILE]]]]`, the filter
 * for so many punctures at a false-positive rate of 2^-BITS. FILE keeps the key: made if it is absent, which
 * takes minutes for a large one, and never changed. CPU time of the thread; medians with the quartiles beside
 * them. */
#include "bfe.h"
#include "file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { ROUNDS_MAX = 100000 };

struct options {
    uint32_t punctures, bits, rounds;
    const char *file;
};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void die(const char *what) {
    fprintf(stderr, "bench_bfe: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static void randomize(unsigned char *out, size_t length) {
    if (getrandom(out, length, 0) != (ssize_t)length)
        die("getrandom");
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print_times(const char *name, int64_t *ns, size_t count, bool last) {
    qsort(ns, count, sizeof *ns, compare);
    printf("  \"%s\": {\"median\": %lld, \"quartiles\": [%lld, %lld]}%s\n", name, (long long)ns[count / 2],
           (long long)ns[count / 4], (long long)ns[3 * count / 4], last ? "" : ",");
}

static bool show(void *context, uint32_t elements) {
    const struct bfe_parameters *parameters = context;
    if (elements % (64 * 1024) == 0)
        fprintf(stderr, "%u of %u elements\n", elements, parameters->positions);
    return true;
}

static void generate(unsigned char *bytes, size_t length, struct bfe_parameters *parameters) {
    unsigned char seed[BFE_SEED_BYTES];
    randomize(seed, sizeof seed);
    if (!bfe_generate(bytes, length, parameters, seed, 0, show, parameters))
        die("generate");
    bfe_erase(seed, sizeof seed);
}

/* The key of the file, or one in memory. */
static unsigned char *key_bytes(const struct options *options, struct bfe_parameters *parameters,
                                size_t length) {
    struct bfe_file file;
    if (options->file == NULL) {
        unsigned char *bytes = malloc(length);
        if (bytes == NULL)
            die("a key of this size");
        generate(bytes, length, parameters);
        return bytes;
    }
    if (bfe_file_create(&file, options->file, length)) {
        generate(file.bytes, length, parameters);
        bfe_file_close(&file);
    }
    if (!bfe_file_open(&file, options->file, false))
        die(options->file);
    errno = EINVAL;
    return file.length == length ? file.bytes : NULL;
}

static void time_generation(int64_t *ns, uint32_t rounds) {
    enum { ELEMENTS = 8 };
    struct bfe_parameters parameters = {ELEMENTS, 1}, none = {1, 1};
    unsigned char bytes[BFE_PUBLIC_KEY_BYTES + ELEMENTS * BFE_ELEMENT_BYTES], seed[BFE_SEED_BYTES];
    size_t length = bfe_secret_key_bytes(&none);
    for (uint32_t i = 0; i < rounds; i++) {
        randomize(seed, sizeof seed);
        int64_t begin = now_ns();
        bfe_generate(bytes, length, &none, seed, 0, NULL, NULL);
        int64_t one = now_ns() - begin;
        begin = now_ns();
        bfe_generate(bytes, sizeof bytes, &parameters, seed, 0, NULL, NULL);
        ns[i] = (now_ns() - begin - one) / (ELEMENTS - 1);
    }
}

static void time_all(struct bfe_secret_key *key, uint32_t rounds) {
    int64_t *ns[4];
    unsigned char message[BFE_MESSAGE_BYTES], ciphertext[BFE_CIPHERTEXT_BYTES_MAX], sent[BFE_SECRET_BYTES],
        secret[BFE_SECRET_BYTES];
    size_t length = bfe_ciphertext_bytes(&key->public_key.parameters);
    for (int i = 0; i < 4; i++)
        if ((ns[i] = calloc(rounds, sizeof **ns)) == NULL)
            die("memory");
    time_generation(ns[0], rounds);
    for (uint32_t i = 0; i < rounds;) {
        randomize(message, sizeof message);
        int64_t begin = now_ns();
        bfe_encapsulate(&key->public_key, message, ciphertext, sent);
        int64_t encapsulated = now_ns();
        enum bfe_result result = bfe_decapsulate(key, ciphertext, length, secret);
        int64_t decapsulated = now_ns();
        if (result == BFE_PUNCTURED) /* a false positive */
            continue;
        bfe_puncture(key, ciphertext, length);
        ns[3][i] = now_ns() - decapsulated;
        ns[2][i] = decapsulated - encapsulated;
        ns[1][i++] = encapsulated - begin;
        if (result != BFE_OK || memcmp(sent, secret, sizeof secret) != 0)
            die("decapsulate");
    }
    print_times("generate_element_ns", ns[0], rounds, false);
    print_times("encapsulate_ns", ns[1], rounds, false);
    print_times("decapsulate_ns", ns[2], rounds, false);
    print_times("puncture_ns", ns[3], rounds, true);
    for (int i = 0; i < 4; i++)
        free(ns[i]);
}

static uint32_t option(char **arguments, int count, int at, uint32_t otherwise) {
    return at < count ? (uint32_t)strtoul(arguments[at], NULL, 10) : otherwise;
}

int main(int count, char **arguments) {
    struct options options = {option(arguments, count, 1, 100), option(arguments, count, 2, 10),
                              option(arguments, count, 3, 50), count > 4 ? arguments[4] : NULL};
    struct bfe_parameters parameters;
    struct bfe_secret_key key;
    if (options.rounds < 1 || options.rounds > ROUNDS_MAX || options.rounds > options.punctures ||
        !bfe_parameters_for(options.punctures, exp2(-(double)options.bits), &parameters)) {
        fprintf(stderr,
                "usage: bench_bfe [PUNCTURES [BITS [ROUNDS [FILE]]]], with at most PUNCTURES rounds\n");
        return EXIT_FAILURE;
    }
    size_t length = bfe_secret_key_bytes(&parameters);
    unsigned char *bytes = key_bytes(&options, &parameters, length);
    if (bytes == NULL || bfe_read_secret_key(&key, bytes, length) != BFE_OK)
        die("not the key of these parameters");
    printf("{\n  \"punctures\": %u, \"positions\": %u, \"hashes\": %u, \"rounds\": %u,\n", options.punctures,
           parameters.positions, parameters.hashes, options.rounds);
    printf("  \"public_key_bytes\": %d, \"secret_key_bytes\": %zu, \"ciphertext_bytes\": %zu,\n",
           (int)BFE_PUBLIC_KEY_BYTES, length, bfe_ciphertext_bytes(&parameters));
    time_all(&key, options.rounds);
    printf("}\n");
    return EXIT_SUCCESS;
}
