// Releases a part in another one under tilted gravity in the physics engine ODE, with exact contacts and with ODE's own
// contacts of triangle meshes.
//
//     ode [FIXED MOVING] [--pose X Y Z QX QY QZ QW] [--seconds S] [--step S] [--farthest MM] [--erp E]
//         [--cfm C] [--friction MU] [--rounds N] [--mesh CHORD]...
//
// The contacts of a step suffice for motions within a bound: twice the motion of the step before, plus the
// displacement by gravity, at most --farthest. A step whose motion exceeds the bound is repeated with the
// contacts of a wider bound, up to N rounds in total (1: never repeated).
//
// FIXED and MOVING are STEP or .feeler files, the pose (mm, quaternion) is MOVING's. Without files a pin of
// 19.9 mm is released over a blind bore of 20 mm, from data/ in the working directory. Each --mesh adds a row
// with meshes of that chord error (mm) in place of the exact solids.
//
// Columns: maximum number of contacts; mean number of rounds; steps that the last round did not cover; mean
// time of a step (ms); largest depth of the exact solids at the end of a step (mm, by queries of its own);
// steps that end in interference of unknown depth; largest increase of the energy, as a part of weight times
// size; and for the last fifth of the time: displacement of the points of persistent contacts in a step (um),
// RMS of the angular acceleration (rad/s2), and deviation of the mean contact force from the weight, as a part
// of the weight.
//
// The exit status is 1 if exact contacts exceed the limits below.
#include <feeler.hpp>
#include <ode/ode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

static_assert(sizeof(dReal) == sizeof(double), "micrometres in coordinates of metres require ODE in double precision");

namespace {

// Limits of the results of exact contacts.
const double MAX_DEPTH = 0.01;            // mm
const double MAX_ENERGY_INCREASE = 1e-4;  // of weight times size
const double MAX_POINT_DRIFT = 1.0;       // um per step, at rest
const double MAX_FORCE_ERROR = 0.01;      // of the weight, at rest

const double STEEL = 7850;    // kg/m3
const double METRES = 1e-3;   // one millimetre in m

struct Arguments {
    std::string fixed = "data/blind-bore.step", moving = "data/pin.step";
    feeler::Pose pose = feeler::translation(0, 0, 30);
    double seconds = 1, step = 1e-3;
    double farthest = 0.5;  // mm: largest displacement of a step
    double erp = 0.2;       // fraction of a penetration that a step corrects
    double cfm = 1e-9;      // softness of contacts, m/(N s): keeps many parallel contacts solvable
    double friction = 0;
    int rounds = 8;         // maximum number of rounds of a step
    std::vector<double> meshes;
};

struct Row {
    std::size_t most = 0;
    double ms = 0, rounds = 0, deepest = 0, energy = -INFINITY, points = 0, shaken = 0, carried = 0;
    int lost = 0, uncovered = 0;
};

// Conversion of millimetres to metres, as in `joint`. The origin of a body of ODE is its centre of mass, that
// of a solid is the origin of its model.

feeler::Pose pose_of(dBodyID body, const feeler::Mass &mass) {
    dVector3 origin; // of the solid
    dBodyGetRelPointPos(
        body, -mass.centroid[0] * METRES, -mass.centroid[1] * METRES, -mass.centroid[2] * METRES, origin);
    const dReal *q = dBodyGetQuaternion(body); // w first
    return {{origin[0] / METRES, origin[1] / METRES, origin[2] / METRES}, {q[1], q[2], q[3], q[0]}};
}

void place(dBodyID body, const feeler::Mass &mass, const feeler::Pose &pose) {
    const dQuaternion q = {pose.rotation[3], pose.rotation[0], pose.rotation[1], pose.rotation[2]};
    dBodySetQuaternion(body, q);
    dVector3 center;
    dBodyVectorToWorld(body, mass.centroid[0], mass.centroid[1], mass.centroid[2], center);
    const double *t = pose.translation;
    dBodySetPosition(
        body, (t[0] + center[0]) * METRES, (t[1] + center[1]) * METRES, (t[2] + center[2]) * METRES);
}

void set_mass(dBodyID body, const feeler::Mass &mass) {
    const double *i = mass.inertia;
    const double u = METRES * METRES;
    dMass m;
    dMassSetParameters(
        &m, mass.mass, 0, 0, 0, i[0] * u, i[4] * u, i[8] * u, i[1] * u, i[2] * u, i[5] * u);
    dBodySetMass(body, &m);
}

dSurfaceParameters surface(const Arguments &args) {
    dSurfaceParameters s{};
    s.mode = dContactSoftERP | dContactSoftCFM | dContactApprox1;
    s.soft_erp = args.erp;
    s.soft_cfm = args.cfm;
    s.mu = args.friction;
    return s;
}

// A contact that pushes the moving body along the normal of the fixed one. ODE treats an open contact as a
// closed one: its gap is given as a velocity along the normal.
dContact joint(const feeler::Contact &found, const Arguments &args) {
    dContact out{};
    out.surface = surface(args);
    for (int k = 0; k < 3; ++k) {
        out.geom.pos[k] = 0.5 * (found.point_a[k] + found.point_b[k]) * METRES;
        out.geom.normal[k] = found.normal[k];
    }
    out.geom.depth = std::max(0.0, -found.gap) * METRES;
    out.surface.mode |= dContactMotionN;
    out.surface.motionN = -std::max(0.0, found.gap) * METRES / args.step;
    return out;
}

// Pose and velocities of a body.
struct State {
    dReal place[3], rotation[4], velocity[3], spin[3];

