// The dialog before an action that requires an access token.

import { type FormEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { keepToken } from "@/api/token";
import { Code } from "@/ui/Code";
import { Dialog } from "@/ui/Dialog";
import { Failed } from "@/ui/Notes";
import { loginAddress, useMe } from "./use-me";

const TOKEN = "token";

interface Props {
  /** of the dialog and of the button that confirms it */
  title: string;
  needsToken: boolean;
  /** whether the service measures on its own machine */
  isLocal: boolean;
  /** why the last token was refused */
  refusal: unknown;
  isBusy: boolean;
  confirm: (form: FormData) => void;
  close: () => void;
  children?: ReactNode;
}

export function TokenDialog({
  title,
  needsToken,
  isLocal,
  refusal,
  isBusy,
  confirm,
  close,
  children,
}: Props) {
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
        {needsToken && <TokenField isLocal={isLocal} refusal={refusal} />}
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
  const me = useMe();
  useEffect(() => {
    if (refusal === null || !field.current) return;
    field.current.value = "";
    field.current.focus();
  }, [refusal]);
  return (
    <>
      {me?.proof === "login" && (
        <p>
          You are logged in as {me.name}. The role {me.role} may not do this: ask an administrator, or use a
          token that may.
        </p>
      )}
      <label className="field">
        <span>Access token</span>
        <input
          ref={field}
          type="password"
          name={TOKEN}
          required
          // A header takes no other characters; around the token they are cut off.
          pattern="\s*[!-~]+\s*"
          title="Letters, digits and symbols, without spaces"
          autoComplete="off"
          aria-describedby={help}
        />
      </label>
      <div id={help}>
        {isLocal ? (
          <>
            <p>
              Everybody can read this service, but only its owner can do this. Create an access token on the
              machine of the service:
            </p>
            <Code className="command">kexbench token</Code>
          </>
        ) : (
          <>
            <p>
              Everybody can read this service, but only authorised accounts can do this. Create an access
              token of such an account:
            </p>
            <Code>
              kubectl create token ACCOUNT <span className="whole">--audience kexbench</span>{" "}
              <span className="whole">--duration 1h</span>
            </Code>
          </>
        )}
        {me?.login && me.proof !== "login" && (
          <p>
            Or <a href={loginAddress(me.login)}>log in</a>.
          </p>
        )}
        <p>The token stays in the memory of this page. Reloading or closing the page discards it.</p>
        {!window.isSecureContext && (
          <p>
            <b>This page was loaded over plain HTTP. Anybody on the network path can read the token.</b>
          </p>
        )}
      </div>
    </>
  );
}
