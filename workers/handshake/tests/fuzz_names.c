/* A name is known exactly when it is what its value is called: one value has one name. */
#include "case.h"

#include "fuzz.h"

#include <stdio.h>

static void demand_names(const char *name) {
    enum protocol protocol;
    enum cipher cipher;
    enum method method;
    enum key_type key_type;
    enum group group, curve;
    enum resumption resumption;
    enum roles roles;
    unsigned bits;
    char again[64];
    if (protocol_from_name(name, &protocol))
        demand(strcmp(protocol_name(protocol), name) == 0);
    if (cipher_from_name(name, &cipher))
        demand(strcmp(cipher_name(cipher), name) == 0);
    if (key_exchange_from_name(name, &method, &key_type))
        demand(strcmp(key_exchange_name(method, key_type), name) == 0);
    if (group_from_name(name, &group, &bits)) {
        snprintf(again, sizeof again, "dh-%u", bits);
        demand((group == GROUP_CUSTOM_DH) == (bits != 0));
        demand(strcmp(bits == 0 ? group_name(group) : again, name) == 0);
    }
    if (curve_from_name(name, &curve))
        demand(curve == GROUP_NONE || curve_bits(curve) != 0);
    demand(!resumption_from_name(name, &resumption) || resumption <= RESUME_PSK_DHE);
    demand(!roles_from_name(name, &roles) || roles <= ROLES_SERVER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *name = strndup((const char *)data, size);
    demand(name != NULL);
    demand_names(name);
    free(name);
    return 0;
}
