// feeler for C++17: owners of the handles of feeler.h, errors as exceptions. Header only.
#ifndef FEELER_HPP
#define FEELER_HPP

#include "feeler.h"

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace feeler {

using Contact = FeelerContact;
using Mass = FeelerMass;
using StepBound = FeelerStepBound;
using StepContact = FeelerStepContact;
using TrackedPair = FeelerTrackedPair;
using TrackedStatus = FeelerTrackedStatus;
using TrackerCounts = FeelerTrackerCounts;
using TrackerOptions = FeelerTrackerOptions;
using TrackerUpdate = FeelerTrackerUpdate;
using SceneContact = FeelerSceneContact;
using Event = FeelerEvent;
using CurveContact = FeelerCurveContact;
using CurveOptions = FeelerCurveOptions;
using TightBend = FeelerTightBend;
using WallContact = FeelerWallContact;
/// x, y, z in mm.
using Point = std::array<double, 3>;
using Pose = FeelerPose;
using Status = FeelerStatus;
using Options = FeelerOptions;

/// What a call of the library said went wrong.
class Error : public std::runtime_error {
public:
    Error(FeelerResult result, const char *text) : std::runtime_error(text), result_(result) {}
    FeelerResult result() const noexcept { return result_; }

private:
    FeelerResult result_;
};

inline void check(FeelerResult result) {
    if (result != FEELER_RESULT_OK) throw Error(result, feeler_last_error());
}

/// The pose of a solid where it is modelled.
inline Pose identity() { return {{0, 0, 0}, {0, 0, 0, 1}}; }

inline Pose translation(double x, double y, double z) { return {{x, y, z}, {0, 0, 0, 1}}; }

/// Default options with a largest distance (mm).
inline Options within(double d_max) {
    Options options;
    feeler_options_init(&options);
    options.d_max = d_max;
    return options;
}

/// Default options of a tracker.
inline TrackerOptions tracker_options() {
    TrackerOptions options;
    feeler_tracker_options_init(&options);
    return options;
}

/// Default options of a scene of curves with a largest gap (mm).
inline CurveOptions curves_within(double d_max) {
    CurveOptions options;
    feeler_curve_options_init(&options);
    options.d_max = d_max;
    return options;
}

struct Instance {
    std::string name;
    std::size_t solid;
    Pose pose;
};

/// What a file holds. May be read by any number of threads.
class Model {
public:
    /// Reads a .feeler file.
    static Model read(const std::string &path) {
        FeelerModel *model = nullptr;
        check(feeler_model_read(path.c_str(), &model));
        return Model(model);
    }
    static Model read(const void *bytes, std::size_t n) {
        FeelerModel *model = nullptr;
        check(feeler_model_read_bytes(static_cast<const std::uint8_t *>(bytes), n, &model));
        return Model(model);
    }
    /// Reads a STEP file and prepares its solids: write the model, and read that the next time.
    static Model prepare_step(const std::string &path) {
        FeelerModel *model = nullptr;
        check(feeler_model_prepare_step(path.c_str(), &model));
        return Model(model);
    }
    void write(const std::string &path) const { check(feeler_model_write(get(), path.c_str())); }
    std::size_t solids() const { return count(feeler_model_solids); }
    std::size_t left_out() const { return count(feeler_model_left_out); }
    std::vector<Instance> instances() const {
        std::vector<Instance> all(count(feeler_model_instances));
        for (std::size_t i = 0; i < all.size(); ++i) {
            FeelerInstance one{};
            one.struct_size = sizeof one;
            const char *name = nullptr;
            check(feeler_model_instance(get(), i, &one, &name));
            all[i] = {name, one.solid, one.pose};
        }
        return all;
    }
    const FeelerModel *get() const noexcept { return model_.get(); }

private:
    explicit Model(FeelerModel *model) : model_(model, feeler_model_free) {}
    std::size_t count(FeelerResult (*ask)(const FeelerModel *, std::size_t *)) const {
        std::size_t n = 0;
        check(ask(get(), &n));
        return n;
    }
    std::unique_ptr<FeelerModel, void (*)(FeelerModel *)> model_;
};

/// A solid ready for queries. Copies share it; any number of threads may use it.
class Body {
public:
    explicit Body(const Model &model, std::size_t solid = 0) {
        FeelerBody *body = nullptr;
        check(feeler_body_new(model.get(), solid, &body));
        body_ = std::shared_ptr<FeelerBody>(body, feeler_body_free);
    }
    FeelerBodyInfo info() const {
        FeelerBodyInfo info{};
        info.struct_size = sizeof info;
        check(feeler_body_info(get(), &info));
        return info;
    }
    /// Mass (kg), centre (mm) and inertia (kg mm²) of the exact solid at a density (kg/m³).
    Mass mass(double density) const {
        Mass mass{};
        mass.struct_size = sizeof mass;
        check(feeler_body_mass(get(), density, &mass));
        return mass;
    }
    const FeelerBody *get() const noexcept { return body_.get(); }

private:
    std::shared_ptr<FeelerBody> body_;
};

/// Triangles of a body; the data live as long as this.
class Mesh {
public:
    Mesh(const Body &body, double chord) : mesh_(nullptr, feeler_mesh_free) {
        FeelerMesh *mesh = nullptr;
        check(feeler_mesh_new(body.get(), chord, &mesh));
        mesh_.reset(mesh);
    }
    FeelerMeshData data() const {
        FeelerMeshData data{};
        data.struct_size = sizeof data;
        check(feeler_mesh_data(mesh_.get(), &data));
        return data;
    }

private:
    std::unique_ptr<FeelerMesh, void (*)(FeelerMesh *)> mesh_;
};

/// Two bodies and what their queries reuse. One thread at a time.
class ContactPair {
public:
    ContactPair(const Body &a, const Body &b) : pair_(nullptr, feeler_pair_free) {
        FeelerPair *pair = nullptr;
        check(feeler_pair_new(a.get(), b.get(), &pair));
        pair_.reset(pair);
    }
    /// All local minimal distances, by ascending distance; valid until the next query.
    const std::vector<Contact> &query(const Pose &a, const Pose &b, const Options &options) {
        std::size_t n = 0;
        contacts_.resize(contacts_.capacity());
        check(feeler_pair_query(pair_.get(), &a, &b, &options, contacts_.data(), contacts_.size(), &n));
        const bool had_room = n <= contacts_.size();
        contacts_.resize(n);
        if (!had_room) check(feeler_pair_contacts(pair_.get(), contacts_.data(), n, &n));
        return contacts_;
    }
    FeelerVerdict verdict() const {
        FeelerVerdict verdict{};
        verdict.struct_size = sizeof verdict;
        check(feeler_pair_verdict(pair_.get(), &verdict));
        return verdict;
    }
    /// Verdict of the last query, computed on demand if its option `decide` skipped it.
    FeelerVerdict decide() {
        FeelerVerdict verdict{};
        verdict.struct_size = sizeof verdict;
        check(feeler_pair_decide(pair_.get(), &verdict));
        return verdict;
    }
    Status status() const { return verdict().status; }
    void forget() { check(feeler_pair_forget(pair_.get())); }

private:
    std::unique_ptr<FeelerPair, void (*)(FeelerPair *)> pair_;
    std::vector<Contact> contacts_;
};

/// Contacts of two bodies over the steps of a simulator. One thread at a time.
class ContactTracker {
public:
    ContactTracker(const Body &a, const Body &b, const TrackerOptions &options = tracker_options())
        : tracker_(nullptr, feeler_tracker_free) {
        FeelerTracker *tracker = nullptr;
        check(feeler_tracker_new(a.get(), b.get(), &options, &tracker));
        tracker_.reset(tracker);
    }
    /// A copy with the same contacts, numbers and counts.
    ContactTracker clone() const {
        FeelerTracker *tracker = nullptr;
        check(feeler_tracker_clone(tracker_.get(), &tracker));
        ContactTracker copy(tracker);
        copy.contacts_ = contacts_;
        return copy;
    }
    /// Computes the contacts for a step from these poses that keeps the bound. After an error there are no
    /// contacts.
    TrackerUpdate update(const Pose &a, const Pose &b, const StepBound &bound) {
        TrackerUpdate report{};
        report.struct_size = sizeof report;
        contacts_.clear();
        check(feeler_tracker_update(tracker_.get(), &a, &b, &bound, &report));
        std::size_t n = 0;
        contacts_.resize(contacts_.capacity());
        check(feeler_tracker_contacts(tracker_.get(), contacts_.data(), contacts_.size(), &n));
        const bool had_room = n <= contacts_.size();
        contacts_.resize(n);
        if (!had_room) check(feeler_tracker_contacts(tracker_.get(), contacts_.data(), n, &n));
        return report;
    }
    /// Contacts of the last update by ascending number; valid until the next update.
    const std::vector<StepContact> &contacts() const noexcept { return contacts_; }
    /// Second derivatives of the gaps of the contacts, symmetric matrices H (6 × 6): a twist ξ of B at A's origin,
    /// in A's frame, changes a gap by gap_rate·ξ + ½ ξᵀHξ up to third order. NaN for a contact that is not
    /// isolated, such as a member of a conformal set.
    std::vector<std::array<double, 36>> gap_hessians() const {
        static_assert(sizeof(std::array<double, 36>) == sizeof(double[36]), "arrays without padding");
        std::vector<std::array<double, 36>> hessians(contacts_.size());
        std::size_t n = 0;
        auto *out = reinterpret_cast<double(*)[36]>(hessians.data());
        check(feeler_tracker_gap_hessians(tracker_.get(), out, hessians.size(), &n));
        hessians.resize(n);
        return hessians;
    }
    /// Gaps (mm) of the contacts at the end of the step without that contact, for engines whose contacts act
    /// only if they are closed. The bodies continue as in the last step or accelerate as in the last two; the
    /// smaller gap is returned. Poses of B in A's frame, nullptr if unknown; without the first one the gaps are
    /// those of the last update. If `is_free`, no joints guide the bodies.
    std::vector<double> predicted_gaps(const Pose *one_step_ago, const Pose *two_steps_ago, bool is_free = true) {
        std::vector<double> gaps(contacts_.size());
        std::size_t n = 0;
        check(feeler_tracker_predicted_gaps(tracker_.get(), one_step_ago, two_steps_ago, is_free, gaps.data(),
                                            gaps.size(), &n));
        gaps.resize(n);
        return gaps;
    }
    /// Bound of the step from these poses for engines that cannot query within a step: twice the motion since
    /// the last update plus the displacement `forced` (mm) by forces, at most `max_displacement` (mm).
    StepBound expected_bound(const Pose &a, const Pose &b, double forced, double max_displacement) const {
        StepBound bound{};
        check(feeler_tracker_expected_bound(tracker_.get(), &a, &b, forced, max_displacement, &bound));
        return bound;
    }
    /// Returns whether the contacts suffice for the motion from the poses of the last update to these.
    bool covers(const Pose &a, const Pose &b) const {
        bool covers = false;
        check(feeler_tracker_covers(tracker_.get(), &a, &b, &covers));
        return covers;
    }
    /// Motion of B relative to A since the last update; infinite if there was none.
    StepBound motion_to(const Pose &a, const Pose &b) const {
        StepBound motion{};
        check(feeler_tracker_motion_to(tracker_.get(), &a, &b, &motion));
        return motion;
    }
    TrackedStatus status() const {
        TrackedStatus status{};
        check(feeler_tracker_status(tracker_.get(), &status, nullptr));
        return status;
    }
    /// Depth (mm) of the deepest contact, 0 if none is pressed.
    double depth() const {
        TrackedStatus status{};
        double depth = 0;
        check(feeler_tracker_status(tracker_.get(), &status, &depth));
        return depth;
    }
    /// Proven verdict at the poses of the last update, computed on demand.
    FeelerVerdict verdict() {
        FeelerVerdict verdict{};
        verdict.struct_size = sizeof verdict;
        check(feeler_tracker_verdict(tracker_.get(), &verdict));
        return verdict;
    }
    TrackerCounts counts() const {
        TrackerCounts counts{};
        counts.struct_size = sizeof counts;
        check(feeler_tracker_counts(tracker_.get(), &counts));
        return counts;
    }
    /// Forgets the motion, for example if a simulation is set back.
    void clear() {
        check(feeler_tracker_clear(tracker_.get()));
        contacts_.clear();
    }

private:
    explicit ContactTracker(FeelerTracker *tracker) : tracker_(tracker, feeler_tracker_free) {}
    std::unique_ptr<FeelerTracker, void (*)(FeelerTracker *)> tracker_;
    std::vector<StepContact> contacts_;
};

/// Many bodies that move together. One thread at a time; it shares its work among threads.
class Scene {
public:
    explicit Scene(const Options &options) : scene_(nullptr, feeler_scene_free) {
        FeelerScene *scene = nullptr;
        check(feeler_scene_new(&options, &scene));
        scene_.reset(scene);
    }
    std::uint32_t add(const Body &body, const Pose &pose) {
        std::uint32_t id = 0;
        check(feeler_scene_add(scene_.get(), body.get(), &pose, &id));
        return id;
    }
    /// Several solids as one body, each with its place in it.
    std::uint32_t add_compound(const std::vector<std::pair<Body, Pose>> &parts, const Pose &pose) {
        std::vector<const FeelerBody *> bodies;
        std::vector<Pose> places;
        for (const auto &part : parts) {
            bodies.push_back(part.first.get());
            places.push_back(part.second);
        }
        std::uint32_t id = 0;
        check(feeler_scene_add_compound(
            scene_.get(), bodies.data(), places.data(), bodies.size(), &pose, &id));
        return id;
    }
    /// All instances of a model in their places.
    std::vector<std::uint32_t> add_model(const Model &model) {
        std::vector<std::uint32_t> ids(model.instances().size());
        std::size_t n = 0;
        check(feeler_scene_add_model(scene_.get(), model.get(), ids.data(), ids.size(), &n));
        return ids;
    }
    void remove(std::uint32_t id) { check(feeler_scene_remove(scene_.get(), id)); }
    void set_pose(std::uint32_t id, const Pose &pose) {
        check(feeler_scene_set_poses(scene_.get(), &id, &pose, 1));
    }
    /// A d_max below 0: as the scene has it.
    void set_body(std::uint32_t id, double d_max, double dilation, bool fixed) {
        check(feeler_scene_set_body(scene_.get(), id, d_max, dilation, fixed));
    }
    void ignore(std::uint32_t a, std::uint32_t b, bool ignored = true) {
        check(feeler_scene_set_pair(scene_.get(), a, b, -1, nullptr, ignored));
    }
    void update() { check(feeler_scene_step(scene_.get())); }
    /// The minima of the last step; valid until the next one.
    const std::vector<SceneContact> &contacts() { return all(contacts_, feeler_scene_contacts); }
    const std::vector<Event> &events() { return all(events_, feeler_scene_events); }
    Status status(std::uint32_t a, std::uint32_t b) const {
        Status status{};
        check(feeler_scene_status(scene_.get(), a, b, &status));
        return status;
    }
    /// Finds the near pairs of the bodies where they are, and for each one the contacts that suffice for a step in
    /// which each of the bodies `ids` keeps its bound, relative to the world; the other bodies do not move.
    void track(const std::vector<std::uint32_t> &ids, const std::vector<StepBound> &bounds,
               const TrackerOptions &options = tracker_options()) {
        if (ids.size() != bounds.size()) throw Error(FEELER_RESULT_ARGUMENT, "as many bounds as bodies are needed");
        check(feeler_scene_track(scene_.get(), &options, ids.data(), bounds.data(), ids.size()));
    }
    /// Near pairs of the last `track`; some may have no contact. Valid until the next call.
    const std::vector<TrackedPair> &tracked_pairs() { return all(tracked_pairs_, feeler_scene_tracked_pairs); }
    /// Contacts of these pairs, pair by pair. Valid until the next call.
    const std::vector<StepContact> &tracked_contacts() {
        return all(tracked_contacts_, feeler_scene_tracked_contacts);
    }
    /// Returns whether the contacts suffice for the motion from the poses of the last `track` to those that the
    /// bodies have now.
    bool covers() const {
        bool covers = false;
        check(feeler_scene_covers(scene_.get(), &covers));
        return covers;
    }
    /// Sums over all updates of all trackers.
    TrackerCounts tracker_counts() const {
        TrackerCounts counts{};
        counts.struct_size = sizeof counts;
        check(feeler_scene_tracker_counts(scene_.get(), &counts));
        return counts;
    }

private:
    template <class T, class Ask> const std::vector<T> &all(std::vector<T> &out, Ask ask) {
        std::size_t n = 0;
        out.resize(out.capacity());
        check(ask(scene_.get(), out.data(), out.size(), &n));
        const bool had_room = n <= out.size();
        out.resize(n);
        if (!had_room) check(ask(scene_.get(), out.data(), n, &n));
        return out;
    }
    std::unique_ptr<FeelerScene, void (*)(FeelerScene *)> scene_;
    std::vector<SceneContact> contacts_;
    std::vector<Event> events_;
    std::vector<TrackedPair> tracked_pairs_;
    std::vector<StepContact> tracked_contacts_;
};

/// Deformable curves with a radius among solids. One thread at a time; it shares its work among threads.
class CurveScene {
public:
    explicit CurveScene(const CurveOptions &options) : scene_(nullptr, feeler_curve_scene_free) {
        FeelerCurveScene *scene = nullptr;
        check(feeler_curve_scene_new(&options, &scene));
        scene_.reset(scene);
    }
    /// Bézier pieces of one degree by their control points, end points of neighbours given once.
    std::uint32_t add(const std::vector<Point> &points, double radius, std::uint32_t degree = 3,
                      bool closed = false) {
        std::uint32_t id = 0;
        check(feeler_curve_scene_add_curve(scene_.get(), degree, numbers(points), points.size(), radius,
                                           closed, &id));
        return id;
    }
    /// Cubics through nodes with derivatives by the parameter, which grows by 1 from node to node.
    std::uint32_t add_hermite(const std::vector<Point> &points, const std::vector<Point> &derivatives,
                              double radius, bool closed = false) {
        same_size(points, derivatives);
        std::uint32_t id = 0;
        check(feeler_curve_scene_add_hermite(scene_.get(), numbers(points), numbers(derivatives),
                                             points.size(), radius, closed, &id));
        return id;
    }
    /// Cubics near measured points: the id, and the largest distance (mm) of a point from the curve.
    std::pair<std::uint32_t, double> fit(const std::vector<Point> &measured, double tolerance, double radius,
                                         bool closed = false) {
        std::pair<std::uint32_t, double> made{};
        check(feeler_curve_scene_fit_curve(scene_.get(), numbers(measured), measured.size(), tolerance,
                                           radius, closed, &made.first, &made.second));
        return made;
    }
    /// Moves a curve: as many control points as it was made with.
    void update(std::uint32_t id, const std::vector<Point> &points) {
        check(feeler_curve_scene_update_curve(scene_.get(), id, numbers(points), points.size()));
    }
    void update_hermite(std::uint32_t id, const std::vector<Point> &points,
                        const std::vector<Point> &derivatives) {
        same_size(points, derivatives);
        check(feeler_curve_scene_update_hermite(scene_.get(), id, numbers(points), numbers(derivatives),
                                                points.size()));
    }
    void remove(std::uint32_t id) { check(feeler_curve_scene_remove_curve(scene_.get(), id)); }
    std::vector<Point> control_points(std::uint32_t id) const {
        std::size_t n = 0;
        check(feeler_curve_scene_control_points(scene_.get(), id, nullptr, 0, &n));
        std::vector<Point> points(n);
        check(feeler_curve_scene_control_points(scene_.get(), id, points.data()->data(), n, &n));
        return points;
    }
    /// The point at a parameter from 0 to the number of pieces.
    Point point(std::uint32_t id, double u) const {
        Point point{};
        check(feeler_curve_scene_points_at(scene_.get(), id, &u, 1, point.data()));
        return point;
    }
    std::uint32_t add_body(const Body &body, const Pose &pose) {
        std::uint32_t id = 0;
        check(feeler_curve_scene_add_body(scene_.get(), body.get(), &pose, &id));
        return id;
    }
    void set_pose(std::uint32_t id, const Pose &pose) {
        check(feeler_curve_scene_set_pose(scene_.get(), id, &pose));
    }
    void remove_body(std::uint32_t id) { check(feeler_curve_scene_remove_body(scene_.get(), id)); }
    /// Whether steps decide how curves and bodies stand (`status`); not at first.
    void detect_interference(bool on) { check(feeler_curve_scene_detect_interference(scene_.get(), on)); }
    void update() { check(feeler_curve_scene_update(scene_.get())); }
    /// The minima of the last step; valid until the next one.
    const std::vector<CurveContact> &contacts() { return all(contacts_, feeler_curve_scene_contacts); }
    const std::vector<TightBend> &tight_bends() { return all(bends_, feeler_curve_scene_tight_bends); }
    Status status(std::uint32_t curve, std::uint32_t body) const {
        Status status{};
        check(feeler_curve_scene_status(scene_.get(), curve, body, &status));
        return status;
    }
    bool curves_interfere(std::uint32_t a, std::uint32_t b) const {
        bool interfere = false;
        check(feeler_curve_scene_curves_interfere(scene_.get(), a, b, &interfere));
        return interfere;
    }

private:
    static const double *numbers(const std::vector<Point> &points) {
        return points.empty() ? nullptr : points.data()->data();
    }
    static void same_size(const std::vector<Point> &points, const std::vector<Point> &derivatives) {
        if (points.size() != derivatives.size())
            throw Error(FEELER_RESULT_ARGUMENT, "give as many derivatives as points");
    }
    template <class T, class Ask> const std::vector<T> &all(std::vector<T> &out, Ask ask) {
        std::size_t n = 0;
        out.resize(out.capacity());
        check(ask(scene_.get(), out.data(), out.size(), &n));
        const bool had_room = n <= out.size();
        out.resize(n);
        if (!had_room) check(ask(scene_.get(), out.data(), n, &n));
        return out;
    }
    std::unique_ptr<FeelerCurveScene, void (*)(FeelerCurveScene *)> scene_;
    std::vector<CurveContact> contacts_;
    std::vector<TightBend> bends_;
};

/// A solid that particles meet, without triangles. One thread at a time; it shares its work among threads.
class ExactWall {
public:
    explicit ExactWall(const Body &body) : wall_(nullptr, feeler_exact_wall_free) {
        FeelerExactWall *wall = nullptr;
        check(feeler_exact_wall_new(body.get(), &wall));
        wall_.reset(wall);
    }
    void set_pose(const Pose &pose) { check(feeler_exact_wall_set_pose(wall_.get(), &pose)); }
    /// All contacts of spheres with gaps of at most `reach` (mm), by particles and then by gaps.
    const std::vector<WallContact> &spheres(const std::vector<Point> &centers, const std::vector<double> &radii,
                                            double reach) {
        same_size(centers.size(), radii.size());
        check(feeler_exact_wall_spheres(wall_.get(), first(centers), radii.data(), radii.size(), reach));
        return contacts();
    }
    /// The same of superellipsoids; orientations are quaternions x, y, z, w.
    const std::vector<WallContact> &superellipsoids(const std::vector<Point> &centers,
                                                    const std::vector<std::array<double, 4>> &orientations,
                                                    const std::vector<Point> &semi_axes,
                                                    const std::vector<std::array<double, 2>> &exponents,
                                                    double reach) {
        same_size(centers.size(), orientations.size());
        same_size(centers.size(), semi_axes.size());
        same_size(centers.size(), exponents.size());
        check(feeler_exact_wall_superellipsoids(wall_.get(), first(centers), first(orientations),
                                                first(semi_axes), first(exponents), centers.size(), reach));
        return contacts();
    }
    /// Those of the last query.
    const std::vector<WallContact> &contacts() {
        std::size_t n = 0;
        contacts_.resize(contacts_.capacity());
        check(feeler_exact_wall_contacts(wall_.get(), contacts_.data(), contacts_.size(), &n));
        const bool had_room = n <= contacts_.size();
        contacts_.resize(n);
        if (!had_room) check(feeler_exact_wall_contacts(wall_.get(), contacts_.data(), n, &n));
        return contacts_;
    }

private:
    template <class T> static const double *first(const std::vector<T> &values) {
        return values.empty() ? nullptr : values.data()->data();
    }
    static void same_size(std::size_t a, std::size_t b) {
        if (a != b) throw Error(FEELER_RESULT_ARGUMENT, "give arrays of one length");
    }
    std::unique_ptr<FeelerExactWall, void (*)(FeelerExactWall *)> wall_;
    std::vector<WallContact> contacts_;
};

} // namespace feeler

#endif
