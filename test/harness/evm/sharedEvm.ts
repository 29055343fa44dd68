import type { Evm } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'

/** The interpreter of all tests of a thread, as in a node. A new one takes 10 ms for its first session. */
export const sharedEvm: Evm = createWasmEvm()
