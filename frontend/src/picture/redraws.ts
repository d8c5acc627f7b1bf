// How each chart on a canvas is drawn once more: a canvas has pixels, and a picture needs the lines.

export const redraws = new WeakMap<HTMLCanvasElement, () => void>();
