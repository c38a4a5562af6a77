/* feeler: exact contact and clearance between CAD solids. Made from crates/feeler-capi; not to be edited.
 *
 * Lengths are millimetres, angles radians. Every function returns a FeelerResult unless it cannot fail;
 * feeler_last_error says what went wrong. Models, bodies and meshes may be read by any number of threads at
 * once; a pair, a tracker or a scene belong to one thread at a time. */

#ifndef FEELER_H
#define FEELER_H

#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>

/*
 Layout of all structs and meaning of all functions; it grows when either changes.
 */
#define FEELER_ABI_VERSION 1

/*
 How a call ended; [`feeler_last_error`] says more.
 */
typedef enum FeelerResult {
  /*
   Everything was done.
   */
  FEELER_RESULT_OK = 0,
  /*
   An argument is NULL that must not be, a text is not UTF-8, a struct has no size.
   */
  FEELER_RESULT_ARGUMENT = 1,
  /*
   A file or its bytes cannot be read, prepared or written.
   */
  FEELER_RESULT_FILE = 2,
  /*
   A solid cannot be queried, or there is none of this number.
   */
  FEELER_RESULT_BODY = 3,
  /*
   Options, poses or curves that are not valid, coordinates whose rounding exceeds a tenth of the
   tolerance, or solids that are too thin for the options.
   */
  FEELER_RESULT_QUERY = 4,
  /*
   A body or a curve that is not in the scene, or may not be as asked.
   */
  FEELER_RESULT_SCENE = 5,
  /*
   A mistake in the library: please report it. The handle that was used answers no more queries.
   */
  FEELER_RESULT_PANIC = 6,
} FeelerResult;

/*
 How two solids stand to one another.
 */
typedef enum FeelerStatus {
  /*
   They are apart.
   */
  FEELER_STATUS_SEPARATED = 0,
  /*
   The smallest distance is below the tolerance.
   */
  FEELER_STATUS_TOUCHING = 1,
  /*
   The interiors meet.
   */
  FEELER_STATUS_INTERFERING = 2,
  /*
   The work allowed for one query ran out.
   */
  FEELER_STATUS_UNDECIDED = 3,
  /*
   Not asked, or not near.
   */
  FEELER_STATUS_UNKNOWN = 4,
} FeelerStatus;

/*
 What became of a contact.
 */
typedef enum FeelerEventKind {
  /*
   It was not there in the step before.
   */
  FEELER_EVENT_KIND_BEGAN = 0,
  /*
   It was, and is.
   */
  FEELER_EVENT_KIND_PERSISTED = 1,
  /*
   It was, and is no more.
   */
  FEELER_EVENT_KIND_ENDED = 2,
} FeelerEventKind;

/*
 Status of two bodies by the signed gaps of their contacts.
 */
typedef enum FeelerTrackedStatus {
  /*
   Every gap is above the tolerance.
   */
  FEELER_TRACKED_STATUS_SEPARATED = 0,
  /*
   The smallest gap is within the tolerance.
   */
  FEELER_TRACKED_STATUS_TOUCHING = 1,
  /*
   A contact is pressed.
   */
  FEELER_TRACKED_STATUS_PRESSED = 2,
  /*
   A contact is pressed deeper than the option `max_depth`; it is kept.
   */
  FEELER_TRACKED_STATUS_DEEP = 3,
  /*
   The verdict is interference, and no contact within the largest depth has a negative gap.
   */
  FEELER_TRACKED_STATUS_INTERFERING = 4,
  /*
   There was no update, or the last one has failed.
   */
  FEELER_TRACKED_STATUS_UNKNOWN = 5,
} FeelerTrackedStatus;

/*
 Kind of a contact of a step.
 */
typedef enum FeelerStepContactKind {
  /*
   A local minimum, or a corner of a conformal set.
   */
  FEELER_STEP_CONTACT_KIND_STRICT = 0,
  /*
   A minimum with polars dilated by what the step can turn them.
   */
  FEELER_STEP_CONTACT_KIND_QUASI = 1,
  /*
   A point at fixed parameters of one of two nearly conformal features.
   */
  FEELER_STEP_CONTACT_KIND_SAMPLE = 2,
  /*
   A quasi-minimum beyond a concave edge of a face.
   */
  FEELER_STEP_CONTACT_KIND_EXTENDED = 3,
} FeelerStepContactKind;

/*
 A solid, ready for queries.
 */
typedef struct FeelerBody FeelerBody;

/*
 Curves that deform among solids that move.
 */
typedef struct FeelerCurveScene FeelerCurveScene;

/*
 A solid that particles meet, without triangles, and what was learnt of the particles near it.
 */
typedef struct FeelerExactWall FeelerExactWall;

/*
 Triangles of a solid, in its own coordinates.
 */
typedef struct FeelerMesh FeelerMesh;

/*
 What a file holds: solids, and where they stand.
 */
typedef struct FeelerModel FeelerModel;

/*
 Two bodies and everything their queries reuse.
 */
typedef struct FeelerPair FeelerPair;

/*
 Many bodies that move together.
 */
typedef struct FeelerScene FeelerScene;

/*
 Contacts of two bodies, with numbers that last from step to step.
 */
typedef struct FeelerTracker FeelerTracker;

/*
 Facts about a solid, in its own coordinates.
 */
typedef struct FeelerBodyInfo {
  /*
   `sizeof(FeelerBodyInfo)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   0: an open surface, which has no mass.
   */
  uint32_t has_mass;
  /*
   Smallest coordinates (mm).
   */
  double bbox_min[3];
  /*
   Largest coordinates (mm).
   */
  double bbox_max[3];
  /*
   Area (mm²).
   */
  double area;
  /*
   Volume (mm³), of density 1 the mass.
   */
  double volume;
  /*
   Centre of mass (mm).
   */
  double centroid[3];
  /*
   Inertia tensor (mm⁵) about the centre of mass, of density 1, by rows.
   */
  double inertia[9];
  /*
   Smallest thickness of the material (mm) or less; 0 of a sheet and where it is not known.
   */
  double min_thickness;
  /*
   Supermaximal faces, edges and vertices.
   */
  uint32_t features[3];
  /*
   0.
   */
  uint32_t reserved;
} FeelerBodyInfo;

/*
 What an engine wants to know of a solid of one density, in its own coordinates: kilograms and
 millimetres.
 */
typedef struct FeelerMass {
  /*
   `sizeof(FeelerMass)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   0.
   */
  uint32_t reserved;
  /*
   kg.
   */
  double mass;
  /*
   Centre of mass (mm).
   */
  double center[3];
  /*
   Inertia tensor (kg mm²) about the centre of mass, by rows.
   */
  double inertia[9];
} FeelerMass;

/*
 What a scene of curves looks for. Fill it with `FEELER_CURVE_OPTIONS_INIT` or
 `feeler_curve_options_init`, then change what is to be other than the defaults.
 */
