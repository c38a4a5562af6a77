"""Prints data/pour/peanut.step: a concave grain of revolution with a smooth surface, two spherical caps around the ends of
its axis and a toroidal neck between them, tangent to both.

    python make_peanut.py > peanut.step
"""

RADIUS = 1.0  # of the caps, mm
OFFSET = 0.75  # of their centres from the middle, along z
TUBE = 0.5  # radius of the concave arc of the neck

# The centre of the arc is at the distance RADIUS + TUBE from the centres of the caps.
major = ((RADIUS + TUBE) ** 2 - OFFSET**2) ** 0.5
rim_radius = major * RADIUS / (RADIUS + TUBE)
rim_z = OFFSET * TUBE / (RADIUS + TUBE)

HEAD = """ISO-10303-21;
HEADER;
FILE_DESCRIPTION(('peanut: two spherical caps and a toroidal neck'),'2;1');
FILE_NAME('peanut','',(''),(''),'','','');
FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));
ENDSEC;
DATA;
#1=APPLICATION_CONTEXT('automotive design');
#2=PRODUCT_CONTEXT('',#1,'mechanical');
#3=PRODUCT('peanut','peanut','',(#2));
#4=PRODUCT_DEFINITION_FORMATION('','',#3);
#5=PRODUCT_DEFINITION_CONTEXT('part definition',#1,'design');
#6=PRODUCT_DEFINITION('design','',#4,#5);
#7=PRODUCT_DEFINITION_SHAPE('','',#6);
#8=SHAPE_DEFINITION_REPRESENTATION(#7,#9);
#9=ADVANCED_BREP_SHAPE_REPRESENTATION('peanut',(#10),#20);
#10=MANIFOLD_SOLID_BREP('peanut',#11);
#11=CLOSED_SHELL('',(#30,#40,#50));
#12=DIRECTION('',(0.,0.,1.));
#13=DIRECTION('',(1.,0.,0.));
#20=(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT((#24))\
GLOBAL_UNIT_ASSIGNED_CONTEXT((#21,#22,#23))REPRESENTATION_CONTEXT('',''));
#21=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.));
#22=(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.));
#23=(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT());
#24=UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-07),#21,'distance_accuracy_value','');"""


def rim(first, z):
    """Circle between a cap and the neck, as a closed edge with one vertex."""
    return f"""#{first}=EDGE_CURVE('',#{first + 1},#{first + 1},#{first + 3},.T.);
#{first + 1}=VERTEX_POINT('',#{first + 2});
#{first + 2}=CARTESIAN_POINT('',({rim_radius!r},0.,{z!r}));
#{first + 3}=CIRCLE('',#{first + 4},{rim_radius!r});
#{first + 4}=AXIS2_PLACEMENT_3D('',#{first + 5},#12,#13);
#{first + 5}=CARTESIAN_POINT('',(0.,0.,{z!r}));"""


def cap(first, edge, z, sense):
    return f"""#{first}=ADVANCED_FACE('',(#{first + 1}),#{first + 4},.T.);
#{first + 1}=FACE_BOUND('',#{first + 2},.T.);
#{first + 2}=EDGE_LOOP('',(#{first + 3}));
#{first + 3}=ORIENTED_EDGE('',*,*,#{edge},{sense});
#{first + 4}=SPHERICAL_SURFACE('',#{first + 5},{RADIUS!r});
#{first + 5}=AXIS2_PLACEMENT_3D('',#{first + 6},#12,#13);
#{first + 6}=CARTESIAN_POINT('',(0.,0.,{z!r}));"""


NECK = f"""#50=ADVANCED_FACE('',(#51,#54),#57,.F.);
#51=FACE_BOUND('',#52,.T.);
#52=EDGE_LOOP('',(#53));
#53=ORIENTED_EDGE('',*,*,#60,.F.);
#54=FACE_BOUND('',#55,.T.);
#55=EDGE_LOOP('',(#56));
#56=ORIENTED_EDGE('',*,*,#70,.T.);
#57=TOROIDAL_SURFACE('',#58,{major!r},{TUBE!r});
#58=AXIS2_PLACEMENT_3D('',#59,#12,#13);
#59=CARTESIAN_POINT('',(0.,0.,0.));"""

print(HEAD)
print(cap(30, 60, OFFSET, ".T."))
print(cap(40, 70, -OFFSET, ".F."))
print(NECK)
print(rim(60, rim_z))
print(rim(70, -rim_z))
print("ENDSEC;\nEND-ISO-10303-21;")
