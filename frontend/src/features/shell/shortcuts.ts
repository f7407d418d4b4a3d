/** Single-key shortcuts. They do nothing while the user types, and can be switched off (WCAG 2.1.4). */
import { useLocalStorage } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import type { Command } from "./commands";

/** How long the second key of two may take, in milliseconds. */
const PATIENCE = 1200;

export const useShortcutsSetting = () =>
  useLocalStorage({ key: "shortcuts", defaultValue: true, getInitialValueInEffect: false });

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input, textarea, select, [role="slider"], [role="textbox"]') !== null);

/** Carries out the command whose keys were pressed, or `help` for a question mark. */
export function useShortcuts(commands: Command[], enabled: boolean, help: () => void): void {
  const latest = useRef({ commands, help });
  useEffect(() => {
    latest.current = { commands, help };
  });
  useEffect(() => {
    if (!enabled) return;
    let first = { key: "", at: 0 };
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      // A dialog has the keys to itself.
      if (document.querySelector('[role="dialog"]')) return;
      const { key, timeStamp } = event;
      const pair = timeStamp - first.at < PATIENCE ? `${first.key} ${key}` : key;
      first = { key, at: timeStamp };
      if (key === "?") return latest.current.help();
      const found = latest.current.commands.find(one => one.keys === pair || one.keys === key);
      if (!found) return;
      first = { key: "", at: 0 };
      event.preventDefault();
      found.run();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [enabled]);
}