typedef struct FeelerCurveOptions {
  /*
   `sizeof(FeelerCurveOptions)`.
   */
  uint32_t struct_size;
  /*
   Most samples of a stretch of equal distance, at least 2; default 16.
   */
  uint32_t max_samples;
  /*
   Largest gap (mm) of minima that are told; default 1.
   */
  double d_max;
  /*
   Stretches on which the distance changes by less than this with length (mm per mm) are sets of equal
   distance, told by samples; default 1e-6. Larger values make tubes that lie side by side one contact
   sooner.
   */
  double level_slope;
  /*
   Length (mm) from which on a level stretch is a set and not a minimum; negative, the default: the
   larger of the sum of the radii and a hundredth of the smaller curve's size.
   */
  double level_length;
} FeelerCurveOptions;

/*
 A rigid motion: takes coordinates of a solid to those of the world.
 */
typedef struct FeelerPose {
  /*
   mm.
   */
  double translation[3];
  /*
   Quaternion x, y, z, w; of norm 1 up to 1e-3, it is normalised.
   */
  double rotation[4];
} FeelerPose;

/*
 A local minimum of the distance between a curve and another one, itself or a solid, in world coordinates
 and millimetres. The curve is A.
 */
typedef struct FeelerCurveContact {
  /*
   0 two curves, 1 a curve and itself, 2 a curve and a solid.
   */
  uint32_t kind;
  /*
   Id of the curve; of two the smaller one.
   */
  uint32_t curve;
  /*
   Id of the other curve, or of the body.
   */
  uint32_t other;
  /*
   Which solid of the body; 0 of curves.
   */
  uint32_t part;
  /*
   Parameters on both curves, from 0 to the number of pieces; of a curve and itself the smaller one comes
   first. The second one is NaN for a solid.
   */
  double u[2];
  /*
   The point of the curve (its tube's is a radius away along the normal).
   */
  double point_a[3];
  /*
   The point of the other curve (its tube's is a radius away against the normal), or of the solid.
   */
  double point_b[3];
  /*
   Unit vector, `point_b - point_a = distance * normal`. Where curves cross it is orthogonal to both, its
   sign without meaning.
   */
  double normal[3];
  /*
   Distance of the points; negative where the curve is inside the solid.
   */
  double distance;
  /*
   Distance of the tubes, or of the tube and the solid; negative where they overlap.
   */
  double gap;
  /*
   What of the curves it lies on: 0 inside a piece, 1 a corner, 2 a free end. The second one is 0 for a
   solid.
   */
  uint32_t place[2];
  /*
   For a solid: 0 a face, 1 an edge, 2 a vertex; else `UINT32_MAX`.
   */
  uint32_t feature_kind;
  /*
   Number among the features of this kind; else `UINT32_MAX`.
   */
  uint32_t feature;
  /*
   The same number for all samples of one stretch of equal distance of this curve and this other;
   `UINT32_MAX` for what is no sample.
   */
  uint32_t set;
  /*
   0.
   */
  uint32_t reserved;
  /*
   Stays the same from step to step while the minimum moves on.
   */
  uint64_t id;
} FeelerCurveContact;

/*
 A stretch on which a curve is bent more than its radius allows: its tube overlaps itself there, though
 its distance from itself has no minimum.
 */
typedef struct FeelerTightBend {
  /*
   Id of the curve.
   */
  uint32_t curve;
  /*
   0.
   */
  uint32_t reserved;
  /*
   The parameters between which the curvature is too large.
   */
  double range[2];
  /*
   Where it was found to be largest.
   */
  double u;
  /*
   How large it is there (1/mm); infinite at a cusp.
   */
  double curvature;
} FeelerTightBend;

/*
 A place where a particle and an exact wall are near, in world coordinates and millimetres.
 */
typedef struct FeelerWallContact {
  /*
   The same as long as the contact stays on its feature of the wall: what friction remembers belongs to
   it and to the particle.
   */
  uint64_t id;
  /*
   The particle, by its place in the arrays.
   */
  uint32_t particle;
  /*
   0.
   */
  uint32_t reserved;
  /*
   The wall's point.
   */
  double point[3];
  /*
   Unit normal from the wall to the particle.
   */
  double normal[3];
  /*
   How far the surfaces are apart along the normal; negative where the particle is pressed in.
   */
  double gap;
  /*
   Principal curvatures of the wall (1/mm), the larger one first, positive where it bulges towards the
   particle; infinite across an edge, and both at a vertex.
   */
  double curvatures[2];
} FeelerWallContact;

/*
 Where the data of a mesh is; it lives as long as the mesh.
 */
typedef struct FeelerMeshData {
  /*
   `sizeof(FeelerMeshData)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Sides of triangles without a partner: 0 where the mesh is closed.
   */
  uint32_t open_sides;
  /*
   Largest distance (mm) found between a triangle and its surface.
   */
  double deviation;
  /*
   Number of vertices.
   */
  size_t point_count;
  /*
   Number of triangles.
   */
  size_t triangle_count;
  /*
   Coordinates (mm): three of each vertex. Each face has vertices of its own.
   */
  const double *points;
  /*
   Outward unit normals: three numbers of each vertex.
   */
  const double *normals;
  /*
   For each vertex the first one in the same place.
   */
  const uint32_t *welded;
  /*
   Three vertices of each triangle, counter-clockwise from outside.
   */
  const uint32_t *triangles;
  /*
   For each triangle its supermaximal face: `feature.index` of contacts.
   */
  const uint32_t *faces;
} FeelerMeshData;

/*
 A solid in its place.
 */
typedef struct FeelerInstance {
  /*
   `sizeof(FeelerInstance)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Number of the solid.
   */
  uint32_t solid;
  /*
   Takes its coordinates to the model's.
   */
  struct FeelerPose pose;
} FeelerInstance;

/*
 What a query is asked for. Fill it with `FEELER_OPTIONS_INIT` or `feeler_options_init`, then change what
 is to be other than the defaults.
 */
typedef struct FeelerOptions {
  /*
   `sizeof(FeelerOptions)`.
   */
  uint32_t struct_size;
  /*
   Not 0: share the work out among threads. The same bits.
   */
  uint8_t parallel;
  /*
   When the verdict is computed. 0: never. 1 (default): in every query. 2: only if no contact has a
   negative gap (with `penetration` above 0), because such a contact explains the interference;
   `feeler_pair_decide` computes the verdict on demand.
   */
  uint8_t decide;
  /*
   Not 0: prove that no minimum of splines is missing.
   */
  uint8_t certified;
  /*
   Not read.
   */
  uint8_t reserved;
  /*
   Largest distance (mm) of interest; default 1.
   */
  double d_max;
  /*
   Angle (rad) by which polars of edges and vertices are dilated, 0 for no quasi-minima.
   */
  double quasi_angle;
  /*
   Implicit dilation of A (mm): only the gap knows of it.
   */
  double dilation_a;
  /*
   Implicit dilation of B (mm).
   */
  double dilation_b;
  /*
   Lengths (mm) below this are zero; 0: 1e-7 of the size.
   */
  double tolerance;
  /*
   Largest depth (mm) of contacts at negative distances.
   */
  double penetration;
  /*
   Largest spacing (mm) of samples of conformal sets; 0: a quarter of a set's extent.
   */
  double conformal_spacing;
} FeelerOptions;

/*
 A place on a solid.
 */
typedef struct FeelerFeature {
  /*
   0 a face, 1 an edge, 2 a vertex.
   */
  uint32_t kind;
  /*
   Number among the features of this kind.
   */
  uint32_t index;
  /*
   Entity number in the STEP file; 0: none.
   */
  uint64_t source;
  /*
   Parameters there.
   */
  double uv[2];
} FeelerFeature;

