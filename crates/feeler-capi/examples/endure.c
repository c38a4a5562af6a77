/* Cost of a call, and a test for leaks.
 *
 *     endure FILE.feeler LOADS QUERIES
 *
 * Loads, queries and frees a pair LOADS times. Then queries one pair QUERIES times at the same pose, where a query
 * only reuses its results, and prints the time of a call.
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

static FeelerContactPair *load(const char *path) {
    FeelerModel *model = NULL;
    FeelerBody *body = NULL;
    FeelerContactPair *pair = NULL;
    check(feeler_model_read(path, &model));
    check(feeler_body_new(model, 0, &body));
    check(feeler_contact_pair_new(body, body, &pair));
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
        FeelerContactPair *pair = load(argv[1]);
        check(feeler_contact_pair_query(pair, NULL, &away, NULL, out, 8, &n));
        feeler_contact_pair_free(pair);
    }
    FeelerContactPair *pair = load(argv[1]);
    check(feeler_contact_pair_query(pair, NULL, &away, NULL, out, 8, &n));
    const int queries = atoi(argv[3]);
    const double begin = now();
    for (int i = 0; i < queries; ++i) check(feeler_contact_pair_query(pair, NULL, &away, NULL, out, 8, &n));
    if (queries > 0) printf("%.3f us per query\n", 1e6 * (now() - begin) / queries);
    feeler_contact_pair_free(pair);
    return 0;
}
