/* Prints all local minima of the distance between two STEP or .feeler files as JSON.
 *
 *     query A B D_MAX X Y Z QX QY QZ QW        (pose of B)
 */
#include <feeler.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(FeelerResult result) {
    if (result != FEELER_RESULT_OK) {
        fprintf(stderr, "%s\n", feeler_last_error());
        exit(2);
    }
}

static FeelerBody *load(const char *path) {
    FeelerModel *model = NULL;
    const size_t n = strlen(path);
    if (n > 7 && strcmp(path + n - 7, ".feeler") == 0) {
        check(feeler_model_read(path, &model));
    } else {
        check(feeler_prepare_step(path, &model));
    }
    FeelerBody *body = NULL;
    check(feeler_body_new(model, 0, &body));
    feeler_model_free(model); /* the body does not need the model any more */
    return body;
}

static void numbers(const char *name, const double *x, int n, const char *end) {
    printf("\"%s\": [", name);
    for (int i = 0; i < n; ++i) {
        /* JSON has no infinity. */
        if (isfinite(x[i])) printf("%.17g", x[i]);
        else printf("null");
        if (i + 1 < n) printf(", ");
    }
    printf("]%s", end);
}

int main(int argc, char **argv) {
    if (argc != 11) {
        fprintf(stderr, "usage: query A B D_MAX X Y Z QX QY QZ QW\n");
        return 2;
    }
    if (feeler_abi_version() != FEELER_ABI_VERSION) {
        fprintf(stderr, "this program was compiled for another version of the library\n");
        return 2;
    }
    FeelerBody *a = load(argv[1]), *b = load(argv[2]);
    FeelerContactPair *pair = NULL;
    check(feeler_contact_pair_new(a, b, &pair));

    FeelerQueryOptions options = FEELER_QUERY_OPTIONS_INIT;
    options.d_max = atof(argv[3]);
    FeelerPose pose_b;
    for (int i = 0; i < 3; ++i) pose_b.translation[i] = atof(argv[4 + i]);
    for (int i = 0; i < 4; ++i) pose_b.rotation[i] = atof(argv[7 + i]);

    /* If the buffer is too small, feeler_contact_pair_contacts returns all contacts without another query. */
    FeelerContact few[64], *contacts = few;
    size_t n = 0;
    check(feeler_contact_pair_query(pair, NULL, &pose_b, &options, few, 64, &n));
    if (n > 64) {
        contacts = malloc(n * sizeof *contacts);
        if (!contacts) return 2;
        check(feeler_contact_pair_contacts(pair, contacts, n, &n));
    }
    FeelerVerdict verdict = {.struct_size = sizeof verdict};
    check(feeler_contact_pair_verdict(pair, &verdict));

    static const char *statuses[] = {"separated", "touching", "interfering", "undecided"};
    printf("{\"status\": \"%s\", \"contacts\": [", statuses[verdict.status]);
    for (size_t i = 0; i < n; ++i) {
        const FeelerContact *c = &contacts[i];
        printf("%s\n{\"distance\": %.17g, ", i ? "," : "", c->distance);
        numbers("point_a", c->point_a, 3, ", ");
        numbers("point_b", c->point_b, 3, ", ");
        numbers("normal", c->normal, 3, ", ");
        numbers("curvature_a", c->curvature_a, 2, ", ");
        numbers("curvature_b", c->curvature_b, 2, ", ");
        printf("\"id\": %llu}", (unsigned long long)c->id);
    }
    printf("]}\n");

    if (contacts != few) free(contacts);
    feeler_contact_pair_free(pair);
    feeler_body_free(a);
    feeler_body_free(b);
    return 0;
}
