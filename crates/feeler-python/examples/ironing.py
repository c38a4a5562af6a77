"""Presses a rubber slider on a rubber block, drags it along, and writes a page that plays the motion
(docs/DEFORMABLE.md).

    python ironing.py [--friction MU] [--depth MM] [--speed MM/S] [--page FILE]
"""

import argparse
import json
import pathlib

import numpy as np

import feeler.deformable as fd

# Sizes (mm). The sole of the slider is a parabola with the radius of curvature SOLE_RADIUS.
BLOCK, SLIDER, START, SOLE_RADIUS, TRAVEL = (60, 8, 10), (12, 6, 6), 6, 9, 40
SKIN = 0.1
# Times of pressing and of acceleration (s).
PRESS, ACCELERATION = 0.02, 0.005
# Number of frames of the page. More make the page smoother and larger.
FRAMES = 150


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--friction", type=float, default=0.3, help="coefficient of friction")
    parser.add_argument("--depth", type=float, default=1.5, help="displacement by which the slider is pressed on (mm)")
    slow = "speed of the slider (mm/s); below about 500, friction is too small (docs/DEFORMABLE.md, slip speed)"
    parser.add_argument("--speed", type=float, default=1000.0, help=slow)
    parser.add_argument("--page", type=pathlib.Path, default="ironing.html", help="output page (.html)")
    return parser.parse_args()


def model(friction):
    """Simulation, block and slider with their meshes, and the nodes of the top of the slider."""
    block_mesh = fd.Mesh.box_of_hexahedra([0, 0, 0], BLOCK, [30, 3, 5])
    side = 0.5 * (BLOCK[1] - SLIDER[1])
    box = fd.Mesh.box_of_hexahedra([START, side, 0], SLIDER, [8, 3, 3])
    nodes, height = box.nodes, SLIDER[2]
    # The sole is curved; the layers above it become straight towards the top.
    center = START + 0.5 * SLIDER[0]
    nodes[:, 2] += (1 - nodes[:, 2] / height) * (nodes[:, 0] - center) ** 2 / (2 * SOLE_RADIUS)
    nodes[:, 2] += BLOCK[2] + 2 * SKIN
    slider_mesh = fd.Mesh(nodes, hexahedra=box.hexahedra)

    block = fd.DeformableBody(block_mesh, fd.Material(young=5, poisson=0.4, density=1.1e-9), SKIN)
    slider = fd.DeformableBody(slider_mesh, fd.Material(young=20, poisson=0.4, density=1.1e-9), SKIN)
    bottom = np.flatnonzero(block_mesh.nodes[:, 2] == 0)
    top = np.flatnonzero(box.nodes[:, 2] == height)
    for axis in range(3):
        block.prescribe_velocity(bottom, axis, 0)
        slider.prescribe_velocity(top, axis, 0)
    for body in (block, slider):
        body.set_damping(300)
    # Contacts slide faster than friction * step / mass of a node; slower ones need a larger slip speed.
    simulation = fd.Simulation(fd.ContactSettings(penalty=50, margin=0.3, friction=friction, slip_speed=100))
    simulation.add(block)
    simulation.add(slider)
    return simulation, (block, block_mesh), (slider, slider_mesh), top


def velocity(time, args):
    """Velocity (mm/s) of the top of the slider along x and z."""
    if time < PRESS:
        return 0.0, -args.depth / PRESS * (1 - np.cos(2 * np.pi * time / PRESS))
    return args.speed * min((time - PRESS) / ACCELERATION, 1.0), 0.0


