/* feeler: exact contact and clearance between CAD solids. Generated from crates/feeler-capi; do not edit.
 *
 * Units     Lengths are in mm, angles in rad.
 * Frames    A pose maps the own coordinates of a solid to world coordinates; a NULL pose is the identity. Contacts
 *           are in world coordinates, except members named local_*, which are in own coordinates of A or B. A is
 *           the first body of a pair; in a scene, the body with the smaller id. Normals point from A to B.
 * Errors    A function returns a FeelerResult unless it cannot fail. Unless the result is FEELER_RESULT_OK,
 *           feeler_last_error returns the message, and output arguments have no defined values.
 * Arrays    A function with `out`, `capacity` and `count` writes at most `capacity` elements to `out` and the
 *           number of all elements to `count`. With capacity 0, `out` may be NULL.
 * Structs   A struct with `struct_size` may grow in later versions. The caller sets struct_size to its sizeof before
 *           any call; the functions named feeler_*_options_init do so, too.
 * Handles   A handle that a function returns through `out` is freed by the function feeler_*_free of its type, which
 *           ignores NULL. A model may be freed before its bodies, and bodies before what uses them.
 * Threads   Models, bodies and meshes may be used by any number of threads at the same time, all other handles by
 *           one thread at a time. Scenes and walls distribute their work among threads. Results do not depend on
 *           the number of threads.
 * Strings   UTF-8, null-terminated. */

#ifndef FEELER_H
#define FEELER_H

#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>

/*
 Version of the binary interface (ABI). It increases when the layout of a struct or the meaning of a
 function changes.
 */
#define FEELER_ABI_VERSION 1

/*
 Outcome of a call. `feeler_last_error` returns the message of a failed call.
 */
typedef enum FeelerResult {
  /*
   The call succeeded.
   */
  FEELER_RESULT_OK = 0,
  /*
   Invalid argument: a pointer is NULL that must not be, a string is not UTF-8, an index or a size
   is out of range, or `struct_size` is not set.
   */
  FEELER_RESULT_ARGUMENT = 1,
  /*
   A file or its bytes cannot be read, prepared or written.
   */
  FEELER_RESULT_FILE = 2,
  /*
   A solid cannot be queried, or the model has no solid with the given index.
   */
  FEELER_RESULT_BODY = 3,
  /*
   Invalid options, poses or curves; coordinates so large that their rounding exceeds a tenth of the
   tolerance; or solids that are too thin for the options.
   */
  FEELER_RESULT_QUERY = 4,
  /*
   A body or a curve is not in the scene, or the scene does not accept the operation.
   */
  FEELER_RESULT_SCENE = 5,
  /*
   A panic, which is a bug in the library; please report it. The handle that was passed to the call
   is unusable: free it.
   */
  FEELER_RESULT_PANIC = 6,
} FeelerResult;

/*
 Kind of a finding, in order of decreasing severity.
 */
typedef enum FeelerFindingKind {
  /*
   The interiors of the parts intersect.
   */
  FEELER_FINDING_KIND_INTERFERES = 0,
  /*
   The computing budget was exhausted before interference was found or excluded.
   */
  FEELER_FINDING_KIND_UNDECIDED = 1,
  /*
   The query of the two parts failed, so their relation is unknown.
   */
  FEELER_FINDING_KIND_FAILED = 2,
  /*
   The interiors of the parts intersect, but not deeper than the geometry is accurate.
   */
  FEELER_FINDING_KIND_WITHIN_ACCURACY = 3,
  /*
   The parts are nearer than a rule allows.
   */
  FEELER_FINDING_KIND_TOO_CLOSE = 4,
  /*
   The parts touch although a rule forbids it.
   */
  FEELER_FINDING_KIND_TOUCHES = 5,
  /*
   The parts do not touch although a rule requires it.
   */
  FEELER_FINDING_KIND_DOES_NOT_TOUCH = 6,
} FeelerFindingKind;

/*
 Relation of two solids in a query.
 */
typedef enum FeelerStatus {
  /*
   The solids have no common point.
   */
  FEELER_STATUS_SEPARATED = 0,
  /*
   The smallest distance of the solids is below the `tolerance` of the query options, and their
   interiors do not intersect deeper than this tolerance.
   */
  FEELER_STATUS_TOUCHING = 1,
  /*
   The interiors of the solids intersect.
   */
  FEELER_STATUS_INTERFERING = 2,
  /*
   The computing budget of the query was exhausted before interference was found or excluded.
   */
  FEELER_STATUS_UNDECIDED = 3,
  /*
   No verdict was computed, for example because the bodies are not near each other.
   */
  FEELER_STATUS_UNKNOWN = 4,
} FeelerStatus;

/*
 Kind of a contact: of a minimum of the distance, or of a constraint of a step.
 */
typedef enum FeelerContactKind {
  /*
   Isolated local minimum of the distance.
   */
  FEELER_CONTACT_KIND_STRICT = 0,
  /*
   Quasi-minimum: not a local minimum, but may become one by a small rotation (the option `quasi_angle`
   of a query, or the rotation of a step).
   */
  FEELER_CONTACT_KIND_QUASI = 1,
  /*
   Sample of a conformal set, that is of a connected set of equal minima.
   */
  FEELER_CONTACT_KIND_CONFORMAL = 2,
  /*
   Sample of the gap between two nearly conformal features, at fixed parameters of one of them. Only
   trackers report it.
   */
  FEELER_CONTACT_KIND_SAMPLE = 3,
  /*
   Quasi-minimum with a footpoint on the extension of a face beyond a concave edge. Only trackers
   report it.
   */
  FEELER_CONTACT_KIND_EXTENDED = 4,
} FeelerContactKind;

/*
 Method by which the volume of an overlap was computed.
 */
typedef enum FeelerOverlapMethod {
  /*
   Integrals over the parts of the faces of each solid that are inside the other one.
   */
  FEELER_OVERLAP_METHOD_FACES = 0,
  /*
   Integrals over faces at small opposite displacements of B, extrapolated to no displacement, because
   faces coincide or are tangent to each other.
   */
  FEELER_OVERLAP_METHOD_DISPLACED = 1,
  /*
   Lengths of parallel lines in both solids; less exact.
   */
  FEELER_OVERLAP_METHOD_LINES = 2,
} FeelerOverlapMethod;

/*
 Change of a contact in an update.
 */
typedef enum FeelerEventKind {
  /*
   The contact did not exist in the previous update.
   */
  FEELER_EVENT_KIND_BEGAN = 0,
  /*
   The contact existed in the previous update and still exists.
   */
  FEELER_EVENT_KIND_PERSISTED = 1,
  /*
   The contact existed in the previous update only.
   */
  FEELER_EVENT_KIND_ENDED = 2,
} FeelerEventKind;

/*
 Relation of two bodies according to the signed gaps of their minima (kinds strict and conformal), except
 `Interfering`, which follows from a verdict.
 */
typedef enum FeelerTrackedStatus {
  /*
   Every gap exceeds the tolerance, which is 1e-7 of the diagonal of the larger body's bounding box
   plus rounding.
   */
  FEELER_TRACKED_STATUS_SEPARATED = 0,
  /*
   The smallest gap is between minus the tolerance and the tolerance (see `Separated`).
   */
  FEELER_TRACKED_STATUS_TOUCHING = 1,
  /*
   The smallest gap is below minus the tolerance.
   */
  FEELER_TRACKED_STATUS_PRESSED = 2,
  /*
   The smallest gap is below minus the option `max_depth`, but its contact is still tracked. This occurs
   with dilations: they reduce gaps, but `max_depth` limits the depth of the bodies without them.
   */
  FEELER_TRACKED_STATUS_DEEP = 3,
  /*
   The verdict is interference, but no contact has a negative gap: the bodies penetrate each other
   more deeply than contacts are tracked.
   */
  FEELER_TRACKED_STATUS_INTERFERING = 4,
  /*
   There was no update, or the last update failed.
   */
  FEELER_TRACKED_STATUS_UNKNOWN = 5,
} FeelerTrackedStatus;

/*
 Placed solids of one or several models, whose clearance `feeler_clearance_new` checks.
 */
typedef struct FeelerAssembly FeelerAssembly;

/*
 Prepared solid or open surface, for pairs, trackers, scenes and walls.
 */
typedef struct FeelerBody FeelerBody;

/*
 Result of a clearance check: findings about pairs of parts, sorted by decreasing severity.
 */
typedef struct FeelerClearance FeelerClearance;

/*
 Two bodies, A and B, with the results of earlier queries that the next query reuses.
 */
typedef struct FeelerContactPair FeelerContactPair;

