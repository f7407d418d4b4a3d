import { createContext } from "react";
import type { PreviewSample } from "./prompt";

/** The sample that previews of prompts are filled with: the first one on the bench. */
export const PreviewContext = createContext<PreviewSample>({
  output_text: "<think>48 / 2 = 24</think>The answer is 24.",
  item: { prompt: "48/2=", answer: "24" },
});
