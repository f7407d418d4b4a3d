/** An upload: in one request if the file is small, else in parts, then checked row by row. */
import { useEffect, useRef, useState } from "react";
import * as api from "@/api/client";
import { Gate } from "./gate";
import { Rate } from "./rate";
import { forget, remembered } from "./remembered";
import { PART_BYTES, type Phase, sendParts } from "./send-parts";

/** What a new dataset or version is made from. */
export type Given = { file: File } | { upload: string };

export interface Transfer {
  phase: Phase | "checking";
  sent: number;
  total: number;
  /** Bytes per second; null if unknown. */
  rate: number | null;
}

export function useTransfer() {
  const [transfer, setTransfer] = useState<Transfer | null>(null);
  const gate = useRef<Gate | null>(null);
  const under = useRef<File | null>(null); // the file in progress
  useEffect(() => () => gate.current?.pause(), []); // who leaves the page continues another time

  /**
   * Sends a file and has `make` do what is to be done with it.
   *
   * @throws Cancelled, and whatever `make` throws.
   */
  async function send<T>(file: File, make: (given: Given) => Promise<T>): Promise<T> {
    const own = new Gate();
    const rate = new Rate();
    gate.current = own;
    under.current = file;
    const told = (phase: Transfer["phase"], sent: number) => {
      if (phase === "sending") rate.add(sent, performance.now());
      else rate.restart();
      setTransfer({ phase, sent, total: file.size, rate: rate.bytesPerSecond });
    };
    try {
      if (file.size <= PART_BYTES) {
        told("checking", file.size);
        return await make({ file });
      }
      const upload = await sendParts(file, own, told);
      told("checking", file.size);
      const made = await make({ upload });
      forget(file);
      return made;
    } finally {
      setTransfer(null);
    }
  }

  return {
    transfer,
    send,
    pause: () => {
      gate.current?.pause();
      setTransfer(now => now && { ...now, phase: "paused", rate: null });
    },
    resume: () => gate.current?.resume(),
    /** Cancels it, and deletes the uploaded part on the platform. */
    cancel: () => {
      gate.current?.cancel();
      const file = under.current;
      if (!file) return;
      const id = remembered(file);
      forget(file);
      if (id !== null) api.cancelDatasetUpload(id).catch(() => undefined); // else it expires
    },
  };
}
