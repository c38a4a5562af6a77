// C++17 interface of feeler: a header-only wrapper of feeler.h. Classes own the handles, and errors are thrown as
// feeler::Error. Units, frames and threads are those of feeler.h: mm and rad, normals from A to B, models and bodies
// for any number of threads, all other objects for one thread at a time.
#ifndef FEELER_HPP
#define FEELER_HPP

#include "feeler.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace feeler {

// Records of feeler.h, which documents their members.
using BodyInfo = FeelerBodyInfo;
using ClearanceOptions = FeelerClearanceOptions;
using Contact = FeelerContact;
using ContactEvent = FeelerContactEvent;
using CurveContact = FeelerCurveContact;
using CurveOptions = FeelerCurveOptions;
using FeatureRef = FeelerFeatureRef;
using Mass = FeelerMass;
using MeshData = FeelerMeshData;
using Pose = FeelerPose;
using QueryOptions = FeelerQueryOptions;
using SceneContact = FeelerSceneContact;
using Status = FeelerStatus;
using StepBound = FeelerStepBound;
using TightBend = FeelerTightBend;
using TrackedPair = FeelerTrackedPair;
using TrackedStatus = FeelerTrackedStatus;
using TrackerCounts = FeelerTrackerCounts;
using TrackerOptions = FeelerTrackerOptions;
using Update = FeelerUpdate;
using Verdict = FeelerVerdict;
using Overlap = FeelerOverlap;
using OverlapMethod = FeelerOverlapMethod;
using WallContact = FeelerWallContact;
/// Coordinates x, y, z (mm), or the components of a vector.
using Point = std::array<double, 3>;

/// Failure of a call: its result, and the message as what().
class Error : public std::runtime_error {
public:
    Error(FeelerResult result, const char *text) : std::runtime_error(text), result_(result) {}
    FeelerResult result() const noexcept { return result_; }

private:
    FeelerResult result_;
};

/// Throws Error unless the result is FEELER_RESULT_OK.
inline void check(FeelerResult result) {
    if (result != FEELER_RESULT_OK) throw Error(result, feeler_last_error());
}

/// Identity pose.
inline Pose identity() { return {{0, 0, 0}, {0, 0, 0, 1}}; }

/// Pose with a translation (mm) and no rotation.
inline Pose translation(double x, double y, double z) { return {{x, y, z}, {0, 0, 0, 1}}; }

/// Default options of a query with the largest distance `d_max` (mm).
inline QueryOptions within(double d_max) {
    QueryOptions options;
    feeler_query_options_init(&options);
    options.d_max = d_max;
    return options;
}

/// Default options of a tracker.
inline TrackerOptions tracker_options() {
    TrackerOptions options;
    feeler_tracker_options_init(&options);
    return options;
}

/// Default options of a scene of curves with the largest gap `d_max` (mm).
inline CurveOptions curves_within(double d_max) {
    CurveOptions options;
    feeler_curve_options_init(&options);
    options.d_max = d_max;
    return options;
}

/// Placement of a solid in a model.
struct Instance {
    std::string name;
    /// Names from the root of the assembly, joined by '/'; empty without an assembly.
    std::string path;
    /// Index of the solid.
    std::size_t solid;
    /// Pose of the solid in the model.
    Pose pose;
};