/*
 Contacts of two bodies, A and B, over the steps of a simulator, with ids that persist from step to
 step.
 */
typedef struct FeelerContactTracker FeelerContactTracker;

/*
 Scene of deformable curves with a radius (tubes) and moving solids.
 */
typedef struct FeelerCurveScene FeelerCurveScene;

/*
 Wall for particles: an exact solid at a pose, with the cached results of the particles near it.
 */
typedef struct FeelerExactWall FeelerExactWall;

/*
 Triangle mesh of a body for display, in the body's own coordinates.
 */
typedef struct FeelerMesh FeelerMesh;

/*
 Contents of a STEP or `.feeler` file: distinct solids and their instances.
 */
typedef struct FeelerModel FeelerModel;

/*
 Scene: many bodies, which may move, and the contacts of near pairs of them.
 */
typedef struct FeelerScene FeelerScene;

/*
 Geometric properties of a solid, in its own coordinates.
 */
typedef struct FeelerBodyInfo {
  /*
   `sizeof(FeelerBodyInfo)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   1 for a closed solid, 0 for an open surface, whose volume, centroid and inertia are 0.
   */
  uint32_t has_mass;
  /*
   Smallest coordinates of the axis-aligned bounding box (mm).
   */
  double bbox_min[3];
  /*
   Largest coordinates of the axis-aligned bounding box (mm).
   */
  double bbox_max[3];
  /*
   Area of the surface (mm²).
   */
  double area;
  /*
   Volume (mm³); 0 for an open surface.
   */
  double volume;
  /*
   Centre of mass (mm); zeros for an open surface.
   */
  double centroid[3];
  /*
   Inertia tensor (mm⁵) about the centre of mass at density 1, axes of the solid, row by row.
   */
  double inertia[9];
  /*
   Lower bound of the thickness of the material (mm): the length of the shortest segment through
   material that is normal to faces at both ends. Infinite if no such segment exists; 0 for an
   open surface and if no bound could be proven.
   */
  double min_thickness;
  /*
   Numbers of features: faces, edges and vertices. All faces on one oriented surface count as one
   face (a supermaximal face), and all edges on one curve between the same faces as one edge.
   */
  uint32_t feature_counts[3];
  /*
   Reserved, 0.
   */
  uint32_t reserved;
} FeelerBodyInfo;

/*
 Mass and inertia of a solid of uniform density, in its own coordinates.
 */
typedef struct FeelerMass {
  /*
   `sizeof(FeelerMass)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Mass (kg).
   */
  double mass;
  /*
   Centre of mass (mm).
   */
  double centroid[3];
  /*
   Inertia tensor (kg·mm²) about the centre of mass, axes of the solid, row by row.
   */
  double inertia[9];
} FeelerMass;

/*
 Rigid motion that maps a solid's own coordinates to world coordinates: first the rotation, then the
 translation.
 */
typedef struct FeelerPose {
  /*
   Translation (mm).
   */
  double translation[3];
  /*
   Unit quaternion x, y, z, w. A quaternion with a norm within 1e-3 of 1 is normalised; any other is
   an error.
   */
  double rotation[4];
} FeelerPose;

/*
 Options of a clearance check. Set all members to 0 for the defaults, then `struct_size`.
 */
typedef struct FeelerClearanceOptions {
  /*
   `sizeof(FeelerClearanceOptions)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Largest distance (mm) that is measured. 0: the `d_max` of the rules, or else the largest minimum
   distance that a rule requires, or else 1 mm.
   */
  double d_max;
  /*
   Lengths (mm) below this count as zero. 0: the tolerance of the rules, or else 1e-7 of the
   diagonal of the larger part's bounding box; pairs that it leaves undecided are measured again at
   coarser tolerances.
   */
  double tolerance;
} FeelerClearanceOptions;

/*
 Finding about a pair of parts: their relation, distance and location.
 */
typedef struct FeelerFinding {
  /*
   `sizeof(FeelerFinding)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Kind of the finding, that is what is wrong with the pair.
   */
  enum FeelerFindingKind kind;
  /*
   Index of the first part, counted from 0 in the order in which parts were added.
   */
  uint32_t part_a;
  /*
   Index of the second part, larger than `part_a`.
   */
  uint32_t part_b;
  /*
   Relation of the parts; `FEELER_STATUS_UNKNOWN` if their query failed or they are farther apart
   than `d_max`.
   */
  enum FeelerStatus status;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Smallest distance (mm) of the parts; NaN if no local minimum of the distance is within `d_max`.
   */
  double distance;
  /*
   Smallest distance (mm) that the rule allows; NaN if the rule sets no such limit.
   */
  double min;
  /*
   Lower bound (mm) of the length of any translation that separates interfering parts; 0 for other
   parts.
   */
  double depth;
  /*
   Location of the finding on the first part (mm, world coordinates): a point inside both parts if
   they interfere, else the point nearest to the second part; NaN if neither is known.
   */
  double point_a[3];
  /*
   Location of the finding on the second part (mm, world coordinates), like `point_a`.
   */
  double point_b[3];
} FeelerFinding;

/*
 Options of a scene of curves. Initialise them with `FEELER_CURVE_OPTIONS_INIT` or
 `feeler_curve_options_init`, then change members.
 */
typedef struct FeelerCurveOptions {
  /*
   `sizeof(FeelerCurveOptions)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Maximum number of contacts (samples) that represent a stretch of equal distance, at least 2;
   default 16.
   */
  uint32_t max_samples;
  /*
   Largest gap (mm) of reported contacts; default 1.
   */
  double d_max;
  /*
   Largest change of the distance per length along the curve (mm per mm) at which the distance
   counts as equal; default 1e-6. A stretch of equal distance is reported as a set of samples. With
   larger values, tubes that lie side by side become one contact sooner.
   */
  double level_slope;
  /*
   Smallest length (mm) of a stretch of equal distance that is reported as a set of samples; a
   shorter one is reported as one minimum. Negative (default): the sum of both radii, or a hundredth
   of the diagonal of the smaller curve's bounding box, whichever is larger.
   */
  double level_length;
} FeelerCurveOptions;

/*
 Local minimum of the distance between a curve and another curve, itself or a solid, in mm and world
 coordinates. A is the curve.
 */
typedef struct FeelerCurveContact {
  /*
   0: two curves, 1: a curve with itself, 2: a curve and a solid.
   */
  uint32_t kind;
  /*
   Id of curve A; between two curves the smaller id.
   */
  uint32_t curve;
  /*
   Id of curve B (equal to `curve` for a curve with itself), or of the body.
   */
  uint32_t other;
  /*
   Index of the solid in its body; 0 for curves.
   */
  uint32_t part;
  /*
   Parameters of `point_a` on curve A and of `point_b` on curve B, from 0 to the number of pieces;
   for a curve with itself in ascending order. The second one is NaN for a solid.
   */
  double u[2];
  /*
   Point on the centre line of curve A. The nearest point of A's tube is one radius away along
   `normal`.
   */
  double point_a[3];
  /*
   Point on the centre line of curve B (the nearest point of B's tube is one radius away against
   `normal`), or on the solid.
   */
  double point_b[3];
  /*
   Unit vector from A to B: `point_b - point_a = distance * normal`. Where two curves cross, it is
   orthogonal to both curves and its sign is arbitrary.
   */
  double normal[3];
  /*
   Signed distance from `point_a` to `point_b`; negative where the curve is inside the solid.
   */
  double distance;
  /*
   Distance of the two tubes, or of the tube from the solid: `distance` minus the radii. Negative
   where they overlap.
   */
  double gap;
  /*
   Location of `point_a` on curve A and of `point_b` on curve B: 0 inside a piece, 1 at a joint
   where the direction changes, 2 at a free end. The second one is 0 for a solid.
   */
  uint32_t place[2];
  /*
   Type of the feature of the solid at `point_b`: 0: face, 1: edge, 2: vertex. `UINT32_MAX` unless
   `kind` is 2.
   */
  uint32_t feature_kind;
  /*
   Index of the feature among the solid's features of this kind. `UINT32_MAX` unless `kind` is 2.
   */
  uint32_t feature_index;
  /*
   Index of the set of samples of equal distance, among the sets of `curve` and `other` in this
   update. `UINT32_MAX` for a contact that is not a sample.
   */
  uint32_t set;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Identity of the minimum in its scene; constant from update to update while the minimum moves
   continuously.
   */
  uint64_t id;
} FeelerCurveContact;

/*
 Stretch of a curve where the curvature exceeds the reciprocal of the tube's radius. The tube overlaps
 itself there although no contact of the curve with itself is reported.
 */
