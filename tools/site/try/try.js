// The page that imports STEP files and shows contacts. Everything runs on this device: worker.js imports files and
// answers queries, this script shows solids and contacts. Names become text, never markup.
const T = globalThis.THREE;
const $ = id => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

/// Number of files that are open at a time.
const MAX_FILES = 2;
/// Largest number of rows in the table of contacts, and of lines in the display.
const MAX_ROWS = 200;
const MAX_LINES = 2000;

const state = {
  files: [], // { number, name, li, worker, module… } in the order in which they were opened
  a: null, b: null, // { file, instance } of the solids
  shift: [0, 0, 0], // translation (mm) of B from its pose in its file
  turn: new T.Quaternion(), // rotation of B about its centre
  angles: [0, 0, 0], // of this rotation (degrees)
  dMax: null, isOwnDMax: false, // whether the user set d_max
};

// ---- Workers

/// Module that is compiled once and instantiated in each worker. Browsers cache the code of streamed modules;
/// servers that do not state the type of the file need the second way.
const compiled = (async () => {
  const response = await fetch('feeler_bg.wasm');
  if (!response.ok) throw new Error(`feeler_bg.wasm: ${response.status} ${response.statusText}`);
  const isStreamed = response.headers.get('Content-Type') === 'application/wasm';
  return isStreamed ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
})();
compiled.catch(e => { notice(`This page cannot be used: ${e.message}`); });

/// Worker whose actions are called as functions that return promises.
class Remote {
  constructor(onProgress = () => {}) {
    this.worker = new Worker('worker.js', { type: 'module' });
    this.calls = new Map();
    this.next = 0;
    this.worker.onmessage = ({ data }) => {
      if (data.progress) return onProgress(data.progress);
      const { resolve, reject } = this.calls.get(data.number);
      this.calls.delete(data.number);
      if (data.failure) reject(Object.assign(new Error(data.failure.message), data.failure));
      else resolve(data.answer);
    };
    this.worker.onerror = e => this.stop(Object.assign(new Error(e.message ?? 'the worker failed'), { isTrap: true }));
  }

  async call(action, rest = {}, transfer = []) {
    const module = await compiled;
    return new Promise((resolve, reject) => {
      const number = this.next++;
      this.calls.set(number, { resolve, reject });
      this.worker.postMessage({ number, action, module, ...rest }, transfer);
    });
  }

  /// Ends the worker; pending calls are rejected with `reason`.
  stop(reason = Object.assign(new Error('cancelled'), { isCancelled: true })) {
    this.worker.terminate();
    for (const { reject } of this.calls.values()) reject(reason);
    this.calls.clear();
  }
}

/// Worker of meshes and queries. It has a copy of each open file.
let solver = new Remote();
const restartSolver = async () => {
  solver.stop();
  solver = new Remote();
  const load = f => solver.call('load', { file: f.number, bytes: f.bytes });
  await Promise.all(state.files.filter(f => f.bytes).map(load)).catch(e => notice(e.message));
};

// ---- Files

const notice = text => { $('notice').textContent = text; };
const counted = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
const size = bytes => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
let fileCount = 0;

