set -e
cat >hello.c <<'END'
#include <stdio.h>

int main(void) {
#ifdef __aarch64__
    printf("hello, world from gcc, %zu bytes a pointer\n", sizeof(void *));
#endif
    return 0;
}
END
gcc -Wall -Werror -o hello hello.c
./hello
cat >work.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long sum;
static double cells[64][64];

static void *count(void *argument) {
    for (long n = 0; n < 10000; n++) atomic_fetch_add(&sum, n * (long)argument);
    return NULL;
}

static int queens(int size, unsigned columns, unsigned left, unsigned right) {
    unsigned all = (1u << size) - 1, free = all & ~(columns | left | right);
    if (columns == all) return 1;
    int found = 0;
    while (free) {
        unsigned bit = free & -free;
        free ^= bit;
        found += queens(size, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(void) {
    pthread_t threads[4];
    for (long n = 0; n < 4; n++) pthread_create(&threads[n], NULL, count, (void *)(n + 1));
    for (int n = 0; n < 4; n++) pthread_join(threads[n], NULL);
    printf("threads %ld\n", (long)sum);
    printf("queens %d\n", queens(9, 0, 0, 0));
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) cells[i][j] = 1.0 / (i + j + 1);
    double trace = 0;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) trace += cells[i][j] * cells[j][i];
    printf("matrix %.12f\n", trace);
    enum { N = 100000 };
    uint32_t *values = malloc(N * sizeof *values), state = 1;
    for (int n = 0; n < N; n++) values[n] = state = state * 1664525u + 1013904223u;
    qsort(values, N, sizeof *values, by_value);
    printf("sorted %u %u %u\n", values[0], values[N / 2], values[N - 1]);
    free(values);
    return 0;
}
END
for level in 0 2 3; do
	gcc -O$level -Wall -Werror -o work work.c -pthread
	./work >out.$level
done
cat out.0
cmp out.0 out.2
cmp out.0 out.3
gcc -O2 -S -o - work.c | grep -c 'ret$'
echo 'int main(void) { return x; }' >wrong.c
if gcc wrong.c 2>errors; then echo 'a wrong program compiles'; fi
grep -c 'error: .x. undeclared' errors
