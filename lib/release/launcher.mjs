#!/usr/bin/env node
/**
 * Starts the packaged program on the Deno of the npm dependency, without a network. The cache of packages is copied once a
 * version into a folder that can be written, since Deno adds to it.
 *
 * SVC_DENO: another Deno. SVC_NETWORK=1: lets Deno fetch packages, for operations of one's own and the native ONNX runtime.
 */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { constants, homedir, platform } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = join(dirname(fileURLToPath(import.meta.url)), "..");
const { version } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));

function fail(message, hint) {
  console.error(`error: ${message}\n  help: ${hint}`);
  process.exit(5);
}

function findDeno() {
  if (process.env.SVC_DENO) return process.env.SVC_DENO;
  try {
    const require = createRequire(import.meta.url);
    // npm 11 does not run the script of the package that puts Deno in its place.
    return require("deno/install_api.cjs").runInstall();
  } catch {
    const { status } = spawnSync("deno", ["--version"], { stdio: "ignore" });
    if (status === 0) return "deno";
    fail("Cannot find Deno", "Install the npm package deno, or set SVC_DENO to the program");
  }
}

function cacheFolder() {
  if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME;
  if (platform() === "win32") return process.env.LOCALAPPDATA ?? join(homedir(), "AppData", "Local");
  return platform() === "darwin" ? join(homedir(), "Library", "Caches") : join(homedir(), ".cache");
}

/** The DENO_DIR of this version: whole after a rename, or absent. */
function denoDir() {
  const parent = join(cacheFolder(), "svc"), target = join(parent, `deno-${version}`);
  if (existsSync(join(target, "npm"))) return target;
  try {
    mkdirSync(parent, { recursive: true });
    const partial = mkdtempSync(join(parent, "partial-"));
    cpSync(join(here, "cache", "npm"), join(partial, "npm"), { recursive: true });
    try {
      renameSync(partial, target);
    } catch (error) {
      rmSync(partial, { recursive: true, force: true });
      // Another process was faster.
      if (!existsSync(join(target, "npm"))) throw error;
    }
    return target;
  } catch (error) {
    fail(`Cannot write the cache ${target}: ${error.message}`, "Set XDG_CACHE_HOME to a folder that can be written");
  }
}

const network = process.env.SVC_NETWORK === "1";
const flags = [
  "run",
  "-A",
  "--no-check",
  "--config",
  join(here, "run", "deno.json"),
  "--lock",
  join(here, "run", "deno.lock"),
];
const offline = network ? ["--no-lock"] : ["--frozen", "--cached-only", "--no-remote"];
const args = [...flags.slice(0, network ? 5 : undefined), ...offline, join(here, "program", "cli.ts")];
const child = spawn(findDeno(), [...args, ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, DENO_DIR: denoDir(), DENO_NO_UPDATE_CHECK: "1" },
});
// A terminal sends Ctrl+C to both processes: a second signal would end the program at once.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => fail(`Cannot start Deno: ${error.message}`, "Set SVC_DENO to the program"));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
