/* Emulated paths with real packets, timed by the kernel's own stamps. On a busy machine a path may not hold
 * what was asked of it; then it has to say so. */
#include "emulator.h"
#include "lane.h"
#include "tun.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DATAGRAM_MOST = 1400, HEADERS = 28, MOST = 32768 };

static struct emulated out;
static struct fault fault;
static struct emulator emulator;

struct arrival {
    uint64_t sent_ns, came_ns;
    uint16_t connection;
    uint32_t number;
};
static struct arrival arrivals[MOST];

static struct path a_path(uint64_t round_trip_ns) {
    return (struct path){
        .round_trip_ns = round_trip_ns, .mtu = 1500, .queue_bytes = 100000, .initial_window = 10, .seed = 1};
}

static uint64_t real_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool open_path(struct path path, unsigned connections, bool datagrams) {
    memset(&fault, 0, sizeof fault);
    return CHECK(emulator_open(&emulator, &path, connections, datagrams, &fault)) ||
           (puts(fault.reason), false);
}

static bool close_path(void) {
    return CHECK(emulator_close(&emulator, &out, &fault)) || (puts(fault.reason), false);
}

static int next_socket(void) {
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_addr = tun_server(), .sin_port = htons(TUN_SERVER_PORT)};
    int file = emulator_socket(&emulator), yes = 1;
    CHECK(file >= 0 && setsockopt(emulator.server, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes) == 0);
    CHECK(connect(file, (const struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS);
    return file;
}

static void send_one(int socket, uint16_t connection, uint32_t number, size_t bytes) {
    unsigned char content[DATAGRAM_MOST] = {0};
    struct arrival *head = (struct arrival *)(void *)content;
    *head = (struct arrival){.sent_ns = real_ns(), .connection = connection, .number = number};
    while (send(socket, content, bytes, 0) < 0) {
        struct pollfd room = {.fd = socket, .events = POLLOUT};
        if (!CHECK(errno == EAGAIN) || poll(&room, 1, 1000) < 0)
            return;
    }
}

/* One datagram with the kernel's stamp of its arrival. */
static bool receive_one(struct arrival *arrival, int patience_ms) {
    unsigned char content[DATAGRAM_MOST];
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
    } with;
    struct iovec part = {content, sizeof content};
    struct msghdr all = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &with, .msg_controllen = sizeof with};
    struct pollfd wait = {.fd = emulator.server, .events = POLLIN};
    if (poll(&wait, 1, patience_ms) <= 0 || recvmsg(emulator.server, &all, 0) < 0)
        return false;
    struct timespec came = {0, 0};
    CHECK(CMSG_FIRSTHDR(&all) != NULL && with.header.cmsg_type == SO_TIMESTAMPNS);
    memcpy(&came, CMSG_DATA(&with.header), sizeof came);
    memcpy(arrival, content, sizeof *arrival);
    arrival->came_ns = (uint64_t)came.tv_sec * 1000000000u + (uint64_t)came.tv_nsec;
    return true;
}

static int by_delay(const void *a, const void *b) {
    const struct arrival *one = a, *other = b;
    uint64_t x = one->came_ns - one->sent_ns, y = other->came_ns - other->sent_ns;
    return (x > y) - (x < y);
}

/* More than a hundredth late: the machine did not hold this path, and the path tells. */
static bool is_held(void) {
    return out.late * 100 <= out.packets[FROM_CLIENT] + out.packets[FROM_SERVER];
}

static void delay_of(uint64_t delay_ns) {
    enum { PACKETS = 300 };
    if (!open_path(a_path(2 * delay_ns), 1, true))
        return;
    int socket = next_socket();
    struct timespec pause = {0, 700000};
    for (uint32_t i = 0; i < PACKETS; i++) {
        send_one(socket, 0, i, 100);
        nanosleep(&pause, NULL);
    }
    uint32_t came = 0;
    while (came < PACKETS && receive_one(&arrivals[came], 5000))
        came++;
    close(socket);
    if (!close_path() || !CHECK_NUMBER(came, PACKETS))
        return;
    qsort(arrivals, came, sizeof *arrivals, by_delay);
    uint64_t median = arrivals[came / 2].came_ns - arrivals[came / 2].sent_ns;
    uint64_t p99 = arrivals[came * 99 / 100].came_ns - arrivals[came * 99 / 100].sent_ns;
    printf("       %7.1f ms: by the kernel's stamps p50 %+.1f us, p99 %+.1f us; by the path p50 %+.1f us, "
           "p99 %+.1f us, "
           "%llu of %llu late\n",
           (double)delay_ns / 1e6, ((double)median - (double)delay_ns) / 1e3,
           ((double)p99 - (double)delay_ns) / 1e3, ((double)out.delay_p50_ns - (double)delay_ns) / 1e3,
           ((double)out.delay_p99_ns - (double)delay_ns) / 1e3, (unsigned long long)out.late,
           (unsigned long long)out.packets[FROM_CLIENT]);
    CHECK_NUMBER(out.packets[FROM_CLIENT], PACKETS);
    CHECK_NUMBER(out.wire_bytes[FROM_CLIENT], PACKETS * (100 + HEADERS));
    CHECK(arrivals[0].came_ns - arrivals[0].sent_ns >= delay_ns);
    CHECK(out.delay_p50_ns >= delay_ns && out.delay_p50_ns <= out.delay_p99_ns);
    CHECK(!is_held() || out.delay_p50_ns <= delay_ns + 50000 + delay_ns / 100);
}

