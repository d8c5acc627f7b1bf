/* The transport: a BIO over our own pipes. */
#include "openssl_backend.h"

static BIO_METHOD *stream_method, *datagram_method;

static int pipe_bio_write(BIO *bio, const char *data, int length) {
    const struct pipe_end *end = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t taken = length > 0 ? pipe_write(end->out, data, (size_t)length) : 0;
    if (taken > 0)
        return (int)taken;
    BIO_set_retry_write(bio);
    return -1;
}

static int pipe_bio_read(BIO *bio, char *data, int length) {
    const struct pipe_end *end = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t given = length > 0 ? pipe_read(end->in, data, (size_t)length) : 0;
    if (given > 0)
        return (int)given;
    BIO_set_retry_read(bio);
    return -1;
}

static int datagram_bio_write(BIO *bio, const char *data, int length) {
    const struct pipe_end *end = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t taken =
        length > 0 && length <= UINT16_MAX ? pipe_write_datagram(end->out, data, (uint16_t)length) : 0;
    if (taken > 0)
        return (int)taken;
    BIO_set_retry_write(bio);
    return -1;
}

static int datagram_bio_read(BIO *bio, char *data, int length) {
    const struct pipe_end *end = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t given = length > 0 ? pipe_read_datagram(end->in, data, (size_t)length) : 0;
    if (given > 0)
        return (int)given;
    BIO_set_retry_read(bio);
    return -1;
}

static long pipe_bio_control(BIO *bio, int command, long number, void *pointer) {
    (void)number, (void)pointer;
    const struct pipe_end *end = BIO_get_data(bio);
    if (command == BIO_CTRL_FLUSH)
        return 1;
    return command == BIO_CTRL_PENDING ? (long)pipe_pending(end->in) : 0;
}

static BIO_METHOD *new_method(int (*write)(BIO *, const char *, int), int (*read)(BIO *, char *, int)) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "kexbench pipe");
    bool good = method != NULL && BIO_meth_set_write(method, write) && BIO_meth_set_read(method, read) &&
                BIO_meth_set_ctrl(method, pipe_bio_control);
    return good ? method : NULL;
}

bool openssl_pipe_start(void) {
    stream_method = new_method(pipe_bio_write, pipe_bio_read);
    datagram_method = new_method(datagram_bio_write, datagram_bio_read);
    return stream_method != NULL && datagram_method != NULL;
}

BIO *openssl_pipe_new(struct pipe_end *end, bool of_datagrams) {
    BIO *bio = BIO_new(of_datagrams ? datagram_method : stream_method);
    if (bio == NULL)
        return NULL;
    BIO_set_data(bio, end);
    BIO_set_init(bio, 1);
    return bio;
}
