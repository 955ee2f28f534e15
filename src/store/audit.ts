/** The audit log of a session: rendered from receipts when runs end, never read back, hidden from the model. */
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { cannotBeWritten, PaiError, toPaiError, unless } from "../core/error.ts";
import type { Outcome } from "../core/outcome.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { ChangedPath, Fact, FactOf } from "../core/receipt.ts";
import { entryAt } from "../system/lookups.ts";
import { writeBytes } from "../system/write-file.ts";

interface AuditPlace {
  readonly root: string;
  /** State folder, for the log if the folder in the workspace is unusable; null: none. */
  readonly stateDir: string | null;
  readonly now: () => Date;
  readonly keep: number;
  /** Called once when the log is kept elsewhere, and once when it cannot be kept. */
  readonly warn: (text: string) => void;
}

const usualName = ".pai_history";

/** Creates nothing before the first run has ended. `file` is null until then, and if no log can be kept. */
export function openAudit(place: AuditPlace) {
  let log: ReturnType<typeof openLog> | null = null;
  let ended = false;

  return {
    add(facts: readonly Fact[]): void {
      const lines = ended || isSystemFolder(place.root) ? "" : renderAuditLines(facts);
      if (lines === "") return;
      try {
        log ??= openLog(place);
        writeBytes(log.fd, lines);
      } catch (error) {
        ended = true;
        place.warn(`the audit log cannot be kept: ${toPaiError(error, log?.file).message}`);
      }
    },
    get file(): string | null {
      return log?.file ?? null;
    },
    close(): void {
      ended = true;
      if (log !== null) closeSync(log.fd);
      log = null;
    },
  };
}

const systemFolders = "/boot /dev /etc /lib /lib64 /proc /run /sbin /bin /sys /usr /var/lib /var/log /var/spool".split(
  " ",
);

/** A folder of the system gets no log: its programs read every file in it. */
export const isSystemFolder = (root: string): boolean =>
  systemFolders.some((at) => root === at || root.startsWith(`${at}/`));

function openLog(place: AuditPlace): ReturnType<typeof openLogIn> {
  const folder = resolve(place.root, usualName);
  try {
    return openLogIn(folder, place);
  } catch (error) {
    if (place.stateDir === null) throw error;
    const elsewhere = join(place.stateDir, "history");
    const log = openLogIn(elsewhere, place);
    place.warn(`${toPaiError(error).message}; the audit log is ${log.file}`);
    return log;
  }
}

/** Works through the folder's descriptor, so that nobody can put a link in its place. Errors name the folder. */
function openLogIn(folder: string, { now, keep }: AuditPlace): { readonly fd: number; readonly file: string } {
  const time = now();
  let own: number | null = null;
  try {
    const there = entryAt(folder);
    if (there === undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
    else if (!there.isDirectory()) throw new PaiError("path_refused", `${folder} is not a folder of its own`);
    own = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    closeToOthers(own, folder);
    const through = `/proc/self/fd/${own}`;
    const base = existsSync(through) ? through : folder;
    unless(["EEXIST"], () => writeFileSync(join(base, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 }));
    for (let number = 1; number <= 1000; number += 1) {
      const name = `${nameOf(time)}${number === 1 ? "" : `_${number}`}.log`;
      const fd = unless(["EEXIST"], () => openSync(join(base, name), "ax", 0o600));
      if (fd !== undefined) prune(base, time, keep);
      if (fd !== undefined) return { fd, file: join(folder, name) };
    }
    throw new PaiError("io_failed", `${folder} has too many logs of this second`);
  } catch (error) {
    throw cannotBeWritten(folder, error) ?? error;
  } finally {
    if (own !== null) closeSync(own);
  }
}

/** Age at which a log is removed, in milliseconds; the same as for receipts. */
const keptMs = 30 * 86_400_000;
const nameOf = (time: Date): string =>
  `session_${time.toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "_")}`;
const logName = /^session_\d{8}_\d{6}(?:_\d+)?\.log$/;

/** Removes the oldest logs by their names, which contain the time, without opening any. */
function prune(folder: string, now: Date, keep: number): void {
  const names = readdirSync(folder)
    .filter((name) => logName.test(name))
    .sort();
  const oldest = nameOf(new Date(now.getTime() - keptMs));
  const old = names.filter((name, at) => at < names.length - keep || name < oldest);
  for (const name of old) rmSync(join(folder, name), { force: true });
}

function closeToOthers(own: number, folder: string): void {
  const { uid, mode } = fstatSync(own);
  if (uid !== (process.geteuid?.() ?? uid)) throw new PaiError("path_refused", `${folder} belongs to another user`);
  if ((mode & 0o077) !== 0) fchmodSync(own, 0o700);
}

type Entry = readonly [kind: string, text: string];

const longest = 4000;

/** Lines of a run, each with a final LF. A fact without a time of its own has the time of the fact before it. */
export function renderAuditLines(facts: readonly Fact[]): string {
  let at = "";
  const lines = facts.flatMap((fact) => {
    if ("at" in fact) at = `${new Date(fact.at).toISOString().slice(0, 19).replace("T", " ")}+00:00`;
    return entriesOf(fact).map(([kind, text]) => `[${at}] ${kind} ${escapeLine(shorten(text))}\n`);
  });
  const isCutOff = facts.length > 0 && facts.at(-1)?.type !== "run.finished";
  return `${lines.join("")}${isCutOff ? `[${at}] STATUS cut off\n` : ""}`;
}

function shorten(text: string): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest).toWellFormed()} … (${text.length - longest} more characters)`;
}

/** Control characters, line separators, and what is invisible or turns text round; emoji keep their joiners and marks. */
const acting = /(?![\u200d\ufe0e\ufe0f])[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

const escapeLine = (text: string): string =>
  text.replace(acting, (mark) => {
    const hex = (mark.codePointAt(0) ?? 0).toString(16);
    return (
      { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[mark] ?? (hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`)
    );
  });

