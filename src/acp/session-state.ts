/** Describes the modes and models of a session: as options, and as modes for editors that do not know options. */
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { Talk } from "./host.ts";

export function describeSession({ mode, modes, model, models }: Talk): {
  readonly modes: SessionModeState;
  readonly configOptions: SessionConfigOption[];
} {
  return {
    modes: { currentModeId: mode, availableModes: modes.map((each) => ({ ...each })) },
    configOptions: [
      {
        id: "mode",
        name: "Way of working",
        category: "mode",
        type: "select",
        currentValue: mode,
        options: modes.map(({ id, name, description }) => ({ value: id, name, description })),
      },
      {
        id: "model",
        name: "Model",
        category: "model",
        type: "select",
        currentValue: model,
        options: models.map(({ id, name, description }) => ({ value: id, name, description })),
      },
    ],
  };
}
