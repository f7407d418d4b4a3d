/** Whether the page hears from the platform. What is shown while it does not may be old, and nothing can be sent. */
import { createContext, useContext } from "react";

export const ConnectionLost = createContext(false);

export function useConnectionLost(): boolean {
  return useContext(ConnectionLost);
}
