/** Watches a training project: its view at once, and again whenever something in it has changed. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "../contract/json.ts";
import type { Answer } from "./route.ts";
import type { Service } from "./service.ts";
import { openStream } from "./stream.ts";
import { projectFolder } from "../capture/places.ts";

/** Between two looks. A captured split and a network come by a rename, so that time stamps of folders change with them. */
const LOOK_MS = 500;

/** @throws SvcError `path_forbidden`, `training_project_not_found`, `stream_capacity` */
export async function watchProject(service: Service, path: string): Promise<Answer> {
  const folder = projectFolder(service.session.workspace, path);
  const first = await service.threads.perform("viewProject", { path });
  return openStream(service.events, service.options.heartbeatMs, (send, stop) => {
    let stamp = stampOf(folder), last = canonicalJson(first), looking = false;
    send(message(last));
    const look = async () => {
      const now = stampOf(folder);
      if (now === stamp || looking) return;
      stamp = now;
      looking = true;
      try {
        const text = canonicalJson(await service.threads.perform("viewProject", { path }));
        if (text !== last) send(message(text));
        last = text;
      } catch {
        // It was removed: there is nothing to report.
        stop();
      } finally {
        looking = false;
      }
    };
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  });
}

const message = (view: string): string => `event: project\ndata: ${view}\n\n`;

/** What changes with anything that a view shows. */
function stampOf(folder: string): string {
  const stamps: string[] = [];
  const add = (path: string) => {
    const info = lstatSync(path, { throwIfNoEntry: false });
    stamps.push(info === undefined ? "" : `${info.mtimeMs} ${info.size} ${info.ino}`);
    return info?.isDirectory() ?? false;
  };
  try {
    add(folder);
    for (const name of readdirSync(folder).sort()) add(join(folder, name));
    if (add(join(folder, "data"))) {
      for (const name of readdirSync(join(folder, "data")).sort()) add(join(folder, "data", name));
    }
  } catch {
    stamps.push("gone");
  }
  return stamps.join("\n");
}
