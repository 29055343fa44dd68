import type { Evm } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { createReferenceEvm } from '#test/reference/referenceEvm'

/** Interpreter that must give the same results as others in public tests, the fuzzer and the tables of halts. */
export type Interpreter = { readonly name: string; readonly create: () => Evm }

/** All interpreters of this project. Others are compared with the first. */
export const interpreters: readonly Interpreter[] = [
  { name: 'reference', create: createReferenceEvm },
  { name: 'wasm', create: () => createWasmEvm() },
]
