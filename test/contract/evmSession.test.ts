import type { Evm } from '#evm/ports'
import type { TraceEvents, TraceNeeds } from '#evm/traceEvents'
import { createTracedWasmEvm } from '#evm/wasmEvm'
import { interpreters } from '../harness/evm/interpreters.ts'
import { evmMessagesContract } from './evmMessages.ts'
import { evmSessionContract } from './evmSession.ts'
import { evmStorageContract } from './evmStorage.ts'

const nothing = (): void => {}
const listener: TraceEvents & { readonly needs: TraceNeeds } = {
  needs: { frames: true, logs: true, accounts: true, steps: { ops: 'all', stackWords: 16, memory: false, returnData: false } },
  ...{ onEnter: nothing, onLeave: nothing, onStep: nothing, onLog: nothing, onAccount: nothing, onNativeAccess: nothing },
}

/** The traced build with a tracer that receives every event. Messages must have the same results. */
function createHeard(): Evm {
  const evm = createTracedWasmEvm()
  return { open: (view, block, rules) => evm.open(view, block, rules, listener) }
}

for (const { name, create } of [...interpreters, { name: 'wasm, traced', create: createHeard }]) {
  evmMessagesContract(name, create())
  evmStorageContract(name, create())
  evmSessionContract(name, create)
}