/// Contents of a STEP or .feeler file: distinct solids and their instances.
class Model {
public:
    /// Reads a .feeler file.
    static Model read(const std::string &path) {
        FeelerModel *model = nullptr;
        check(feeler_model_read(path.c_str(), &model));
        return Model(model);
    }
    /// Reads the `n` bytes of a .feeler file.
    static Model from_bytes(const void *bytes, std::size_t n) {
        FeelerModel *model = nullptr;
        check(feeler_model_from_bytes(static_cast<const std::uint8_t *>(bytes), n, &model));
        return Model(model);
    }
    /// Writes a .feeler file. If writing fails, an existing file remains unchanged.
    void write(const std::string &path) const { check(feeler_model_write(get(), path.c_str())); }
    /// Bytes of a .feeler file.
    std::vector<std::uint8_t> to_bytes() const {
        std::size_t n = 0;
        check(feeler_model_to_bytes(get(), nullptr, 0, &n));
        std::vector<std::uint8_t> bytes(n);
        check(feeler_model_to_bytes(get(), bytes.data(), n, &n));
        return bytes;
    }
    /// Number of distinct solids.
    std::size_t solid_count() const { return count(feeler_model_solid_count); }
    /// Number of solids and components that could not be prepared.
    std::size_t left_out_count() const { return count(feeler_model_left_out_count); }
    /// Instances of the solids.
    std::vector<Instance> instances() const {
        std::vector<Instance> all(count(feeler_model_instance_count));
        for (std::size_t i = 0; i < all.size(); ++i) {
            FeelerInstance one{};
            one.struct_size = sizeof one;
            const char *name = nullptr, *path = nullptr;
            check(feeler_model_instance(get(), i, &one, &name, &path));
            all[i] = {name, path, one.solid, one.pose};
        }
        return all;
    }
    const FeelerModel *get() const noexcept { return model_.get(); }

private:
    friend Model prepare_step(const std::string &path);
    friend Model prepare_bytes(const void *bytes, std::size_t n, const std::string &name);
    explicit Model(FeelerModel *model) : model_(model, feeler_model_free) {}
    std::size_t count(FeelerResult (*number)(const FeelerModel *, std::size_t *)) const {
        std::size_t n = 0;
        check(number(get(), &n));
        return n;
    }
    std::unique_ptr<FeelerModel, void (*)(FeelerModel *)> model_;
};

/// Reads a STEP file and prepares its solids, which takes from a tenth of a second to some minutes: write the model
/// and read that file the next time.
inline Model prepare_step(const std::string &path) {
    FeelerModel *model = nullptr;
    check(feeler_prepare_step(path.c_str(), &model));
    return Model(model);
}

/// Prepares the `n` bytes of a STEP file. `name` is the file name in messages.
inline Model prepare_bytes(const void *bytes, std::size_t n, const std::string &name) {
    FeelerModel *model = nullptr;
    check(feeler_prepare_bytes(static_cast<const std::uint8_t *>(bytes), n, name.c_str(), &model));
    return Model(model);
}

