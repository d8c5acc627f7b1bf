import { expect, it } from "vitest";
import { troubleOf } from "./problem";

it("shows an API problem as it is", () => {
  const problem = {
    type: "about:blank",
    title: "Not Found",
    status: 404,
    detail: "there is no run x",
    remedy: "list them",
  };
  expect(troubleOf(problem)).toBe(problem);
});

it("tells a lost connection from an answer that is no result", () => {
  expect(troubleOf(new TypeError("Failed to fetch")).title).toBe("No answer");
  expect(troubleOf("<html>Bad Gateway</html>").title).toBe("Unexpected answer");
});