def run(args):
    """Frames of the run: times, forces that drag and press the slider (N), and for each body its visible elements with
    the positions and stresses of all frames."""
    simulation, *bodies, top = model(args.friction)
    slider = bodies[1][0]
    # Each node of a surface touches few features of the other body.
    step = 0.7 * simulation.stable_step(4)
    end = PRESS + ACCELERATION / 2 + TRAVEL / args.speed
    faces = [side_faces(mesh) for _, mesh in bodies]
    times, forces, shapes, deepest = [], [], [], 0.0
    for k in range(FRAMES + 1):
        if k:
            x, z = velocity((k - 0.5) * end / FRAMES, args)
            slider.prescribe_velocity(top, 0, x)
            slider.prescribe_velocity(top, 2, z)
            simulation.run_until(k * end / FRAMES, step)
        times.append(simulation.time)
        forces.append(slider.reaction(top).sum(axis=0))
        deepest = max(deepest, simulation.max_overlap)
        shapes.append([(body.positions[nodes][:, [0, 2]], stress(body)[elements])
                       for (body, _), (nodes, _, elements) in zip(bodies, faces)])  # fmt: skip
    quads = [quads for _, quads, _ in faces]
    return np.array(times), np.array(forces) * [1, 1, -1], shapes, quads, deepest, step


def side_faces(mesh):
    """Nodes of the side of a mesh with the smallest y, its quadrilaterals, and their hexahedra."""
    on_side = mesh.nodes[:, 1] == mesh.nodes[:, 1].min()
    # The face of a box of hexahedra with the smallest y has the local nodes 0, 1, 5 and 4.
    faces = mesh.hexahedra[:, [0, 1, 5, 4]]
    elements = np.flatnonzero(on_side[faces].all(axis=1))
    nodes, quads = np.unique(faces[elements], return_inverse=True)
    return nodes, quads.reshape(-1, 4), elements


