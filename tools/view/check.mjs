// Checks of check.sh: makes pages with the program, opens them from disk, and operates them.
//
//     node check.mjs FEELER ROOT CHROMIUM [MODEL...]
//
// Makes and opens a page of each further model, and prints its size.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const [feeler, root, executablePath, ...models] = process.argv.slice(2);
const place = dirname(fileURLToPath(import.meta.url));
const data = name => join(root, 'data', name);
const out = join(place, 'pages');
rmSync(out, { recursive: true, force: true });
mkdirSync(out);
const file = name => join(out, name);

/// Runs the program; exit status 1 (findings) is accepted.
const run = (...args) => {
  const done = spawnSync(feeler, args, { maxBuffer: 1 << 30, encoding: 'utf8' });
  if (done.status !== 0 && done.status !== 1) throw new Error(`feeler ${args.join(' ')}: ${done.stderr}`);
  return done.stdout;
};
let checks = 0;
const faults = [];
const check = (what, holds, seen = '') => {
  checks += 1;
  if (!holds) faults.push(`${what}${seen === '' ? '' : `: ${JSON.stringify(seen)}`}`);
};

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--use-gl=angle',
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-background-networking'] });

/// Opens a page from disk and operates it; errors, console messages and requests are faults.
const use = async (name, act = async () => {}, { width = 1300, height = 850, colorScheme = 'light' } = {}) => {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  page.on('pageerror', e => faults.push(`${name}: ${e.message}`));
  page.on('console', m => {
    // Messages of the software renderer are not faults of the page.
    if (['error', 'warning'].includes(m.type()) && !m.text().includes('GPU stall')) {
      faults.push(`${name}: console: ${m.text()}`);
    }
  });
  page.on('request', r => {
    if (!/^(file|data|blob):/.test(r.url())) faults.push(`${name}: requests ${r.url()}`);
  });
  page.on('dialog', d => {
    faults.push(`${name}: a dialog`);
    return d.dismiss();
  });
  await page.goto(`file://${file(name)}`);
  await page.waitForSelector('#view[data-ready=true]', { timeout: 120_000 });
  checks += 1;
  const answer = await act(page);
  await page.waitForTimeout(300);
  await context.close();
  return answer;
};
const parts = page => page.evaluate(() => feelerView.state.parts.map(p => p.path));
const shot = (page, name) => page.screenshot({ path: join(out, name) });

// ---- view: number of parts, picking, layers, section, search
run('view', '-q', data('assemblies/rack.step'), '-o', file('rack.html'));
const inspected = JSON.parse(run('inspect', '--json', data('assemblies/rack.step')));
await use('rack.html', async page => {
  const found = await parts(page);
  check('rack: number of parts', found.length === inspected.solids.length, found.length);
  check('rack: names', found.every((n, i) => n === inspected.solids[i].instance_path), found);
  check('rack: names in the tree', await page.locator('.tree .name').count() === found.length);
  for (const name of ['groups', 'areas', 'cones', 'boxes']) await page.locator(`input[name=${name}]`).check();
  const lines = await page.evaluate(() => feelerView.state.parts.map(p => Object.keys(p.layers).length));
  check('rack: three layers each', lines.every(n => n === 3), lines);
  await shot(page, 'rack-layers.png');
  for (const name of ['groups', 'areas', 'cones', 'boxes']) await page.locator(`input[name=${name}]`).uncheck();
  await page.getByLabel('section', { exact: true }).selectOption('x');
  await page.getByLabel('place of the section').fill('0.3');
  await page.waitForTimeout(300);
  await shot(page, 'rack-section.png');
  await page.getByLabel('section', { exact: true }).selectOption('');
  await page.getByLabel('find a part').fill(found[0].split('/').pop());
  const left = await page.locator('.tree .name:visible').count();
  check('rack: search', left >= 1 && left < found.length, left);
  await page.getByLabel('find a part').fill('');
  const first = page.locator('.tree .line input').first();
  await first.uncheck();
  check('rack: hidden', await page.evaluate(() => !feelerView.state.parts[0].group.visible));
  await first.check();
  const box = await page.locator('canvas.gl').boundingBox();
  let picked = [];
  for (let i = 1; i < 8 && !picked.length; i++) {
    await page.mouse.click(box.x + (box.width * i) / 8, box.y + box.height / 2);
    picked = await page.evaluate(() => feelerView.state.picked);
  }
  check('rack: a click picks a face', picked.length === 1 && picked[0].face !== null, picked);
});

