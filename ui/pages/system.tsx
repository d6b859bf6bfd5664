/** The machine: what `svc doctor` says. */
import { get } from "../api.ts";
import { Page } from "../frame.tsx";
import { useEffect, useState } from "../preact.ts";

interface Check {
  id: string;
  status: string;
  detail: string;
  hint: string | null;
}

export default function System() {
  const [checks, setChecks] = useState<Check[] | null>(null);
  useEffect(() => {
    get<{ checks: Check[] }>("/api/doctor").then(({ checks }) => setChecks(checks), () => {});
  }, []);
  return (
    <Page title="System">
      {checks === null ? <p class="empty">Looking at the machine</p> : (
        <table>
          <thead>
            <tr>
              <th>Check</th>
              <th>State</th>
              <th>Detail</th>
            </tr>
          </thead>
          <tbody>
            {checks.map(({ id, status, detail, hint }) => (
              <tr key={id}>
                <td class="mono">{id}</td>
                <td>{status}</td>
                <td>{detail}{hint && <div class="muted">{hint}</div>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Page>
  );
}
