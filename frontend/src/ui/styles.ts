/** Inputs whose text is code, JSON or a template. */
export const MONO = { input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 12.5 } };
