// The access token that writing takes: in this page's memory and nowhere else, so that it is gone with the page.
let token: string | undefined;

export function knownToken(): string | undefined {
  return token;
}

export function keepToken(shown: string): void {
  token = shown;
}

export function forgetToken(): void {
  token = undefined;
}
