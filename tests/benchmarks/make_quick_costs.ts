/**
 * Measures the processor time of the quick subset of each card, prints it with the verdict, and writes it beside the published results, from which the quick
 * set follows (`lib/study/validation/quick_set.ts`). Arguments are ids of cards; without them, all. It counts this process with its
 * threads, so other programs on the machine change it little.
 */
import { cpuUsage } from "node:process";
import { open } from "../../mod.ts";
import { listCards } from "../../lib/study/validation/cards.ts";
import { readPublished, writePublished } from "../../lib/study/validation/published.ts";
import { ROOT_PATH } from "../support/paths.ts";

const processorSeconds = () => {
  const { user, system } = cpuUsage();
  return (user + system) / 1e6;
};

const stateDir = await Deno.makeTempDir({ prefix: "svc-costs-" });
const svc = await open({ projectRoot: ROOT_PATH, stateDir });
try {
  const published = readPublished(ROOT_PATH, { own: true });
  for (const { card: { id, quick } } of listCards(ROOT_PATH)) {
    const result = published.get(id);
    if (quick === undefined || result === undefined || Deno.args.length > 0 && !Deno.args.includes(id)) continue;
    const start = processorSeconds();
    const [{ verdict }] = await svc.validation.run([id], { quick: true });
    const quick_cpu_s = Math.ceil(10 * (processorSeconds() - start)) / 10;
    published.set(id, { ...result, quick_cpu_s });
    writePublished(ROOT_PATH, published);
    console.log(`${quick_cpu_s.toFixed(1)} s  ${id} ${verdict}`);
  }
} finally {
  await svc.close();
  await Deno.remove(stateDir, { recursive: true });
}
