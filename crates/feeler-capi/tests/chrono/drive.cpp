// feeler_chrono.hpp against a stub of Chrono: what it adds for a pin in its bore and a ball on a plate, both
// turned and moved, is what their dimensions tell.
//
//     drive DATA_FOLDER
#include <feeler_chrono.hpp>

#include <cstdio>
#include <cstdlib>
#include <set>

namespace {

const double H = std::sqrt(0.5);

void expect(bool is_so, int line) {
    if (is_so) return;
    std::fprintf(stderr, "drive.cpp:%d: not as it should be\n", line);
    std::exit(1);
}
#define EXPECT(x) expect((x), __LINE__)

// Everything is turned by a quarter about x, so that z is -y of the world, and moved.
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

feeler::Body solid(const std::string &path) { return feeler::Body(feeler::Model::prepare_step(path)); }

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
        // Down by a micrometre each time: a contact keeps its cache.
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
                // 0.05 mm of play, of which 0.03 mm are used along x.
                EXPECT(std::abs(c.distance - (5e-5 + 3e-5 * c.vN.x())) < 1e-7);
                // The wall pushes the pin back, against the displacement along x, with 0.05 - 0.03 mm left.
                const bool is_nearest = is_near(c.vN.x(), -1) && is_near(c.distance, 2e-5);
                wall += is_nearest;
                // 1/9.95 in 1/-10, along one of two directions.
                const double radius = 2e-3 / (1 / 9.95 - 1 / 10.0);
                if (is_nearest && c.eff_radius > 1) EXPECT(std::abs(c.eff_radius / radius - 1) < 1e-6);
            }
            caches.insert(c.reaction_cache);
            if (step > 0) kept += c.reaction_cache[0] == 7;
            c.reaction_cache[0] = 7;
        }
        EXPECT(bottom > 0 && wall > 0 && caches.size() == found.size());
        // The first step has no motion before it and gets the largest bound, and with it samples of its own.
        if (step == 1) EXPECT(2 * kept > static_cast<int>(found.size()));
        if (step == 2) EXPECT(kept == static_cast<int>(found.size()));
        for (const auto &m : system.GetContactContainer()->materials) EXPECT(m.first == iron && m.second == brass);
    }
    EXPECT(exact->uncovered() == 0);
    // To the other side: another wall contact, whose cache is new; those of the bottom may stay.
    pin->frame.pos = turned(-0.03, 0, 20.01);
    bool is_new = false;
    for (const auto &c : system.look()) is_new |= c.vN.x() > 0.99 && c.reaction_cache[0] == 0;
    EXPECT(is_new);
    // Away, and back: nothing is remembered.
    pin->frame.pos = turned(0, 0, 200);
    EXPECT(system.look().empty());
    pin->frame.pos = turned(0.03, 0, 20.01);
    for (const auto &c : system.look()) EXPECT(c.reaction_cache[0] == 0);
    // Pressed into the bottom by 2 um.
    pin->frame.pos = turned(0.03, 0, 19.998);
    double deepest = 0;
    for (const auto &c : system.look()) deepest = std::min(deepest, c.distance);
    EXPECT(is_near(deepest, -2e-6));
    EXPECT(exact->unexplained() == 0);
    // To the other side in one step: farther than expected.
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
    // Without a collision model Chrono could not tell whose contact it is.
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
    std::printf("Chrono (a stub): a pin in its bore and a ball on a block are right\n");
    return 0;
} catch (const feeler::Error &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
}
