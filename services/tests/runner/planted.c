/* Stands before SSL_new of a real libssl: with LEAK each connection loses 16 bytes, with LIST it adds a node of 32 to a
 * list, and else it does nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

struct ssl_st;
struct ssl_ctx_st;
void *CRYPTO_malloc(size_t size, const char *file, int line);
struct ssl_st *SSL_new(struct ssl_ctx_st *context);

static struct node {
    struct node *next;
    char text[24];
} *list;

__attribute__((noinline)) void leak_of_sixteen_bytes(void) {
    void *volatile lost = CRYPTO_malloc(16, "", 0);
    lost = NULL;
    (void)lost;
}

__attribute__((noinline)) void list_that_grows(void) {
    struct node *node = CRYPTO_malloc(sizeof *node, "", 0);
    node->next = list;
    list = node;
    __asm__ volatile("");
}

struct ssl_st *SSL_new(struct ssl_ctx_st *context) {
    struct ssl_st *(*real)(struct ssl_ctx_st *) =
        (struct ssl_st * (*)(struct ssl_ctx_st *)) dlsym(RTLD_NEXT, "SSL_new");
#ifdef LEAK
    leak_of_sixteen_bytes();
#endif
#ifdef LIST
    list_that_grows();
#endif
    struct ssl_st *ssl = real(context);
    __asm__ volatile("");
    return ssl;
}
