// Checks of check.sh: opens the page that imports STEP files from a local server in headless Chromium, and operates it.
//
//     node check.mjs FEELER ROOT SITE CHROMIUM [--times] [MODEL...]
//
// Imports each further model, and prints its time in the browser beside that of the program with one thread; with
// --times, also that of a file of 10 MB. Times are printed only: they depend on what else the computer does.
// Writes screenshots next to the page.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { gzipSync } from 'node:zlib';
import { basename, extname, join, normalize } from 'node:path';
import { chromium } from 'playwright-core';

const [feeler, root, site, executablePath, ...rest] = process.argv.slice(2);
const isTimed = rest.includes('--times');
const models = rest.filter(argument => argument !== '--times');
const place = mkdtempSync(join(tmpdir(), 'try-'));
const data = name => join(root, 'data', name);
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };
const server = createServer((request, response) => {
  const path = join(site, normalize(new URL(request.url, 'http://127.0.0.1').pathname).replace(/\/$/, '/index.html'));
  try {
    const bytes = readFileSync(path);
    response.writeHead(200, { 'Content-Type': types[extname(path)] ?? 'application/octet-stream' });
    response.end(bytes);
  } catch {
    response.writeHead(404);
    response.end();
  }
});
await new Promise(done => { server.listen(0, '127.0.0.1', done); });
const address = `http://127.0.0.1:${server.address().port}/`;

let checks = 0;
const faults = [];
const check = (what, holds, seen = '') => {
  checks += 1;
  if (!holds) faults.push(`${what}${seen === '' ? '' : `: ${JSON.stringify(seen)}`}`);
};
/// Runs the program with one thread; refused files are accepted. Returns what it printed, and its wall time and
/// processor time (s).
const run = (...args) => {
  const start = performance.now();
  const env = { ...process.env, RAYON_NUM_THREADS: '1', TIMEFORMAT: 'time %U %S' };
  const done = spawnSync('bash', ['-c', 'time "$@"', '-', feeler, ...args],
    { maxBuffer: 1 << 30, encoding: 'utf8', env });
  if (done.error || done.signal || done.status > 3) throw new Error(`feeler ${args.join(' ')}: ${done.stderr}`);
  const [, user, system] = done.stderr.match(/time (\S+) (\S+)\s*$/);
  return { ...done, wall: (performance.now() - start) / 1000, cpu: Number(user) + Number(system) };
};

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--use-gl=angle',
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-background-networking'] });
/// Processor time (s) of the pages so far.
const processes = await browser.newBrowserCDPSession();
const pageTime = async () => {
  const { processInfo } = await processes.send('SystemInfo.getProcessInfo');
  return processInfo.filter(p => p.type === 'renderer').reduce((sum, p) => sum + p.cpuTime, 0);
};
/// Opens the page and operates it; errors, console messages and requests to other servers are faults.
const use = async (act, { width = 1280, height = 850, colorScheme = 'light' } = {}) => {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, acceptDownloads: true });
  const page = await context.newPage();
  page.on('pageerror', e => faults.push(e.message));
  page.on('console', m => {
    // Messages of the software renderer are not faults of the page.
    if (['error', 'warning'].includes(m.type()) && !m.text().includes('GPU stall')) faults.push(`console: ${m.text()}`);
  });
  page.on('request', r => {
    if (!r.url().startsWith(address) && !/^(blob|data):/.test(r.url())) faults.push(`requests ${r.url()}`);
  });
  await page.goto(address);
  await act(page);
  await context.close();
};
const open = (page, ...files) => page.setInputFiles('#chooser', files);
const status = page => page.getAttribute('#result', 'data-status');
const waitFor = (page, wanted) => page.waitForSelector(`#result[data-status=${wanted}]`, { timeout: 30_000 });
const fill = (page, id, value) => page.fill(`#${id}`, String(value));
const shot = (page, name) => page.screenshot({ path: join(site, '..', name) });
const save = async (page, row) => {
  const [download] = await Promise.all([page.waitForEvent('download'), row.locator('.save').click()]);
  const path = join(place, download.suggestedFilename());
  await download.saveAs(path);
  return path;
};