    explicit State(dBodyID body) {
        std::copy_n(dBodyGetPosition(body), 3, place);
        std::copy_n(dBodyGetQuaternion(body), 4, rotation);
        std::copy_n(dBodyGetLinearVel(body), 3, velocity);
        std::copy_n(dBodyGetAngularVel(body), 3, spin);
    }
    void restore(dBodyID body) const {
        dBodySetPosition(body, place[0], place[1], place[2]);
        dBodySetQuaternion(body, rotation);
        dBodySetLinearVel(body, velocity[0], velocity[1], velocity[2]);
        dBodySetAngularVel(body, spin[0], spin[1], spin[2]);
    }
};

// One step of ODE with given contacts, whose forces are written to `loads`.
void step(dWorldID world, dBodyID body, std::vector<dContact> &joints, std::vector<dJointFeedback> &loads,
    double time, bool is_quick) {
    const dJointGroupID group = dJointGroupCreate(0);
    loads.assign(joints.size(), dJointFeedback{});
    for (std::size_t i = 0; i < joints.size(); ++i) {
        const dJointID id = dJointCreateContact(world, group, &joints[i]);
        dJointAttach(id, body, nullptr);
        dJointSetFeedback(id, &loads[i]);
    }
    if (is_quick) dWorldQuickStep(world, time);
    else dWorldStep(world, time);
    dJointGroupDestroy(group);
}

// A moving solid and a fixed one, with exact contacts.
class Exact {
public:
    Exact(const feeler::Body &a, const feeler::Body &b, const feeler::Mass &mass, const Arguments &args)
        : tracker_(a, b, options()), mass_(mass), args_(args) {}

    // Makes a step; returns the number of rounds.
    int step(dWorldID world, dBodyID body, std::vector<dContact> &joints, std::vector<dJointFeedback> &loads) {
        const State start(body);
        const feeler::Pose pose = pose_of(body, mass_);
        dVector3 g;
        dWorldGetGravity(world, g);
        const double forced = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * args_.step * args_.step;
        feeler::StepBound bound =
            tracker_.expected_bound(feeler::identity(), pose, forced / METRES, args_.farthest);
        for (int round = 1;; ++round) {
            tracker_.update(feeler::identity(), pose, bound);
            joints.clear();
            for (const auto &c : tracker_.contacts())
                if (c.is_active) joints.push_back(joint(c, args_));
            ::step(world, body, joints, loads, args_.step, false);
            const feeler::Pose end = pose_of(body, mass_);
            if (round >= args_.rounds || tracker_.covers(feeler::identity(), end)) return round;
            // The contacts do not suffice for this motion.
            const feeler::StepBound made = tracker_.motion_to(feeler::identity(), end);
            bound.rotation = std::max(bound.rotation, WIDER * made.rotation);
            bound.displacement = std::max(bound.displacement, WIDER * made.displacement);
            start.restore(body);
        }
    }
    const std::vector<feeler::Contact> &contacts() const { return tracker_.contacts(); }
    std::uint64_t uncovered() const { return tracker_.counts().uncovered; }

private:
    // Bound of a repeated step, as a multiple of the motion that was not covered.
    static constexpr double WIDER = 1.25;

