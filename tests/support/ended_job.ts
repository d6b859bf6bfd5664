/**
 * The snapshot of a job that has ended. The route waits for at most a minute, and a busy machine may need longer: it is asked
 * again.
 *
 * @param path of the job, such as `run-jobs/<id>`
 */
export async function endedJob(url: string, path: string) {
  for (;;) {
    const snapshot = await (await fetch(`${url}/api/${path}/wait?timeout_seconds=30`)).json();
    if (!["queued", "running"].includes(snapshot.state)) return snapshot;
  }
}
