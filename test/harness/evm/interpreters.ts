import type { Evm } from '#evm/ports'
import { createReferenceEvm } from '#evm/referenceEvm'
import { createWasmEvm } from '#evm/wasmEvm'

/** An interpreter that the public tests, the fuzzer and the tables of halts hold to the same answers. */
export type Interpreter = { readonly name: string; readonly create: () => Evm }

/** All of ours; the first is the one that others are held against. */
export const interpreters: readonly Interpreter[] = [
  { name: 'reference', create: createReferenceEvm },
  { name: 'wasm', create: () => createWasmEvm() },
]