typedef struct FeelerTightBend {
  /*
   Id of the curve that contains the stretch.
   */
  uint32_t curve;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Parameters of the curve at the ends of the stretch.
   */
  double range[2];
  /*
   Parameter of the largest curvature found on the stretch.
   */
  double u;
  /*
   Curvature at `u` (1/mm); infinite at a cusp.
   */
  double curvature;
} FeelerTightBend;

/*
 Contact of a particle with an exact wall, in mm and world coordinates.
 */
typedef struct FeelerWallContact {
  /*
   Identity of the contact among those of its particle; constant while the contact stays on its
   feature of the wall. Use the particle and this id as key of friction states.
   */
  uint64_t id;
  /*
   Index of the particle in the arrays of the query.
   */
  uint32_t particle;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Footpoint on the wall.
   */
  double point[3];
  /*
   Unit normal from the wall to the particle.
   */
  double normal[3];
  /*
   Signed distance of the particle's surface from the wall along `normal`; negative where the
   particle penetrates the wall.
   */
  double gap;
  /*
   Principal curvatures of the wall at `point` (1/mm), the larger one first, positive where the wall
   is convex; infinite across an edge, both infinite at a vertex.
   */
  double curvatures[2];
} FeelerWallContact;

/*
 Arrays of a mesh. The pointers are valid until the mesh is freed.
 */
typedef struct FeelerMeshData {
  /*
   `sizeof(FeelerMeshData)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Number of triangle sides that no adjacent triangle shares; 0 for a closed mesh.
   */
  uint32_t open_sides;
  /*
   Largest measured distance between a triangle and the surface of its face (mm).
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
   Coordinates (mm): x, y, z of each vertex. No two faces share a vertex.
   */
  const double *points;
  /*
   Outward unit normals of the faces: x, y, z of each vertex.
   */
  const double *normals;
  /*
   Index of the first vertex at the same position, for each vertex; it joins the triangles of
   adjacent faces.
   */
  const uint32_t *welded;
  /*
   Indices of three vertices of each triangle, counter-clockwise seen from outside.
   */
  const uint32_t *triangles;
  /*
   Index of the face of each triangle, numbered like `index` of `FeelerFeatureRef`.
   */
  const uint32_t *faces;
} FeelerMeshData;

/*
 Placement of a solid in a model.
 */
typedef struct FeelerInstance {
  /*
   `sizeof(FeelerInstance)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Index of the solid, as an argument of `feeler_body_new`.
   */
  uint32_t solid;
  /*
   Pose that maps the solid's own coordinates to those of the model.
   */
  struct FeelerPose pose;
} FeelerInstance;

/*
 Options of a query. Initialise them with `FEELER_QUERY_OPTIONS_INIT` or `feeler_query_options_init`,
 then change members.
 */
typedef struct FeelerQueryOptions {
  /*
   `sizeof(FeelerQueryOptions)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Not 0: distribute the work of one query among threads. The results are bitwise the same. Default
   0.
   */
  uint8_t parallel;
  /*
   Not 0 (default): compute the verdict in every query. 0: skip it; `feeler_contact_pair_decide`
   computes it on demand.
   */
  uint8_t detect_interference;
  /*
   Not 0: skip the verdict if a contact has a negative gap, because such a contact explains the
   interference. Without effect if `penetration` is 0. Default 0.
   */
  uint8_t verdict_unless_pressed;
  /*
   Not 0: prove that no minimum with a spline is missing, or count the pairs of areas without proof
   (`undecided_pairs` of `FeelerVerdict`). Default 0.
   */
  uint8_t certified;
  /*
   Not 0: of each conformal set, report only the outermost samples, which suffice to carry loads.
   Default 0.
   */
  uint8_t load_bearing;
  /*
   Reserved, ignored.
   */
  uint8_t reserved[7];
  /*
   Largest distance (mm) of reported contacts, at least 0; infinity for all contacts. Default 1. In
   a scene it limits the gap and must be finite.
   */
  double d_max;
  /*
   Angle (rad) for quasi-minima, from 0 (default: none are reported) to π/4. The cones of directions
   of edges and vertices (polars) are dilated by it. A quasi-minimum may become a minimum if a solid
   rotates by this angle.
   */
  double quasi_angle;
  /*
   Implicit dilation of A (mm), subtracted from `gap`; it does not affect `distance`. Default 0; may
   be negative.
   */
  double dilation_a;
  /*
   Implicit dilation of B (mm), like `dilation_a`.
   */
  double dilation_b;
  /*
   Lengths (mm) below this count as zero; 0 (default): 1e-7 of the diagonal of the larger solid's
   bounding box.
   */
  double tolerance;
  /*
   Depth (mm) down to which contacts at negative distances are reported, at least 0 and less than
   half the sum of both bodies' `min_thickness` (`FeelerBodyInfo`). Default 0.
   */
  double penetration;
  /*
   Largest spacing (mm) of the samples of a conformal set; 0 (default): a quarter of the extent of
   the set.
   */
  double conformal_spacing;
} FeelerQueryOptions;

/*
 Face, edge or vertex of a solid, with the parameters of a footpoint on it.
 */
typedef struct FeelerFeatureRef {
  /*
   0: face, 1: edge, 2: vertex.
   */
  uint32_t kind;
  /*
   Index of the feature among the solid's features of this kind.
   */
  uint32_t index;
  /*
   Number of the feature's entity in the STEP file; 0 if no entity exists.
   */
  uint64_t source;
  /*
   Parameters of the footpoint on the surface or curve of the feature: u and v on a face, t and 0 on
   an edge, zeros at a vertex.
   */
  double uv[2];
} FeelerFeatureRef;

/*
 Local minimum of the distance between two solids, or another constraint of a step that a tracker
 reports, in mm and world coordinates. The contacts of a tracker are at the poses of the last update.
 */
typedef struct FeelerContact {
  /*
   Signed distance from `point_a` to `point_b` along `normal`; negative where the solids penetrate
   each other.
   */
  double distance;
  /*
   `distance` minus the dilations of A and of B.
   */
  double gap;
  /*
   Footpoint on A, world coordinates.
   */
  double point_a[3];
  /*
   Footpoint on B, world coordinates.
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
   Unit normal at `point_a`, outward from A and towards B: `point_b - point_a = distance * normal` for
   a minimum. It stays outward from A if the distance is negative. A contact pushes B in this direction.
   */
  double normal[3];
  /*
   `normal` in A's own coordinates.
   */
  double local_normal[3];
  /*
   First derivative of `gap` with respect to a twist of B at A's origin, in A's frame: three
   components for the translation (mm), then three for the rotation (rad).
   */
  double gap_rate[6];
  /*
   Smallest and largest normal curvature of A at the footpoint (1/mm), positive where A is convex;
   infinite across an edge and at a vertex.
   */
  double curvature_a[2];
  /*
   Smallest and largest normal curvature of B at the footpoint (1/mm), positive where B is convex.
   */
  double curvature_b[2];
  /*
   Identity of the contact in its pair of bodies; constant from query to query while the footpoints
   stay on their features. A new contact of a tracker has a larger id than all earlier ones. A double
   represents it exactly.
   */
  uint64_t id;
  /*
   Number of consecutive queries, or updates of the tracker, before this one that found the same
   contact; 0 for a new contact.
   */
  uint32_t age;
  /*
   Kind of the minimum, or reason why a tracker reports the contact.
   */
  enum FeelerContactKind kind;
  /*
   1: the solver stopped before its error was as small as rounding (footpoints are accurate to 1e-6
   of the larger solid's diagonal) or, with the option `certified`, the contact's pair of areas may
   have more minima. Else 0.
   */
  uint8_t undecided;
  /*
   1 if a step can close the gap, because `gap` is at most the `displacement` of the step's bound,
   which is 0 for a query; 0 otherwise. A solver needs only active contacts.
   */
  uint8_t is_active;
  /*
   1 for a footpoint, on A and on B, that is fixed on its feature: one of each sample; 0 for one that
   slides.
   */
  uint8_t is_fixed[2];
  /*
   Reserved, 0.
   */
  uint8_t reserved[4];
  /*
   Feature of A at the footpoint.
   */
  struct FeelerFeatureRef feature_a;
  /*
   Feature of B at the footpoint.
   */
  struct FeelerFeatureRef feature_b;
} FeelerContact;

/*
 Verdict of a query: whether two solids interfere, and the proof.
 */
