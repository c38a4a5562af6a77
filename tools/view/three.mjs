export {
  WebGLRenderer, Scene, PerspectiveCamera, Group, Mesh, LineSegments, Points,
  BufferGeometry, BufferAttribute,
  PlaneGeometry, MeshLambertMaterial, MeshBasicMaterial, LineBasicMaterial, PointsMaterial,
  HemisphereLight, DirectionalLight, Color, Vector2, Vector3, Quaternion,
  Matrix4, Box3, Sphere, Plane, Raycaster, DoubleSide, FrontSide, BackSide,
  AlwaysStencilFunc, NotEqualStencilFunc, IncrementWrapStencilOp, DecrementWrapStencilOp, ReplaceStencilOp,
} from 'three';
export { OrbitControls } from 'three/addons/controls/OrbitControls.js';
