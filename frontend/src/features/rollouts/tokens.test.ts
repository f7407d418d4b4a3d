import { describe, expect, it } from "vitest";
import { thinkingFold } from "./folds";
import { lineOf, setLines } from "./lines";
import { LEVELS, paint } from "./overlays";
import { readTokens, widestGaps } from "./tokens";

const base64 = (array: ArrayBufferView) => btoa(String.fromCharCode(...new Uint8Array(array.buffer)));

const DOCUMENT = {
  prompt: "1+1=",
  completion: "a b c",
  columns: {
    token_ids: base64(Int32Array.from([5, 6, 5, 7])),
    engine_logprobs: base64(Float32Array.from([-1, -2, 0, -0.5])),
    learner_logprobs: base64(Float32Array.from([-1.5, -2, 0, -1.5])),
    entropy: null,
    advantages: null,
    versions: base64(Int32Array.from([3, 3, 3, 4])),
    sampled: base64(Uint8Array.from([1, 1, 0, 1])),
    loss_mask: base64(Uint8Array.from([1, 1, 0, 1])),
  },
  vocabulary: { 5: "a", 6: " b", 7: "\n" },
};

describe("tokens", () => {
  const tokens = readTokens(DOCUMENT);

  it("reads every column, and says what is not known", () => {
    expect(tokens.length).toBe(4);
    expect(tokens.texts).toEqual(["a", " b", "a", "\n"]);
    expect([...(tokens.gap ?? [])]).toEqual([0.5, 0, NaN, 1]);
    expect(tokens.entropy).toBeNull();
    expect([...(tokens.versions ?? [])]).toEqual([3, 3, 3, 4]);
  });

  it("goes through the gaps from the widest on, without forced tokens and those without any", () => {
    expect(widestGaps(tokens)).toEqual([3, 0]);
    const broken = { ...tokens, gap: Float32Array.from([0.5, NaN, NaN, 1]) };
    expect(widestGaps(broken)).toEqual([1, 3, 0]);
  });

  it("paints by value, and never what is not known", () => {
    const gap = paint("gap", tokens, 1);
    expect(gap.shade(3)).toEqual({ tone: "var(--c-s3)", level: LEVELS });
    expect(gap.shade(0)?.level).toBe(LEVELS / 2);
    expect(gap.shade(1)).toBeNull();
    expect(gap.shade(2)).toBeNull();
    expect(gap.legend.map(one => one.label)).toEqual(["0.25", "0.5", "0.75", "1"]);
    expect(paint("entropy", tokens, 1).missing).toBe("Not computed by the learner.");
    expect(paint("mask", tokens, 1).shade(2)).not.toBeNull();
    expect(paint("mask", tokens, 1).shade(1)).toBeNull();
    const [old, young] = [paint("version", tokens, 1).shade(0), paint("version", tokens, 1).shade(3)];
    expect(old?.tone).not.toBe(young?.tone);
  });

  it("shows the advantage of the sample where tokens have none of their own, with its sign", () => {
    const good = paint("advantage", tokens, 0.5).shade(0);
    const bad = paint("advantage", tokens, -0.5).shade(0);
    expect(good?.tone).not.toBe(bad?.tone);
    expect(paint("advantage", tokens, 0).shade(0)).toBeNull();
    expect(paint("advantage", tokens, 0).legend).toEqual([]);
  });
});

describe("lines", () => {
  const text = (lines: ReturnType<typeof setLines>) =>
    lines.map(line =>
      line.kind === "fold" ? `[${line.from}-${line.to}]` : line.pieces.map(piece => piece.text).join(""),
    );

  it("breaks between tokens, at line breaks, and within what is longer than half a line", () => {
    expect(text(setLines(["abcd", "ef", "gh"], 6))).toEqual(["abcdef", "gh"]);
    expect(text(setLines(["a\n\nb", "c"], 8))).toEqual(["a⏎", "⏎", "bc"]);
    expect(text(setLines(["ab", "0123456789"], 6))).toEqual(["ab0123", "456789"]);
    expect(text(setLines(["数学数学"], 4))).toEqual(["数学", "数学"]);
    expect(text(setLines([], 4))).toEqual([""]);
  });

  it("finds a token's first line, and folds", () => {
    const texts = ["a\n", "b\n", "c\n", "d"];
    expect(lineOf(setLines(texts, 8), 2)).toBe(2);
    const folded = setLines(texts, 8, { from: 1, to: 3 });
    expect(text(folded)).toEqual(["a⏎", "[1-3]", "d"]);
    expect(lineOf(folded, 2)).toBe(-1);
    expect(lineOf(folded, 3)).toBe(2);
  });

  it("sets each of 32,768 tokens once, in lines as their breaks say", () => {
    const texts = Array.from({ length: 32_768 }, (_, place) => (place % 20 === 19 ? "word\n" : " word"));
    const lines = text(setLines(texts, 120));
    expect(lines).toHaveLength(Math.ceil(32_768 / 20));
    expect(lines.join("").replaceAll("⏎", "\n")).toBe(texts.join(""));
  });
});

describe("thinkingFold", () => {
  it("covers the thinking between its tags", () => {
    const inner = Array.from({ length: 50 }, () => "x");
    const texts = ["<think>", ...inner, "</think>", "4"];
    expect(thinkingFold(texts, { start: "<think>", end: "</think>" })).toEqual({ from: 1, to: 51 });
    expect(thinkingFold(["<think>", "x", "</think>", "4"], { start: "<think>", end: "</think>" })).toBeNull();
    expect(thinkingFold(["4"], null)).toBeNull();
  });
});
