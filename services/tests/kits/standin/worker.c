/* A small worker: says hello with its library's version, and bye. It measures nothing. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#ifdef BACKEND_openssl
#include <openssl/opensslv.h>
const char *OpenSSL_version(int what); /* answers "OpenSSL 9.8.7 …" */
#endif

int main(int argc, char **argv)
{
    char version[64] = "", line[4096];
    const char *library = "fake";
    struct utsname machine;
#ifdef BACKEND_openssl
    library = "openssl";
    sscanf(OpenSSL_version(0), "OpenSSL %63s", version);
#else
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], "--fake"))
            sscanf(argv[i + 1], "version=%63[^,]", version);
#endif
    (void)argc, (void)argv;
    uname(&machine);
    printf("{\"type\":\"hello\",\"protocol_version\":1,\"library\":\"%s\",\"version\":\"%s\",\"architecture\":\"%s\"}\n",
           library, version, machine.machine);
    while (fgets(line, sizeof line, stdin))
        if (!strcmp(line, "stop\n")) {
            puts("{\"type\":\"bye\"}");
            return 0;
        }
    return 0;
}
