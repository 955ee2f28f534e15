/** Signs SHA256SUMS with the owner's key: an SSH key with ssh-keygen, or a minisign key with minisign. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Signer {
  /** Verifies the signature; one line. */
  readonly publicKey: string;
  /** Signs SHA256SUMS in a folder; returns the name of the signature's file. */
  readonly sign: (folder: string) => string;
}

/** Runs a tool, whose questions (such as for a passphrase) go to the terminal. Throws when it fails. */
function run(command: string, args: readonly string[], cwd: string): string {
  const done = spawnSync(command, [...args], { cwd, encoding: "utf8", stdio: ["inherit", "pipe", "inherit"] });
  if (done.status !== 0) throw new Error(`${command} failed: ${done.error?.message ?? `exit ${done.status}`}`);
  return done.stdout;
}

/** Namespace of an SSH signature, which a verifier must name too. */
const namespace = "file";

function openSshKey(key: string): Signer {
  const file = [key, `${key}.pub`].find((name) => name.endsWith(".pub") && existsSync(name));
  const text = file === undefined ? run("ssh-keygen", ["-y", "-f", key], "/") : readFileSync(file, "utf8");
  return {
    publicKey: text.trim().split(/\s+/).slice(0, 2).join(" "),
    sign(folder) {
      run("ssh-keygen", ["-q", "-Y", "sign", "-f", key, "-n", namespace, join(folder, "SHA256SUMS")], folder);
      return "SHA256SUMS.sig";
    },
  };
}

function openMinisignKey(key: string): Signer {
  const file = [key.replace(/\.key$/, ".pub"), `${key}.pub`].find((name) => name !== key && existsSync(name));
  if (file === undefined) throw new Error(`the public key of ${key} is missing: expected ${key}.pub beside it`);
  const publicKey = readFileSync(file, "utf8").trim().split("\n").at(-1) ?? "";
  return {
    publicKey,
    sign(folder) {
      run("minisign", ["-S", "-s", key, "-m", "SHA256SUMS", "-t", "pai SHA256SUMS"], folder);
      return "SHA256SUMS.minisig";
    },
  };
}

/**
 * Opens the key at an absolute path: a private key, or the public one of a key in ssh-agent. Throws if it is
 * unreadable.
 */
export function openSigner(key: string): Signer {
  return readFileSync(key, "utf8").startsWith("untrusted comment: minisign") ? openMinisignKey(key) : openSshKey(key);
}
