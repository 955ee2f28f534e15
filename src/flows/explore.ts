/** explore: a read-only child conversation of the tool-loop; its calls count like any other. */
import type { AnyAction } from "../core/action.ts";
import type { Message, Tool } from "../core/model.ts";
import { ask } from "./ask.ts";
import { noteAnswer } from "./evidence.ts";
import { perform } from "./perform.ts";
import explorePrompt from "./prompts/explore.md" with { type: "text" };
import type { Run } from "./run.ts";

const mostTurns = 30;
const toolNames: ReadonlySet<string> = new Set(["glob", "grep", "ls", "read"]);

/** An action as models are offered it. */
export const toTool = ({ tool, about, toolSchema }: AnyAction): Tool => ({
  name: tool,
  description: about,
  schema: toolSchema(),
});

/** The child's answer; at the end of its turns what it found so far. */
export async function explore(run: Run, task: string, actions: readonly AnyAction[]): Promise<string> {
  const looks = actions.filter(({ tool }) => toolNames.has(tool));
  const byTool = new Map(looks.map((action) => [action.tool, action]));
  const tools = looks.map(toTool);
  const found: string[] = [];
  let messages: readonly Message[] = [{ role: "user", text: task }];
  for (let turn = 1; turn <= mostTurns && !run.ledger.exhausted; turn += 1) {
    const reply = await ask(run, { purpose: "explore", system: explorePrompt, messages, tools, format: null });
    if (reply.text.trim() !== "") found.push(reply.text.trim());
    if (reply.calls.length === 0 && reply.stop === "length") break;
    if (reply.calls.length === 0) return reply.text;
    const calls = reply.calls.flatMap((call) => {
      const action = byTool.get(call.name.toLowerCase());
      return action === undefined ? [] : [{ id: call.id, name: action.name, input: action.fromTool(call.input) }];
    });
    const { reports } = await perform(run, calls, null);
    for (const report of reports) await noteAnswer(run, report);
    const byId = new Map(reports.map((report) => [report.id, report]));
    const results = reply.calls.map(({ id, name }) => {
      const report = byId.get(id);
      return {
        id,
        name,
        ok: report?.ok ?? false,
        text: report?.text ?? `there is no tool ${name} here; there are ${[...byTool.keys()].join(", ")}`,
      };
    });
    messages = [
      ...messages,
      { role: "assistant", text: reply.text, calls: reply.calls, native: reply.native },
      { role: "tools", results },
    ];
  }
  return `(ended before it was finished)\n${found.join("\n\n")}`;
}