typedef struct FeelerVerdict {
  /*
   `sizeof(FeelerVerdict)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Relation of the solids; `FEELER_STATUS_UNKNOWN` if no verdict was computed. The members from
   `witness` to `undecided_count` are 0 then.
   */
  enum FeelerStatus status;
  /*
   Smallest distance of a contact (mm); infinite if no contact is within `d_max`.
   */
  double min_distance;
  /*
   Tolerance of the query (mm): lengths below it counted as zero.
   */
  double tolerance;
  /*
   Point inside both solids (mm, world coordinates) if they interfere; else zeros.
   */
  double witness[3];
  /*
   Lower bound of the distance (mm) of the witness from the boundary of A. No translation shorter
   than `inside_a + inside_b` separates the solids. The depth of the interference is this sum, or
   `-min_distance` if that is larger.
   */
  double inside_a;
  /*
   Lower bound of the distance (mm) of the witness from the boundary of B.
   */
  double inside_b;
  /*
   Number of locations where interference could be neither found nor excluded.
   */
  uint32_t undecided_count;
  /*
   Number of pairs of areas (pieces of features) that may have more minima than were found, if the
   query had the option `certified`; else 0.
   */
  uint32_t undecided_pairs;
} FeelerVerdict;

/*
 Common part of two interfering solids.
 */
typedef struct FeelerOverlap {
  /*
   `sizeof(FeelerOverlap)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Method by which the volume was computed.
   */
  enum FeelerOverlapMethod method;
  /*
   Volume (mm³).
   */
  double volume;
  /*
   Estimated error of the volume (mm³); not a bound.
   */
  double error;
  /*
   Centroid (mm, world coordinates).
   */
  double centroid[3];
  /*
   Smallest coordinates of the box around the common part (mm, world coordinates).
   */
  double bbox_min[3];
  /*
   Largest coordinates of the box around the common part (mm, world coordinates).
   */
  double bbox_max[3];
} FeelerOverlap;

/*
 Contact of two bodies of a scene.
 */
typedef struct FeelerSceneContact {
  /*
   Ids of the bodies, ascending. The first body is A of `contact`, the second one B.
   */
  uint32_t bodies[2];
  /*
   Indices of the solids in the two bodies; 0 unless the body is a compound.
   */
  uint32_t parts[2];
  /*
   Local minimum of the distance between the two solids.
   */
  struct FeelerContact contact;
} FeelerSceneContact;

/*
 Event of a contact in an update of a scene.
 */
typedef struct FeelerContactEvent {
  /*
   Ids of the bodies of the contact, ascending.
   */
  uint32_t bodies[2];
  /*
   Indices of the solids in the two bodies.
   */
  uint32_t parts[2];
  /*
   Id of the contact in its pair of solids (`id` of `FeelerContact`).
   */
  uint64_t id;
  /*
   Index of the contact in the array of `feeler_scene_contacts`; -1 if the contact has ended.
   */
  int64_t contact;
  /*
   Whether the contact has begun, persisted or ended.
   */
  enum FeelerEventKind kind;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
} FeelerContactEvent;

/*
 Upper bound of the motion of B relative to A in one step of a simulator.
 */
typedef struct FeelerStepBound {
  /*
   Largest relative rotation (rad).
   */
  double rotation;
  /*
   Largest displacement (mm) in A's frame of those points of B that can come into contact.
   */
  double displacement;
} FeelerStepBound;

/*
 Options of a tracker. Initialise them with `feeler_tracker_options_init`, then change members.
 */
typedef struct FeelerTrackerOptions {
  /*
   `sizeof(FeelerTrackerOptions)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Reserved, ignored.
   */
  uint32_t reserved;
  /*
   Gap (mm) up to which contacts are reported even if the step cannot close them; default 0.05.
   */
  double reach;
  /*
   Depth (mm) down to which contacts are tracked; default infinity. The `min_thickness` of the
   bodies (`FeelerBodyInfo`) limits it further, because both sides of a thin wall must be
   distinguished.
   */
  double max_depth;
  /*
   Largest motion of B relative to A between two updates. A larger motion is a jump: all contacts
   get new ids. Default 0.1 rad and 1 mm.
   */
  struct FeelerStepBound max_step;
  /*
   Largest error (mm) of a linearised gap at the end of a step; default 1e-3. A two-hundredth of the
   step's `displacement` applies instead if it is larger.
   */
  double gap_error;
  /*
   Maximum number of contacts. Contacts with the largest gaps are dropped first; contacts with
   negative gaps are never dropped. Default `UINT64_MAX`.
   */
  uint64_t max_contacts;
  /*
   Implicit dilation of A (mm), subtracted from every gap; default 0.
   */
  double dilation_a;
  /*
   Implicit dilation of B (mm), subtracted from every gap; default 0.
   */
  double dilation_b;
} FeelerTrackerOptions;

/*
 Near pair of solids of a scene, found by the last call of `feeler_scene_track`.
 */
typedef struct FeelerTrackedPair {
  /*
   Ids of the bodies, ascending. A is the solid of the first body, B that of the second one.
   */
  uint32_t bodies[2];
  /*
   Indices of the solids in the two bodies; 0 unless the body is a compound.
   */
  uint32_t parts[2];
  /*
   Relation of the two solids according to the signed gaps of their minima or to a verdict.
   */
  enum FeelerTrackedStatus status;
  /*
   1 if no contact of the previous call continues, because the motion since then was a jump
   (`max_step` of `FeelerTrackerOptions`) or the pair was not near in that call; else 0.
   */
  uint8_t jumped;
  /*
   1 if this call computed a verdict of the pair, else 0.
   */
  uint8_t decided;
  /*
   1 if the set of contacts may be incomplete because of limits on the numbers of corners of a flat area
   and of samples of curved contacts, else 0. A step within the bound may then end deeper than
   guaranteed.
   */
  uint8_t limited;
  /*
   Reserved, 0.
   */
  uint8_t reserved;
  /*
   Depth (mm) of the deepest contact if the status is `FEELER_TRACKED_STATUS_PRESSED` or
   `FEELER_TRACKED_STATUS_DEEP`, else 0.
   */
  double depth;
  /*
   Bound of the motion of B relative to A for which the contacts suffice: the sum of the bounds of
   both bodies, each component rounded up to a power of two.
   */
  struct FeelerStepBound bound;
  /*
   Index of the first contact of the pair in the array of `feeler_scene_tracked_contacts`.
   */
  uint64_t first_contact;
  /*
   Number of contacts of the pair.
   */
  uint64_t contact_count;
  /*
   Number of contacts that were dropped because of the option `max_contacts`.
   */
  uint64_t dropped;
} FeelerTrackedPair;

/*
 Counts summed over all updates of a tracker, or of all trackers of a scene.
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
   Number of updates.
   */
  uint64_t updates;
  /*
   Number of updates that found all contacts anew, because the motion was a jump (`max_step` of
   `FeelerTrackerOptions`) or there was no earlier update.
   */
  uint64_t jumps;
  /*
   Number of verdicts that were computed.
   */
  uint64_t decisions;
  /*
   Number of updates after a motion that exceeded the bound of the previous update.
   */
  uint64_t uncovered;
  /*
   Number of contacts that were dropped because of the option `max_contacts`.
   */
  uint64_t dropped;
  /*
   Number of updates whose set of contacts may be incomplete (`limited` of `FeelerUpdate`).
   */
  uint64_t limited;
} FeelerTrackerCounts;

/*
 Report of an update of a tracker, written by `feeler_contact_tracker_update`.
 */
typedef struct FeelerUpdate {
  /*
   `sizeof(FeelerUpdate)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   1 if all contacts are new, because the motion since the previous update was a jump (`max_step` of
   `FeelerTrackerOptions`) or this is the first update; else 0.
   */
  uint8_t jumped;
  /*
   1 if the update computed a verdict, else 0.
   */
  uint8_t decided;
  /*
   1 if the set of contacts may be incomplete because of limits on the numbers of corners of a flat area
   and of samples of curved contacts, else 0. A step within the bound may then end deeper than
   guaranteed.
   */
  uint8_t limited;
  /*
   Reserved, 0.
   */
  uint8_t reserved;
  /*
   Number of contacts that were dropped because of the option `max_contacts`.
   */
  uint64_t dropped;
} FeelerUpdate;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the `FEELER_ABI_VERSION` that the library was built with. A program that was compiled with
 another value of this constant must be compiled again.
 */
int feeler_abi_version(void);

/*
 Returns the version of the library, for example "0.1.0". The string is static: it is never NULL and
 must not be freed.
 */
const char *feeler_version(void);

/*
 Creates a body from a solid of a model. `solid` is the index of the solid, counted from 0. Free it
 with `feeler_body_free`. The body remains valid if the model is freed.
 */
enum FeelerResult feeler_body_new(const struct FeelerModel *model, size_t solid, struct FeelerBody **out);

