/** `svc schema`: the JSON Schemas of the files that people write. */
import type { JsonObject } from "../../contract/value.ts";
import { prettyJson } from "../../contract/json.ts";
import type { Command } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";

export function schemaCommands(program: Command): void {
  const schema = program.command("schema").description("print the JSON Schema of a kind of file");

  schema.command("recipe")
    .description("recipes, with the parameters and inputs of every operation")
    .addHelpText(
      "after",
      "\nAn editor with a YAML language server completes and checks a recipe whose first line is\n" +
        "  # yaml-language-server: $schema=recipe.schema.json\n" +
        "\nExamples\n  svc schema recipe > recipes/recipe.schema.json\n",
    )
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const { recipeSchema } = await import("../../plan/recipe_schema.ts");
      write(context, recipeSchema(await context.registry()));
    });

  schema.command("pack")
    .description("benchmark packs")
    .addHelpText("after", "\nExamples\n  svc schema pack > benchmarks/pack.schema.json\n")
    .action(async (_options: unknown, command: Command) => {
      const { PACK_SCHEMA } = await import("../../benchmark/pack_schema.ts");
      write(contextOf(command), PACK_SCHEMA);
    });

  schema.command("manifest")
    .description("image-dataset manifests")
    .addHelpText("after", "\nExamples\n  svc schema manifest\n")
    .action(async (_options: unknown, command: Command) => {
      const { IMAGE_MANIFEST_SCHEMA } = await import("../../artifact/dataset_manifest_schema.ts");
      write(contextOf(command), IMAGE_MANIFEST_SCHEMA);
    });

  schema.command("trained-artifact")
    .description("trained_artifact.yaml, the manifest of a trained-artifact package")
    .addHelpText("after", "\nExamples\n  svc schema trained-artifact\n")
    .action(async (_options: unknown, command: Command) => {
      const { TRAINED_ARTIFACT_SCHEMA } = await import("../../training/schema.ts");
      write(contextOf(command), TRAINED_ARTIFACT_SCHEMA);
    });
}

function write(context: CliContext, schema: JsonObject): void {
  context.emit(schema);
  context.print(prettyJson(schema));
}
