/** The commands that are no task, no session and no server, which are loaded together; the smallest are made here. */

import { PaiError } from "../../core/error.ts";
import type { MemoryFact } from "../../core/memory.ts";
import { reviewSchema } from "../../core/review.ts";
import { describe } from "../../core/schemas.ts";
import { type Memory, openMemory } from "../../store/memory.ts";
import { describeSettings } from "../../store/settings-schema.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { showResult } from "../answer-document.ts";
import { chooseWord } from "../choose-word.ts";
import type { Context } from "../command.ts";
import { hideKnown } from "../compose/base.ts";
import { type Here, openHere } from "../compose/compose-task.ts";
import { makeFact } from "../remember.ts";
import { completionCommand } from "./completion.ts";
import { configCommand, keyCommand } from "./config.ts";
import { contextCommand } from "./context.ts";
import { demoCommand } from "./demo.ts";
import { doctorCommand } from "./doctor.ts";
import { historyCommand, reverse } from "./history.ts";
import { modelsCommand } from "./models.ts";
import { replayCommand } from "./replay.ts";
import { applyCommand } from "./task.ts";
import { trustCommand } from "./trust.ts";
import { uninstallCommand } from "./uninstall.ts";

export const small = {
  apply: applyCommand,
  completion: completionCommand,
  config: configCommand,
  context: contextCommand,
  demo: demoCommand,
  doctor: doctorCommand,
  history: historyCommand,
  key: keyCommand,
  memory: memoryCommand,
  models: modelsCommand,
  redo: (context: Context) => reverse(context, "redo"),
  replay: replayCommand,
  schema: schemaCommand,
  trust: trustCommand,
  undo: (context: Context) => reverse(context, "undo"),
  uninstall: uninstallCommand,
} as const;

const names = ["plan", "json", "jsonl", "config", "review"] as const;

export async function schemaCommand(context: Context): Promise<number> {
  const name = chooseWord("schema", context.words, names);
  const schema = name === "config" ? describeSettings() : name === "review" ? reviewSchema : describe(name);
  return showResult(context, "schema", schema, `${JSON.stringify(schema, null, 2)}\n`);
}

const renderFact = ({ id, at, run, pending, text }: MemoryFact): string =>
  `${id}  ${at.slice(0, 10)}  ${(pending ? "pending" : run === null ? "by you" : "kept").padEnd(7)}  ${visibleLine(text)}\n`;

function carryOut({ base, workspace: { root } }: Here, memory: Memory) {
  const { context } = base;
  const [verb = "list", id, ...words] = context.words;
  const factOf = (text: string) => makeFact(root, hideKnown(base, root, text), context.now());
  const say = (what: string, facts: readonly MemoryFact[]) => ({ facts, text: what + facts.map(renderFact).join("") });
  const chosen = chooseWord("memory", [verb], ["list", "accept", "drop", "edit", "add"]);
  if (chosen === "list") {
    const facts = memory.list();
    return say(facts.length === 0 ? "nothing is remembered of this project\n" : "", facts);
  }
  if (id === undefined)
    throw new PaiError("usage", `pai memory ${chosen} needs ${chosen === "add" ? "a text" : "an id"}`);
  const text = words.join(" ");
  if (chosen === "add") {
    const added = memory.add([factOf([id, ...words].join(" "))]);
    return say(added.length === 0 ? "that is known already\n" : "kept: ", added);
  }
  if (chosen === "edit" && text === "") throw new PaiError("usage", "pai memory edit needs an id and a text");
  const accept = (fact: MemoryFact): MemoryFact => ({ ...fact, pending: false });
  if (chosen === "accept" && id === "all") {
    const facts = memory.list().filter(({ pending }) => pending);
    const done = facts.map((fact) => memory.change(fact.id, accept));
    return { facts: done, text: `${done.length} accepted\n` };
  }
  const edits = { accept, drop: () => null, edit: (fact: MemoryFact) => ({ ...factOf(text), id: fact.id }) };
  const said = { accept: "accepted: ", drop: "dropped: ", edit: "kept: " };
  return say(said[chosen], [memory.change(id, edits[chosen])]);
}

export async function memoryCommand(context: Context): Promise<number> {
  const here = await openHere(context);
  const { stateFolder } = here;
  if (stateFolder === null) throw new PaiError("failed", "nothing is kept here, so nothing can be remembered");
  const { facts, text } = carryOut(here, openMemory(stateFolder));
  return showResult(context, "memory", { facts }, text);
}
