/** Text in Markdown, as a page shows it. HTML in it is text. */
import { Text } from "@mantine/core";
import { Suspense } from "react";
import { lazily } from "./lazily";
import { isReadable } from "./markdown-bounds";
import { Otherwise } from "./Otherwise";
import classes from "./markdown.module.css";

const Drawn = lazily(() => import("./DrawnMarkdown").then(m => m.default));

export function Markdown({ children: text }: { children: string }) {
  const source = <p style={{ whiteSpace: "pre-wrap" }}>{text}</p>;
  const undrawn = (why: string) => (
    <>
      <Text size="xs" c="dimmed" role="note">
        {why} Its source is shown.
      </Text>
      {source}
    </>
  );
  return (
    <div className={classes.text}>
      {isReadable(text) ? (
        <Otherwise of={text} otherwise={undrawn("This text could not be rendered.")}>
          {/* The source until the libraries have come. */}
          <Suspense fallback={source}>
            <Drawn text={text} />
          </Suspense>
        </Otherwise>
      ) : (
        undrawn("This text is nested too deeply, or its table is too large, to be rendered.")
      )}
    </div>
  );
}
