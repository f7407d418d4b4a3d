import { expect, test } from "vitest";
import type { Run } from "@/api/model";
import { renderWith } from "@/test/render";
import { LedgerLine } from "./LedgerLine";
import { ledgerHint, ledgerLine } from "./ledger";

const LEDGER = {
  step: 12,
  handed_out: 1100,
  trained: 900,
  rejected: { truncated: 40, dynamic_sampling: 100 },
  dropped: { reward_error: 7 },
  pending: 53,
  earlier: 0,
};

test("the line is a sum", () => {
  expect(ledgerLine(LEDGER)).toBe("1,100 handed out = 900 trained + 140 rejected + 7 dropped + 53 pending");
});

test("what an earlier release has not told apart is said", () => {
  const text = ledgerLine({ ...LEDGER, trained: 400, earlier: 500 });
  expect(text).toMatch(/53 pending \+ 500 settled before the run had a ledger$/);
});

test("the hint names the reasons, the most frequent first", () => {
  expect(ledgerHint(LEDGER)).toBe(
    "Prompts up to step 12, each counted once. Rejected by dynamic_sampling: 100, truncated: 40. Dropped for reward_error: 7.",
  );
  expect(ledgerHint({ ...LEDGER, rejected: {}, dropped: {} })).toBe("Prompts up to step 12, each counted once.");
});

test("a run shows it from its first step on", () => {
  const view = renderWith(<LedgerLine run={{ ledger: LEDGER } as unknown as Run} />);
  expect(view.getByTestId("prompt-ledger").textContent).toContain(ledgerLine(LEDGER));
  view.unmount();
  expect(renderWith(<LedgerLine run={{ ledger: null } as Run} />).queryByTestId("prompt-ledger")).toBeNull();
});
