/** `pai doctor`: whether pai can work here, and where each thing it depends on comes from. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { PaiError, toPaiError } from "../core/error.ts";
import { maskSecrets } from "../core/secret.ts";
import { type FoundServer, findServers, renderServer } from "../models/discover.ts";
import { renderCommandDocument } from "../ui/json.ts";
import { hang } from "../ui/layout.ts";
import { visible } from "../ui/sanitize.ts";
import type { Command, Context } from "./command.ts";
import { examine, examineEndpoint, type Finding, loadAll, type Patient } from "./doctor-checks.ts";
import { flagsNamed } from "./flags.ts";
import { openPlaces } from "./open-places.ts";

export const doctorCommand: Command = {
  name: "doctor",
  about: "check this installation, its settings and protections",
  usage: "",
  flags: flagsNamed("cwd", "offline", "model", "force-root", "insecure-http"),
  examples: ["pai doctor", "pai doctor --json --offline"],
  run: async (context) => {
    if (context.words.length > 0) throw new PaiError("usage", "usage: pai doctor [--json] [--offline]");
    const findings = await examineAll(context);
    const code = findings.some(({ level }) => level === "error") ? 1 : 0;
    if (context.flags["json"] === true) {
      context.out(renderCommandDocument({ command: "doctor", code, data: { findings }, error: null }));
    } else {
      context.out(renderFindings(findings));
    }
    return code;
  },
};

async function examineAll(context: Context): Promise<readonly Finding[]> {
  const root = realpathSync(resolve(context.cwd, String(context.flags["cwd"] ?? ".")));
  const patient: Patient = { context, root, places: openPlaces(context.env) };
  try {
    const loaded = loadAll(patient);
    const findings = examine(patient, loaded);
    if (context.flags["offline"] === true) return findings;
    const [endpoint, servers] = await Promise.all([examineEndpoint(patient, loaded), findServers(context)]);
    return [...findings, ...endpoint, ...servers.map(describeServer)];
  } catch (thrown) {
    context.signal.throwIfAborted();
    const { message, hint } = toPaiError(thrown);
    return [{ name: "settings", level: "error", text: message, hint }];
  }
}

function describeServer(server: FoundServer): Finding {
  return { name: "local server", level: "ok", text: renderServer(server), hint: null };
}

const columns = 80;
const marks: Readonly<Record<Finding["level"], string>> = { ok: "ok", warning: "!", error: "x" };

function renderFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, level, text, hint }) => [
    ...hang(`${marks[level].padEnd(2)}  ${name.padEnd(width)}  `, text, columns),
    ...(hint === null ? [] : hang(" ".repeat(width + 6), hint, columns)),
  ]);
  const errors = findings.filter(({ level }) => level === "error").length;
  const verdict =
    errors === 0 ? "pai can work here" : `pai cannot work here: ${errors} ${errors === 1 ? "error" : "errors"}`;
  return `${lines.map((line) => visible(maskSecrets(line))).join("\n")}\n\n${verdict}\n`;
}
