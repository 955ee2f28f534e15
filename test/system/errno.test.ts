/** The numbers of system errors that pai carries itself. */
import { expect, test } from "bun:test";
import { constants } from "node:os";
import { errno } from "../../src/system/errno.ts";

test("each has the number that the system gives it", () => {
  const { errno: numbers } = constants as { readonly errno: Readonly<Record<string, number>> };
  const given = Object.fromEntries(Object.keys(errno).map((name) => [name, numbers[name]]));
  expect(given).toEqual({ ...errno });
  expect(numbers["EOPNOTSUPP"]).toBe(errno.ENOTSUP);
});
