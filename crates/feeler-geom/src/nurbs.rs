//! NURBS → rational Bézier pieces (BREP §2.1): knot insertion until every knot has full multiplicity.
