import { describe, expect, it } from "vitest";
import { splitThinking, thinkingTags } from "./thinking";

const HARMONY = "<|channel|>analysis<|message|>2+2<|end|><|start|>assistant<|channel|>final<|message|>4";

describe("splitThinking", () => {
  it("cuts at the tags", () => {
    const tags = { start: "<think>", end: "</think>" };
    expect(splitThinking("<think>2+2</think>4", tags)).toEqual({ thinking: "2+2", answer: "4", closed: true });
    expect(splitThinking("2+2</think>4", tags).thinking).toBe("2+2");
    expect(splitThinking("<think>2+2", tags)).toEqual({ thinking: "2+2", answer: "", closed: false });
    expect(splitThinking("4", null)).toEqual({ thinking: null, answer: "4", closed: true });
  });

  it("begins the answer where the spec says, as graders do", () => {
    const tags = thinkingTags({
      thinking: {
        type: "tags",
        start: "<|channel|>analysis<|message|>",
        end: "<|end|>",
        answer_start: "<|channel|>final<|message|>",
      },
    } as never);
    expect(splitThinking(HARMONY, tags)).toEqual({ thinking: "2+2", answer: "4", closed: true });
    expect(splitThinking("4", tags).answer).toBe("4");
  });
});
