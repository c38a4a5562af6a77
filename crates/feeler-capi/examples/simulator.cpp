// The loop of a simulator: a ball falls on a plate and bounces, its contacts from exact geometry.
//
//     simulator PLATE.step BALL.step
#include <feeler.hpp>

#include <cmath>
#include <iostream>

int main(int argc, char **argv) try {
    if (argc != 3) {
        std::cerr << "usage: simulator PLATE BALL\n";
        return 2;
    }
    const feeler::Body plate(feeler::Model::prepare_step(argv[1]));
    const feeler::Body ball(feeler::Model::prepare_step(argv[2]));
    const auto on = plate.info();
    const auto of = ball.info();

    feeler::Options options = feeler::within(0.2);
    options.penetration = 0.4; // contacts go on at negative distances
    feeler::Scene scene(options);
    const auto floor = scene.add(plate, feeler::identity());
    scene.set_body(floor, -1, 0, true);
    // Above a place of the plate, and off its middle.
    double x = 0.5 * (on.bbox_min[0] + on.bbox_max[0]) + 0.9, y = 0.5 * (on.bbox_min[1] + on.bbox_max[1]);
    double z = on.bbox_max[2] - of.bbox_min[2] + 2.0, speed = 0;
    const auto body = scene.add(ball, feeler::translation(x, y, z));

    const double dt = 1e-4, stiffness = 4e6, gravity = 9810; // s, 1/s² a millimetre, mm/s²
    int began = 0, ended = 0;
    double deepest = 0, lowest = z;
    for (int k = 0; k < 5000; ++k) {
        scene.set_pose(body, feeler::translation(x, y, z));
        scene.step();
        double force = -gravity;
        for (const auto &c : scene.contacts()) {
            // The normal goes from A, the body added first, to B.
            const double depth = -c.contact.gap;
            if (depth > 0) force += stiffness * depth * c.contact.normal[2];
            deepest = std::max(deepest, depth);
        }
        for (const auto &e : scene.events()) {
            began += e.kind == FEELER_EVENT_KIND_BEGAN;
            ended += e.kind == FEELER_EVENT_KIND_ENDED;
        }
        speed += dt * force;
        z += dt * speed;
        lowest = std::min(lowest, z);
    }
    std::cout << "contacts began " << began << " and ended " << ended << " times, deepest " << deepest
              << " mm, lowest place " << lowest << " mm\n";
    return began > 0 && deepest > 0 && deepest < 0.4 ? 0 : 1;
} catch (const feeler::Error &e) {
    std::cerr << e.what() << '\n';
    return 2;
}
