/* SCM_RIGHTS, unix(7). */
#include "message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

bool message_send(int control, const void *message, size_t size, int file, int flags) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } with = {0};
    struct iovec part = {(void *)message, size};
    struct msghdr all = {.msg_iov = &part, .msg_iovlen = 1};
    if (file >= 0) {
        all.msg_control = &with;
        all.msg_controllen = sizeof with;
        with.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&with.header), &file, sizeof file);
    }
    return sendmsg(control, &all, MSG_NOSIGNAL | flags) == (ssize_t)size;
}

bool message_receive(int control, void *message, size_t size, int *file, int flags) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } with = {0};
    struct iovec part = {message, size};
    struct msghdr all = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &with, .msg_controllen = sizeof with};
    *file = -1;
    ssize_t got = recvmsg(control, &all, MSG_CMSG_CLOEXEC | flags);
    if (got == 0)
        errno = 0;
    if (got > 0 && (all.msg_flags & MSG_CTRUNC) != 0)
        errno = EMFILE; /* the file came, and this process may not have another one */
    if (got > 0 && CMSG_FIRSTHDR(&all) != NULL && with.header.cmsg_type == SCM_RIGHTS)
        memcpy(file, CMSG_DATA(&with.header), sizeof *file);
    return got == (ssize_t)size;
}
