/** Every standard profile: a conformant skeleton of stand-ins, and each way of breaking it. */
import assert from "node:assert/strict";
import { REPORT } from "../../../lib/contract/kinds.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import { float, isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { PlanCache } from "../../../lib/plan/cache.ts";
import { planRecipe } from "../../../lib/plan/planner.ts";
import { inspectProfile } from "../../../lib/plan/profile_inspect.ts";
import {
  findProfile,
  type Profile,
  profileCatalogue,
  PROFILES,
  type ProfileStage,
} from "../../../lib/plan/profiles.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import type { StepDocument } from "../../../lib/recipe/types.ts";
import { standIn, toySources } from "./toy.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

/** Spine of each profile as `role: step ids: operations {parameters}`; `any` where all operations may stand. */
const SPINES: Record<string, string[]> = DATA.SPINES;

const idsOf = (stage: ProfileStage) => (stage.step_ids ?? [stage.role]) as string[];
const opsOf = (stage: ProfileStage) => (stage.allowed_ops ?? ["test.any"]) as string[];
const spineOf = (profile: Profile) => profile.stages.filter(({ presence }) => presence === "required");
const fusedOf = (profile: Profile) => profile.stages.filter(({ presence }) => presence === "fused");

function skeleton(profile: Profile): StepDocument[] {
  return spineOf(profile).map((stage) => ({
    id: idsOf(stage)[0],
    op: opsOf(stage)[0],
    params: { ...stage.required_params as JsonObject ?? {} },
    inputs: {},
  }));
}

/** Codes and paths of what is wrong with steps that claim a profile. */
const wrong = (profile: Profile, steps: StepDocument[]) =>
  inspectProfile({ id: profile.id, version: 1 }, steps).issues.map(({ code, path }) => [code, path]);

Deno.test("there are fourteen ids, and their spines are those of the specification", () => {
  assert.equal(PROFILES.length + 1, 14);
  const written = Object.fromEntries(PROFILES.map((profile) => [
    profile.id,
    spineOf(profile).map((stage) => {
      const ops = stage.allowed_ops ? opsOf(stage).join("|") : "any";
      const params = stage.required_params ? ` ${JSON.stringify(stage.required_params)}` : "";
      return `${stage.role}: ${idsOf(stage).join("|")}: ${ops}${params}`;
    }),
  ]));
  assert.deepEqual(written, SPINES);
});

Deno.test("roles that a joint code does itself", () => {
  const fused = fusedOf(findProfile("joint_source_channel_symbols", 1)!).map((
    { role, fused_into },
  ) => [role, fused_into]);
  assert.deepEqual(fused, [
    ["source_encoder", "sender"],
    ["payload_encoder", "sender"],
    ["channel_encoder", "sender"],
    ["modulator", "sender"],
    ["demodulator", "receiver"],
    ["channel_decoder", "receiver"],
    ["payload_decoder", "receiver"],
    ["source_decoder", "receiver"],
  ]);
});

for (const profile of PROFILES) {
  const spine = spineOf(profile);

  Deno.test(`${profile.id}: its skeleton conforms under every accepted id and operation`, () => {
    const inspection = inspectProfile(profile.id, skeleton(profile));
    assert.deepEqual(inspection.issues, []);
    assert.equal(inspection.status, "conformant");
    assert.deepEqual(
      inspection.stage_bindings,
      Object.fromEntries(spine.map((stage) => [stage.role, idsOf(stage)[0]])),
    );
    for (const [index, stage] of spine.entries()) {
      for (const id of idsOf(stage)) {
        for (const op of opsOf(stage)) {
          const steps = skeleton(profile);
          steps[index] = { ...steps[index], id, op };
          assert.deepEqual(wrong(profile, steps), [], `${id} with ${op}`);
        }
      }
    }
  });

  Deno.test(`${profile.id}: every required stage is missed, and may stand but once`, () => {
    for (const [index, stage] of spine.entries()) {
      assert.deepEqual(wrong(profile, skeleton(profile).toSpliced(index, 1)), [["required_step_missing", "$.steps"]]);
      for (const id of idsOf(stage).slice(1)) {
        const twice = skeleton(profile);
        twice.splice(index, 0, { ...twice[index], id });
        assert.deepEqual(wrong(profile, twice), [["execution_profile_stage_ambiguous", "$.steps"]]);
      }
    }
  });

  Deno.test(`${profile.id}: operations and parameters of the required stages`, () => {
    for (const [index, stage] of spine.entries()) {
      const steps = skeleton(profile);
      steps[index].op = "test.other";
      assert.deepEqual(
        wrong(profile, steps),
        stage.allowed_ops ? [["required_step_op_invalid", `$.steps[${index}].op`]] : [],
      );
      for (const name of Object.keys((stage.required_params ?? {}) as JsonObject)) {
        for (const value of ["other", 1, null] as Value[]) {
          const spoilt = skeleton(profile);
          spoilt[index].params[name] = value;
          const path = `$.steps[${index}].params.${name}`;
          assert.deepEqual(wrong(profile, spoilt), [["required_step_param_invalid", path]]);
          delete spoilt[index].params[name];
          assert.deepEqual(wrong(profile, spoilt), [["required_step_param_invalid", path]]);
        }
      }
    }
  });

  Deno.test(`${profile.id}: two required stages exchanged`, () => {
    for (let index = 1; index < spine.length; index++) {
      const steps = skeleton(profile);
      [steps[index - 1], steps[index]] = [steps[index], steps[index - 1]];
      assert.deepEqual(wrong(profile, steps), [["execution_profile_stage_order_invalid", `$.steps[${index - 1}]`]]);
    }
  });

  Deno.test(`${profile.id}: optional stages and side branches stand anywhere, fused roles nowhere`, () => {
    for (const stage of profile.stages.filter(({ presence }) => presence === "optional")) {
      for (const id of idsOf(stage)) {
        for (const index of [0, spine.length]) {
          const steps = skeleton(profile).toSpliced(index, 0, { id, op: "test.other", params: {}, inputs: {} });
          assert.deepEqual(wrong(profile, steps), []);
        }
      }
    }
    for (const { role } of fusedOf(profile)) {
      const steps = [...skeleton(profile), { id: role, op: "test.other", params: {}, inputs: {} }];
      const path = `$.steps[${steps.length - 1}].id`;
      assert.deepEqual(wrong(profile, steps), [["execution_profile_fused_stage_exposed", path]]);
    }
  });

  Deno.test(`${profile.id}: planning demands it`, async () => {
    const steps = skeleton(profile);
    const registry = new Registry();
    const operations = [...new Set(steps.map(({ op }) => op))].map((op) =>
      standIn(op, { outputs: { report: REPORT } })
    );
    registry.register(operations.map((operation) => ({ operation, moduleUrl: `file:///${operation.id}.ts` })));
    const plan = (kept: StepDocument[], execution_profile: Value) =>
      planRecipe(compileRecipe({ name: "skeleton", execution_profile, steps: kept }, { mode: "strict", registry }), {
        registry,
        implementationSources: toySources,
        cache: new PlanCache(),
      });
    assert.equal((await plan(steps, profile.id)).status, "planned");
    const refused = await plan(steps.slice(1), { id: profile.id, version: 1 });
    assert.equal(refused.status, "refused");
    assert.deepEqual(refused.diagnostics.map(({ code }) => code), ["execution_profile_mismatch"]);
    assert.match(refused.diagnostics[0].message, /\(required_step_missing\)$/);
    const kept = { id: "custom", version: 1, based_on: { id: profile.id, version: 1 } };
    assert.equal((await plan(steps.slice(1), kept)).status, "planned");
  });
}