// ---- Names that are markup
const evil = '</script><img src=x onerror=alert(1)><!--';
const step = readFileSync(data('plug.step'), 'latin1');
writeFileSync(file('evil.step'), step.replaceAll("'plug'", `'${evil}'`), 'latin1');
run('view', '-q', file('evil.step'), data('socket.step'), '-o', file('evil.html'), '--d-max', '30');
run('clearance', '-q', file('evil.step'), data('socket.step'), '--html', file('evil-clearance.html'));
run('sweep', '-q', file('evil.step'), data('socket.step'), '--d-max', '1', '--joint', '0,0,0,0,0,1', '--slide', '0,-2',
  '--steps', '3', '--html', file('evil-sweep.html'));
run('preprocess', '-q', file('evil.step'), '-o', file('evil.feeler'), '--html', file('evil-import.html'));
for (const name of ['evil.html', 'evil-clearance.html', 'evil-sweep.html', 'evil-import.html']) {
  await use(name, async page => {
    check(`${name}: names are shown`, (await parts(page)).some(p => p.includes('onerror=alert')), await parts(page));
    await page.evaluate(() => feelerView.pick(feelerView.state.parts[0], 0));
    check(`${name}: no element of a name`, await page.locator('img').count() === 0);
    const text = await page.locator('#panel').textContent();
    check(`${name}: the name as text`, text.includes('<img src=x onerror=alert(1)>'));
  });
}

// ---- sweep: the slider moves the plug to where the sweep had it
const sweep = ['sweep', '-q', data('socket.step'), data('plug.step'), '--d-max', '2', '--joint', '0,0,0,0,0,1',
  '--slide', '20,0.1', '--turn', '0,30', '--steps', '50'];
// ---- sweep: the slider moves the plug to its pose in the sweep
writeFileSync(file('sweep.json'), JSON.stringify(swept));
run('view', '-q', data('socket.step'), data('plug.step'), '--sweep', file('sweep.json'), '-o', file('played.html'));
for (const name of ['sweep.html', 'played.html']) {
  await use(name, async page => {
    check(`${name}: two parts`, (await parts(page)).length === 2);
    const slider = page.getByLabel('time', { exact: true });
    for (const k of [0, 17, 50]) {
      await slider.fill(String(k));
      const seen = await page.evaluate(() => {
        const e = feelerView.state.parts[1].group.matrixWorld.elements;
        return { at: [e[12], e[13], e[14]], margin: feelerView.state.scene.motion.margin[feelerView.state.step] };
      });
      const frame = swept.frames[k];
      const off = Math.max(...seen.at.map((x, i) => Math.abs(x - frame.pose_b[i])));
      check(`${name}: the slider moves the plug`, off < 1e-9, [k, seen.at, frame.pose_b]);
      check(`${name}: margin of the step`, seen.margin === frame.min_distance, [k, seen.margin, frame.min_distance]);
    }
    await page.getByLabel('play', { exact: true }).click();
    await page.waitForTimeout(500);
    check(`${name}: plays`, await page.evaluate(() => feelerView.state.step) !== 50);
    await shot(page, name.replace('.html', '.png'));
    if (name === 'sweep.html') {
      await page.getByLabel('pause', { exact: true }).click();
      await page.locator('[data-show]').nth(7).click();
      check('sweep: a row goes to its step', await page.evaluate(() => feelerView.state.step) === 7);
    }
  });
}
run('mechanism', '-q', data('arm/arm.toml'), '--d-max', '200', '--steps', '200', '--html', file('arm.html'));
await use('arm.html', async page => {
  check('arm: parts', (await parts(page)).length === 8);
  const before = await page.evaluate(() => feelerView.state.parts[5].group.matrixWorld.elements.slice());
  await page.getByLabel('time', { exact: true }).fill('120');
  const after = await page.evaluate(() => feelerView.state.parts[5].group.matrixWorld.elements.slice());
  check('arm: the slider moves it', before.some((x, i) => Math.abs(x - after[i]) > 1));
  await shot(page, 'arm.png');
});

