/** Every change of every document of a hostile author, each read by every command of the document; takes hours. */
import { casesOf, faultsOf, hostileProject } from "../support/hostile_documents.ts";

const folder = Deno.makeTempDirSync({ prefix: "svc-hostile-" });
let runs = 0, found = 0;
try {
  const project = await hostileProject(folder);
  for (const document of project.documents) {
    for (const one of casesOf(project, document)) {
      for (const fault of await faultsOf(project, one, document.commands)) {
        found++;
        console.log(fault);
      }
      runs += document.commands.length;
    }
    console.log(`${document.path}: ${runs} commands so far, ${found} faults`);
  }
} finally {
  Deno.removeSync(folder, { recursive: true });
}
Deno.exit(found === 0 ? 0 : 1);
