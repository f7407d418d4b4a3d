import { expect, it } from "vitest";
import { cellText } from "./cell-text";

it("shows chats message by message, texts as they are, and all else as JSON", () => {
  const chat = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "1+1=" },
  ];
  expect(cellText("messages", chat)).toBe("system: Be brief.\nuser: 1+1=");
  expect(cellText("messages", ["odd"])).toBe('"odd"');
  expect(cellText("other", chat)).toBe(JSON.stringify(chat));
  expect(cellText("answer", "18")).toBe("18");
  expect(cellText("answer", undefined)).toBe("");
});
