/** Asks the questions of a run in the editor; each approval is for one time. */
import type { PermissionOption, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { PaiError } from "../core/error.ts";
import { type Plan, workOf } from "../core/plan/plan.ts";
import type { Decide, Decision, Question } from "../core/question.ts";
import { rowOf } from "../core/vocabulary.ts";
import { asBlock } from "./door.ts";
import type { EditorFace } from "./face.ts";

export interface AskEditorOptions {
  readonly face: EditorFace;
  readonly spell: (text: string, isCommand: boolean) => string;
  /** Asks the person; true: yes, null: the turn was cancelled instead. Rejects when the editor has gone. */
  readonly permit: (toolCall: ToolCallUpdate, options: PermissionOption[]) => Promise<boolean | null>;
  /** Reads a file as the editor has it; null: the editor cannot tell. */
  readonly readBuffer: ((path: string) => Promise<string | null>) | null;
  readonly readText: (path: string) => Promise<string | null>;
  readonly signal: AbortSignal;
}

const options: PermissionOption[] = [
  { optionId: "yes", name: "Yes, this once", kind: "allow_once" },
  { optionId: "no", name: "No, leave everything as it is", kind: "reject_once" },
];

const shownOnly: Decision = {
  accept: true,
  by: "policy",
  reason: "the plan is only shown; each change is asked about",
};

/** Whether a plan runs commands: it is then asked about as a whole, since no later question shows them. */
const runsCommands = (plan: Plan | null): boolean =>
  plan !== null &&
  ((plan.execution_plan?.checks.length ?? 0) > 0 ||
    workOf(plan).some(({ action }) => rowOf(action)?.kind === "command"));

/** Throws conflict for a file with changes that the editor has not saved. */
export async function refuseUnsaved(
  paths: readonly string[],
  { readBuffer, readText }: Pick<AskEditorOptions, "readBuffer" | "readText">,
): Promise<void> {
  if (readBuffer === null) return;
  const unsaved: string[] = [];
  for (const path of paths) {
    const [buffer, disk] = await Promise.all([readBuffer(path).catch(() => null), readText(path).catch(() => null)]);
    if (buffer !== null && disk !== null && toLines(buffer) !== toLines(disk)) unsaved.push(path);
  }
  if (unsaved.length === 0) return;
  throw new PaiError("conflict", `not saved in the editor: ${unsaved.join(", ")}`, {
    hint: "save or revert these files, then ask again; nothing was changed",
  });
}

/** The text without what editors leave out: byte order mark, last line ending, carriage returns. */
const toLines = (text: string) =>
  text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .replace(/\n$/, "");

export function decideByEditor(editor: AskEditorOptions): Decide {
  const { face, permit, spell, signal } = editor;
  let asked = 0;

  async function ask(toolCall: ToolCallUpdate): Promise<Decision> {
    await face.shown();
    signal.throwIfAborted();
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => {});
    const onAbort = () => ended.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const answer = await Promise.race([permit(toolCall, options), ended.promise]);
      if (answer === null) throw new PaiError("interrupted", "interrupted");
      if (answer) return { accept: true, by: "user", reason: "yes" };
      return { accept: false, by: "user", reason: "no", feedback: null };
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async function askInWords({ kind, text, diff }: Question): Promise<Decision> {
    asked += 1;
    const [title = ""] = text.split("\n");
    const shown = asBlock(spell(text, kind === "command"));
    return ask({
      toolCallId: `question-${asked}`,
      title,
      kind: kind === "command" || kind === "plan" ? "execute" : "edit",
      status: "pending",
      content: [
        {
          type: "content",
          content: { type: "text", text: diff === undefined ? shown : `${shown}\n\n${asBlock(diff, "diff")}` },
        },
      ],
    });
  }

  return async (question) => {
    switch (question.kind) {
      case "plan":
        return runsCommands(face.plan()) ? askInWords(question) : shownOnly;
      case "keep":
        return { accept: false, by: "policy", reason: "a failed run is taken back", feedback: null };
      case "batch": {
        await face.shown();
        const batch = face.batch();
        if (batch === null) return askInWords(question);
        const changed = batch.changes.filter(({ op }) => op !== "create" && op !== "mkdir");
        await refuseUnsaved(
          changed.map(({ from, path }) => from ?? path),
          editor,
        );
        return ask(batch.toolCall);
      }
      default:
        return askInWords(question);
    }
  };
}
