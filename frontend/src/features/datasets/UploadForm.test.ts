import { expect, it } from "vitest";
import { Problem } from "@/api/http";
import { faultReport, rowFaults } from "./UploadForm";

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

it("makes one table of all faults, with quotes doubled", () => {
  const report = [
    { place: "/file/lines/2", detail: 'The key "a" appears twice.' },
    { place: "/file", detail: "It is cut off." },
  ];
  const problem = new Problem(422, { title: "", detail: "", errors: [], report });
  expect(faultReport(problem)).toEqual({
    count: 2,
    csv: 'unit,number,fault\r\nline,2,"The key ""a"" appears twice."\r\nfile,,"It is cut off."\r\n',
  });
  const short = new Problem(422, { title: "", detail: "", errors: [{ pointer: "/file/rows/3", detail: "x" }] });
  expect(faultReport(short).csv).toBe('unit,number,fault\r\nrow,3,"x"\r\n');
  expect(faultReport(new Error("away")).count).toBe(0);
});