    static feeler::TrackerOptions options() {
        feeler::TrackerOptions options = feeler::tracker_options();
        options.reach = 0;
        return options;
    }

    feeler::ContactTracker tracker_;
    feeler::Mass mass_;
    Arguments args_;
};

// Triangle mesh of a solid, in coordinates of the body of ODE.
struct Triangles {
    std::vector<double> points;
    std::vector<dTriIndex> corners;
    dTriMeshDataID data = dGeomTriMeshDataCreate();

    Triangles(const feeler::Body &body, double chord, const double *origin) {
        const feeler::Mesh mesh(body, chord);
        const FeelerMeshData m = mesh.data();
        for (std::size_t i = 0; i < m.point_count; ++i)
            for (std::size_t k = 0; k < 3; ++k) points.push_back((m.points[3 * i + k] - origin[k]) * METRES);
        for (std::size_t i = 0; i < 3 * m.triangle_count; ++i) corners.push_back(m.welded[m.triangles[i]]);
        dGeomTriMeshDataBuildDouble(data, points.data(), 3 * sizeof(double), static_cast<int>(m.point_count),
            corners.data(), static_cast<int>(corners.size()), 3 * sizeof(dTriIndex));
    }
    Triangles(const Triangles &) = delete;
    Triangles &operator=(const Triangles &) = delete;
    ~Triangles() { dGeomTriMeshDataDestroy(data); }
};

// Measures the depth of the exact solids. Shallow queries are first, because deep ones take longer.
class DepthMeter {
public:
    DepthMeter(const feeler::Body &a, const feeler::Body &b) : pair_(a, b) {
        // At a depth beyond half the thickness, contacts of the two sides cannot be distinguished.
        thick_ = 0.45 * (a.info().min_thickness + b.info().min_thickness);
    }
    void measure(const feeler::Pose &pose, Row &row) {
        for (const double depth : {std::min(0.05, thick_), thick_}) {
            feeler::QueryOptions options = feeler::within(0);
            options.penetration = depth;
            double deepest = 0;
            for (const auto &c : pair_.query(feeler::identity(), pose, options))
                deepest = std::min(deepest, c.distance);
            row.deepest = std::min(row.deepest, deepest);
            if (deepest < 0 || pair_.status() != FEELER_STATUS_INTERFERING) return;
        }
        row.lost += 1;
    }

private:
    feeler::ContactPair pair_;
    double thick_;
};

double energy(dBodyID body, const dReal *gravity) {
    dMass m;
    dBodyGetMass(body, &m);
    const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body), *x = dBodyGetPosition(body);
    dVector3 own; // rotation in the body's coordinates, as its inertia
    dBodyVectorFromWorld(body, w[0], w[1], w[2], own);
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += 0.5 * m.mass * v[i] * v[i] - m.mass * gravity[i] * x[i];
        for (int k = 0; k < 3; ++k) sum += 0.5 * own[i] * m.I[4 * i + k] * own[k];
    }
    return sum;
}

// Maximum number of contacts of two meshes.
const int MESH_CONTACTS = 256;

