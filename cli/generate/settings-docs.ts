import { describeSettings } from "../../provider/service/settings/settings.js";

/** The configuration table: one row for each setting. */
export const settingsTable = (): string =>
  [
    "| Config key | Environment | Meaning |",
    "|---|---|---|",
    ...describeSettings().map(
      ({ config, environment, doc, required, secret, default: fallback }) => {
        const notes = [
          required ? "Required." : "",
          secret ? "Secret." : "",
          fallback ? `Default: \`${fallback}\`.` : "",
        ];
        return `| \`${config}\` | \`${environment}\` | ${[doc, ...notes].filter(Boolean).join(" ").replaceAll("|", "\\|")} |`;
      },
    ),
    "",
  ].join("\n");