/*
 A local minimal distance, in world coordinates and millimetres.
 */
typedef struct FeelerContact {
  /*
   Signed distance, negative where the footpoints are pressed into the other solid.
   */
  double distance;
  /*
   `distance` less both dilations.
   */
  double gap;
  /*
   Footpoint on A.
   */
  double point_a[3];
  /*
   Footpoint on B.
   */
  double point_b[3];
  /*
   Footpoint on A in A's own coordinates.
   */
  double local_a[3];
  /*
   Footpoint on B in B's own coordinates.
   */
  double local_b[3];
  /*
   Unit vector, `point_b - point_a = distance * normal`: outward of A.
   */
  double normal[3];
  /*
   Smallest and largest normal curvature (1/mm) of A, positive where it bulges, infinite across edges.
   */
  double curvature_a[2];
  /*
   The same of B.
   */
  double curvature_b[2];
  /*
   Stays the same from query to query while the minimum stays on its features; fits a double.
   */
  uint64_t id;
  /*
   Queries in a row that have found it before.
   */
  uint32_t age;
  /*
   0 strict, 1 quasi, 2 a sample of a conformal set.
   */
  uint8_t kind;
  /*
   Not 0: the solver stopped above round-off, or in a certified query completeness is not proven.
   */
  uint8_t undecided;
  /*
   0.
   */
  uint8_t reserved[2];
  /*
   Where the footpoint is on A.
   */
  struct FeelerFeature feature_a;
  /*
   Where the footpoint is on B.
   */
  struct FeelerFeature feature_b;
} FeelerContact;

/*
 How two solids stood in the last query, with what proves it.
 */
typedef struct FeelerVerdict {
  /*
   `sizeof(FeelerVerdict)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   The outcome.
   */
  enum FeelerStatus status;
  /*
   Smallest distance (mm) of a minimum; infinite where none was within `d_max`.
   */
  double distance;
  /*
   Lengths below this (mm) were zero.
   */
  double tolerance;
  /*
   Of interfering solids: a point inside both, world.
   */
  double witness[3];
  /*
   Lower bound of its distance (mm) to the boundary of A. No translation shorter than `inside_a +
   inside_b` parts the solids.
   */
  double inside_a;
  /*
   The same for B.
   */
  double inside_b;
  /*
   Places where interference could not be decided.
   */
  uint32_t undecided_places;
  /*
   In a certified query: solves that may have more minima than were found.
   */
  uint32_t undecided_solves;
} FeelerVerdict;

/*
 A minimum of a pair of bodies of a scene.
 */
typedef struct FeelerSceneContact {
  /*
   Ids of the bodies, ascending; the first one is A.
   */
  uint32_t bodies[2];
  /*
   Which of their solids.
   */
  uint32_t parts[2];
  /*
   The minimum.
   */
  struct FeelerContact contact;
} FeelerSceneContact;

/*
 A contact that has come, stayed or gone in a step.
 */
typedef struct FeelerEvent {
  /*
   Ids of the bodies, ascending.
   */
  uint32_t bodies[2];
  /*
   Which of their solids.
   */
  uint32_t parts[2];
  /*
   The contact's id.
   */
  uint64_t id;
  /*
   Where it stands among the contacts of the step; -1 of one that has ended.
   */
  int64_t contact;
  /*
   What became of it.
   */
  enum FeelerEventKind kind;
  /*
   0.
   */
  uint32_t reserved;
} FeelerEvent;

/*
 Bounds of the motion of B relative to A in one step.
 */
typedef struct FeelerStepBound {
  /*
   Relative rotation (rad).
   */
  double rotation;
  /*
   Displacement (mm) of any point of B that can come into contact, in A's frame.
   */
  double displacement;
} FeelerStepBound;

/*
 Options of a tracker. `feeler_tracker_options_init` sets the defaults.
 */
typedef struct FeelerTrackerOptions {
  /*
   `sizeof(FeelerTrackerOptions)`.
   */
  uint32_t struct_size;
  /*
   Not read.
   */
  uint32_t reserved;
  /*
   Gap (mm) up to which contacts are reported, beside those that the step can close; default 0.05.
   */
  double reach;
  /*
   Depth (mm) down to which contacts are followed, as far as the walls of the bodies separate their
   sides; default infinite.
   */
  double max_depth;
  /*
   Largest motion between two updates that continues a motion; a larger one is a jump. Default 0.1 rad
   and 1 mm.
   */
  struct FeelerStepBound max_step;
  /*
   Wanted error (mm) of a gap at the end of a step; default 1e-3.
   */
  double gap_error;
  /*
   Largest number of contacts; those with the largest gaps are dropped, never a negative one. Default
   `UINT64_MAX`.
   */
  uint64_t max_contacts;
  /*
   Dilation of A (mm), which gaps take into account.
   */
  double dilation_a;
  /*
   Dilation of B (mm).
   */
  double dilation_b;
} FeelerTrackerOptions;

/*
 A near pair of solids of a scene, as `feeler_scene_track` has found it.
 */
typedef struct FeelerTrackedPair {
  /*
   Ids of the bodies, ascending; A is the solid of the first one.
   */
  uint32_t bodies[2];
  /*
   Indices of the solids in these bodies.
   */
  uint32_t parts[2];
  /*
   Status by the signed gaps of the contacts.
   */
  enum FeelerTrackedStatus status;
  /*
   Not 0: the motion since the last step was a jump, or the pair was not near in it; no contact
   continues.
   */
  uint8_t jumped;
  /*
   Not 0: a verdict was computed.
   */
  uint8_t decided;
  /*
   Reserved, 0.
   */
  uint8_t reserved[2];
  /*
   Depth (mm) of the deepest contact of a pair with the status Pressed or Deep, else 0.
   */
  double depth;
  /*
   Bound of the relative motion in this step: the sum of those of both bodies, rounded up to powers of
   two.
   */
  struct FeelerStepBound bound;
  /*
   Index of its first contact in `feeler_scene_tracked_contacts`.
   */
  uint64_t first_contact;
  /*
   Number of its contacts.
   */
  uint64_t contact_count;
  /*
   Number of contacts that the option `max_contacts` dropped.
   */
  uint64_t dropped;
} FeelerTrackedPair;

/*
 A contact of the set of a step, in millimetres. World coordinates are those of the last update.
 */
