// Worker of the page: imports files and answers queries. The page starts one for each import and one for queries.
import init, { Body, ContactPair, Model } from './feeler.js';

/// Triangles are within this fraction of the solid's diagonal of the exact surface.
const CHORD = 1e-3;

const models = new Map();
const bodies = new Map();
let pair = null, ready = null;

const body = (file, solid) => {
  const key = `${file} ${solid}`;
  if (!bodies.has(key)) bodies.set(key, new Body(models.get(file), solid));
  return bodies.get(key);
};

const actions = {
  /// Imports a file and returns its `.feeler` bytes.
  import({ name, bytes }) {
    const start = performance.now();
    let model;
    if (/\.feeler$/i.test(name)) {
      try {
        model = Model.fromBytes(bytes);
      } catch (e) {
        throw new Error(`${name}: ${e.message}`);
      }
    } else {
      model = Model.fromStep(bytes, name, stage => postMessage({ progress: stage }));
    }
    const seconds = (performance.now() - start) / 1000;
    const file = model.toBytes();
    const answer = { file, seconds, remarks: model.remarks, instances: model.instances, solids: model.solidCount };
    return [answer, [file.buffer]];
  },
  /// Loads a `.feeler` file under a number.
  load({ file, bytes }) {
    models.set(file, Model.fromBytes(bytes));
    return [{}];
  },
  unload({ file }) {
    pair = null;
    for (const key of bodies.keys()) if (key.startsWith(`${file} `)) bodies.delete(key);
    models.get(file)?.free();
    models.delete(file);
    return [{}];
  },
  /// Returns the triangles of a solid relative to the centre of its bounding box.
  mesh({ file, solid }) {
    const own = body(file, solid), b = own.bounds;
    const center = [0, 1, 2].map(k => (b[k] + b[k + 3]) / 2);
    const size = Math.hypot(...[0, 1, 2].map(k => b[k + 3] - b[k]));
    const answer = { center, size };
    try {
      const mesh = own.mesh(CHORD * size);
      answer.points = Float32Array.from(mesh.points, (x, i) => x - center[i % 3]);
      answer.normals = Float32Array.from(mesh.normals);
      answer.triangles = mesh.triangles;
    } catch (e) {
      return [{ ...answer, message: e.message }];
    }
    return [answer, [answer.points.buffer, answer.normals.buffer, answer.triangles.buffer]];
  },
  /// Returns contacts and verdict. The nearest contact is searched for if none is within `dMax`.
  query({ a, b, poseA, poseB, dMax }) {
    const start = performance.now();
    const key = [a.file, a.solid, b.file, b.solid].join(' ');
    if (pair?.key !== key) {
      const create = () => new ContactPair(body(a.file, a.solid), body(b.file, b.solid));
      pair = { key, near: create(), far: create() };
    }
    const contacts = pair.near.query(poseA, poseB, dMax);
    const verdict = pair.near.verdict;
    let farther = null;
    if (!contacts.length && verdict?.status === 'separated') {
      farther = pair.far.query(poseA, poseB, Infinity, { detect_interference: false })[0] ?? null;
    }
    return [{ contacts, verdict, farther, ms: performance.now() - start }];
  },
};

self.onmessage = async ({ data: { number, action, ...rest } }) => {
  try {
    ready ??= init({ module_or_path: rest.module });
    await ready;
    const [answer, transfer = []] = action === 'start' ? [{}] : actions[action](rest);
    postMessage({ number, answer }, transfer);
  } catch (e) {
    // After a trap the module is unusable; the page starts another worker.
    const isTrap = e instanceof WebAssembly.RuntimeError || e instanceof RangeError;
    postMessage({ number, failure: { message: String(e?.message ?? e), isTrap } });
  }
};
