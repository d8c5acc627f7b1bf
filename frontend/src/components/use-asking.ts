// Asking the service for something that takes a token: the dialog before it, and what came of it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { isRefusedCaller } from "@/api/problem";
import { forgetToken, knownToken } from "@/api/token";

/** `send` reads the token itself, when it is asked. `stays`: after what else went wrong the dialog is still there, lest
 * what was written in it be lost. */
export function useAsking<Asked, Answer>(
  send: (asked: Asked) => Promise<Answer>,
  done: (answer: Answer) => void = () => {},
  stays = false,
) {
  const queries = useQueryClient();
  const [shown, show] = useState<{ asked: Asked; asksToken: boolean }>();
  const asking = useMutation({
    mutationFn: send,
    onSuccess: async (answer) => {
      await queries.invalidateQueries();
      show(undefined);
      done(answer);
    },
    onError: async (error, asked) => {
      if (isRefusedCaller(error)) {
        forgetToken();
        show({ asked, asksToken: true });
      } else {
        if (!stays) show(undefined);
        await queries.invalidateQueries();
      }
    },
  });
  const isRefused = isRefusedCaller(asking.error);
  /** Asks at once where a token is known and nothing is to be confirmed first. */
  const press = (asked: Asked, confirms: boolean) => {
    const asksToken = knownToken() === undefined;
    asking.reset();
    if (asksToken || confirms) show({ asked, asksToken });
    else asking.mutate(asked);
  };
  return {
    shown,
    press,
    close: () => show(undefined),
    send: asking.mutate,
    isBusy: asking.isPending,
    isDone: asking.isSuccess,
    /** why the token that was shown last would not do */
    refusal: isRefused ? asking.error : null,
    /** what else went wrong */
    trouble: asking.isError && !isRefused ? asking.error : null,
  };
}
