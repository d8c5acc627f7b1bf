/* What a server remembers of ClientHellos with early data. It is the application's to write, and part of what
 * is measured, so it is as cheap as such a memory can be: two hash tables of fixed size that take turns (RFC
 * 8446, section 8.2), so that forgetting costs nothing and a lookup takes constant time on average. */
#include "gnutls_backend.h"

#include <stdlib.h>
#include <string.h>

/* At most three quarters full: 196,608 handshakes a window of ten seconds. */
enum { SLOTS = 1 << 18, SLOTS_USED_MAX = SLOTS / 4 * 3, ID_BYTES = 8 };

struct slot {
    uint64_t id;         /* the end of the ClientHello's binder, which is a MAC */
    uint64_t generation; /* in which it was written; another than the table's: free */
};

struct table {
    uint64_t generation;
    time_t full_at; /* an entry that expires then or later goes to the other table */
    size_t used;
    struct slot slots[SLOTS];
};

struct replay_store {
    struct table tables[2];
    unsigned current;
    uint64_t generations;
};

struct replay_store *replay_store_new(void) {
    struct replay_store *store = calloc(1, sizeof *store);
    if (store != NULL)
        store->tables[0].generation = store->tables[1].generation = store->generations = 1;
    return store;
}

void replay_store_free(struct replay_store *store) {
    free(store);
}

/* The slot of the ID, or the free one where it belongs. */
static struct slot *find(struct table *table, uint64_t id) {
    size_t at = id % SLOTS;
    while (table->slots[at].generation == table->generation && table->slots[at].id != id)
        at = (at + 1) % SLOTS;
    return &table->slots[at];
}

static bool holds(struct table *table, uint64_t id) {
    return find(table, id)->generation == table->generation;
}

/* A table takes what is added during one window, and is kept for another one: what was added last is not
 * asked for any longer then. The new generation empties it. */
static void take_turns(struct replay_store *store, time_t expires) {
    store->current = 1 - store->current;
    struct table *table = &store->tables[store->current];
    table->generation = ++store->generations;
    table->full_at = expires + REPLAY_WINDOW_S;
    table->used = 0;
}

int replay_store_add(void *pointer, time_t expires, const gnutls_datum_t *key, const gnutls_datum_t *data) {
    (void)data;
    struct replay_store *store = pointer;
    uint64_t id;
    if (key->size < ID_BYTES)
        return GNUTLS_E_DB_ERROR;
    memcpy(&id, key->data + key->size - ID_BYTES, sizeof id);
    if (expires >= store->tables[store->current].full_at)
        take_turns(store, expires);
    struct table *table = &store->tables[store->current];
    if (holds(table, id) || holds(&store->tables[1 - store->current], id))
        return GNUTLS_E_DB_ENTRY_EXISTS;
    if (table->used == SLOTS_USED_MAX)
        return GNUTLS_E_DB_ERROR; /* early data is refused rather than a ClientHello forgotten */
    *find(table, id) = (struct slot){.id = id, .generation = table->generation};
    table->used++;
    return 0;
}
