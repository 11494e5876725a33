// Writes internal/cabinet/assets/dist from the sources here. The same sources give the same bytes.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { writeFont } from "./font.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "../internal/cabinet/assets/dist");

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

execFileSync(
  process.execPath,
  [join(here, "node_modules/@tailwindcss/cli/dist/index.mjs"), "-i", "css/app.css", "-o", join(dist, "app.css"), "--minify"],
  { cwd: here, stdio: ["ignore", "ignore", "inherit"] },
);

const font = await writeFont(join(here, "node_modules"), dist);
const styles = join(dist, "app.css");
writeFileSync(styles, readFileSync(styles, "utf8").replace(/inter-[a-z-]+\.woff2/g, (name) => font.get(name)));

await build({
  absWorkingDir: here,
  entryPoints: ["js/app.js", "js/chart.js", "js/docs.js", "css/docs.css", "css/site.css"],
  entryNames: "[name]",
  outdir: dist,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome120", "firefox121", "safari17.4"],
  legalComments: "none",
  logLevel: "warning",
});

cpSync(join(here, "icons"), dist, { recursive: true });

// The notices of what was bundled go with it.
const bundled = ["htmx.org", "uplot", "tailwindcss", "daisyui", "swagger-ui-dist", "@fontsource-variable/inter"];
const notices = bundled.map((name) => {
  const { version } = JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}\n`;
});
writeFileSync(join(dist, "licenses.txt"), notices.join(`\n${"-".repeat(72)}\n\n`));