typedef struct FeelerStepContact {
  /*
   Identity: increases from contact to contact of a tracker and is never assigned twice; fits a double.
   */
  uint64_t id;
  /*
   Signed gap along the normal, less the dilations.
   */
  double gap;
  /*
   Footpoint on A, world.
   */
  double point_a[3];
  /*
   Footpoint on B, world.
   */
  double point_b[3];
  /*
   Unit vector outward of A, world: B is pushed along it.
   */
  double normal[3];
  /*
   Footpoint on A in A's own coordinates.
   */
  double local_a[3];
  /*
   Footpoint on B in B's own coordinates.
   */
  double local_b[3];
  /*
   The normal in A's own coordinates.
   */
  double local_normal[3];
  /*
   First derivative of the gap by a twist of B at A's origin, in A's frame: translation (mm), then
   rotation (rad).
   */
  double gap_rate[6];
  /*
   Smallest and largest normal curvature (1/mm) of A, positive where it bulges; infinite across an edge
   and at a vertex.
   */
  double curvature_a[2];
  /*
   Smallest and largest normal curvature (1/mm) of B.
   */
  double curvature_b[2];
  /*
   Feature of A: 0 a face, 1 an edge, 2 a vertex; index among these.
   */
  uint32_t feature_a[2];
  /*
   Feature of B.
   */
  uint32_t feature_b[2];
  /*
   Parameters of the footpoint on A: u and v of a face, t and 0 of an edge, zeros of a vertex.
   */
  double uv_a[2];
  /*
   Parameters of the footpoint on B.
   */
  double uv_b[2];
  /*
   Kind.
   */
  enum FeelerStepContactKind kind;
  /*
   Not 0: the step can close the gap, because the gap is at most the displacement of the bound. A solver
   needs these contacts only.
   */
  uint32_t is_active;
} FeelerStepContact;

/*
 Sums over all updates of a tracker.
 */
typedef struct FeelerTrackerCounts {
  /*
   `sizeof(FeelerTrackerCounts)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Updates.
   */
  uint64_t updates;
  /*
   Updates after a jump, the first one included.
   */
  uint64_t jumps;
  /*
   Verdicts that were computed.
   */
  uint64_t decisions;
  /*
   Motions that the bound of the update before did not cover.
   */
  uint64_t uncovered;
  /*
   Contacts that were dropped.
   */
  uint64_t dropped;
} FeelerTrackerCounts;

/*
 Report of an update.
 */
typedef struct FeelerTrackerUpdate {
  /*
   `sizeof(FeelerTrackerUpdate)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Not 0: the motion since the last update was a jump, or there was no update; no contact continues.
   */
  uint8_t jumped;
  /*
   Not 0: a verdict was computed.
   */
  uint8_t decided;
  /*
   Reserved, 0.
   */
  uint8_t reserved[2];
  /*
   Contacts that the option `max_contacts` dropped.
   */
  uint64_t dropped;
} FeelerTrackerUpdate;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The layout that the library was built with. A program that includes another `FEELER_ABI_VERSION` must be
 built again.
 */
int feeler_abi_version(void);

/*
 Version of the library, as "0.1.0". Never NULL, never freed.
 */
const char *feeler_version(void);

/*
 Takes a solid of a model into use, by its number.

 # Safety
 `model` is a model; `out` may be written. Free the body by `feeler_body_free`.
 */
enum FeelerResult feeler_body_new(const struct FeelerModel *model, size_t solid, struct FeelerBody **out);

/*
 Frees a body; NULL does nothing. Pairs and scenes that have taken it keep what they need.

 # Safety
 `body` is NULL or a body that is not used any more.
 */
void feeler_body_free(struct FeelerBody *body);

/*
 Facts about a solid.

 # Safety
 `body` is a body; `out` has the size that its `struct_size` tells.
 */
enum FeelerResult feeler_body_info(const struct FeelerBody *body, struct FeelerBodyInfo *out);

/*
 Mass and inertia of the exact solid at a density (kg/m³; steel: 7850).

 # Safety
 `body` is a body; `out` has the size that its `struct_size` tells.
 */
enum FeelerResult feeler_body_mass(const struct FeelerBody *body, double density, struct FeelerMass *out);

/*
 Sets the defaults and the size.

 # Safety
 `options` is NULL or may be written.
 */
void feeler_curve_options_init(struct FeelerCurveOptions *options);

/*
 A scene without curves and bodies. NULL options mean the defaults.

 # Safety
 `options` is NULL or has the size that its `struct_size` tells; `out` may be written. Free the scene by
 `feeler_curve_scene_free`.
 */
enum FeelerResult feeler_curve_scene_new(const struct FeelerCurveOptions *options,
                                         struct FeelerCurveScene **out);

/*
 Frees a scene; NULL does nothing.

 # Safety
 `scene` is NULL or a scene that is not used any more.
 */
void feeler_curve_scene_free(struct FeelerCurveScene *scene);

/*
 Adds a curve of Bézier pieces of one degree, 1 to 5, that meet end to end, from `n_points` control points
 (x, y, z of each): end points of neighbours are given once, so k pieces have `k * degree + 1` points, or
 `k * degree` when the last piece ends where the first one starts (`closed`). Its tube has the radius (mm),
 0 or more. An id is never given again.

 # Safety
 `scene` is a scene that no other thread uses; `points` points at `3 * n_points` numbers; `id` may be
 written.
 */
enum FeelerResult feeler_curve_scene_add_curve(struct FeelerCurveScene *scene,
                                               uint32_t degree,
                                               const double *points,
                                               size_t n_points,
                                               double radius,
                                               bool closed,
                                               uint32_t *id);

/*
 Adds a curve of cubics through `n` nodes with given derivatives with respect to the parameter, which grows
 by 1 from each node to the next one: what rods and cables of a simulator have. Without directions of your
 own take half the step from the node before to the node after.

 # Safety
 `scene` is a scene that no other thread uses; `points` and `derivatives` point at `3 * n` numbers each;
 `id` may be written.
 */
enum FeelerResult feeler_curve_scene_add_hermite(struct FeelerCurveScene *scene,
                                                 const double *points,
                                                 const double *derivatives,
                                                 size_t n,
                                                 double radius,
                                                 bool closed,
                                                 uint32_t *id);

/*
 Adds a curve of cubics near `n` measured points, four or more in their order along it: of as few pieces as
 bring all of them within `tolerance` (mm), or of as many as the points allow. `deviation`, which may be
 NULL, tells the largest distance of a point from the curve; look at it. The control points are told by
 `feeler_curve_scene_control_points`.

 # Safety
 `scene` is a scene that no other thread uses; `measured` points at `3 * n` numbers; `id` may be written,
 and so may `deviation` unless it is NULL.
 */
enum FeelerResult feeler_curve_scene_fit_curve(struct FeelerCurveScene *scene,
                                               const double *measured,
                                               size_t n,
                                               double tolerance,
                                               double radius,
                                               bool closed,
                                               uint32_t *id,
                                               double *deviation);

/*
 Moves a curve: as many control points as it was made with. Where they are refused it stays as it was.

 # Safety
 `scene` is a scene that no other thread uses; `points` points at `3 * n_points` numbers.
 */
enum FeelerResult feeler_curve_scene_update_curve(struct FeelerCurveScene *scene,
                                                  uint32_t id,
                                                  const double *points,
                                                  size_t n_points);

/*
 Moves a curve of cubics by as many nodes and derivatives as it has (`feeler_curve_scene_add_hermite`).

 # Safety
 `scene` is a scene that no other thread uses; `points` and `derivatives` point at `3 * n` numbers each.
 */
enum FeelerResult feeler_curve_scene_update_hermite(struct FeelerCurveScene *scene,
                                                    uint32_t id,
                                                    const double *points,
                                                    const double *derivatives,
                                                    size_t n);

/*
 Takes a curve away.

 # Safety
 `scene` is a scene that no other thread uses.
 */
enum FeelerResult feeler_curve_scene_remove_curve(struct FeelerCurveScene *scene, uint32_t id);

