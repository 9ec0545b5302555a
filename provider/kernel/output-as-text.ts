const meant: Readonly<Record<string, string>> = {
  String: "an output inside a text: write pulumi.interpolate`…` instead of `…`",
  JSON: "an output inside JSON text: write pulumi.jsonStringify(…) instead of JSON.stringify(…)",
};

/**
 * What is wrong with a text into which a program has put an output like any other value: Pulumi leaves a
 * sentence in the output's place. Undefined for any other text.
 */
export const outputAsText = (text: string): string | undefined => {
  const [, way = ""] = /Calling \[to(String|JSON)\] on an \[Output<T>\]/.exec(text) ?? [];
  const rule = meant[way];
  return rule && `holds ${rule}`;
};
