// Functions with which gallery.py operates a page of the program before it takes a picture.
const byLabel = label => document.querySelector(`[aria-label="${label}"]`);
const change = (element, value) => {
  element.value = value;
  for (const name of ['input', 'change']) element.dispatchEvent(new Event(name, { bubbles: true }));
};
const tick = (element, on) => { if (element.checked !== on) element.click(); };
// Views all shown parts from a direction, with a factor of magnification.
const from = (x, y, z, zoom = 1) => {
  feelerView.camera.position.set(1e5 * x, 1e5 * y, 1e5 * z);
  [...document.querySelectorAll('.bar button')].find(b => b.textContent === 'fit').click();
  feelerView.camera.zoom = zoom;
  feelerView.camera.updateProjectionMatrix();
  feelerView.draw();
};
// Cuts the parts across an axis and removes the half that is nearer to the eye; `at` is a fraction of the extent.
const cut = (axis, at) => {
  change(byLabel('section'), axis);
  change(byLabel('place of the section'), at);
};
const layer = (name, on = true) => tick(document.querySelector(`input[name=${name}]`), on);
const step = k => feelerView.setStep(k);
const apart = x => change(byLabel('distance between cells'), x);
// Shows the measured minima of two parts.
const pair = (a, b) => feelerView.showPair(feelerView.state.scene.pairs.find(p => String(p.parts) === `${a},${b}`));
const row = k => document.querySelectorAll('[data-show]')[k].click();
