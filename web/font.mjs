// The cabinet's font: the letters that European names and our own texts need, in the weights that the styles use.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import subset from "subset-font";

const family = "@fontsource-variable/inter";

// The ranges of css/font.css, without the signs that nobody types in a cabinet.
const parts = {
  latin: [[0x20, 0x7e], [0xa0, 0xff], [0x2013, 0x2014], [0x2018, 0x201e], [0x2020, 0x2022], [0x2026], [0x2030], [0x2039, 0x203a], [0x20ac], [0x2122], [0x2190, 0x2193], [0x2212]],
  "latin-ext": [[0x100, 0x17f], [0x18f], [0x218, 0x21b], [0x259], [0x1e9e], [0x20b4], [0x20bd]],
  cyrillic: [[0x400, 0x45f], [0x490, 0x491], [0x2116]],
};

const letters = (ranges) => ranges.flatMap(([from, to = from]) => Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i))).join("");

// writeFont writes the files of the font to dist and returns their names with the names under which they are served,
// which hold a digest of their content: see internal/cabinet/assets.
export async function writeFont(modules, dist) {
  const served = new Map();
  for (const [part, ranges] of Object.entries(parts)) {
    const whole = readFileSync(join(modules, family, "files", `inter-${part}-wght-normal.woff2`));
    const file = await subset(whole, letters(ranges), {
      targetFormat: "woff2",
      noHinting: true,
      keepFeatures: ["ccmp", "kern", "locl", "mark", "mkmk", "tnum"],
      variationAxes: { wght: { min: 400, max: 600 } },
    });
    const digest = createHash("sha256").update(file).digest("hex").slice(0, 12);
    writeFileSync(join(dist, `inter-${part}.woff2`), file);
    served.set(`inter-${part}.woff2`, `inter-${part}.${digest}.woff2`);
  }
  return served;
}