/*
 Frees a body. Pairs, trackers, scenes and walls that use the body remain valid.
 */
void feeler_body_free(struct FeelerBody *body);

/*
 Writes the geometric properties of a solid to `out`.
 */
enum FeelerResult feeler_body_info(const struct FeelerBody *body, struct FeelerBodyInfo *out);

/*
 Writes the mass and the inertia of the exact solid to `out`. `density` is in kg/m³ (steel: 7850).
 Returns `FEELER_RESULT_ARGUMENT` unless the density is positive and finite, and `FEELER_RESULT_BODY`
 for an open surface.
 */
enum FeelerResult feeler_body_mass(const struct FeelerBody *body, double density, struct FeelerMass *out);

/*
 Creates an assembly without parts. Free it with `feeler_assembly_free`.
 */
enum FeelerResult feeler_assembly_new(struct FeelerAssembly **out);

/*
 Frees an assembly.
 */
void feeler_assembly_free(struct FeelerAssembly *assembly);

/*
 Adds each instance of a model as a part. `pose` maps the coordinates of the model to the world.
 `name` precedes the paths of the parts, unless it is NULL or "". Equal paths are numbered: "bolt#1",
 "bolt#2". The model may be freed afterwards.
 */
enum FeelerResult feeler_assembly_add(struct FeelerAssembly *assembly,
                                      const struct FeelerModel *model,
                                      const char *name,
                                      const struct FeelerPose *pose);

/*
 Writes the number of parts of an assembly to `count`.
 */
enum FeelerResult feeler_assembly_part_count(const struct FeelerAssembly *assembly, size_t *count);

/*
 Measures, in parallel, all pairs of parts within `d_max` of each other and checks them against rules.
 The assembly does not change. `rules` is the text of a rules file in TOML, as for the command
 `feeler clearance`; NULL stands for the only rule that parts must not interfere. `options` may be
 NULL for the defaults. Free the result with `feeler_clearance_free`.
 */
enum FeelerResult feeler_clearance_new(const struct FeelerAssembly *assembly,
                                       const char *rules,
                                       const struct FeelerClearanceOptions *options,
                                       struct FeelerClearance **out);

/*
 Frees the result of a clearance check.
 */
void feeler_clearance_free(struct FeelerClearance *clearance);

/*
 Writes the number of findings of a clearance check to `count`.
 */
enum FeelerResult feeler_clearance_finding_count(const struct FeelerClearance *clearance, size_t *count);

/*
 Writes a finding to `out`, the paths of its parts to `path_a` and `path_b`, and the name of its rule
 to `rule`, NULL if no rule applies to the pair. `index` counts from 0. `path_a`, `path_b` and `rule`
 may be NULL; the strings are valid until `clearance` is freed.
 */
enum FeelerResult feeler_clearance_finding(const struct FeelerClearance *clearance,
                                           size_t index,
                                           struct FeelerFinding *out,
                                           const char **path_a,
                                           const char **path_b,
                                           const char **rule);

/*
 Writes the default options, including `struct_size`, to `options`. NULL does nothing.
 */
void feeler_curve_options_init(struct FeelerCurveOptions *options);

/*
 Creates an empty scene of curves and bodies. `options` may be NULL for the defaults. Free the scene
 with `feeler_curve_scene_free`.
 */
enum FeelerResult feeler_curve_scene_new(const struct FeelerCurveOptions *options,
                                         struct FeelerCurveScene **out);

/*
 Frees a scene.
 */
void feeler_curve_scene_free(struct FeelerCurveScene *scene);

/*
 Adds a curve of connected Bézier pieces of one degree, 1 to 5, and writes its id to `id`. `points`
 has `3 * n_points` numbers: x, y, z (mm) of each control point. An end point that two pieces share is
 listed once, so that k pieces have `k * degree + 1` points, or `k * degree` if the curve is `closed`
 and the last piece ends at the first point. `radius` (mm) is the radius of the tube, at least 0. Ids
 of curves are never reused.
 */
enum FeelerResult feeler_curve_scene_add_curve(struct FeelerCurveScene *scene,
                                               uint32_t degree,
                                               const double *points,
                                               size_t n_points,
                                               double radius,
                                               bool closed,
                                               uint32_t *id);

/*
 Adds a curve of cubic pieces through `n` nodes with given derivatives, such as those of a simulated
 rod or cable, and writes its id to `id`. `points` (mm) and `derivatives` (mm) have `3 * n` numbers
 each. Derivatives are with respect to the parameter, which increases by 1 from node to node. If they
 are not known, use half the vector from the previous to the next node. `radius` (mm) and `closed` are
 as for `feeler_curve_scene_add_curve`.
 */
enum FeelerResult feeler_curve_scene_add_hermite(struct FeelerCurveScene *scene,
                                                 const double *points,
                                                 const double *derivatives,
                                                 size_t n,
                                                 double radius,
                                                 bool closed,
                                                 uint32_t *id);

/*
 Fits a curve of cubic pieces to `n` measured points, at least four, in their order along the curve,
 adds it, and writes its id to `id`. `measured` has `3 * n` numbers (mm). The number of pieces is the
 first of 1, 2, 4, … that brings all points within `tolerance` (mm) of the curve; it is limited to
 `n / 2` and to 256. `deviation` (may be NULL) receives the largest distance (mm) of a point from the
 curve, which exceeds `tolerance` if the limit is reached. `radius` (mm) and `closed` are as for
 `feeler_curve_scene_add_curve`. `feeler_curve_scene_control_points` returns the control points.
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
 Replaces the control points of a curve. `points` has `3 * n_points` numbers (mm); `n_points` is the
 number of control points of the curve. If the points are invalid, the curve does not change.
 */
enum FeelerResult feeler_curve_scene_update_curve(struct FeelerCurveScene *scene,
                                                  uint32_t id,
                                                  const double *points,
                                                  size_t n_points);

/*
 Replaces the nodes of a curve of cubic pieces. `points` and `derivatives` have `3 * n` numbers each,
 as for `feeler_curve_scene_add_hermite`; `n` is the number of nodes of the curve.
 */
enum FeelerResult feeler_curve_scene_update_hermite(struct FeelerCurveScene *scene,
                                                    uint32_t id,
                                                    const double *points,
                                                    const double *derivatives,
                                                    size_t n);

/*
 Removes a curve. Its id becomes invalid.
 */
enum FeelerResult feeler_curve_scene_remove_curve(struct FeelerCurveScene *scene, uint32_t id);

/*
 Writes the control points of a curve to `out`: x, y, z (mm) of each point. `capacity` and `count` are
 numbers of points, not of coordinates, so that `out` has space for `3 * capacity` numbers.
 */
enum FeelerResult feeler_curve_scene_control_points(const struct FeelerCurveScene *scene,
                                                    uint32_t id,
                                                    double *out,
                                                    size_t capacity,
                                                    size_t *count);

/*
 Writes the points of a curve at the `n` parameters `u` to `out`: x, y, z (mm) of each point.
 Parameters range from 0 to the number of pieces. `out` has space for `3 * n` numbers.
 */
enum FeelerResult feeler_curve_scene_points_at(const struct FeelerCurveScene *scene,
                                               uint32_t id,
                                               const double *u,
                                               size_t n,
                                               double *out);

/*
 Adds a body, whose coordinates `pose` maps to the world (NULL: identity), and writes its id to `id`.
 Ids of bodies are never reused and are independent of those of curves.
 */
enum FeelerResult feeler_curve_scene_add_body(struct FeelerCurveScene *scene,
                                              const struct FeelerBody *body,
                                              const struct FeelerPose *pose,
                                              uint32_t *id);

/*
 Sets the pose of a body for the next update.
 */
enum FeelerResult feeler_curve_scene_set_pose(struct FeelerCurveScene *scene,
                                              uint32_t id,
                                              const struct FeelerPose *pose);

/*
 Removes a body. Its id becomes invalid.
 */
enum FeelerResult feeler_curve_scene_remove_body(struct FeelerCurveScene *scene, uint32_t id);

/*
 Sets whether updates also decide if near curves and bodies interfere, for
 `feeler_curve_scene_status`. Disabled by default.
 */
enum FeelerResult feeler_curve_scene_detect_interference(struct FeelerCurveScene *scene, bool detects);

/*
 Computes all contacts between curves, of curves with themselves, and between curves and bodies whose
 gap is at most `d_max`, for the current control points and poses. For contacts between bodies, use a
 `FeelerScene`.
 */
enum FeelerResult feeler_curve_scene_update(struct FeelerCurveScene *scene);

/*
 Writes the contacts of the last update to `out`, sorted by pair of curve and other object, then by
 parameters.
 */
