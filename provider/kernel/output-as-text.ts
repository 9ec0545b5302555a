/** Whether a text holds what Pulumi makes of an output that a program puts into it like any other value. */
export const holdsOutputAsText = (text: string): boolean =>
  text.includes("Calling [toString] on an [Output<T>]");