static void delays(void) {
    static const uint64_t ms[] = {0, 1, 10, 50, 200};
    for (size_t i = 0; i < sizeof ms / sizeof ms[0]; i++)
        delay_of(ms[i] * 1000000);
}

/* Exactly the packets that the seed says are lost, each connection's own, in any order of connections. */
static void loss_of(uint64_t ppm, uint64_t least, uint64_t most) {
    enum { CONNECTIONS = 20, PACKETS = 1000 };
    struct path path = a_path(2000000);
    path.loss_ppm = ppm;
    static bool came[CONNECTIONS][PACKETS];
    int sockets[CONNECTIONS];
    uint64_t lost = 0, unlike = 0;
    memset(came, 0, sizeof came);
    if (!open_path(path, CONNECTIONS, true))
        return;
    for (int c = 0; c < CONNECTIONS; c++)
        sockets[c] = next_socket();
    struct arrival arrival;
    for (uint32_t i = 0; i < PACKETS; i++) {
        for (uint16_t c = 0; c < CONNECTIONS; c++)
            send_one(sockets[(c * 7u + i) % CONNECTIONS], (uint16_t)((c * 7u + i) % CONNECTIONS), i, 100);
        while (receive_one(&arrival, 0))
            came[arrival.connection][arrival.number] = true;
    }
    while (receive_one(&arrival, 1000))
        came[arrival.connection][arrival.number] = true;
    for (int c = 0; c < CONNECTIONS; c++)
        close(sockets[c]);
    if (!close_path())
        return;
    struct lane_plan plan = {.loss_ppm = ppm, .seed = path.seed * DIRECTIONS + FROM_CLIENT};
    for (uint16_t c = 0; c < CONNECTIONS; c++) {
        for (uint32_t i = 0; i < PACKETS; i++) {
            lost += !came[c][i];
            unlike += came[c][i] == lane_loses(&plan, c, i);
        }
    }
    printf("       %.1f%%: %llu of %d lost\n", (double)ppm / 1e4, (unsigned long long)lost,
           CONNECTIONS * PACKETS);
    CHECK_NUMBER(unlike, 0);
    CHECK_NUMBER(out.lost[FROM_CLIENT], lost);
    CHECK(lost >= least && lost <= most);
}

/* Two-sided 99.9% intervals of the binomial distribution of 20,000. */
static void losses(void) {
    loss_of(1000, 7, 36);
    loss_of(10000, 155, 248);
    loss_of(50000, 900, 1103);
}

static void rate_of(uint64_t bit_s) {
    struct path path = a_path(2000000);
    path.rate_bit_s = bit_s;
    path.queue_bytes = 100u << 20;
    uint32_t packets = (uint32_t)(bit_s / 2 / 8 / (DATAGRAM_MOST + HEADERS)), came = 0; /* of half a second */
    if (!open_path(path, 1, true))
        return;
    int socket = next_socket();
    for (uint32_t i = 0; i < packets; i++) {
        send_one(socket, 0, i, DATAGRAM_MOST);
        while (came < packets && receive_one(&arrivals[came], 0))
            came++;
    }
    while (came < packets && receive_one(&arrivals[came], 5000))
        came++;
    close(socket);
    if (!close_path() || !CHECK_NUMBER(came, packets))
        return;
    double bits = (double)(came - 1) * (DATAGRAM_MOST + HEADERS) * 8;
    double rate = bits / ((double)(arrivals[came - 1].came_ns - arrivals[0].came_ns) / 1e9);
    printf("       %3llu Mbit/s: by the kernel's stamps %+.3f%%, by the path %+.3f%%\n",
           (unsigned long long)(bit_s / 1000000), (rate / (double)bit_s - 1) * 100,
           ((double)out.carried_bit_s / (double)bit_s - 1) * 100);
    CHECK_NUMBER(out.dropped[FROM_CLIENT], 0);
    bool never_empty = out.delays == 1; /* else this program sent more slowly than the path */
    CHECK(!is_held() || !never_empty || (rate > (double)bit_s * 0.99 && rate < (double)bit_s * 1.01));
    CHECK(!is_held() || (out.carried_bit_s > bit_s / 100 * 99 && out.carried_bit_s < bit_s / 100 * 101));
}

