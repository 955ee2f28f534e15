/** What every process of tests begins with: a place for folders, and one seed for all property tests (PAI_TEST_SEED). */
import fc from "fast-check";
import { needGrounds } from "./grounds.ts";

needGrounds();
const seed = Number(process.env["PAI_TEST_SEED"] ?? "");
if (Number.isSafeInteger(seed) && seed !== 0) fc.configureGlobal({ seed });
