/* The side of the process that wants a path. */
#include "emulator.h"

#include "forwarder.h"
#include "message.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the forwarder does within a millisecond, it does in this time however busy the machine is. */
enum { PATIENCE_MS = 20000 };

/* In its turn. */
static bool receive(const struct emulator *e, void *message, size_t size, int *file) {
    if (message_receive(e->control, message, size, file, MSG_DONTWAIT))
        return true;
    struct pollfd wait = {.fd = e->control, .events = POLLIN};
    if (errno != EAGAIN || poll(&wait, 1, PATIENCE_MS) <= 0)
        return false;
    return message_receive(e->control, message, size, file, MSG_DONTWAIT);
}

/* Namespaces and devices are the child's own, and the kernel's to clean up. */
static void end_child(struct emulator *e) {
    close(e->control);
    if (e->server >= 0)
        close(e->server);
    kill(e->child, SIGKILL);
    while (waitpid(e->child, NULL, 0) < 0 && errno == EINTR)
        ;
    *e = (struct emulator){.control = -1, .child = -1, .server = -1};
}

/* A process of its own, and no thread, since only a process with a single thread may make a user namespace,
 * and so that this one stays in the namespaces where it is. */
bool emulator_open(struct emulator *e, const struct path *path, unsigned connections, bool datagrams,
                   struct fault *fault) {
    struct forwarder_ready ready = {0};
    int ends[2];
    *e = (struct emulator){.control = -1, .child = -1, .server = -1, .congestion_control = "cubic"};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return fault_set(fault, FAULT_ERROR, "a path was refused: a pair of sockets: %s", strerror(errno));
    e->child = fork();
    if (e->child == 0) {
        close(ends[0]);
        forwarder_run(ends[1], path, connections, datagrams);
    }
    close(ends[1]);
    e->control = ends[0];
    if (e->child < 0) {
        close(ends[0]);
        return fault_set(fault, FAULT_ERROR, "a path was refused: a process: %s", strerror(errno));
    }
    if (receive(e, &ready, sizeof ready, &e->server) && ready.step[0] == '\0')
        return true;
    ready.step[sizeof ready.step - 1] = '\0';
    fault_set(fault, FAULT_ERROR, "a path was refused: %s: %s",
              ready.step[0] != '\0' ? ready.step : "starting the forwarder", strerror(ready.error));
    end_child(e);
    return false;
}

int emulator_socket(struct emulator *e) {
    char message;
    int file = -1;
    return receive(e, &message, sizeof message, &file) ? file : -1;
}

bool emulator_close(struct emulator *e, struct emulated *out, struct fault *fault) {
    bool told = out == NULL;
    if (out != NULL) {
        int none;
        memset(out, 0, sizeof *out);
        told = shutdown(e->control, SHUT_WR) == 0 && receive(e, out, sizeof *out, &none);
    }
    end_child(e);
    if (!told)
        return fault_set(fault, FAULT_ERROR, "the forwarder of the path ended");
    return out == NULL || out->fault[0] == '\0' || fault_set(fault, FAULT_ERROR, "%.127s", out->fault);
}
