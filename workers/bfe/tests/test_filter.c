/* The rate of false positives, with ciphertexts that are random points' bytes: positions depend on nothing
 * else. */
#include "check.h"
#include "derive.h"
#include "keys.h"

#include <math.h>

enum { PUNCTURES = 100, PROBES = 20000 };

static struct made made;

static void fabricate(unsigned char *ciphertext, uint64_t seed) {
    ciphertext[0] = 1;
    ciphertext[1] = (unsigned char)made.public_key.parameters.hashes;
    fill(ciphertext + 2, BFE_POINT_BYTES, seed);
}

/* Within four standard deviations, which a sound filter misses once in 16,000 seeds; the seeds are fixed. */
static void check_binomial(double successes, double trials, double probability) {
    double deviation = sqrt(trials * probability * (1 - probability));
    if (!CHECK(fabs(successes - trials * probability) < 4 * deviation))
        printf("    %g of %g at a probability of %g\n", successes, trials, probability);
}

static void false_positives(void) {
    struct bfe_parameters p;
    unsigned char ciphertext[BFE_CIPHERTEXT_BYTES_MAX];
    uint32_t positions[BFE_HASHES_MAX];
    double closed = 0;
    CHECK(bfe_parameters_for(PUNCTURES, 1.0 / 32, &p));
    make_key(&made, p.positions, p.hashes, 1);
    for (uint64_t i = 0; i < PUNCTURES; i++) {
        fabricate(ciphertext, i);
        CHECK_NUMBER(bfe_puncture(&made.key, ciphertext, bfe_ciphertext_bytes(&p)), BFE_OK);
    }
    double full = bfe_punctured_elements(&made.key) / (double)p.positions;
    /* With as many positions and hashes as the formulas give, half of the filter is full. */
    CHECK(fabs(full - 0.5) < 0.05);
    for (uint64_t i = 0; i < PROBES; i++) {
        fabricate(ciphertext, PUNCTURES + i);
        bfe_derive_positions(positions, &made.public_key, ciphertext + 2);
        uint32_t left = 0;
        for (uint32_t j = 0; j < p.hashes; j++)
            left += made.key.elements[positions[j] * BFE_ELEMENT_BYTES] != 0;
        closed += left == 0;
    }
    check_binomial(closed, PROBES, pow(full, p.hashes));
    CHECK(closed / PROBES < 1.5 / 32);
}

/* Each position is as likely as any other, and one of a ciphertext says nothing of the next. */
static void uniform(void) {
    enum { POSITIONS = 8, HASHES = 32, CIPHERTEXTS = 2000 };
    uint32_t counts[POSITIONS] = {0}, equal = 0, positions[BFE_HASHES_MAX];
    unsigned char u[BFE_POINT_BYTES];
    make_key(&made, POSITIONS, HASHES, 2);
    for (uint64_t i = 0; i < CIPHERTEXTS; i++) {
        fill(u, sizeof u, i);
        bfe_derive_positions(positions, &made.public_key, u);
        for (int j = 0; j < HASHES; j++)
            counts[positions[j]]++;
        for (int j = 1; j < HASHES; j++)
            equal += positions[j] == positions[j - 1];
    }
    for (int i = 0; i < POSITIONS; i++)
        check_binomial(counts[i], CIPHERTEXTS * HASHES, 1.0 / POSITIONS);
    check_binomial(equal, CIPHERTEXTS * (HASHES - 1), 1.0 / POSITIONS);
}

/* The same with real ciphertexts: those that the filter closes are exactly those whose positions are all
 * gone. */
static void real_ciphertexts(void) {
    enum { POSITIONS = 12, HASHES = 2, CIPHERTEXTS = 40 };
    struct sent sent;
    unsigned char secret[BFE_SECRET_BYTES];
    uint32_t positions[BFE_HASHES_MAX];
    bool gone[POSITIONS] = {false};
    int opened = 0;
    make_key(&made, POSITIONS, HASHES, 3);
    for (uint64_t i = 0; i < CIPHERTEXTS; i++) {
        send_to(&sent, &made.public_key, i);
        bfe_derive_positions(positions, &made.public_key, sent.ciphertext + 2);
        bool open = !gone[positions[0]] || !gone[positions[1]];
        CHECK_NUMBER(bfe_decapsulate(&made.key, sent.ciphertext, sent.length, secret),
                     open ? BFE_OK : BFE_PUNCTURED);
        if (open && i % 4 == 0) {
            CHECK_NUMBER(bfe_puncture(&made.key, sent.ciphertext, sent.length), BFE_OK);
            gone[positions[0]] = gone[positions[1]] = true;
        }
        opened += open;
    }
    CHECK(opened > 4 && opened < CIPHERTEXTS);
}

int main(void) {
    sentence("as many ciphertexts are closed by chance as the filter's rate says", false_positives);
    sentence("positions are uniform and independent", uniform);
    sentence("exactly those ciphertexts are closed whose elements are all gone", real_ciphertexts);
    return check_failures != 0;
}
