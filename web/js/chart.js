// Draws the chart of a page from the table behind it.
import uPlot from "uplot";

const height = 168;

function read(figure) {
  const rows = [...figure.querySelectorAll("tbody tr")];
  const field = (name) => rows.map((row) => Number(row.dataset[name]));
  const delivered = field("delivered");
  const failed = field("failed");
  return {
    data: [field("at"), delivered.map((n, i) => n + failed[i]), delivered],
    failed,
    labels: rows.map((row) => row.cells[0].textContent),
  };
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const grouped = (n) => n.toLocaleString("en-US");

function draw(figure) {
  const box = figure.querySelector("[data-chart-plot]");
  const { data, failed, labels } = read(figure);
  const still = box.firstElementChild;
  const key = {
    delivered: figure.querySelector("[data-key-delivered]"),
    failed: figure.querySelector("[data-key-failed]"),
    when: figure.querySelector("[data-key-when]"),
  };
  const sums = { delivered: key.delivered.textContent, failed: key.failed.textContent };
  let plot;

  const readOut = (u) => {
    const i = u.cursor.idx;
    key.delivered.textContent = i == null ? sums.delivered : grouped(data[2][i]);
    key.failed.textContent = i == null ? sums.failed : grouped(failed[i]);
    key.when.textContent = i == null ? "" : labels[i];
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

function options(width, labels, times, readOut) {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const step = times.length > 1 ? times[1] - times[0] : 3600;
  const bars = uPlot.paths.bars({ size: [0.8, 24], align: 1 });
  const series = (name) => ({ paths: bars, fill: colour(name), width: 0, points: { show: false } });
  const axis = { font, stroke: colour("--muted"), ticks: { show: false } };
  const days = times.filter((_, i) => i > 0 && labels[i].split(",")[0] !== labels[i - 1].split(",")[0]);
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
        splits: () => days,
        values: (_, at) => at.map((t) => labels[times.indexOf(t)].split(",")[0].replace(/ \d{4}$/, "")),
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
    series: [{}, series("--color-error"), series("--plot")],
  };
}

for (const figure of document.querySelectorAll("[data-chart]")) draw(figure);