/// Solid, or open surface, that is ready for queries. Copies share the data.
class Body {
public:
    /// Body of the solid of a model with an index from 0.
    explicit Body(const Model &model, std::size_t solid = 0) {
        FeelerBody *body = nullptr;
        check(feeler_body_new(model.get(), solid, &body));
        body_ = std::shared_ptr<FeelerBody>(body, feeler_body_free);
    }
    /// Geometric properties, in own coordinates.
    BodyInfo info() const {
        BodyInfo info{};
        info.struct_size = sizeof info;
        check(feeler_body_info(get(), &info));
        return info;
    }
    /// Mass (kg), centre of mass (mm) and inertia (kg·mm²) of the exact solid at a density (kg/m³).
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

/// Triangle mesh of a body for display.
class Mesh {
public:
    /// Mesh whose distance from the solid is at most `chord` (mm).
    Mesh(const Body &body, double chord) : mesh_(nullptr, feeler_mesh_free) {
        FeelerMesh *mesh = nullptr;
        check(feeler_mesh_new(body.get(), chord, &mesh));
        mesh_.reset(mesh);
    }
    /// Sizes and arrays; the pointers are valid as long as this object.
    MeshData data() const {
        MeshData data{};
        data.struct_size = sizeof data;
        check(feeler_mesh_data(mesh_.get(), &data));
        return data;
    }

private:
    std::unique_ptr<FeelerMesh, void (*)(FeelerMesh *)> mesh_;
};

/// Two bodies and the results that their queries reuse.
class ContactPair {
public:
    /// Pair of bodies, which may be the same body.
    ContactPair(const Body &a, const Body &b) : pair_(nullptr, feeler_contact_pair_free) {
        FeelerContactPair *pair = nullptr;
        check(feeler_contact_pair_new(a.get(), b.get(), &pair));
        pair_.reset(pair);
    }
    /// All local minima of the distance up to `d_max`, by ascending distance; valid until the next query.
    const std::vector<Contact> &query(const Pose &pose_a, const Pose &pose_b, const QueryOptions &options) {
        std::size_t n = 0;
        contacts_.resize(contacts_.capacity());
        check(feeler_contact_pair_query(pair_.get(), &pose_a, &pose_b, &options, contacts_.data(), contacts_.size(),
                                        &n));
        const bool is_complete = n <= contacts_.size();
        contacts_.resize(n);
        if (!is_complete) check(feeler_contact_pair_contacts(pair_.get(), contacts_.data(), n, &n));
        return contacts_;
    }
    /// Contacts of the last query.
    const std::vector<Contact> &contacts() const noexcept { return contacts_; }
    /// Verdict of the last query; its status is FEELER_STATUS_UNKNOWN if there was no query or the options skipped
    /// the verdict.
    Verdict verdict() const {
        Verdict verdict{};
        verdict.struct_size = sizeof verdict;
        check(feeler_contact_pair_verdict(pair_.get(), &verdict));
        return verdict;
    }
    /// Verdict of the last query, computed first if the options skipped it.
    Verdict decide() {
        Verdict verdict{};
        verdict.struct_size = sizeof verdict;
        check(feeler_contact_pair_decide(pair_.get(), &verdict));
        return verdict;
    }
    /// Status of the last query.
    Status status() const { return verdict().status; }
    /// Smallest distance (mm) of a contact of the last query; infinite without a contact.
    double min_distance() const { return verdict().min_distance; }
    /// Translation of B (mm, world coordinates) after which the solids at these poses no longer interfere: short, but
    /// not proven to be the shortest. Empty if they do not interfere.
    std::optional<Point> separating_translation(const Pose &pose_a, const Pose &pose_b, const QueryOptions &options) {
        bool interfere = false;
        Point out{};
        check(feeler_contact_pair_separating_translation(pair_.get(), &pose_a, &pose_b, &options, &interfere,
                                                         out.data()));
        return interfere ? std::optional<Point>(out) : std::nullopt;
    }
    /// Volume, centroid and box of the common part of the solids at these poses. Empty if they do not interfere, and
    /// with sheets, which have no volume.
    std::optional<Overlap> overlap(const Pose &pose_a, const Pose &pose_b, const QueryOptions &options) {
        bool has_overlap = false;
        Overlap out{};
        out.struct_size = sizeof out;
        check(feeler_contact_pair_overlap(pair_.get(), &pose_a, &pose_b, &options, &has_overlap, &out));
        return has_overlap ? std::optional<Overlap>(out) : std::nullopt;
    }
    /// Discards the results of earlier queries, so that the contacts of the next query get new ids.
    void forget() { check(feeler_contact_pair_forget(pair_.get())); }

private:
    std::unique_ptr<FeelerContactPair, void (*)(FeelerContactPair *)> pair_;
    std::vector<Contact> contacts_;
};

/// Contacts of two bodies over the steps of a simulator.
class ContactTracker {
public:
    /// Tracker of two bodies, which may be the same body.
    ContactTracker(const Body &a, const Body &b, const TrackerOptions &options = tracker_options())
        : tracker_(nullptr, feeler_contact_tracker_free) {
        FeelerContactTracker *tracker = nullptr;
        check(feeler_contact_tracker_new(a.get(), b.get(), &options, &tracker));
        tracker_.reset(tracker);
    }
    /// Copy with the same contacts, ids and counts. Its verdict is available after its next update.
    ContactTracker clone() const {
        FeelerContactTracker *tracker = nullptr;
        check(feeler_contact_tracker_clone(tracker_.get(), &tracker));
        ContactTracker copy(tracker);
        copy.contacts_ = contacts_;
        return copy;
    }
    /// Computes the contacts that suffice for a step that starts at these poses and stays within the bound. After an
    /// error there are no contacts.
    Update update(const Pose &pose_a, const Pose &pose_b, const StepBound &bound) {
        Update report{};
        report.struct_size = sizeof report;
        contacts_.clear();
        check(feeler_contact_tracker_update(tracker_.get(), &pose_a, &pose_b, &bound, &report));
        std::size_t n = 0;
        contacts_.resize(contacts_.capacity());
        check(feeler_contact_tracker_contacts(tracker_.get(), contacts_.data(), contacts_.size(), &n));
        const bool is_complete = n <= contacts_.size();
        contacts_.resize(n);
        if (!is_complete) check(feeler_contact_tracker_contacts(tracker_.get(), contacts_.data(), n, &n));
        return report;
    }
    /// Contacts of the last update, by ascending id; valid until the next update.
    const std::vector<Contact> &contacts() const noexcept { return contacts_; }
    /// Second derivative of the gap of each contact, a symmetric 6 × 6 matrix H: a twist ξ of B at A's origin, in A's
    /// frame (mm, then rad), changes the gap by gap_rate·ξ + ½ ξᵀHξ up to third order. NaN for a contact that is not
    /// isolated, for example a member of a conformal set.
    std::vector<std::array<double, 36>> gap_hessians() const {
        static_assert(sizeof(std::array<double, 36>) == sizeof(double[36]), "arrays without padding");
        std::vector<std::array<double, 36>> hessians(contacts_.size());
        std::size_t n = 0;
        auto *out = reinterpret_cast<double(*)[36]>(hessians.data());
        check(feeler_contact_tracker_gap_hessians(tracker_.get(), out, hessians.size(), &n));
        hessians.resize(n);
        return hessians;
    }
    /// Predicted gap (mm) of each contact at the end of the step, as if that contact did not act, for engines whose
    /// contacts act only when closed. The prediction continues the motion of the last step, or its acceleration over
    /// the last two; the smaller gap is returned. The poses are those of B in A's frame, nullptr if unknown; without
    /// the first one the gaps are those of the last update. `is_free`: no joints guide the bodies.
    std::vector<double> predicted_gaps(const Pose *one_step_ago, const Pose *two_steps_ago, bool is_free = true) {
        std::vector<double> gaps(contacts_.size());
        std::size_t n = 0;
        check(feeler_contact_tracker_predicted_gaps(tracker_.get(), one_step_ago, two_steps_ago, is_free, gaps.data(),
                                            gaps.size(), &n));
        gaps.resize(n);
        return gaps;
    }
    /// Bound of the step that starts at these poses, for engines that cannot query within a step: twice the motion
    /// since the last update, plus the displacement `forced` (mm) by forces, at most `max_displacement` (mm).
    StepBound expected_bound(const Pose &pose_a, const Pose &pose_b, double forced, double max_displacement) const {
        StepBound bound{};
        check(feeler_contact_tracker_expected_bound(tracker_.get(), &pose_a, &pose_b, forced, max_displacement,
                                                    &bound));
        return bound;
    }
    /// Returns whether the contacts suffice for the motion from the poses of the last update to these poses.
    bool covers(const Pose &pose_a, const Pose &pose_b) const {
        bool covers = false;
        check(feeler_contact_tracker_covers(tracker_.get(), &pose_a, &pose_b, &covers));
        return covers;
    }
    /// Motion of B relative to A since the last update; infinite if there was no update.
    StepBound motion_to(const Pose &pose_a, const Pose &pose_b) const {
        StepBound motion{};
        check(feeler_contact_tracker_motion_to(tracker_.get(), &pose_a, &pose_b, &motion));
        return motion;
    }
    /// Status by the signed gaps of the strict contacts or by a verdict.
    TrackedStatus status() const {
        TrackedStatus status{};
        check(feeler_contact_tracker_status(tracker_.get(), &status, nullptr));
        return status;
    }
    /// Depth (mm) of the deepest contact of pressed bodies, else 0.
    double depth() const {
        TrackedStatus status{};
        double depth = 0;
        check(feeler_contact_tracker_status(tracker_.get(), &status, &depth));
        return depth;
    }
    /// Proven verdict at the poses of the last update, computed on demand.
    Verdict verdict() {
        Verdict verdict{};
        verdict.struct_size = sizeof verdict;
        check(feeler_contact_tracker_verdict(tracker_.get(), &verdict));
        return verdict;
    }
    /// Counts over all updates.
    TrackerCounts counts() const {
        TrackerCounts counts{};
        counts.struct_size = sizeof counts;
        check(feeler_contact_tracker_counts(tracker_.get(), &counts));
        return counts;
    }
    /// Discards contacts and motion, for example if a simulation is reset. Ids and counts continue.
    void clear() {
        check(feeler_contact_tracker_clear(tracker_.get()));
        contacts_.clear();
    }

private:
    explicit ContactTracker(FeelerContactTracker *tracker) : tracker_(tracker, feeler_contact_tracker_free) {}
    std::unique_ptr<FeelerContactTracker, void (*)(FeelerContactTracker *)> tracker_;
    std::vector<Contact> contacts_;
};

/// Finding of a clearance check about two parts.
struct Finding {
    /// Kind, parts, distance and location, as in feeler.h.
    FeelerFinding record;
    /// Paths of the parts.
    std::string path_a, path_b;
    /// Name of the rule; empty without a rule.
    std::string rule;
};

/// Placed solids of one or several models.
class Assembly {
public:
    Assembly() : assembly_(nullptr, feeler_assembly_free) {
        FeelerAssembly *assembly = nullptr;
        check(feeler_assembly_new(&assembly));
        assembly_.reset(assembly);
    }
    /// Adds the parts of a model, moved by `pose`. `name` precedes their paths unless it is empty.
    void add(const Model &model, const std::string &name = "", const Pose &pose = identity()) {
        check(feeler_assembly_add(assembly_.get(), model.get(), name.c_str(), &pose));
    }
    /// Number of parts.
    std::size_t part_count() const {
        std::size_t n = 0;
        check(feeler_assembly_part_count(assembly_.get(), &n));
        return n;
    }
    /// Measures all near pairs of parts and checks them against rules (TOML; "" for none). Returns the
    /// findings, most severe first. A `d_max` or `tolerance` of 0 is that of the rules, or the default.
    std::vector<Finding> clearance(const std::string &rules = "", double d_max = 0, double tolerance = 0) const {
        const ClearanceOptions options = {sizeof options, 0, d_max, tolerance};
        FeelerClearance *handle = nullptr;
        check(feeler_clearance_new(assembly_.get(), rules.c_str(), &options, &handle));
        const std::unique_ptr<FeelerClearance, decltype(&feeler_clearance_free)> result(
            handle, feeler_clearance_free);
        std::size_t n = 0;
        check(feeler_clearance_finding_count(result.get(), &n));
        std::vector<Finding> findings(n);
        for (std::size_t i = 0; i < n; ++i) {
            const char *path_a = nullptr, *path_b = nullptr, *rule = nullptr;
            findings[i].record.struct_size = sizeof(FeelerFinding);
            check(feeler_clearance_finding(result.get(), i, &findings[i].record, &path_a, &path_b, &rule));
            findings[i].path_a = path_a;
            findings[i].path_b = path_b;
            if (rule != nullptr) findings[i].rule = rule;
        }
        return findings;
    }

private:
    std::unique_ptr<FeelerAssembly, decltype(&feeler_assembly_free)> assembly_;
};

/// Many bodies that move together.
class Scene {
public:
    /// Empty scene. `d_max` limits the gap and must be finite.
    explicit Scene(const QueryOptions &options) : scene_(nullptr, feeler_scene_free) {
        FeelerScene *scene = nullptr;
        check(feeler_scene_new(&options, &scene));
        scene_.reset(scene);
    }
    /// Adds a body and returns its id, which is never reused.
    std::uint32_t add(const Body &body, const Pose &pose) {
        std::uint32_t id = 0;
        check(feeler_scene_add(scene_.get(), body.get(), &pose, &id));
        return id;
    }
    /// Adds one body of several solids, each with its pose in the body.
    std::uint32_t add_compound(const std::vector<std::pair<Body, Pose>> &parts, const Pose &pose) {
        std::vector<const FeelerBody *> bodies;
        std::vector<Pose> poses;
        for (const auto &part : parts) {
            bodies.push_back(part.first.get());
            poses.push_back(part.second);
        }
        std::uint32_t id = 0;
        check(feeler_scene_add_compound(
            scene_.get(), bodies.data(), poses.data(), bodies.size(), &pose, &id));
        return id;
    }
    /// Adds all instances of a model at their poses and returns their ids.
    std::vector<std::uint32_t> add_model(const Model &model) {
        std::vector<std::uint32_t> ids(model.instances().size());
        std::size_t n = 0;
        check(feeler_scene_add_model(scene_.get(), model.get(), ids.data(), ids.size(), &n));
        return ids;
    }
    /// Removes a body. Its contacts end in the next update.
    void remove(std::uint32_t id) { check(feeler_scene_remove(scene_.get(), id)); }
    /// Pose of a body.
    Pose pose(std::uint32_t id) const {
        Pose pose{};
        check(feeler_scene_pose(scene_.get(), id, &pose));
        return pose;
    }
    /// Sets the pose of a body for the next update.
    void set_pose(std::uint32_t id, const Pose &pose) {
        check(feeler_scene_set_poses(scene_.get(), &id, &pose, 1));
    }
    /// Sets options of all pairs of a body: the largest gap `d_max` (mm; negative: that of the scene), an implicit
    /// dilation (mm), and whether the body never moves. Pairs of fixed bodies are skipped.
    void set_body_options(std::uint32_t id, double d_max, double dilation, bool fixed) {
        check(feeler_scene_set_body_options(scene_.get(), id, d_max, dilation, fixed));
    }
    /// Sets options of a pair, which replace those of its bodies: the largest gap `d_max` (mm; negative: that of the
    /// bodies), dilations (mm) of `a` and of `b`, and whether the pair is skipped.
    void set_pair_options(std::uint32_t a, std::uint32_t b, double d_max,
                          const std::optional<std::array<double, 2>> &dilation, bool ignored) {
        const double *values = dilation ? dilation->data() : nullptr;
        check(feeler_scene_set_pair_options(scene_.get(), a, b, d_max, values, ignored));
    }
    /// Computes the contacts and verdicts of all near pairs at the poses of the bodies.
    void update() { check(feeler_scene_update(scene_.get())); }
    /// Contacts of the last update, sorted by bodies, parts and distance. Valid until the next call.
    const std::vector<SceneContact> &contacts() { return all(contacts_, feeler_scene_contacts); }
    /// Contacts that have begun, persisted or ended in the last update. Valid until the next call.
    const std::vector<ContactEvent> &events() { return all(events_, feeler_scene_events); }
    /// Status of two bodies in the last update; FEELER_STATUS_UNKNOWN if they were not near each other.
    Status status(std::uint32_t a, std::uint32_t b) const {
        Status status{};
        check(feeler_scene_status(scene_.get(), a, b, &status));
        return status;
    }
    /// Finds the near pairs of the bodies at their poses, and for each pair the contacts that suffice for a step in
    /// which the body ids[i] moves within bounds[i] relative to the world. Bodies that are not listed do not move.
    void track(const std::vector<std::uint32_t> &ids, const std::vector<StepBound> &bounds,
               const TrackerOptions &options = tracker_options()) {
        if (ids.size() != bounds.size()) throw Error(FEELER_RESULT_ARGUMENT, "ids and bounds have different lengths");
        check(feeler_scene_track(scene_.get(), &options, ids.data(), bounds.data(), ids.size()));
    }
    /// Near pairs of the last `track`; some may have no contacts. Valid until the next call.
    const std::vector<TrackedPair> &tracked_pairs() { return all(tracked_pairs_, feeler_scene_tracked_pairs); }
    /// Contacts of the near pairs, pair by pair. Valid until the next call.
    const std::vector<Contact> &tracked_contacts() {
        return all(tracked_contacts_, feeler_scene_tracked_contacts);
    }
    /// Returns whether the contacts suffice for the motion from the poses of the last `track` to the present poses.
    bool covers() const {
        bool covers = false;
        check(feeler_scene_covers(scene_.get(), &covers));
        return covers;
    }
    /// Counts over all updates of all pairs.
    TrackerCounts tracker_counts() const {
        TrackerCounts counts{};
        counts.struct_size = sizeof counts;
        check(feeler_scene_tracker_counts(scene_.get(), &counts));
        return counts;
    }

private:
    template <class T, class Getter> const std::vector<T> &all(std::vector<T> &out, Getter get) {
        std::size_t n = 0;
        out.resize(out.capacity());
        check(get(scene_.get(), out.data(), out.size(), &n));
        const bool is_complete = n <= out.size();
        out.resize(n);
        if (!is_complete) check(get(scene_.get(), out.data(), n, &n));
        return out;
    }
    std::unique_ptr<FeelerScene, void (*)(FeelerScene *)> scene_;
    std::vector<SceneContact> contacts_;
    std::vector<ContactEvent> events_;
    std::vector<TrackedPair> tracked_pairs_;
    std::vector<Contact> tracked_contacts_;
};

/// Deformable curves with a radius among solids that move.
class CurveScene {
public:
    /// Scene without curves and bodies.
    explicit CurveScene(const CurveOptions &options) : scene_(nullptr, feeler_curve_scene_free) {
        FeelerCurveScene *scene = nullptr;
        check(feeler_curve_scene_new(&options, &scene));
        scene_.reset(scene);
    }
    /// Adds a curve of Bézier pieces of one degree by their control points; end points that neighbours share are
    /// listed once. Returns its id, which is never reused.
    std::uint32_t add_curve(const std::vector<Point> &points, double radius, std::uint32_t degree = 3,
                            bool closed = false) {
        std::uint32_t id = 0;
        check(feeler_curve_scene_add_curve(scene_.get(), degree, numbers(points), points.size(), radius,
                                           closed, &id));
        return id;
    }
    /// Adds a curve of cubic pieces through nodes with derivatives with respect to the parameter, which increases by 1
    /// from node to node.
    std::uint32_t add_hermite(const std::vector<Point> &points, const std::vector<Point> &derivatives,
                              double radius, bool closed = false) {
        same_size(points, derivatives);
        std::uint32_t id = 0;
        check(feeler_curve_scene_add_hermite(scene_.get(), numbers(points), numbers(derivatives),
                                             points.size(), radius, closed, &id));
        return id;
    }
    /// Fits a curve of cubic pieces to measured points and adds it. Returns its id and the largest distance (mm) of a
    /// point from the curve.
    std::pair<std::uint32_t, double> fit_curve(const std::vector<Point> &measured, double tolerance, double radius,
                                               bool closed = false) {
        std::pair<std::uint32_t, double> made{};
        check(feeler_curve_scene_fit_curve(scene_.get(), numbers(measured), measured.size(), tolerance,
                                           radius, closed, &made.first, &made.second));
        return made;
    }
    /// Moves a curve to new control points. Their number does not change.
    void update_curve(std::uint32_t id, const std::vector<Point> &points) {
        check(feeler_curve_scene_update_curve(scene_.get(), id, numbers(points), points.size()));
    }
    /// Moves a curve of cubic pieces to new nodes and derivatives. Their number does not change.
    void update_hermite(std::uint32_t id, const std::vector<Point> &points,
                        const std::vector<Point> &derivatives) {
        same_size(points, derivatives);
        check(feeler_curve_scene_update_hermite(scene_.get(), id, numbers(points), numbers(derivatives),
                                                points.size()));
    }
    /// Removes a curve.
    void remove_curve(std::uint32_t id) { check(feeler_curve_scene_remove_curve(scene_.get(), id)); }
    /// Control points of a curve (mm).
    std::vector<Point> control_points(std::uint32_t id) const {
        std::size_t n = 0;
        check(feeler_curve_scene_control_points(scene_.get(), id, nullptr, 0, &n));
        std::vector<Point> points(n);
        check(feeler_curve_scene_control_points(scene_.get(), id, points.data()->data(), n, &n));
        return points;
    }
    /// Point of a curve at a parameter from 0 to the number of pieces.
    Point point(std::uint32_t id, double u) const {
        Point point{};
        check(feeler_curve_scene_points_at(scene_.get(), id, &u, 1, point.data()));
        return point;
    }
    /// Adds a body and returns its id, which is never reused.
    std::uint32_t add_body(const Body &body, const Pose &pose) {
        std::uint32_t id = 0;
        check(feeler_curve_scene_add_body(scene_.get(), body.get(), &pose, &id));
        return id;
    }
    /// Sets the pose of a body for the next update.
    void set_pose(std::uint32_t id, const Pose &pose) {
        check(feeler_curve_scene_set_pose(scene_.get(), id, &pose));
    }
    /// Removes a body.
    void remove_body(std::uint32_t id) { check(feeler_curve_scene_remove_body(scene_.get(), id)); }
    /// Sets whether updates decide if curves and bodies interfere (`status`). Initially they do not.
    void detect_interference(bool detects) { check(feeler_curve_scene_detect_interference(scene_.get(), detects)); }
    /// Computes all contacts at the present positions.
    void update() { check(feeler_curve_scene_update(scene_.get())); }
    /// Contacts of the last update, by ascending pairs and parameters. Valid until the next call.
    const std::vector<CurveContact> &contacts() { return all(contacts_, feeler_curve_scene_contacts); }
    /// Stretches where curves were bent more tightly than their radius in the last update. Valid until the next call.
    const std::vector<TightBend> &tight_bends() { return all(bends_, feeler_curve_scene_tight_bends); }
    /// Status of a curve and a body in the last update; FEELER_STATUS_UNKNOWN unless interference is detected.
    Status status(std::uint32_t curve, std::uint32_t body) const {
        Status status{};
        check(feeler_curve_scene_status(scene_.get(), curve, body, &status));
        return status;
    }
    /// Returns whether the tubes of two curves, or of a curve with itself, overlapped in the last update.
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
            throw Error(FEELER_RESULT_ARGUMENT, "points and derivatives have different lengths");
    }
    template <class T, class Getter> const std::vector<T> &all(std::vector<T> &out, Getter get) {
        std::size_t n = 0;
        out.resize(out.capacity());
        check(get(scene_.get(), out.data(), out.size(), &n));
        const bool is_complete = n <= out.size();
        out.resize(n);
        if (!is_complete) check(get(scene_.get(), out.data(), n, &n));
        return out;
    }
    std::unique_ptr<FeelerCurveScene, void (*)(FeelerCurveScene *)> scene_;
    std::vector<CurveContact> contacts_;
    std::vector<TightBend> bends_;
};

