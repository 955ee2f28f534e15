/** Gives every property test of a run the same seed, so that a failure can be repeated: PAI_TEST_SEED names it. */
import fc from "fast-check";

const seed = Number(process.env["PAI_TEST_SEED"] ?? "");
if (Number.isSafeInteger(seed) && seed !== 0) fc.configureGlobal({ seed });
