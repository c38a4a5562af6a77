/* What a call costs, and whether anything is left behind.
 *
 *     endure FILE.feeler LOADS QUERIES
 *
 * Loads, asks and frees LOADS times; then asks a pair QUERIES times in a place where nothing has moved: what
 * is left is the call itself.
 */
#define _POSIX_C_SOURCE 199309L
#include <feeler.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(FeelerResult result) {
    if (result != FEELER_RESULT_OK) {
        fprintf(stderr, "%s\n", feeler_last_error());
        exit(2);
    }
}

static FeelerPair *load(const char *path) {
    FeelerModel *model = NULL;
    FeelerBody *body = NULL;
    FeelerPair *pair = NULL;
    check(feeler_model_read(path, &model));
    check(feeler_body_new(model, 0, &body));
    check(feeler_pair_new(body, body, &pair));
    feeler_model_free(model);
    feeler_body_free(body);
    return pair;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: endure FILE.feeler LOADS QUERIES\n");
        return 2;
    }
    const FeelerPose away = {{1e4, 0, 0}, {0, 0, 0, 1}};
    FeelerContact out[8];
    size_t n = 0;
    for (int i = atoi(argv[2]); i > 0; --i) {
        FeelerPair *pair = load(argv[1]);
        check(feeler_pair_query(pair, NULL, &away, NULL, out, 8, &n));
        feeler_pair_free(pair);
    }
    FeelerPair *pair = load(argv[1]);
    check(feeler_pair_query(pair, NULL, &away, NULL, out, 8, &n));
    const int queries = atoi(argv[3]);
    const double begin = now();
    for (int i = 0; i < queries; ++i) check(feeler_pair_query(pair, NULL, &away, NULL, out, 8, &n));
    if (queries > 0) printf("%.3f us a query\n", 1e6 * (now() - begin) / queries);
    feeler_pair_free(pair);
    return 0;
}
