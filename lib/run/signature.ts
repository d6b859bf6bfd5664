/**
 * Signatures of run bundles: `SHA256SUMS.sig` beside SHA256SUMS, which lists every other file. The signature is one of
 * OpenSSH (`ssh-keygen -Y`, namespace `svc-run`), so that it can be made with keys that people have, agents and hardware
 * keys included, and checked without this program:
 *
 *     ssh-keygen -Y verify -f allowed_signers -I NAME -n svc-run -s SHA256SUMS.sig < SHA256SUMS
 *
 * Source: PROTOCOL.sshsig of OpenSSH; ALLOWED SIGNERS in ssh-keygen(1).
 */
import { join } from "node:path";
import { inside, readFile, readText } from "../artifact/inside.ts";
import { exists } from "../artifact/path_kind.ts";
import { SvcError } from "../contract/error.ts";
import { SIGNATURE_FILE, SUMS_FILE } from "./documents.ts";
import { MAX_DOCUMENT_BYTES } from "./read.ts";

const NAMESPACE = "svc-run";
const MAX_SIGNATURE_BYTES = 64 * 1024;

/**
 * Signs bytes.
 * @param key file of a private key, or of a public key whose private key an agent holds
 * @throws SvcError `run_signing_failed`, `signing_unavailable`
 */
export async function makeSignature(bytes: Uint8Array, key: string): Promise<Uint8Array> {
  const { success, stdout, stderr } = await sshKeygen(["-Y", "sign", "-f", key, "-n", NAMESPACE], bytes);
  if (success) return stdout;
  throw new SvcError("run_signing_failed", `Cannot sign with ${key}: ${stderr}`, {
    hint: "Name a private key of OpenSSH, or a public key whose private key ssh-agent holds",
  });
}

/** The result of a check of a signature: who signed, or why it does not hold. */
export type SignatureCheck = { signer: string } | {
  code: "bundle_signature_missing" | "bundle_signature_invalid";
  message: string;
};

/**
 * Checks the signature of a bundle.
 * @param allowed file of allowed signers: `name key-type key` a line
 * @throws SvcError `signing_unavailable` without ssh-keygen, `allowed_signers_invalid` for a file that cannot be read
 */
export async function checkSignature(directory: string, allowed: string): Promise<SignatureCheck> {
  if (!exists(allowed)) {
    throw new SvcError("allowed_signers_invalid", `Cannot find the file of allowed signers ${allowed}`, {
      hint: "Write lines of a name and a public key: alice@example.org ssh-ed25519 AAAA…",
    });
  }
  if (!exists(join(directory, SIGNATURE_FILE))) {
    return { code: "bundle_signature_missing", message: `The run is not signed: ${SIGNATURE_FILE} is missing` };
  }
  // The names of the bundle are checked; ssh-keygen gets the bytes that were read by them.
  const signature = readText(inside(directory, SIGNATURE_FILE), MAX_SIGNATURE_BYTES);
  const sums = readFile(inside(directory, SUMS_FILE), MAX_DOCUMENT_BYTES);
  const folder = await Deno.makeTempDir({ prefix: "svc-signature-" });
  try {
    const file = join(folder, SIGNATURE_FILE);
    Deno.writeTextFileSync(file, signature);
    const found = await sshKeygen(["-Y", "find-principals", "-s", file, "-f", allowed, "-n", NAMESPACE], sums);
    const [signer] = new TextDecoder().decode(found.stdout).trim().split("\n");
    if (!found.success || signer === "") {
      return { code: "bundle_signature_invalid", message: `No allowed signer made the signature: ${found.stderr}` };
    }
    const args = ["-Y", "verify", "-f", allowed, "-I", signer, "-n", NAMESPACE, "-s", file];
    const { success, stderr, stdout } = await sshKeygen(args, sums);
    if (success) return { signer };
    const why = stderr || new TextDecoder().decode(stdout).trim();
    return { code: "bundle_signature_invalid", message: `The signature of ${signer} does not hold: ${why}` };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs ssh-keygen with bytes as standard input. */
async function sshKeygen(args: string[], input: Uint8Array) {
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command("ssh-keygen", { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  } catch (error) {
    const missing = error instanceof Deno.errors.NotFound;
    if (!missing && !(error instanceof Deno.errors.NotCapable)) throw error;
    throw new SvcError("signing_unavailable", "Cannot start ssh-keygen", {
      hint: missing ? "Install the OpenSSH client" : "Start svc with --allow-run=ssh-keygen",
      cause: error,
    });
  }
  const output = child.output(), writer = child.stdin.getWriter();
  try {
    await writer.write(input);
    await writer.close();
  } catch (error) {
    // A program that refuses its arguments ends without reading; its message follows.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
  const { success, stdout, stderr } = await output;
  const said = new TextDecoder().decode(stderr).trim().replaceAll(/\s*\n\s*/g, "; ");
  return { success, stdout, stderr: said };
}
