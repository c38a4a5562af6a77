// Adapter for the physics engine Chrono: exact contacts of selected pairs of bodies through
// ChSystem::CustomCollisionCallback. Header only.
//
// The adapter is tested against a stub of the declarations that it uses, not against Chrono itself, which has no
// package. It uses the names of Chrono 9 and later.
//
//     auto exact = std::make_shared<feeler::ChronoContacts>();
//     exact->add({block, block_solid, block_material}, {part, part_solid, part_material});
//     system.RegisterCustomCollisionCallback(exact);
//
// - The reference frame of a body must be the frame of its solid: use ChBodyAuxRef with the centre of mass, mass and
//   inertia from feeler::Body::mass.
// - Each body needs a collision model, which identifies the body in contacts and may be empty. Chrono also computes
//   contacts of the shapes in it.
// - Lengths of the Chrono system are in metres, unless the constructor gets another length of a millimetre.
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

/// Exact contacts for a system of Chrono. The reaction cache of a contact persists as long as its id. Add pairs,
/// unregister the callback and destroy it only between steps.
class ChronoContacts : public chrono::ChSystem::CustomCollisionCallback {
public:
    /// Body of Chrono with its solid and material.
    struct Part {
        std::shared_ptr<chrono::ChBody> body;
        Body solid;
        std::shared_ptr<chrono::ChContactMaterial> material;
    };

    /// `millimetre`: length of a millimetre in the unit of the system.
    explicit ChronoContacts(double millimetre = 1e-3) : millimetre_(millimetre) {}

    /// Adds a pair. `max_displacement` (mm) limits the relative displacement of the bodies in a step that the contacts
    /// must cover, `depth` (mm) is the depth down to which contacts are tracked. Throws std::invalid_argument if a body
    /// has no collision model.
    void add(const Part &a, const Part &b, double max_displacement = 0.5, double depth = 10) {
        for (const Part *part : {&a, &b})
            if (!part->body || !part->body->GetCollisionModel())
                throw std::invalid_argument("a body has no collision model: set one, which may be empty");
        TrackerOptions options = tracker_options();
        options.reach = 0;
        options.max_depth = depth;
        ContactTracker tracker(a.solid, b.solid, options);
        pairs_.push_back(std::make_unique<Pair>(Pair{a, b, std::move(tracker), max_displacement, {}}));
    }

    /// Number of updates of pairs whose solids interfered deeper than the largest depth, without a contact with a
    /// negative gap.
    std::size_t unexplained() const noexcept { return unexplained_; }

    /// Number of steps of pairs whose motion exceeded the bound for which the contacts suffice: twice the motion of the
    /// previous step plus the displacement by gravity.
    std::uint64_t uncovered() const {
        std::uint64_t sum = 0;
        for (const auto &pair : pairs_) sum += pair->tracker.counts().uncovered;
        return sum;
    }

    /// Reports the contacts; Chrono calls it once per step. Throws feeler::Error if an update fails.
    void OnCustomCollision(chrono::ChSystem *system) override {
        // Chrono computes contacts once per step, so the bound is an extrapolation.
        const auto &g = system->GetGravitationalAcceleration();
        const double acceleration = std::sqrt(g.x() * g.x() + g.y() * g.y() + g.z() * g.z());
        const double forced = acceleration * system->GetStep() * system->GetStep() / millimetre_;
        for (const auto &pair : pairs_) {
            const Pose a = pose(*pair->a.body), b = pose(*pair->b.body);
            pair->tracker.update(a, b, pair->tracker.expected_bound(a, b, forced, pair->max_displacement));
            unexplained_ += pair->tracker.status() == FEELER_TRACKED_STATUS_INTERFERING;
            std::map<std::uint64_t, Cache> caches;
            for (const Contact &contact : pair->tracker.contacts()) {
                if (!contact.is_active) continue;
                // Moving the node of the map keeps the address of the cache.
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
    /// Reaction forces and rolling torques, which Chrono stores from step to step.
    using Cache = std::array<float, 6>;

    struct Pair {
        Part a, b;
        ContactTracker tracker;
        double max_displacement;
        std::map<std::uint64_t, Cache> caches; // by id of the contact
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

    chrono::ChCollisionInfo info(const Pair &pair, const Contact &c, Cache &cache) const {
        chrono::ChCollisionInfo info; // with the default eff_radius
        info.modelA = pair.a.body->GetCollisionModel().get();
        info.modelB = pair.b.body->GetCollisionModel().get();
        info.shapeA = nullptr;
        info.shapeB = nullptr;
        info.vpA = vector(c.point_a, millimetre_);
        info.vpB = vector(c.point_b, millimetre_);
        info.vN = vector(c.normal, 1);
        info.distance = c.gap * millimetre_;
        // Effective radius: 1/r is the mean relative curvature, for two balls 1/r_a + 1/r_b. The mean does not depend
        // on the angle between the principal directions. Undefined for edges and flat contacts.
        const double curvature = 0.5 * (c.curvature_a[0] + c.curvature_a[1] + c.curvature_b[0] + c.curvature_b[1]);
        if (std::isfinite(curvature) && curvature > MIN_CURVATURE) info.eff_radius = millimetre_ / curvature;
        info.reaction_cache = cache.data();
        return info;
    }

    // Curvature (1/mm) below which a contact counts as flat: a radius of 1 km.
    static constexpr double MIN_CURVATURE = 1e-6;

    double millimetre_;
    std::vector<std::unique_ptr<Pair>> pairs_;
    std::size_t unexplained_ = 0;
};

} // namespace feeler

#endif