// ---- pour: number and positions of the balls
run('pour', '-q', data('pour/hopper.toml'), '-o', file('hopper'), '--html', file('hopper.html'));
await use('hopper.html', async page => {
  const lines = readFileSync(file('hopper/series.csv'), 'utf8').trim().split('\n').map(l => l.split(','));
  const at = step => page.evaluate(k => {
    feelerView.setStep(k);
    const [mesh] = feelerView.state.balls.meshes;
    return [mesh.count, mesh.instanceMatrix.array[0], mesh.instanceMatrix.array[14]];
  }, step);
  for (const step of [0, 20, 30]) {
    const [n, radius, z] = await at(step);
    check('hopper: balls', String(n) === lines[1 + 4 * step][lines[0].indexOf('grains')], n);
    check('hopper: radii', n === 0 || (radius >= 1.8 && radius <= 2.2), radius);
    check('hopper: heights', n === 0 || (z > -10 && z < 100), z);
  }
  const shown = await page.locator('#player output').textContent();
  check('hopper: mass flow', /mass flow [0-9.]+ g\/s/.test(shown), shown);
  await at(20);
  await page.waitForTimeout(300);
  await shot(page, 'hopper.png');
});

// ---- pour: grains in their shapes are only rotated and scaled
run('pour', '-q', data('pour/grains.toml'), '-o', file('grains'), '--html', file('grains.html'));
await use('grains.html', async page => {
  const meshes = await page.evaluate(() => {
    feelerView.setStep(5);
    return feelerView.state.balls.meshes.map(mesh => {
      const m = mesh.instanceMatrix.array;
      const dot = (i, j) => [0, 1, 2].reduce((sum, k) => sum + m[4 * i + k] * m[4 * j + k], 0);
      return [mesh.count, m[0], dot(0, 0), dot(1, 1), dot(2, 2), dot(0, 1), dot(0, 2), dot(1, 2)];
    });
  });
  check('grains: balls, rice, gravel', meshes.map(m => m[0]).join() === '40,40,40', meshes.map(m => m[0]));
  meshes.forEach(([, first, ...dots], k) => {
    const size = dots[0], off = [dots[1] - size, dots[2] - size, ...dots.slice(3)];
    check('grains: turned and scaled', off.every(x => Math.abs(x) < 1e-5 * size), dots);
    check('grains: balls stand, others are turned', (Math.abs(first * first - size) < 1e-5 * size) === (k === 0), first);
  });
  check('grains: title of the panel', (await page.locator('#panel').textContent()).includes('Grains by speed'));
  await shot(page, 'grains.png');
});