/*
 The control points of a curve, x, y, z of each: up to `capacity` points to `out`, how many there are to
 `count`.

 # Safety
 `scene` is a scene that no other thread uses; `out` has room for `3 * capacity` numbers; `count` may be
 written.
 */
enum FeelerResult feeler_curve_scene_control_points(const struct FeelerCurveScene *scene,
                                                    uint32_t id,
                                                    double *out,
                                                    size_t capacity,
                                                    size_t *count);

/*
 The points of a curve at `n` parameters, x, y, z of each. Parameters go from 0 to the number of pieces.

 # Safety
 `scene` is a scene that no other thread uses; `u` points at `n` numbers, `out` has room for `3 * n`.
 */
enum FeelerResult feeler_curve_scene_points_at(const struct FeelerCurveScene *scene,
                                               uint32_t id,
                                               const double *u,
                                               size_t n,
                                               double *out);

/*
 Adds a solid. Its id is never given again; ids of bodies and of curves are counted apart. The pose may be
 NULL: where the solid is modelled.

 # Safety
 `scene` is a scene that no other thread uses; `body` is a body; `place` is NULL or a pose; `id` may be
 written.
 */
enum FeelerResult feeler_curve_scene_add_body(struct FeelerCurveScene *scene,
                                              const struct FeelerBody *body,
                                              const struct FeelerPose *place,
                                              uint32_t *id);

/*
 Places a body for the next step; NULL: where the solid is modelled.

 # Safety
 `scene` is a scene that no other thread uses; `place` is NULL or a pose.
 */
enum FeelerResult feeler_curve_scene_set_pose(struct FeelerCurveScene *scene,
                                              uint32_t id,
                                              const struct FeelerPose *place);

/*
 Takes a body away.

 # Safety
 `scene` is a scene that no other thread uses.
 */
enum FeelerResult feeler_curve_scene_remove_body(struct FeelerCurveScene *scene, uint32_t id);

/*
 Whether steps decide of near curves and bodies if they interfere (`feeler_curve_scene_status`); not at
 first.

 # Safety
 `scene` is a scene that no other thread uses.
 */
enum FeelerResult feeler_curve_scene_detect_interference(struct FeelerCurveScene *scene, bool on);

/*
 Finds all minima between curves, of curves with themselves, and between curves and bodies, as they are
 now. What bodies do among themselves is for a `FeelerScene`.

 # Safety
 `scene` is a scene that no other thread uses.
 */
enum FeelerResult feeler_curve_scene_update(struct FeelerCurveScene *scene);

/*
 All minima of the last step, by pairs and by parameters: up to `capacity` of them to `out`, how many there
 are to `count`.

 # Safety
 `scene` is a scene that no other thread uses; `out` has room for `capacity` contacts; `count` may be
 written.
 */
enum FeelerResult feeler_curve_scene_contacts(const struct FeelerCurveScene *scene,
                                              struct FeelerCurveContact *out,
                                              size_t capacity,
                                              size_t *count);

/*
 All stretches on which curves were bent more than their radius allows in the last step, by curves and
 parameters.

 # Safety
 As `feeler_curve_scene_contacts`.
 */
enum FeelerResult feeler_curve_scene_tight_bends(const struct FeelerCurveScene *scene,
                                                 struct FeelerTightBend *out,
                                                 size_t capacity,
                                                 size_t *count);

/*
 How a curve and a body stood in the last step: separated, interfering, touching, when the tube is as near
 as rounding allows to tell, or undecided, when the work allowed for it ran out. Unknown where steps do not
 decide it (`feeler_curve_scene_detect_interference`), and of what was added since.

 # Safety
 `scene` is a scene that no other thread uses; `out` may be written.
 */
enum FeelerResult feeler_curve_scene_status(const struct FeelerCurveScene *scene,
                                            uint32_t curve,
                                            uint32_t body,
                                            enum FeelerStatus *out);

/*
 Whether the tubes of two curves, or of a curve and itself, overlapped in the last step. Bends that are too
 tight do not count (`feeler_curve_scene_tight_bends`).

 # Safety
 `scene` is a scene that no other thread uses; `out` may be written.
 */
enum FeelerResult feeler_curve_scene_curves_interfere(const struct FeelerCurveScene *scene,
                                                      uint32_t a,
                                                      uint32_t b,
                                                      bool *out);

/*
 What went wrong in the last call of this thread that did not return `FEELER_RESULT_OK`; "" before any.
 Never NULL; valid until the next such call of this thread.
 */
const char *feeler_last_error(void);

/*
 An exact wall in the place of its own coordinates. It keeps what it needs of the body.

 # Safety
 `body` is a body; `out` may be written. Free the wall by `feeler_exact_wall_free`.
 */
enum FeelerResult feeler_exact_wall_new(const struct FeelerBody *body, struct FeelerExactWall **out);

/*
 Frees a wall; NULL does nothing.

 # Safety
 `wall` is NULL or a wall that is not used any more.
 */
void feeler_exact_wall_free(struct FeelerExactWall *wall);

/*
 Moves a wall: from its coordinates to the world.

 # Safety
 `wall` is a wall that no other thread uses; `pose_of_wall` is NULL
 (where it is modelled) or points at a pose.
 */
enum FeelerResult feeler_exact_wall_set_pose(struct FeelerExactWall *wall,
                                             const struct FeelerPose *pose_of_wall);

/*
 Finds all contacts of `n` spheres, from their centres (x, y, z of each) and radii (mm), with gaps of at
 most `reach` (mm). Spheres in the order of the last call are told fastest; any order is right. A centre
 inside the material has one contact, along the shortest way out.

 # Safety
 `wall` is a wall that no other thread uses; `centers` points at `3 * n` numbers, `radii` at `n`.
 */
enum FeelerResult feeler_exact_wall_spheres(struct FeelerExactWall *wall,
                                            const double *centers,
                                            const double *radii,
                                            size_t n,
                                            double reach);

/*
 The same of superellipsoids, from their centres (x, y, z), orientations (quaternions x, y, z, w from their
 own axes to the world), semi-axes (a, b, c in mm) and exponents (ε₁ around their z, ε₂ along it, in
 [0.1, 1.9]: 1, 1 is an ellipsoid).

 # Safety
 `wall` is a wall that no other thread uses; `centers` and `semi_axes` point at `3 * n` numbers,
 `orientations` at `4 * n`, `exponents` at `2 * n`.
 */
enum FeelerResult feeler_exact_wall_superellipsoids(struct FeelerExactWall *wall,
                                                    const double *centers,
                                                    const double *orientations,
                                                    const double *semi_axes,
                                                    const double *exponents,
                                                    size_t n,
                                                    double reach);

/*
 The contacts of the last query, by particles and then by gaps: up to `capacity` to `out`, how many there
 are to `count`.

 # Safety
 `wall` is a wall that no other thread changes; `out` has room for `capacity` contacts; `count` may be
 written.
 */
enum FeelerResult feeler_exact_wall_contacts(const struct FeelerExactWall *wall,
                                             struct FeelerWallContact *out,
                                             size_t capacity,
                                             size_t *count);

/*
 Where each particle's contacts begin among all, and after the last one where they end: one number more
 than particles; up to `capacity` to `out`, how many there are to `count`.

 # Safety
 As `feeler_exact_wall_contacts`.
 */
