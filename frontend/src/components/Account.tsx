// Logging in and out, and who is logged in, where the service has a login.
import { useMutation } from "@tanstack/react-query";
import { logout } from "@/api/generated";
import { Failed } from "@/ui/Notes";
import { loginAddress, useMe } from "./use-me";

export function Account() {
  const me = useMe();
  const ending = useMutation({
    mutationFn: () => logout({ throwOnError: true }),
    onSuccess: () => window.location.reload(),
  });
  if (!me?.login) return null;
  if (me.proof !== "login") {
    return (
      <p>
        <a href={loginAddress(me.login)}>Log in</a>
      </p>
    );
  }
  return (
    <>
      <p>
        Logged in as {me.name}. Role: {me.role}.{" "}
        <button type="button" onClick={() => ending.mutate()}>
          Log out
        </button>
      </p>
      {ending.isError && <Failed error={ending.error} />}
    </>
  );
}

/** In place of a page that this person may not read. */
export function LoginFirst({ login }: { login: string }) {
  return (
    <>
      <h1>Log in</h1>
      <p>
        Only people who log in can read this service. <a href={loginAddress(login)}>Log in</a>
      </p>
    </>
  );
}
