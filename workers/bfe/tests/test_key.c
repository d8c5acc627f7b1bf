/* Parameters, generation, serialisation, files and days. */
#include "check.h"
#include "file.h"
#include "keys.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct made made, again;
static unsigned char seed[BFE_SEED_BYTES];

static void parameters(void) {
    struct bfe_parameters p;
    CHECK(bfe_parameters_for(50000, 1.0 / 1024, &p));
    CHECK_NUMBER(p.positions, 721348);
    CHECK_NUMBER(p.hashes, 10);
    CHECK_NUMBER(bfe_secret_key_bytes(&p), 116 + 721348LL * 48);
    CHECK_NUMBER(bfe_ciphertext_bytes(&p), 2 + 96 + 10 * 32);
    CHECK(bfe_parameters_for(1, 0.5, &p));
    CHECK_NUMBER(p.positions, 2);
    CHECK_NUMBER(p.hashes, 1);
    CHECK(!bfe_parameters_for(0, 0.5, &p));
    CHECK(!bfe_parameters_for(1, 0, &p) && !bfe_parameters_for(1, 1, &p) && !bfe_parameters_for(1, -1, &p));
    CHECK(!bfe_parameters_for(1, (double)NAN, &p));
    CHECK(!bfe_parameters_for(1, 1e-10, &p));
    CHECK(!bfe_parameters_for(UINT32_MAX, 0.001, &p));
}

static void repeatable(void) {
    make_key(&made, 20, 3, 7);
    make_key(&again, 20, 3, 7);
    CHECK(memcmp(made.bytes, again.bytes, made.length) == 0);
    fill(seed, sizeof seed, 7);
    CHECK(bfe_public_key_of(again.public_bytes, &made.public_key.parameters, seed, 20000));
    CHECK(memcmp(made.public_bytes, again.public_bytes, sizeof made.public_bytes) == 0);
    CHECK_NUMBER(made.public_key.day, 20000);
    make_key(&again, 20, 3, 8);
    CHECK(memcmp(made.public_key.id, again.public_key.id, BFE_ID_BYTES) != 0);
}

static bool ask(void *context, uint32_t elements) {
    uint32_t *asked = context;
    CHECK_NUMBER(elements, ++*asked * 1024);
    return *asked < 2;
}

static void progress(void) {
    struct bfe_parameters p = {4096, 2};
    size_t length = bfe_secret_key_bytes(&p);
    unsigned char *bytes = malloc(length);
    uint32_t asked = 0;
    CHECK(!bfe_generate(bytes, length, &p, seed, 0, ask, &asked));
    CHECK_NUMBER(asked, 2);
    CHECK(is_nothing(bytes, length));
    memset(bytes, 1, length);
    CHECK(!bfe_generate(bytes, length - 1, &p, seed, 0, NULL, NULL));
    CHECK(is_nothing(bytes, length - 1));
    free(bytes);
}

static void files(void) {
    char folder[] = "/tmp/bfe-test-XXXXXX", path[sizeof folder + 4];
    struct bfe_file file, second;
    struct bfe_secret_key key;
    struct sent sent;
    unsigned char secret[BFE_SECRET_BYTES];
    make_key(&made, 40, 3, 9);
    send_to(&sent, &made.public_key, 1);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/key", folder);
    CHECK(bfe_file_create(&file, path, made.length));
    CHECK(!bfe_file_create(&second, path, made.length) && errno == EEXIST);
    memcpy(file.bytes, made.bytes, made.length);
    bfe_file_close(&file);
    for (int kept = 0; kept <= 1; kept++) {
        CHECK(bfe_file_open(&file, path, kept));
        CHECK_NUMBER(bfe_read_secret_key(&key, file.bytes, file.length), BFE_OK);
        CHECK_NUMBER(bfe_decapsulate(&key, sent.ciphertext, sent.length, secret), BFE_OK);
        CHECK_NUMBER(bfe_puncture(&key, sent.ciphertext, sent.length), BFE_OK);
        CHECK(bfe_file_sync(&file));
        bfe_file_close(&file);
    }
    CHECK(bfe_file_open(&file, path, true));
    CHECK_NUMBER(bfe_read_secret_key(&key, file.bytes, file.length), BFE_OK);
    CHECK_NUMBER(bfe_decapsulate(&key, sent.ciphertext, sent.length, secret), BFE_PUNCTURED);
    CHECK(bfe_file_destroy(&file, path));
    CHECK(!bfe_file_open(&file, path, true) && errno == ENOENT);
    rmdir(folder);
}

static void days(void) {
    struct bfe_days chain = {20000, {1, 2, 3}}, ahead = chain;
    unsigned char published[3][BFE_PUBLIC_KEY_BYTES];
    struct bfe_parameters p = {20, 3};
    for (int i = 0; i < 3; i++) {
        uint32_t day = ahead.day;
        bfe_next_day(&ahead, seed);
        CHECK(bfe_public_key_of(published[i], &p, seed, day));
        CHECK(i == 0 || memcmp(published[i], published[i - 1], sizeof published[i]) != 0);
    }
    for (int i = 0; i < 3; i++) {
        struct bfe_days before = chain;
        CHECK_NUMBER(chain.day, 20000 + i);
        bfe_next_day(&chain, seed);
        CHECK(memcmp(before.seed, chain.seed, sizeof seed) != 0 &&
              memcmp(seed, chain.seed, sizeof seed) != 0);
        made.length = bfe_secret_key_bytes(&p);
        CHECK(bfe_generate(made.bytes, made.length, &p, seed, before.day, NULL, NULL));
        CHECK_NUMBER(bfe_read_secret_key(&made.key, made.bytes, made.length), BFE_OK);
        bfe_publish(made.public_bytes, &made.key);
        CHECK(memcmp(made.public_bytes, published[i], sizeof published[i]) == 0);
    }
}

int main(void) {
    sentence("the filter's size and hashes follow from its punctures and rate of false positives",
             parameters);
    sentence("the same seed makes the same key", repeatable);
    sentence("a generation that is ended, or has no room, leaves nothing", progress);
    sentence("a key is a file: punctures stay in it, or pass with the process", files);
    sentence("keys of days are those that were published ahead, and the chain moves on", days);
    return check_failures != 0;
}
