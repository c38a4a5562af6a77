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
 Version of the binary interface. It increases when the layout of a struct or the meaning of a
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
   A solid cannot be queried, or the model has no solid with this index.
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
   Bug in the library; please report it. The handle of the call is unusable: free it.
   */
  FEELER_RESULT_PANIC = 6,
} FeelerResult;

/*
 Kind of a finding, most severe first.
 */
typedef enum FeelerFindingKind {
  /*
   The interiors intersect.
   */
  FEELER_FINDING_KIND_INTERFERES = 0,
  /*
   Whether the interiors intersect is undecided.
   */
  FEELER_FINDING_KIND_UNDECIDED = 1,
  /*
   The pair could not be measured.
   */
  FEELER_FINDING_KIND_FAILED = 2,
  /*
   The parts are nearer than a rule allows.
   */
  FEELER_FINDING_KIND_TOO_CLOSE = 3,
  /*
   The parts touch although a rule forbids it.
   */
  FEELER_FINDING_KIND_TOUCHES = 4,
  /*
   The parts do not touch although a rule requires it.
   */
  FEELER_FINDING_KIND_DOES_NOT_TOUCH = 5,
} FeelerFindingKind;

/*
 Relation of two solids.
 */
typedef enum FeelerStatus {
  /*
   The solids have no common point.
   */
  FEELER_STATUS_SEPARATED = 0,
  /*
   The smallest distance is below the `tolerance` of the query options, and the interiors do not
   intersect deeper than that.
   */
  FEELER_STATUS_TOUCHING = 1,
  /*
   The interiors intersect.
   */
  FEELER_STATUS_INTERFERING = 2,
  /*
   The computing budget of the query was exhausted before interference was found or excluded.
   */
  FEELER_STATUS_UNDECIDED = 3,
  /*
   No verdict was computed, or the bodies are not near each other.
   */
  FEELER_STATUS_UNKNOWN = 4,
} FeelerStatus;

/*
 Change of a contact in an update.
 */
typedef enum FeelerEventKind {
  /*
   The contact did not exist in the previous update.
   */
  FEELER_EVENT_KIND_BEGAN = 0,
  /*
   The contact existed in the previous update and exists in this one.
   */
  FEELER_EVENT_KIND_PERSISTED = 1,
  /*
   The contact existed in the previous update only.
   */
  FEELER_EVENT_KIND_ENDED = 2,
} FeelerEventKind;

/*
 Status of two bodies by the signed gaps of their contacts.
 */
typedef enum FeelerTrackedStatus {
  /*
   Every gap exceeds the tolerance, 1e-7 of the larger body plus rounding.
   */
  FEELER_TRACKED_STATUS_SEPARATED = 0,
  /*
   The smallest gap is between minus this tolerance and this tolerance.
   */
  FEELER_TRACKED_STATUS_TOUCHING = 1,
  /*
   The smallest gap is below minus this tolerance.
   */
  FEELER_TRACKED_STATUS_PRESSED = 2,
  /*
   A contact is deeper than the option `max_depth`; it is still tracked.
   */
  FEELER_TRACKED_STATUS_DEEP = 3,
  /*
   The verdict is interference, but no contact has a negative gap: the bodies penetrate each other
   deeper than contacts are tracked.
   */
  FEELER_TRACKED_STATUS_INTERFERING = 4,
  /*
   There was no update, or the last one failed.
   */
  FEELER_TRACKED_STATUS_UNKNOWN = 5,
} FeelerTrackedStatus;

/*
 Reason for which a contact belongs to the set of a step.
 */
typedef enum FeelerStepContactKind {
  /*
   Local minimum of the distance, or corner of a conformal set.
   */
  FEELER_STEP_CONTACT_KIND_STRICT = 0,
  /*
   Minimum with respect to polars that are dilated by the rotation of the step.
   */
  FEELER_STEP_CONTACT_KIND_QUASI = 1,
  /*
   Sample of two nearly conformal features, at fixed parameters of one of them.
   */
  FEELER_STEP_CONTACT_KIND_SAMPLE = 2,
  /*
   Quasi-minimum beyond a concave edge of a face.
   */
  FEELER_STEP_CONTACT_KIND_EXTENDED = 3,
} FeelerStepContactKind;

/*
 Placed solids of one or several models. Not changed by `feeler_clearance_new`.
 */
typedef struct FeelerAssembly FeelerAssembly;

/*
 Solid, or open surface, that is ready for queries.
 */
typedef struct FeelerBody FeelerBody;

/*
 Result of a clearance check: findings about pairs of parts, most severe first.
 */
typedef struct FeelerClearance FeelerClearance;

/*
 Two bodies and the results that their queries reuse.
 */
typedef struct FeelerContactPair FeelerContactPair;

/*
 Contacts of two bodies over the steps of a simulator, with ids that persist from step to step.
 */
typedef struct FeelerContactTracker FeelerContactTracker;

/*
 Deformable curves with a radius among solids that move.
 */
typedef struct FeelerCurveScene FeelerCurveScene;

/*
 Exact solid as a wall for particles, with cached results of the particles near it.
 */
typedef struct FeelerExactWall FeelerExactWall;

/*
 Triangle mesh of a solid for display, in the solid's own coordinates.
 */
typedef struct FeelerMesh FeelerMesh;

/*
 Contents of a STEP or `.feeler` file: distinct solids and their instances.
 */
typedef struct FeelerModel FeelerModel;

/*
 Many bodies that move together.
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
   Volume (mm³).
   */
  double volume;
  /*
   Centre of mass (mm).
   */
  double centroid[3];
  /*
   Inertia tensor (mm⁵) about the centre of mass at density 1, axes of the solid, row by row.
   */
  double inertia[9];
  /*
   Lower bound of the thickness of the material (mm): the length of the shortest segment through
   material that is normal to faces at both ends. Infinite if there is no such segment; 0 for an
   open surface and if no bound could be proven.
   */
  double min_thickness;
  /*
   Numbers of supermaximal faces, edges and vertices.
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
 Rigid motion that maps own coordinates of a solid to world coordinates: rotation, then translation.
 */
