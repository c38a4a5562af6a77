// A part that is released in another one under tilted gravity, in ODE, with exact contacts and with ODE's own
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

static_assert(sizeof(dReal) == sizeof(double), "micrometres of a metre want ODE in double precision");

namespace {

// Limits for exact contacts.
const double DEEPEST = 0.01;  // mm
const double ENERGY = 1e-4;   // of weight times size
const double POINTS = 1.0;    // um a step, at rest
const double CARRIED = 0.01;  // of the weight, at rest

const double STEEL = 7850;    // kg/m3
const double METRES = 1e-3;   // a millimetre

struct Asked {
    std::string fixed = "data/blind-bore.step", moving = "data/pin.step";
    feeler::Pose pose = feeler::translation(0, 0, 30);
    double seconds = 1, step = 1e-3;
    double farthest = 0.5;  // mm: largest displacement of a step
    double erp = 0.2;       // part of a penetration that a step takes back
    double cfm = 1e-9;      // softness of contacts, m/(N s): keeps many parallel contacts solvable
    double friction = 0;
    int rounds = 8;         // of a step at most
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
        body, -mass.center[0] * METRES, -mass.center[1] * METRES, -mass.center[2] * METRES, origin);
    const dReal *q = dBodyGetQuaternion(body); // w first
    return {{origin[0] / METRES, origin[1] / METRES, origin[2] / METRES}, {q[1], q[2], q[3], q[0]}};
}

void place(dBodyID body, const feeler::Mass &mass, const feeler::Pose &pose) {
    const dQuaternion q = {pose.rotation[3], pose.rotation[0], pose.rotation[1], pose.rotation[2]};
    dBodySetQuaternion(body, q);
    dVector3 center;
    dBodyVectorToWorld(body, mass.center[0], mass.center[1], mass.center[2], center);
    const double *t = pose.translation;
    dBodySetPosition(
        body, (t[0] + center[0]) * METRES, (t[1] + center[1]) * METRES, (t[2] + center[2]) * METRES);
}

void weigh(dBodyID body, const feeler::Mass &mass) {
    const double *i = mass.inertia;
    const double u = METRES * METRES;
    dMass m;
    dMassSetParameters(
        &m, mass.mass, 0, 0, 0, i[0] * u, i[4] * u, i[8] * u, i[1] * u, i[2] * u, i[5] * u);
    dBodySetMass(body, &m);
}

dSurfaceParameters surface(const Asked &asked) {
    dSurfaceParameters s{};
    s.mode = dContactSoftERP | dContactSoftCFM | dContactApprox1;
    s.soft_erp = asked.erp;
    s.soft_cfm = asked.cfm;
    s.mu = asked.friction;
    return s;
}

