import { createContext } from "react";

/** Whether all of the page is read and drawn, also what is far from the screen: for print. */
export const WholePage = createContext(false);
