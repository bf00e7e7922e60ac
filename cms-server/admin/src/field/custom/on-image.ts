// Properties and keys of the crop box and the focus point, which the user moves on an image.
import type { ControlProps } from '../control';

export interface OnImageProps extends Pick<ControlProps, 'id' | 'value' | 'readonly' | 'onchange'> {
  image: { id: string; extension: string; width: number; height: number };
}

/** How far an arrow key moves, to the right and down; null for other keys. */
export function arrowStep({ key, altKey }: KeyboardEvent, step: number): [number, number] | null {
  if (altKey) return null;
  const steps: Record<string, [number, number]> = {
    ArrowLeft: [-step, 0],
    ArrowRight: [step, 0],
    ArrowUp: [0, -step],
    ArrowDown: [0, step],
  };
  return steps[key] ?? null;
}
