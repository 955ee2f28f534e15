/** Which parts of a file are shown when there is not room for all. */
import { expect, test } from "bun:test";
import { chooseExcerpts } from "../../../src/core/context/excerpts.ts";
import { termsOf } from "../../../src/core/context/words.ts";

const body = (name: string, lines: number) =>
  [
    `def ${name}():`,
    ...Array.from({ length: lines }, (_, at) => `    step_${at} = compute_the_next_value(${at})`),
  ].join("\n");

test("of two definitions with the same words the shorter one is shown", () => {
  const far = Array.from({ length: 3 }, (_, at) => body(`other_${at}`, 28));
  const text = [body("round_price", 28), ...far, body("round_total", 6), ...far].join("\n");
  const terms = termsOf("round the amounts");
  const ranked = { path: "shop.py", score: 1, signal: null };
  const [shown] = chooseExcerpts([{ ranked, text }], { terms, values: terms.map(() => 1) }, 1_900);
  expect(shown?.text).toContain("def round_total");
  expect(shown?.text).not.toContain("def round_price");
});