enum FeelerResult feeler_curve_scene_contacts(const struct FeelerCurveScene *scene,
                                              struct FeelerCurveContact *out,
                                              size_t capacity,
                                              size_t *count);

/*
 Writes to `out` the stretches where curves were bent more tightly than the radius of their tube
 allows in the last update, sorted by id of the curve, then by parameter.
 */
enum FeelerResult feeler_curve_scene_tight_bends(const struct FeelerCurveScene *scene,
                                                 struct FeelerTightBend *out,
                                                 size_t capacity,
                                                 size_t *count);

/*
 Writes the relation of the tube of a curve to a body in the last update to `out`: separated,
 interfering, touching (the gap is zero within rounding), or undecided (neither bounds nor contacts
 decide). `FEELER_STATUS_UNKNOWN` if interference is not detected
 (`feeler_curve_scene_detect_interference`), or if the curve or the body was added after the last
 update.
 */
enum FeelerResult feeler_curve_scene_status(const struct FeelerCurveScene *scene,
                                            uint32_t curve,
                                            uint32_t body,
                                            enum FeelerStatus *out);

/*
 Writes to `interfere` whether the tubes of two curves overlapped in the last update. If `a` equals
 `b`, the tube of the curve is tested for overlap with itself. Tight bends do not count
 (`feeler_curve_scene_tight_bends`).
 */
enum FeelerResult feeler_curve_scene_curves_interfere(const struct FeelerCurveScene *scene,
                                                      uint32_t a,
                                                      uint32_t b,
                                                      bool *interfere);

/*
 Returns the message of the last call of this thread that did not return `FEELER_RESULT_OK`, or "" if
 every call has succeeded. The string is never NULL, must not be freed, and is valid until the next
 failed call of this thread.
 */
const char *feeler_last_error(void);

/*
 Creates an exact wall at the identity pose. The body may be freed. Free the wall with
 `feeler_exact_wall_free`.
 */
enum FeelerResult feeler_exact_wall_new(const struct FeelerBody *body, struct FeelerExactWall **out);

/*
 Frees a wall.
 */
void feeler_exact_wall_free(struct FeelerExactWall *wall);

/*
 Sets the pose of a wall, which maps the coordinates of its solid to the world.
 */
enum FeelerResult feeler_exact_wall_set_pose(struct FeelerExactWall *wall, const struct FeelerPose *pose);

/*
 Computes all contacts of `n` spheres whose gaps are at most `reach` (mm). `centers` has `3 * n`
 numbers (x, y, z in mm), `radii` has `n` (mm). `feeler_exact_wall_contacts` returns the contacts. The
 query is fastest if the order of the particles is the same as in the previous call; the results do
 not depend on the order. A sphere with its centre inside the material has one contact, at the point
 of the boundary nearest to the centre.
 */
enum FeelerResult feeler_exact_wall_sphere_contacts(struct FeelerExactWall *wall,
                                                    const double *centers,
                                                    const double *radii,
                                                    size_t n,
                                                    double reach);

/*
 Computes all contacts of `n` superellipsoids whose gaps are at most `reach` (mm), like
 `feeler_exact_wall_sphere_contacts`. `centers` has `3 * n` numbers (mm), `orientations` `4 * n`
 (quaternions x, y, z, w that rotate from the particle's frame to the world), `semi_axes` `3 * n` (a,
 b, c in mm), and `exponents` `2 * n`: ε₁ around the particle's z axis and ε₂ along it, each in [0.1,
 1.9]. 1, 1 is an ellipsoid; shapes approach a box for small exponents.
 */
enum FeelerResult feeler_exact_wall_superellipsoid_contacts(struct FeelerExactWall *wall,
                                                            const double *centers,
                                                            const double *orientations,
                                                            const double *semi_axes,
                                                            const double *exponents,
                                                            size_t n,
                                                            double reach);

/*
 Writes the contacts of the last query to `out`, sorted by index of the particle, then by gap.
 */
enum FeelerResult feeler_exact_wall_contacts(const struct FeelerExactWall *wall,
                                             struct FeelerWallContact *out,
                                             size_t capacity,
                                             size_t *count);

/*
 Writes the index of the first contact of each particle to `out`, followed by the number of all
 contacts. The array has one more number than there are particles.
 */
enum FeelerResult feeler_exact_wall_offsets(const struct FeelerExactWall *wall,
                                            uint32_t *out,
                                            size_t capacity,
                                            size_t *count);

/*
 Creates a triangle mesh within `chord` (mm) of the exact faces, for display only: queries do not use
 meshes. Check `deviation` of `FeelerMeshData`, which may exceed `chord` for extreme splines and edges
 far from their faces. Free the mesh with `feeler_mesh_free`.
 */
enum FeelerResult feeler_mesh_new(const struct FeelerBody *body, double chord, struct FeelerMesh **out);

/*
 Frees a mesh.
 */
void feeler_mesh_free(struct FeelerMesh *mesh);

/*
 Writes the sizes and the arrays of a mesh to `out`.
 */
enum FeelerResult feeler_mesh_data(const struct FeelerMesh *mesh, struct FeelerMeshData *out);

/*
 Reads a `.feeler` file. Free the model with `feeler_model_free`.
 */
enum FeelerResult feeler_model_read(const char *path, struct FeelerModel **out);

/*
 Reads the `n` bytes of a `.feeler` file. Free the model with `feeler_model_free`.
 */
enum FeelerResult feeler_model_from_bytes(const uint8_t *bytes, size_t n, struct FeelerModel **out);

/*
 Reads a STEP file and prepares its solids, which takes from a tenth of a second to some minutes. To
 avoid this the next time, write the model with `feeler_model_write` and read that file with
 `feeler_model_read`. Solids that cannot be prepared are left out; `feeler_model_left_out_count`
 returns their number. Free the model with `feeler_model_free`. Available in libraries that are built
 with the feature `prepare`.
 */
enum FeelerResult feeler_prepare_step(const char *path, struct FeelerModel **out);

/*
 Prepares the `n` bytes of a STEP file like `feeler_prepare_step`. `name` is the name of the file that
 messages state.
 */
enum FeelerResult feeler_prepare_bytes(const uint8_t *bytes,
                                       size_t n,
                                       const char *name,
                                       struct FeelerModel **out);

/*
 Writes a model to a `.feeler` file. If writing fails, an existing file remains unchanged.
 */
enum FeelerResult feeler_model_write(const struct FeelerModel *model, const char *path);

/*
 Writes a model to `out`, as the bytes of a `.feeler` file.
 */
enum FeelerResult feeler_model_to_bytes(const struct FeelerModel *model,
                                        uint8_t *out,
                                        size_t capacity,
                                        size_t *count);

/*
 Frees a model. Bodies created from it remain valid.
 */
void feeler_model_free(struct FeelerModel *model);

/*
 Writes the number of distinct solids of a model to `count`.
 */
enum FeelerResult feeler_model_solid_count(const struct FeelerModel *model, size_t *count);

/*
 Writes the number of instances (placed solids) of a model to `count`. A solid that is placed twice
 has two instances.
 */
enum FeelerResult feeler_model_instance_count(const struct FeelerModel *model, size_t *count);

/*
 Writes to `count` the number of solids and components of the input that could not be prepared and are
 missing from the model. The command `feeler inspect` lists them with the reasons.
 */
enum FeelerResult feeler_model_left_out_count(const struct FeelerModel *model, size_t *count);

/*
 Writes an instance to `out`, and its name and its path to `name` and `path`. `index` counts from 0.
 The path joins the names from the root of the assembly by '/'; it is "" if the model has no assembly.
 `name` and `path` may be NULL; the strings are valid until the model is freed.
 */
enum FeelerResult feeler_model_instance(const struct FeelerModel *model,
                                        size_t index,
                                        struct FeelerInstance *out,
                                        const char **name,
                                        const char **path);

/*
 Creates a pair of the bodies A (`a`) and B (`b`), which may be the same body. Free it with
 `feeler_contact_pair_free`.
 */
enum FeelerResult feeler_contact_pair_new(const struct FeelerBody *a,
                                          const struct FeelerBody *b,
                                          struct FeelerContactPair **out);

/*
 Frees a pair.
 */
void feeler_contact_pair_free(struct FeelerContactPair *pair);

/*
 Computes all local minima of the distance up to the option `d_max` and writes them to `out` by
 ascending distance. `pose_a` and `pose_b` map the bodies' coordinates to the world; NULL is the
 identity. If `capacity` is less than `count`, `feeler_contact_pair_contacts` returns all contacts
 without another query. `options` may be NULL for the defaults. After an error the pair has no
 contacts and no verdict.
 */
