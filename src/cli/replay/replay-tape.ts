/** Plays a receipt back in order: replies of the model, decisions, results of commands. */

import type { SandboxState } from "../../core/command/sandbox.ts";
import type { Term } from "../../core/context/words.ts";
import { type Failure, PaiError } from "../../core/error.ts";
import type { ProjectMemory } from "../../core/memory.ts";
import { type Json, type Model, type ModelEvent, type ModelRequest, noUsage } from "../../core/model.ts";
import type { PlanCache } from "../../core/ports.ts";
import type { Decision, Question } from "../../core/question.ts";
import { type Fact, type FactOf, factsOf } from "../../core/receipt.ts";
import { blankSecrets } from "../../core/secrets/veil.ts";
import { describeRequest, keyOfTerms } from "../../store/recorder.ts";

export type ReplayTape = ReturnType<typeof playTape>;

const noSandbox: SandboxState = { level: null, choice: "off", text: "none", why: null, proposes: false };

const toError = ({ code, message, hint, retry_after }: Failure) =>
  new PaiError(code, message, { hint, retryAfter: retry_after });

const sameInput = (a: Json, b: Json) => blankSecrets(JSON.stringify(a)) === blankSecrets(JSON.stringify(b));

/** Facts that the replay learns are not kept. */
function memoryOf(said: readonly FactOf<"memory">[]): ProjectMemory | null {
  const [first] = said;
  if (first === undefined) return null;
  const left = [...said];
  return { recall: async () => (left.shift() ?? first).text, learn: first.learns ? async () => [] : null };
}

/** Plays the facts back in order. Where they run out, it throws the error with which the recorded run ended. */
export function playTape(facts: readonly Fact[], started: FactOf<"run.started">) {
  const ended = factsOf(facts, "run.finished").at(-1)?.outcome.error ?? null;
  /** The first difference of the replay from the recorded run, in words; null: none. */
  let difference: string | null = null;

  const differ = (why: string) => {
    difference ??= why;
  };
  const runOut = (what: string): never => {
    differ(`it needs ${what} that the receipt does not contain`);
    throw ended === null
      ? new PaiError("failed", `the receipt ends before ${what} that the replay needs`)
      : toError(ended);
  };
  const queueOf = <T extends Fact["type"]>(type: T, what: string) => {
    const left = [...factsOf(facts, type)];
    /** Removes and returns the first fact that matches the first predicate, otherwise the next one, and so on. */
    return (...wanted: readonly ((fact: FactOf<T>) => boolean)[]): FactOf<T> => {
      const at = wanted.map((fits) => left.findIndex(fits)).find((index) => index >= 0) ?? -1;
      return left.splice(at < 0 ? left.length : at, 1)[0] ?? runOut(what);
    };
  };

  const nextCall = queueOf("call", "a reply");
  const nextDecision = queueOf("decision", "a decision");
  const nextChanges = queueOf("changes", "a change");
  const nextCommand = queueOf("command", "a command");
  const cached = [...factsOf(facts, "cached")];
  const repositories = [...factsOf(facts, "repository")];
  const looks = [...factsOf(facts, "look")];
  const rankings = [...factsOf(facts, "ranking")];
  let asked = 0;
  const why = started.task.earlier > 0 ? "it went on from earlier tasks of its session" : "the project has changed";

  async function* stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    asked += 1;
    const { sha256 } = describeRequest(request);
    // Helpers that explored at the same time were recorded in the order in which they ended.
    const call = nextCall(
      (fact) => fact.purpose === request.purpose && fact.sha256 === sha256,
      ({ purpose }) => purpose === request.purpose,
    );
    if (sha256 !== call.sha256) differ(`request ${asked} (${request.purpose}) differs: ${why}`);
    if (call.text !== "") yield { type: "text", text: call.text };
    for (const each of call.calls) yield { type: "call", call: each };
    if (call.error !== null) throw toError(call.error);
    const { stop, usage, served, key } = call;
    if (stop === null) return;
    yield { type: "done", stop, usage: usage ?? noUsage, served: served ?? "", key, native: null };
  }

  const modelOf = (id: string): Model => ({
    ...started.model,
    id,
    provider: id.split(":", 1)[0] ?? "",
    name: id.slice(id.indexOf(":") + 1),
    address: null,
    stream,
  });
  const [, forPlan = "", forWork = ""] = /^plan=(.+),work=(.+)$/.exec(started.model.id) ?? [];
  const parts = forPlan === "" ? {} : { parts: { plan: modelOf(forPlan), work: modelOf(forWork) } };

  return {
    model: {
      ...modelOf(started.model.id),
      ...parts,
    },
    async decide({ kind }: Question): Promise<Decision> {
      const { accept, by, reason, feedback, review = false } = nextDecision((fact) => fact.kind === kind);
      return accept ? { accept, by, reason, review } : { accept, by, reason, feedback };
    },
    /** Called when changes are applied; throws the error of the recorded application, if any. */
    nextApply() {
      const { error } = nextChanges(() => true);
      if (error !== null) throw toError(error);
    },
    nextCommand(command: string) {
      const fact = nextCommand((each) => blankSecrets(each.command) === blankSecrets(command));
      if (fact.error !== null) throw toError(fact.error);
      return fact;
    },
    /** The recorded result of a look; null: the receipt has none for this input. */
    nextLook(action: string, input: Json) {
      const at = looks.findIndex((fact) => fact.action === action && sameInput(fact.input, input));
      return at < 0 ? null : (looks.splice(at, 1)[0] ?? null);
    },
    /** The branch as recorded in the next request; "": none. */
    nextRepository: () => repositories.shift()?.text ?? "",
    planCache: {
      load: () => cached.shift()?.plan ?? null,
      save() {},
    } satisfies PlanCache,
    memory: memoryOf(factsOf(facts, "memory")),
    sandbox: factsOf(facts, "sandbox").at(0)?.state ?? noSandbox,
    /** The ranking of the next request; null: the receipt has none for these terms. */
    nextRanking(terms: readonly Term[]) {
      const at = rankings.findIndex(({ key }) => key === keyOfTerms(terms));
      return at < 0 ? null : (rankings.splice(at, 1)[0] ?? null);
    },
    /** Paths that the recorded run could not undo. */
    left: factsOf(facts, "rolled_back").at(-1)?.left ?? [],
    get difference() {
      return difference;
    },
  };
}
