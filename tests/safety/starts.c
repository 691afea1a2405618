/* starts.c - preloaded into bgc and all that it starts, writes down which programs begin: their paths, a line each,
 * into the file BG_STARTS
 *
 * Every program that is linked as usual loads it, a shell too, however it was started.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void
started(void)
{
    const char *into = getenv("BG_STARTS");
    char path[4097];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    int fd = into ? open(into, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    if (n < 0)
        n = 0;
    path[n] = '\n';
    (void)!write(fd, path, (size_t)n + 1);
    close(fd);
}