// A contact that pushes the moving body along the normal of the fixed one. ODE treats an open contact as a
// closed one: its gap is given as a velocity along the normal.
dContact joint(const feeler::StepContact &found, const Asked &asked) {
    dContact out{};
    out.surface = surface(asked);
    for (int k = 0; k < 3; ++k) {
        out.geom.pos[k] = 0.5 * (found.point_a[k] + found.point_b[k]) * METRES;
        out.geom.normal[k] = found.normal[k];
    }
    out.geom.depth = std::max(0.0, -found.gap) * METRES;
    out.surface.mode |= dContactMotionN;
    out.surface.motionN = -std::max(0.0, found.gap) * METRES / asked.step;
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
    Exact(const feeler::Body &a, const feeler::Body &b, const feeler::Mass &mass, const Asked &asked)
        : tracker_(a, b, options()), mass_(mass), asked_(asked) {}

    // Makes a step; returns the number of rounds.
    int step(dWorldID world, dBodyID body, std::vector<dContact> &joints, std::vector<dJointFeedback> &loads) {
        const State start(body);
        const feeler::Pose pose = pose_of(body, mass_);
        dVector3 g;
        dWorldGetGravity(world, g);
        const double forced = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * asked_.step * asked_.step;
        feeler::StepBound bound =
            tracker_.expected_bound(feeler::identity(), pose, forced / METRES, asked_.farthest);
        for (int round = 1;; ++round) {
            tracker_.update(feeler::identity(), pose, bound);
            joints.clear();
            for (const auto &c : tracker_.contacts())
                if (c.is_active) joints.push_back(joint(c, asked_));
            ::step(world, body, joints, loads, asked_.step, false);
            const feeler::Pose end = pose_of(body, mass_);
            if (round >= asked_.rounds || tracker_.covers(feeler::identity(), end)) return round;
            // The contacts do not suffice for this motion.
            const feeler::StepBound made = tracker_.motion_to(feeler::identity(), end);
            bound.rotation = std::max(bound.rotation, WIDER * made.rotation);
            bound.displacement = std::max(bound.displacement, WIDER * made.displacement);
            start.restore(body);
        }
    }
    const std::vector<feeler::StepContact> &contacts() const { return tracker_.contacts(); }
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
    Asked asked_;
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

// Depth of the exact solids; shallow queries are first, because deep ones take longer.
class Judge {
public:
    Judge(const feeler::Body &a, const feeler::Body &b) : pair_(a, b) {
        // Beyond the thickness of walls, contacts of both sides are not distinguishable.
        thick_ = 0.45 * (a.info().wall + b.info().wall);
    }
    void look(const feeler::Pose &pose, Row &row) {
        for (const double depth : {std::min(0.05, thick_), thick_}) {
            feeler::Options options = feeler::within(0);
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
Row run(const feeler::Body &a, const feeler::Body &b, const Asked &asked, double chord) {
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
    weigh(body, mass);
    place(body, mass, asked.pose);
    dBodySetFiniteRotationMode(body, 1);

    Exact exact(a, b, mass, asked);
    Judge judge(a, b);
    const double origin[3] = {0, 0, 0};
    std::unique_ptr<const Triangles> of_a, of_b;
    dGeomID geom_a = nullptr, geom_b = nullptr;
    if (chord > 0) {
        of_a = std::make_unique<const Triangles>(a, chord, origin);
        of_b = std::make_unique<const Triangles>(b, chord, mass.center);
        geom_a = dCreateTriMesh(nullptr, of_a->data, nullptr, nullptr, nullptr);
        geom_b = dCreateTriMesh(nullptr, of_b->data, nullptr, nullptr, nullptr);
        dGeomSetBody(geom_b, body);
    }

    Row row;
    std::vector<dContact> joints;
    std::vector<dJointFeedback> loads;
    std::vector<dContactGeom> found(MESH_CONTACTS);
    std::map<std::uint64_t, std::vector<double>> points; // by number: where a contact was on its solid
    const double begin = energy(body, gravity);
    const int steps = static_cast<int>(std::lround(asked.seconds / asked.step));
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
                c.surface = surface(asked);
                c.geom = found[static_cast<std::size_t>(i)];
                joints.push_back(c);
            }
            // The direct solver fails for this number of contacts.
            step(world, body, joints, loads, asked.step, true);
            row.rounds += 1;
        } else {
            row.rounds += exact.step(world, body, joints, loads);
        }
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count();

        row.most = std::max(row.most, joints.size());
        row.energy = std::max(row.energy, (energy(body, gravity) - begin) / (mass.mass * 9.81 * size));
        judge.look(pose_of(body, mass), row);
        if (!rests) continue;
        rested += 1;
        const dReal *w = dBodyGetAngularVel(body);
        for (int i = 0; i < 3; ++i) row.shaken += std::pow((w[i] - spin[i]) / asked.step, 2);
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
    return feeler::Body(is_prepared ? feeler::Model::read(path) : feeler::Model::prepare_step(path));
}

[[noreturn]] void usage(const std::string &wrong) {
    std::fprintf(stderr,
        "%s\nusage: ode [FIXED MOVING] [--pose X Y Z QX QY QZ QW] [--seconds S] [--step S] [--farthest MM] "
        "[--erp E] [--cfm C] [--friction MU] [--rounds N] [--mesh CHORD]...\n",
        wrong.c_str());
    std::exit(2);
}

Asked read(int argc, char **argv) {
    Asked asked;
    std::vector<std::string> files;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        const auto number = [&](bool may_be_any = false) {
            char *end = nullptr;
            const double x = ++i < argc ? std::strtod(argv[i], &end) : NAN;
            if (!end || *end || !std::isfinite(x) || (x < 0 && !may_be_any))
                usage(option + ": a number is missing or makes no sense");
            return x;
        };
        if (option == "--pose") {
            for (double &x : asked.pose.translation) x = number(true);
            for (double &x : asked.pose.rotation) x = number(true);
        } else if (option == "--seconds") asked.seconds = number();
        else if (option == "--step") asked.step = number();
        else if (option == "--farthest") asked.farthest = number();
        else if (option == "--erp") asked.erp = number();
        else if (option == "--cfm") asked.cfm = number();
        else if (option == "--rounds") asked.rounds = static_cast<int>(std::max(1.0, number()));
        else if (option == "--friction") asked.friction = number();
        else if (option == "--mesh") asked.meshes.push_back(number());
        else if (option.rfind("--", 0) == 0) usage(option + " is not an option");
        else files.push_back(option);
    }
    if (!files.empty() && files.size() != 2) usage("give two files, or none");
    if (asked.step <= 0 || asked.seconds < 10 * asked.step) usage("give at least ten steps");
    if (std::count(asked.meshes.begin(), asked.meshes.end(), 0)) usage("--mesh: give a chord above 0");
    if (!files.empty()) {
        asked.fixed = files[0];
        asked.moving = files[1];
    }
    return asked;
}

} // namespace

int main(int argc, char **argv) try {
    const Asked asked = read(argc, argv);
    const feeler::Body a = load(asked.fixed), b = load(asked.moving);
    dInitODE2(0);
    if (!dCheckConfiguration("ODE_double_precision")) {
        std::fprintf(stderr, "this ODE is of single precision: take one of double precision\n");
        return 2;
    }
    dSetMessageHandler(count_message);
    std::printf("contacts from    most  rounds  uncovered  ms mean  deepest mm  lost   energy  points um   rad/s2"
                "  carried\n");
    std::vector<double> chords = asked.meshes;
    chords.insert(chords.begin(), 0);
    bool is_right = true;
    for (const double chord : chords) {
        const Row r = run(a, b, asked, chord);
        char source[32] = "exact", points[32] = "-"; // contacts of meshes have no numbers
        if (chord > 0) std::snprintf(source, sizeof source, "mesh %g mm", chord);
        else std::snprintf(points, sizeof points, "%.3g", r.points);
        std::printf("%-14s  %5zu  %6.3f  %9d  %7.3f  %10.2e  %4d  %7.0e  %9s  %7.3g  %7.1e\n", source, r.most,
            r.rounds, r.uncovered, r.ms, r.deepest, r.lost, r.energy, points, r.shaken, r.carried);
        if (messages > 0) std::printf("    ODE has complained %d times\n", messages);
        std::fflush(stdout);
        messages = 0;
        if (chord == 0)
            is_right = r.most > 0 && r.lost == 0 && r.deepest >= -DEEPEST && r.energy <= ENERGY &&
                       r.points <= POINTS && r.carried <= CARRIED;
    }
    dCloseODE();
    return is_right ? 0 : 1;
} catch (const feeler::Error &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
}