enum FeelerResult feeler_exact_wall_offsets(const struct FeelerExactWall *wall,
                                            uint32_t *out,
                                            size_t capacity,
                                            size_t *count);

/*
 Triangles no farther than `chord` (mm) from a solid.

 # Safety
 `body` is a body; `out` may be written. Free the mesh by `feeler_mesh_free`.
 */
enum FeelerResult feeler_mesh_new(const struct FeelerBody *body, double chord, struct FeelerMesh **out);

/*
 Frees a mesh; NULL does nothing.

 # Safety
 `mesh` is NULL or a mesh that is not used any more.
 */
void feeler_mesh_free(struct FeelerMesh *mesh);

/*
 Where the data of a mesh is.

 # Safety
 `mesh` is a mesh; `out` has the size that its `struct_size` tells.
 */
enum FeelerResult feeler_mesh_data(const struct FeelerMesh *mesh, struct FeelerMeshData *out);

/*
 Reads a `.feeler` file.

 # Safety
 `path` is a text that ends with a zero; `out` may be written. Free the model by `feeler_model_free`.
 */
enum FeelerResult feeler_model_read(const char *path, struct FeelerModel **out);

/*
 Reads the bytes of a `.feeler` file.

 # Safety
 `bytes` points at `n` bytes; `out` may be written. Free the model by `feeler_model_free`.
 */
enum FeelerResult feeler_model_read_bytes(const uint8_t *bytes, size_t n, struct FeelerModel **out);

/*
 Reads a STEP file and prepares its solids, which takes a tenth of a second to some minutes: write the
 model to a file and read that the next time. Solids that cannot be prepared are left out: see
 `feeler_model_left_out`. Only in libraries that are built with the feature `prepare`.

 # Safety
 `path` is a text that ends with a zero; `out` may be written. Free the model by `feeler_model_free`.
 */
enum FeelerResult feeler_model_prepare_step(const char *path, struct FeelerModel **out);

/*
 As `feeler_model_prepare_step`, on the bytes of a file; `name` is what errors call it.

 # Safety
 `bytes` points at `n` bytes, `name` at a text that ends with a zero; `out` may be written. Free the model
 by `feeler_model_free`.
 */
enum FeelerResult feeler_model_prepare_bytes(const uint8_t *bytes,
                                             size_t n,
                                             const char *name,
                                             struct FeelerModel **out);

/*
 Writes a `.feeler` file, whole or not at all.

 # Safety
 `model` is a model; `path` a text that ends with a zero.
 */
enum FeelerResult feeler_model_write(const struct FeelerModel *model, const char *path);

/*
 The bytes of a `.feeler` file: up to `capacity` of them to `out`, how many there are to `count`. Ask with
 a capacity of 0 first.

 # Safety
 `model` is a model; `out` has room for `capacity` bytes; `count` may be written.
 */
enum FeelerResult feeler_model_to_bytes(const struct FeelerModel *model,
                                        uint8_t *out,
                                        size_t capacity,
                                        size_t *count);

/*
 Frees a model; NULL does nothing. Its bodies stay.

 # Safety
 `model` is NULL or a model that is not used any more.
 */
void feeler_model_free(struct FeelerModel *model);

/*
 How many distinct solids there are.

 # Safety
 `model` is a model; `count` may be written.
 */
enum FeelerResult feeler_model_solids(const struct FeelerModel *model, size_t *count);

/*
 How many places they stand in.

 # Safety
 `model` is a model; `count` may be written.
 */
enum FeelerResult feeler_model_instances(const struct FeelerModel *model, size_t *count);

/*
 How many solids and components of the input could not be prepared. The program's `inspect` names them.

 # Safety
 `model` is a model; `count` may be written.
 */
enum FeelerResult feeler_model_left_out(const struct FeelerModel *model, size_t *count);

/*
 A solid in its place, and its path in the assembly or, without one, its name; `name` may be NULL. The
 name lives as long as the model.

 # Safety
 `model` is a model; `out` has the size that its `struct_size` tells; `name` is NULL or may be written.
 */
enum FeelerResult feeler_model_instance(const struct FeelerModel *model,
                                        size_t index,
                                        struct FeelerInstance *out,
                                        const char **name);

/*
 A pair of bodies; both may be the same.

 # Safety
 `a` and `b` are bodies; `out` may be written. Free the pair by `feeler_pair_free`.
 */
enum FeelerResult feeler_pair_new(const struct FeelerBody *a,
                                  const struct FeelerBody *b,
                                  struct FeelerPair **out);

/*
 Frees a pair; NULL does nothing.

 # Safety
 `pair` is NULL or a pair that is not used any more.
 */
void feeler_pair_free(struct FeelerPair *pair);

/*
 All local minimal distances up to `d_max`, by ascending distance: up to `capacity` of them to `out`, how
 many there are to `count`. Where there is not room for all, `feeler_pair_contacts` gives them without
 another query. Poses may be NULL: where the solid is modelled. Options may be NULL: the defaults.

 # Safety
 `pair` is a pair that no other thread uses; poses are NULL or poses; `options` is NULL or has the size
 that its `struct_size` tells; `out` has room for `capacity` contacts; `count` may be written.
 */
enum FeelerResult feeler_pair_query(struct FeelerPair *pair,
                                    const struct FeelerPose *pose_a,
                                    const struct FeelerPose *pose_b,
                                    const struct FeelerOptions *asked,
                                    struct FeelerContact *out,
                                    size_t capacity,
                                    size_t *count);

/*
 The minima of the last query once more.

 # Safety
 `pair` is a pair that no other thread uses; `out` has room for `capacity` contacts; `count` may be
 written.
 */
enum FeelerResult feeler_pair_contacts(const struct FeelerPair *pair,
                                       struct FeelerContact *out,
                                       size_t capacity,
                                       size_t *count);

/*
 How the solids stood in the last query; the status is `Unknown` before the first one and after an error.

 # Safety
 `pair` is a pair that no other thread uses; `out` has the size that its `struct_size` tells.
 */
enum FeelerResult feeler_pair_verdict(const struct FeelerPair *pair, struct FeelerVerdict *out);

/*
 Verdict of the last query, computed on demand if its option `decide` skipped it. The contacts do not
 change.

 # Safety
 No other thread uses `pair`; `out` has the size given by its `struct_size`.
 */
enum FeelerResult feeler_pair_decide(struct FeelerPair *pair, struct FeelerVerdict *out);

/*
 Begins a new motion: what the next query finds is new.

 # Safety
 `pair` is a pair that no other thread uses.
 */
enum FeelerResult feeler_pair_forget(struct FeelerPair *pair);

/*
 Sets the defaults and the size.

 # Safety
 `options` is NULL or may be written.
 */
void feeler_options_init(struct FeelerOptions *options);

/*
 An empty scene. `options` are those of all queries; NULL means the defaults. `d_max` must be finite; in a
 scene it bounds the gap, the distance less both dilations.

 # Safety
 `options` is NULL or has the size that its `struct_size` tells; `out` may be written. Free the scene by
 `feeler_scene_free`.
 */
enum FeelerResult feeler_scene_new(const struct FeelerOptions *asked, struct FeelerScene **out);