Deno.test("the catalogue has the published form", () => {
  const { schema_version, profiles, custom } = profileCatalogue();
  assert.equal(schema_version, 1);
  assert.deepEqual(Object.keys(custom), ["id", "version", "label", "summary"]);
  const known = ["role", "label", "presence", "step_ids", "allowed_ops", "required_params", "fused_into", "summary"];
  for (const profile of profiles) {
    assert.deepEqual(Object.keys(profile), ["id", "version", "label", "summary", "required_ordered_spine", "stages"]);
    assert.equal(profile.version, 1);
    const roles = profile.stages.map(({ role }) => role);
    assert.equal(new Set(roles).size, roles.length);
    // No step id binds two stages of a profile.
    const ids = profile.stages.flatMap(idsOf);
    assert.equal(new Set(ids).size, ids.length, profile.id);
    for (const stage of profile.stages) {
      assert.deepEqual(Object.keys(stage).filter((key) => !known.includes(key)), []);
      assert.equal(stage.presence === "fused", typeof stage.fused_into === "string");
      assert.ok(stage.fused_into === undefined || profile.required_ordered_spine.includes(String(stage.fused_into)));
    }
  }
});

/** Declarations of any shape, from a seed. */
function* declarations(count: number): Iterable<Value> {
  let state = 23;
  const pick = <T>(from: readonly T[]): T => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return from[(state >>> 8) % from.length];
  };
  const names = ["custom", "layered_digital", "task_inference", "", " ", "__proto__", "layered", "é\u0000"];
  const scalars: Value[] = [null, true, 0, 1, 2, -0, 1.5, float(1), 10n ** 30n, "1", [], [1], {}, ...names];
  const reference = (): Value =>
    pick([
      () => pick(scalars),
      () => ({ id: pick(names), version: pick(scalars) }),
      () => ({ id: pick(scalars), version: 1 }),
      () => ({ id: pick(names), version: 1 }),
    ])();
  for (let at = 0; at < count; at++) {
    const declared = reference();
    if (isObject(declared) && pick([true, false])) declared.based_on = reference();
    if (isObject(declared) && pick([true, false, false])) declared[pick(["note", "constructor", "ID"])] = pick(scalars);
    yield declared;
  }
}

Deno.test("any declaration is read or refused, alike by compiler and inspection", () => {
  const registry = new Registry();
  registry.register([{ operation: standIn("test.any", { outputs: { report: REPORT } }), moduleUrl: "file:///any.ts" }]);
  const statuses = new Set<string>();
  for (const execution_profile of declarations(3000)) {
    const { status, reference, issues } = inspectProfile(execution_profile, []);
    statuses.add(status);
    for (const { code, path, hint, message } of issues) {
      assert.ok(/^(execution_profile_(invalid|unknown)|required_step_missing)$/.test(code), code);
      assert.ok(path.startsWith("$.execution_profile") || code === "required_step_missing");
      assert.ok(hint !== undefined && message.length < 300);
    }
    assert.equal(status === "invalid", issues.length > 0);
    if (status === "custom") assert.deepEqual(reference, { id: "custom", version: 1 });
    const compiled = compileRecipe({ name: "any", execution_profile, steps: [{ id: "data", op: "test.any" }] }, {
      mode: "strict",
      registry,
    });
    // What the compiler lets pass has a canonical form that the inspection reads the same way.
    if (compiled.status === "valid") {
      const canonical = inspectProfile(compiled.effective!.execution_profile, []);
      assert.equal(canonical.status, status);
      assert.deepEqual(canonical.issues.map(({ code }) => code), issues.map(({ code }) => code));
    } else {
      assert.equal(status, "invalid", Deno.inspect(execution_profile));
    }
  }
  assert.ok(statuses.has("custom") && statuses.has("invalid"));
});
