/** AMEND lines: what they ask for, whatever stands in a path, a command or a reason. */
import { expect, test } from "bun:test";
import { parseScript } from "../../../src/core/script/parser.ts";
import { readAmendments } from "../../../src/core/script/read-amend.ts";

function read(...lines: readonly string[]) {
  const { actions } = parseScript(`${lines.join("\n")}\nFINISH::ok\n`, { stop: "end", read: () => null });
  const { requests, faults } = readAmendments(actions);
  return { requests, faults: faults.map(({ line, text }) => `${line}: ${text}`) };
}

test("an action, a path and a reason; the path ends at the first ::, the reason is the rest", () => {
  expect(read("AMEND::MODIFY::shop/money.py::cents are cut: a::b is lost").requests).toEqual([
    { action: "MODIFY", path: "shop/money.py", destination: null, why: "cents are cut: a::b is lost" },
  ]);
  expect(read('AMEND::WRITE::"a::b.py"::a name with colons').requests[0]).toMatchObject({ path: "a::b.py" });
  expect(read("- `AMEND::rm::old.txt::unused`").requests[0]).toMatchObject({ action: "RM", path: "old.txt" });
  expect(read("AMEND::EDIT::a.py::alias").requests[0]).toMatchObject({ action: "MODIFY" });
});

test("MV and COPY have a destination, the others none", () => {
  expect(read("AMEND::MV::a.py::lib/a.py::it belongs there", "AMEND::COPY::a::b::twice").requests).toEqual([
    { action: "MV", path: "a.py", destination: "lib/a.py", why: "it belongs there" },
    { action: "COPY", path: "a", destination: "b", why: "twice" },
  ]);
});

test("a reason alone, as other actions have it, asks for what the action itself then says", () => {
  const link = read("AMEND::LINK::old.csv::the link stays", "LINK::old.csv::data.csv").requests;
  expect(link).toEqual([{ action: "LINK", path: "old.csv", destination: "data.csv", why: "the link stays" }]);
  const mode = read("AMEND::MODE::run.sh::it is started", "MODE::run.sh::755").requests;
  expect(mode).toEqual([{ action: "MODE", path: "run.sh", destination: "755", why: "it is started" }]);
  const whole = read("AMEND::LINK::old.csv::data.csv", "LINK::old.csv::data.csv").requests;
  expect(whole).toEqual([{ action: "LINK", path: "old.csv", destination: "data.csv", why: "" }]);
});

test("a RUN's command is the longest that a later RUN of the reply runs, colons and all", () => {
  const lines = ["AMEND::RUN::a::b::c::to see it", "RUN::a", "RUN::a::b::c", "RUN::a::b"];
  expect(read(...lines).requests).toEqual([{ action: "RUN", path: "a::b::c", destination: null, why: "to see it" }]);
  expect(read("AMEND::RUN::npm test", "RUN::npm test").requests).toEqual([
    { action: "RUN", path: "npm test", destination: null, why: "" },
  ]);
});

test("an AMEND that asks for nothing is answered with the form, and permits nothing", () => {
  const { requests, faults } = read(
    "AMEND::READ::a.py::to see",
    "AMEND::FLY::a.py::why",
    "AMEND::MODIFY",
    "AMEND::MV::a.py",
    "RUN::make",
    "AMEND::RUN::make::too late",
  );
  expect(requests).toEqual([]);
  expect(faults.length).toBe(5);
  expect(faults[0]).toStartWith("1: READ needs no AMEND");
  expect(faults[4]).toStartWith("6: AMEND::RUN names no command");
});