typedef struct FeelerPose {
  /*
   Translation (mm).
   */
  double translation[3];
  /*
   Unit quaternion x, y, z, w. A norm within 1e-3 of 1 is normalised; any other is an error.
   */
  double rotation[4];
} FeelerPose;

/*
 Options of a clearance check. Set all members to 0 for the defaults, then `struct_size`.
 */
typedef struct FeelerClearanceOptions {
  /*
   `sizeof(FeelerClearanceOptions)`.
   */
  uint32_t struct_size;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Largest distance (mm) that is measured; 0: that of the rules, or else 1 mm.
   */
  double d_max;
  /*
   Lengths (mm) below this count as zero; 0: that of the rules, or else 1e-7 of the larger part's
   diagonal.
   */
  double tolerance;
} FeelerClearanceOptions;

/*
 Finding about two parts.
 */
typedef struct FeelerFinding {
  /*
   `sizeof(FeelerFinding)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Kind of the finding.
   */
  enum FeelerFindingKind kind;
  /*
   Index of the first part, in the order in which parts were added.
   */
  uint32_t part_a;
  /*
   Index of the second part, larger than that of the first one.
   */
  uint32_t part_b;
  /*
   Relation of the parts; unknown if they could not be measured or are farther apart than `d_max`.
   */
  enum FeelerStatus status;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Distance (mm) of the nearest minimum within `d_max`; NaN without one.
   */
  double distance;
  /*
   Smallest distance (mm) that the rule allows; NaN without one.
   */
  double min;
  /*
   Lower bound (mm) of the length of a translation that separates interfering parts; else 0.
   */
  double depth;
  /*
   Location of the finding on the first part (mm, world): the footpoint of the nearest minimum, or the
   point inside both parts if they interfere; NaN without one.
   */
  double point_a[3];
  /*
   Location of the finding on the second part (mm, world).
   */
  double point_b[3];
} FeelerFinding;

/*
 Options of a scene of curves. Initialise them with `FEELER_CURVE_OPTIONS_INIT` or
 `feeler_curve_options_init`, then change members.
 */
typedef struct FeelerCurveOptions {
  /*
   `sizeof(FeelerCurveOptions)`.
   */
  uint32_t struct_size;
  /*
   Maximum number of samples of a set of equal distance, at least 2; default 16.
   */
  uint32_t max_samples;
  /*
   Largest gap (mm) of reported contacts; default 1.
   */
  double d_max;
  /*
   Largest change of the distance with length (mm per mm) on a stretch of equal distance, which is
   reported as a set of samples; default 1e-6. With larger values, tubes that lie side by side
   become one contact sooner.
   */
  double level_slope;
  /*
   Smallest length (mm) of a set; a shorter level stretch is reported as one minimum. Negative
   (default): the sum of the radii or a hundredth of the smaller curve's size, whichever is larger.
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
   Id of the curve; of two curves the smaller id.
   */
  uint32_t curve;
  /*
   Id of the other curve, or of the body.
   */
  uint32_t other;
  /*
   Index of the solid in its body; 0 for curves.
   */
  uint32_t part;
  /*
   Parameters on both curves, from 0 to the number of pieces; for a curve with itself in ascending
   order. The second one is NaN for a solid.
   */
  double u[2];
  /*
   Point on the curve A. The nearest point of its tube is one radius away along the normal.
   */
  double point_a[3];
  /*
   Point on the other curve (the nearest point of its tube is one radius away against the normal),
   or on the solid.
   */
  double point_b[3];
  /*
   Unit vector with `point_b - point_a = distance * normal`. Where curves cross, it is orthogonal to
   both, with an arbitrary sign.
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
   Location on each curve: 0 inside a piece, 1 at a corner, 2 at a free end. The second one is 0 for
   a solid.
   */
  uint32_t place[2];
  /*
   Feature of the solid: 0: face, 1: edge, 2: vertex. `UINT32_MAX` for two curves.
   */
  uint32_t feature_kind;
  /*
   Index of the feature among the solid's features of this kind. `UINT32_MAX` for two curves.
   */
  uint32_t feature_index;
  /*
   Index of the set of equal distance of this curve and `other` that the sample belongs to;
   `UINT32_MAX` for a contact that is not a sample.
   */
  uint32_t set;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Identity: the same from update to update while the minimum moves continuously.
   */
  uint64_t id;
} FeelerCurveContact;

/*
 Stretch of a curve where the curvature exceeds 1/radius. The tube overlaps itself there although the
 distance of the curve from itself has no minimum.
 */
typedef struct FeelerTightBend {
  /*
   Id of the curve.
   */
  uint32_t curve;
  /*
   Reserved, 0.
   */
  uint32_t reserved;
  /*
   Parameters at the ends of the stretch.
   */
  double range[2];
  /*
   Parameter of the largest curvature found.
   */
  double u;
  /*
   Curvature there (1/mm); infinite at a cusp.
   */
  double curvature;
} FeelerTightBend;

/*
 Contact of a particle with an exact wall, in mm and world coordinates.
 */
typedef struct FeelerWallContact {
  /*
   Identity: the same while the contact of the particle stays on its feature of the wall. Store
   friction by particle and id.
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
   Signed distance of the surfaces along the normal; negative where the particle penetrates the
   wall.
   */
  double gap;
  /*
   Principal curvatures of the wall (1/mm), the larger one first, positive where the wall is convex;
   infinite across an edge, both infinite at a vertex.
   */
  double curvatures[2];
} FeelerWallContact;

/*
 Arrays of a mesh. The pointers are valid as long as the mesh.
 */