static void rates(void) {
    rate_of(1000000);
    rate_of(10000000);
    rate_of(100000000);
}

static void drops(void) {
    enum { PACKETS = 100 };
    struct path path = a_path(0);
    path.rate_bit_s = 1000000;
    path.queue_bytes = 10 * (DATAGRAM_MOST + HEADERS);
    if (!open_path(path, 1, true))
        return;
    int socket = next_socket();
    for (uint32_t i = 0; i < PACKETS; i++)
        send_one(socket, 0, i, DATAGRAM_MOST);
    uint32_t came = 0;
    while (came < PACKETS && receive_one(&arrivals[came], 1000))
        came++;
    close(socket);
    if (!close_path())
        return;
    CHECK(came >= 10 && came < PACKETS);
    CHECK_NUMBER(out.dropped[FROM_CLIENT], PACKETS - came);
    for (uint32_t i = 0; i < 10; i++) /* the tail is what is dropped */
        CHECK_NUMBER(arrivals[i].number, i);
}

/* TCP as it is: the first window has as many segments as it should, of the size that the MTU leaves. */
static void windows(void) {
    static unsigned char much[200000];
    struct path path = a_path(900000000); /* above a second TCP would send its SYN again */
    path.mtu = 1000;
    path.initial_window = 7;
    if (!open_path(path, 1, false))
        return;
    int client = next_socket(), server;
    struct pollfd connects = {.fd = emulator.server, .events = POLLIN};
    CHECK(poll(&connects, 1, 5000) == 1);
    server = accept4(emulator.server, NULL, NULL, SOCK_NONBLOCK);
    CHECK(server >= 0 && send(server, much, sizeof much, 0) > 7000);
    struct pollfd answers = {.fd = client, .events = POLLIN};
    CHECK(poll(&answers, 1, 5000) == 1);
    close(client); /* before the second window leaves: half a round trip after the first one came */
    close(server);
    if (!close_path())
        return;

    CHECK(!is_held() || out.packets[FROM_SERVER] == 1 + 7);
    CHECK(!is_held() || out.wire_bytes[FROM_SERVER] == 60 + 7 * 1000);
    CHECK_TEXT(emulator.congestion_control == NULL ? "cubic" : emulator.congestion_control, "cubic");
}

/* --- Its end. --- */

/* Whoever is orphaned becomes this program's child, so the wait for none tells that none lives on. */
static void killed(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    alarm(120);
    for (long wait_us = 0; wait_us < 12000; wait_us += 400) {
        pid_t child = fork();
        if (child == 0) {
            struct path path = a_path(1000000);
            if (!emulator_open(&emulator, &path, 1000, true, &fault))
                _exit(1);
            int socket = next_socket();
            for (uint32_t i = 0;; i++)
                send_one(socket, 0, i, 100);
        }
        struct timespec moment = {0, wait_us * 1000};
        nanosleep(&moment, NULL);
        CHECK(kill(child, SIGKILL) == 0);
        int ended = 0;
        while (wait(NULL) > 0)
            ended++;
        CHECK(errno == ECHILD && ended >= 1 && ended <= 2);
    }
    alarm(0);
}

/* Where only two network namespaces may exist, a path has both, so the next one tells that those of the one
 * before are gone, and with them their devices. The kernel takes them down in its own time, and those of each
 * refused attempt too, so the pauses between attempts double. */
static bool opens_again(void) {
    struct path path = a_path(1000000);
    const long long most_ns = 16000000000;
    for (long long pause_ns = 1000000; !emulator_open(&emulator, &path, 10, true, &fault); pause_ns *= 2) {
        if (strstr(fault.reason, "making a network namespace") == NULL || pause_ns > most_ns)
            return puts(fault.reason), false;
        struct timespec pause = {pause_ns / 1000000000, pause_ns % 1000000000};
        nanosleep(&pause, NULL);
    }
    return true;
}

static bool put(const char *file, const char *text) {
    int to = open(file, O_WRONLY | O_CLOEXEC);
    bool good = to >= 0 && write(to, text, strlen(text)) == (ssize_t)strlen(text);
    if (to >= 0)
        close(to);
    return good;
}

