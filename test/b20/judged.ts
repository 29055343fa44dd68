import type { Evm } from '#evm/ports'
import type { FrameEnd, FrameStart } from '#evm/traceEvents'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { createReferenceEvm } from '../reference/referenceEvm.ts'
import type { Judged, SeenFrame } from './replay.ts'

/** The traced build, recording frames. */
function createTraced(): Judged {
  const frames: SeenFrame[] = []
  const open: SeenFrame[] = []
  const traced = createTracedWasmEvm()
  const nothing = (): void => {}
  const listener = {
    needs: { frames: true, logs: false, accounts: false, steps: undefined },
    ...{ onStep: nothing, onLog: nothing, onAccount: nothing, onNativeAccess: nothing },
    onEnter(start: FrameStart): void {
      const frame = { start: { ...start, input: start.input.slice() }, end: undefined }
      frames.push(frame)
      open.push(frame)
    },
    onLeave(end: FrameEnd): void {
      const frame = open.pop()
      if (frame) frame.end = { ...end, output: end.output.slice() }
    },
  }
  const evm: Evm = { open: (view, block, rules) => traced.open(view, block, rules, listener) }
  return { name: 'traced', evm, frames }
}

/** Returns the interpreters by name: production, its traced build, reference. */
export function judgedNamed(names: readonly string[]): readonly Judged[] {
  const all: Readonly<Record<string, () => Judged>> = {
    wasm: () => ({ name: 'wasm', evm: createWasmEvm(), frames: undefined }),
    traced: createTraced,
    reference: () => ({ name: 'reference', evm: createReferenceEvm(), frames: undefined }),
  }
  return names.flatMap((name) => all[name]?.() ?? [])
}
