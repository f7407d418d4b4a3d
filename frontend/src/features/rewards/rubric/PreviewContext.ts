import { createContext } from "react";
import type { PreviewSample } from "./prompt";

/** The sample that previews of prompts are filled with: the first one next to the definition. */
export const PreviewContext = createContext<PreviewSample>({ output_text: "", item: {} });