/*
 Frees a scene; NULL does nothing.

 # Safety
 `scene` is NULL or a scene that is not used any more.
 */
void feeler_scene_free(struct FeelerScene *scene);

/*
 Adds a body. Its id is never given again, also after it was removed.

 # Safety
 `scene` is a scene that no other thread uses; `body` is a body; `place` is NULL or a pose; `id` may be
 written.
 */
enum FeelerResult feeler_scene_add(struct FeelerScene *scene,
                                   const struct FeelerBody *body,
                                   const struct FeelerPose *place,
                                   uint32_t *id);

/*
 Adds a body of several solids that move as one; `places` are theirs in the body, or NULL for none moved.

 # Safety
 As `feeler_scene_add`; `bodies` and `places` point at `n` of each.
 */
enum FeelerResult feeler_scene_add_compound(struct FeelerScene *scene,
                                            const struct FeelerBody *const *bodies,
                                            const struct FeelerPose *places,
                                            size_t n,
                                            const struct FeelerPose *place,
                                            uint32_t *id);

/*
 Adds all instances of a model in their places: up to `capacity` ids to `ids`, how many there are to
 `count`.

 # Safety
 `scene` is a scene that no other thread uses; `model` is a model; `ids` has room for `capacity`; `count`
 may be written.
 */
enum FeelerResult feeler_scene_add_model(struct FeelerScene *scene,
                                         const struct FeelerModel *model,
                                         uint32_t *ids,
                                         size_t capacity,
                                         size_t *count);

/*
 Takes a body away. Its contacts end in the next step.

 # Safety
 `scene` is a scene that no other thread uses.
 */
enum FeelerResult feeler_scene_remove(struct FeelerScene *scene, uint32_t id);

/*
 Places `n` bodies for the next step. At the first one that cannot be placed it stops.

 # Safety
 `scene` is a scene that no other thread uses; `ids` and `poses` point at `n` of each.
 */
enum FeelerResult feeler_scene_set_poses(struct FeelerScene *scene,
                                         const uint32_t *ids,
                                         const struct FeelerPose *poses,
                                         size_t n);

/*
 Asks something else of all pairs of a body: `d_max` of the gap (mm), negative as the scene has it, of two
 bodies the larger one counts; a dilation (mm); and whether it never moves: two fixed bodies are not asked.

 # Safety
 `scene` is a scene that no other thread uses.
 */
enum FeelerResult feeler_scene_set_body(struct FeelerScene *scene,
                                        uint32_t id,
                                        double d_max,
                                        double dilation,
                                        bool fixed);

/*
 Asks something else of a pair in place of what is asked of its bodies: `d_max` of the gap (mm), negative
 as the bodies have it; dilations (mm) of both, or NULL as the bodies have them; and whether it is not
 asked at all.

 # Safety
 `scene` is a scene that no other thread uses; `dilations` is NULL or points at two numbers.
 */
enum FeelerResult feeler_scene_set_pair(struct FeelerScene *scene,
                                        uint32_t a,
                                        uint32_t b,
                                        double d_max,
                                        const double *dilations,
                                        bool ignored);

/*
 Finds the near pairs of all bodies where they are, and all their minima.

 # Safety
 `scene` is a scene that no other thread uses.
 */
enum FeelerResult feeler_scene_step(struct FeelerScene *scene);

/*
 All minima of the last step, by ascending bodies, solids and distances: up to `capacity` of them to
 `out`, how many there are to `count`.

 # Safety
 `scene` is a scene that no other thread uses; `out` has room for `capacity` contacts; `count` may be
 written.
 */
enum FeelerResult feeler_scene_contacts(const struct FeelerScene *scene,
                                        struct FeelerSceneContact *out,
                                        size_t capacity,
                                        size_t *count);

/*
 What became of the contacts of the step before, and which are new.

 # Safety
 As `feeler_scene_contacts`.
 */
enum FeelerResult feeler_scene_events(const struct FeelerScene *scene,
                                      struct FeelerEvent *out,
                                      size_t capacity,
                                      size_t *count);

/*
 How two bodies stood in the last step; `Unknown` where they were not near.

 # Safety
 `scene` is a scene that no other thread uses; `out` may be written.
 */
enum FeelerResult feeler_scene_status(const struct FeelerScene *scene,
                                      uint32_t a,
                                      uint32_t b,
                                      enum FeelerStatus *out);

/*
 Finds the near pairs of the bodies where they are, and for each one the contacts that suffice for the step
 to come, in parallel. `bounds` are the rotation (rad) and the displacement (mm) of any point that each of
 the `n` bodies `ids` makes at most in this step, relative to the world; the other bodies do not move. NULL
 options mean the defaults; their dilations are added to those of the scene and its bodies, and options
 that change make all trackers search anew. Near are solids whose gap is at most `reach` and what both
 motions can close. After an error of type Query, pairs that failed are left out of the results.

 # Safety
 No other thread uses `scene`; `options` is NULL or has the size given by its `struct_size`; `ids` and
 `bounds` point at `n` of each.
 */
enum FeelerResult feeler_scene_track(struct FeelerScene *scene,
                                     const struct FeelerTrackerOptions *options,
                                     const uint32_t *ids,
                                     const struct FeelerStepBound *bounds,
                                     size_t n);

/*
 Near pairs of the last `feeler_scene_track`, by ascending bodies and solids; some may have no contact:
 writes up to `capacity` of them to `out` and their number to `count`.

 # Safety
 No other thread changes `scene`; `out` has room for `capacity` pairs; `count` may be written.
 */
enum FeelerResult feeler_scene_tracked_pairs(const struct FeelerScene *scene,
                                             struct FeelerTrackedPair *out,
                                             size_t capacity,
                                             size_t *count);

/*
 Contacts of these pairs, pair by pair and by ascending numbers within a pair. Numbers are unique within a
 pair, and a pair that was not near for 64 steps begins anew. World coordinates are those of the last
 `feeler_scene_track`.

 # Safety
 No other thread changes `scene`; `out` has room for `capacity` contacts; `count` may be written.
 */
enum FeelerResult feeler_scene_tracked_contacts(const struct FeelerScene *scene,
                                                struct FeelerStepContact *out,
                                                size_t capacity,
                                                size_t *count);

/*
 Returns whether the contacts of all near pairs suffice for the motion from the poses of the last
 `feeler_scene_track` to those that the bodies have now.

 # Safety
 No other thread changes `scene`; `covers` may be written.
 */
enum FeelerResult feeler_scene_covers(const struct FeelerScene *scene, bool *covers);

/*
 Returns the sums over all updates of all trackers of a scene.

 # Safety
 No other thread changes `scene`; `out` has the size given by its `struct_size`.
 */
enum FeelerResult feeler_scene_tracker_counts(const struct FeelerScene *scene,
                                              struct FeelerTrackerCounts *out);

/*
 Writes the default options and their size.

 # Safety
 `options` is NULL or may be written.
 */
void feeler_tracker_options_init(struct FeelerTrackerOptions *options);

/*
 Creates a tracker of the contacts of two bodies, for solvers that compute contacts once a step. `a` and
 `b` may be the same body. NULL options mean the defaults.

 # Safety
 `a` and `b` are bodies; `options` is NULL or has the size given by its `struct_size`; `out` may be
 written. Free the tracker by `feeler_tracker_free`.
 */