typedef struct FeelerMeshData {
  /*
   `sizeof(FeelerMeshData)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   Number of triangle sides without a neighbour; 0 for a closed mesh.
   */
  uint32_t open_sides;
  /*
   Largest distance found between a triangle and its surface (mm).
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
   Outward unit normals: x, y, z of each vertex.
   */
  const double *normals;
  /*
   For each vertex the index of the first vertex at the same position, to join the faces.
   */
  const uint32_t *welded;
  /*
   Indices of three vertices of each triangle, counter-clockwise seen from outside.
   */
  const uint32_t *triangles;
  /*
   Index of the supermaximal face of each triangle, as `FeelerFeatureRef.index`.
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
   Index of the solid, for `feeler_body_new`.
   */
  uint32_t solid;
  /*
   Pose of the solid in the model.
   */
  struct FeelerPose pose;
} FeelerInstance;

/*
 Options of a query. Initialise them with `FEELER_QUERY_OPTIONS_INIT` or `feeler_query_options_init`,
 then change members.
 */
typedef struct FeelerQueryOptions {
  /*
   `sizeof(FeelerQueryOptions)`.
   */
  uint32_t struct_size;
  /*
   Not 0: distribute one query among threads. The results are the same to the bit. Default 0.
   */
  uint8_t parallel;
  /*
   Not 0 (default): compute the verdict in every query. 0: never; `feeler_contact_pair_decide`
   computes it on demand.
   */
  uint8_t detect_interference;
  /*
   Not 0: skip the verdict if a contact has a negative gap, because such a contact explains the
   interference. Without effect if `penetration` is 0. Default 0.
   */
  uint8_t verdict_unless_pressed;
  /*
   Not 0: prove that no minimum with a spline is missing, or report what is undecided. Default 0.
   */
  uint8_t certified;
  /*
   Not 0: report only the outermost samples of conformal sets, which carry loads. Default 0.
   */
  uint8_t load_bearing;
  /*
   Reserved, ignored.
   */
  uint8_t reserved[7];
  /*
   Largest distance (mm) of reported contacts, at least 0; infinite for all. Default 1. In a scene
   it limits the gap and must be finite.
   */
  double d_max;
  /*
   Angle (rad) by which the polars of edges and vertices are dilated to report quasi-minima, from 0
   (none, default) to π/4.
   */
  double quasi_angle;
  /*
   Implicit dilation of A (mm), subtracted from the gap; does not affect `distance`. Default 0; may
   be negative.
   */
  double dilation_a;
  /*
   Implicit dilation of B (mm).
   */
  double dilation_b;
  /*
   Lengths (mm) below this count as zero; 0 (default): 1e-7 of the larger solid's diagonal.
   */
  double tolerance;
  /*
   Depth (mm) down to which contacts at negative distances are reported, at least 0 and less than
   half the sum of both `min_thickness`. Default 0.
   */
  double penetration;
  /*
   Largest spacing (mm) of the samples of a conformal set; 0 (default): a quarter of its extent.
   */
  double conformal_spacing;
} FeelerQueryOptions;

/*
 Feature of a solid with a footpoint on it.
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
   Number of the entity in the STEP file; 0 without an entity and in contacts of trackers.
   */
  uint64_t source;
  /*
   Parameters of the footpoint: u and v on a face, t and 0 on an edge, zeros at a vertex.
   */
  double uv[2];
} FeelerFeatureRef;

/*
 Local minimum of the distance between two solids, in mm and world coordinates.
 */
typedef struct FeelerContact {
  /*
   Signed distance of the footpoints; negative where the solids penetrate each other.
   */
  double distance;
  /*
   `distance` minus both dilations.
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
   Unit vector from A to B, outward from A: `point_b - point_a = distance * normal`. It keeps its
   direction if the distance becomes negative.
   */
  double normal[3];
  /*
   Smallest and largest normal curvature of A at the footpoint (1/mm), positive where A is convex;
   infinite across an edge and at a vertex.
   */
  double curvature_a[2];
  /*
   Smallest and largest normal curvature of B at the footpoint (1/mm).
   */
  double curvature_b[2];
  /*
   Identity: the same from query to query of a pair while the footpoints stay on their features.
   Fits a double.
   */
  uint64_t id;
  /*
   Number of preceding consecutive queries that found this contact; 0 for a new contact.
   */
  uint32_t age;
  /*
   0: strict minimum, 1: quasi-minimum (`quasi_angle`), 2: sample of a conformal set.
   */
  uint8_t kind;
  /*
   1: the solver stopped above rounding level (footpoints accurate to 1e-6 of the size) or, with the
   option `certified`, its pair of areas may have more minima. Else 0.
   */
  uint8_t undecided;
  /*
   Reserved, 0.
   */
  uint8_t reserved[2];
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
   `witness` to `undecided_count` are valid only if it is known.
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
   Point inside both solids, world coordinates (mm), if they interfere; else zeros.
   */
  double witness[3];
  /*
   Lower bound of the distance (mm) of the witness from the boundary of A. No translation shorter
   than `inside_a + inside_b` separates the solids.
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
   Number of pairs of areas that may have more minima than were found, in a query with the option
   `certified`; else 0.
   */
  uint32_t undecided_pairs;
} FeelerVerdict;

/*
 Contact of two bodies of a scene.
 */
typedef struct FeelerSceneContact {
  /*
   Ids of the bodies, ascending. A is the first one.
   */
  uint32_t bodies[2];
  /*
   Indices of the solids in their bodies; 0 except in compounds.
   */
  uint32_t parts[2];
  /*
   The contact.
   */
  struct FeelerContact contact;
} FeelerSceneContact;

/*
 Event of an update: a contact has begun, persisted or ended.
 */
