/** Exit codes, environment variables and files, for help and the man page. */
import { providers } from "../core/providers.ts";

/** All exit codes with a short meaning. */
export const exitMeanings = [
  ["0", "done"],
  ["1", "other failure"],
  ["2", "usage"],
  ["3", "configuration"],
  ["4", "key"],
  ["5", "network"],
  ["6", "quota"],
  ["7", "unusable reply"],
  ["8", "edits failed"],
  ["9", "checks failed"],
  ["10", "approval needed"],
  ["11", "stale plan or conflict"],
  ["12", "refused by policy"],
  ["13", "budget reached"],
  ["14", "disk or permission"],
  ["15", "done in part"],
  ["124", "timeout"],
  ["129", "terminal closed (SIGHUP)"],
  ["130", "interrupted (SIGINT)"],
  ["143", "ended (SIGTERM)"],
] as const;

export const variables = [
  ["PAI_MODEL", "model to ask, as --model"],
  ["PAI_MAX_CALLS", "hard cap on model calls of a run"],
  ["PAI_MAX_TOKENS", "hard cap on tokens of a run"],
  ["PAI_MAX_COST", "hard cap on the cost of a run, in USD"],
  ["PAI_STATE_DIR", "folder of journals, sessions and receipts"],
  ["PAI_STORE_URL", "PostgreSQL database that machines of a team share: postgres://user@host/name"],
  ["PAI_BASE_URL", "address of the provider in use; wins over the provider's own variable"],
  ["PAI_CLIENT_CERT", "file of a client certificate and its key"],
  [
    providers.flatMap(({ keyVariables }) => keyVariables).join(", "),
    "keys; with _FILE appended: a file that holds the key",
  ],
  [providers.flatMap(({ urlVariable }) => urlVariable ?? []).join(", "), "address of one provider"],
  ["HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY", "proxies, in capitals or not; never used for this machine itself"],
  ["NODE_EXTRA_CA_CERTS, SSL_CERT_FILE", "certificates to trust"],
  ["NO_COLOR, FORCE_COLOR", "colours off or on"],
  ["VISUAL, EDITOR", "editor for a long message of a session (Ctrl+X Ctrl+E)"],
  ["XDG_CONFIG_HOME, XDG_STATE_HOME", "parents of the folders below"],
] as const;

export const files = [
  ["/etc/pai-code/config.json", "settings of the machine; its policy and limits can only be narrowed"],
  ["$XDG_CONFIG_HOME/pai-code/config.json", "settings of the user"],
  ["$XDG_CONFIG_HOME/pai-code/credentials.json", "keys, readable by the user alone"],
  ["$XDG_STATE_HOME/pai-code/", "journals for undo, sessions, receipts, plans, trust"],
  [
    "$XDG_CONFIG_HOME/pai-code/commands/NAME.md",
    "a command of yours: /NAME; a project's: .pai/commands, after pai trust",
  ],
  [".pai/skills/NAME/SKILL.md", "a skill of a project, listed to the model after pai trust"],
  ["pai.json", "settings of a project; may only narrow until it is trusted"],
  [".pai_history/", "readable log of every session in a project"],
  [".paiignore", "files that pai ignores, besides .gitignore"],
  ["AGENTS.md, MEMORY.md", "instructions of a project, sent with every task; without AGENTS.md: CLAUDE.md, GEMINI.md"],
] as const;
