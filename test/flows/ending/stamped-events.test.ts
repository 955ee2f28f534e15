/** Every event is numbered, dated and free of the keys that pai holds, however a model cuts them. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { RunEvent, StampedEvent } from "../../../src/core/event.ts";
import { spellingsOf } from "../../../src/core/secrets/known-texts.ts";
import { createVeil } from "../../../src/core/secrets/veil.ts";
import { createStamper } from "../../../src/flows/run-task.ts";
import { expectCpu } from "../../core/cpu-time.ts";
import { everyEvent } from "../../every-event.ts";

const delta = (text: string, channel: "reply" | "thought" = "reply"): RunEvent =>
  ({ type: "model.delta", n: 1, channel, text }) as const;
const phase: RunEvent = { type: "phase.started", phase: 1, of: 1 };

function stamp(events: readonly RunEvent[], keys: readonly string[]): readonly StampedEvent[] {
  const stamped: StampedEvent[] = [];
  const secrets = createVeil({ part: "k3f9", known: keys });
  const emit = createStamper({ id: "r1", now: () => new Date(0), sink: (event) => stamped.push(event), secrets });
  for (const event of events) emit(event);
  return stamped;
}

const textOf = (events: readonly StampedEvent[]) =>
  events.map((event) => (event.type === "model.delta" ? event.text : "")).join("");

test("property: a key that arrives in pieces is masked as if it came whole", () => {
  const key = fc.string({ minLength: 16, maxLength: 60, unit: "grapheme-ascii" });
  const around = fc.string({ maxLength: 20 });
  const lengths = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 });
  fc.assert(
    fc.property(key, around, around, lengths, (secret, before, after, cuts) => {
      fc.pre(new Set(secret).size > 6 && !/^[a-z]{1,15}$/i.test(secret));
      for (const whole of [secret, Buffer.from(secret).toString("hex"), btoa(secret)]) {
        const text = before + whole + after;
        const pieces: RunEvent[] = [];
        for (let at = 0, cut = 0; at < text.length; cut += 1) {
          const length = cuts[cut % cuts.length] ?? 1;
          pieces.push(delta(text.slice(at, at + length)));
          at += length;
        }
        const stamped = stamp([...pieces, phase], [secret]);
        expect(textOf(stamped)).not.toContain(secret);
        expect(textOf(stamped)).toBe(createVeil({ part: "k3f9", known: [secret] }).show(text));
        expect(stamped.map(({ seq }) => seq)).toEqual(stamped.map((_, at) => at + 1));
      }
    }),
  );
});

test("only whole words go out, and the first piece waits for the next event; no channel waits for another", () => {
  const pieces = [delta("see my"), delta("-own li"), delta("st now"), delta("no", "thought"), delta(" way"), phase];
  expect(
    stamp(pieces, ["my-secret-value-123"]).map((event) =>
      event.type === "model.delta" ? `${event.channel}:${event.text}` : event.type,
    ),
  ).toEqual(["reply:see my-own ", "reply:list ", "reply:now", "thought:no", "reply: way", "phase.started"]);
  expect(stamp([delta("see my"), phase], []).length).toBe(2);
});

test("what looks like a key is masked, also where the stream cuts it in two, and no text is lost", () => {
  const key = `AIza${"Sy0123456789abcdefghijklmnopqrstuvw"}`;
  const pieces = ["the key is ", key.slice(0, 9), key.slice(9, 20), `${key.slice(20)} so`, " keep it"];
  expect(textOf(stamp([...pieces.map((text) => delta(text)), phase], []))).toBe("the key is AIza…[masked] so keep it");
});

test("a word of a megabyte takes no time, in one piece or in many", () => {
  const word = "x".repeat(1_000_000);
  for (const size of [40, word.length]) {
    const pieces = ["a ", ...(word.match(new RegExp(`.{1,${size}}`, "g")) ?? []), " b"];
    const deltas = pieces.map((text) => delta(text));
    expectCpu(3000, () => expect(textOf(stamp([...deltas, phase], []))).toBe(`a ${word} b`));
  }
});

test("a key that thoughts cut is masked, and so is one in the thoughts", () => {
  const key = "my-secret-value-123";
  const [first, second] = ["it is my-secret", "-value-123!"];
  const cut = [delta(first), delta(first, "thought"), delta(second), delta(second, "thought"), phase];
  const stamped = stamp(cut, [key]).filter((event) => event.type === "model.delta");
  for (const channel of ["reply", "thought"])
    expect(textOf(stamped.filter((event) => event.channel === channel))).toBe("it is <<SECRET_k3f9_1>>!");
});

test("of no event is any text left out, in whatever spelling a secret is written", () => {
  const secret = "Zx9kQ2mR7tL/p4VwA8+sNd";
  const key = "AIzaSyOwn-7Kq2Zr9Wm4Xt6Vb1Nf8Hd3Jg5";
  const secrets = createVeil({ known: [key] });
  secrets.hide(`db_password = '${secret}'`);
  const sent: StampedEvent[] = [];
  const emit = createStamper({ id: "r", now: () => new Date(0), sink: (event) => void sent.push(event), secrets });
  const spelled = [...spellingsOf(secret), ...spellingsOf(key)];
  for (const event of everyEvent(`a ${spelled.join(" b ")} c`)) emit(event);
  const texts = sent.map((event) => JSON.stringify(event));
  expect(sent.length).toBeGreaterThan(35);
  for (const text of texts) {
    expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
    for (const spelling of spelled) expect(text).not.toContain(spelling);
  }
});
