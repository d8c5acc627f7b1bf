import { expect, it } from "vitest";
import { axisTitle } from "./trends-words";

it("an axis of rates names the time that they are rates of", () => {
  expect(axisTitle({})).toBe("handshakes per CPU-second (higher is better)");
  expect(axisTitle({ metric: "server_cpu_ns" })).toBe("handshakes per CPU-second (higher is better)");
  expect(axisTitle({ metric: "wall_ns" })).toBe("handshakes per second (higher is better)");
  expect(axisTitle({ show: "cost" })).toBe("µs per handshake (lower is better)");
});