function entriesOf(fact: Fact): readonly Entry[] {
  switch (fact.type) {
    case "run.started":
      return [
        ["SESSION", `run ${fact.run}, pai ${fact.pai}, ${fact.mode}, ${fact.model.id}, in ${fact.root}`],
        ["USER", fact.task.text],
      ];
    case "plan":
      return planEntries(fact);
    case "amendment":
      return [["AMENDED", renderAmendment(fact)]];
    case "call":
      return [["CALL", renderCall(fact)]];
    case "decision":
      return [["DECISION", renderDecision(fact)]];
    case "look":
      return [["OUTPUT", `${fact.action} ${fact.code === null ? "" : `${fact.code}: `}${fact.text}`]];
    case "changes":
      return changedEntries(fact.error === null ? "applied" : `failed (${fact.error.message})`, fact.changes);
    case "command":
      return commandEntries(fact);
    case "rolled_back":
      return [
        ...fact.restored.map((path): Entry => ["CHANGE", `rolled back: ${path}`]),
        ...fact.left.map((path): Entry => ["CHANGE", `changed by somebody else, and left: ${path}`]),
      ];
    case "check":
      return [["CHECK", renderCheck(fact)]];
    case "run.finished":
      return outcomeEntries(fact.outcome);
    case "context.sent":
    case "ranking":
    case "repository":
    case "cached":
    case "memory":
    case "sandbox":
      return [];
  }
}

function renderCall({ purpose, model, bytes, served, key, usage, stop, error }: FactOf<"call">): string {
  const sent = `${purpose} to ${model}, ${bytes} bytes`;
  if (error !== null) return `${sent}: ${error.code}: ${error.message}`;
  const { input = 0, cached = 0, output = 0, thought = 0 } = usage ?? {};
  const tokens = `${input} tokens in (${cached} cached), ${output} out (${thought} thought)`;
  return `${sent}: ${stop ?? "cut off"}, ${tokens}, served by ${served ?? "nobody"}, key ${key ?? "none"}`;
}

function renderDecision({ kind, accept, by, reason, feedback }: FactOf<"decision">): string {
  const why = [reason, feedback ?? ""].filter((text) => text !== "").join("; ");
  return `${kind} ${accept ? "accepted" : "declined"} by ${by}${why === "" ? "" : `: ${why}`}`;
}

const changedEntries = (what: string, changes: readonly ChangedPath[]): readonly Entry[] =>
  changes.map(({ path, from, before, after }): Entry => {
    const op = after === null ? "delete" : from !== null ? `move from ${from}` : before === null ? "create" : "modify";
    return ["CHANGE", `${what}: ${op} ${path}`];
  });

function commandEntries({ command, exit, timedOut, ms, output, changes, error }: FactOf<"command">): readonly Entry[] {
  const ended = error === null ? (timedOut ? "timed out" : `exit ${exit ?? "unknown"}`) : error.message;
  return [
    ["COMMAND", `${ended}, ${ms} ms: ${command}${output === "" ? "" : `: ${output}`}`],
    ...changedEntries("by command", changes),
  ];
}

