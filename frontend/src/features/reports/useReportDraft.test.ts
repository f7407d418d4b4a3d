// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import type { Report, ReportBlock } from "@/api/model";
import { chartBlock, textBlock } from "@/entities/reports/blocks";
import { draftedText, dropDraft, hasReportDraft, useReportDraft } from "./useReportDraft";

const TEXT = textBlock("It rises.");
const report = (revision: number, title: string, blocks: ReportBlock[] = [TEXT]) =>
  ({ id: "report_1", title, revision, content: { blocks } }) as Report;
const OURS = report(1, "Rates");

const drafting = () => renderHook(({ of }: { of: Report }) => useReportDraft(of), { initialProps: { of: OURS } });

afterEach(() => window.sessionStorage.clear());

it("keeps what is typed in the tab, until it is discarded", () => {
  const { result, unmount } = drafting();
  expect([result.current.isChanged, hasReportDraft(OURS)]).toEqual([false, false]);
  act(() => result.current.set({ title: "Half" }));
  unmount();
  const again = drafting().result;
  expect(again.current).toMatchObject({ isChanged: true, revision: 1, text: { title: "Half", blocks: [TEXT] } });
  expect([hasReportDraft(OURS), draftedText("report_1")?.title]).toEqual([true, "Half"]);
  act(() => again.current.discard());
  expect([again.current.text.title, draftedText("report_1")]).toEqual(["Rates", null]);
});

it("is no draft once all is taken back, so that what others save is simply shown", () => {
  const { result, rerender } = drafting();
  act(() => result.current.set({ title: "Half" }));
  act(() => result.current.set({ title: "Rates" }));
  rerender({ of: report(2, "Theirs") });
  expect(result.current).toMatchObject({ isChanged: false, revision: 2, text: { title: "Theirs" } });
});

it("stays over the revision that it was begun with, until its writer has seen the newer one", () => {
  const { result, rerender } = drafting();
  act(() => result.current.set({ title: "Half" }));
  rerender({ of: report(2, "Theirs") });
  expect(result.current).toMatchObject({ isChanged: true, revision: 1, text: { title: "Half" } });
  act(() => result.current.rebase(2));
  expect(result.current).toMatchObject({ isChanged: true, revision: 2, text: { title: "Half" } });
});

it("is done with what was sent, whatever the platform has filled in, and not with what was typed since", () => {
  const { result, rerender } = drafting();
  const chart = chartBlock([{ id: "run_a" }], ["m"]);
  act(() => result.current.set({ blocks: [TEXT, chart] }));
  const sent = result.current.text;
  act(() => result.current.set({ title: "Typed since" }));
  const answered = { ...chart, runs: [{ id: "run_a", name: "" }], smooth: 0, x: "step", as_of: null } as ReportBlock;
  rerender({ of: report(2, "Rates", [TEXT, answered]) });
  act(() => result.current.rebase(2, sent));
  expect(result.current).toMatchObject({ isChanged: true, revision: 2, text: { title: "Typed since" } });
  act(() => result.current.set({ title: "Rates" }));
  expect([result.current.isChanged, draftedText("report_1")]).toEqual([false, null]);
});

it("forgets a draft whose report is gone, and reads none of another release", () => {
  const { result } = drafting();
  act(() => result.current.set({ title: "Half" }));
  dropDraft("report_1");
  expect(draftedText("report_1")).toBeNull();
  window.sessionStorage.setItem("dressage:draft:report/report_1", '{"words": 1}');
  expect(draftedText("report_1")).toBeNull();
});
