/** The walk that every installation form of the program makes: project, run, adapter, model, pack, documents, page, reproduction. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type CliOptions, svc } from "../../support/cli.ts";
import { serve } from "../../support/served.ts";

/** An installed program. */
export interface Installed {
  /** Program and arguments before those of svc. */
  command: readonly string[];
  env?: Record<string, string>;
  /** Performs commands in one process of the program, in which its modules stay loaded; without it each has a process. */
  perform?: (args: string[], options: CliOptions) => Promise<Ended>;
  /** Folder of an adapter with a recipe over `snr_db`. */
  adapter: string;
}

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** This checkout. */
export const checkout = (adapter: string): Installed => ({ command: [], perform: svc, adapter });

export async function call({ command, env, perform }: Installed, args: string[], cwd: string): Promise<Ended> {
  if (perform !== undefined) return await perform(args, { cwd });
  const [program, ...before] = command;
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...before, ...args],
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

const LEARNED = "neural_receiver_qpsk_phase_tracking_learned";

/** Digests of plans, with and without an adapter; they are equal in every form. */
export async function plans(installed: Installed, cwd: string): Promise<string[]> {
  const adapted = ["--adapter", installed.adapter, "recipe", "plan", join(installed.adapter, "recipe.yaml")];
  const found = [["recipe", "plan", "quickstart"], [...adapted, "--set", "snr_db=12.0"]].map(async (args) => {
    const { code, stdout, stderr } = await call(installed, [...args, "--json"], cwd);
    assert.equal(code, 0, stderr + stdout);
    return JSON.parse(stdout).plan.plan_hash;
  });
  return await Promise.all(found);
}

/** Makes the walk in an empty folder: a project and a run in processes of their own. @returns the folder of the project */
export async function walk(installed: Installed, folder: string): Promise<string> {
  const project = join(folder, "project");
  const done = async (args: string[], cwd = project, by = installed) => {
    const ended = await call(by, args, cwd);
    assert.equal(ended.code, 0, `svc ${args.join(" ")}\n${ended.stderr}${ended.stdout}`);
    return ended.stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await done([...args, "--json"]));
  const started = { ...installed, perform: undefined };
  await done(["init", "project"], folder, started);
  const adapter = ["--adapter", installed.adapter];
  const quickstart = [
    "recipe",
    "run",
    "quickstart",
    "--set",
    "data.image_ids=camera",
    "--parallel-workers",
    "2",
    "--json",
  ];
  const run = JSON.parse(await done(quickstart, project, started));
  assert.equal(run.status, "completed");
  await done(["operation", "scaffold", "soft_limiter"]);
  const [verified, reproduced, doctor, external, learned, benchmark, own] = await Promise.all([
    json("runs", "verify", run.run_id),
    json("runs", "reproduce", run.run_id),
    json("doctor"),
    json(...adapter, "recipe", "run", join(installed.adapter, "recipe.yaml"), "--set", "snr_db=12.0"),
    json("recipe", "run", LEARNED, "--set", "tracker=learned_artifact", "--set", "snr_db=6.0"),
    json("benchmark", "run", "first_comparison", "--replicates", "1", "--parallel-points", "2"),
    json("--operation", "soft_limiter.ts", "recipe", "run", "soft_limiter.yaml"),
  ]);
  assert.equal(verified.status, "valid");
  assert.equal(reproduced.status, "identical");
  assert.equal(external.status, "completed");
  assert.equal(learned.status, "completed");
  assert.equal(benchmark.status, "completed");
  assert.equal(own.status, "completed");
  const sandbox = doctor.checks.find(({ id }: { id: string }) => id === "sandbox");
  assert.equal(sandbox.status, "passed", sandbox.detail);
  const unknown = await call(installed, ["recipe", "run", "no_such_recipe"], project);
  const topic = /see: svc docs (codes\/\w+)/.exec(unknown.stderr)?.[1];
  assert.match(await done(["docs", topic!]), /^## recipe_not_found/);
  await page(installed, project);
  return project;
}

/** Starts the server, and reads the page and a script of it. */
async function page({ command, env }: Installed, folder: string): Promise<void> {
  await using server = await serve(folder, { command, env });
  const html = await (await fetch(`${server.url}/`)).text();
  const script = /src="([^"]+main\.js)"/.exec(html)?.[1];
  assert.ok(script !== undefined, html);
  const reply = await fetch(`${server.url}${script}`);
  assert.equal(reply.status, 200);
  assert.match(await reply.text(), /import/);
  const { recipes } = await (await fetch(`${server.url}/api/recipes`)).json();
  const places = new Set(recipes.map(({ place }: { place: string }) => place));
  assert.deepEqual([...places].sort(), ["program", "project"]);
}
