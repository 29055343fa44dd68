import type { Evm } from './ports.ts'
import { createInstance, type EvmInstance, residentBytes } from './wasm/instance.ts'
import { WasmSession } from './wasm/session.ts'

export type WasmEvmOptions = {
  /** soft bound of the code that an instance keeps ready to run, in bytes */
  readonly codeBytes?: number
}

const defaultCodeBytes = 8 * 2 ** 20
const maxIdle = 2
const maxIdleBytes = 64 * 2 ** 20

/**
 * The interpreter that runs: WebAssembly, words as four limbs in linear memory, rules from Paris to Osaka. A session has an instance of its own
 * while it is open: dispose of it, or the next one makes another. The module is compiled at first use.
 */
export function createWasmEvm({ codeBytes = defaultCodeBytes }: WasmEvmOptions = {}): Evm {
  const idle: EvmInstance[] = []
  const giveBack = (instance: EvmInstance): void => {
    if (!instance.isBroken && idle.length < maxIdle && residentBytes(instance) <= maxIdleBytes) idle.push(instance)
  }
  return {
    open(view, block, rules): WasmSession {
      return new WasmSession(idle.pop() ?? createInstance(codeBytes, 'plain'), view, block, rules, giveBack)
    },
  }
}
