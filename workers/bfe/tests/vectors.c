/* Prints the test vectors: a key, its elements, what was encapsulated, the days of a chain and a pairing, one
 * value a line. `recompute.py` computes them with another implementation. */
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>

static void print(const char *name, const unsigned char *bytes, size_t length) {
    printf("%s ", name);
    for (size_t i = 0; i < length; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

static void print_pairing(void) {
    unsigned char bytes[12 * 48];
    blst_fp12 value;
    blst_miller_loop(&value, blst_p2_affine_generator(), blst_p1_affine_generator());
    blst_final_exp(&value, &value);
    blst_bendian_from_fp12(bytes, &value);
    print("pairing_of_generators", bytes, sizeof bytes);
}

static void print_days(void) {
    struct bfe_days days = {20000, {0}};
    unsigned char seed[BFE_SEED_BYTES];
    fill(days.seed, sizeof days.seed, 5);
    print("chain_seed", days.seed, sizeof days.seed);
    for (int i = 0; i < 2; i++) {
        bfe_next_day(&days, seed);
        print("day_seed", seed, sizeof seed);
    }
}

int main(void) {
    static unsigned char bytes[KEY_BYTES_MAX];
    unsigned char seed[BFE_SEED_BYTES], public_bytes[BFE_PUBLIC_KEY_BYTES], message[BFE_MESSAGE_BYTES];
    struct bfe_parameters parameters;
    struct bfe_secret_key key;
    struct sent sent;
    if (!bfe_parameters_for(2, 1.0 / 8, &parameters))
        return EXIT_FAILURE;
    size_t length = bfe_secret_key_bytes(&parameters);
    fill(seed, sizeof seed, 1);
    if (!bfe_generate(bytes, length, &parameters, seed, 20000, NULL, NULL) ||
        bfe_read_secret_key(&key, bytes, length) != BFE_OK)
        return EXIT_FAILURE;
    bfe_publish(public_bytes, &key);
    print("seed", seed, sizeof seed);
    print("public_key", public_bytes, sizeof public_bytes);
    print("id", key.public_key.id, BFE_ID_BYTES);
    print("secret_key", bytes, length);
    for (uint64_t i = 0; i < 2; i++) {
        fill(message, sizeof message, i);
        send_to(&sent, &key.public_key, i);
        print("message", message, sizeof message);
        print("ciphertext", sent.ciphertext, sent.length);
        print("secret", sent.secret, sizeof sent.secret);
    }
    print_days();
    print_pairing();
    return EXIT_SUCCESS;
}