/* 2: this machine has no user namespaces, or no such limit. */
static int in_two_namespaces(void) {
    char map[32];
    snprintf(map, sizeof map, "0 %u 1", geteuid());
    if (unshare(CLONE_NEWUSER) != 0 || !put("/proc/self/uid_map", map) ||
        !put("/proc/sys/user/max_net_namespaces", "2"))
        return 2;
    struct path path = a_path(1000000);
    if (!opens_again())
        return 2;
    struct emulator other;
    bool good = CHECK(!emulator_open(&other, &path, 1, true, &fault)); /* the limit is one */
    good = CHECK(emulator_close(&emulator, NULL, &fault)) && good;
    for (int i = 0; i < 10 && good; i++) {
        pid_t child = fork();
        if (child == 0) {
            bool open = opens_again() && next_socket() >= 0;
            if (open) /* the worker, or its forwarder */
                kill(i % 2 == 0 ? getpid() : emulator.child, SIGKILL);
            _exit(!open);
        }
        int status = 0;
        good = CHECK(waitpid(child, &status, 0) == child &&
                     (i % 2 == 0 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : status == 0));
        good = good && CHECK(opens_again()) && CHECK(emulator_close(&emulator, NULL, &fault));
    }
    return !good;
}

static void namespaces(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int result = in_two_namespaces();
        fflush(stdout);
        _exit(result);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) != 1);
    if (WEXITSTATUS(status) == 2)
        puts("       left out: this machine has no limit of namespaces");
}

static void broken(void) {
    if (!open_path(a_path(1000000), 10, true))
        return;
    kill(emulator.child, SIGKILL);
    for (int i = 0; i < 10; i++) { /* some may lie ready */
        int file = emulator_socket(&emulator);
        if (file >= 0)
            close(file);
    }
    CHECK(emulator_socket(&emulator) < 0);
    CHECK(!emulator_close(&emulator, &out, &fault));
    CHECK_TEXT(fault.reason, "the forwarder of the path ended");
}

static void no_room_for_files(void) {
    struct rlimit files, none;
    int next = -1;
    if (!open_path(a_path(1000000), 10, true))
        return;
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0 && (next = dup(STDOUT_FILENO)) >= 0 && close(next) == 0);
    none = files;
    none.rlim_cur = (rlim_t)next;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    errno = 0;
    CHECK(emulator_socket(&emulator) < 0);
    CHECK_NUMBER(errno, EMFILE);
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    emulator_close(&emulator, NULL, &fault);
}

static bool node_for_all(void) {
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/dev/net", "tmpfs", 0, NULL) == 0 &&
           mknod("/dev/net/tun", S_IFCHR | 0666, makedev(10, 200)) == 0 && chmod("/dev/net/tun", 0666) == 0;
}

/* With a user namespace, or a refusal that says which step it was. */
static void without_root(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct path path = a_path(0);
        bool good =
            (geteuid() != 0 || node_for_all()) && (geteuid() != 0 || setresuid(65534, 65534, 65534) == 0);
        if (!good)
            _exit(2);
        if (emulator_open(&emulator, &path, 1, true, &fault)) {
            send_one(next_socket(), 0, 1, 100);
            good = receive_one(&arrivals[0], 5000) && emulator_close(&emulator, &out, &fault);
            printf("       %s\n", good ? "a user namespace holds it" : fault.reason);
        } else {
            good = strncmp(fault.reason, "a path was refused: ", 20) == 0;
            printf("       %s\n", fault.reason);
        }
        fflush(stdout);
        _exit(!good);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) != 1);
}

int main(void) {
    struct path path = a_path(0);
    if (!emulator_open(&emulator, &path, 1, true, &fault)) {
        CHECK(strncmp(fault.reason, "a path was refused: ", 20) == 0);
        printf("  ok   left out: %s\n", fault.reason);
        return check_failures != 0;
    }
    emulator_close(&emulator, NULL, &fault);
    sentence("packets take as long as they should, by the kernel's stamps, or the path says that they do not",
             delays);
    sentence("exactly the packets of the seed are lost, as many as the loss says", losses);
    sentence("a rate is kept within a hundredth", rates);
    sentence("a full queue drops its tail", drops);
    sentence("TCP's first window and segments are as asked", windows);
    sentence("whenever the process is killed, nothing of its path lives on", killed);
    sentence("whichever of its processes is killed, its namespaces and devices are gone", namespaces);
    sentence("a forwarder that ended is told", broken);
    sentence("a process without room for a file is told so", no_room_for_files);
    sentence("root is not needed, or what was refused is told", without_root);
    return check_failures != 0;
}
