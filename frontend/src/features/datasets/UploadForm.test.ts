import { expect, it } from "vitest";
import { Problem } from "@/api/http";
import { rowFaults } from "./UploadForm";

it("tells faults by lines, by rows of an array, and leaves those of the whole file", () => {
  const problem = new Problem(422, {
    title: "The file has errors",
    detail: "",
    errors: [
      { pointer: "/file/lines/17", detail: "`prompt` is empty." },
      { pointer: "/file/rows/3", detail: "`question` is empty." },
      { pointer: "/file", detail: "The array is not closed." },
    ],
  });
  expect(rowFaults(problem)).toEqual([
    { place: "line 17", detail: "`prompt` is empty." },
    { place: "row 3", detail: "`question` is empty." },
  ]);
  expect(rowFaults(new Error("away"))).toEqual([]);
});
