/* Every hash of the scheme, each with a domain of its own. All but the positions' points are
 * expand_message_xmd with SHA-256 (RFC 9380, section 5.3.1), whose tag separates them. */
#ifndef KEXBENCH_BFE_DERIVE_H
#define KEXBENCH_BFE_DERIVE_H

#include "bfe.h"

void bfe_derive_id(unsigned char id[BFE_ID_BYTES], const unsigned char public_key[BFE_PUBLIC_KEY_BYTES]);
void bfe_derive_alpha(blst_scalar *alpha, const unsigned char seed[BFE_SEED_BYTES]);
/* The coins and the encapsulated secret. */
void bfe_derive_coins(blst_scalar *r, unsigned char secret[BFE_SECRET_BYTES],
                      const unsigned char id[BFE_ID_BYTES], const unsigned char message[BFE_MESSAGE_BYTES]);
void bfe_derive_positions(uint32_t positions[BFE_HASHES_MAX], const struct bfe_public_key *key,
                          const unsigned char u[BFE_POINT_BYTES]);
void bfe_derive_point(blst_p1 *point, const unsigned char id[BFE_ID_BYTES], uint32_t position);
/* What the message is combined with under the shared value of one position. */
void bfe_derive_pad(unsigned char pad[BFE_MESSAGE_BYTES], const unsigned char id[BFE_ID_BYTES],
                    uint32_t which, const blst_fp12 *shared);

uint32_t bfe_number(const unsigned char bytes[4]);
void bfe_put_number(unsigned char out[4], uint32_t number);

#endif
