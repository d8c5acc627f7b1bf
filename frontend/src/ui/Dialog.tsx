// A question over the page, which waits for its answer: the browser's own modal dialog, there while it is rendered.
import { type ReactNode, useId, useLayoutEffect, useRef } from "react";

export function Dialog({
  title,
  close,
  children,
}: {
  title: string;
  close: () => void;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Closed before it is removed: then the browser gives the focus back to where it was.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={heading} onCancel={close}>
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}