const remove = file => {
  file.remote?.stop();
  clearInterval(file.timer);
  file.li.remove();
  state.files = state.files.filter(f => f !== file);
  if (file.bytes) solver.call('unload', { file: file.number }).catch(() => {});
  listSolids();
};
const row = file => {
  const name = make('span', { className: 'name', textContent: file.name });
  const text = make('p', { className: 'state' });
  // The bar is shown for several solids only: its animation without a value takes time of the import.
  const bar = make('progress', { ariaLabel: `import of ${file.name}`, value: 0, hidden: true });
  const cancel = make('button', { type: 'button', className: 'cancel', textContent: 'Cancel' });
  const save = make('button', { type: 'button', className: 'save', textContent: 'Save .feeler', hidden: true });
  const close = make('button', { type: 'button', className: 'close', textContent: 'Remove', hidden: true });
  cancel.setAttribute('aria-label', `Cancel the import of ${file.name}`);
  save.setAttribute('aria-label', `Save ${file.name} as a .feeler file`);
  close.setAttribute('aria-label', `Remove ${file.name}`);
  const remarks = make('div');
  cancel.onclick = () => file.remote.stop();
  close.onclick = () => remove(file);
  save.onclick = () => {
    const url = URL.createObjectURL(new Blob([file.bytes], { type: 'application/octet-stream' }));
    const stem = file.name.replace(/\.(gz|zip)$/i, '').replace(/\.(step|stp|stpz|p21|feeler)$/i, '');
    make('a', { href: url, download: `${stem}.feeler` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  };
  const li = make('li', {}, make('div', { className: 'head' }, name, cancel, save, close), text, bar, remarks);
  $('files').append(li);
  return { li, text, bar, cancel, save, close, remarks };
};
const describeRemarks = remarks => {
  if (!remarks.length) return [];
  const shown = remarks.slice(0, MAX_ROWS).map(textContent => make('li', { textContent }));
  const more = remarks.length - shown.length;
  if (more) shown.push(make('li', { textContent: `and ${more} more` }));
  const errors = remarks.filter(r => r.startsWith('error')).length;
  const words = counted(remarks.length, 'remark') + (errors ? `, ${errors} of them on what is left out` : '');
  return [make('details', { open: errors > 0 }, make('summary', { textContent: words }), make('ul', {}, ...shown))];
};

/// Imports a file in a worker of its own, which `cancel` ends.
const importFile = async (name, read) => {
  const file = { number: fileCount++, name };
  Object.assign(file, row(file));
  state.files.push(file);
  const start = performance.now();
  let stage = 'loading';
  const show = () => { file.text.textContent = `${stage}, ${((performance.now() - start) / 1000).toFixed(1)} s`; };
  const remote = file.remote = new Remote(progress => {
    stage = 'reading the file';
    if (progress.stage === 'preparing') {
      stage = `preparing solid ${progress.index + 1} of ${progress.count}${progress.name ? ` '${progress.name}'` : ''}`;
      Object.assign(file.bar, { max: progress.count, value: progress.index, hidden: progress.count === 1 });
    }
    show();
  });
  file.timer = setInterval(show, 200);
  show();
  try {
    const bytes = await read();
    const found = await remote.call('import', { name, bytes }, [bytes.buffer]);
    Object.assign(file, { bytes: found.file, instances: found.instances, solids: found.solids });
    await solver.call('load', { file: file.number, bytes: file.bytes });
    file.li.dataset.seconds = found.seconds;
    file.text.textContent = `${counted(found.solids, 'solid')}, ${counted(found.instances.length, 'instance')}, `
      + `imported in ${found.seconds.toFixed(2)} s; .feeler file: ${size(file.bytes.length)}`;
    file.remarks.append(...describeRemarks(found.remarks));
    file.li.className = 'ready';
    file.save.hidden = false;
  } catch (e) {
    file.bytes = null;
    file.li.className = e.isCancelled ? 'cancelled' : 'failed';
    file.text.textContent = e.isCancelled ? `cancelled after ${((performance.now() - start) / 1000).toFixed(1)} s`
      : e.isTrap ? `${name}: the preparation failed because of a bug; please report this file` : e.message;
  }
  clearInterval(file.timer);
  remote.stop();
  file.remote = null;
  file.bar.remove();
  file.cancel.remove();
  file.close.hidden = false;
  if (state.files.includes(file)) listSolids();
};
const open = entries => {
  notice('');
  for (const file of state.files.filter(f => f.li.matches('.failed, .cancelled'))) remove(file);
  const free = MAX_FILES - state.files.length;
  if (entries.length > free && entries.length <= MAX_FILES) {
    // A full pair of files replaces the open one; a single file needs a free place.
    if (entries.length === MAX_FILES) [...state.files].forEach(remove);
    else return notice('Two files are open; remove one of them first.');
  } else if (entries.length > free) {
    return notice(`The page takes at most two files; these are ${entries.length}.`);
  }
  for (const [name, read] of entries) importFile(name, read);
};
const openFiles = files => open([...files].map(f => [f.name, async () => new Uint8Array(await f.arrayBuffer())]));

$('chooser').onchange = e => {
  openFiles(e.target.files);
  e.target.value = '';
};
$('demo').onclick = () => open(['socket.step', 'plug.step'].map(name => [name, async () => {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}]));
const isOver = over => document.body.classList.toggle('over', over);
document.addEventListener('dragover', e => {
  e.preventDefault();
  isOver(true);
});
document.addEventListener('dragleave', e => { if (!e.relatedTarget) isOver(false); });
document.addEventListener('drop', e => {
  e.preventDefault();
  isOver(false);
  if (e.dataTransfer.files.length) openFiles(e.dataTransfer.files);
});

// ---- Choice of the solids

const nameOf = instance => instance.path || instance.name || `solid ${instance.solid}`;
const usable = () => state.files.filter(f => f.bytes);
const listSolids = () => {
  const files = usable();
  const isShown = files.length > 0;
  for (const id of ['setup', 'result', 'tools', 'verdict']) $(id).hidden = !isShown;
  $('hint').hidden = isShown;
  const all = files.flatMap(file =>
    file.instances.map((instance, i) => ({ file, instance, key: `${file.number} ${i}` })));
  const isOpen = choice => choice && all.some(c => c.key === choice.key);
  const kept = [isOpen(state.a) ? state.a.key : null, isOpen(state.b) ? state.b.key : null];
  for (const select of [$('solid-a'), $('solid-b')]) {
    select.replaceChildren(...files.map(file => {
      const options = all.filter(c => c.file === file).map(c =>
        make('option', { value: c.key, textContent: nameOf(c.instance) }));
      return make('optgroup', { label: file.name }, ...options);
    }));
  }
  state.choices = all;
  if (!isShown) {
    Object.assign(state, { a: null, b: null });
    return show();
  }
  // A second file is that of B.
  const first = all[0];
  const other = all.find(c => c.file !== first.file) ?? all[1] ?? first;
  const isNew = state.listed !== files.length;
  state.listed = files.length;
  $('solid-a').value = (!isNew && kept[0]) || first.key;
  $('solid-b').value = (!isNew && kept[1]) || other.key;
  choose();
};
const chosen = id => state.choices.find(c => c.key === $(id).value);
const choose = async () => {
  const [a, b] = [chosen('solid-a'), chosen('solid-b')];
  const isSame = state.a?.key === a.key && state.b?.key === b.key;
  Object.assign(state, { a, b });
  const shapes = await Promise.all([a, b].map(shapeOf)).catch(e => {
    if (!e.isCancelled) fail(e);
    if (e.isTrap) restartSolver();
  });
  if (!shapes || state.a !== a || state.b !== b) return;
  if (!isSame) resetPose(shapes[1]);
  show(shapes);
  fit();
  move();
};
const shapeOf = choice => {
  const { file, instance } = choice;
  file.shapes ??= new Map();
  if (!file.shapes.has(instance.solid)) {
    const found = solver.call('mesh', { file: file.number, solid: instance.solid }).then(mesh => {
      if (mesh.message) notice(`${file.name}: the solid cannot be displayed: ${mesh.message}`);
      const geometry = new T.BufferGeometry();
      geometry.setAttribute('position', new T.BufferAttribute(mesh.points ?? new Float32Array(), 3));
      geometry.setAttribute('normal', new T.BufferAttribute(mesh.normals ?? new Float32Array(), 3));
      geometry.setIndex(new T.BufferAttribute(mesh.triangles ?? new Uint32Array(), 1));
      geometry.computeBoundingSphere();
      return { geometry, center: new T.Vector3(...mesh.center), size: mesh.size };
    });
    found.catch(() => file.shapes.delete(instance.solid));
    file.shapes.set(instance.solid, found);
  }
  return file.shapes.get(instance.solid);
};
$('solid-a').onchange = $('solid-b').onchange = choose;

// ---- Pose of B

const axes = ['x', 'y', 'z'].map((_, k) => new T.Vector3().setComponent(k, 1));
const matrixOf = pose => new T.Matrix4().compose(new T.Vector3(...pose.slice(0, 3)), new T.Quaternion(...pose.slice(3)),
  new T.Vector3(1, 1, 1));
/// Angles (degrees) about x, then y, then z.
const anglesOf = q => {
  const m = new T.Matrix4().makeRotationFromQuaternion(q).elements; // by columns
  const y = Math.asin(Math.max(-1, Math.min(1, -m[2])));
  const isFlat = Math.abs(m[2]) < 0.9999999;
  const x = isFlat ? Math.atan2(m[6], m[10]) : 0;
  const z = isFlat ? Math.atan2(m[1], m[0]) : Math.atan2(-m[4], m[5]);
  return [x, y, z].map(r => (r * 180) / Math.PI);
};
const turnOf = angles => angles.reduce((q, angle, k) =>
  new T.Quaternion().setFromAxisAngle(axes[k], (angle * Math.PI) / 180).multiply(q), new T.Quaternion());
/// Pose of B in the world: seven numbers. A solid that is not moved keeps the numbers of its file.
const poseOfB = () => {
  const own = state.b.instance.pose;
  if (state.shift.every(x => x === 0) && state.turn.w === 1) return [...own];
  const q = state.turn.clone().multiply(new T.Quaternion(...own.slice(3))).normalize();
  const center = state.shapes[1].center.clone().applyMatrix4(matrixOf(own));
  const from = state.shapes[1].center.clone().applyQuaternion(q);
  const at = [0, 1, 2].map(k => center.getComponent(k) + state.shift[k] - from.getComponent(k));
  // Pure translations are added to the stated position without further rounding.
  if (state.turn.w === 1) return [...own.slice(0, 3).map((x, k) => x + state.shift[k]), ...own.slice(3)];
  return [...at, q.x, q.y, q.z, q.w];
};
/// Multiples of a power of ten, for numbers that are set with the pointer.
const rounded = (x, step) => Number((Math.round(x / step) * step).toPrecision(12));
const grid = () => 10 ** Math.floor(Math.log10(extent / 1e4));
const shown = x => Number(x.toPrecision(10)).toString();
const inputs = ['x', 'y', 'z', 'x', 'y', 'z'].map((axis, i) => {
  const isAngle = i > 2, id = `${isAngle ? 'angle' : 'shift'}-${axis}`;
  const label = make('label', { htmlFor: id, textContent: isAngle ? `about ${axis} (°)` : `${axis} (mm)` });
  const slider = make('input', { type: 'range', min: -180, max: 180, step: 'any', value: 0 });
  slider.setAttribute('aria-label', `${label.textContent}, slider`);
  const number = make('input', { type: 'number', id, step: isAngle ? 1 : 'any', value: 0 });
  $('pose').append(make('div', { className: 'row' }, label, slider, number));
  const change = value => {
    if (!Number.isFinite(value)) return;
    if (isAngle) {
      state.angles = state.angles.map((angle, k) => (k === i - 3 ? value : angle));
      state.turn = turnOf(state.angles);
    } else {
      state.shift[i] = value;
    }
    refreshInputs(number);
    move();
  };
  slider.oninput = () => {
    number.value = shown(rounded(Number(slider.value), isAngle ? 0.01 : grid()));
    change(Number(number.value));
  };
  number.oninput = () => change(number.valueAsNumber);
  return { slider, number };
});
const refreshInputs = except => {
  const values = [...state.shift, ...state.angles];
  inputs.forEach(({ slider, number }, i) => {
    if (number !== except) number.value = shown(values[i]);
    slider.value = values[i];
  });
};
/// Returns B to its pose in the file, or beside A if both are the same instance.
const resetPose = ({ size }) => {
  const aside = state.a.key === state.b.key ? Number(size.toPrecision(3)) : 0;
  Object.assign(state, { shift: [aside, 0, 0], turn: new T.Quaternion(), angles: [0, 0, 0] });
};
$('reset').onclick = () => {
  if (!state.shapes) return;
  resetPose(state.shapes[1]);
  refreshInputs();
  move();
};
$('d-max').oninput = e => {
  const value = e.target.valueAsNumber;
  if (!(value >= 0)) return;
  Object.assign(state, { dMax: value, isOwnDMax: true });
  ask();
};

// ---- Display

let renderer = null;
try {
  renderer = new T.WebGLRenderer({ canvas: $('canvas'), antialias: true });
} catch {
  $('hint').textContent = 'The display needs WebGL, which this browser does not offer. Contacts are listed without it.';
}
const canvas = $('canvas'), sight = $('sight');
const world = new T.Scene(), camera = new T.PerspectiveCamera(35, 1, 0.1, 1e4), marks = new T.Group();
camera.up.set(0, 0, 1);
camera.position.set(1, -1.4, 1);
const lamp = new T.DirectionalLight(0xffffff, 1.7);
lamp.position.set(0.4, 0.7, 1);
camera.add(lamp);
world.add(new T.HemisphereLight(0xffffff, 0x8890a0, 1.5), camera, marks);
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const parts = ['--a', '--b'].map(color => {
  const material = new T.MeshLambertMaterial({ color: new T.Color(style(color)), side: T.DoubleSide });
  const mesh = new T.Mesh(new T.BufferGeometry(), material);
  mesh.matrixAutoUpdate = false;
  mesh.visible = false;
  world.add(mesh);
  return mesh;
});
let controls = null, extent = 1, waits = false;
const draw = () => {
  if (waits || !renderer) return;
  waits = true;
  requestAnimationFrame(() => {
    waits = false;
    const distance = camera.position.distanceTo(controls.target);
    camera.near = Math.max(distance, 1e-6) / 1000;
    camera.far = (distance + 8 * extent) * 2;
    camera.updateProjectionMatrix();
    renderer.render(world, camera);
  });
};
const repaint = () => {
  renderer?.setClearColor(new T.Color(style('--sky')));
  draw();
};

/// Shows the solids, or nothing.
const show = shapes => {
  state.shapes = shapes ?? null;
  parts.forEach((mesh, k) => {
    mesh.visible = Boolean(shapes);
    if (shapes) mesh.geometry = shapes[k].geometry;
  });
  mark([]);
  if (!shapes) return draw();
  extent = shapes[0].size + shapes[1].size;
  for (const { slider } of inputs.slice(0, 3)) Object.assign(slider, { min: -extent, max: extent });
  if (!state.isOwnDMax) {
    // A twentieth of the smaller solid, rounded to one digit.
    state.dMax = Number((Math.min(...shapes.map(s => s.size)) / 20).toPrecision(1));
    $('d-max').value = state.dMax;
  }
  refreshInputs();
};
const place = () => {
  [state.a.instance.pose, poseOfB()].forEach((pose, k) => {
    parts[k].matrix.copy(matrixOf(pose)).multiply(new T.Matrix4().makeTranslation(...state.shapes[k].center.toArray()));
    parts[k].updateMatrixWorld(true);
  });
  draw();
};
const lookAt = (ball, direction) => {
  if (!controls) return;
  const from = direction ?? camera.position.clone().sub(controls.target);
  const distance = (1.05 * ball.radius) / Math.sin((camera.fov * Math.PI) / 360) / Math.min(1, camera.aspect);
  controls.target.copy(ball.center);
  camera.position.copy(ball.center).addScaledVector(from.normalize(), distance);
  controls.update();
  draw();
};
const fit = () => {
  if (!state.shapes) return;
  place();
  const box = new T.Box3();
  parts.forEach((mesh, k) => {
    const g = mesh.geometry;
    g.boundingBox ?? g.computeBoundingBox();
    if (!g.boundingBox.isEmpty()) box.union(g.boundingBox.clone().applyMatrix4(mesh.matrixWorld));
    else box.expandByPoint(state.shapes[k].center);
  });
  const ball = box.getBoundingSphere(new T.Sphere());
  ball.radius = Math.max(ball.radius, 1e-6);
  lookAt(ball, new T.Vector3(0.9, -1.4, 0.95));
};
$('fit').onclick = fit;
$('glass').onchange = e => {
  for (const { material } of parts) {
    Object.assign(material, { transparent: e.target.checked, opacity: e.target.checked ? 0.4 : 1,
      depthWrite: !e.target.checked, needsUpdate: true });
  }
  draw();
};

/// Draws contacts: a line between the footpoints of each, and dots at its ends.
const mark = (contacts, strong = null) => {
  for (const object of marks.children) {
    object.geometry.dispose();
    object.material.dispose();
  }
  marks.clear();
  const add = (list, color, dot) => {
    const origin = list[0].point_a;
    const ends = Float32Array.from(list.flatMap(c => [...c.point_a, ...c.point_b]), (x, i) => x - origin[i % 3]);
    const geometry = () => new T.BufferGeometry().setAttribute('position', new T.BufferAttribute(ends, 3));
    const objects = [
      new T.LineSegments(geometry(), new T.LineBasicMaterial({ color, depthTest: false, transparent: true })),
      new T.Points(geometry(), new T.PointsMaterial({ color, size: dot * Math.min(devicePixelRatio, 2),
        sizeAttenuation: false, depthTest: false, transparent: true })),
    ];
    for (const object of objects) {
      object.position.set(...origin);
      object.renderOrder = 2;
    }
    marks.add(...objects);
  };
  if (contacts.length) add(contacts.slice(0, MAX_LINES), new T.Color(style('--mark')), 4);
  if (strong) add([strong], new T.Color(style('--accent')), 9);
  draw();
};

// ---- Motion by pointer and keys

const pointerAt = e => {
  const r = canvas.getBoundingClientRect();
  return new T.Vector2(((e.clientX - r.left) / r.width) * 2 - 1, 1 - ((e.clientY - r.top) / r.height) * 2);
};
const ray = new T.Raycaster();
const hits = e => {
  ray.setFromCamera(pointerAt(e), camera);
  return ray.intersectObjects(parts.filter(p => p.visible), false)[0];
};
let held = null;
// The listeners are on an ancestor and capture, so that the controls do not receive events of a drag.
sight.addEventListener('pointerdown', e => {
  if (!state.shapes || e.button !== 0 || e.ctrlKey || e.metaKey || e.target !== canvas) return;
  const found = hits(e);
  if (found?.object !== parts[1]) return;
  e.stopPropagation();
  canvas.focus();
  canvas.setPointerCapture(e.pointerId);
  const isRotation = e.shiftKey !== (document.querySelector('input[name=drag]:checked').value === 'rotate');
  const plane = new T.Plane().setFromNormalAndCoplanarPoint(camera.getWorldDirection(new T.Vector3()), found.point);
  held = { id: e.pointerId, isRotation, plane, from: found.point.clone(), shift: [...state.shift],
    turn: state.turn.clone(), x: e.clientX, y: e.clientY };
}, true);
sight.addEventListener('pointermove', e => {
  if (!held || e.pointerId !== held.id) return;
  e.stopPropagation();
  if (held.isRotation) {
    const axis = k => new T.Vector3().setFromMatrixColumn(camera.matrixWorld, k);
    const about = (k, pixels) => new T.Quaternion().setFromAxisAngle(axis(k), pixels * 0.01);
    const turn = about(1, e.clientX - held.x).multiply(about(0, e.clientY - held.y)).multiply(held.turn).normalize();
    state.angles = anglesOf(turn).map(angle => rounded(angle, 0.01));
    state.turn = turnOf(state.angles);
  } else {
    ray.setFromCamera(pointerAt(e), camera);
    const to = ray.ray.intersectPlane(held.plane, new T.Vector3());
    if (!to) return;
    to.sub(held.from);
    state.shift = held.shift.map((x, k) => rounded(x + to.getComponent(k), grid()));
  }
  refreshInputs();
  move();
}, true);
const release = e => {
  if (!held || e.pointerId !== held.id) return;
  e.stopPropagation();
  held = null;
};
sight.addEventListener('pointerup', release, true);
sight.addEventListener('pointercancel', release, true);
canvas.addEventListener('keydown', e => {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 1], ArrowDown: [1, -1] }[e.key];
  if (!step || !state.shapes) return;
  e.preventDefault();
  const by = new T.Vector3().setFromMatrixColumn(camera.matrixWorld, step[0]);
  by.multiplyScalar((step[1] * extent) / (e.shiftKey ? 2000 : 200));
  state.shift = state.shift.map((x, k) => rounded(x + by.getComponent(k), grid()));
  refreshInputs();
  move();
});
if (renderer) {
  controls = new T.OrbitControls(camera, canvas);
  controls.zoomToCursor = true;
  controls.addEventListener('change', draw);
  new ResizeObserver(() => {
    const { clientWidth: w, clientHeight: h } = sight;
    if (!w || !h) return;
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    renderer.setSize(w, h, false);
    camera.aspect = w / h;
    draw();
  }).observe(sight);
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
repaint();

// ---- Queries

const move = () => {
  place();
  $('pose-values').textContent = poseOfB().join(', ');
  ask();
};
let isAsking = false, isStale = false;
/// Starts a query of the present pose; if one is running, the next one starts after it, with the last pose.
const ask = async () => {
  if (!state.shapes) return;
  isStale = true;
  if (isAsking) return;
  isAsking = true;
  const late = setTimeout(() => { $('summary').textContent = 'computing'; }, 500);
  while (isStale && state.shapes) {
    isStale = false;
    const { a, b, dMax } = state;
    const side = choice => ({ file: choice.file.number, solid: choice.instance.solid });
    try {
      const answer = await solver.call('query',
        { a: side(a), b: side(b), poseA: a.instance.pose, poseB: poseOfB(), dMax });
      if (state.a === a && state.b === b) present(answer);
    } catch (e) {
      if (e.isCancelled) continue;
      fail(e);
      if (e.isTrap) await restartSolver();
    }
  }
  clearTimeout(late);
  isAsking = false;
};
const fail = e => {
  $('verdict').replaceChildren(make('b', { className: 'undecided', textContent: 'no verdict' }));
  $('result').dataset.status = 'failed';
  $('summary').textContent = e.isTrap ? 'The query failed because of a bug; please report the files and the pose.'
    : e.message;
  $('contacts').replaceChildren();
  mark([]);
};
const mm = d => {
  const size = Math.abs(d);
  return `${size < 1e-9 ? '0' : size < 1e-4 ? d.toExponential(3) : Number(d.toPrecision(9))} mm`;
};
const feature = f => `${f.kind} ${f.index}${f.source ? ` (#${f.source})` : ''}`;
const point = p => p.map(x => Number(x.toFixed(6))).join(', ');
const present = ({ contacts, verdict, farther, ms }) => {
  const listed = contacts.length ? contacts : farther ? [farther] : [];
  const words = [];
  const isApart = verdict.status !== 'interfering';
  if (isApart && verdict.min_distance !== undefined) words.push(`smallest distance ${mm(verdict.min_distance)}`);
  else if (farther) words.push(`smallest distance ${mm(farther.distance)}, which exceeds d_max`);
  if (verdict.witness) {
    words.push(`depth ${mm(verdict.depth)}`);
    words.push(`common point ${point(verdict.witness)}, at least ${mm(verdict.inside_a)} inside A and `
      + `${mm(verdict.inside_b)} inside B`);
  }
  words.push(`tolerance ${mm(verdict.tolerance)}`);
  $('verdict').replaceChildren(make('b', { className: verdict.status, textContent: verdict.status }),
    ...words.map((word, i) => make('span', { textContent: word + (i < words.length - 1 ? ';' : '') })));
  $('result').dataset.status = verdict.status;
  // Samples of one set, which are equally far, get one row.
  const key = c => (c.kind === 'conformal'
    ? [mm(c.distance), feature(c.feature_a), feature(c.feature_b)].join() : c.id);
  const groups = new Map();
  for (const c of listed) groups.set(key(c), [...(groups.get(key(c)) ?? []), c]);
  const rows = [...groups.values()].slice(0, MAX_ROWS).map(group => {
    const c = group[0];
    const cells = [mm(c.distance), c.kind + (group.length > 1 ? ` × ${group.length}` : ''), feature(c.feature_a),
      feature(c.feature_b)].map(textContent => make('td', { textContent }));
    const points = [c.point_a, c.point_b].map(p => make('td', { className: 'point', textContent: point(p) }));
    const tr = make('tr', { tabIndex: 0 }, ...cells, ...points);
    tr.onclick = () => {
      $('contacts').querySelector('.shown')?.classList.remove('shown');
      tr.classList.add('shown');
      mark(listed, c);
    };
    tr.onkeydown = e => {
      if (e.key !== 'Enter' && e.key !== ' ') return;
      e.preventDefault();
      tr.onclick();
    };
    return tr;
  });
  const heads = ['distance', 'kind', 'feature of A', 'feature of B', 'point on A (mm)', 'point on B (mm)'];
  $('contacts').replaceChildren(...(rows.length ? [
    make('thead', {}, make('tr', {}, ...heads.map(textContent => make('th', { scope: 'col', textContent })))),
    make('tbody', {}, ...rows)] : []));
  const more = groups.size > rows.length ? `, the first ${rows.length} rows shown` : '';
  const within = `${counted(contacts.length, 'contact')} within ${mm(state.dMax)}`;
  $('summary').textContent = `${within}${more} (${ms.toFixed(0)} ms)`
    + (farther ? '; the nearest one beyond d_max is listed.' : '');
  mark(listed);
};
