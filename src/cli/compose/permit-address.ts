/** Whether keys may be sent to the address of their provider, outside a run. */
import { PaiError } from "../../core/error.ts";
import type { Provider } from "../../core/providers.ts";
import { parseEndpoint } from "../../models/wire/endpoint.ts";
import { type BaseUrl, configuredAddress, findBaseUrl, requireConsent } from "../../store/base-url.ts";
import type { Places } from "../../store/places.ts";
import type { LoadedSettings } from "../../store/settings.ts";
import type { Context } from "../command.ts";

export interface AskingAddress extends Pick<LoadedSettings, "settings" | "origins"> {
  readonly context: Context;
  readonly places: Places;
}

/**
 * The address in use of a provider. Throws untrusted for one that the user never agreed to, and for plain http to another
 * machine.
 */
export async function permitAddress(
  provider: Provider,
  keys: readonly { readonly key: string }[],
  { context, places, ...loaded }: AskingAddress,
): Promise<BaseUrl> {
  const base = findBaseUrl(provider, context.env, configuredAddress(provider, loaded));
  const sent = keys.map(({ key }) => key);
  await requireConsent(base, sent, { places, ask: null });
  const { address, exposed } = parseEndpoint(base.url, context.env);
  if (exposed && keys.length > 0 && !loaded.settings.insecureHttp && provider.insecureHttp !== true) {
    throw new PaiError("untrusted", `${address} is plain http: everyone on the way could read the key`, {
      hint: "use https, or allow it: pai config set insecureHttp true",
    });
  }
  return base;
}
