// Sends a request that requires a token: shows the dialog first, then the result.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { wantNewest } from "@/api/outdated";
import { isRefusedCaller } from "@/api/problem";
import { forgetToken, knownToken } from "@/api/token";
import { useMe } from "./use-me";

/** `operation` is what the API calls the request; a login whose role may not do it needs a token of another.
 * `send` reads the token itself. `stays`: the dialog stays open after an error, so that its text is not lost. */
export function useTokenRequest<Input, Answer>(
  operation: string,
  send: (request: Input) => Promise<Answer>,
  done: (answer: Answer) => void = () => {},
  stays = false,
) {
  const queries = useQueryClient();
  const me = useMe();
  const [shown, show] = useState<{ request: Input; needsToken: boolean }>();
  const mutation = useMutation({
    mutationFn: send,
    onSuccess: async (answer) => {
      wantNewest();
      await queries.invalidateQueries();
      show(undefined);
      done(answer);
    },
    onError: async (error, request) => {
      if (isRefusedCaller(error)) {
        forgetToken();
        show({ request, needsToken: true });
      } else {
        if (!stays) show(undefined);
        wantNewest();
        await queries.invalidateQueries();
      }
    },
  });
  const isRefused = isRefusedCaller(mutation.error);
  /** Sends the request at once if there is a token and nothing to confirm. */
  const press = (request: Input, confirms: boolean) => {
    const suffices = me?.proof === "login" && me.operations.includes(operation);
    const needsToken = knownToken() === undefined && !suffices;
    mutation.reset();
    if (needsToken || confirms) show({ request, needsToken });
    else mutation.mutate(request);
  };
  return {
    shown,
    press,
    close: () => show(undefined),
    send: mutation.mutate,
    isBusy: mutation.isPending,
    isDone: mutation.isSuccess,
    /** why the last token was refused */
    refusal: isRefused ? mutation.error : null,
    /** any other error */
    trouble: mutation.isError && !isRefused ? mutation.error : null,
  };
}
