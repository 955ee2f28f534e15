/** Reads a first answer that may be the work itself: what it is, the files that it names, and the plan that it amounts to. Pure. */
import { readJson } from "../json.ts";
import type { Json } from "../model.ts";
import type { Script, ScriptAction } from "../script/script.ts";
import { type PlanAction, rowOf } from "../vocabulary.ts";
import { type Plan, type PlanStep, planOf } from "./plan.ts";

/** What a script may have that is done at once; a larger one counts as a plan. */
export const atOnceBounds = { paths: 5, lines: 300 } as const;
/** New lines that the prompt asks for, with a person who waits for the diff and without one. */
export const linesWanted = { person: 150, headless: 300 } as const;

/** How often the first answer is the work: as the task allows, never, or also where only parts of the project are shown. */
export const atOnceChoices = ["auto", "never", "always"] as const;
export type AtOnceChoice = (typeof atOnceChoices)[number];

const asksToPlan = (text: string): boolean => /^[\s>*_`#"'.:]*PLAN[\s*_`"'.!:]*$/m.test(text);

const filesLine = /^[\s>*_`#-]*FILES\b[*_`\s]*:[*_`]*[ \t]*(.*)$/im;

function before(text: string, actions: readonly ScriptAction[]): string {
  const first = actions[0]?.line ?? Number.POSITIVE_INFINITY;
  return text
    .split(/\r?\n/)
    .slice(0, Math.max(0, first - 1))
    .join("\n");
}

/** The paths in the FILES line, as they are written; none: there is no such line. */
export function filesNamed(text: string, actions: readonly ScriptAction[]): readonly string[] {
  const [, list = ""] = filesLine.exec(before(text, actions)) ?? [];
  const paths = list.split(/[,;]|\s+(?:and|dan)\s+/).map((each) =>
    each
      .trim()
      .replace(/^[`*"'[(]+|[`*"'\]).]+$/g, "")
      .replace(/^\.\//, ""),
  );
  return [
    ...new Set(paths.filter((path) => path !== "" && !/\s/.test(path) && /[./\w]/.test(path) && path !== "none")),
  ];
}

/** The sentences before the first action, without the FILES line, fences and a plan in JSON; "": there are none. */
export function saidBefore(text: string, actions: readonly ScriptAction[]): string {
  const prose = before(text, actions)
    .replace(filesLine, "")
    .replace(/```\w*\s*\{[\s\S]*?\n```|^\s*\{[\s\S]*\}\s*$/gm, "")
    .replace(/^\s*```.*$/gm, "");
  return prose.trim().length > 1_000 ? "" : prose.trim();
}

export type FirstAnswer =
  | { readonly kind: "script" }
  | { readonly kind: "answer"; readonly text: string; readonly next: readonly string[] }
  | { readonly kind: "looks" }
  | { readonly kind: "json"; readonly value: Json }
  | { readonly kind: "plan" }
  /** Nothing of these; `why` is a clause for the model. */
  | { readonly kind: "unclear"; readonly why: string };

/** `seen`: what a reply without actions holds instead, as words after "it held"; "": only prose. */
export function readFirstAnswer({ actions }: Script, text: string, seen: string): FirstAnswer {
  const kinds = new Set(actions.map(({ cmd }) => rowOf(cmd)?.kind));
  if (kinds.has("change") || kinds.has("command")) return { kind: "script" };
  if (kinds.has("look")) return { kind: "looks" };
  const finish = actions.find(({ cmd }) => cmd === "FINISH");
  if (finish?.arg && !kinds.has("skip")) return { kind: "answer", text: finish.arg, next: finish.next ?? [] };
  const json = readJson(text);
  if (json.ok) return { kind: "json", value: json.value };
  if (asksToPlan(text)) return { kind: "plan" };
  return { kind: "unclear", why: `it held ${seen === "" ? "no action" : seen}` };
}

function placeOf({ cmd, path = "", to, arg = "" }: ScriptAction): Pick<PlanStep, "target" | "destination"> {
  if (rowOf(cmd)?.form === "lines")
    return { target: arg.trim() === "" ? path : `${path}:${arg.trim()}`, destination: null };
  return { target: path === "" ? arg.trim() : path, destination: to ?? null };
}

/** The plan of a script's actions, of the files that it names and leaves, and its CHECK lines. `reply`: its words before them. */
export function planOfScript(
  script: Script,
  reply: string,
  { made, edited }: Readonly<Record<"made" | "edited", readonly string[]>> = { made: [], edited: [] },
): Plan {
  const places = new Map<string, Pick<PlanStep, "action" | "target" | "destination">>();
  for (const action of script.actions) {
    const row = rowOf(action.cmd);
    if (row === null || !["look", "change", "command"].includes(row.kind) || action.partial === true) continue;
    const step = { action: row.name as PlanAction, ...placeOf(action) };
    places.set(`${step.action} ${step.target} ${step.destination ?? ""}`, step);
  }
  const edits = edited.map((target) => ({ action: "MODIFY", target, destination: null }) as const);
  const writes = made.map((target) => ({ action: "WRITE", target, destination: null }) as const);
  const steps = [...places.values(), ...edits, ...writes];
  const checks = script.actions.flatMap(({ cmd, arg = "" }) => (rowOf(cmd)?.kind === "check" ? [arg.trim()] : []));
  const complexity = steps.length > atOnceBounds.paths ? "moderate" : "simple";
  return planOf({ reply, analysis: null, steps, checks: [...new Set(checks)], complexity });
}

export const linesWritten = ({ actions }: Script): number =>
  actions.reduce((sum, { body = "", blocks = [], cmd }) => {
    const texts = cmd === "FINISH" ? [] : [body, ...blocks.map(({ replace }) => replace)];
    return sum + texts.reduce((lines, each) => lines + (each === "" ? 0 : each.split("\n").length), 0);
  }, 0);

/** Actions that may be done at once; with any other the script counts as a plan. */
export const doneAtOnce: ReadonlySet<string> = new Set(["WRITE", "MODIFY", "MKDIR", "TOUCH"]);
