export {
  WebGLRenderer, Scene, PerspectiveCamera, Group, Mesh, InstancedMesh, LineSegments, Points,
  BufferGeometry, BufferAttribute,
  PlaneGeometry, IcosahedronGeometry, MeshLambertMaterial, MeshBasicMaterial, LineBasicMaterial, PointsMaterial,
  HemisphereLight, DirectionalLight, Color, Vector2, Vector3, Quaternion,
  Matrix4, Box3, Sphere, Plane, Raycaster, DoubleSide, FrontSide, BackSide,
  AlwaysStencilFunc, NotEqualStencilFunc, IncrementWrapStencilOp, DecrementWrapStencilOp, ReplaceStencilOp,
} from 'three';
export { OrbitControls } from 'three/addons/controls/OrbitControls.js';