// Releases the part. A chord of 0 means exact contacts.
Row run(const feeler::Body &a, const feeler::Body &b, const Arguments &args, double chord) {
    const feeler::Mass mass = b.mass(STEEL);
    const FeelerBodyInfo info = b.info();
    double size = 0;
    for (int k = 0; k < 3; ++k) size += std::pow(info.bbox_max[k] - info.bbox_min[k], 2);
    size = std::sqrt(size) * METRES;

    const dWorldID world = dWorldCreate();
    const double g = 9.81 / std::sqrt(0.3 * 0.3 + 0.1 * 0.1 + 1);
    dWorldSetGravity(world, 0.3 * g, -0.1 * g, -g);
    dVector3 gravity;
    dWorldGetGravity(world, gravity);
    const dBodyID body = dBodyCreate(world);
    set_mass(body, mass);
    place(body, mass, args.pose);
    dBodySetFiniteRotationMode(body, 1);

    Exact exact(a, b, mass, args);
    DepthMeter depth_meter(a, b);
    const double origin[3] = {0, 0, 0};
    std::unique_ptr<const Triangles> of_a, of_b;
    dGeomID geom_a = nullptr, geom_b = nullptr;
    if (chord > 0) {
        of_a = std::make_unique<const Triangles>(a, chord, origin);
        of_b = std::make_unique<const Triangles>(b, chord, mass.centroid);
        geom_a = dCreateTriMesh(nullptr, of_a->data, nullptr, nullptr, nullptr);
        geom_b = dCreateTriMesh(nullptr, of_b->data, nullptr, nullptr, nullptr);
        dGeomSetBody(geom_b, body);
    }

    Row row;
    std::vector<dContact> joints;
    std::vector<dJointFeedback> loads;
    std::vector<dContactGeom> found(MESH_CONTACTS);
    std::map<std::uint64_t, std::vector<double>> points; // by id: footpoint of a contact in own coordinates
    const double begin = energy(body, gravity);
    const int steps = static_cast<int>(std::lround(args.seconds / args.step));
    double seconds = 0, carried[3] = {0, 0, 0};
    int rested = 0;
    for (int k = 0; k < steps; ++k) {
        const bool rests = k >= steps - steps / 5;
        dVector3 spin;
        std::copy_n(dBodyGetAngularVel(body), 3, spin);

        const auto clock = std::chrono::steady_clock::now();
        if (chord > 0) {
            joints.clear();
            const int n = dCollide(geom_b, geom_a, MESH_CONTACTS, found.data(), sizeof(dContactGeom));
            for (int i = 0; i < n; ++i) {
                dContact c{};
                c.surface = surface(args);
                c.geom = found[static_cast<std::size_t>(i)];
                joints.push_back(c);
            }
            // The direct solver fails for this number of contacts.
            step(world, body, joints, loads, args.step, true);
            row.rounds += 1;
        } else {
            row.rounds += exact.step(world, body, joints, loads);
        }
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count();

        row.most = std::max(row.most, joints.size());
        row.energy = std::max(row.energy, (energy(body, gravity) - begin) / (mass.mass * 9.81 * size));
        depth_meter.measure(pose_of(body, mass), row);
        if (!rests) continue;
        rested += 1;
        const dReal *w = dBodyGetAngularVel(body);
        for (int i = 0; i < 3; ++i) row.shaken += std::pow((w[i] - spin[i]) / args.step, 2);
        for (const dJointFeedback &load : loads)
            for (int i = 0; i < 3; ++i) carried[i] += load.f1[i];
        std::map<std::uint64_t, std::vector<double>> now;
        for (const auto &c : exact.contacts()) {
            now[c.id].assign(c.local_b, c.local_b + 3);
            const auto then = points.find(c.id);
            if (then == points.end()) continue;
            double moved = 0;
            for (std::size_t i = 0; i < 3; ++i) moved += std::pow(c.local_b[i] - then->second[i], 2);
            row.points = std::max(row.points, 1e3 * std::sqrt(moved));
        }
        points.swap(now);
    }
    row.rounds /= steps;
    row.uncovered = static_cast<int>(exact.uncovered());
    row.ms = 1e3 * seconds / steps;
    row.shaken = std::sqrt(row.shaken / std::max(1, rested));
    for (int i = 0; i < 3; ++i) {
        const double off = carried[i] / std::max(1, rested) / mass.mass + gravity[i];
        row.carried += off * off / (9.81 * 9.81);
    }
    row.carried = std::sqrt(row.carried);

    if (chord > 0) {
        dGeomDestroy(geom_a);
        dGeomDestroy(geom_b);
        of_a.reset();
        of_b.reset();
    }
    dWorldDestroy(world);
    return row;
}

int messages = 0;