def stress(body):
    """Von Mises stress (N/mm²) of each hexahedron: that of the mean of its eight integration points."""
    mean = body.stresses().reshape(-1, 8, 3, 3).mean(axis=1)
    deviator = mean - np.trace(mean, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    return np.sqrt(1.5 * (deviator**2).sum(axis=(1, 2)))


def page(times, forces, shapes, quads, args):
    """Page without external files."""
    bodies = []
    for i, faces in enumerate(quads):
        frames = [shape[i] for shape in shapes]
        bodies.append({"quads": faces.tolist(),
                       "points": [np.round(points, 3).ravel().tolist() for points, _ in frames],
                       "stress": [np.round(values, 3).tolist() for _, values in frames]})  # fmt: skip
    data = {"times": np.round(1e3 * times, 3).tolist(), "drag": np.round(forces[:, 0], 3).tolist(),
            "press": np.round(forces[:, 2], 3).tolist(), "bodies": bodies, "friction": args.friction,
            "size": BLOCK}  # fmt: skip
    return PAGE.replace("DATA", json.dumps(data, separators=(",", ":")))


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ironing</title>
<style>
  :root { color-scheme: light dark; --ink: light-dark(#1c2530, #e4e9ef); --soft: light-dark(#667483, #93a0ad);
          --line: light-dark(#d5dbe2, #38434f); --back: light-dark(#ffffff, #14191f);
          --drag: light-dark(#c2410c, #fb923c); --press: light-dark(#1d4ed8, #7aa5ff); }
  body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 1000px;
         margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.4rem; margin: 0; }
  p { color: var(--soft); margin: .2rem 0 1rem; }
  canvas { width: 100%; display: block; }
  .controls { display: flex; gap: .8rem; align-items: center; margin: .5rem 0 1.2rem; }
  button { font: inherit; width: 5.5rem; padding: .3rem 0; border: 1px solid var(--line); border-radius: 6px;
           color: inherit; background: transparent; cursor: pointer; }
  input { flex: 1; accent-color: var(--press); }
  .legend { display: flex; flex-wrap: wrap; gap: 0 1.4rem; font-size: .9rem; margin-left: 52px; }
  .legend > span::before { content: ""; display: inline-block; width: 1.4rem; margin-right: .4rem; vertical-align: .3em;
                           border-top: 2px var(--dash, solid) var(--of); }
  output { width: 5.5rem; text-align: right; font-variant-numeric: tabular-nums; }
</style>
<h1>Ironing</h1>
<p>A rubber slider is pressed on a rubber block and dragged along. Colours: von Mises stress. The gap between the
  outlines is that of the two skins of 0.1 mm.</p>
<canvas id="view"></canvas>
<div class="controls"><button id="play">Pause</button><input id="frame" type="range" min="0" value="0"
  aria-label="time"><output id="time"></output></div>
<div class="legend"><span style="--of: var(--press)">pressing force (N)</span>
<span style="--of: var(--drag)">dragging force (N)</span>
<span style="--of: var(--soft); --dash: dotted"><span id="share"></span> · pressing force</span></div>
<canvas id="plot"></canvas>
<span id="probe" hidden></span>
<script>
const data = DATA;
const $ = id => document.getElementById(id);
const colours = {}, colour = name => colours[name];
function readColours() {
  // The computed color of an element, because a custom property keeps light-dark() as text.
  for (const name of ["--ink", "--soft", "--line", "--drag", "--press"]) {
    $("probe").style.color = `var(${name})`;
    colours[name] = getComputedStyle($("probe")).color;
  }
}
const last = data.times.length - 1;
const maxStress = Math.max(...data.bodies.flatMap(b => b.stress.flat()));
const ramp = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function heat(share) {
  const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1), i = Math.min(Math.floor(at), ramp.length - 2);
  return `rgb(${ramp[i].map((c, k) => Math.round(c + (ramp[i + 1][k] - c) * (at - i)))})`;
}
function context(canvas, heightOf) {
  const width = canvas.clientWidth, height = Math.round(heightOf(width)), scale = devicePixelRatio || 1;
  const [w, h] = [width, height].map(n => Math.round(n * scale));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w; canvas.height = h; canvas.style.height = height + "px";
  }
  const c = canvas.getContext("2d");
  c.setTransform(scale, 0, 0, scale, 0, 0); c.clearRect(0, 0, width, height); c.font = "13px system-ui, sans-serif";
  return [c, width, height];
}
function drawView(frame) {
  const margin = 2, top = data.size[2] + 8, floor = 24, mm = width => width / (data.size[0] + 2 * margin);
  const [c, width, height] = context($("view"), width => top * mm(width) + floor);
  const scale = mm(width), base = height - floor;
  const at = (p, k) => [(p[2 * k] + margin) * scale, base - p[2 * k + 1] * scale];
  for (const body of data.bodies) {
    const p = body.points[frame], sides = new Map();
    body.quads.forEach((quad, i) => {
      c.beginPath(); quad.forEach(k => c.lineTo(...at(p, k))); c.closePath();
      c.fillStyle = c.strokeStyle = heat(body.stress[frame][i] / maxStress); c.lineWidth = 1; c.fill(); c.stroke();
      quad.forEach((a, k) => { const b = quad[(k + 1) % 4], key = Math.min(a, b) + "," + Math.max(a, b);
        sides.set(key, [a, b, (sides.get(key) || [0, 0, 0])[2] + 1]); });
    });
    for (const [a, b, count] of sides.values()) {
      c.beginPath(); c.moveTo(...at(p, a)); c.lineTo(...at(p, b));
      c.strokeStyle = count === 1 ? colour("--ink") : "rgba(255,255,255,.25)"; c.lineWidth = count === 1 ? 1.6 : .6;
      c.stroke();
    }
  }
  c.strokeStyle = colour("--ink"); c.lineWidth = 1; c.beginPath();
  for (let x = 0; x <= data.size[0]; x += 1.5) {
    const [a, b] = [(x + margin) * scale, base + 1];
    c.moveTo(a, b); c.lineTo(a - .7 * scale, b + .7 * scale);
  }
  c.stroke();
  const w = 160, x = width - w - margin * scale, y = 4;
  for (let i = 0; i < w; i++) { c.fillStyle = heat(i / w); c.fillRect(x + i, y, 1.5, 10); }
  c.fillStyle = colour("--soft"); c.textBaseline = "top"; c.textAlign = "left"; c.fillText("0", x, y + 14);
  c.textAlign = "right"; c.fillText(maxStress.toFixed(2) + " N/mm²", x + w, y + 14);
}
function ticks(max, count) {
  const raw = max / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw);
  return Array.from({length: Math.floor(max / step + 1e-9) + 1}, (_, i) => i * step);
}
function drawPlot(frame) {
  const [c, width, height] = context($("plot"), width => Math.max(220, .34 * width));
  const left = 52, right = 12, top = 10, bottom = 40;
  const values = [...data.drag, ...data.press], high = 1.05 * Math.max(...values, 1e-9), low = Math.min(0, ...values);
  const end = data.times[last];
  const x = t => left + t / end * (width - left - right);
  const y = f => height - bottom - (f - low) / (high - low) * (height - top - bottom);
  c.strokeStyle = colour("--line"); c.fillStyle = colour("--soft"); c.lineWidth = 1;
  c.textAlign = "right"; c.textBaseline = "middle";
  for (const f of ticks(high, 5)) {
    c.beginPath(); c.moveTo(left, y(f)); c.lineTo(width - right, y(f)); c.stroke(); c.fillText(f, left - 8, y(f));
  }
  c.textAlign = "center"; c.textBaseline = "top";
  for (const t of ticks(end, 8)) c.fillText(t, x(t), height - bottom + 6);
  c.fillText("time (ms)", left + (width - left - right) / 2, height - 16);
  function curve(forces, name, dash) {
    c.strokeStyle = colour(name); c.lineWidth = 2; c.setLineDash(dash); c.beginPath();
    forces.forEach((f, k) => c.lineTo(x(data.times[k]), y(f))); c.stroke(); c.setLineDash([]);
  }
  curve(data.press.map(f => data.friction * f), "--soft", [3, 4]);
  curve(data.press, "--press", []);
  curve(data.drag, "--drag", []);
  const now = x(data.times[frame]);
  c.strokeStyle = colour("--soft"); c.lineWidth = 1; c.beginPath(); c.moveTo(now, top); c.lineTo(now, height - bottom);
  c.stroke();
  for (const [forces, name] of [[data.press, "--press"], [data.drag, "--drag"]]) {
    c.fillStyle = colour(name); c.beginPath(); c.arc(now, y(forces[frame]), 4, 0, 2 * Math.PI); c.fill();
  }
}
let frame = 0, at = 0, playing = true, before = Infinity;
function draw() {
  $("frame").value = frame; $("time").textContent = data.times[frame].toFixed(1) + " ms";
  drawView(frame); drawPlot(frame);
}
function play(on) { playing = on; $("play").textContent = on ? "Pause" : "Play"; }
$("frame").max = last; $("share").textContent = data.friction;
$("frame").oninput = () => { play(false); frame = at = +$("frame").value; draw(); };
$("play").onclick = () => { if (!playing && frame === last) frame = at = 0; play(!playing); draw(); };
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
if (matchMedia("(prefers-reduced-motion: reduce)").matches) play(false);
// Plays the motion in 6 s, on slow computers with fewer frames.
function tick(now) {
  if (playing) {
    at = Math.min(at + Math.max(now - before, 0) / 6000 * last, last);
    if (Math.floor(at) !== frame) { frame = Math.floor(at); draw(); }
    if (frame === last) play(false);
  }
  before = now;
  requestAnimationFrame(tick);
}
readColours(); draw(); requestAnimationFrame(tick);
</script>
"""


def main():
    args = options()
    times, forces, shapes, quads, deepest, step = run(args)
    steady = forces[times > PRESS + 0.5 * (times[-1] - PRESS)].mean(axis=0)
    print(f"step      {step:.2e} s")
    print(f"overlap   at most {deepest:.3f} mm of both skins, {2 * SKIN} mm")
    print(f"pressing  {steady[2]:.2f} N, mean of the second half of the path")
    print(f"dragging  {steady[0]:.2f} N, {steady[0] / steady[2]:.3f} of the pressing force")
    args.page.write_text(page(times, forces, shapes, quads, args), encoding="utf-8")
    print(f"page      {args.page}")


if __name__ == "__main__":
    main()
