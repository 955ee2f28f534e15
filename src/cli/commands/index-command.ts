/** `pai index`: builds, describes or removes the index of a large project, which only saves time. */
import { PaiError } from "../../core/error.ts";
import { counted } from "../../ui/amount.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import type { IndexStatus } from "../../workspace/index/project-index.ts";
import { showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { openHere } from "../compose/open-here.ts";

const sizeOf = (bytes: number) =>
  bytes < 100_000 ? `${Math.ceil(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** The status in one sentence. */
function renderIndexStatus(status: IndexStatus | null): string {
  if (status === null) return "There is no index; one is made for more than 2,000 files or 8 MB of text";
  const { files, length, bytes, complete, commits } = status;
  const history = commits ? " and the history" : ", no history";
  const part = complete ? "" : ", incomplete";
  return `The index holds ${counted(files, "file")}, ${sizeOf(length)} of text${history}: ${sizeOf(bytes)} on disk${part}`;
}

const toData = (status: IndexStatus | null) => ({ index: status });

/** Throws usage for flags that exclude each other, io_failed where no index can be kept. */
export async function indexCommand(context: Context): Promise<number> {
  const { status: isStatus, drop: isDrop } = context.flags;
  if (isStatus === true && isDrop === true) throw new PaiError("usage", "--status and --drop cannot be combined");
  const { index } = await openHere(context);
  if (index === null) {
    throw new PaiError("io_failed", "no index is kept here: the state folder cannot be written", {
      hint: "set HOME or PAI_STATE_DIR",
    });
  }
  if (isDrop === true) {
    const had = index.drop();
    return showResult(context, "index", { dropped: had }, had ? "The index was removed\n" : "There was no index\n");
  }
  if (isStatus === true) {
    const status = await index.status();
    const where = status === null ? "" : `${visibleLine(status.file)}\n`;
    return showResult(context, "index", toData(status), `${renderIndexStatus(status)}\n${where}`);
  }
  const { read, obstacle } = await index.refresh(context.signal);
  const status = await index.status();
  const data = { read, ...toData(status) };
  if (obstacle === "busy")
    return showResult(
      context,
      "index",
      data,
      "Another pai uses the index now; pai index --status shows what it holds\n",
    );
  const anew = read === 0 ? "nothing had to be read" : `${counted(read, "file")} read`;
  const note = obstacle === null ? "" : "It is incomplete: there are more files than an index can hold\n";
  return showResult(context, "index", data, `${renderIndexStatus(status)}; ${anew}\n${note}`);
}
