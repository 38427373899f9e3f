// Fits the models of models/ and compares each with its exact posterior, by its draws: writes docs/models.md.
//
//     node scripts/models.mjs build/release/bin/lrvb docs/models.md [model …]

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [program, output, ...chosen] = process.argv.slice(2);

// Data that are not beside their model.
const bundled = {
  pump: "data/pump.csv",
  faithful_mixture: "data/old_faithful.csv",
  faithful_hmm: "data/old_faithful.csv",
  mixture3: "data/mixture3.csv",
  mtcars_regression: "data/mtcars.csv",
  mtcars_student: "data/mtcars.csv",
  cbpp_beta: "data/cbpp.csv",
  switching: "data/mtcars.csv",
};

const names = chosen.length > 0 ? chosen : readdirSync("models").filter((file) => file.endsWith(".bug"))
  .map((file) => file.slice(0, -4)).sort();
const folder = mkdtempSync(join(tmpdir(), "models-"));
const run = (words) => execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const two = (number) => (Number.isFinite(number) ? number.toFixed(2) : "–");

function described(name) {
  const lines = readFileSync(`models/${name}.bug`, "utf8").split("\n");
  return lines.find((line) => line.startsWith("#"))?.slice(1).trim() ?? "";
}

function compared(name) {
  const data = bundled[name] ?? (existsSync(`models/${name}.json`) ? `models/${name}.json` : undefined);
  const fit = join(folder, `${name}.json`);
  const files = data ? [data] : [];
  run(["fit", "model", `models/${name}.bug`, ...files, "-o", fit, "--quiet", "--check", "never"]);
  const summary = JSON.parse(run(["summary", fit, "--format", "json"]));
  const plain = new Map(summary.variables.map((row) => [row.name ?? row.variable, row]));
  const check = JSON.parse(run(["check", fit, ...files, "--seconds", process.env.SECONDS_EACH ?? "20", "--format", "json"]));
  const rows = [];
  for (const variable of check.variables) {
    const own = plain.get(variable.variable ?? variable.name);
    if (!own || !Number.isFinite(variable.ratio) || variable.verdict.startsWith("sd unknown")) continue;
    rows.push({ name: own.name ?? own.variable, shift: variable.shift, ratio: variable.ratio,
      plain: (own.sd_mfvb ?? own.mean_field_sd) / variable.sd_exact, verdict: variable.verdict });
  }
  return { rows, check };
}

const range = (numbers) => `${two(Math.min(...numbers))} to ${two(Math.max(...numbers))}`;
const lines = [
  "# Models in BUGS against their exact posteriors", "",
  "Written by `make models` from the models in `models/`, each of which is fitted by `lrvb fit model` and compared with draws",
  "of its exact posterior (`lrvb check`), which are those of importance sampling or of the no-U-turn sampler (*draws*). Shift: how far the mean is from the exact one, in posterior sds. Ratio: the sd",
  "over the exact one, by linear response and by mean field. *Off* names what the check calls off.", "",
  "| model | what | nodes | largest shift | LRVB sd ratio | MFVB sd ratio | draws | verdict | off |",
  "|---|---|---|---|---|---|---|---|---|",
];
for (const name of names) {
  try {
    const { rows, check } = compared(name);
    const worst = rows.reduce((a, b) => (Math.abs(b.shift) > Math.abs(a.shift) ? b : a));
    const named = (list) => list.filter((row) => !["ok", "seems ok", "fixed", "not checked"].includes(row.verdict)).map((row) => row.name);
    const shown = named(rows);
    const off = shown.length > 0 || check.verdict === "ok" ? shown : named(check.variables);
    lines.push(`| \`${name}\` | ${described(name)} | ${rows.length} | ${two(worst.shift)} (\`${worst.name}\`) | ` +
      `${range(rows.map((row) => row.ratio))} | ${range(rows.map((row) => row.plain))} | ${check.method} | ${check.verdict} | ` +
      `${off.slice(0, 4).map((one) => `\`${one}\``).join(", ")}${off.length > 4 ? ` and ${off.length - 4} more` : ""} |`);
  } catch (error) {
    const words = String(error.stderr || error.message).split("\n")[0];
    const verdict = words.includes("nothing to draw") ? "exact: its nodes are all discrete, and one factor" : words;
    lines.push(`| \`${name}\` | ${described(name)} | | | | | | ${verdict} | |`);
  }
  console.error(lines[lines.length - 1]);
}
writeFileSync(output, lines.join("\n") + "\n");
rmSync(folder, { recursive: true });
