// Before the service is asked for something that not everybody may do: what that means, and who asks for it.
import { type FormEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { keepToken } from "@/api/token";
import { Dialog } from "@/ui/Dialog";
import { Failed } from "@/ui/Notes";

const TOKEN = "token";

interface Props {
  /** of the dialog and of the button that confirms it */
  title: string;
  asksToken: boolean;
  /** whether it is measured by the service's own machine */
  isLocal: boolean;
  /** why the token that was shown last would not do */
  refusal: unknown;
  isBusy: boolean;
  confirm: (form: FormData) => void;
  close: () => void;
  children?: ReactNode;
}

export function TokenDialog({ title, asksToken, isLocal, refusal, isBusy, confirm, close, children }: Props) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const form = new FormData(event.currentTarget);
    const shown = form.get(TOKEN);
    if (typeof shown === "string") keepToken(shown.trim());
    confirm(form);
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submit} aria-busy={isBusy}>
        {children}
        {refusal !== null && <Failed error={refusal} />}
        {asksToken && <TokenField isLocal={isLocal} refusal={refusal} />}
        <p className="actions">
          <button type="button" onClick={close}>
            Back
          </button>
          <button type="submit">{title}</button>
        </p>
      </form>
    </Dialog>
  );
}

function TokenField({ isLocal, refusal }: { isLocal: boolean; refusal: unknown }) {
  const field = useRef<HTMLInputElement>(null);
  const help = useId();
  useEffect(() => {
    if (refusal === null || !field.current) return;
    field.current.value = "";
    field.current.focus();
  }, [refusal]);
  return (
    <>
      <label className="field">
        <span>Access token</span>
        <input
          ref={field}
          type="password"
          name={TOKEN}
          required
          // A header takes no other characters; around the token they are cut off.
          pattern="\s*[!-~]+\s*"
          title="letters, digits and signs, without spaces between"
          autoComplete="off"
          aria-describedby={help}
        />
      </label>
      <div id={help}>
        {isLocal ? (
          <>
            <p>
              Everybody may read, but only who owns the service may do this. On its machine a token is made by
            </p>
            <pre>kexbench token</pre>
          </>
        ) : (
          <>
            <p>Everybody may read, but only some accounts may do this. A token of one of them is made by</p>
            <pre>
              kubectl create token ACCOUNT <span className="whole">--audience kexbench</span>{" "}
              <span className="whole">--duration 1h</span>
            </pre>
          </>
        )}
        <p>It is kept in the memory of this page, not stored: reloading or closing the page forgets it.</p>
        {!window.isSecureContext && (
          <p>
            <b>This page came over plain HTTP: whoever listens on the way can read the token.</b>
          </p>
        )}
      </div>
    </>
  );
}
