/** Whether the dataset on show can be changed: those of other teams are read, and nothing else. */
import { createContext, useContext } from "react";
import { useCan } from "@/features/session/session";

/** True below the page of a dataset that another team shares. */
export const ReadOnly = createContext(false);

/** Whether the signed-in person may change the dataset on show. */
export function useMayEdit(): boolean {
  const editor = useCan("editor");
  return !useContext(ReadOnly) && editor;
}