// ---- clearance, regress, diff, import: a click on a row shows its subject
run('clearance', '-q', data('assemblies/rack.step'), '--d-max', '5', '--html', file('clearance.html'));
const clear = JSON.parse(run('clearance', '-q', data('assemblies/rack.step'), '--d-max', '5', '--json'));
for (const [suffix, options] of [['', {}], ['-dark', { colorScheme: 'dark' }],
  ['-phone', { width: 390, height: 844 }], ['-phone-dark', { width: 390, height: 844, colorScheme: 'dark' }]]) {
  await use('clearance.html', async page => {
    await shot(page, `clearance${suffix}.png`);
    const rows = page.locator('[data-show]');
    check('clearance: rows', await rows.count() === clear.results.length, await rows.count());
    for (const k of [0, clear.results.length - 1]) {
      await rows.nth(k).click();
      const pair = await page.evaluate(() => feelerView.state.pair);
      const { index_a, index_b, distance, minima } = clear.results[k];
      check('clearance: a row shows its pair', pair.parts.join() === [index_a, index_b].join(), pair.parts);
      check('clearance: its distance', (pair.minima[0]?.distance ?? null) === (distance ?? null), distance);
      check('clearance: all minima', pair.minima.length + pair.more === minima, minima);
    }
    await page.waitForTimeout(300);
    await shot(page, `clearance-pair${suffix}.png`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(`clearance${suffix}: nothing beyond the screen`, wide <= 0, wide);
  }, options);
}
run('diff', '-q', data('pin.step'), data('pin-short.step'), '--html', file('diff.html'));
await use('diff.html', async page => {
  check('diff: both versions', (await parts(page)).length === 2, await parts(page));
  await page.locator('[data-show]').first().click();
  await page.waitForTimeout(300);
  await shot(page, 'diff.png');
});
writeFileSync(file('suite.toml'), `[[model]]\nfile = "parts/*.step"\n[[pair]]\nname = "pair"\na = "parts/a.step"\n`
  + `b = "parts/b.step"\nd_max = 5\npose_b = "0,0,0"\n`);
mkdirSync(file('parts'));
const copy = (from, to) => writeFileSync(file(`parts/${to}.step`), readFileSync(data(`${from}.step`)));
copy('bore', 'a');
copy('pin', 'b');
run('regress', '-q', file('suite.toml'), '--bless');
copy('pin-short', 'b');
run('regress', '-q', file('suite.toml'), '--html', file('regress.html'));
await use('regress.html', async page => {
  const rows = page.locator('[data-show]');
  check('regress: rows', await rows.count() > 2);
  await rows.filter({ hasText: 'pair' }).first().click();
  const shown = await page.evaluate(() => feelerView.state.pair?.parts);
  check('regress: a row shows its pair', shown?.join() === '0,1', shown);
  await shot(page, 'regress.png');
});
run('preprocess', '-q', join(root, 'data'), '-o', file('prepared'), '--html', file('import.html'));
await use('import.html', async page => {
  const rows = page.locator('tr[data-show]');
  check('import: rows', await rows.count() > 10, await rows.count());
  await rows.nth(3).click();
  await shot(page, 'import.png');
});

// ---- tessellate: cells are picked and moved apart; short edges are marked in both scenes
const labels = [...Array(16 ** 3).keys()].map(i => [i % 16, (i >> 4) % 16, i >> 8]).map(voxel => {
  const seeds = [[3, 4, 3], [12, 4, 5], [4, 12, 3], [13, 11, 4], [4, 4, 12], [11, 3, 13], [3, 13, 12], [12, 12, 11], [8, 8, 8]];
  const squares = seeds.map(s => s.reduce((sum, x, k) => sum + (voxel[k] + 0.5 - x) ** 2, 0));
  return 7 * (1 + squares.indexOf(Math.min(...squares)));
});
writeFileSync(file('grains.nrrd'), `NRRD0004\ntype: uint8\ndimension: 3\nsizes: 16 16 16\nencoding: text\n\n${labels.join('\n')}\n`);
run('tessellate', '-q', file('grains.nrrd'), '--min-edge', '2', '--html', file('cells.html'));
await use('cells.html', async page => {
  const found = await parts(page);
  check('cells: one for each label', found.join() === [...Array(9).keys()].map(k => `grain ${7 * (k + 1)}`).join(), found);
  const marks = () => page.evaluate(() => feelerView.state.scene.marks.length);
  const after = await marks();
  await page.getByLabel('model', { exact: true }).selectOption('1');
  check('cells: short edges before', await marks() > after, [await marks(), after]);
  check('cells: marks are listed', await page.getByText(/^edge of length/).count() === await marks());
  const colors = () => page.evaluate(() => feelerView.state.parts.map(p => p.color.getHexString()).join());
  const before = await colors();
  await page.getByLabel('model', { exact: true }).selectOption('0');
  check('cells: equal colours in both scenes', before === await colors());
  const place = () => page.evaluate(() => feelerView.state.parts[0].group.matrixWorld.elements.slice(12, 15));
  const together = await place();
  await page.getByLabel('distance between cells').fill('1');
  check('cells: moved apart', together.every(x => x === 0) && (await place()).every(x => x < -1), await place());
  await page.evaluate(() => feelerView.pick(feelerView.state.parts[4], 0));
  const text = await page.locator('#panel').textContent();
  check('cells: facts', /grain 35volume \d+/.test(text) && /neighbours: \d+/.test(text), text.slice(0, 200));
  check('cells: no unit', !text.includes(' mm'), text);
  await shot(page, 'cells.png');
  await page.locator('[data-show]').nth(2).click();
  check('cells: a row shows its cell', await page.evaluate(() => feelerView.state.only.join()) === '2');
});

// ---- Live: the minima equal those of the program, also after dragging a part
const byPlace = minima => minima
  .map(m => [...(m.points ?? [m.point_a, m.point_b]).flat(), m.distance])
  .sort((x, y) => {
    for (let k = 0; k < 6; k++) if (Math.abs(x[k] - y[k]) > 1e-6) return x[k] - y[k];
    return 0;
  });
let worst = 0, compared = 0;
const compare = (what, page, program) => {
  check(`${what}: status`, page.status === program.status, [page.status, program.status]);
  const [a, b] = [byPlace(page.minima), byPlace(program.contacts)];
  check(`${what}: number of minima`, a.length === b.length, [a.length, b.length]);
  a.forEach((m, i) => m.forEach((x, k) => {
    worst = Math.max(worst, Math.abs(x - (b[i]?.[k] ?? Infinity)) / Math.max(1, Math.abs(x)));
  }));
  compared += a.length;
};
const live = [
  ['sphere', 'sphere', 5, [22.5, 0, 0, 0, 0, 0, 1]], ['socket', 'plug', 7, [0.5, 0, 20, 0, 0.0261769, 0, 0.9996573]],
  ['bore', 'pin', 1, [0.05, 0, 0, 0, 0, 0, 1]], ['torus', 'torus', 9, [10, 0, 0, Math.SQRT1_2, 0, 0, Math.SQRT1_2]],
  ['wave', 'torus', 8, [0, 0, 24, 0, 0, 0, 1]], ['loft', 'spool', 40, [30, 20, 10, 0, 0, 0, 1]],
  ['box', 'cylinder', 1, [0, 0, 0, 0, 0, 0, 1]], ['bayonet-socket', 'bayonet-plug', 1, [0, 0, 1, 0, 0, 0, 1]],
];
for (const [a, b, reach, pose] of live) {
  const name = `live-${a}-${b}.html`;
  const [fileA, fileB] = [a, b].map(n => data(`${n}.step`));
  run('view', '-q', fileA, fileB, '--live', join(place, 'package'), '--pose', `1=${pose}`, '-o', file(name));
  await use(name, async page => {
    const answer = await page.evaluate(r => feelerView.live.query(0, 1, r), reach);
    const program = args => JSON.parse(run('query', '-q', fileA, fileB, '--json', '--d-max', String(reach), ...args));
    compare(`${a} and ${b}`, answer, program([`--pose-b=${pose}`]));
    const moved = await page.evaluate(r => {
      const { live, state } = feelerView, part = state.parts[1];
      document.querySelector('input[type=number]').value = r;
      live.move(part, part.group.position.clone().set(3.25, -1.5, 2.125));
      const m = part.group.matrix, at = part.group.position.clone(), turn = part.group.quaternion.clone();
      m.decompose(at, turn, part.group.scale.clone());
      return { pose: [...at.toArray(), ...turn.toArray()], answer: live.query(0, 1, r) };
    }, reach);
    compare(`${a} and ${b}, dragged`, moved.answer, program([`--pose-b=${moved.pose}`]));
    if (a === 'socket') {
      const box = await page.locator('canvas.gl').boundingBox();
      await page.getByText('drag parts').click();
      const before = await page.evaluate(() => feelerView.state.parts.map(p => p.group.matrix.elements.slice(12, 15)));
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2 + 40, box.y + box.height / 2 - 30, { steps: 5 });
      await page.mouse.up();
      const after = await page.evaluate(() => feelerView.state.parts.map(p => p.group.matrix.elements.slice(12, 15)));
      check('live: a part is dragged', JSON.stringify(before) !== JSON.stringify(after));
      await shot(page, 'live.png');
    }
  });
}
check('live: equal to the program', worst <= 1e-12 && compared > 20, [worst, compared]);
console.log(`live: ${compared} minima in ${2 * live.length} queries, largest difference ${worst.toExponential(1)}`);

// ---- Sizes
for (const model of [data('assemblies/rack.step'), ...models]) {
  const name = `size-${basename(model).replace(/\.[^.]*$/, '')}.html`;
  run('view', '-q', model, '-o', file(name));
  const solids = JSON.parse(run('inspect', '--json', model)).solids;
  const faces = [...new Map(solids.map(s => [s.solid, s.faces])).values()].reduce((a, b) => a + b, 0);
  const seconds = await use(name, page => page.evaluate(() => performance.now() / 1000));
  const bytes = statSync(file(name)).size;
  console.log(`${basename(model)}: ${solids.length} parts, ${faces} faces, ${(bytes / 1e6).toFixed(2)} MB, `
    + `shown after ${seconds.toFixed(1)} s`);
}
await browser.close();
for (const fault of faults) console.log(`FAULT ${fault}`);
console.log(`${checks} checks, ${faults.length} faults; pages and pictures: ${out}`);
process.exit(faults.length ? 1 : 0);