/// Exact solid as a wall for particles.
class ExactWall {
public:
    /// Wall at the identity pose.
    explicit ExactWall(const Body &body) : wall_(nullptr, feeler_exact_wall_free) {
        FeelerExactWall *wall = nullptr;
        check(feeler_exact_wall_new(body.get(), &wall));
        wall_.reset(wall);
    }
    /// Sets the pose of the wall.
    void set_pose(const Pose &pose) { check(feeler_exact_wall_set_pose(wall_.get(), &pose)); }
    /// All contacts of spheres (mm) whose gaps are at most `reach` (mm), by ascending particles and gaps. Valid until
    /// the next call.
    const std::vector<WallContact> &sphere_contacts(const std::vector<Point> &centers,
                                                    const std::vector<double> &radii, double reach) {
        same_size(centers.size(), radii.size());
        check(feeler_exact_wall_sphere_contacts(wall_.get(), first(centers), radii.data(), radii.size(), reach));
        return contacts();
    }
    /// All contacts of superellipsoids, like `sphere_contacts`. Orientations are quaternions x, y, z, w from own axes
    /// to the world, semi-axes are in mm, exponents in [0.1, 1.9].
    const std::vector<WallContact> &superellipsoid_contacts(
        const std::vector<Point> &centers, const std::vector<std::array<double, 4>> &orientations,
        const std::vector<Point> &semi_axes, const std::vector<std::array<double, 2>> &exponents, double reach) {
        same_size(centers.size(), orientations.size());
        same_size(centers.size(), semi_axes.size());
        same_size(centers.size(), exponents.size());
        check(feeler_exact_wall_superellipsoid_contacts(wall_.get(), first(centers), first(orientations),
                                                first(semi_axes), first(exponents), centers.size(), reach));
        return contacts();
    }
    /// Contacts of the last query. Valid until the next call.
    const std::vector<WallContact> &contacts() {
        std::size_t n = 0;
        contacts_.resize(contacts_.capacity());
        check(feeler_exact_wall_contacts(wall_.get(), contacts_.data(), contacts_.size(), &n));
        const bool is_complete = n <= contacts_.size();
        contacts_.resize(n);
        if (!is_complete) check(feeler_exact_wall_contacts(wall_.get(), contacts_.data(), n, &n));
        return contacts_;
    }

private:
    template <class T> static const double *first(const std::vector<T> &values) {
        return values.empty() ? nullptr : values.data()->data();
    }
    static void same_size(std::size_t a, std::size_t b) {
        if (a != b) throw Error(FEELER_RESULT_ARGUMENT, "the arrays have different lengths");
    }
    std::unique_ptr<FeelerExactWall, void (*)(FeelerExactWall *)> wall_;
    std::vector<WallContact> contacts_;
};

} // namespace feeler

#endif