enum FeelerResult feeler_tracker_new(const struct FeelerBody *a,
                                     const struct FeelerBody *b,
                                     const struct FeelerTrackerOptions *options,
                                     struct FeelerTracker **out);

/*
 Frees a tracker; NULL does nothing.

 # Safety
 `tracker` is NULL or a tracker that is not used any more.
 */
void feeler_tracker_free(struct FeelerTracker *tracker);

/*
 Copies a tracker with its contacts, their numbers and its counts, for simulations that are saved and
 restored. A verdict is available after the next update of the copy.

 # Safety
 No other thread changes `tracker`; `out` may be written. Free the copy by `feeler_tracker_free`.
 */
enum FeelerResult feeler_tracker_clone(const struct FeelerTracker *tracker, struct FeelerTracker **out);

/*
 Computes the contacts for a step from these poses that keeps the bound: a motion of B relative to A within
 the bound that keeps each linear gap open ends with no gap below about minus `gap_error`.
 `feeler_tracker_contacts` returns the contacts. NULL poses are identities; `report` may be NULL. An
 error clears the contacts.

 # Safety
 No other thread uses `tracker`; poses are NULL or poses; `bound` is a bound; `report` is NULL or has the
 size given by its `struct_size`.
 */
enum FeelerResult feeler_tracker_update(struct FeelerTracker *tracker,
                                        const struct FeelerPose *pose_a,
                                        const struct FeelerPose *pose_b,
                                        const struct FeelerStepBound *bound,
                                        struct FeelerTrackerUpdate *report);

/*
 Computes the bound of the step from these poses, for engines that cannot query within a step: twice the
 relative motion since the last update, plus the displacement `forced` (mm) that forces add in a step, such
 as g·dt². The bound is at most `max_displacement` (mm) and the option `max_step`. The first step and a
 step after a jump get `max_displacement`. The tracker does not change.

 # Safety
 No other thread changes `tracker`; poses are NULL or poses; `out` may be written.
 */
enum FeelerResult feeler_tracker_expected_bound(const struct FeelerTracker *tracker,
                                                const struct FeelerPose *pose_a,
                                                const struct FeelerPose *pose_b,
                                                double forced,
                                                double max_displacement,
                                                struct FeelerStepBound *out);

/*
 Returns through `out` whether the contacts suffice for the motion from the poses of the last update to
 these; false if there was no update.

 # Safety
 No other thread changes `tracker`; poses are NULL or poses; `out` may be written.
 */
enum FeelerResult feeler_tracker_covers(const struct FeelerTracker *tracker,
                                        const struct FeelerPose *pose_a,
                                        const struct FeelerPose *pose_b,
                                        bool *out);

/*
 Computes the motion of B relative to A since the last update; infinite if there was no update.

 # Safety
 No other thread changes `tracker`; poses are NULL or poses; `out` may be written.
 */
enum FeelerResult feeler_tracker_motion_to(const struct FeelerTracker *tracker,
                                           const struct FeelerPose *pose_a,
                                           const struct FeelerPose *pose_b,
                                           struct FeelerStepBound *out);

/*
 Contacts of the last update by ascending number: writes up to `capacity` of them to `out` and their number
 to `count`.

 # Safety
 No other thread changes `tracker`; `out` has room for `capacity` contacts; `count` may be written.
 */
enum FeelerResult feeler_tracker_contacts(const struct FeelerTracker *tracker,
                                          struct FeelerStepContact *out,
                                          size_t capacity,
                                          size_t *count);

/*
 Second derivatives of the gaps of the contacts of the last update, in the order of
 `feeler_tracker_contacts`: writes up to `capacity` symmetric matrices H (6 × 6) to `out` and their number
 to `count`. A twist ξ of B at A's origin, in A's frame (translation in mm, then rotation in rad),
 changes the gap (mm) by `gap_rate`·ξ + ½ ξᵀHξ up to third order, where B's pose changes by the
 exponential of the twist. NaN for a contact that is not isolated, such as a member of a conformal set.

 # Safety
 No other thread changes `tracker`; `out` has room for `capacity` matrices; `count` may be written.
 */
enum FeelerResult feeler_tracker_gap_hessians(const struct FeelerTracker *tracker,
                                              double (*out)[36],
                                              size_t capacity,
                                              size_t *count);

/*
 Gaps (mm) of the contacts of the last update, in the order of `feeler_tracker_contacts`, at the end of the
 step without that contact: writes up to `capacity` gaps to `out` and their number to `count`. For engines
 whose contacts act only if they are closed: such an engine needs the contacts with a negative gap. The
 bodies continue as in the last step or accelerate as in the last two; the smaller gap is returned.

 `one_step_ago` and `two_steps_ago` are poses of B in A's frame. NULL means unknown here, not the identity;
 without the first one the gaps are those of the last update. If `is_free`, no joints guide the bodies, and
 the prediction includes rotations by impacts on the other contacts. The contacts do not change.

 # Safety
 No other thread uses `tracker`; poses are NULL or poses; `out` has room for `capacity` numbers; `count`
 may be written.
 */
enum FeelerResult feeler_tracker_predicted_gaps(struct FeelerTracker *tracker,
                                                const struct FeelerPose *one_step_ago,
                                                const struct FeelerPose *two_steps_ago,
                                                bool is_free,
                                                double *out,
                                                size_t capacity,
                                                size_t *count);

/*
 Status of the last update. `depth`, which may be NULL, receives the depth (mm) of the deepest contact of
 bodies with the status Pressed or Deep, else 0. For concave solids that is not the depth of penetration.

 # Safety
 No other thread changes `tracker`; `status` may be written; `depth` is NULL or may be written.
 */
enum FeelerResult feeler_tracker_status(const struct FeelerTracker *tracker,
                                        enum FeelerTrackedStatus *status,
                                        double *depth);

/*
 Proven verdict at the poses of the last update, computed on demand. The status is `Unknown` if there was
 no update or the last one has failed.

 # Safety
 No other thread uses `tracker`; `out` has the size given by its `struct_size`.
 */
enum FeelerResult feeler_tracker_verdict(struct FeelerTracker *tracker, struct FeelerVerdict *out);

/*
 Returns the sums over all updates.

 # Safety
 No other thread changes `tracker`; `out` has the size given by its `struct_size`.
 */
enum FeelerResult feeler_tracker_counts(const struct FeelerTracker *tracker, struct FeelerTrackerCounts *out);

/*
 Forgets the motion, for example if a simulation is set back: the next update searches anew. Numbers and
 counts continue.

 # Safety
 No other thread uses `tracker`.
 */
enum FeelerResult feeler_tracker_clear(struct FeelerTracker *tracker);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FEELER_H */

/* FeelerOptions options = FEELER_OPTIONS_INIT; */
#define FEELER_OPTIONS_INIT { (uint32_t)sizeof(FeelerOptions), 0, 1, 0, 0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 }

/* FeelerCurveOptions options = FEELER_CURVE_OPTIONS_INIT; */
#define FEELER_CURVE_OPTIONS_INIT { (uint32_t)sizeof(FeelerCurveOptions), 16, 1.0, 1e-6, -1.0 }