enum FeelerResult feeler_contact_pair_query(struct FeelerContactPair *pair,
                                            const struct FeelerPose *pose_a,
                                            const struct FeelerPose *pose_b,
                                            const struct FeelerQueryOptions *options,
                                            struct FeelerContact *out,
                                            size_t capacity,
                                            size_t *count);

/*
 Writes the contacts of the last query to `out`, by ascending distance.
 */
enum FeelerResult feeler_contact_pair_contacts(const struct FeelerContactPair *pair,
                                               struct FeelerContact *out,
                                               size_t capacity,
                                               size_t *count);

/*
 Writes the verdict of the last query to `out`. The status is `FEELER_STATUS_UNKNOWN` before the first
 query, after an error, and if the options skipped the verdict.
 */
enum FeelerResult feeler_contact_pair_verdict(const struct FeelerContactPair *pair,
                                              struct FeelerVerdict *out);

/*
 Writes the verdict of the last query to `out` and computes it first if the options skipped it. The
 contacts do not change.
 */
enum FeelerResult feeler_contact_pair_decide(struct FeelerContactPair *pair, struct FeelerVerdict *out);

/*
 Computes a translation of B (mm, world coordinates) after which the solids no longer interfere:
 short, but not proven to be the shortest. Writes to `interfere` whether the solids interfere at
 `pose_a` and `pose_b`, and to `out` the three coordinates of the translation, zeros if they do not
 interfere. The function computes up to 200 verdicts. `options` may be NULL for the defaults. The
 contacts of the last query do not change.
 */
enum FeelerResult feeler_contact_pair_separating_translation(struct FeelerContactPair *pair,
                                                             const struct FeelerPose *pose_a,
                                                             const struct FeelerPose *pose_b,
                                                             const struct FeelerQueryOptions *options,
                                                             bool *interfere,
                                                             double *out);

/*
 Computes volume, centroid and box of the common part of the two solids at `pose_a` and `pose_b`. Writes
 to `has_overlap` whether the solids interfere there; it is false for sheets, which have no volume. `out`
 is left unchanged if it is false. The computation takes longer than a query. `options` may be NULL for the
 defaults. The contacts of the last query do not change.
 */
enum FeelerResult feeler_contact_pair_overlap(struct FeelerContactPair *pair,
                                              const struct FeelerPose *pose_a,
                                              const struct FeelerPose *pose_b,
                                              const struct FeelerQueryOptions *options,
                                              bool *has_overlap,
                                              struct FeelerOverlap *out);

/*
 Discards the results of earlier queries. The contacts of the next query get new ids.
 */
enum FeelerResult feeler_contact_pair_forget(struct FeelerContactPair *pair);

/*
 Writes the default options, including `struct_size`, to `options`. NULL does nothing.
 */
void feeler_query_options_init(struct FeelerQueryOptions *options);

/*
 Creates an empty scene, whose queries use `options` (NULL: the defaults). Here the option `d_max`
 limits the gap, that is the distance minus both dilations, and must be finite. Free the scene with
 `feeler_scene_free`.
 */
enum FeelerResult feeler_scene_new(const struct FeelerQueryOptions *options, struct FeelerScene **out);

/*
 Frees a scene.
 */
void feeler_scene_free(struct FeelerScene *scene);

/*
 Adds a body, whose coordinates `pose` maps to the world (NULL: identity), and writes its id to `id`.
 Ids are never reused, not even after `feeler_scene_remove`.
 */
enum FeelerResult feeler_scene_add(struct FeelerScene *scene,
                                   const struct FeelerBody *body,
                                   const struct FeelerPose *pose,
                                   uint32_t *id);

/*
 Adds one body of `n` solids that move together (a compound), and writes its id to `id`. `poses[i]`
 maps the coordinates of the solid `bodies[i]` to those of the compound; NULL stands for `n`
 identities. `pose` maps the coordinates of the compound to the world (NULL: identity).
 */
enum FeelerResult feeler_scene_add_compound(struct FeelerScene *scene,
                                            const struct FeelerBody *const *bodies,
                                            const struct FeelerPose *poses,
                                            size_t n,
                                            const struct FeelerPose *pose,
                                            uint32_t *id);

/*
 Adds each instance of a model as a body, at its pose in the model, and writes the ids to `out`.
 `feeler_model_instance_count` returns the number of ids in advance.
 */
enum FeelerResult feeler_scene_add_model(struct FeelerScene *scene,
                                         const struct FeelerModel *model,
                                         uint32_t *out,
                                         size_t capacity,
                                         size_t *count);

/*
 Removes a body. The contacts of the body end in the next update.
 */
enum FeelerResult feeler_scene_remove(struct FeelerScene *scene, uint32_t id);

/*
 Sets the poses of `n` bodies for the next update. If an id or a pose is invalid, the bodies before it
 in the arrays get their poses, the others do not.
 */
enum FeelerResult feeler_scene_set_poses(struct FeelerScene *scene,
                                         const uint32_t *ids,
                                         const struct FeelerPose *poses,
                                         size_t n);

/*
 Writes the pose of a body to `out`.
 */
enum FeelerResult feeler_scene_pose(const struct FeelerScene *scene, uint32_t id, struct FeelerPose *out);

/*
 Sets options of all pairs of a body. `d_max`: largest gap (mm) of reported contacts, negative for the
 value of the scene; the larger of both bodies' values applies to a pair. `dilation` (mm): implicit
 dilation of the body, added to the one in the options of the scene. `fixed`: the body never moves;
 pairs of fixed bodies are skipped.
 */
enum FeelerResult feeler_scene_set_body_options(struct FeelerScene *scene,
                                                uint32_t id,
                                                double d_max,
                                                double dilation,
                                                bool fixed);

/*
 Sets options of a pair of bodies, which replace the options of the two bodies. `d_max`: largest gap
 (mm) of reported contacts, negative for the value of the bodies. `dilation`: two implicit dilations
 (mm), of `a` and of `b`, added to those in the options of the scene; NULL for the dilations of the
 bodies. `ignored`: the pair is skipped.
 */
enum FeelerResult feeler_scene_set_pair_options(struct FeelerScene *scene,
                                                uint32_t a,
                                                uint32_t b,
                                                double d_max,
                                                const double *dilation,
                                                bool ignored);

/*
 Finds the near pairs of bodies at their current poses, and computes the contacts and verdicts of
 these pairs. If the query of a pair fails, the function returns its error, and the results of all
 other pairs are up to date.
 */
enum FeelerResult feeler_scene_update(struct FeelerScene *scene);

/*
 Writes the contacts of the last update to `out`, sorted by `bodies`, then `parts`, then distance.
 */
enum FeelerResult feeler_scene_contacts(const struct FeelerScene *scene,
                                        struct FeelerSceneContact *out,
                                        size_t capacity,
                                        size_t *count);

/*
 Writes the events of the last update to `out`, sorted by `bodies`, then `parts`, then `id`: one event
 for every contact that existed in the last update or in the one before.
 */
enum FeelerResult feeler_scene_events(const struct FeelerScene *scene,
                                      struct FeelerContactEvent *out,
                                      size_t capacity,
                                      size_t *count);

/*
 Writes the status of two bodies in the last update to `out`. For compounds it is the most severe
 status of their pairs of solids, in the order interfering, undecided, touching, separated.
 `FEELER_STATUS_UNKNOWN` if the bodies were not near each other, so that no query was necessary, or if
 the options skipped the verdict.
 */
enum FeelerResult feeler_scene_status(const struct FeelerScene *scene,
                                      uint32_t a,
                                      uint32_t b,
                                      enum FeelerStatus *out);

/*
 Finds the near pairs of the bodies at their current poses, and for each pair the contacts that
 suffice for the next step of a simulator, in parallel. Two solids are near if their gap is at most
 the option `reach` plus the distance that the motions of both bodies can close. `bounds[i]` limits
 the motion of the body `ids[i]` in the step relative to the world: its rotation (rad) and the
 displacement (mm) of any of its points. Bodies that are not listed do not move. `options` may be NULL
 for the defaults; their dilations are added to those of the scene and its bodies. If the options
 change, the cached contacts of all pairs are discarded. If the function returns
 `FEELER_RESULT_QUERY`, the pairs whose queries failed are missing from the results.
 */
enum FeelerResult feeler_scene_track(struct FeelerScene *scene,
                                     const struct FeelerTrackerOptions *options,
                                     const uint32_t *ids,
                                     const struct FeelerStepBound *bounds,
                                     size_t n);

