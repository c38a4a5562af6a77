'use strict';
// The picture of a page: parts of a scene, layers over them, what was measured, and how parts move.
// Its data are unpacked from the element `picture` (feeler-view/src/pack.rs). Names become text, never markup.
(async () => {
  const T = THREE;
  const view = document.getElementById('view');
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const fail = text => view.replaceChildren(make('p', { className: 'note', textContent: text }));

  // ---- Data

  const unpack = async text => {
    const packed = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    const bytes = await new Response(stream).arrayBuffer();
    const length = new DataView(bytes).getUint32(0, true);
    const data = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
    const kinds = { u8: Uint8Array, i16: Int16Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };
    data.array = ([kind, start, count]) => new kinds[kind](bytes, 4 + length + start, count);
    return data;
  };
  if (typeof DecompressionStream === 'undefined') return fail('This browser is too old for the picture.');
  const data = await unpack(document.getElementById('picture').textContent);
  const shapes = data.shapes;

  // ---- The stage

  let renderer;
  try {
    renderer = new T.WebGLRenderer({ antialias: true, stencil: true });
    renderer.localClippingEnabled = true;
  } catch {
    return fail('The picture needs WebGL, which this browser does not offer.');
  }
  const canvas = renderer.domElement;
  canvas.className = 'gl';
  canvas.tabIndex = 0;
  canvas.setAttribute('aria-label', 'the parts; drag to turn, right button to shift, wheel to zoom');
  const bar = make('div', { className: 'bar' });
  const tell = make('div', { className: 'tell', role: 'status' });
  const labels = make('div');
  const sight = make('div', { className: 'sight' }, canvas, labels, bar, tell);
  const stage = make('section', { id: 'stage' }, sight);
  const panel = make('aside', { id: 'panel' });
  view.replaceChildren(stage, panel);

  const world = new T.Scene();
  const camera = new T.PerspectiveCamera(35, 1, 0.1, 1e4);
  camera.up.set(0, 0, 1);
  const controls = new T.OrbitControls(camera, canvas);
  controls.zoomToCursor = true;
  world.add(new T.HemisphereLight(0xffffff, 0x8890a0, 1.5));
  const lamp = new T.DirectionalLight(0xffffff, 1.7);
  camera.add(lamp);
  lamp.position.set(0.4, 0.7, 1);
  world.add(camera);

  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let isDark = false;
  const repaint = () => {
    isDark = matchMedia('(prefers-color-scheme: dark)').matches;
    renderer.setClearColor(new T.Color(style('--sky')));
    lines.edges.color.set(isDark ? 0x0b0d10 : 0x20252b);
    draw();
  };
  let waits = false;
  const draw = () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      const distance = camera.position.distanceTo(controls.target);
      camera.near = Math.max(distance, 1e-6) / 1000;
      camera.far = (distance + 4 * extent) * 2;
      camera.updateProjectionMatrix();
      renderer.render(world, camera);
      placeLabels();
    });
  };
  let extent = 1, isTouched = false;
  controls.addEventListener('start', () => { isTouched = true; });
  new ResizeObserver(() => {
    const { clientWidth: w, clientHeight: h } = sight;
    if (!w || !h) return;
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    renderer.setSize(w, h, false);
    camera.aspect = w / h;
    // Until somebody has turned it, the picture shows everything.
    if (!isTouched && !state.pair) fit();
    draw();
    drawCurve();
  }).observe(sight);
  controls.addEventListener('change', draw);

  // ---- Shapes and parts

  const cut = new T.Plane(new T.Vector3(-1, 0, 0), 0);
  const line = (color, more = {}) => new T.LineBasicMaterial({ color, ...more });
  const lines = {
    edges: line(0x20252b),
    areas: line(0xd2691e),
    boxes: line(0x2a8f5b),
    cones: line(0x8a3ffc),
  };
  const accents = [new T.Color(0x79b0ea), new T.Color(0xf2b46c)];
  // Far apart on the wheel of hues for neighbours in number.
  const hue = (k, saturation, light) => new T.Color().setHSL((0.58 + k * 0.381966) % 1, saturation, light);

  const segments = array => new T.BufferGeometry().setAttribute('position', new T.BufferAttribute(array, 3));
  const geometry = shape => {
    if (shape.geometry) return shape.geometry;
    const g = segments(data.array(shape.points));
    g.setAttribute('normal', new T.BufferAttribute(data.array(shape.normals), 3, true));
    g.setIndex(new T.BufferAttribute(data.array(shape.triangles), 1));
    // What deforms is somewhere in the box of all its places.
    const drawn = data.array(shape.frames?.points ?? shape.points);
    // A shape without triangles consists of lines.
    g.boundingBox = new T.Box3().setFromArray(drawn.length ? drawn : data.array(shape.edges));
    g.boundingSphere = g.boundingBox.getBoundingSphere(new T.Sphere());
    shape.edge_lines = segments(data.array(shape.edges));
    return shape.geometry = g;
  };
  // A colour for each supermaximal face, as an attribute of the vertices: faces share none.
  const colorGroups = shape => {
    const g = geometry(shape);
    if (g.getAttribute('color')) return;
    const colors = new Float32Array(g.getAttribute('position').count * 3);
    const triangles = data.array(shape.triangles);
    data.array(shape.face_of).forEach((face, t) => {
      const c = hue(face, 0.6, 0.58);
      for (let k = 0; k < 3; k++) c.toArray(colors, 3 * triangles[3 * t + k]);
    });
    g.setAttribute('color', new T.BufferAttribute(colors, 3));
  };
  const boxLines = (shape, level) => {
    const levels = data.array(shape.levels), boxes = data.array(shape.boxes);
    const out = [];
    for (let i = 0; i < levels.length; i++) {
      if (levels[i] !== level) continue;
      const [c, ...axes] = [0, 1, 2, 3].map(k => new T.Vector3().fromArray(boxes, 12 * i + 3 * k));
      const corner = signs => axes.reduce((p, a, k) => p.addScaledVector(a, signs & (1 << k) ? 1 : -1), c.clone());
      for (let s = 0; s < 8; s++) {
        for (let k = 0; k < 3; k++) {
          if (!(s & (1 << k))) out.push(...corner(s).toArray(), ...corner(s | (1 << k)).toArray());
        }
      }
    }
    return new Float32Array(out);
  };
  const coneLines = shape => {
    const apexes = data.array(shape.apexes), generators = data.array(shape.generators), out = [];
    const length = 0.04 * shape.size;
    let first = 0;
    shape.generator_counts.forEach((count, i) => {
      const apex = new T.Vector3().fromArray(apexes, 3 * i);
      const tips = [...Array(count).keys()].map(k => apex.clone().addScaledVector(
        new T.Vector3().fromArray(generators, 3 * (first + k)).multiplyScalar(1 / 32767), length));
      tips.forEach((tip, k) => {
        out.push(...apex.toArray(), ...tip.toArray(), ...tip.toArray(), ...tips[(k + 1) % count].toArray());
      });
      first += count;
    });
    return new Float32Array(out);
  };

  const pose = values => new T.Matrix4().compose(
    new T.Vector3(values[0], values[1], values[2]),
    new T.Quaternion(values[3], values[4], values[5], values[6]), new T.Vector3(1, 1, 1));
  const state = {
    scene: null, parts: [], pair: null, step: 0, picked: [], marked: null,
    layers: { edges: true, groups: false, areas: false, boxes: false, cones: false, minima: true }, level: 2,
    // Distance of cells from each other, relative to their distance from the middle.
    apart: 0,
    section: { axis: '', at: 0, flip: false },
  };
  const root = new T.Group(), marks = new T.Group();
  world.add(root, marks);

  const material = color => new T.MeshLambertMaterial({ color, side: T.DoubleSide, polygonOffset: true,
    polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
  const tints = { old: new T.Color(0xd06060), new: new T.Color(0x59a868) };
  const openScene = index => {
    for (const part of state.parts) {
      unfillCut(part);
      part.mesh.material.dispose();
    }
    root.clear();
    const scene = data.scenes[index];
    Object.assign(state, { scene, index, pair: null, step: 0, picked: [], first: null });
    state.parts = scene.parts.map((p, i) => {
      const shape = shapes[p.shape], isNumber = typeof p.tint === 'number';
      const color = tints[p.tint] ?? hue(isNumber ? p.tint : p.shape, 0.42, 0.62);
      const mesh = new T.Mesh(geometry(shape), material(color));
      const edges = new T.LineSegments(shape.edge_lines, lines.edges);
      const inner = new T.Group();
      inner.position.fromArray(shape.middle);
      inner.add(mesh, edges);
      const group = new T.Group();
      group.matrixAutoUpdate = false;
      group.add(inner);
      root.add(group);
      mesh.userData.part = i;
      return { ...p, i, shape, color, mesh, edges, inner, group, own: pose(p.pose), moved: null, layers: {},
        visible: true };
    });
    state.tracks = (scene.motion?.tracks ?? []).map(data.array);
    openBalls(scene.balls);
    buildTree();
    buildPlayer();
    buildPairs();
    buildMarks();
    const off = Math.max(0, ...state.parts.map(p => p.shape.deviation));
    closeness.textContent = scene.are_cells ? '' : `Drawn within ${off.toExponential(1)} mm`
      + (scene.balls ? '.' : '; distances are those of the exact surfaces.');
    placeParts();
    refreshLayers();
    restyle();
    fit();
    if (scene.marks.length) markAll();
    if (state.section.axis) applySection();
  };
  const trackPose = (track, step) => {
    const values = state.tracks[track].subarray(7 * step, 7 * step + 7);
    return pose(values);
  };
  // The vertices of what deforms, as they are at the step.
  const deform = shape => {
    for (const [name, key] of [['position', 'points'], ['normal', 'normals']]) {
      const attribute = shape.geometry.getAttribute(name), all = data.array(shape.frames[key]);
      const n = attribute.array.length;
      attribute.array.set(all.subarray(n * state.step, n * state.step + n));
      attribute.needsUpdate = true;
    }
  };
  // Balls that move, come and go: one mesh, placed as often as there are balls at the step.
  const openBalls = balls => {
    for (const mesh of state.balls?.meshes ?? []) mesh.geometry.dispose();
    state.balls?.material.dispose();
    state.balls = null;
    legend.textContent = '';
    if (!balls) return;
    const [numbers, centers, values, radii] = [balls.numbers, balls.centers, balls.values, balls.radii].map(data.array);
    const most = Math.max(1, ...balls.counts);
    const kinds = balls.shape_of && data.array(balls.shape_of);
    const turns = balls.turns && data.array(balls.turns);
    const material = new T.MeshLambertMaterial({ color: 0xffffff });
    // Of many balls each is small in sight.
    const forms = [new T.IcosahedronGeometry(1, most > 5000 ? 1 : 2), ...balls.shapes.map(s => {
      const g = segments(data.array(s.points));
      g.setAttribute('normal', new T.BufferAttribute(data.array(s.normals), 3, true));
      return g.setIndex(new T.BufferAttribute(data.array(s.triangles), 1));
    })];
    const meshes = forms.map(form => new T.InstancedMesh(form, material, most));
    for (const mesh of meshes) mesh.frustumCulled = false;
    let sum = 0;
    const starts = balls.counts.map(n => (sum += n) - n);
    const low = new T.Vector3(...balls.min), high = low.clone().add(new T.Vector3(...balls.size));
    // A shape may be longer than the ball.
    const reach = balls.shapes.reduce((a, s) => data.array(s.points).reduce((b, x) => Math.max(b, Math.abs(x)), a), 1);
    state.balls = { ...balls, meshes, material, kinds, turns, numbers, centers, values, radii, starts,
      box: new T.Box3(low, high).expandByScalar(reach * radii.reduce((a, b) => Math.max(a, b), 0)) };
    root.add(...meshes);
    const [what, unit] = balls.value;
    legend.textContent = `${kinds ? 'Grains' : 'Balls'} by ${what}: blue is 0, red ${Number(balls.most.toPrecision(3))} ${unit}.`;
  };
  const placeBalls = () => {
    const b = state.balls;
    if (!b) return;
    const n = b.counts[state.step] ?? 0, from = b.starts[state.step] ?? 0, color = new T.Color();
    const at = new T.Vector3(), turn = new T.Quaternion(), size = new T.Vector3(), matrix = new T.Matrix4();
    for (const mesh of b.meshes) mesh.count = 0;
    for (let k = from; k < from + n; k++) {
      const mesh = b.meshes[b.kinds?.[b.numbers[k]] ?? 0], i = mesh.count++;
      at.set(...[0, 1, 2].map(j => b.min[j] + (b.size[j] * b.centers[3 * k + j]) / 65535));
      if (b.turns) turn.fromArray(b.turns, 4 * k).normalize();
      mesh.setMatrixAt(i, matrix.compose(at, turn, size.setScalar(b.radii[b.numbers[k]])));
      mesh.setColorAt(i, color.setHSL(0.62 * (1 - b.values[k] / 65535), 0.75, 0.55));
    }
    for (const mesh of b.meshes) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  };
  const placeParts = () => {
    placeBalls();
    const isApart = state.scene.are_cells && state.apart > 0;
    const middles = isApart ? state.parts.map(p => new T.Vector3(...p.shape.middle)) : [];
    const center = new T.Box3().setFromPoints(middles).getCenter(new T.Vector3());
    for (const part of state.parts) {
      if (part.shape.frames && state.scene.motion) deform(part.shape);
      const m = part.moved ? part.moved.clone() : part.own.clone();
      if (part.track !== null) m.premultiply(trackPose(part.track, state.step));
      if (isApart) m.setPosition(middles[part.i].clone().sub(center).multiplyScalar(state.apart));
      part.group.matrix.copy(m);
      part.group.matrixWorldNeedsUpdate = true;
    }
    marks.visible = areMarksShown();
    root.updateMatrixWorld(true);
    draw();
  };
  // Marks are at the places of cells that touch each other.
  const areMarksShown = () => state.layers.minima && !(state.scene?.are_cells && state.apart > 0);
  const boxOf = parts => {
    root.updateMatrixWorld(true);
    const box = new T.Box3();
    for (const p of parts) box.union(p.mesh.geometry.boundingBox.clone().applyMatrix4(p.mesh.matrixWorld));
    return box;
  };

  // ---- Looking

  const look = (box, direction) => {
    if (box.isEmpty()) return;
    const ball = box.getBoundingSphere(new T.Sphere());
    const radius = Math.max(ball.radius, 1e-6);
    const narrow = Math.min(1, camera.aspect);
    const distance = (1.02 * radius) / Math.sin((camera.fov * Math.PI) / 360) / narrow;
    const from = direction ?? camera.position.clone().sub(controls.target);
    if (from.lengthSq() === 0) from.set(1, -1.4, 1);
    controls.target.copy(ball.center);
    camera.position.copy(ball.center).addScaledVector(from.normalize(), distance);
    controls.update();
    draw();
  };
  const fit = direction => {
    const shown = state.parts.filter(p => p.visible);
    const box = boxOf(shown.length ? shown : state.parts);
    // Where it goes is in sight, too.
    for (const part of state.parts.filter(p => p.track !== null)) {
      const n = state.scene.motion.times.length;
      for (const step of [0, n >> 2, n >> 1, (3 * n) >> 2, n - 1]) {
        const m = trackPose(part.track, step).multiply(part.own)
          .multiply(new T.Matrix4().makeTranslation(...part.shape.middle));
        box.union(part.mesh.geometry.boundingBox.clone().applyMatrix4(m));
      }
    }
    // Parts show where to look; balls may fall far below them.
    if (state.balls && box.isEmpty()) box.union(state.balls.box);
    const size = box.getSize(new T.Vector3()).length();
    if (!box.isEmpty()) extent = Math.max(size, 1e-6);
    look(box, direction ?? new T.Vector3(0.9, -1.4, 0.95));
  };

  // ---- Layers

  const refreshLayers = () => {
    const on = state.layers;
    for (const part of state.parts) {
      const { shape } = part;
      part.edges.visible = on.edges;
      if (on.groups) colorGroups(shape);
      if (part.mesh.material.vertexColors !== on.groups) {
        part.mesh.material.vertexColors = on.groups;
        part.mesh.material.needsUpdate = true;
      }
      const layer = (name, key, array) => {
        const known = part.layers[name];
        if (known && (!on[name] || known.userData.key !== key)) {
          part.inner.remove(known);
          delete part.layers[name];
        }
        if (!on[name] || part.layers[name]) return;
        shape.made ??= {};
        const made = shape.made[name];
        if (made?.key !== key) shape.made[name] = { key, geometry: segments(array()) };
        const o = new T.LineSegments(shape.made[name].geometry, lines[name]);
        o.userData.key = key;
        o.visible = part.visible;
        part.layers[name] = o;
        part.inner.add(o);
      };
      layer('areas', 0, () => data.array(shape.areas));
      layer('boxes', state.level, () => boxLines(shape, state.level));
      layer('cones', 0, () => coneLines(shape));
    }
    marks.visible = areMarksShown();
    restyle();
  };

  // What is shown boldly; the others are shadows of themselves.
  const restyle = () => {
    const chosen = state.pair ? state.pair.parts : state.picked.length ? state.picked.map(p => p.part) : state.only;
    for (const part of state.parts) {
      const place = chosen ? chosen.indexOf(part.i) : -1;
      const isGhost = Boolean(chosen) && place < 0 && !(state.picked.length && !state.pair);
      const m = part.mesh.material;
      const color = state.layers.groups ? new T.Color(0xffffff) : part.color;
      const hasOwn = part.tint === null || typeof part.tint === 'number';
      const hasAccent = place >= 0 && chosen.length <= 2 && !state.layers.groups && hasOwn;
      m.color.copy(hasAccent ? accents[place % 2] : color);
      // A marked place may be inside.
      const isGlass = isGhost || part.tint === 'old' || part.tint === 'glass' || state.marked !== null;
      // Where both versions are the same, the new one is seen.
      m.polygonOffsetFactor = part.tint === 'old' ? 2 : 1;
      if (m.transparent !== isGlass) m.needsUpdate = true;
      m.transparent = isGlass;
      m.opacity = isGhost ? 0.08 : isGlass ? 0.35 : 1;
      m.depthWrite = !isGlass;
      part.group.visible = part.visible;
      part.edges.visible = state.layers.edges && !isGhost;
    }
    if (state.section.axis) showFills();
    for (const row of tree.rows ?? []) row.name.classList.toggle('chosen', Boolean(chosen?.includes(row.part.i)));
    draw();
  };

  // ---- Section

  // What is cut is filled: where more back sides than front sides of a part are in sight behind the plane, the
  // eye looks into its material.
  const counting = (side, op) => new T.MeshBasicMaterial({ side, colorWrite: false, depthWrite: false,
    depthTest: false, clippingPlanes: [cut], stencilWrite: true, stencilFunc: T.AlwaysStencilFunc,
    stencilFail: op, stencilZFail: op, stencilZPass: op });
  const counters = [counting(T.BackSide, T.IncrementWrapStencilOp), counting(T.FrontSide, T.DecrementWrapStencilOp)];
  const square = new T.PlaneGeometry(1, 1);
  const fillCut = part => {
    part.counters = counters.map(m => {
      const o = new T.Mesh(part.mesh.geometry, m);
      o.renderOrder = part.i + 1;
      part.inner.add(o);
      return o;
    });
    const m = new T.MeshBasicMaterial({ color: part.color.clone().multiplyScalar(0.6), side: T.DoubleSide,
      stencilWrite: true, stencilRef: 0, stencilFunc: T.NotEqualStencilFunc, stencilFail: T.ReplaceStencilOp,
      stencilZFail: T.ReplaceStencilOp, stencilZPass: T.ReplaceStencilOp });
    part.fill = new T.Mesh(square, m);
    part.fill.renderOrder = part.i + 1.5;
    part.fill.onAfterRender = r => r.clearStencil();
    world.add(part.fill);
  };
  const unfillCut = part => {
    if (!part.fill) return;
    part.inner.remove(...part.counters);
    world.remove(part.fill);
    part.fill.material.dispose();
    part.fill = part.counters = null;
  };
  const showFills = () => {
    const center = boxOf(state.parts).getCenter(new T.Vector3());
    for (const part of state.parts.filter(p => p.fill)) {
      cut.projectPoint(center, part.fill.position);
      part.fill.lookAt(part.fill.position.clone().add(cut.normal));
      part.fill.scale.setScalar(4 * extent);
      const isSolid = part.visible && part.mesh.material.opacity === 1;
      for (const o of [part.fill, ...part.counters]) o.visible = isSolid;
    }
  };
  const applySection = () => {
    const { axis, at, flip } = state.section;
    const planes = axis ? [cut] : null;
    const balls = state.balls ? [state.balls.material] : [];
    for (const m of [...Object.values(lines), ...state.parts.map(p => p.mesh.material), ...balls]) {
      // A material is compiled for a number of planes.
      if (Boolean(m.clippingPlanes) !== Boolean(planes)) m.needsUpdate = true;
      m.clippingPlanes = planes;
    }
    for (const part of state.parts) {
      if (axis && !part.fill) fillCut(part);
      if (!axis) unfillCut(part);
    }
    if (axis) {
      const k = 'xyz'.indexOf(axis), box = boxOf(state.parts);
      const low = box.min.getComponent(k), high = box.max.getComponent(k);
      const sign = flip ? 1 : -1;
      cut.normal.set(0, 0, 0).setComponent(k, sign);
      cut.constant = -sign * (low + (high - low) * at);
      showFills();
      sectionValue.value = mm(Number((low + (high - low) * at).toFixed(6)), 6);
    } else {
      sectionValue.value = '';
    }
    draw();
  };

  // ---- Minima and other marks

  const flags = [];
  const clearMarks = () => {
    marks.clear();
    state.marked = null;
    flags.splice(0).forEach(f => f.element.remove());
  };
  const dotMaterial = (size, color) => new T.PointsMaterial({ color, size, sizeAttenuation: false,
    depthTest: false });
  const addLines = (pairs, color) => {
    const ends = new Float32Array(pairs.flatMap(([a, b]) => [...a, ...b]));
    const l = new T.LineSegments(segments(ends), line(color, { depthTest: false }));
    const dots = new T.Points(segments(ends.slice()), dotMaterial(6, color));
    l.renderOrder = dots.renderOrder = 2;
    marks.add(l, dots);
  };
  const addFlag = (point, text, { mark = null, className = '' } = {}) => {
    if (flags.length >= 40) return;
    const element = make('span', { className: `label ${className}`, textContent: text });
    labels.append(element);
    flags.push({ point: new T.Vector3(...point), element, mark });
  };
  const placeLabels = () => {
    const { clientWidth: w, clientHeight: h } = sight;
    for (const f of flags) {
      const p = f.point.clone().project(camera);
      const isSeen = areMarksShown() && Math.abs(p.x) <= 1 && Math.abs(p.y) <= 1 && p.z < 1;
      f.element.style.display = isSeen ? '' : 'none';
      f.at = isSeen ? [((p.x + 1) * w) / 2, ((1 - p.y) * h) / 2] : null;
      f.element.style.transform = `translate(${((p.x + 1) * w) / 2 + 6}px,${((1 - p.y) * h) / 2 - 22}px)`;
    }
  };
  const markColor = () => (isDark ? 0xff6b6b : 0xc81e1e);
  const middle = ([a, b]) => a.map((x, k) => (x + b[k]) / 2);
  const mm = (d, digits = 9) => {
    const size = Math.abs(d);
    return `${size < 1e-9 ? '0' : size < 1e-4 ? d.toExponential(3) : Number(d.toPrecision(digits))}${state.scene.are_cells ? '' : ' mm'}`;
  };
  const markMinima = minima => {
    clearMarks();
    addLines(minima.map(m => m.points), markColor());
    // Samples of one set are equally far: one number is enough.
    const told = new Set();
    for (const m of minima) {
      const text = mm(m.distance, 6);
      if (told.has(text)) continue;
      told.add(text);
      addFlag(middle(m.points), text);
    }
    draw();
  };
  const markStep = () => {
    const motion = state.scene.motion;
    clearMarks();
    const n = motion.minima_counts[state.step] ?? 0, from = motion.starts[state.step];
    const at = k => [...state.minima.subarray(3 * k, 3 * k + 3)];
    const pairs = [...Array(n).keys()].map(k => [at(2 * (from + k)), at(2 * (from + k) + 1)]);
    if (pairs.length) addLines(pairs, markColor());
    const margin = motion.margin[state.step];
    if (pairs.length && margin !== null) addFlag(middle(pairs[0]), mm(margin));
    draw();
  };

  // ---- Pairs

  const heading = text => make('h2', { textContent: text });
  const pairBox = make('div');
  const name = i => state.parts[i].path;
  const tableOfMinima = (minima, more) => {
    // Samples of one set, which are equally far, get one row.
    const key = m => (m.kind === 'conformal' ? [mm(m.distance, 6), ...m.features].join() : null);
    const counts = new Map();
    for (const m of minima) counts.set(key(m), (counts.get(key(m)) ?? 0) + 1);
    const isFirst = (m, i) => key(m) === null || minima.findIndex(n => key(n) === key(m)) === i;
    const rows = minima.filter(isFirst).map(m => {
      const times = key(m) === null ? '' : ` × ${counts.get(key(m))}`;
      const cells = [mm(m.distance), m.kind + times, m.features.filter(Boolean).join(' to ')];
      const row = make('tr', { tabIndex: 0 }, ...cells.map(textContent => make('td', { textContent })));
      row.onclick = () => {
        const box = new T.Box3().setFromPoints(m.points.map(p => new T.Vector3(...p)));
        box.expandByScalar(Math.max(3 * Math.abs(m.distance), 0.01 * extent));
        look(box);
      };
      return row;
    });
    const out = make('div', { className: 'wide' }, make('table', {}, ...rows));
    if (more) out.append(make('p', { textContent: `and ${more} more, farther ones` }));
    return out;
  };
  const describePair = pair => {
    const [a, b] = pair.parts.map(name);
    const close = make('button', { textContent: 'all parts' });
    close.onclick = () => showAll();
    const words = pair.minima.length ? `, ${pair.minima.length + (pair.more ?? 0)} local minima` : '';
    pairBox.replaceChildren(
      heading('Pair'), make('div', { textContent: a }), make('div', { textContent: b }),
      make('div', { className: 'line' },
        make('b', { className: pair.status, textContent: pair.status }), make('span', { textContent: words }), close),
      tableOfMinima(pair.minima, pair.more ?? 0));
  };
  const showPair = (pair, { zoom = true } = {}) => {
    Object.assign(state, { pair, picked: [], only: null });
    const parts = pair.parts.map(i => state.parts[i]);
    parts.forEach(p => setVisible(p, true));
    markMinima(pair.minima);
    if (pair.witness) {
      const dots = new T.Points(segments(new Float32Array(pair.witness)), dotMaterial(9, 0xc81e1e));
      dots.renderOrder = 3;
      marks.add(dots);
      addFlag(pair.witness, 'inside both');
    }
    describePair(pair);
    restyle();
    if (zoom) look(boxOf(parts));
  };
  const showAll = () => {
    Object.assign(state, { pair: null, picked: [], only: null });
    clearMarks();
    pairBox.replaceChildren();
    state.parts.forEach(p => setVisible(p, true));
    if (state.scene.motion) markStep();
    if (state.scene.marks.length) markAll();
    restyle();
    fit();
  };
  const allPairs = make('div');
  const buildPairs = () => {
    pairBox.replaceChildren();
    const pairs = state.scene.pairs;
    allPairs.replaceChildren();
    if (!pairs.length) return;
    const rows = pairs.map(p => {
      const d = p.minima.length ? mm(p.minima[0].distance, 6) : '';
      const short = i => name(i).split('/').pop();
      const cells = [make('td', { className: p.status, textContent: p.status }),
        make('td', { textContent: d }), make('td', { textContent: `${short(p.parts[0])} – ${short(p.parts[1])}` })];
      const row = make('tr', { tabIndex: 0 }, ...cells);
      row.title = `${name(p.parts[0])} – ${name(p.parts[1])}`;
      row.onclick = () => showPair(p);
      return row;
    });
    const list = make('div', { className: 'tree' }, make('table', {}, ...rows));
    allPairs.append(heading(`Measured pairs (${pairs.length})`), list);
  };

  // ---- Marked places: repairs of the import, and what it left out

  const colorOfMark = mark => new T.Color(style({ error: '--bad', warning: '--odd' }[mark.class] ?? '--accent'));
  const addMark = (mark, k) => {
    const points = mark.points.length ? mark.points : mark.lines.slice(0, 1).map(middle);
    if (!points.length) return;
    const dots = new T.Points(segments(new Float32Array(points.flat())), dotMaterial(9, colorOfMark(mark)));
    dots.renderOrder = 3;
    marks.add(dots);
    points.forEach(p => addFlag(p, String(k + 1), { mark: k, className: mark.class }));
  };
  const markAll = () => {
    clearMarks();
    // Short edges are drawn, not only their places.
    if (state.scene.are_cells) addLines(state.scene.marks.flatMap(m => m.lines), markColor());
    state.scene.marks.forEach(addMark);
    draw();
  };
  const showMark = k => {
    const mark = state.scene.marks[k], color = colorOfMark(mark);
    Object.assign(state, { pair: null, picked: [], only: null });
    pairBox.replaceChildren();
    clearMarks();
    const box = new T.Box3().setFromPoints([...mark.points, ...mark.lines.flat()].map(p => new T.Vector3(...p)));
    root.updateMatrixWorld(true);
    for (const [i, face] of mark.faces) {
      const part = state.parts[i], of = data.array(part.shape.face_of), all = data.array(part.shape.triangles);
      const chosen = Uint32Array.from([...of.keys()].filter(t => of[t] === face).flatMap(t => [0, 1, 2].map(j => all[3 * t + j])));
      const position = part.mesh.geometry.getAttribute('position');
      const g = new T.BufferGeometry().setAttribute('position', position);
      const o = new T.Mesh(g.setIndex(new T.BufferAttribute(chosen, 1)), new T.MeshBasicMaterial({ color, side: T.DoubleSide,
        transparent: true, opacity: 0.75, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 }));
      o.matrixAutoUpdate = false;
      o.matrix.copy(part.inner.matrixWorld);
      o.renderOrder = 1;
      marks.add(o);
      chosen.forEach(v => box.expandByPoint(new T.Vector3().fromBufferAttribute(position, v).applyMatrix4(o.matrix)));
    }
    if (mark.lines.length) {
      const l = new T.LineSegments(segments(new Float32Array(mark.lines.flat(2))), line(color, { depthTest: false }));
      l.renderOrder = 2;
      marks.add(l);
    }
    addMark(mark, k);
    state.marked = k;
    isTouched = true;
    const place = mark.points.length === 1 ? ` (${mark.points[0].map(x => Number(x.toPrecision(6))).join(', ')})` : '';
    tell.textContent = `${k + 1}: ${mark.text}${place}`;
    (markRows[k]?.parentElement ?? allMarks).querySelectorAll('.shown').forEach(r => r.classList.remove('shown'));
    markRows[k]?.classList.add('shown');
    document.querySelectorAll('[data-show]').forEach(row => {
      const show = data.shows[row.dataset.show];
      row.classList.toggle('shown', show.scene === state.index && show.mark === k);
    });
    restyle();
    look(box.expandByScalar(0.1 * extent));
  };
  const allMarks = make('div');
  let markRows = [];
  const buildMarks = () => {
    markRows = state.scene.marks.map((mark, k) => {
      const cells = [make('td', { textContent: k + 1 }), make('td', { className: mark.class, textContent: mark.text })];
      const row = make('tr', { tabIndex: 0 }, ...cells);
      row.onclick = () => showMark(k);
      row.onkeydown = e => { if (e.key === 'Enter') showMark(k); };
      return row;
    });
    allMarks.replaceChildren();
    if (!markRows.length) return;
    const all = make('button', { textContent: 'all of them' });
    all.onclick = () => showAll();
    allMarks.append(heading(`Marked places (${markRows.length})`), make('div', { className: 'line' }, all),
      make('div', { className: 'tree' }, make('table', {}, ...markRows)));
  };

  // ---- Tree of components

  const tree = make('div', { className: 'tree' });
  const setVisible = (part, visible) => {
    part.visible = visible;
    part.group.visible = visible;
    if (part.check) part.check.checked = visible;
    for (let node = part.node; node; node = node.parent) {
      const on = node.parts.filter(p => p.visible).length;
      node.check.checked = on > 0;
      node.check.indeterminate = on > 0 && on < node.parts.length;
    }
  };
  const buildTree = () => {
    tree.replaceChildren();
    tree.rows = [];
    const top = { children: new Map(), box: tree, parts: [], parent: null, check: {} };
    for (const part of state.parts) {
      const names = part.path.split('/'), leaf = names.pop();
      let node = top;
      node.parts.push(part);
      for (const n of names) {
        if (!node.children.has(n)) {
          const check = make('input', { type: 'checkbox', checked: true });
          check.setAttribute('aria-label', `show ${n}`);
          const box = make('div');
          const summary = make('summary', {}, check, ' ', make('span', { textContent: n }));
          const details = make('details', { open: state.parts.length < 200 }, summary, box);
          node.box.append(details);
          const child = { children: new Map(), box, parts: [], parent: node, check, details };
          check.onclick = e => {
            e.stopPropagation();
            child.parts.forEach(p => setVisible(p, check.checked));
            restyle();
          };
          node.children.set(n, child);
        }
        node = node.children.get(n);
        node.parts.push(part);
      }
      part.node = node;
      part.check = make('input', { type: 'checkbox', checked: true });
      part.check.setAttribute('aria-label', `show ${leaf}`);
      part.check.onchange = () => {
        setVisible(part, part.check.checked);
        restyle();
      };
      const dot = make('i');
      dot.style.background = `#${part.color.getHexString()}`;
      const label = make('span', { className: 'name', textContent: leaf, tabIndex: 0, title: part.path });
      label.onclick = () => pick(part, null);
      const row = make('div', { className: 'line' }, part.check, dot, label);
      row.style.flexWrap = 'nowrap';
      tree.rows.push({ part, row, name: label });
      node.box.append(row);
    }
  };
  const search = make('input', { type: 'search', placeholder: 'find a part' });
  search.setAttribute('aria-label', 'find a part');
  search.oninput = () => {
    const text = search.value.trim().toLowerCase();
    for (const { part, row } of tree.rows) row.hidden = !part.path.toLowerCase().includes(text);
    for (const { row } of tree.rows) row.style.display = row.hidden ? 'none' : '';
    for (const d of [...tree.querySelectorAll('details')].reverse()) {
      const found = [...d.querySelectorAll('.line')].some(r => !r.hidden);
      d.style.display = found ? '' : 'none';
      if (text && found) d.open = true;
    }
  };

  // ---- Picking and measuring

  const pick = (part, face) => {
    const last = state.picked.at(-1);
    const areCells = state.scene.are_cells;
    const other = last && last.part !== part.i && !areCells ? last : null;
    state.picked = other ? [other, { part: part.i, face }] : [{ part: part.i, face }];
    state.pair = null;
    const size = part.shape.size.toPrecision(6);
    const [surface, source] = face === null ? [] : part.shape.faces[face];
    const what = face === null ? '' : areCells ? ` · face to ${surface}${source ? ` ${source}` : ''}`
      : ` · face ${face}, ${surface}${source ? `, #${source}` : ''}`;
    tell.textContent = areCells ? part.path + what
      : `${part.path}${what} · ${size} mm across · drawn within ${part.shape.deviation.toExponential(1)} mm`;
    const hide = make('button', { textContent: 'hide' });
    hide.onclick = () => { setVisible(part, false); state.picked = []; restyle(); };
    const alone = make('button', { textContent: 'alone' });
    alone.onclick = () => {
      state.parts.forEach(p => setVisible(p, p === part));
      state.picked = [];
      restyle();
      look(boxOf([part]));
    };
    const all = make('button', { textContent: 'all parts' });
    all.onclick = () => showAll();
    pairBox.replaceChildren(heading(areCells ? 'Cell' : 'Part'), make('div', { textContent: part.path }),
      ...part.facts.map(textContent => make('div', { className: 'small', textContent })),
      make('div', { className: 'line' }, hide, alone, all));
    if (!other && !areCells) {
      pairBox.append(make('p', { className: 'small', textContent: 'Pick a second part for what is between them.' }));
    }
    if (state.scene.marks.length) markAll();
    else clearMarks();
    restyle();
    if (other) measure(other, { part: part.i, face });
  };
  const measure = (a, b) => {
    const stored = state.scene.pairs.find(p => p.parts.includes(a.part) && p.parts.includes(b.part));
    const isMoved = [a, b].some(x => state.parts[x.part].moved) || state.step !== 0;
    if (live.ready) return void live.measure(a, b);
    if (stored && !isMoved) return showPair(stored, { zoom: false });
    pairBox.append(make('p', { textContent: stored ? 'Measured at the first step only.'
      : 'Nothing was measured of these parts: they are farther apart than was asked for.' }));
  };
  const ray = new T.Raycaster();
  const hit = event => {
    const r = canvas.getBoundingClientRect();
    const at = new T.Vector2(((event.clientX - r.left) / r.width) * 2 - 1, 1 - ((event.clientY - r.top) / r.height) * 2);
    ray.setFromCamera(at, camera);
    const meshes = state.parts.filter(p => p.visible && p.mesh.material.opacity > 0.2).map(p => p.mesh);
    const found = ray.intersectObjects(meshes, false);
    const isCut = p => state.section.axis !== '' && cut.distanceToPoint(p) < 0;
    return found.find(f => !isCut(f.point));
  };
  let down = null;
  canvas.addEventListener('pointerdown', e => {
    down = { x: e.clientX, y: e.clientY, id: e.pointerId };
    if (state.dragging) live.grab(e);
  });
  canvas.addEventListener('pointermove', e => { if (live.held) live.drag(e); });
  canvas.addEventListener('pointerup', e => {
    const wasHeld = live.release();
    if (!down || wasHeld || Math.hypot(e.clientX - down.x, e.clientY - down.y) > 4) return;
    const r = canvas.getBoundingClientRect();
    const isNear = f => f.mark !== null && f.at && Math.hypot(f.at[0] - e.clientX + r.left, f.at[1] - e.clientY + r.top) < 9;
    const marked = marks.visible && flags.find(isNear);
    if (marked) return showMark(marked.mark);
    const found = hit(e);
    if (!found) {
      state.picked = [];
      if (state.pair) showAll();
      tell.textContent = '';
      return restyle();
    }
    const part = state.parts[found.object.userData.part];
    pick(part, data.array(part.shape.face_of)[found.faceIndex]);
  });

  // ---- The runtime in the page

  const live = { ready: false, held: null, pairs: new Map() };
  const values = part => {
    const m = part.group.matrix, at = new T.Vector3(), turn = new T.Quaternion(), scale = new T.Vector3();
    // What was not moved keeps its numbers to the bit.
    if (!part.moved && part.track === null) return Float64Array.from(part.pose);
    m.decompose(at, turn, scale);
    return Float64Array.from([...at.toArray(), ...turn.toArray()]);
  };
  live.query = (i, j, reach) => {
    const key = i < j ? `${i} ${j}` : `${j} ${i}`, [a, b] = i < j ? [i, j] : [j, i];
    if (!live.pairs.has(key)) live.pairs.set(key, new wasm_bindgen.ContactPair(live.bodies[a], live.bodies[b]));
    const pair = live.pairs.get(key);
    const found = pair.query(values(state.parts[a]), values(state.parts[b]), reach);
    const text = f => `${f.kind} ${f.index}${f.source ? ` (#${f.source})` : ''}`;
    const minima = found.map(m => ({ distance: m.distance, points: [m.point_a, m.point_b], kind: m.kind,
      features: [text(m.feature_a), text(m.feature_b)], faces: [m.feature_a, m.feature_b] }));
    return { parts: [a, b], status: pair.status, minima, more: 0, witness: pair.verdict?.witness ?? null };
  };
  live.measure = (a, b) => {
    const reach = Number(reachInput.value) || 1;
    try {
      let answer = live.query(a.part, b.part, reach);
      if (!answer.minima.length && answer.status === 'separated') answer = live.query(a.part, b.part, Infinity);
      // Minima between the faces that were picked, if there are any.
      const side = answer.parts[0] === a.part ? [a, b] : [b, a];
      const isOf = (m, k) => side[k].face === null
        || (m.faces[k].kind === 'face' && m.faces[k].index === side[k].face);
      const own = answer.minima.filter(m => isOf(m, 0) && isOf(m, 1));
      const all = answer.minima.length;
      if (own.length) answer.minima = own;
      showPair(answer, { zoom: false });
      const words = own.length && own.length < all ? `${own.length} of ${all} minima are between these faces.`
        : own.length ? '' : 'No minimum is between these faces: those of the parts are shown.';
      pairBox.append(make('p', { className: 'small', textContent: words }));
    } catch (e) {
      tell.textContent = String(e.message ?? e);
    }
  };
  // Parts near a part that is dragged, and what is between them.
  live.around = part => {
    const reach = Number(reachInput.value) || 1, box = boxOf([part]).expandByScalar(reach);
    const answers = [];
    for (const other of state.parts) {
      if (other === part || !other.visible || !box.intersectsBox(boxOf([other]))) continue;
      answers.push(live.query(part.i, other.i, reach));
    }
    return answers;
  };
  live.grab = e => {
    const found = hit(e);
    if (!found) return;
    const part = state.parts[found.object.userData.part];
    const normal = camera.getWorldDirection(new T.Vector3());
    live.held = { part, plane: new T.Plane().setFromNormalAndCoplanarPoint(normal, found.point),
      from: found.point.clone(), start: (part.moved ?? part.own).clone() };
    controls.enabled = false;
    canvas.setPointerCapture(e.pointerId);
    Object.assign(state, { pair: null, picked: [{ part: part.i, face: null }] });
    restyle();
  };
  live.drag = e => {
    const { part, plane, from } = live.held;
    const r = canvas.getBoundingClientRect();
    const at = new T.Vector2(((e.clientX - r.left) / r.width) * 2 - 1, 1 - ((e.clientY - r.top) / r.height) * 2);
    ray.setFromCamera(at, camera);
    const to = ray.ray.intersectPlane(plane, new T.Vector3());
    if (to) live.move(part, to.sub(from));
  };
  const place = (part, matrix) => {
    part.moved = matrix;
    part.group.matrix.copy(matrix);
    part.group.matrixWorldNeedsUpdate = true;
    root.updateMatrixWorld(true);
  };
  // Moves a part by a vector from where it was grabbed; where it is to stop at contact, as far as it is free.
  live.move = (part, by) => {
    const start = live.held?.start ?? (part.moved ?? part.own).clone();
    const before = (part.moved ?? part.own).clone();
    const goal = start.clone().premultiply(new T.Matrix4().makeTranslation(by.x, by.y, by.z));
    const meets = () => live.around(part).some(a => a.status === 'interfering');
    try {
      place(part, goal);
      if (stopInput.checked && meets()) {
        const [p, q] = [before, goal].map(m => new T.Vector3().setFromMatrixPosition(m));
        let [free, met] = [0, 1];
        const at = s => place(part, before.clone().setPosition(p.clone().lerp(q, s)));
        at(0);
        if (!meets()) {
          for (let k = 0; k < 12; k++) {
            const s = (free + met) / 2;
            at(s);
            if (meets()) met = s; else free = s;
          }
          at(free);
        } else place(part, goal);
      }
      const answers = live.around(part);
      const minima = answers.flatMap(a => a.minima).sort((a, b) => a.distance - b.distance);
      markMinima(minima.slice(0, 200));
      const met = answers.filter(a => a.status === 'interfering').length;
      tell.textContent = `${part.path}: ${minima.length} minima${minima.length ? `, nearest ${mm(minima[0].distance)}` : ''}`
        + (met ? `, interferes with ${met} parts` : '');
      tell.className = met ? 'tell interfering' : 'tell';
    } catch (error) {
      tell.textContent = String(error.message ?? error);
    }
  };
  live.release = () => {
    const was = Boolean(live.held);
    live.held = null;
    controls.enabled = true;
    return was;
  };
  const reachInput = make('input', { type: 'number', min: 0, step: 'any', value: 1 });
  reachInput.style.width = '5.5em';
  const stopInput = make('input', { type: 'checkbox', checked: true });

  // ---- Motion

  const player = make('div', { id: 'player' });
  const slider = make('input', { type: 'range', min: 0, step: 1, value: 0 });
  slider.setAttribute('aria-label', 'time');
  const clock = make('output');
  const playButton = make('button', { textContent: '▶' });
  playButton.setAttribute('aria-label', 'play');
  const curve = make('canvas');
  curve.setAttribute('aria-label', 'a value over time; click to go there');
  player.append(playButton, slider, clock, curve);
  const told = ({ curve }, value) => {
    if (curve) return value === null ? '' : `${curve[0]} ${value.toPrecision(4)} ${curve[1]}`;
    return value === null ? 'nothing near' : mm(value);
  };
  const setStep = step => {
    const motion = state.scene.motion;
    state.step = Math.max(0, Math.min(step, motion.times.length - 1));
    slider.value = state.step;
    const margin = motion.margin[state.step], met = motion.met.has(state.step);
    const time = motion.unit ? `${motion.times[state.step].toFixed(3)} ${motion.unit}` : `step ${state.step}`;
    clock.value = `${time} · ${met ? 'interfering' : told(motion, margin)}`;
    clock.className = met ? 'interfering' : '';
    placeParts();
    markStep();
    drawCurve();
  };
  const drawCurve = () => {
    const motion = state.scene?.motion;
    if (!motion) return;
    const ratio = Math.min(devicePixelRatio, 2), w = curve.clientWidth, h = curve.clientHeight;
    if (!w) return;
    curve.width = w * ratio;
    curve.height = h * ratio;
    const g = curve.getContext('2d');
    g.scale(ratio, ratio);
    const known = motion.margin.filter(x => x !== null), largest = Math.max(...known, 1e-12);
    const n = motion.times.length, left = 4, top = 14, bottom = h - 4;
    const x = i => left + ((w - 2 * left) * (motion.times[i] - motion.times[0]))
      / Math.max(motion.times[n - 1] - motion.times[0], 1e-300);
    const y = d => bottom - (bottom - top) * (d / largest);
    g.font = '11px system-ui';
    g.fillStyle = style('--ink');
    const [what, unit] = motion.curve ?? ['smallest distance', 'mm'];
    g.fillText(`${what}, up to ${largest.toPrecision(4)} ${unit}`, left, 10);
    g.strokeStyle = style('--line');
    g.strokeRect(left, top, w - 2 * left, bottom - top);
    g.fillStyle = style('--bad');
    for (const i of motion.interfering) g.fillRect(x(i) - 1, top, 2, bottom - top);
    g.strokeStyle = style('--accent');
    g.lineWidth = 1.5;
    g.beginPath();
    let isDown = false;
    motion.margin.forEach((d, i) => {
      if (d === null) isDown = false;
      else { g[isDown ? 'lineTo' : 'moveTo'](x(i), y(d)); isDown = true; }
    });
    g.stroke();
    g.strokeStyle = style('--ink');
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x(state.step), top);
    g.lineTo(x(state.step), bottom);
    g.stroke();
  };
  const seek = e => {
    const motion = state.scene.motion, r = curve.getBoundingClientRect();
    const part = Math.max(0, Math.min(1, (e.clientX - r.left - 4) / (r.width - 8)));
    const n = motion.times.length, t = motion.times[0] + part * (motion.times[n - 1] - motion.times[0]);
    setStep(motion.times.reduce((best, x, i) => Math.abs(x - t) < Math.abs(motion.times[best] - t) ? i : best, 0));
  };
  curve.onpointerdown = e => { curve.setPointerCapture(e.pointerId); seek(e); };
  curve.onpointermove = e => { if (e.buttons) seek(e); };
  slider.oninput = () => setStep(Number(slider.value));
  let timer = null;
  const play = on => {
    clearInterval(timer);
    timer = null;
    playButton.textContent = on ? '⏸' : '▶';
    playButton.setAttribute('aria-label', on ? 'pause' : 'play');
    if (!on) return;
    const n = state.scene.motion.times.length, stride = Math.max(1, Math.round(n / 250));
    timer = setInterval(() => setStep(state.step + stride >= n ? 0 : state.step + stride), 40);
  };
  playButton.onclick = () => play(timer === null);
  const buildPlayer = () => {
    play(false);
    player.remove();
    const motion = state.scene.motion;
    if (!motion) return;
    stage.append(player);
    slider.max = motion.times.length - 1;
    motion.met = new Set(motion.interfering);
    let sum = 0;
    motion.starts = motion.minima_counts.map(n => (sum += n) - n);
    state.minima = data.array(motion.minima);
    setTimeout(() => setStep(state.step), 0);
  };

  // ---- Panel and bar

  const button = (text, title, act) => {
    const b = make('button', { textContent: text, title });
    b.onclick = act;
    return b;
  };
  bar.append(
    button('fit', 'all that is shown', () => fit(camera.position.clone().sub(controls.target))),
    button('iso', 'from a corner', () => fit()),
    button('front', 'along y', () => fit(new T.Vector3(0, -1, 1e-6))),
    button('right', 'against x', () => fit(new T.Vector3(1, 0, 1e-6))),
    button('top', 'against z', () => fit(new T.Vector3(0, -1e-6, 1))));
  const sceneSelect = make('select');
  sceneSelect.setAttribute('aria-label', 'model');
  data.scenes.forEach((s, i) => sceneSelect.append(make('option', { value: i, textContent: s.name })));
  sceneSelect.onchange = () => openScene(Number(sceneSelect.value));
  if (data.scenes.length > 1) bar.append(sceneSelect);

  const toggle = (key, text) => {
    const input = make('input', { type: 'checkbox', checked: state.layers[key], name: key });
    input.onchange = () => {
      state.layers[key] = input.checked;
      refreshLayers();
    };
    return make('label', {}, input, text);
  };
  const depth = Math.max(0, ...shapes.map(s => data.array(s.levels).reduce((a, b) => Math.max(a, b), 0)));
  const level = make('input', { type: 'range', min: 0, max: depth, value: Math.min(state.level, depth) });
  level.setAttribute('aria-label', 'level of boxes');
  const levelValue = make('output', { value: `level ${state.level}` });
  level.oninput = () => {
    state.level = Number(level.value);
    levelValue.value = `level ${state.level}`;
    refreshLayers();
  };
  const axis = make('select');
  axis.setAttribute('aria-label', 'section');
  for (const [value, text] of [['', 'no section'], ['x', 'across x'], ['y', 'across y'], ['z', 'across z']]) {
    axis.append(make('option', { value, textContent: text }));
  }
  const at = make('input', { type: 'range', min: 0, max: 1, step: 0.001, value: 0.5 });
  at.setAttribute('aria-label', 'place of the section');
  const flip = make('input', { type: 'checkbox' });
  const sectionValue = make('output');
  const readSection = () => {
    state.section = { axis: axis.value, at: Number(at.value), flip: flip.checked };
    applySection();
  };
  at.oninput = flip.onchange = readSection;
  axis.onchange = () => {
    // What is nearer to the eye goes.
    const k = 'xyz'.indexOf(axis.value);
    if (k >= 0) flip.checked = camera.position.getComponent(k) < controls.target.getComponent(k);
    readSection();
  };
  const closeness = make('p', { className: 'small' }), legend = make('p', { className: 'small' });
  const hasLayers = shapes.some(s => s.levels[2] > 0);
  const areCells = data.scenes.some(s => s.are_cells);
  panel.append(pairBox, allMarks, heading(areCells ? 'Cells' : 'Parts'), search, tree, allPairs, heading('Show'),
    toggle('edges', 'edges'), toggle('groups', areCells ? 'faces by colour' : 'supermaximal faces'),
    toggle('minima', areCells ? 'short edges' : 'minima'));
  if (areCells) {
    const apart = make('input', { type: 'range', min: 0, max: 2, step: 0.02, value: 0 });
    apart.setAttribute('aria-label', 'distance between cells');
    apart.oninput = () => {
      state.apart = Number(apart.value);
      placeParts();
      if (state.section.axis) applySection();
      if (!isTouched) fit();
    };
    panel.append(make('div', { className: 'line' }, 'apart', apart));
  }
  if (hasLayers) {
    panel.append(toggle('areas', 'leaf areas'), toggle('cones', 'cones of normals'), toggle('boxes', 'boxes'),
      make('div', { className: 'line' }, level, levelValue));
  }
  panel.append(heading('Section'), make('div', { className: 'line' }, axis, make('label', {}, flip, 'other side')),
    make('div', { className: 'line' }, at, sectionValue));
  panel.append(closeness, legend);

  // ---- Rows of the page's tables

  const showRow = (row, k) => {
    const show = data.shows[k];
    document.querySelectorAll('.shown').forEach(r => r.classList.remove('shown'));
    row.classList.add('shown');
    if (state.index !== show.scene) {
      openScene(show.scene);
      sceneSelect.value = show.scene;
    }
    if (show.step !== undefined) setStep(show.step);
    if (show.pair !== undefined) showPair(state.scene.pairs[show.pair]);
    else if (show.mark !== undefined) showMark(show.mark);
    else if (show.step === undefined) {
      Object.assign(state, { pair: null, picked: [], only: show.parts ?? null });
      clearMarks();
      pairBox.replaceChildren();
      restyle();
      if (state.scene.are_cells) tell.textContent = (show.parts ?? []).map(name).join(', ');
      if (show.parts) look(boxOf(show.parts.map(i => state.parts[i])));
      else {
        if (state.scene.marks.length) markAll();
        fit();
      }
    }
    stage.scrollIntoView({ block: 'nearest' });
  };
  for (const row of document.querySelectorAll('[data-show]')) {
    row.tabIndex = 0;
    row.addEventListener('click', e => {
      if (e.target.closest('a')) return;
      showRow(row, Number(row.dataset.show));
    });
    row.addEventListener('keydown', e => { if (e.key === 'Enter') showRow(row, Number(row.dataset.show)); });
  }

  // ---- Begin

  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { repaint(); drawCurve(); });
  openScene(0);
  repaint();
  addEventListener('keydown', e => {
    if (e.key === ' ' && state.scene.motion && e.target.closest('input,button,select') === null) {
      e.preventDefault();
      play(timer === null);
    }
  });
  if (data.live) {
    await wasm_bindgen({ module_or_path: data.array(data.live.wasm).slice().buffer });
    const models = data.live.models.map(m => wasm_bindgen.Model.fromBytes(data.array(m)));
    const bodies = new Map();
    live.bodies = data.live.parts.map(([model, solid]) => {
      const key = `${model} ${solid}`;
      if (!bodies.has(key)) bodies.set(key, new wasm_bindgen.Body(models[model], solid));
      return bodies.get(key);
    });
    live.ready = true;
    const drag = make('button', { textContent: 'drag parts', title: 'move parts with the pointer' });
    drag.setAttribute('aria-pressed', 'false');
    drag.onclick = () => {
      state.dragging = !state.dragging;
      drag.setAttribute('aria-pressed', String(state.dragging));
    };
    const back = button('back', 'all parts where they were', () => {
      state.parts.forEach(p => { p.moved = null; });
      clearMarks();
      placeParts();
    });
    bar.append(drag, back);
    panel.prepend(heading('Measure'),
      make('p', { className: 'small', textContent: 'Pick two parts or faces; distances are exact.' }),
      make('div', { className: 'line' }, 'within', reachInput, 'mm'),
      make('label', {}, stopInput, 'dragged parts stop at contact'));
  }
  // Used by tests of the page, and available in the console of the browser.
  window.feelerView = { state, live, data, setStep, showPair, showMark, pick, draw, camera };
  view.dataset.ready = 'true';
})().catch(e => {
  document.getElementById('view').textContent = `The picture failed: ${e.message}`;
  throw e;
});
