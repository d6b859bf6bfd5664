/**
 * Overrides from the command line: `step.param=value`, `step.param.member=value` for nested values, and
 * `dimension=value` for a dimension of the matrix.
 *
 * A value is read as JSON with typed numbers (`6` and `6.0` differ), or as a number of YAML (`.5`, `+5`, `5.`); anything else
 * is a text.
 */
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import { sameValue } from "../contract/json.ts";
import { cloneValue, isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import { readJson } from "./json_reader.ts";

/**
 * Applies overrides to a raw recipe; later ones take precedence. The compiler checks parameter names and values.
 * @param raw the author's value; not changed
 * @param overrides assignments such as `wireless_channel.snr_db=6.0`
 * @throws SvcError `override_invalid` for an assignment that cannot be read or applied, `override_step_unknown` with
 *   the nearest step id
 */
export function applyOverrides(raw: Value, overrides: readonly string[]): Value {
  if (overrides.length === 0) return raw;
  const changed = cloneValue(raw);
  const steps = isObject(changed) && Array.isArray(changed.steps) ? changed.steps : [];
  for (const override of overrides) {
    const [, dimension, chosen] = CHOICE.exec(override) ?? [];
    if (dimension !== undefined) {
      chooseValue(changed, dimension, parseOverrideValue(chosen));
      continue;
    }
    const assignment = /^([^.=]+)\.([^=]+)=([\s\S]*)$/.exec(override);
    const names = assignment?.[2].split(".") ?? [""];
    if (assignment === null || names.includes("")) {
      throw new SvcError("override_invalid", `Cannot read the override ${JSON.stringify(override)}`, {
        hint: "Write step.param=value, or dimension=value for a dimension of the matrix",
      });
    }
    const [, stepId, , text] = assignment;
    const step = findStep(steps, stepId);
    if (step === undefined) {
      throw new SvcError("override_step_unknown", `Cannot find a step named ${stepId} to override`, {
        hint: didYouMean(stepId, steps.map(idOf)),
      });
    }
    step.params = assign(step.params ?? {}, names, parseOverrideValue(text), override);
  }
  return changed;
}

const CHOICE = /^([^.=]+)=([\s\S]*)$/;

/** Whether an override chooses a value of a matrix dimension. */
export const choosesValue = (override: string): boolean => CHOICE.test(override);

/** Leaves one value of a dimension: 6 chooses the 6.0 of the recipe. The recipe is changed in place. */
function chooseValue(recipe: Value, dimension: string, value: Value): void {
  const member = (parent: Value, name: string) => isObject(parent) && isObject(parent[name]) ? parent[name] : {};
  const dimensions = member(member(member(recipe, "metadata"), "matrix"), "dimensions");
  if (!Object.hasOwn(dimensions, dimension)) {
    const known = Object.keys(dimensions);
    throw new SvcError("override_invalid", `Cannot find the dimension ${dimension} in metadata.matrix`, {
      hint: didYouMean(dimension, known) ??
        (known.length === 0 ? "Write step.param=value: the recipe has no matrix" : `There are ${known.join(", ")}`),
    });
  }
  const listed = Array.isArray(dimensions[dimension]) ? dimensions[dimension] : [];
  const equal = (item: Value) => isNumber(item) && isNumber(value) && toNumber(item) === toNumber(value);
  dimensions[dimension] = [listed.find((item) => sameValue(item, value)) ?? listed.find(equal) ?? value];
}

export function parseOverrideValue(text: string): Value {
  try {
    return readJson(jsonNumber(text) ?? text, "override").value;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    // A digest may begin as a number beyond the range of binary64.
    if ([error, ...error.diagnostics].some(({ code }) => code === "recipe_syntax_invalid")) return text;
    // Its place is one in the override, not in the recipe.
    const found = error.diagnostics[0] ?? error;
    throw new SvcError(error.code, `Cannot use ${text.slice(0, 60)}: ${found.message}`, { hint: found.hint });
  }
}

/** A number as YAML permits it, in the form of JSON; null for any other text. */
function jsonNumber(text: string): string | null {
  const parts = /^([+-]?)(0|[1-9]\d*)?(\.\d*)?([eE][+-]?\d+)?$/.exec(text.trim());
  if (parts === null) return null;
  const [, sign, whole, fraction, exponent = ""] = parts;
  if (whole === undefined && (fraction ?? ".") === ".") return null;
  return `${sign === "-" ? "-" : ""}${whole ?? "0"}${fraction === "." ? ".0" : fraction ?? ""}${exponent}`;
}

function idOf(step: Value, index: number): string {
  return isObject(step) && typeof step.id === "string" && step.id !== "" ? step.id : `step_${index + 1}`;
}

function findStep(steps: Value[], id: string): JsonObject | undefined {
  return steps.find((step, index): step is JsonObject => isObject(step) && idOf(step, index) === id);
}

/** The container with the value; missing mappings are created. */
function assign(container: Value, names: string[], value: Value, override: string): Value {
  const [name, ...rest] = names;
  if (Array.isArray(container)) {
    const index = /^(0|[1-9][0-9]*)$/.test(name) ? Number(name) : -1;
    if (index < 0 || index >= container.length) {
      throw new SvcError(
        "override_invalid",
        `Cannot find item ${name} of the list that ${JSON.stringify(override)} names`,
        {
          hint: `The list has ${container.length} items, the first is 0`,
        },
      );
    }
    return container.map((item, at) =>
      at !== index ? item : rest.length === 0 ? value : assign(item, rest, value, override)
    );
  }
  if (!isObject(container)) {
    throw new SvcError(
      "override_invalid",
      `Cannot set ${name} inside a value that is not a mapping: ${JSON.stringify(override)}`,
      {
        hint: "Override the whole parameter",
      },
    );
  }
  const inner = Object.hasOwn(container, name) ? container[name] : undefined;
  const chosen = rest.length === 0 ? value : assign(inner ?? {}, rest, value, override);
  return Object.fromEntries([...Object.entries(container).filter(([key]) => key !== name), [name, chosen]]);
}
