/** Failures before a reply of the model matters: usage, settings, keys, network, quota. */
import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Failing, refused, task } from "./failing.ts";
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
  { name: "an unknown flag", code: 2, error: "usage", args: ["run", "--jsno", "make it so"], calls: 0 },
  { name: "a flag of another command", code: 2, error: "usage", args: ["run", "--prune", "make it so"], calls: 0 },
  { name: "a flag without its value", code: 2, error: "usage", args: ["run", "make it so", "--model"], calls: 0 },
  { name: "a switch with a value", code: 2, error: "usage", args: ["run", "--yes=no", "make it so"], calls: 0 },
  { name: "several bare words", code: 2, error: "usage", args: ["run", "make", "it", "so"], calls: 0 },
  { name: "a run without a task", code: 2, error: "usage", args: ["run", "-y"], calls: 0 },
  { name: "an empty task", code: 2, error: "usage", args: ["run", "-y", "  "], calls: 0 },
  { name: "an empty standard input", code: 2, error: "usage", args: ["run", "-y", "-"], calls: 0 },
  { name: "a task file that is not there", code: 2, error: "usage", args: ["run", "-y", "-f", "none.txt"], calls: 0 },
  { name: "a task given twice", code: 2, error: "usage", args: ["run", "-f", "a.txt", "make it"], calls: 0 },
  { name: "a time limit that is none", code: 2, error: "usage", args: [...task, "--timeout", "soon"], calls: 0 },
  { name: "a cap that is none", code: 2, error: "usage", args: [...task, "--max-calls", "many"], calls: 0 },
  { name: "an unknown way of working", code: 2, error: "usage", args: [...task, "--mode", "nine-step"] },
  { name: "a plan file that is not there", code: 2, error: "usage", args: ["apply", "-y", "none.json"], calls: 0 },
];

const settings: readonly Failing[] = [
  { name: "a broken config.json", code: 3, error: "config_invalid", args: task, prepare: configure("{"), calls: 0 },
  { name: "an unknown provider", code: 3, error: "model_unknown", args: [...task, "-m", "nobody:none"], calls: 0 },
  {
    name: "an unknown model",
    code: 3,
    error: "model_unknown",
    args: task,
    answers: [refused(404, '{"error": {"message": "models/x is not found for API version v1beta"}}')],
    // The second asks for the list of models, which is free.
    calls: 2,
  },
  {
    name: "no key",
    code: 4,
    error: "no_key",
    args: task,
    options: () => ({ env: { GEMINI_API_KEY: null, PAI_BASE_URL: null } }),
    calls: 0,
  },
  { name: "a key that is refused", code: 4, error: "key_rejected", args: task, answers: [refused(401)], calls: 1 },
];

const network: readonly Failing[] = [
  {
    name: "a refused connection",
    code: 5,
    error: "network",
    args: task,
    options: () => ({ env: { PAI_BASE_URL: "http://127.0.0.1:9" } }),
    calls: 0,
  },
  {
    name: "a redirect",
    code: 5,
    error: "redirected",
    args: task,
    answers: [{ status: 302, headers: { location: "http://127.0.0.1:9/" } }],
    calls: 1,
  },
  { name: "a provider that is down", code: 5, error: "provider_down", args: task, answers: [refused(503)], calls: 1 },
  {
    name: "a used up quota",
    code: 6,
    error: "quota",
    args: task,
    answers: [refused(429, quota)],
    calls: 1,
    check: ({ error }) => expect(error?.retry_after ?? 0).toBeGreaterThan(0),
  },
  { name: "spent credit", code: 6, error: "credit_exhausted", args: task, answers: [refused(402)], calls: 1 },
];

export const failuresBefore: readonly Failing[] = [...usage, ...settings, ...network];
