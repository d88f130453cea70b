from srv.mesh import Mesh
print(Mesh(1, [0, 1, 2]).others())