/*
 Writes the near pairs of the last `feeler_scene_track` to `out`, sorted by `bodies`, then `parts`. A
 near pair may have no contacts.
 */
enum FeelerResult feeler_scene_tracked_pairs(const struct FeelerScene *scene,
                                             struct FeelerTrackedPair *out,
                                             size_t capacity,
                                             size_t *count);

/*
 Writes the contacts of the near pairs to `out`, pair by pair in the order of
 `feeler_scene_tracked_pairs`, by ascending id within a pair. Ids are unique within a pair; they start
 again if the pair was not near for 64 calls. World coordinates are at the poses of the last
 `feeler_scene_track`.
 */
enum FeelerResult feeler_scene_tracked_contacts(const struct FeelerScene *scene,
                                                struct FeelerContact *out,
                                                size_t capacity,
                                                size_t *count);

/*
 Writes to `covers` whether the contacts of all near pairs suffice for the motion from the poses of
 the last `feeler_scene_track` to the current poses of the bodies.
 */
enum FeelerResult feeler_scene_covers(const struct FeelerScene *scene, bool *covers);

/*
 Writes to `out` the counts of updates, jumps and other events, summed over all calls of
 `feeler_scene_track` and all pairs of the scene.
 */
enum FeelerResult feeler_scene_tracker_counts(const struct FeelerScene *scene,
                                              struct FeelerTrackerCounts *out);

/*
 Writes the default options, including `struct_size`, to `options`. NULL does nothing.
 */
void feeler_tracker_options_init(struct FeelerTrackerOptions *options);

/*
 Creates a tracker of the contacts of the bodies A (`a`) and B (`b`), which may be the same body, for
 simulators that compute contacts once per step. `options` may be NULL for the defaults. Free the
 tracker with `feeler_contact_tracker_free`.
 */
enum FeelerResult feeler_contact_tracker_new(const struct FeelerBody *a,
                                             const struct FeelerBody *b,
                                             const struct FeelerTrackerOptions *options,
                                             struct FeelerContactTracker **out);

/*
 Frees a tracker.
 */
void feeler_contact_tracker_free(struct FeelerContactTracker *tracker);

/*
 Creates a copy of a tracker with its contacts, ids and counts, for simulations that are saved and
 restored. A verdict of the copy is available after its next update. Free the copy with
 `feeler_contact_tracker_free`.
 */
enum FeelerResult feeler_contact_tracker_clone(const struct FeelerContactTracker *tracker,
                                               struct FeelerContactTracker **out);

/*
 Computes the contacts for a step that starts at `pose_a` and `pose_b` and whose motion stays within
 `bound`. The contacts suffice: if such a motion of B relative to A keeps the linearised gap of every
 contact nonnegative, no gap of the bodies at its end is below about minus the option `gap_error`.
 `feeler_contact_tracker_contacts` returns the contacts. `report` may be NULL. After an error the
 tracker has no contacts.
 */
enum FeelerResult feeler_contact_tracker_update(struct FeelerContactTracker *tracker,
                                                const struct FeelerPose *pose_a,
                                                const struct FeelerPose *pose_b,
                                                const struct FeelerStepBound *bound,
                                                struct FeelerUpdate *report);

/*
 Estimates the bound of the step that starts at `pose_a` and `pose_b`, for engines that cannot query
 within a step, and writes it to `out`. The bound is twice the relative motion since the last update,
 plus the displacement `forced` (mm) that forces cause in a step, for example g·dt². Its rotation is
 at least the displacement divided by half the diagonal of the smaller body. The displacement is at
 most `max_displacement` (mm), and the bound at most the option `max_step`. For the first step and
 after a jump the displacement is `max_displacement`. The tracker does not change.
 */
enum FeelerResult feeler_contact_tracker_expected_bound(const struct FeelerContactTracker *tracker,
                                                        const struct FeelerPose *pose_a,
                                                        const struct FeelerPose *pose_b,
                                                        double forced,
                                                        double max_displacement,
                                                        struct FeelerStepBound *out);

/*
 Writes to `covers` whether the contacts suffice for the motion from the poses of the last update to
 `pose_a` and `pose_b`, that is whether the motion stays within the bound of that update. False if
 there was no update.
 */
enum FeelerResult feeler_contact_tracker_covers(const struct FeelerContactTracker *tracker,
                                                const struct FeelerPose *pose_a,
                                                const struct FeelerPose *pose_b,
                                                bool *covers);

/*
 Writes to `out` the motion of B relative to A from the poses of the last update to `pose_a` and
 `pose_b`; infinity if there was no update.
 */
enum FeelerResult feeler_contact_tracker_motion_to(const struct FeelerContactTracker *tracker,
                                                   const struct FeelerPose *pose_a,
                                                   const struct FeelerPose *pose_b,
                                                   struct FeelerStepBound *out);

/*
 Writes the contacts of the last update to `out`, by ascending id.
 */
enum FeelerResult feeler_contact_tracker_contacts(const struct FeelerContactTracker *tracker,
                                                  struct FeelerContact *out,
                                                  size_t capacity,
                                                  size_t *count);

/*
 Writes the second derivative of the gap of each contact to `out`, in the order of
 `feeler_contact_tracker_contacts`: the 36 entries of a symmetric 6 × 6 matrix H. A twist ξ of B at
 A's origin, in A's frame (translation in mm, then rotation in rad), changes the gap (mm) by
 `gap_rate`·ξ + ½ ξᵀHξ up to third order, if B's pose changes by the exponential of the twist. All
 entries are NaN for a contact that is not isolated, for example a member of a conformal set.
 */
enum FeelerResult feeler_contact_tracker_gap_hessians(const struct FeelerContactTracker *tracker,
                                                      double (*out)[36],
                                                      size_t capacity,
                                                      size_t *count);

/*
 Writes the gap (mm) of each contact predicted for the end of the next step to `out`, in the order of
 `feeler_contact_tracker_contacts`, as if that contact exerted no force. Engines whose contacts act
 only when closed need the contacts with negative predicted gaps. The gap is the smaller one of two
 predictions: one repeats the displacement of the last step, the other also repeats its change from the
 step before.

 `one_step_ago` and `two_steps_ago` are poses of B in A's frame before the last step and before the
 step that preceded it. Here NULL means unknown, not the identity. If `one_step_ago` is NULL, the gaps
 are those of the last update; if `two_steps_ago` is NULL, only the first prediction is made. `is_free`
 states that no joints guide the bodies; then an impact at one contact rotates the bodies, which can
 reduce the predicted gaps of the others. The contacts do not change.
 */
enum FeelerResult feeler_contact_tracker_predicted_gaps(struct FeelerContactTracker *tracker,
                                                        const struct FeelerPose *one_step_ago,
                                                        const struct FeelerPose *two_steps_ago,
                                                        bool is_free,
                                                        double *out,
                                                        size_t capacity,
                                                        size_t *count);

/*
 Writes the status of the last update to `status`, and to `depth` the depth (mm) of the deepest
 contact if the status is `FEELER_TRACKED_STATUS_PRESSED` or `FEELER_TRACKED_STATUS_DEEP`, else 0. For
 concave solids the depth of a contact is not the penetration depth. `depth` may be NULL.
 */
enum FeelerResult feeler_contact_tracker_status(const struct FeelerContactTracker *tracker,
                                                enum FeelerTrackedStatus *status,
                                                double *depth);

/*
 Computes the verdict, with its proof, at the poses of the last update and writes it to `out`. The
 status is `FEELER_STATUS_UNKNOWN` if there was no update or the last one failed.
 */
enum FeelerResult feeler_contact_tracker_verdict(struct FeelerContactTracker *tracker,
                                                 struct FeelerVerdict *out);

/*
 Writes the counts over all updates of a tracker to `out`.
 */
enum FeelerResult feeler_contact_tracker_counts(const struct FeelerContactTracker *tracker,
                                                struct FeelerTrackerCounts *out);

/*
 Discards the contacts and the poses of the last update, for example if a simulation is reset. The
 next update finds all contacts anew. Ids and counts continue.
 */
enum FeelerResult feeler_contact_tracker_clear(struct FeelerContactTracker *tracker);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FEELER_H */

/* FeelerQueryOptions options = FEELER_QUERY_OPTIONS_INIT; */
#define FEELER_QUERY_OPTIONS_INIT { (uint32_t)sizeof(FeelerQueryOptions), 0, 1, 0, 0, 0, {0}, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 }

/* FeelerCurveOptions options = FEELER_CURVE_OPTIONS_INIT; */
#define FEELER_CURVE_OPTIONS_INIT { (uint32_t)sizeof(FeelerCurveOptions), 16, 1.0, 1e-6, -1.0 }
