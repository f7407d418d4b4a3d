/** Values of rows as text. */
import type { Json } from "@/api/model";

/** Chats as one message per line, texts as they are, all else as JSON. */
export function cellText(column: string, value: Json | undefined): string {
  if (value === undefined) return "";
  if (column === "messages" && Array.isArray(value)) return value.map(messageText).join("\n");
  return typeof value === "string" ? value : JSON.stringify(value);
}

function messageText(message: Json): string {
  if (message === null || typeof message !== "object" || Array.isArray(message)) return JSON.stringify(message);
  return `${String(message.role)}: ${String(message.content)}`;
}
