"""Writes the meshes of this folder with gmsh 4.15.2: a box of 2 mm x 3 mm x 4 mm."""

import gmsh

gmsh.initialize()
gmsh.option.setNumber("Mesh.SaveAll", 1)
gmsh.option.setNumber("Mesh.MeshSizeMax", 2.5)
for name in ("tetrahedra", "hexahedra"):
    gmsh.model.add(name)
    recombine = name == "hexahedra"
    point = gmsh.model.geo.addPoint(0, 0, 0)
    line = gmsh.model.geo.extrude([(0, point)], 2, 0, 0, [2])[1]
    surface = gmsh.model.geo.extrude([line], 0, 3, 0, [2], recombine=recombine)[1]
    layers = [2] if recombine else []
    gmsh.model.geo.extrude([surface], 0, 0, 4, layers, recombine=recombine)
    gmsh.model.geo.synchronize()
    gmsh.model.mesh.generate(3)
    for version in (2.2, 4.1):
        gmsh.option.setNumber("Mesh.MshFileVersion", version)
        gmsh.write(f"{name}-{version}.msh")
gmsh.finalize()