/// Writes a STEP file with `count` copies of the entities of a file of data/, numbered anew. Returns its path.
const multiplied = (name, count) => {
  const text = readFileSync(data(name), 'latin1');
  const [from, to] = [text.indexOf('DATA;') + 5, text.lastIndexOf('ENDSEC;')];
  const pieces = text.slice(from, to).split(/('(?:[^']|'')*')/);
  const shift = 1 + Math.max(...[...text.matchAll(/#(\d+)\s*=/g)].map(m => Number(m[1])));
  const renumbered = (p, k) => p.replace(/#(\d+)/g, (_, n) => `#${Number(n) + k * shift}`);
  const copy = k => pieces.map((p, i) => (i % 2 ? p : renumbered(p, k))).join('');
  const path = join(place, `${count}-${name}`);
  const copies = Array.from({ length: count }, (_, k) => copy(k));
  writeFileSync(path, text.slice(0, from) + copies.join('') + text.slice(to), 'latin1');
  return path;
};
const megabytes = path => (statSync(path).size / 1e6).toFixed(2);

/// Facts of a document that `feeler inspect --json` prints: those that must be equal, and numbers with the
/// size that their differences are compared with.
const facts = document => {
  const numbers = [];
  const exact = [document.input, document.input_hash, document.program, document.options, document.left_out,
    document.warnings.length, document.components.map(c => [c.name, c.parent, c.instances])];
  for (const s of document.solids) {
    exact.push([s.name, s.instance_path, s.source, s.solid, s.faces, s.edges, s.vertices, s.faces_by_type,
      s.edges_by_curve, s.edges_by_status, s.supermaximal_faces, s.supermaximal_edges]);
    const size = Math.hypot(...s.bbox_max.map((x, k) => x - s.bbox_min[k]));
    numbers.push([s.volume, s.volume], [s.area, s.area]);
    for (const x of [...s.bbox_min, ...s.bbox_max, ...s.pose.translation]) numbers.push([x, size]);
  }
  return { exact: JSON.stringify(exact), numbers };
};
/// Compares a file that the page saved with that of the program. The elementary functions of the two platforms round
/// differently, so that last digits and the subdivision of areas may differ. Equal are the features of the solids,
/// names, remarks and origin; volumes, areas, boxes and positions agree relative to `limit`.
const compare = (what, saved, native, limit = 1e-8) => {
  const [bytes, own] = [saved, native].map(path => readFileSync(path));
  if (bytes.equals(own)) return 'equal bytes';
  const [a, b] = [saved, native].map(path => facts(JSON.parse(run('inspect', '--json', path).stdout)));
  check(`${what}: features, names and remarks of the saved file`, a.exact === b.exact);
  const differences = a.numbers.map(([x, size], i) => (x === b.numbers[i]?.[0] ? 0
    : Math.abs(x - b.numbers[i]?.[0]) / Math.abs(size)));
  const worst = Math.max(...differences);
  check(`${what}: numbers of the saved file`, worst <= limit, worst);
  return `${bytes.length} and ${own.length} bytes, numbers agree within ${worst.toExponential(1)}`;
};

// ---- The example: contacts, verdict, motion of B
await use(async page => {
  await page.getByRole('button', { name: 'Load the example' }).click();
  await waitFor(page, 'separated');
  check('example: two files', await page.locator('#files > li.ready').count() === 2);
  await fill(page, 'd-max', 2);
  const counted = text => page.waitForFunction(t => document.getElementById('summary').textContent.startsWith(t), text,
    { timeout: 30_000 });
  const native = JSON.parse(run('query', '--json', '--d-max', '2', data('socket.step'), data('plug.step')).stdout);
  await counted(`${native.contacts.length} contacts`).catch(() => check('example: number of contacts', false));
  const distance = Number((await page.locator('#contacts tbody tr td').first().textContent()).replace(' mm', ''));
  check('example: smallest distance', Math.abs(distance - native.contacts[0].distance) < 1e-8, distance);
  check('example: the hint is hidden', await page.locator('#hint').isHidden());
  await shot(page, 'try-1280.png');

  await fill(page, 'shift-x', 0.5);
  await waitFor(page, 'interfering');
  check('moved: a common point', (await page.textContent('#verdict')).includes('common point'));
  await fill(page, 'shift-x', 0);
  await waitFor(page, 'separated');
  await fill(page, 'shift-x', 0.05);
  await page.locator('#d-max').focus();
  await fill(page, 'angle-z', 90);
  await page.getByRole('button', { name: 'Reset' }).click();
  await waitFor(page, 'separated');
  check('reset: the pose of the file', await page.textContent('#pose-values') === '0, 0, 0, 0, 0, 0, 1');

  // B is dragged along the screen, then rotated.
  const box = await page.locator('#canvas').boundingBox();
  const pose = () => page.textContent('#pose-values');
  const drag = async (from, by) => {
    await page.mouse.move(...from);
    await page.mouse.down();
    for (let k = 1; k <= 8; k++) await page.mouse.move(from[0] + (by[0] * k) / 8, from[1] + (by[1] * k) / 8);
    await page.mouse.up();
  };
  await fill(page, 'shift-z', 60);
  await page.getByRole('button', { name: 'Show all' }).click();
  const spots = [0.3, 0.25, 0.35, 0.2, 0.4].map(y => [box.x + box.width / 2, box.y + box.height * y]);
  let spot = null;
  for (const s of spots) {
    const before = await pose();
    await drag(s, [40, -20]);
    if (await pose() !== before) {
      spot = [s[0] + 40, s[1] - 20];
      break;
    }
  }
  check('dragging moves B', spot !== null);
  const moved = (await pose()).split(', ').map(Number);
  check('dragging keeps the orientation', moved[6] === 1, moved);
  await page.keyboard.down('Shift');
  await drag(spot ?? spots[0], [60, 10]);
  await page.keyboard.up('Shift');
  const turned = (await pose()).split(', ').map(Number);
  check('Shift rotates B', turned[6] < 0.999, turned);
  await page.locator('#canvas').focus();
  await page.keyboard.press('ArrowRight');
  check('arrow keys move B', await pose() !== turned.join(', '));
  await shot(page, 'try-moved.png');
  await page.getByRole('button', { name: 'Reset' }).click();
  await waitFor(page, 'separated');
  await page.locator('#contacts tbody tr').first().press('Enter');
  check('a row is selected by Enter', await page.locator('#contacts tr.shown').count() === 1);

  // Saved files.
  for (const name of ['socket', 'plug']) {
    const saved = await save(page, page.locator('#files > li').filter({ hasText: `${name}.step` }));
    check(`${name}: name of the saved file`, basename(saved) === `${name}.feeler`, saved);
    const native = join(place, `native-${name}.feeler`);
    run('preprocess', '-q', data(`${name}.step`), '-o', native);
    console.log(`${name}.feeler: ${compare(name, saved, native)}`);
  }
});

// ---- Bad files: messages of the program
await use(async page => {
  const text = readFileSync(data('plug.step'));
  const bad = { 'cut.step': text.subarray(0, text.length / 2), 'empty.step': '', 'note.step': 'This is a note.\n' };
  for (const [name, bytes] of Object.entries(bad)) {
    writeFileSync(join(place, name), bytes);
    await open(page, join(place, name));
    await page.locator('#files > li.failed').filter({ hasText: name }).waitFor({ timeout: 30_000 });
    const message = await page.locator('#files > li.failed .state').textContent();
    const native = spawnSync(feeler, ['preprocess', '-q', name, '-o', 'bad.feeler'], { cwd: place, encoding: 'utf8' });
    check(`${name}: message of the program`, message && native.stderr.includes(message), [message, native.stderr]);
  }
  await shot(page, 'try-bad.png');
  // A good file afterwards.
  await open(page, data('box.step'));
  await waitFor(page, 'separated');
  check('one file: both solids come from it', await page.locator('#solid-b option').count() === 1);
  check('the failed file is removed', await page.locator('#files > li').count() === 1);
  // A compressed file is dropped onto the page.
  const packed = [...gzipSync(readFileSync(data('sphere.step')))];
  const transfer = await page.evaluateHandle(bytes => {
    const list = new DataTransfer();
    list.items.add(new File([new Uint8Array(bytes)], 'sphere.step.gz'));
    return list;
  }, packed);
  await page.dispatchEvent('#canvas', 'drop', { dataTransfer: transfer });
  await page.locator('#files > li.ready').filter({ hasText: 'sphere.step.gz' }).waitFor({ timeout: 30_000 });
  await page.waitForFunction(() => document.getElementById('solid-b').options.length === 2);
  check('two files: B comes from the second one', await page.$eval('#solid-b', s => s.selectedIndex) === 1);
  await open(page, data('box.step'));
  check('a third file is refused', (await page.textContent('#notice')).includes('remove one of them'));
});

// ---- Cancelled import, then another file; an assembly; a narrow screen, dark
await use(async page => {
  await open(page, multiplied('socket.step', 400));
  await page.locator('#files .state').filter({ hasText: /preparing solid \d+ of 400/ }).waitFor({ timeout: 60_000 });
  await page.locator('#files > li .cancel').click();
  await page.waitForSelector('#files > li.cancelled');
  await open(page, data('assemblies/rack.step'));
  await page.waitForSelector('#files > li.ready', { timeout: 60_000 });
  await page.waitForSelector('#result[data-status]');
  check('assembly: instances are listed', await page.locator('#solid-b option').count() > 2);
  await page.selectOption('#solid-b', { index: 2 });
  await page.waitForTimeout(500);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  check('narrow: no horizontal scrolling', width <= 400, width);
  await page.screenshot({ path: join(site, '..', 'try-400.png'), fullPage: true });
}, { width: 400, height: 800, colorScheme: 'dark' });

// ---- A file of 10 MB, and further models: times in the browser and of the program
// A ratio of wall times is disturbed by other programs; processor time of the page includes compilation and drawing.
const large = isTimed ? [multiplied('socket.step', 400)] : [];
if (isTimed || models.length > 0) {
  console.log('file | size | program, one thread: wall, processor | browser: wall, processor | ratios | verdict | '
    + 'saved file');
}
for (const model of [...large, ...models]) {
  const native = join(place, 'native.feeler');
  rmSync(native, { force: true });
  const { wall, cpu, stderr } = run('preprocess', '-q', model, '-o', native);
  await use(async page => {
    const before = await pageTime();
    await open(page, model);
    const row = page.locator('#files > li.ready, #files > li.failed').first();
    await row.waitFor({ timeout: 900_000 });
    const own = Number(await row.getAttribute('data-seconds')), ownCpu = await pageTime() - before;
    if (await row.evaluate(li => li.className) === 'failed') {
      const message = await row.locator('.state').textContent();
      check(`${basename(model)}: message`, stderr.includes(message.slice(message.indexOf(':') + 1)), [message, stderr]);
      console.log(`${basename(model)} | ${megabytes(model)} MB | refused: ${message.slice(0, 150)}`);
      return;
    }
    await page.waitForSelector('#result[data-status]', { timeout: 120_000 });
    const saved = await save(page, page.locator('#files > li').first());
    const same = large.includes(model) ? '' : compare(basename(model), saved, native);
    const ratios = [own / wall, ownCpu / cpu];
    const times = list => list.map(t => `${t.toFixed(2)} s`).join(', ');
    console.log([basename(model), `${megabytes(model)} MB`, times([wall, cpu]), times([own, ownCpu]),
      ratios.map(r => r.toFixed(2)).join(', '), await status(page), same].join(' | '));
    await shot(page, `try-${basename(model)}.png`);
  });
}

await browser.close();
server.close();
rmSync(place, { recursive: true });
if (faults.length) {
  console.error(faults.map(f => `FAULT ${f}`).join('\n'));
  process.exit(1);
}
console.log(`${checks} checks of the page, no faults`);