typedef struct FeelerContactEvent {
  /*
   Ids of the bodies, ascending.
   */
  uint32_t bodies[2];
  /*
   Indices of the solids in their bodies.
   */
  uint32_t parts[2];
  /*
   Id of the contact.
   */
  uint64_t id;
  /*
   Index of the contact in `feeler_scene_contacts`; -1 if it has ended.
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
 Bound of the motion of B relative to A in one step.
 */
typedef struct FeelerStepBound {
  /*
   Largest relative rotation (rad).
   */
  double rotation;
  /*
   Largest displacement (mm), in A's frame, of any point of B that can come into contact.
   */
  double displacement;
} FeelerStepBound;

/*
 Options of a tracker. Initialise them with `feeler_tracker_options_init`, then change members.
 */
typedef struct FeelerTrackerOptions {
  /*
   `sizeof(FeelerTrackerOptions)`.
   */
  uint32_t struct_size;
  /*
   Reserved, ignored.
   */
  uint32_t reserved;
  /*
   Gap (mm) up to which contacts are reported in addition to those that the step can close; default
   0.05.
   */
  double reach;
  /*
   Depth (mm) down to which contacts are tracked, as far as the thickness of the bodies
   (`min_thickness`) allows; default infinite.
   */
  double max_depth;
  /*
   Largest relative motion between two updates up to which contacts continue. A larger motion is a
   jump: after it, no contact continues one of the previous update. Default 0.1 rad and 1 mm.
   */
  struct FeelerStepBound max_step;
  /*
   Largest error (mm) of a gap at the end of a step; default 1e-3.
   */
  double gap_error;
  /*
   Maximum number of contacts. Those with the largest gaps are dropped first, those with negative
   gaps never. Default `UINT64_MAX`.
   */
  uint64_t max_contacts;
  /*
   Implicit dilation of A (mm), subtracted from gaps; default 0.
   */
  double dilation_a;
  /*
   Implicit dilation of B (mm); default 0.
   */
  double dilation_b;
} FeelerTrackerOptions;

/*
 Near pair of solids of a scene in the last `feeler_scene_track`.
 */
typedef struct FeelerTrackedPair {
  /*
   Ids of the bodies, ascending. A is the solid of the first one.
   */
  uint32_t bodies[2];
  /*
   Indices of the solids in their bodies; 0 except in compounds.
   */
  uint32_t parts[2];
  /*
   Status by the signed gaps of the contacts.
   */
  enum FeelerTrackedStatus status;
  /*
   1 if the motion since the last call was a jump or the pair was not near in it, so that no contact
   continues; else 0.
   */
  uint8_t jumped;
  /*
   1 if a verdict was computed, else 0.
   */
  uint8_t decided;
  /*
   Reserved, 0.
   */
  uint8_t reserved[2];
  /*
   Depth (mm) of the deepest contact if the status is `FEELER_TRACKED_STATUS_PRESSED` or
   `FEELER_TRACKED_STATUS_DEEP`, else 0.
   */
  double depth;
  /*
   Bound of the relative motion for which the contacts suffice: the sum of the bounds of both
   bodies, rounded up to powers of two.
   */
  struct FeelerStepBound bound;
  /*
   Index of the first contact of the pair in `feeler_scene_tracked_contacts`.
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
 Contact of the set of a step, in mm. World coordinates are those of the last update.
 */
typedef struct FeelerStepContact {
  /*
   Identity: increases from contact to contact of a tracker and is never reused. Fits a double.
   */
  uint64_t id;
  /*
   Signed gap along the normal, minus both dilations.
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
   Outward unit normal of A, world coordinates: the contact pushes B along it.
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
   First derivative of the gap with respect to a twist of B at A's origin, in A's frame: translation
   (mm), then rotation (rad).
   */
  double gap_rate[6];
  /*
   Smallest and largest normal curvature of A at the footpoint (1/mm), positive where A is convex;
   infinite across an edge and at a vertex.
   */
  double curvature_a[2];
  /*
   Smallest and largest normal curvature of B at the footpoint (1/mm).
   */
  double curvature_b[2];
  /*
   Feature of A at the footpoint; `source` is 0.
   */
  struct FeelerFeatureRef feature_a;
  /*
   Feature of B at the footpoint; `source` is 0.
   */
  struct FeelerFeatureRef feature_b;
  /*
   Reason for which the contact belongs to the set.
   */
  enum FeelerStepContactKind kind;
  /*
   1 if the step can close the gap, because the gap is at most the displacement of the bound; else
   0. A solver needs only active contacts.
   */
  uint32_t is_active;
} FeelerStepContact;

/*
 Counts over all updates of a tracker, or of all trackers of a scene.
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
   Number of updates after a jump, including the first one.
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
   Number of contacts that were dropped.
   */
  uint64_t dropped;
} FeelerTrackerCounts;

/*
 Report of an update of a tracker.
 */
typedef struct FeelerUpdate {
  /*
   `sizeof(FeelerUpdate)`, set by the caller.
   */
  uint32_t struct_size;
  /*
   1 if the motion since the last update was a jump or this is the first update, so that no contact
   continues; else 0.
   */
  uint8_t jumped;
  /*
   1 if a verdict was computed, else 0.
   */
  uint8_t decided;
  /*
   Reserved, 0.
   */
  uint8_t reserved[2];
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
 another value must be compiled again.
 */
int feeler_abi_version(void);

/*
 Returns the version of the library, for example "0.1.0". The string is static: never NULL, not to be
 freed.
 */
const char *feeler_version(void);

/*
 Creates a body from the solid of a model with the index `solid`, which counts from 0. Free it with
 `feeler_body_free`. The body does not need the model any more.
 */
enum FeelerResult feeler_body_new(const struct FeelerModel *model, size_t solid, struct FeelerBody **out);

/*
 Frees a body. Pairs, trackers and scenes that use the body keep what they need.
 */
void feeler_body_free(struct FeelerBody *body);

/*
 Writes the geometric properties of a solid to `out`.
 */
enum FeelerResult feeler_body_info(const struct FeelerBody *body, struct FeelerBodyInfo *out);

/*
 Writes mass and inertia of the exact solid at a density (kg/m³; steel: 7850) to `out`. Fails with
 `FEELER_RESULT_ARGUMENT` unless the density is positive, and with `FEELER_RESULT_BODY` for an open
 surface.
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
 Adds the parts of a model, moved by `pose` from their placements in the model. `name` precedes their
 paths, unless it is NULL or "". Equal paths are numbered: "bolt#1", "bolt#2". The model may be freed.
 */
enum FeelerResult feeler_assembly_add(struct FeelerAssembly *assembly,
                                      const struct FeelerModel *model,
                                      const char *name,
                                      const struct FeelerPose *pose);

/*
 Writes the number of parts to `count`.
 */
enum FeelerResult feeler_assembly_part_count(const struct FeelerAssembly *assembly, size_t *count);

/*
 Measures all near pairs of parts, in parallel, and checks them against rules. `rules` is the text of a
 rules file in TOML, as for the command `feeler clearance`; NULL: parts must not interfere. `options` may
 be NULL. Free the result with `feeler_clearance_free`.
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
 Writes the number of findings to `count`.
 */
enum FeelerResult feeler_clearance_finding_count(const struct FeelerClearance *clearance, size_t *count);

/*
 Writes the finding with an index from 0 to `out`, the paths of its parts to `path_a` and `path_b`, and the
 name of its rule to `rule`, which is NULL without a rule. `path_a`, `path_b` and `rule` may be NULL; the
 strings are valid as long as `clearance`.
 */
enum FeelerResult feeler_clearance_finding(const struct FeelerClearance *clearance,
                                           size_t index,
                                           struct FeelerFinding *out,
                                           const char **path_a,
                                           const char **path_b,
                                           const char **rule);

/*
 Writes the default options, including `struct_size`.
 */
void feeler_curve_options_init(struct FeelerCurveOptions *options);

/*
 Creates a scene without curves and bodies. `options` may be NULL for the defaults. Free the scene
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
 has `3 * n_points` numbers: x, y, z (mm) of each control point. End points that neighbours share are
 listed once, so that k pieces have `k * degree + 1` points, or `k * degree` if the curve is `closed`
 and the last piece ends at the first point. `radius` (mm) of the tube is at least 0. Ids of curves
 are never reused.
 */
enum FeelerResult feeler_curve_scene_add_curve(struct FeelerCurveScene *scene,
                                               uint32_t degree,
                                               const double *points,
                                               size_t n_points,
                                               double radius,
                                               bool closed,
                                               uint32_t *id);

/*
 Adds a curve of cubic pieces through `n` nodes with given derivatives, as the rods and cables of a
 simulator have them, and writes its id to `id`. `points` and `derivatives` have `3 * n` numbers each.
 Derivatives are with respect to the parameter, which increases by 1 from node to node; if directions
 are not known, half the vector from the previous to the next node is a good choice.
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
 and adds it. `measured` has `3 * n` numbers. The number of pieces is the smallest that brings all
 points within `tolerance` (mm), at most what the points determine. `deviation` (may be NULL) receives
 the largest distance (mm) of a point from the curve, which may exceed the tolerance.
 `feeler_curve_scene_control_points` returns the control points.
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
 Moves a curve. `points` has `3 * n_points` numbers, with as many points as the curve has control
 points. If the points are invalid, the curve does not change.
 */
enum FeelerResult feeler_curve_scene_update_curve(struct FeelerCurveScene *scene,
                                                  uint32_t id,
                                                  const double *points,
                                                  size_t n_points);

/*
 Moves a curve of cubic pieces. `points` and `derivatives` have `3 * n` numbers each, with as many
 nodes as the curve has (`feeler_curve_scene_add_hermite`).
 */
enum FeelerResult feeler_curve_scene_update_hermite(struct FeelerCurveScene *scene,
                                                    uint32_t id,
                                                    const double *points,
                                                    const double *derivatives,
                                                    size_t n);

/*
 Removes a curve.
 */
enum FeelerResult feeler_curve_scene_remove_curve(struct FeelerCurveScene *scene, uint32_t id);

/*
 Writes the control points of a curve to `out`: x, y, z (mm) of each. `capacity` and `count` are
 numbers of points, so that `out` has space for `3 * capacity` numbers.
 */
enum FeelerResult feeler_curve_scene_control_points(const struct FeelerCurveScene *scene,
                                                    uint32_t id,
                                                    double *out,
                                                    size_t capacity,
                                                    size_t *count);

/*
 Writes the points of a curve at `n` parameters `u`, from 0 to the number of pieces, to `out`, which
 has space for `3 * n` numbers.
 */
enum FeelerResult feeler_curve_scene_points_at(const struct FeelerCurveScene *scene,
                                               uint32_t id,
                                               const double *u,
                                               size_t n,
                                               double *out);

/*
 Adds a body at a pose and writes its id to `id`. Ids of bodies are never reused and are independent
 of those of curves.
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
 Removes a body.
 */
enum FeelerResult feeler_curve_scene_remove_body(struct FeelerCurveScene *scene, uint32_t id);

/*
 Sets whether updates decide if near curves and bodies interfere (`feeler_curve_scene_status`).
 Initially they do not.
 */
enum FeelerResult feeler_curve_scene_detect_interference(struct FeelerCurveScene *scene, bool detects);

/*
 Computes all contacts between curves, of curves with themselves, and between curves and bodies, at
 their present positions. For contacts between bodies use a `FeelerScene`.
 */
enum FeelerResult feeler_curve_scene_update(struct FeelerCurveScene *scene);

/*
 Writes the contacts of the last update to `out`, by ascending pairs and parameters.
 */
enum FeelerResult feeler_curve_scene_contacts(const struct FeelerCurveScene *scene,
                                              struct FeelerCurveContact *out,
                                              size_t capacity,
                                              size_t *count);

/*
 Writes the stretches where curves were bent more tightly than their radius in the last update to
 `out`, by ascending curves and parameters.
 */
enum FeelerResult feeler_curve_scene_tight_bends(const struct FeelerCurveScene *scene,
                                                 struct FeelerTightBend *out,
                                                 size_t capacity,
                                                 size_t *count);

/*
 Writes the status of a curve and a body in the last update to `out`: separated, interfering, touching
 (the gap is zero within rounding), or undecided (the computing budget was exhausted).
 `FEELER_STATUS_UNKNOWN` if interference is not detected (`feeler_curve_scene_detect_interference`),
 or if the curve or the body is new.
 */
enum FeelerResult feeler_curve_scene_status(const struct FeelerCurveScene *scene,
                                            uint32_t curve,
                                            uint32_t body,
                                            enum FeelerStatus *out);

/*
 Writes to `interfere` whether the tubes of two curves, or of a curve with itself, overlapped in the
 last update. Tight bends do not count (`feeler_curve_scene_tight_bends`).
 */
enum FeelerResult feeler_curve_scene_curves_interfere(const struct FeelerCurveScene *scene,
                                                      uint32_t a,
                                                      uint32_t b,
                                                      bool *interfere);

/*
 Returns the message of the last call of this thread that did not return `FEELER_RESULT_OK`; "" before
 any. Never NULL, not to be freed; valid until the next failed call of this thread.
 */
const char *feeler_last_error(void);

/*
 Creates an exact wall at the identity pose. It keeps what it needs of the body. Free the wall with
 `feeler_exact_wall_free`.
 */
enum FeelerResult feeler_exact_wall_new(const struct FeelerBody *body, struct FeelerExactWall **out);

/*
 Frees a wall.
 */
void feeler_exact_wall_free(struct FeelerExactWall *wall);

/*
 Sets the pose of a wall.
 */
enum FeelerResult feeler_exact_wall_set_pose(struct FeelerExactWall *wall, const struct FeelerPose *pose);

/*
 Computes all contacts of `n` spheres whose gaps are at most `reach` (mm). `centers` has `3 * n`
 numbers (x, y, z in mm), `radii` has `n` (mm). `feeler_exact_wall_contacts` returns the contacts. The
 query is fastest if the particles have the order of the last call; the results do not depend on it. A
 sphere with its centre inside the material has one contact, along the shortest translation out of the
 wall.
 */
enum FeelerResult feeler_exact_wall_sphere_contacts(struct FeelerExactWall *wall,
                                                    const double *centers,
                                                    const double *radii,
                                                    size_t n,
                                                    double reach);

/*
 Computes all contacts of `n` superellipsoids whose gaps are at most `reach` (mm), like
 `feeler_exact_wall_sphere_contacts`. `centers` has `3 * n` numbers (mm), `orientations` `4 * n`
 (quaternions x, y, z, w from own axes to the world), `semi_axes` `3 * n` (mm), and `exponents` `2 *
 n` in [0.1, 1.9]: ε₁ around the z axis and ε₂ along it; 1, 1 is an ellipsoid.
 */
enum FeelerResult feeler_exact_wall_superellipsoid_contacts(struct FeelerExactWall *wall,
                                                            const double *centers,
                                                            const double *orientations,
                                                            const double *semi_axes,
                                                            const double *exponents,
                                                            size_t n,
                                                            double reach);

/*
 Writes the contacts of the last query to `out`, by ascending particles and gaps.
 */
enum FeelerResult feeler_exact_wall_contacts(const struct FeelerExactWall *wall,
                                             struct FeelerWallContact *out,
                                             size_t capacity,
                                             size_t *count);

/*
 Writes the index of the first contact of each particle to `out`, and at the end the number of all
 contacts: one more number than particles.
 */
enum FeelerResult feeler_exact_wall_offsets(const struct FeelerExactWall *wall,
                                            uint32_t *out,
                                            size_t capacity,
                                            size_t *count);

/*
 Creates a triangle mesh whose distance from the solid is at most `chord` (mm). Free it with
 `feeler_mesh_free`. Queries do not use meshes.
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
 Reads a STEP file and prepares its solids, which takes from a tenth of a second to some minutes.
 Write the model with `feeler_model_write` and read that file the next time. Solids that cannot be
 prepared are left out (`feeler_model_left_out_count`). Free the model with `feeler_model_free`.
 Available in libraries that are built with the feature `prepare`.
 */
enum FeelerResult feeler_prepare_step(const char *path, struct FeelerModel **out);

/*
 Prepares the `n` bytes of a STEP file like `feeler_prepare_step`. `name` is the file name in
 messages.
 */
enum FeelerResult feeler_prepare_bytes(const uint8_t *bytes,
                                       size_t n,
                                       const char *name,
                                       struct FeelerModel **out);

/*
 Writes a `.feeler` file. If writing fails, an existing file remains unchanged.
 */
enum FeelerResult feeler_model_write(const struct FeelerModel *model, const char *path);

/*
 Writes the bytes of a `.feeler` file to `out`.
 */
enum FeelerResult feeler_model_to_bytes(const struct FeelerModel *model,
                                        uint8_t *out,
                                        size_t capacity,
                                        size_t *count);

/*
 Frees a model. Its bodies remain valid.
 */
void feeler_model_free(struct FeelerModel *model);

/*
 Writes the number of distinct solids to `count`.
 */
enum FeelerResult feeler_model_solid_count(const struct FeelerModel *model, size_t *count);

/*
 Writes the number of instances to `count`. An assembly that contains a solid twice has two instances
 of it.
 */
enum FeelerResult feeler_model_instance_count(const struct FeelerModel *model, size_t *count);

/*
 Writes the number of solids and components that could not be prepared to `count`. The command `feeler
 inspect` lists them with the reasons.
 */
enum FeelerResult feeler_model_left_out_count(const struct FeelerModel *model, size_t *count);

/*
 Writes the instance with an index from 0 to `out`, and its name and its path to `name` and `path`.
 The path joins the names from the root of the assembly by '/' and is "" without an assembly. `name`
 and `path` may be NULL; the strings are valid as long as the model.
 */
enum FeelerResult feeler_model_instance(const struct FeelerModel *model,
                                        size_t index,
                                        struct FeelerInstance *out,
                                        const char **name,
                                        const char **path);

/*
 Creates a pair of bodies, which may be the same body. Free it with `feeler_contact_pair_free`.
 */
enum FeelerResult feeler_contact_pair_new(const struct FeelerBody *a,
                                          const struct FeelerBody *b,
                                          struct FeelerContactPair **out);

/*
 Frees a pair.
 */
void feeler_contact_pair_free(struct FeelerContactPair *pair);

/*
 Computes all local minima of the distance up to `d_max` and writes them to `out` by ascending
 distance. If `capacity` is less than `count`, `feeler_contact_pair_contacts` returns all contacts
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
 Computes a translation of B (mm, world coordinates) after which the solids at these poses no longer
 interfere: short, but not proven to be the shortest. Writes whether they interfere to `interfere`,
 and the translation to `out`, zeros if they do not. The search computes up to 200 verdicts. `options`
 may be NULL for the defaults. The contacts of the last query do not change.
 */
enum FeelerResult feeler_contact_pair_separating_translation(struct FeelerContactPair *pair,
                                                             const struct FeelerPose *pose_a,
                                                             const struct FeelerPose *pose_b,
                                                             const struct FeelerQueryOptions *options,
                                                             bool *interfere,
                                                             double *out);

/*
 Discards the results of earlier queries, so that the contacts of the next query get new ids.
 */
enum FeelerResult feeler_contact_pair_forget(struct FeelerContactPair *pair);

/*
 Writes the default options, including `struct_size`.
 */
void feeler_query_options_init(struct FeelerQueryOptions *options);

/*
 Creates an empty scene, whose queries use `options` (NULL: the defaults). `d_max` limits the gap,
 that is the distance minus both dilations, and must be finite. Free the scene with
 `feeler_scene_free`.
 */
enum FeelerResult feeler_scene_new(const struct FeelerQueryOptions *options, struct FeelerScene **out);

/*
 Frees a scene.
 */
void feeler_scene_free(struct FeelerScene *scene);

/*
 Adds a body at a pose and writes its id to `id`. Ids are never reused, not even after
 `feeler_scene_remove`.
 */
enum FeelerResult feeler_scene_add(struct FeelerScene *scene,
                                   const struct FeelerBody *body,
                                   const struct FeelerPose *pose,
                                   uint32_t *id);

/*
 Adds one body of `n` solids that move together, at a pose. `poses` maps the own coordinates of each
 solid to those of the body; NULL if they are the same.
 */
enum FeelerResult feeler_scene_add_compound(struct FeelerScene *scene,
                                            const struct FeelerBody *const *bodies,
                                            const struct FeelerPose *poses,
                                            size_t n,
                                            const struct FeelerPose *pose,
                                            uint32_t *id);

/*
 Adds all instances of a model at their poses as one body each, and writes the ids to `out`.
 `feeler_model_instance_count` returns their number in advance.
 */
enum FeelerResult feeler_scene_add_model(struct FeelerScene *scene,
                                         const struct FeelerModel *model,
                                         uint32_t *out,
                                         size_t capacity,
                                         size_t *count);

/*
 Removes a body. Its contacts end in the next update.
 */
enum FeelerResult feeler_scene_remove(struct FeelerScene *scene, uint32_t id);

/*
 Sets the poses of `n` bodies for the next update. If a body or a pose is invalid, the bodies before
 it in the array have moved, the others have not.
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
 Sets options of all pairs of a body. `d_max`: largest gap (mm), negative for that of the scene; of
 two bodies the larger value applies. `dilation` (mm): implicit dilation of the body, added to that of
 the scene. `fixed`: the body never moves; pairs of fixed bodies are skipped.
 */
enum FeelerResult feeler_scene_set_body_options(struct FeelerScene *scene,
                                                uint32_t id,
                                                double d_max,
                                                double dilation,
                                                bool fixed);

/*
 Sets options of a pair of bodies, which replace those of the bodies. `d_max`: largest gap (mm),
 negative for that of the bodies. `dilation`: two implicit dilations (mm), of `a` and of `b`, added to
 those of the scene; NULL for those of the bodies. `ignored`: the pair is skipped.
 */
enum FeelerResult feeler_scene_set_pair_options(struct FeelerScene *scene,
                                                uint32_t a,
                                                uint32_t b,
                                                double d_max,
                                                const double *dilation,
                                                bool ignored);

/*
 Finds the near pairs of all bodies at their poses and computes the contacts and verdicts of these
 pairs. If the query of a pair fails, the function returns its error, and the results of all other
 pairs are up to date.
 */
enum FeelerResult feeler_scene_update(struct FeelerScene *scene);

/*
 Writes the contacts of the last update to `out`, sorted by bodies, parts and distance.
 */
enum FeelerResult feeler_scene_contacts(const struct FeelerScene *scene,
                                        struct FeelerSceneContact *out,
                                        size_t capacity,
                                        size_t *count);

/*
 Writes the events of the last update to `out`, sorted by bodies, parts and id: one for every contact
 of this update and of the previous one.
 */
enum FeelerResult feeler_scene_events(const struct FeelerScene *scene,
                                      struct FeelerContactEvent *out,
                                      size_t capacity,
                                      size_t *count);

/*
 Writes the status of two bodies in the last update to `out`. For several pairs of solids it is the
 most severe one, in the order interfering, undecided, touching, separated. `FEELER_STATUS_UNKNOWN` if
 the bodies were not near each other, so that no query was necessary, or if the options skipped the
 verdict.
 */
enum FeelerResult feeler_scene_status(const struct FeelerScene *scene,
                                      uint32_t a,
                                      uint32_t b,
                                      enum FeelerStatus *out);

/*
 Finds the near pairs of the bodies at their poses, and for each pair the contacts that suffice for
 the next step, in parallel. Two solids are near if their gap is at most the option `reach` plus what
 both motions can close. `bounds[i]` limits the motion of the body `ids[i]` in the step relative to
 the world: its rotation (rad) and the displacement (mm) of any of its points. Bodies that are not
 listed do not move. `options` may be NULL for the defaults; their dilations are added to those of the
 scene and its bodies. If the options change, all pairs search anew. After `FEELER_RESULT_QUERY` the
 pairs that failed are missing from the results.
 */
enum FeelerResult feeler_scene_track(struct FeelerScene *scene,
                                     const struct FeelerTrackerOptions *options,
                                     const uint32_t *ids,
                                     const struct FeelerStepBound *bounds,
                                     size_t n);

/*
 Writes the near pairs of the last `feeler_scene_track` to `out`, by ascending bodies and parts. Some
 of them may have no contacts.
 */
enum FeelerResult feeler_scene_tracked_pairs(const struct FeelerScene *scene,
                                             struct FeelerTrackedPair *out,
                                             size_t capacity,
                                             size_t *count);

/*
 Writes the contacts of the near pairs to `out`, pair by pair in the order of
 `feeler_scene_tracked_pairs`, by ascending id within a pair. Ids are unique within a pair; a pair
 that was not near for 64 calls starts over. World coordinates are those of the last
 `feeler_scene_track`.
 */
enum FeelerResult feeler_scene_tracked_contacts(const struct FeelerScene *scene,
                                                struct FeelerStepContact *out,
                                                size_t capacity,
                                                size_t *count);

/*
 Writes to `covers` whether the contacts of all near pairs suffice for the motion from the poses of
 the last `feeler_scene_track` to the present poses of the bodies.
 */
enum FeelerResult feeler_scene_covers(const struct FeelerScene *scene, bool *covers);

/*
 Writes the counts over all calls and all pairs of the scene to `out`.
 */
enum FeelerResult feeler_scene_tracker_counts(const struct FeelerScene *scene,
                                              struct FeelerTrackerCounts *out);

/*
 Writes the default options, including `struct_size`.
 */
void feeler_tracker_options_init(struct FeelerTrackerOptions *options);

/*
 Creates a tracker of the contacts of two bodies, which may be the same body, for solvers that compute
 contacts once per step. `options` may be NULL for the defaults. Free the tracker with
 `feeler_contact_tracker_free`.
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
 Computes the contacts for a step that starts at these poses and stays within the bound. The contacts
 suffice: if the motion of B relative to A stays within the bound and keeps every linearised gap
 nonnegative, no gap at its end is below about `-gap_error`. `feeler_contact_tracker_contacts` returns
 the contacts. `report` may be NULL. After an error there are no contacts.
 */
enum FeelerResult feeler_contact_tracker_update(struct FeelerContactTracker *tracker,
                                                const struct FeelerPose *pose_a,
                                                const struct FeelerPose *pose_b,
                                                const struct FeelerStepBound *bound,
                                                struct FeelerUpdate *report);

/*
 Computes the bound of the step that starts at these poses, for engines that cannot query within a
 step: twice the relative motion since the last update, plus the displacement `forced` (mm) by forces,
 for example g·dt². The result is at most `max_displacement` (mm) and the option `max_step`. For the
 first step and after a jump the displacement is `max_displacement`. The tracker does not change.
 */
enum FeelerResult feeler_contact_tracker_expected_bound(const struct FeelerContactTracker *tracker,
                                                        const struct FeelerPose *pose_a,
                                                        const struct FeelerPose *pose_b,
                                                        double forced,
                                                        double max_displacement,
                                                        struct FeelerStepBound *out);

/*
 Writes to `covers` whether the contacts suffice for the motion from the poses of the last update to
 these poses; false if there was no update.
 */
enum FeelerResult feeler_contact_tracker_covers(const struct FeelerContactTracker *tracker,
                                                const struct FeelerPose *pose_a,
                                                const struct FeelerPose *pose_b,
                                                bool *covers);

/*
 Writes the motion of B relative to A since the last update to `out`; infinite if there was no update.
 */
enum FeelerResult feeler_contact_tracker_motion_to(const struct FeelerContactTracker *tracker,
                                                   const struct FeelerPose *pose_a,
                                                   const struct FeelerPose *pose_b,
                                                   struct FeelerStepBound *out);

/*
 Writes the contacts of the last update to `out`, by ascending id.
 */
enum FeelerResult feeler_contact_tracker_contacts(const struct FeelerContactTracker *tracker,
                                                  struct FeelerStepContact *out,
                                                  size_t capacity,
                                                  size_t *count);

/*
 Writes the second derivative of the gap of each contact to `out`, in the order of
 `feeler_contact_tracker_contacts`: a symmetric 6 × 6 matrix H. A twist ξ of B at A's origin, in A's
 frame (translation in mm, then rotation in rad), changes the gap (mm) by `gap_rate`·ξ + ½ ξᵀHξ up to
 third order, if B's pose changes by the exponential of the twist. All NaN for a contact that is not
 isolated, for example a member of a conformal set.
 */
enum FeelerResult feeler_contact_tracker_gap_hessians(const struct FeelerContactTracker *tracker,
                                                      double (*out)[36],
                                                      size_t capacity,
                                                      size_t *count);

/*
 Writes the predicted gap (mm) of each contact at the end of the step to `out`, in the order of
 `feeler_contact_tracker_contacts`, as if that contact did not act. Engines whose contacts act only
 when closed need the contacts with negative predicted gaps. The prediction continues the motion of
 the last step, or its acceleration over the last two; the smaller gap is returned.

 `one_step_ago` and `two_steps_ago` are poses of B in A's frame. Here NULL means unknown, not the
 identity. Without the first one the gaps are those of the last update. `is_free`: no joints guide the
 bodies, so that the prediction includes rotations by impacts at the other contacts. The contacts do
 not change.
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
 Computes the proven verdict at the poses of the last update and writes it to `out`. The status is
 `FEELER_STATUS_UNKNOWN` if there was no update or the last one failed.
 */
enum FeelerResult feeler_contact_tracker_verdict(struct FeelerContactTracker *tracker,
                                                 struct FeelerVerdict *out);

/*
 Writes the counts over all updates to `out`.
 */
enum FeelerResult feeler_contact_tracker_counts(const struct FeelerContactTracker *tracker,
                                                struct FeelerTrackerCounts *out);

/*
 Discards the contacts and the motion, for example if a simulation is reset: the next update searches
 anew. Ids and counts continue.
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
