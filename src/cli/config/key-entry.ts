/** What a user gives as a key: it is refused where it is surely something else, and its provider is asked for. */
import { PaiError } from "../../core/error.ts";
import { findProvider, type ProviderId, providerOfKey, providers } from "../../core/providers.ts";
import { didYouMean } from "../../core/suggest.ts";
import { findFault } from "../../store/keys.ts";
import { allSettings } from "../../store/setting-table.ts";

/** Reads one line that a person types, as it is or (`askHidden`) shown as stars; null: end of input. */
export type ReadLine = (question: string) => Promise<string | null>;

const keyed: readonly ProviderId[] = providers.filter(({ needsKey }) => needsKey).map(({ id }) => id);

const settingOf = (name: string): string | null =>
  allSettings.find((setting) => setting.name === name || setting.env === name)?.name ?? null;

/** Throws usage for a setting or a line of a file of variables, and names the command for it. No message shows the text. */
export function refuseSetting(text: string): void {
  const [, name = ""] = /^(?:export\s+)?([\w.-]+)(?:\s*=|\s|$)/.exec(text) ?? [];
  const setting = settingOf(name);
  if (setting !== null) {
    throw new PaiError("usage", `${name} is a setting, not a key; nothing was stored`, {
      hint: `pai config set ${setting} VALUE`,
    });
  }
  const owner = providers.find(({ keyVariables }) => keyVariables.includes(name));
  if (owner !== undefined) {
    throw new PaiError("usage", `${name} is the variable of a key; nothing was stored`, {
      hint: `give only what it holds: pai key set ${owner.id}`,
    });
  }
}

/** Makes sure that a text can be a key. Throws what refuseSetting throws; key_invalid for text that no server gives as a key. */
export function requireKey(text: string): void {
  refuseSetting(text);
  if (/^(?:\w[\w+.-]*:\/\/|[\w.-]+:\d{1,5}(?:\/|$))/.test(text)) {
    throw new PaiError("key_invalid", "that is an address, not a key; nothing was stored", {
      hint: "for a model server of your own: pai config set baseUrl.local http://HOST:PORT/v1, then pai -m local:NAME",
    });
  }
  // Base64 may end in `=`, as keys of Bedrock do.
  const found = /\s|=(?!=*$)/.exec(text)?.[0];
  const what = found === "=" ? "= sign; a setting is written with: pai config set NAME VALUE" : "blanks";
  if (found !== undefined) throw new PaiError("key_invalid", `nothing was stored: a key holds no ${what}`);
  const fault = findFault(text);
  if (fault !== null) throw new PaiError("key_invalid", `the key ${fault}; nothing was stored`);
}

/** Asks whose a key is that does not show it; a key that is typed again is hidden. Throws usage for an unknown provider. */
export async function askOwner(askHidden: ReadLine): Promise<ProviderId> {
  const typed = ((await askHidden(`whose key is it? ${keyed.join(", ")}: `)) ?? "").trim();
  const said = typed.toLowerCase();
  const named = findProvider(said);
  if (named?.needsKey === true) return named.id;
  const shown = providerOfKey(typed) === null && /^[a-z]{1,15}$/i.test(typed) ? `unknown provider: ${said}` : null;
  throw new PaiError("usage", said === "" ? "the key was not stored" : (shown ?? "that is no name of a provider"), {
    hint: didYouMean(said, keyed) ?? "say whose it is: pai key set PROVIDER",
  });
}
