// Test of feeler_chrono.hpp with a stub of Chrono: the contacts of a pin in a bore and of a ball on a block, both
// rotated and translated, agree with their dimensions.
//
//     drive DATA_FOLDER
#include <feeler_chrono.hpp>

#include <cstdio>
#include <cstdlib>
#include <set>

namespace {

const double H = std::sqrt(0.5);

void expect(bool holds, int line) {
    if (holds) return;
    std::fprintf(stderr, "drive.cpp:%d: expectation failed\n", line);
    std::exit(1);
}
#define EXPECT(x) expect((x), __LINE__)

// Both solids are rotated by a right angle about x, so that their z axis is -y of the world, and translated.
chrono::ChVector3d turned(double x, double y, double z) {
    return chrono::ChVector3d(1e-3 * x + 0.5, -1e-3 * z + 0.25, 1e-3 * y - 2);
}

std::shared_ptr<chrono::ChBody> body_at(double x, double y, double z) {
    auto body = std::make_shared<chrono::ChBody>();
    body->model = std::make_shared<chrono::ChCollisionModel>();
    body->frame.pos = turned(x, y, z);
    body->frame.rot = chrono::ChQuaterniond(H, H, 0, 0);
    return body;
}

double dot(const chrono::ChVector3d &a, const chrono::ChVector3d &b) {
    return a.x() * b.x() + a.y() * b.y() + a.z() * b.z();
}

chrono::ChVector3d minus(const chrono::ChVector3d &a, const chrono::ChVector3d &b) {
    return chrono::ChVector3d(a.x() - b.x(), a.y() - b.y(), a.z() - b.z());
}

bool is_near(double x, double y) { return std::abs(x - y) < 1e-9; }

feeler::Body solid(const std::string &path) { return feeler::Body(feeler::prepare_step(path)); }

using Contacts = std::vector<chrono::ChCollisionInfo>;

// The solid's z in the world.
const chrono::ChVector3d UP(0, -1, 0);

void pin_in_bore(const std::string &data) {
    const auto bore = body_at(0, 0, 0), pin = body_at(0.03, 0, 20.01);
    const auto iron = std::make_shared<chrono::ChContactMaterial>();
    const auto brass = std::make_shared<chrono::ChContactMaterial>();
    chrono::ChSystem system;
    const auto exact = std::make_shared<feeler::ChronoContacts>();
    exact->add({bore, solid(data + "/blind-bore.step"), iron}, {pin, solid(data + "/pin.step"), brass});
    system.RegisterCustomCollisionCallback(exact);

    for (int step = 0; step < 3; ++step) {
        // A micrometre down in each step: a contact keeps its cache.
        pin->frame.pos = turned(0.03, 0, 20.01 - 0.001 * step);
        const Contacts &found = system.look();
        int bottom = 0, wall = 0, kept = 0;
        std::set<float *> caches;
        for (const auto &c : found) {
            EXPECT(c.modelA == bore->model.get() && c.modelB == pin->model.get());
            EXPECT(!c.shapeA && !c.shapeB);
            EXPECT(is_near(dot(c.vN, c.vN), 1));
            EXPECT(is_near(dot(minus(c.vpB, c.vpA), c.vN), c.distance));
            if (dot(c.vN, UP) > 0.99) {
                bottom += 1;
                EXPECT(is_near(c.distance, 1e-5 - 1e-6 * step));
            } else {
                // The play is 0.05 mm; the displacement along x is 0.03 mm.
                EXPECT(std::abs(c.distance - (5e-5 + 3e-5 * c.vN.x())) < 1e-7);
                // The nearest wall is at 0.05 - 0.03 mm and pushes against the displacement along x.
                const bool is_nearest = is_near(c.vN.x(), -1) && is_near(c.distance, 2e-5);
                wall += is_nearest;
                // Radius 9.95 in a bore of radius 10: relative curvature in one of two directions.
                const double radius = 2e-3 / (1 / 9.95 - 1 / 10.0);
                if (is_nearest && c.eff_radius > 1) EXPECT(std::abs(c.eff_radius / radius - 1) < 1e-6);
            }
            caches.insert(c.reaction_cache);
            if (step > 0) kept += c.reaction_cache[0] == 7;
            c.reaction_cache[0] = 7;
        }
        EXPECT(bottom > 0 && wall > 0 && caches.size() == found.size());
        // The first step has no previous motion and gets the largest bound, hence other samples.
        if (step == 1) EXPECT(2 * kept > static_cast<int>(found.size()));
        if (step == 2) EXPECT(kept == static_cast<int>(found.size()));
        for (const auto &m : system.GetContactContainer()->materials) EXPECT(m.first == iron && m.second == brass);
    }
    EXPECT(exact->uncovered() == 0);
    // At the other side the wall contact is a new one with a new cache; bottom contacts may persist.
    pin->frame.pos = turned(-0.03, 0, 20.01);
    bool is_new = false;
    for (const auto &c : system.look()) is_new |= c.vN.x() > 0.99 && c.reaction_cache[0] == 0;
    EXPECT(is_new);
    // Away and back: all caches are new.
    pin->frame.pos = turned(0, 0, 200);
    EXPECT(system.look().empty());
    pin->frame.pos = turned(0.03, 0, 20.01);
    for (const auto &c : system.look()) EXPECT(c.reaction_cache[0] == 0);
    // Pressed into the bottom by 2 µm.
    pin->frame.pos = turned(0.03, 0, 19.998);
    double deepest = 0;
    for (const auto &c : system.look()) deepest = std::min(deepest, c.distance);
    EXPECT(is_near(deepest, -2e-6));
    EXPECT(exact->unexplained() == 0);
    // The jump to the other side exceeded the bound of its step.
    EXPECT(exact->uncovered() == 1);
}

void ball_on_block(const std::string &data) {
    const feeler::Body block = solid(data + "/box.step"), ball = solid(data + "/sphere.step");
    const auto on = block.info();
    const double x = 0.5 * (on.bbox_min[0] + on.bbox_max[0]), y = 0.5 * (on.bbox_min[1] + on.bbox_max[1]);
    const auto a = body_at(0, 0, 0), b = body_at(x, y, on.bbox_max[2] + 10.1);
    chrono::ChSystem system;
    const auto exact = std::make_shared<feeler::ChronoContacts>();
    exact->add({a, block, nullptr}, {b, ball, nullptr});
    system.RegisterCustomCollisionCallback(exact);
    const Contacts &found = system.look();
    EXPECT(found.size() == 1 && is_near(found[0].distance, 1e-4) && is_near(dot(found[0].vN, UP), 1));
    EXPECT(is_near(found[0].eff_radius, 0.01)); // the ball's
    // Without a collision model Chrono cannot assign a contact to the body.
    b->model = nullptr;
    bool is_refused = false;
    try {
        exact->add({a, block, nullptr}, {b, ball, nullptr});
    } catch (const std::invalid_argument &) {
        is_refused = true;
    }
    EXPECT(is_refused);
}

} // namespace

int main(int argc, char **argv) try {
    if (argc != 2) {
        std::fprintf(stderr, "usage: drive DATA_FOLDER\n");
        return 2;
    }
    pin_in_bore(argv[1]);
    ball_on_block(argv[1]);
    std::printf("Chrono (stub): contacts of a pin in a bore and of a ball on a block agree with their dimensions\n");
    return 0;
} catch (const feeler::Error &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
}
