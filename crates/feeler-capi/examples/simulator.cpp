// Loop of a simulator: a ball falls on a plate and bounces, with contacts of the exact solids.
//
//     simulator PLATE.step BALL.step
#include <feeler.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

int main(int argc, char **argv) try {
    if (argc != 3) {
        std::cerr << "usage: simulator PLATE BALL\n";
        return 2;
    }
    const feeler::Body plate(feeler::prepare_step(argv[1]));
    const feeler::Body ball(feeler::prepare_step(argv[2]));
    const auto on = plate.info();
    const auto of = ball.info();

    feeler::Scene scene(feeler::within(1));
    const auto floor = scene.add(plate, feeler::identity());
    scene.set_body_options(floor, -1, 0, true); // fixed
    // Above the plate, beside its centre.
    double x = 0.5 * (on.bbox_min[0] + on.bbox_max[0]) + 0.9, y = 0.5 * (on.bbox_min[1] + on.bbox_max[1]);
    double z = on.bbox_max[2] - of.bbox_min[2] + 2.0, speed = 0;
    const auto body = scene.add(ball, feeler::translation(x, y, z));

    feeler::TrackerOptions options = feeler::tracker_options();
    options.reach = 0.2;
    const double dt = 1e-4, stiffness = 4e6, gravity = 9810; // s, 1/s² (acceleration per depth), mm/s²
    double force = -gravity;
    int impacts = 0;
    bool was_pressed = false;
    double deepest = 0, lowest = z;
    for (int k = 0; k < 5000; ++k) {
        scene.set_pose(body, feeler::translation(x, y, z));
        // Bound of the ball's rotation (rad) and displacement (mm) in this step: twice the displacement by the last speed
        // and force. The plate is not listed, so it does not move.
        scene.track({body}, {{0, 2 * (dt * std::abs(speed) + dt * dt * std::abs(force))}}, options);
        force = -gravity;
        bool is_pressed = false;
        for (const auto &c : scene.tracked_contacts()) {
            // The normal points from A, the body that was added first, to B.
            const double depth = -c.gap;
            if (depth > 0) force += stiffness * depth * c.normal[2];
            is_pressed = is_pressed || depth > 0;
            deepest = std::max(deepest, depth);
        }
        impacts += is_pressed && !was_pressed;
        was_pressed = is_pressed;
        speed += dt * force;
        z += dt * speed;
        lowest = std::min(lowest, z);
    }
    const feeler::TrackerCounts counts = scene.tracker_counts();
    std::cout << impacts << " impacts, deepest " << deepest << " mm, lowest position " << lowest << " mm, verdicts "
              << counts.decisions << ", uncovered " << counts.uncovered << "\n";
    return impacts > 0 && deepest > 0 && deepest < 0.4 && counts.uncovered == 0 ? 0 : 1;
} catch (const feeler::Error &e) {
    std::cerr << e.what() << '\n';
    return 2;
}
