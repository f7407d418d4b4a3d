/** Whether the page is connected to the platform. While it is not, its data may be stale and nothing can be sent. */
import { createContext, useContext } from "react";

export const ConnectionLost = createContext(false);

export function useConnectionLost(): boolean {
  return useContext(ConnectionLost);
}
