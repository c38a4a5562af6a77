// feeler in Chrono: exact contacts of chosen pairs of bodies, by ChSystem::CustomCollisionCallback. Header only.
//
// It has been compiled and tried against a stub of the declarations that it uses, never against Chrono itself,
// of which there is no package to build with. The names are those of Chrono 9 and later.
//
//     auto exact = std::make_shared<feeler::ChronoContacts>();
//     exact->add({block, block_solid, block_material}, {part, part_solid, part_material});
//     system.RegisterCustomCollisionCallback(exact);
//
// - The reference frame of a body is that of its solid as it was modelled: take ChBodyAuxRef, with the centre
//   of mass, mass and inertia of feeler::Body::mass.
// - Each body needs a collision model, which may be empty: contacts name their bodies by it. Shapes in it are
//   collided by Chrono as well.
// - Chrono's lengths are metres, unless told otherwise.
#ifndef FEELER_CHRONO_HPP
#define FEELER_CHRONO_HPP

#include "feeler.hpp"

#include <chrono/physics/ChBody.h>
#include <chrono/physics/ChContactContainer.h>
#include <chrono/physics/ChSystem.h>

#include <array>
#include <cmath>
#include <map>

namespace feeler {

/// Exact contacts for a system of Chrono. What Chrono keeps of a contact from step to step stays with it for as
/// long as it is the same contact. Between steps only: add pairs, unregister it, or let go of it.
class ChronoContacts : public chrono::ChSystem::CustomCollisionCallback {
public:
    /// A body of Chrono that is a solid.
    struct Part {
        std::shared_ptr<chrono::ChBody> body;
        Body solid;
        std::shared_ptr<chrono::ChContactMaterial> material;
    };

    /// The length of a millimetre in the system's unit.
    explicit ChronoContacts(double millimetre = 1e-3) : millimetre_(millimetre) {}

    /// Contacts for steps of at most `max_displacement` (mm) of the bodies relative to each other, and down to
    /// `depth` (mm). Throws std::invalid_argument if a body has no collision model.
    void add(const Part &a, const Part &b, double max_displacement = 0.5, double depth = 10) {
        for (const Part *part : {&a, &b})
            if (!part->body || !part->body->GetCollisionModel())
                throw std::invalid_argument("a body has no collision model: give it one, which may be empty");
        TrackerOptions options = tracker_options();
        options.reach = 0;
        options.max_depth = depth;
        ContactTracker tracker(a.solid, b.solid, options);
        pairs_.push_back(std::make_unique<Pair>(Pair{a, b, std::move(tracker), max_displacement, {}}));
    }

    /// Number of steps and pairs in which the solids interfered deeper than the largest depth, without a
    /// contact with a negative gap.
    std::size_t unexplained() const noexcept { return unexplained_; }

    /// Number of steps and pairs that moved farther than the contacts of the step suffice for: farther than
    /// twice the motion of the step before and what gravity adds.
    std::uint64_t uncovered() const {
        std::uint64_t sum = 0;
        for (const auto &pair : pairs_) sum += pair->tracker.counts().uncovered;
        return sum;
    }

    /// Called by Chrono for each search for contacts. Throws feeler::Error if an update fails.
    void OnCustomCollision(chrono::ChSystem *system) override {
        // Chrono cannot query again within a step.
        const auto &g = system->GetGravitationalAcceleration();
        const double acceleration = std::sqrt(g.x() * g.x() + g.y() * g.y() + g.z() * g.z());
        const double forced = acceleration * system->GetStep() * system->GetStep() / millimetre_;
        for (const auto &pair : pairs_) {
            const Pose a = pose(*pair->a.body), b = pose(*pair->b.body);
            pair->tracker.update(a, b, pair->tracker.expected_bound(a, b, forced, pair->max_displacement));
            unexplained_ += pair->tracker.status() == FEELER_TRACKED_STATUS_INTERFERING;
            std::map<std::uint64_t, Cache> caches;
            for (const StepContact &contact : pair->tracker.contacts()) {
                if (!contact.is_active) continue;
                // A node of the map moves with its address.
                auto node = pair->caches.extract(contact.id);
                Cache &cache = node ? caches.insert(std::move(node)).position->second
                                    : caches.emplace(contact.id, Cache{}).first->second;
                system->GetContactContainer()->AddContact(
                    info(*pair, contact, cache), pair->a.material, pair->b.material);
            }
            pair->caches = std::move(caches);
        }
    }

private:
    /// Forces of a contact, and torques where it resists rolling.
    using Cache = std::array<float, 6>;

    struct Pair {
        Part a, b;
        ContactTracker tracker;
        double max_displacement;
        std::map<std::uint64_t, Cache> caches; // by number
    };

    Pose pose(const chrono::ChBody &body) const {
        const auto &frame = body.GetFrameRefToAbs();
        const auto &p = frame.GetPos();
        const auto &q = frame.GetRot(); // w first
        return {{p.x() / millimetre_, p.y() / millimetre_, p.z() / millimetre_}, {q.e1(), q.e2(), q.e3(), q.e0()}};
    }

    chrono::ChVector3d vector(const double *v, double unit) const {
        return chrono::ChVector3d(v[0] * unit, v[1] * unit, v[2] * unit);
    }

    chrono::ChCollisionInfo info(const Pair &pair, const StepContact &c, Cache &cache) const {
        chrono::ChCollisionInfo info; // of the default radius
        info.modelA = pair.a.body->GetCollisionModel().get();
        info.modelB = pair.b.body->GetCollisionModel().get();
        info.shapeA = nullptr;
        info.shapeB = nullptr;
        info.vpA = vector(c.point_a, millimetre_);
        info.vpB = vector(c.point_b, millimetre_);
        info.vN = vector(c.normal, 1);
        info.distance = c.gap * millimetre_;
        // 1/r = 1/r_a + 1/r_b of balls; else the mean of the relative curvatures, which does not depend on how
        // the sides are turned. Not defined for edges and flat contacts.
        const double bend = 0.5 * (c.curvature_a[0] + c.curvature_a[1] + c.curvature_b[0] + c.curvature_b[1]);
        if (std::isfinite(bend) && bend > FLAT) info.eff_radius = millimetre_ / bend;
        info.reaction_cache = cache.data();
        return info;
    }

    static constexpr double FLAT = 1e-6; // 1/mm: a radius of a kilometre

    double millimetre_;
    std::vector<std::unique_ptr<Pair>> pairs_;
    std::size_t unexplained_ = 0;
};

} // namespace feeler

#endif
