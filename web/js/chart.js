// Draws the chart of a page from the table behind it.
import uPlot from "uplot";

const height = 168;

const kinds = ["delivered", "retrying", "failed"];

// The series are drawn over one another, the sum of all first: the highest bar is the one at the back.
function read(figure) {
  const rows = [...figure.querySelectorAll("tbody tr")];
  const counts = Object.fromEntries(kinds.map((kind) => [kind, rows.map((row) => Number(row.dataset[kind]))]));
  const sum = (upTo) => rows.map((_, i) => kinds.slice(0, upTo).reduce((total, kind) => total + counts[kind][i], 0));
  return {
    data: [rows.map((row) => Number(row.dataset.at)), sum(3), sum(2), sum(1)],
    counts,
    labels: rows.map((row) => row.cells[0].textContent),
  };
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const grouped = (n) => n.toLocaleString("en-US");

function draw(figure) {
  const box = figure.querySelector("[data-chart-plot]");
  const { data, counts, labels } = read(figure);
  const still = box.firstElementChild;
  const when = figure.querySelector("[data-key-when]");
  const keys = kinds.map((kind) => figure.querySelector(`[data-key=${kind}]`));
  const sums = keys.map((key) => key.textContent);
  let plot;

  const readOut = (u) => {
    const i = u.cursor.idx;
    keys.forEach((key, n) => {
      key.textContent = i == null ? sums[n] : grouped(counts[kinds[n]][i]);
    });
    when.textContent = i == null ? "" : labels[i];
  };

  const build = () => {
    plot?.destroy();
    still?.remove();
    plot = new uPlot(options(box.clientWidth, labels, data[0], readOut), data, box);
  };
  build();
  new ResizeObserver(() => {
    if (box.clientWidth && box.clientWidth !== plot.width) plot.setSize({ width: box.clientWidth, height });
  }).observe(box);
  addEventListener("themechange", build);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build);
}

// A day has a label every four hours, longer charts one at the start of each day. A label at the first bar would cover the
// zero of the other axis.
function ticks(times, labels) {
  const day = (i) => labels[i].split(", ")[0].replace(/ \d{4}$/, "");
  const hour = (i) => labels[i].split(", ")[1];
  const at = (t) => times.indexOf(t);
  if (times.length > 48) {
    return { splits: times.filter((_, i) => i > 0 && day(i) !== day(i - 1)), name: (t) => day(at(t)) };
  }
  return { splits: times.filter((_, i) => i > 0 && parseInt(hour(i), 10) % 4 === 0), name: (t) => (hour(at(t)) === "00:00" ? day(at(t)) : hour(at(t))) };
}

function options(width, labels, times, readOut) {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const step = times.length > 1 ? times[1] - times[0] : 3600;
  const bars = uPlot.paths.bars({ size: [0.8, 24], align: 1 });
  const series = (name) => ({ paths: bars, fill: colour(name), width: 0, points: { show: false } });
  const axis = { font, stroke: colour("--muted"), ticks: { show: false } };
  const { splits, name } = ticks(times, labels);
  return {
    width,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    select: { show: false },
    hooks: { setCursor: [readOut] },
    scales: {
      x: { time: false, range: [times[0], times.at(-1) + step] },
      y: { range: (_, __, top) => [0, Math.max(4, top * 1.05)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        gap: 4,
        splits: () => splits,
        values: (_, at) => at.map(name),
      },
      {
        ...axis,
        size: 48,
        gap: 8,
        grid: { stroke: colour("--color-base-300"), width: 1 },
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6],
        values: (_, at) => at.map((n) => (n >= 1000 ? `${n / 1000}k` : String(n))),
        space: 32,
      },
    ],
    series: [{}, series("--plot-failed"), series("--plot-retrying"), series("--plot")],
  };
}

for (const figure of document.querySelectorAll("[data-chart]")) draw(figure);