function renderAmendment({ action, path, destination, why, accept, by }: FactOf<"amendment">): string {
  const what = `${action} ${path}${destination === null ? "" : ` to ${destination}`}`;
  return `${accept ? "accepted" : "refused"} by ${by}: ${what}${why === "" ? "" : ` - ${why}`}`;
}

function renderCheck({ passed, exit, ms, when, command }: FactOf<"check">): string {
  const result = passed === null ? "not run" : passed ? "passed" : "failed";
  return `${result}${exit === null ? "" : `, exit ${exit}`}, ${ms} ms, ${when} the change: ${command}`;
}

function planEntries({ plan, cached, promise }: FactOf<"plan">): readonly Entry[] {
  const { steps = [], checks = [] } = plan.execution_plan ?? {};
  const calls = `${promise.expected} calls expected, at most ${promise.at_most}, ${promise.tokens ?? "unknown"} tokens`;
  return [
    ["PLAN", `${plan.intent}${cached ? " (cached)" : ""}, ${calls}: ${plan.reply}`],
    ...factEntries(plan),
    ...steps.map((step): Entry => {
      const to = step.destination === null ? "" : ` to ${step.destination}`;
      return ["STEP", `${step.step_number}. ${step.action} ${step.target}${to} - ${step.purpose}`];
    }),
    ...checks.map((check): Entry => ["STEP", `check: ${check}`]),
  ];
}

function factEntries({ analysis, execution_plan: work, intelligence_notes: notes }: Plan): readonly Entry[] {
  const facts: readonly (readonly [string, string | readonly string[] | undefined])[] = [
    ["INTENT", analysis?.user_intent],
    ["WHERE", analysis?.target_identification],
    ["READS", analysis?.files_to_read],
    ["CREATES", analysis?.files_to_create],
    ["MODIFIES", analysis?.files_to_modify],
    ["DELETES", analysis?.files_to_delete],
    ["RISK", analysis?.risk_assessment],
    ["CRITERIA", analysis?.success_criteria],
    ["COMPLEXITY", notes?.complexity_assessment],
    ["TIME", notes?.estimated_time],
    ["CHALLENGES", notes?.key_challenges],
    ["ADVICE", notes?.recommendations],
    ["FALLBACK", work?.fallback_strategies],
  ];
  return facts.flatMap(([kind, said = ""]): readonly Entry[] => {
    const text = typeof said === "string" ? said : said.join("; ");
    return text.trim() === "" ? [] : [[kind, text]];
  });
}

function outcomeEntries(outcome: FactOf<"run.finished">["outcome"]): readonly Entry[] {
  const { error } = outcome;
  const used = `${outcome.calls.sent ?? outcome.calls.made} calls of at most ${outcome.calls.at_most}`;
  const tokens = `${outcome.usage.input + outcome.usage.output} tokens`;
  const score = outcome.score === null ? "" : `, score ${outcome.score}`;
  const cost = outcome.cost === null ? "cost unknown" : `${outcome.cost.toFixed(4)} USD`;
  const { done, failed, refused } = outcome.actions;
  const actions = `actions ${done} done, ${failed} failed, ${refused} refused`;
  return [
    ...(outcome.text === "" ? [] : [["REPLY", outcome.text] as const]),
    ...outcome.changes.map(({ op, path, from, added, deleted, by }): Entry => {
      const how = `${from === null ? "" : ` from ${from}`} +${added} -${deleted}${by === "command" ? " by command" : ""}`;
      return ["CHANGE", `kept: ${op} ${path}${how}`];
    }),
    ...(error === null ? [] : [["ERROR", `${error.code}: ${error.message}`] as const]),
    ...outcome.refused.map(({ action, target, why }): Entry => ["REFUSED", `${action} ${target}: ${why}`]),
    ...(outcome.skipped ?? []).map(({ target, why }): Entry => ["SKIPPED", `${target}: ${why}`]),
    ...(outcome.undone ?? []).map(({ action, target, why }): Entry => ["UNDONE", `${action} ${target}: ${why}`]),
    ...(outcome.stays === undefined ? [] : [["STAYS", renderStays(outcome.stays)] as const]),
    [
      "STATUS",
      `${outcome.status}, exit ${outcome.code}, ${used}, ${tokens}, ${cost}${score}, ${actions}, ${outcome.ms} ms`,
    ],
    ...outcome.next.map((next): Entry => ["SUGGESTION", next]),
  ];
}

function renderStays({ count, paths }: NonNullable<Outcome["stays"]>): string {
  const more = count > paths.length ? ` and ${count - paths.length} more` : "";
  return `changed by commands, ignored and not taken back: ${paths.join(", ")}${more}`;
}
