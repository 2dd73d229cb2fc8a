// Panels that live without a kernel. Each <div class="evalkit-live" data-grid="..."> holds a panel
// standing still; this puts controls above it and shows, at each of their positions, the picture,
// the table and the finding that Python stored for it (evalkit/course/live.py). It computes nothing.

const element = (name, attributes = {}, text = "") => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
};

/** The stored text of some spans of lines. */
const text = (lines, spans) =>
  spans.map(([first, count]) => lines.slice(first, first + count).join("\n")).join("\n");

/** The frame for the positions at which the controls stand; the last control moves fastest. */
const frame = (grid, places) =>
  grid.frames[grid.controls.reduce((at, c, i) => at * c.positions.length + places[i], 0)];

/** One labelled slider; `moved` is called with its new position. */
const slider = (control, id, moved) => {
  const row = element("div", { class: "evalkit-live-control" });
  const last = control.positions.length - 1;
  const range = { type: "range", id, min: 0, max: last, value: control.start };
  const input = element("input", range);
  const output = element("span", { "aria-hidden": "true" }); // spoken as the slider's value text
  const say = () => {
    output.textContent = control.positions[input.value];
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    say();
    moved(Number(input.value));
  });
  say();
  row.append(element("label", { for: id }, control.description), input, output);
  return row;
};

/** Replace what stands still in `place` by the panel of a grid. */
export const bringToLife = (place, grid, name) => {
  const places = grid.controls.map((control) => control.start);
  const picture = element("div", { class: "evalkit-live-picture", role: "img" });
  const finding = element("p", { role: "status" });
  const table = element("div", { class: "evalkit-live-table" });
  const show = () => {
    const now = frame(grid, places);
    picture.innerHTML = text(grid.lines, now.picture);
    picture.firstElementChild.setAttribute("aria-hidden", "true"); // named by the finding instead
    picture.setAttribute("aria-label", now.finding);
    finding.textContent = now.finding;
    table.innerHTML = text(grid.lines, now.table);
  };
  const controls = grid.controls.map((control, i) =>
    slider(control, `${name}-${i}`, (at) => {
      places[i] = at;
      show();
    }),
  );
  show();
  place.replaceChildren(...controls, picture, finding, table);
};

for (const [i, place] of document.querySelectorAll(".evalkit-live").entries()) {
  const answer = await fetch(place.dataset.grid);
  if (answer.ok) bringToLife(place, await answer.json(), `live-${i}`);
}
