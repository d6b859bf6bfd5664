/** Requests of tests to the server of a scene. */
import assert from "node:assert/strict";

/** The reply to a POST that the server accepts. */
export async function post(url: string, path: string, body: unknown): Promise<{ run_id: string; job_id: string }> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  assert.ok(response.ok, JSON.stringify(answer));
  return answer;
}
