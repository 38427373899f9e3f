// Freezes the numbers of the fits in tests/snapshot/fits.mjs, or compares fresh ones with those that are kept.
//
//     node scripts/snapshot.mjs record|compare build/release [--threads N] [--into FOLDER] [fit …]
//
// A record of a fit has a line for each number: [name, rule, value, scale].
//   at        within 1e-7 of the scale, which is a posterior sd or the largest number of a column
//   relative  within 1e-7 of its size: sds and bounds
//   refit     within 1e-4 of the scale: slopes of sds, from refits
//   drawn     within 4 Monte Carlo errors, of the difference; the scale is the error of one
//   code      the same text
// `compare` prints every difference, and exits with 1 if there is any.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { writeData } from "../tests/snapshot/data.mjs";
import { fits } from "../tests/snapshot/fits.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const option = (name, otherwise) => {
  const place = words.indexOf(name);
  return place < 0 ? otherwise : words.splice(place, 2)[1];
};
const words = process.argv.slice(2);
const threads = option("--threads", "1");
const kept = join(root, "tests/snapshot/kept");
const into = resolve(option("--into", kept));
const [mode, build, ...chosen] = words;
if (!["record", "compare"].includes(mode) || !build) throw new Error("usage: snapshot.mjs record|compare BUILD [fit …]");
const program = resolve(build, "bin/lrvb");

// Keys of the program's JSON, by the snapshot's names: where a key is renamed, its new name is added here.
const kKeys = { bound: ["bound", "elbo"], name: ["name", "variable"] };
const key = (object, name) => object[(kKeys[name] ?? [name]).find((one) => one in object)];

// The snapshot holds what a verdict says, not its words or numbers.
const kVerdicts = [["seems ok", "seems ok"], ["not resolved", "not resolved"], ["another optimum", "another optimum"],
  ["heavy tail", "heavy tail"], ["not checked", "not checked"], ["fixed", "fixed"], ["sd off", "sd off"],
  ["mean off", "mean off"], ["sd unknown", "sd unknown"]];
function verdictCode(text) {
  const codes = kVerdicts.filter(([words]) => text.includes(words)).map(([, code]) => code);
  return codes.length > 0 ? codes.join(", ") : text.split(":")[0];
}

const kTolerance = 1e-7;
const kRefitTolerance = 1e-4;
const kErrors = 4;
const shortened = (value) => (typeof value === "number" && Number.isFinite(value) ? Number(value.toPrecision(14)) : value);
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

class Record {
  lines = [];
  names = new Set();
  constructor(name) { this.name = name; }
  add(name, rule, value, scale) {
    if (value === undefined || value === "") return;
    if (this.names.has(name)) throw new Error(`${this.name}: '${name}' comes twice`);
    this.names.add(name);
    if (!isNumber(value)) [rule, scale] = ["code", undefined];
    const line = [name, rule, isNumber(value) ? shortened(value) : String(value)];
    if (scale !== undefined) line.push(Number(Math.abs(scale).toPrecision(6)));
    this.lines.push(line);
  }
}

