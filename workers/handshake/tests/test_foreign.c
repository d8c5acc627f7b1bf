/* The border to other languages (foreign.h), with a library in C behind it that says what no real one does.
 * The folder with the material is the argument. */
#include "foreign.h"

#include "check.h"

#include <string.h>

static const char *folder;
static struct foreign_case *handed_over;
static int number; /* that the library tells for whatever it negotiated */

/* --- The library. --- */

const char foreign_library[] = "double";
const struct traits foreign_traits = {0};

int foreign_start(struct fault *fault) {
    (void)fault;
    return 1;
}
char *foreign_version(void) {
    static char version[] = "1.0";
    return version;
}
char *foreign_version_text(void) {
    return foreign_version();
}
char *foreign_cpu_features(void) {
    return NULL;
}
uintptr_t foreign_setup(struct foreign_case *tls_case, struct fault *fault) {
    (void)fault;
    handed_over = tls_case;
    return 1;
}
void foreign_teardown(uintptr_t context) {
    CHECK(context == 1 && strstr(handed_over->certificate, "/ec-P-256.cert.pem") != NULL);
}
uintptr_t foreign_open(uintptr_t context, int role, void *in, void *out, int resume, struct fault *fault) {
    (void)in, (void)out, (void)resume, (void)fault;
    return 10 * context + (uintptr_t)role;
}
int foreign_step(uintptr_t side, struct fault *fault) {
    static const char reason[] = "reason and more", detail[] = "";
    (void)side;
    foreign_fail(fault, FOREIGN_FAULT_ERROR, reason, strlen("reason"), detail, 0);
    return PROGRESS_FAILED;
}
long foreign_send(uintptr_t side, void *data, size_t length, struct fault *fault) {
    (void)side, (void)data, (void)fault;
    return (long)length;
}
long foreign_receive(uintptr_t side, void *data, size_t size, struct fault *fault) {
    (void)side, (void)data, (void)size, (void)fault;
    return 0;
}
int foreign_finish(uintptr_t side, struct fault *fault) {
    (void)side, (void)fault;
    return PROGRESS_DONE;
}
int foreign_inspect(uintptr_t side, struct foreign_view *view, struct fault *fault) {
    (void)side, (void)fault;
    view->protocol = view->suite = view->group = view->signature = view->client_signature = number;
    view->resumed = 1;
    return 1;
}
int foreign_keep(uintptr_t client, struct fault *fault) {
    (void)client, (void)fault;
    return 1;
}
void foreign_close(uintptr_t side) {
    CHECK(side / 10 == 1);
}

/* --- The tests. --- */

static struct side *open_side(struct context **context, struct fault *fault) {
    struct tls_case c = {.protocol = PROTOCOL_DEFAULT,
                         .method = METHOD_DEFAULT,
                         .key_type = KEY_ECDSA,
                         .cipher = CIPHER_DEFAULT,
                         .curve = GROUP_P256,
                         .chain_length = 1,
                         .certificate_names = 1,
                         .trust_anchors = 1,
                         .threads = 1};
    struct pipe_end pipes = {0};
    strcpy(c.certificate, "ec-P-256.cert.pem");
    strcpy(c.key, "ec-P-256.key.pem");
    strcpy(c.trust_anchors_file, "-");
    strcpy(c.ocsp_response, "-");
    *context = linked_backend.setup(&c, folder, fault);
    return *context == NULL ? NULL : linked_backend.open(*context, ROLE_CLIENT, pipes, true, fault);
}

static void words_outlive_their_side(void) {
    struct negotiated seen[2] = {0};
    struct fault fault = {0};
    for (int i = 0; i < 2; i++) {
        struct context *context;
        struct side *side = open_side(&context, &fault);
        if (!CHECK(side != NULL))
            return;
        number = 0x7a7a + i;
        CHECK(linked_backend.inspect(side, &seen[i], &fault));
        linked_backend.close(side);
        linked_backend.teardown(context);
    }
    CHECK_TEXT(seen[0].protocol, "protocol 0x7a7a");
    CHECK_TEXT(seen[0].cipher, "suite 0x7a7a");
    CHECK_TEXT(seen[0].group, "group 0x7a7a");
    CHECK_TEXT(seen[0].signature, "signature 0x7a7a");
    CHECK_TEXT(seen[1].group, "group 0x7a7b");
}

static void texts_are_copied_as_far_as_they_are_told(void) {
    struct fault fault = {0};
    struct context *context;
    struct side *side = open_side(&context, &fault);
    if (!CHECK(side != NULL))
        return;
    CHECK(linked_backend.step(side, &fault) == PROGRESS_FAILED);
    CHECK_TEXT(fault.reason, "reason");
    CHECK_TEXT(fault.detail, "");
    linked_backend.close(side);
    linked_backend.teardown(context);
}

int main(int argc, char **argv) {
    folder = argc > 1 ? argv[1] : ".";
    sentence("words for numbers that no case has outlive the side that told them", words_outlive_their_side);
    sentence("a fault's texts are copied, as long as the library says",
             texts_are_copied_as_far_as_they_are_told);
    return check_failures != 0;
}
