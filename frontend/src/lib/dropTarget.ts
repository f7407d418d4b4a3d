/** A place onto which something of one type can be dropped, and that shows when it is over it. */
import type { DragEvent } from "react";

export function dropTarget(type: string, setOver: (is: boolean) => void, onDrop: (dropped: string) => void) {
  const fits = (event: DragEvent) => event.dataTransfer.types.includes(type);
  return {
    onDragOver: (event: DragEvent) => {
      if (!fits(event)) return;
      event.preventDefault(); // says that it may be dropped
      setOver(true);
    },
    onDragLeave: (event: DragEvent) => {
      const { relatedTarget, currentTarget } = event;
      if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      setOver(false);
      if (!fits(event)) return;
      event.preventDefault();
      onDrop(event.dataTransfer.getData(type));
    },
  };
}
