import { opContinue } from './internal'

/**
 * Jumps to code that is not translated yet, during the translation of a part. Each jump leads to a stub after the part. When execution reaches a
 * stub,
 * the code is translated and the jump is patched to go there.
 */
const stubs: usize = memory.data(8 * 160)
let count: u32 = 0

export function clearStubs(): void {
  count = 0
}

/** Registers a stub. @param operand address of the jump's u32 distance @param pc target of the jump */
export function addStub(operand: usize, pc: u32): void {
  const stub = stubs + (<usize>(count++) << 3)
  store<u32>(stub, <u32>operand)
  store<u32>(stub, pc, 4)
}

/** Writes the stubs at the end of a stream. @returns its new end */
export function writeStubs(stream: usize, end: usize): usize {
  let out = end
  for (let i: u32 = 0; i < count; i++) {
    const stub = stubs + (<usize>i << 3)
    const operand = <usize>load<u32>(stub)
    store<u32>(operand, <u32>(out - stream))
    store<u16>(out, opContinue)
    store<u32>(out, load<u32>(stub, 4), 2)
    store<u32>(out, <u32>(operand - stream), 6)
    out += 10
  }
  return out
}