// Counts the messages of ODE about collisions of meshes with too many contacts.
void count_message(int, const char *, va_list) { messages += 1; }

feeler::Body load(const std::string &path) {
    const std::string end = ".feeler";
    const bool is_prepared = path.size() > end.size() && path.substr(path.size() - end.size()) == end;
    return feeler::Body(is_prepared ? feeler::Model::read(path) : feeler::prepare_step(path));
}

[[noreturn]] void usage(const std::string &wrong) {
    std::fprintf(stderr,
        "%s\nusage: ode [FIXED MOVING] [--pose X Y Z QX QY QZ QW] [--seconds S] [--step S] [--farthest MM] "
        "[--erp E] [--cfm C] [--friction MU] [--rounds N] [--mesh CHORD]...\n",
        wrong.c_str());
    std::exit(2);
}

Arguments read(int argc, char **argv) {
    Arguments args;
    std::vector<std::string> files;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        const auto number = [&](bool may_be_any = false) {
            char *end = nullptr;
            const double x = ++i < argc ? std::strtod(argv[i], &end) : NAN;
            if (!end || *end || !std::isfinite(x) || (x < 0 && !may_be_any))
                usage(option + ": a valid number is missing");
            return x;
        };
        if (option == "--pose") {
            for (double &x : args.pose.translation) x = number(true);
            for (double &x : args.pose.rotation) x = number(true);
        } else if (option == "--seconds") args.seconds = number();
        else if (option == "--step") args.step = number();
        else if (option == "--farthest") args.farthest = number();
        else if (option == "--erp") args.erp = number();
        else if (option == "--cfm") args.cfm = number();
        else if (option == "--rounds") args.rounds = static_cast<int>(std::max(1.0, number()));
        else if (option == "--friction") args.friction = number();
        else if (option == "--mesh") args.meshes.push_back(number());
        else if (option.rfind("--", 0) == 0) usage(option + " is not an option");
        else files.push_back(option);
    }
    if (!files.empty() && files.size() != 2) usage("give two files or no file");
    if (args.step <= 0 || args.seconds < 10 * args.step) usage("give at least ten steps");
    if (std::count(args.meshes.begin(), args.meshes.end(), 0)) usage("--mesh: give a chord above 0");
    if (!files.empty()) {
        args.fixed = files[0];
        args.moving = files[1];
    }
    return args;
}

} // namespace

int main(int argc, char **argv) try {
    const Arguments args = read(argc, argv);
    const feeler::Body a = load(args.fixed), b = load(args.moving);
    dInitODE2(0);
    if (!dCheckConfiguration("ODE_double_precision")) {
        std::fprintf(stderr, "ODE was built in single precision: use a build in double precision\n");
        return 2;
    }
    dSetMessageHandler(count_message);
    std::printf("contacts from    most  rounds  uncovered  ms mean  deepest mm  lost   energy  points um   rad/s2"
                "  carried\n");
    std::vector<double> chords = args.meshes;
    chords.insert(chords.begin(), 0);
    bool is_right = true;
    for (const double chord : chords) {
        const Row r = run(a, b, args, chord);
        char source[32] = "exact", points[32] = "-"; // contacts of meshes have no ids
        if (chord > 0) std::snprintf(source, sizeof source, "mesh %g mm", chord);
        else std::snprintf(points, sizeof points, "%.3g", r.points);
        std::printf("%-14s  %5zu  %6.3f  %9d  %7.3f  %10.2e  %4d  %7.0e  %9s  %7.3g  %7.1e\n", source, r.most,
            r.rounds, r.uncovered, r.ms, r.deepest, r.lost, r.energy, points, r.shaken, r.carried);
        if (messages > 0) std::printf("    %d messages of ODE\n", messages);
        std::fflush(stdout);
        messages = 0;
        if (chord == 0)
            is_right = r.most > 0 && r.lost == 0 && r.deepest >= -MAX_DEPTH && r.energy <= MAX_ENERGY_INCREASE &&
                       r.points <= MAX_POINT_DRIFT && r.carried <= MAX_FORCE_ERROR;
    }
    dCloseODE();
    return is_right ? 0 : 1;
} catch (const feeler::Error &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
}
