/** A run on the screen and in pipes: order, streams, and nothing that acts on the terminal. */
import { expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import { events, failed, outcome, plan, promise, show, stamp, styleOf, watch } from "../fixture.ts";

test("a whole run at 80 columns, in the order of a task", () => {
  expect(show(true).screen).toMatchInlineSnapshot(`
    "planning with gemini:gemini-3.5-flash-lite …

    Saya pindahkan rumusnya ke src/lib/area.py, lalu saya periksa.

    ✓ READ src/main.py  2 lines
        1 │ from math import pi
        2 │ print(pi)

    risk  Low: one import changes, the printed value stays the same

    step  action  target                            purpose
    ────  ──────  ────────────────────────────────  ────────────────────────────────
       1  READ    src/main.py                       See how the formula is used
                                                    today
       2  WRITE   src/lib/a/very/deep/folder/       The formula in one place
                  area_of_things.py
       3  MODIFY  src/資料/main.py                  面積の計算式を共有モジュールから
                                                    取り込むように変更する

    creates  src/lib/area.py
    checks   python -m py_compile src/main.py
             pytest -q
    calls    expected 2, at most 3 calls, about 1,900 tokens

    working with gemini:gemini-3.5-flash-lite …
    ! the provider is busy (503): trying again in 2 s
    ✓ WRITE src/lib/area.py  new file, 5 lines
    ✗ MODIFY src/main.py  search text not found

    ● src/main.py  +1 -1
        1 - from math import pi
        1 + from lib.area import area
        2   print("\\x1b]52;c;aGk=\\x07")

    ✓ applied 2 changes
    ✗ check pytest -q  exit 1, 0.8 s
      │ F
      │ assert 1 == 2
    ✓ check pytest -q  exit 0, 0.8 s

    Rumusnya sekarang ada di src/lib/area.py.

    ● create src/lib/area.py  +5
    ● modify src/main.py      +1 -1
    ✓ verified by 1 check

    next steps
      1. Tambahkan tes untuk area()
      2. Type the arguments

    2 calls (expected 2, at most 3), 3,168 tokens, price unknown, 0.0 s
    undo with: pai undo
    "
  `);
});

test("at 60 and 120 columns the lines of the run fit", () => {
  for (const columns of [60, 120]) {
    const widths = show(true, { columns: () => columns })
      .screen.split("\n")
      .map((line) => Bun.stringWidth(line));
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
  }
});

test("standard output holds message, files, checks, status, next steps and undo, and nothing else (R01, R29)", () => {
  expect(show(false).out).toMatchInlineSnapshot(`
    "Rumusnya sekarang ada di src/lib/area.py.

    *  create src/lib/area.py  +5
    *  modify src/main.py      +1 -1
    ok check pytest -q  exit 0, 0.8 s
    ok verified by 1 check

    next steps
      1. Tambahkan tes untuk area()
      2. Type the arguments
    undo with: pai undo
    "
  `);
});

test("the status says what the checks have shown", () => {
  const [passed] = outcome.checks;
  if (passed === undefined) throw new Error("no check");
  const failed = { ...passed, exit: 1, passed: false };
  const unverified = { ...outcome, status: "unverified" } as const;
  const status = (checks: typeof outcome.checks) =>
    /^! unverified.*$/m.exec(show(true, {}, { events, outcome: { ...unverified, checks } }).screen)?.[0];
  expect(status([])).toBe("! unverified: no check has proved this");
  expect(status([failed])).toBe("! unverified: 1 of 1 check failed");
  expect(status([passed, failed])).toBe("! unverified: 1 of 2 checks failed");
  const unjudged = { ...passed, exit: 1, passed: null, note: "perhaps the sandbox" };
  expect(status([unjudged])).toBe("! unverified: no check has proved this");
  const ended = [{ type: "check.finished", when: "after", output: "", ...unjudged } as const];
  const { screen } = show(true, {}, { events: stamp(ended), outcome: { ...unverified, checks: [unjudged] } });
  expect(screen.split("perhaps the sandbox")).toHaveLength(2);
  const untouched = { ...unverified, changes: [], checks: [passed] };
  expect(show(true, {}, { events, outcome: untouched }).screen).toMatch(/^! nothing changed; 1 check passed$/m);
});

test("-q leaves out no plan and no diff that a question is about", () => {
  const { terminal, writes } = watch({ quiet: true, columns: () => 80 });
  for (const event of events) {
    terminal.sink(event);
    if (event.type === "plan.ready" || event.type === "changes.proposed") terminal.pause();
  }
  terminal.finish(outcome);
  const shown = writes.filter((text) => text !== "\n").map((text) => /step +action|src\/main\.py/.exec(text)?.[0]);
  expect(shown).toEqual(["step  action", "src/main.py"]);
});

test("standard error without a terminal: plain ASCII, nothing redrawn (R12)", () => {
  const { err } = show(false);
  expect(err).not.toMatch(/[\x1b\r]/);
  expect(err.replaceAll(/[一-鿿぀-ヿ]/g, "")).not.toMatch(/[^\x00-\x7f]/);
  // What differs from a screen but for its signs: the plan is no table.
  expect(err).toStartWith("planning with gemini:gemini-3.5-flash-lite ...\n\nSaya pindahkan rumusnya");
  expect(err).toContain(
    "\n3  MODIFY src/資料/main.py\n   面積の計算式を共有モジュールから取り込むように変更する\n\ncreates  src/lib/area.py\n",
  );
  expect(err).toContain(
    "\n!  the provider is busy (503): trying again in 2 s\nok WRITE src/lib/area.py  new file, 5 lines\n",
  );
  expect(err).toContain(
    "\nx  check pytest -q  exit 1, 0.8 s\n    F\n    assert 1 == 2\nok check pytest -q  exit 0, 0.8 s\n",
  );
});

test("colour on one stream does not leak to the other (R12)", () => {
  const { out, err } = show(false, { style: styleOf(true, false) });
  expect(err).toContain("\x1b[32m");
  expect(out).not.toContain("\x1b");
});

test("-q leaves results on standard output and errors on standard error", () => {
  expect(show(false, { quiet: true })).toMatchObject({ err: "", out: show(false).out });
  const keyless = failed(new PaiError("no_key", "no key for gemini", { hint: "pai key set" }));
  expect(show(false, { quiet: true }, { events: [], outcome: keyless })).toMatchObject({
    err: "x  no key for gemini\n-> pai key set\n",
    out: "x  failed, nothing changed\n",
  });
});

test("a conversation streams on a screen and is not said twice; in a pipe it is the result", () => {
  const text = "Halo! Ada yang bisa saya bantu?";
  const events = stamp([
    { type: "model.delta", n: 1, channel: "reply", text: "Halo! Ada yang " },
    { type: "model.delta", n: 1, channel: "reply", text: "bisa saya bantu?" },
    { type: "plan.ready", plan: { ...plan, intent: "conversation", reply: text }, promise, cached: false },
  ]);
  const answered = { ...outcome, status: "answered", text, changes: [], checks: [], next: [] } as const;
  const footer = "2 calls (expected 2, at most 3), 3,168 tokens, price unknown, 0.0 s\n";
  expect(show(true, {}, { events, outcome: answered }).screen).toBe(`${text}\n\n${footer}`);
  expect(show(false, {}, { events, outcome: answered })).toMatchObject({ out: `${text}\n`, err: footer });
});

test("what the model says of a failed run is its claim on standard error, not the result", () => {
  const claimed = failed(new PaiError("edit_failed", "MODIFY a.txt: not found"), { text: "All done!" });
  const { out, err } = show(false, {}, { events: [], outcome: claimed });
  expect(out).toBe("x  failed, nothing changed\n");
  expect(err).toStartWith("The model said: All done!\n");
});

test("where the plan is the result, it stands on standard output and nowhere else", () => {
  const events = stamp([{ type: "plan.ready", plan, promise, cached: false }]);
  const declined = { ...outcome, ok: false, status: "declined", code: 10, text: "", changes: [], checks: [] } as const;
  const { out, err } = show(false, { kind: "plan" }, { events, outcome: declined });
  expect(out).toContain("2  WRITE src/lib/a/very");
  expect(err).not.toContain("WRITE");
});

test("undo is offered only for what is in the workspace", () => {
  expect(show(false).out).toEndWith("undo with: pai undo\n");
  expect(show(false, {}, { events: [], outcome: { ...outcome, dry_run: true } }).out).toContain("-  not written");
  expect(show(false, {}, { events: [], outcome: { ...outcome, dry_run: true } }).out).not.toContain("undo");
});
