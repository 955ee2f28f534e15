/** Pilot's own 88 test cases: what each asserts is asserted here too, by the test that is named beside it. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

type Case = readonly [cases: string, named: string];

const cases: Readonly<Record<string, readonly Case[]>> = {
  "actions/tools.test.ts": [
    ["TestGlobTool: five patterns", "TestGlobTool"],
    ["TestGrepTool: four searches", "TestGrepTool"],
    ["TestReadTool: whole, range, not found", "TestReadTool"],
    ["TestLsTool", "TestLsTool"],
    ["TestValidatePath: five paths", "TestValidatePath"],
    ["TestEditToolNoMatch, TestEditToolMultipleMatches", "TestEditTool"],
  ],
  "flows/tool-loop.test.ts": [
    ["TestWriteToolNeedsConfirmation", "the changes of one reply are one batch: one question"],
    ["TestWriteTasksRejectsEmptyDescription", "TestWriteTasksRejectsEmptyDescription"],
    ["TestIsReadOnly", "explore looks in a conversation of its own"],
    ["TestAgentSingleTurn", "TestAgentSingleTurn"],
    ["TestAgentToolUseLoop", "a repeated call with the same result is told so"],
    ["TestAgentMaxIterations", "TestAgentMaxIterations"],
    ["TestAgentConcurrentToolExecution", "TestAgentConcurrentToolExecution"],
    ["TestCompaction", "TestCompaction"],
    ["TestNoCompactionUnderLimit", "TestNoCompactionUnderLimit"],
  ],
  "flows/tool-loop-commands.test.ts": [["TestBashToolNeedsConfirmation", "and each is asked about"]],
  "flows/tool-loop-compact.test.ts": [["TestCompactCommand", "TestCompactCommand"]],
  "flows/tool-loop-wires.test.ts": [
    ["TestConvertToResponsesInput: system, tool calls; TestConvertResponsesToolDefs", "streams, looks at once"],
    ["TestConvertResponsesResponse_ToolCalls, _MixedTextAndToolCalls", "streams, looks at once"],
  ],
  "models/contract.ts": [
    ["TestConvertResponsesResponse_TextOnly, TestAccumulateStreamTextOnly", "yields the text in order"],
  ],
  "models/contract-mock.ts": [["TestAccumulateStreamToolCalls", "reads two calls of one reply as two"]],
  "models/openai/bridge.test.ts": [
    ["TestConvertResponsesResponse_Incomplete", "%s ends as it should"],
    ["TestAccumulateStreamError", "in mid-stream is %s"],
    ["TestAccumulateStreamUsage", "counts cached tokens within the input"],
  ],
  "models/retry.test.ts": [
    ["TestDoWithRetry_429ThenSuccess, _RetryAfterIsOneShot", "Retry-After-Ms, once"],
    ["TestDoWithRetry_ExhaustedRetries", "429, forever"],
    ["TestDoWithRetry_AuthError_NoRetry", '"401"'],
    ["TestDoWithRetry_ContextCanceled", "an aborted signal asks for nothing"],
    ["TestDoWithRetry_CancelledDuringRetryBackoff", "a wait ends with the signal"],
    ["TestDoWithRetry_Success, _ServerError_Retries", "500, 502, 503, 529"],
    ["TestDoWithRetry_408and409_Retries", '"408"'],
    ["TestDoWithRetry_XShouldRetryTrue", "x-should-retry: true"],
    ["TestDoWithRetry_XShouldRetryFalse", "x-should-retry: false"],
    ["TestParseRetryAfter: nothing, seconds, text, zero", "Retry-After in seconds"],
  ],
  "models/wire/http-errors.test.ts": [["TestParseRetryAfter: milliseconds", "say when to come back"]],
  "store/places.test.ts": [["TestConfigDir, TestConfigDirDefault", "keeps settings and state in the XDG folders"]],
  "store/sessions.test.ts": [
    ["TestGenerateSessionID", "TestGenerateSessionID"],
    ["TestListSessions_NoDir", "TestListSessions_NoDir"],
    ["TestSaveSession_EmptyNoOp", "a session in which nothing happened leaves no trace"],
    ["TestSaveAndResumeSession", "the session comes back as it was"],
    ["TestListSessions_Ordering", "TestListSessions_Ordering"],
    ["TestResumeSession_NotFound", "TestResumeSession_NotFound"],
  ],
  "core/session.test.ts": [
    ["TestSaveSession_NilContent", "TestSaveSession_NilContent"],
    ["TestCreateCheckpoint", "a session is what its lines say"],
    ["TestRewindConversation", "rewinding goes back to before a turn"],
    ["TestSummarizeFrom", "summarizing from a turn"],
  ],
  "transcript/question-input.test.ts": [["TestCompactEmptyConversation", "TestCompactEmptyConversation"]],
  "transcript/tool-session.test.ts": [
    ["TestEditToolNeedsConfirmation", "rewinding after a restart: files"],
    ["TestClear", "/clear starts another session"],
    ["TestRewindCode, _FilesCreatedAfterCheckpoint, TestRewindAll", "rewinding after a restart: files"],
  ],
  "workspace/history.test.ts": [["TestCaptureFileBeforeModification, _NewFile", "undo goes back run by run"]],
};

/** What Pilot asserts and pai has no part for. */
const without: Readonly<Record<string, string>> = {
  "TestLoadEnvFile, _DoesNotOverride, _Missing": "no .env is loaded: keys come from the environment or the store",
  TestWriteTasksNeedsConfirmation: "a list of tasks changes no file, so nobody is asked",
  TestListSessions_MaxLimit: "every session of the folder is listed; prune bounds how many there are",
  TestCreateCheckpointTruncatesPreview: "the whole request is kept; what is listed of it is cut by the session list",
};

test.each(Object.entries(cases))("%s asserts its cases of Pilot", (file, rows) => {
  const text = readFileSync(join(import.meta.dir, file), "utf8");
  expect(rows.filter(([, named]) => !text.includes(named))).toEqual([]);
});

test("what does not apply says why", () => {
  expect(Object.values(without).every((reason) => reason.length > 20)).toBe(true);
});
