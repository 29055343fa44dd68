import type { EvmRules } from '#chainspec/evmRules'
import type { BoundedCache } from '#lib/caches'
import type { CacheFacts } from '#lib/lru'
import { nativeNameAt } from '#nativeContracts/addresses'
import type { BlockEnv, Evm, EvmSession, StateView } from './ports.ts'
import { precompileAt } from './precompiles/precompileAt.ts'
import type { TraceEvents, TraceNeeds } from './traceEvents.ts'
import {
  compileBuild,
  createInstance,
  type EvmBuild,
  type EvmInstance,
  residentBytes,
  takeCodeReads,
  translatedBytes,
} from './wasm/instance.ts'
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

/** Instances of one build without a session, because creating one takes milliseconds. Their translated code is a cache of its thread. */
class InstancePool implements BoundedCache {
  readonly #build: EvmBuild
  readonly #codeBytes: number
  readonly #idle: EvmInstance[] = []
  #hits = 0
  #misses = 0

  constructor(build: EvmBuild, { codeBytes = defaultCodeBytes }: WasmEvmOptions) {
    this.#build = build
    this.#codeBytes = codeBytes
  }

  place(view: StateView): SessionContext {
    return {
      instance: this.#take(view) ?? createInstance(this.#codeBytes, this.#build),
      giveBack: (instance): void => this.#giveBack(instance),
    }
  }

  /** Returns the facts of the idle instances, and the reads of all sessions that have ended. */
  facts(): CacheFacts {
    return {
      sizeBytes: this.#idle.reduce((sum, instance) => sum + translatedBytes(instance), 0),
      maxBytes: this.#codeBytes * Math.max(1, this.#idle.length),
      hits: this.#hits,
      misses: this.#misses,
    }
  }

  /** Takes an idle instance, preferably one with data of the same view. */
  #take(view: StateView): EvmInstance | undefined {
    const at = this.#idle.findIndex(({ last }) => last?.view.deref() === view)
    return at < 0 ? this.#idle.pop() : this.#idle.splice(at, 1)[0]
  }

  #giveBack(instance: EvmInstance): void {
    if (instance.isBroken) return
    const { hits, misses } = takeCodeReads(instance)
    this.#hits += hits
    this.#misses += misses
    if (this.#idle.length < maxIdle && residentBytes(instance) <= maxIdleBytes) this.#idle.push(instance)
  }
}

/**
 * Creates the interpreter: WebAssembly, words as four limbs in linear memory, rules from Paris to Osaka. An open session owns an instance;
 * dispose of the session, or the next one creates another instance. The module is compiled here, once per thread.
 */
export function createWasmEvm(options: WasmEvmOptions = {}): Evm & BoundedCache {
  compileBuild('plain')
  const pool = new InstancePool('plain', options)
  return {
    open: (view, block, rules, interruptCheck): WasmSession => new WasmSession(pool.place(view), view, block, rules, interruptCheck),
    facts: () => pool.facts(),
  }
}

/** Like `Evm`, with a listener to every message of a session. */
export interface TracedEvm {
  open(view: StateView, block: BlockEnv, rules: EvmRules, listener: TraceEvents & { readonly needs: TraceNeeds }): EvmSession
}

/** Creates the traced build of the interpreter, which reports each step and frame and is slower. It is compiled at its first session. */
export function createTracedWasmEvm(options: WasmEvmOptions = {}): TracedEvm & BoundedCache {
  const pool = new InstancePool('traced', options)
  return {
    facts: () => pool.facts(),
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
      return new WasmSession({ ...pool.place(view), watch }, view, block, rules)
    },
  }
}