const run = async (args, folder) => {
  const began = Date.now();
  try {
    const { stdout } = await promisify(execFile)(program, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
    if (process.env.SNAPSHOT_TIMES && Date.now() - began > 1500) console.error(`${(Date.now() - began) / 1000} s: lrvb ${args.join(" ")}`);
    return stdout;
  } catch (error) {
    throw new Error(`lrvb ${args.join(" ")}\n${error.stderr || error.message}`);
  }
};

function readCsv(text) {
  const [header, ...rows] = text.trim().split("\n").map((line) =>
    [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].slice(0, -1).map((m) => m[1].replace(/^"|"$/g, "").replaceAll('""', '"')));
  return { header, rows };
}
const spread = (count, wanted) => [...new Set(Array.from({ length: Math.min(count, wanted) },
  (_, i) => Math.round((i * (count - 1)) / Math.max(1, Math.min(count, wanted) - 1))))];

// A few rows of a table, and of each column the root of its sum of squares, which knows of every row. Of the columns
// of the data nothing is kept.
function addTable(record, what, text, wanted, data, most = 12) {
  const { header, rows } = readCsv(text);
  const columns = header.map((name, j) => j).filter((j) => j > 0 && !data.includes(header[j])).slice(0, most);
  const numbers = rows.map((row) => columns.map((j) => (row[j] === "" || Number.isNaN(Number(row[j])) ? row[j] : Number(row[j]))));
  const scales = columns.map((_, c) => Math.max(...numbers.map((row) => (isNumber(row[c]) ? Math.abs(row[c]) : 0))));
  record.add(`${what} rows`, "code", String(rows.length));
  columns.forEach((j, c) => {
    record.add(`${what} norm ${header[j]}`, "at", Math.sqrt(numbers.reduce((sum, row) => sum + (isNumber(row[c]) ? row[c] ** 2 : 0), 0)),
      scales[c] * Math.sqrt(rows.length));
    for (const n of spread(rows.length, wanted)) record.add(`${what} ${rows[n][0]} ${header[j]}`, "at", numbers[n][c], scales[c]);
  });
}

// The Monte Carlo errors of what a fit file shows: of a mean in sds, of an sd relative to it, and of a quantile of 5 % in
// sds (sqrt(p(1-p)) over the density of a normal, 2.11 times that of a mean). Nothing where no draws are in it.
function drawnErrors(file) {
  const correction = file.correction;
  if (!correction) return undefined;
  if (isNumber(correction.mean_error)) {
    return { mean: correction.mean_error, sd: correction.sd_error, quantile: 2.11 * correction.mean_error };
  }
  const draws = Number(/(\d+) draws/.exec(correction.how ?? "")?.[1] ?? NaN);
  return draws ? { mean: draws ** -0.5, sd: (2 * draws) ** -0.5, quantile: 2.11 * draws ** -0.5 } : undefined;
}

function addSummary(record, what, summary, errors, most) {
  for (const row of summary.variables.slice(0, most)) {
    const name = key(row, "name");
    const add = (number, rule, scale) => record.add(`${what} ${name} ${number}`, rule, row[number], scale);
    if (errors && isNumber(row.sd)) {
      add("mean", "drawn", errors.mean * row.sd);
      add("sd", "drawn", errors.sd * row.sd);
      for (const q of ["q5", "q95"]) add(q, "drawn", errors.quantile * row.sd);
    } else {
      add("mean", "at", row.sd);
      add("sd", "relative");
      for (const q of ["q5", "q95"]) add(q, "at", row.sd);
    }
    add("mean_lrvb", "at", row.sd_lrvb);
    add("sd_lrvb", "relative");
    add("sd_mfvb", "relative");
    add("sd_robust", "relative");
    add("sd_robust_se", "relative");
  }
}

function addCheck(record, check, most) {
  const what = `check ${check.method}`;
  record.add(`${what} verdict`, "code", verdictCode(check.verdict));
  for (const row of check.variables.slice(0, most)) {
    const name = `${what} ${key(row, "name")}`;
    record.add(`${name} verdict`, "code", verdictCode(row.verdict));
    if (!isNumber(row.sd_exact) || !isNumber(row.shift_se) || !isNumber(row.ratio_se) || !(row.ratio > 0)) continue;
    const floor = 0.25 * kTolerance * row.sd_exact;
    record.add(`${name} mean_exact`, "drawn", row.mean_exact, Math.max(floor, row.shift_se * row.sd_exact));
    record.add(`${name} sd_exact`, "drawn", row.sd_exact, Math.max(floor, (row.ratio_se / row.ratio) * row.sd_exact));
  }
}

function addLoo(record, loo, most) {
  const what = `loo ${loo.method}`;
  const drawn = loo.method === "psis";
  // Of a sum of n log densities by draws: its variance over the posterior is about p_loo.
  const error = drawn ? Math.sqrt(Math.max(loo.p_loo, 1) / loo.ess) : undefined;
  const rule = drawn ? "drawn" : "relative";
  record.add(`${what} elpd_loo`, rule, loo.elpd_loo, error);
  record.add(`${what} p_loo`, rule, loo.p_loo, error);
  if (drawn) return record.add(`${what} trust`, "code", loo.trust.split(":")[0]);
  record.add(`${what} elpd_loo_se`, rule, loo.elpd_loo_se);
  record.add(`${what} doubtful rows`, "code", String(loo.doubtful_rows));
  for (const n of spread(loo.rows.length, most)) {
    record.add(`${what} row ${loo.rows[n].row} elpd_loo`, "at", loo.rows[n].elpd_loo, loo.elpd_loo_se / Math.sqrt(loo.n));
  }
}

function addSensitivity(record, what, effects, sds, most) {
  for (const effect of effects.slice(0, most)) {
    const name = `${what} ${effect.variable}, ${effect.prior}`;
    // Derivatives count in sds of the variable for a change of the number by its own size.
    const scale = (sds.get(effect.variable) ?? 1) / Math.max(Math.abs(effect.value), 1e-3);
    record.add(`${name} mean`, "at", effect.mean_derivative, Math.max(scale, Math.abs(effect.mean_derivative)));
    record.add(`${name} sd`, "refit", effect.sd_derivative, Math.max(scale, Math.abs(effect.sd_derivative ?? 0)));
  }
}

function addPredictions(record, what, prediction, errors) {
  const rows = prediction.rows;
  for (let n = 0; n < rows.length; ++n) {
    for (const [name, value] of Object.entries(rows[n])) {
      if (name === "row") continue;
      const row = rows[n];
      const label = `${what} ${row.row} ${name}`;
      if (!isNumber(value)) record.add(label, "code", JSON.stringify(value));
      else if (errors && isNumber(row.sd)) record.add(label, "drawn", value, errors.quantile * row.sd);
      else if (/sd$/.test(name)) record.add(label, "relative", value);
      else record.add(label, "at", value, isNumber(row.sd) ? row.sd : 1);
    }
  }
}

function addModelCheck(record, check) {
  record.add("model check fits", "code", String(check.fits));
  for (const row of check.statistics.slice(0, 12)) {
    const name = `model check ${row.residuals ? "residuals of " : ""}${row.column} ${row.statistic}`;
    const sd = (row.upper - row.lower) / 3.29;
    record.add(`${name} observed`, "at", row.observed, Math.max(sd, 1e-300));
    record.add(`${name} replicated`, "drawn", row.replicated, Math.max(sd, Math.abs(row.replicated) * 1e-9) / Math.sqrt(check.replicates));
    record.add(`${name} p`, "drawn", row.p, Math.sqrt((row.p * (1 - row.p) + 1 / check.replicates) / check.replicates));
    record.add(`${name} unusual`, "code", String(row.unusual));
  }
}

const kMost = 24;

async function askFile(record, folder, fit, asked, data, ask) {
  const json = async (...args) => JSON.parse(await run([...args, "--format", "json"], folder));
  const file = JSON.parse(readFileSync(fit, "utf8"));
  const errors = drawnErrors(file);
  const summary = await json("summary", fit, "--all", ...(ask.has("robust") ? [...asked, "--robust", "--threads", threads] : []));
  record.add("converged", "code", String(summary.converged));
  record.add("bound", "relative", key(summary, "bound"));
  record.add("rows", "code", String(summary.n));
  record.add("warnings", "code", String(summary.warnings.length));
  addSummary(record, "summary", summary, errors, kMost);
  if (file.check) {
    record.add("fit check verdict", "code", verdictCode(file.check.verdict));
  }
  const sds = new Map(summary.variables.map((row) => [key(row, "name"), row.sd]));
  if (ask.has("groups")) addSummary(record, "effect", await json("summary", fit, "--variables", "u"), errors, 8);
  if (ask.has("covariance")) {
    const { names, matrix } = await json("covariance", fit, "--correlation");
    for (let i = 1; i < Math.min(names.length, 8); ++i) {
      for (let j = 0; j < i; ++j) record.add(`correlation ${names[i]} ${names[j]}`, errors ? "drawn" : "at", matrix[i][j], errors ? errors.mean : 1);
    }
  }
  const few = (fraction) => Math.ceil(kMost * fraction);
  if (ask.has("sensitivity")) addSensitivity(record, "sensitivity", (await json("sensitivity", fit)).effects, sds, few(0.5));
  if (ask.has("priors")) addSensitivity(record, "refitted sensitivity", (await json("sensitivity", fit, ...asked, "--threads", threads)).effects, sds, few(0.5));
  const reads = ["--threads", threads];
  if (ask.has("leverage")) addTable(record, "leverage", await run(["leverage", fit, ...asked, ...reads], folder), 4, data);
  if (ask.has("influence")) addTable(record, "influence", await run(["influence", fit, ...asked, ...reads, "-o", "-"], folder), 4, data);
  if (ask.has("loo")) addLoo(record, await json("loo", fit, ...asked, ...reads, "--method", "response", "--rows"), 6);
  if (ask.has("psis")) addLoo(record, await json("loo", fit, ...asked, ...reads, "--method", "psis", "--draws", "2000"));
  const level = file.model.type === "mixture" ? [] : ["--level", "0.9"];
  const fresh = join(folder, `new_${record.name}.csv`);
  if (["predict", "nogroups", "link"].some((name) => ask.has(name))) {
    const [header, ...rows] = readFileSync(asked[0], "utf8").trim().split("\n");
    writeFileSync(fresh, [header, ...spread(rows.length, 6).map((n) => rows[n])].join("\n") + "\n");
  }
  for (const [name, extra] of [["predict", []], ["nogroups", ["--no-groups"]], ["link", ["--link"]]]) {
    if (ask.has(name)) addPredictions(record, name, await json("predict", fit, fresh, ...extra, ...level), errors);
  }
  for (const method of ["importance", "integration", "nuts"]) {
    if (!ask.has(method)) continue;
    const enough = method === "nuts" ? ["--seconds", "1000", "--draws", "1000"] : method === "importance" ? ["--draws", "2000"] : [];
    addCheck(record, await json("check", fit, ...asked, ...reads, "--method", method, ...enough, "--all"), few(0.5));
  }
  if (ask.has("model")) addModelCheck(record, await json("check", fit, ...asked, ...reads, "--model", "--replicates", "400"));
}

async function recordOf(fit, folder) {
  const placed = (word) => word.replace("DATA/", join(root, "data/")).replace("MODELS/", join(root, "models/")).replace("MADE/", join(folder, "/"));
  const path = join(folder, `${fit.name}.json`);
  const record = new Record(fit.name);
  const tight = ["--quiet", "--tolerance", "1e-10", "--threads", threads];
  const check = fit.command.includes("--exact") || fit.ask.has("integrated") ? [] : ["--check", "never"];
  await run([...fit.command.map(placed), ...tight, ...check, "-o", path], folder);
  const data = fit.command[1] === "model" ? ["at"] : readCsv(readFileSync(placed(fit.asked[0]), "utf8").split("\n", 1)[0]).header;
  await askFile(record, folder, path, fit.asked.map(placed), data, fit.ask);
  rmSync(path);
  return record.lines;
}

// Models declared in C++: the library writes their fit files, and says what their rows do.
async function declaredRecords(folder) {
  const { stdout } = await promisify(execFile)(resolve(build, "bench/snapshot_models"), [folder, threads], { encoding: "utf8", maxBuffer: 1 << 28 });
  const records = new Map();
  for (const [name, answers] of Object.entries(JSON.parse(stdout))) {
    const record = new Record(name);
    const path = join(folder, `${name}.json`);
    await askFile(record, folder, path, [], [], new Set(["covariance", "sensitivity"]));
    for (const [what, text] of Object.entries(answers.tables)) addTable(record, what, text, 4, []);
    if (answers.check) addCheck(record, answers.check, kMost);
    records.set(name, record.lines);
    rmSync(path);
  }
  return records;
}

const written = (lines) => `[\n${lines.map((line) => JSON.stringify(line)).join(",\n")}\n]\n`;

// What differs of a fit, and how many numbers by draws did not stay as they were.
function differences(name, before, now) {
  const found = [];
  let redrawn = 0;
  const fresh = new Map(now.map((line) => [line[0], line]));
  for (const [what, rule, value, scale] of before) {
    const line = fresh.get(what);
    fresh.delete(what);
    if (!line) { found.push([name, what, value, "nothing", "the same"]); continue; }
    const other = line[2];
    if (rule === "code" || !isNumber(value) || !isNumber(other)) {
      if (value !== other) found.push([name, what, value, other, "the same"]);
      continue;
    }
    const rounding = 2e-14 * Math.abs(value);
    const allowed = rounding + (rule === "at" ? kTolerance * scale : rule === "refit" ? kRefitTolerance * scale
      : rule === "drawn" ? kErrors * Math.hypot(scale, line[3] ?? 0) : kTolerance * Math.abs(value));
    const change = Math.abs(other - value);
    if (!(change <= allowed)) found.push([name, what, value, other, allowed.toPrecision(2)]);
    else if (rule === "drawn" && change > rounding) ++redrawn;
  }
  for (const [what, line] of fresh) found.push([name, what, "nothing", line[2], "the same"]);
  return { found, redrawn };
}

const folder = mkdtempSync(join(tmpdir(), "snapshot-"));
writeData(folder);
const isChosen = (name) => chosen.length === 0 || chosen.some((word) => name.includes(word));
const queue = fits.filter((fit) => isChosen(fit.name));
const records = new Map();
const failures = [];
const worker = async () => {
  for (let fit = queue.shift(); fit; fit = queue.shift()) {
    const began = Date.now();
    try {
      records.set(fit.name, await recordOf(fit, folder));
    } catch (error) {
      failures.push(`${fit.name}: ${error.message}`);
    }
    if (process.env.SNAPSHOT_TIMES) console.error(`${fit.name} ${(Date.now() - began) / 1000} s`);
  }
};
try {
  await Promise.all([worker(), worker()]);
  if (isChosen("declared")) for (const [name, lines] of await declaredRecords(folder)) records.set(name, lines);
} finally {
  rmSync(folder, { recursive: true });
}

const ordered = [...records.keys()].sort();
if (mode === "record") {
  mkdirSync(into, { recursive: true });
  if (chosen.length === 0) for (const file of readdirSync(into)) unlinkSync(join(into, file));
  for (const name of ordered) writeFileSync(join(into, `${name}.json`), written(records.get(name)));
  console.log(`${ordered.length} fits, ${ordered.reduce((sum, name) => sum + records.get(name).length, 0)} numbers: ${into}`);
} else {
  const found = [];
  let redrawn = 0;
  let compared = 0;
  for (const name of ordered) {
    const path = join(kept, `${name}.json`);
    if (!existsSync(path)) { found.push([name, "every number", "nothing", "a record", "the same"]); continue; }
    const before = JSON.parse(readFileSync(path, "utf8"));
    const result = differences(name, before, records.get(name));
    found.push(...result.found);
    redrawn += result.redrawn;
    compared += before.length;
  }
  const missing = readdirSync(kept).map((file) => file.slice(0, -5)).filter((name) => isChosen(name) && !records.has(name));
  for (const name of missing) found.push([name, "every number", "a record", "nothing", "the same"]);
  if (found.length > 0) console.log("fit\tquantity\tkept\tnow\tallowed");
  for (const line of found) console.log(line.join("\t"));
  console.log(`${ordered.length} fits, ${compared} numbers: ${found.length} differ` +
    (redrawn > 0 ? `; ${redrawn} by draws moved within their Monte Carlo error` : ""));
  if (found.length > 0) process.exitCode = 1;
}
for (const failure of failures) console.error(failure);
if (failures.length > 0) process.exitCode = 1;
