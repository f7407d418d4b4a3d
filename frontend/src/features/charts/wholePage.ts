import { createContext } from "react";

/** Whether the whole page is loaded and drawn, including parts far from the screen: for print. */
export const WholePage = createContext(false);
