/** Failures before a reply of the model matters: usage, settings, keys, network, quota. */
import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Failing, fails, refused, task } from "./failing.ts";
import type { Place } from "./harness.ts";

const quota = JSON.stringify({
  error: {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "Quota exceeded",
    details: [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel" }] }],
  },
});

function configure(text: string): (place: Place) => void {
  return ({ home }) => {
    mkdirSync(join(home, ".config/pai-code"), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, ".config/pai-code/config.json"), text, { mode: 0o600 });
  };
}

const usage: readonly Failing[] = [
  fails("an unknown flag", 2, "usage", { args: ["run", "--jsno", "make it so"], calls: 0 }),
  fails("a flag of another command", 2, "usage", { args: ["run", "--prune", "make it so"], calls: 0 }),
  fails("a flag without its value", 2, "usage", { args: ["run", "make it so", "--model"], calls: 0 }),
  fails("a switch with a value", 2, "usage", { args: ["run", "--yes=no", "make it so"], calls: 0 }),
  fails("several bare words", 2, "usage", { args: ["run", "make", "it", "so"], calls: 0 }),
  fails("a run without a task", 2, "usage", { args: ["run", "-y"], calls: 0 }),
  fails("an empty task", 2, "usage", { args: ["run", "-y", "  "], calls: 0 }),
  fails("an empty standard input", 2, "usage", { args: ["run", "-y", "-"], calls: 0 }),
  fails("a task file that is not there", 2, "usage", { args: ["run", "-y", "-f", "none.txt"], calls: 0 }),
  fails("a task given twice", 2, "usage", { args: ["run", "-f", "a.txt", "make it"], calls: 0 }),
  fails("a time limit that is none", 2, "usage", { args: [...task, "--timeout", "soon"], calls: 0 }),
  fails("a cap that is none", 2, "usage", { args: [...task, "--max-calls", "many"], calls: 0 }),
  fails("an unknown way of working", 2, "usage", { args: [...task, "--mode", "nine-step"] }),
  fails("a plan file that is not there", 2, "usage", { args: ["apply", "-y", "none.json"], calls: 0 }),
];

const settings: readonly Failing[] = [
  fails("a broken config.json", 3, "config_invalid", { prepare: configure("{"), calls: 0 }),
  fails("an unknown provider", 3, "model_unknown", { args: [...task, "-m", "nobody:none"], calls: 0 }),
  fails("an unknown model", 3, "model_unknown", {
    answers: [refused(404, '{"error": {"message": "models/x is not found for API version v1beta"}}')],
    // The second asks for the list of models, which is free.
    calls: 2,
  }),
  fails("no key", 4, "no_key", { options: () => ({ env: { GEMINI_API_KEY: null, PAI_BASE_URL: null } }), calls: 0 }),
  fails("a key that is refused", 4, "key_rejected", { answers: [refused(401)], calls: 1 }),
];

const network: readonly Failing[] = [
  fails("a refused connection", 5, "network", {
    options: () => ({ env: { PAI_BASE_URL: "http://127.0.0.1:9" } }),
    calls: 0,
  }),
  fails("a redirect", 5, "redirected", {
    answers: [{ status: 302, headers: { location: "http://127.0.0.1:9/" } }],
    calls: 1,
  }),
  fails("a provider that is down", 5, "provider_down", { answers: [refused(503)], calls: 1 }),
  fails("a used up quota", 6, "quota", {
    answers: [refused(429, quota)],
    calls: 1,
    check: ({ error }) => expect(error?.retry_after ?? 0).toBeGreaterThan(0),
  }),
  fails("spent credit", 6, "credit_exhausted", { answers: [refused(402)], calls: 1 }),
];

export const failuresBefore: readonly Failing[] = [...usage, ...settings, ...network];
