import type { EvmRules } from '#chainspec/evmRules'
import { nativeNameAt } from '#nativeContracts/addresses'
import type { BlockEnv, Evm, EvmSession, StateView } from './ports.ts'
import { precompileAt } from './precompiles/precompileAt.ts'
import type { TraceEvents, TraceNeeds } from './traceEvents.ts'
import { compileBuild, createInstance, type EvmBuild, type EvmInstance, residentBytes } from './wasm/instance.ts'
import { endOf, logsFrom } from './wasm/outcome.ts'
import { type SessionContext, WasmSession } from './wasm/session.ts'
import { TraceHost } from './wasm/traceHost.ts'

export type WasmEvmOptions = {
  /** Soft bound in bytes of the prepared code that an instance keeps. */
  readonly codeBytes?: number
}

const defaultCodeBytes = 8 * 2 ** 20
/** Instances that a thread keeps of each build. */
export const maxIdle = 2
/** An instance with more resident memory is dropped after its session. */
export const maxIdleBytes = 64 * 2 ** 20

/** Creates a pool of idle instances, because creating one takes milliseconds. */
function createPool(build: EvmBuild, { codeBytes = defaultCodeBytes }: WasmEvmOptions): (view: StateView) => SessionContext {
  const idle: EvmInstance[] = []
  const giveBack = (instance: EvmInstance): void => {
    if (!instance.isBroken && idle.length < maxIdle && residentBytes(instance) <= maxIdleBytes) idle.push(instance)
  }
  /** Takes an idle instance, preferably one with data of the same view. */
  const take = (view: StateView): EvmInstance | undefined => {
    const at = idle.findIndex(({ last }) => last?.view.deref() === view)
    return at < 0 ? idle.pop() : idle.splice(at, 1)[0]
  }
  return (view) => ({ instance: take(view) ?? createInstance(codeBytes, build), giveBack })
}

/**
 * Creates the interpreter: WebAssembly, words as four limbs in linear memory, rules from Paris to Osaka. An open session owns an instance;
 * dispose of the session, or the next one creates another instance. The module is compiled here, once per thread.
 */
export function createWasmEvm(options: WasmEvmOptions = {}): Evm {
  compileBuild('plain')
  const place = createPool('plain', options)
  return { open: (view, block, rules, interruptCheck): WasmSession => new WasmSession(place(view), view, block, rules, interruptCheck) }
}

/** Like `Evm`, with a listener to every message of a session. */
export interface TracedEvm {
  open(view: StateView, block: BlockEnv, rules: EvmRules, listener: TraceEvents & { readonly needs: TraceNeeds }): EvmSession
}

/** Creates the traced build of the interpreter, which reports each step and frame and is slower. It is compiled at its first session. */
export function createTracedWasmEvm(options: WasmEvmOptions = {}): TracedEvm {
  const place = createPool('traced', options)
  return {
    open(view, block, rules, listener): WasmSession {
      const watch: SessionContext['watch'] = (world) =>
        new TraceHost(
          {
            memory: world.instance.memory,
            isPrecompile: (address) => precompileAt(rules, address) !== undefined,
            nativeName: (address) => rules.nativeContracts && nativeNameAt(rules.nativeContracts.fork, address),
            endOf,
            logsFrom: (from) => logsFrom(world, from),
          },
          listener,
        )
      return new WasmSession({ ...place(view), watch }, view, block, rules)
    },
  }
}
