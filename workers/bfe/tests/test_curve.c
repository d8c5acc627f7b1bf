/* That blst was built into what it should be: values of RFC 9380, the pairing's laws, the same on any path.
 */
#include "check.h"
#include "keys.h"

static unsigned char message[] = "abcdef0123456789";

static void check_bytes(const unsigned char *got, size_t length, const char *wanted) {
    char text[2 * 96 + 1] = "";
    for (size_t i = 0; i < length; i++)
        snprintf(text + 2 * i, 3, "%02x", got[i]);
    CHECK_TEXT(text, wanted);
}

/* Appendix J.9.1 */
static void hash_to_curve(void) {
    static const struct {
        size_t length;
        const char *x, *y;
    } wanted[] = {
        {0,
         "052926add2207b76ca4fa57a8734416c8dc95e24501772c814278700eed6d1e4e8cf62d9c09db0fac349612b759e79a1",
         "08ba738453bfed09cb546dbb0783dbb3a5f1f566ed67bb6be0e8c67e2e81a4cc68ee29813bb7994998f3eae0c9c6a265"},
        {3,
         "03567bc5ef9c690c2ab2ecdf6a96ef1c139cc0b2f284dca0a9a7943388a49a3aee664ba5379a7655d3c68900be2f6903",
         "0b9c15f3fe6e5cf4211f346271d7b01c8f3b28be689c8429c85b67af215533311f0b8dfaaa154fa6b88176c229f2885d"},
    };
    static const char tag[] = "QUUX-V01-CS02-with-BLS12381G1_XMD:SHA-256_SSWU_RO_";
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        blst_p1 point;
        unsigned char bytes[96];
        blst_hash_to_g1(&point, message, wanted[i].length, (const unsigned char *)tag, sizeof tag - 1, NULL,
                        0);
        blst_p1_serialize(bytes, &point);
        check_bytes(bytes, 48, wanted[i].x);
        check_bytes(bytes + 48, 48, wanted[i].y);
    }
}

/* Appendix K.1 */
static void expand_message(void) {
    static const char tag[] = "QUUX-V01-CS02-with-expander-SHA256-128";
    unsigned char out[32];
    blst_expand_message_xmd(out, sizeof out, message, 3, (const unsigned char *)tag, sizeof tag - 1);
    check_bytes(out, sizeof out, "d8ccab23b5985ccea865c6c97b6e5b8350e794e603b4b97902f53a8a0d605615");
}

static void pair(blst_fp12 *out, const blst_p1 *p, const blst_p2 *q) {
    blst_p1_affine p_affine;
    blst_p2_affine q_affine;
    blst_p1_to_affine(&p_affine, p);
    blst_p2_to_affine(&q_affine, q);
    blst_miller_loop(out, &q_affine, &p_affine);
    blst_final_exp(out, out);
}

static void bilinear(void) {
    unsigned char wide[64];
    blst_scalar scalar;
    blst_p1 p;
    blst_p2 q;
    blst_fp12 left, right, plain;
    for (uint64_t i = 0; i < 5; i++) {
        fill(wide, sizeof wide, i);
        blst_scalar_from_be_bytes(&scalar, wide, sizeof wide);
        blst_sign_pk_in_g2(&p, blst_p1_generator(), &scalar);
        blst_sk_to_pk_in_g2(&q, &scalar);
        pair(&left, &p, blst_p2_generator());
        pair(&right, blst_p1_generator(), &q);
        pair(&plain, blst_p1_generator(), blst_p2_generator());
        CHECK(blst_fp12_is_equal(&left, &right));
        CHECK(!blst_fp12_is_equal(&left, &plain));
        CHECK(blst_fp12_in_group(&left) && !blst_fp12_is_one(&plain));
    }
}

static void wide_scalars(void) {
    unsigned char wide[64] = {0}, bytes[32];
    blst_scalar scalar;
    wide[31] = 1; /* 2^256 modulo the order */
    CHECK(blst_scalar_from_be_bytes(&scalar, wide, sizeof wide));
    blst_bendian_from_scalar(bytes, &scalar);
    check_bytes(bytes, sizeof bytes, "1824b159acc5056f998c4fefecbc4ff55884b7fa0003480200000001fffffffe");
}

int main(void) {
    sentence("points are hashed to as RFC 9380 says", hash_to_curve);
    sentence("messages are expanded as RFC 9380 says", expand_message);
    sentence("the pairing is bilinear and not degenerate", bilinear);
    sentence("512 bits are reduced by the group's order", wide_scalars);
    return check_failures != 0;
}
