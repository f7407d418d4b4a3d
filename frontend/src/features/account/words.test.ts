import { expect, test } from "vitest";
import { actionInWords } from "./words";

test("actions are told in words, with how often", () => {
  expect(actionInWords("account.sign_in", 1)).toBe("Signed in");
  expect(actionInWords("account.sign_in_failed", 12)).toBe("Wrong password, 12 times");
  expect(actionInWords("account.something_new", 1)).toBe("account.something_new");
});
