import { extname } from 'node:path'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { RestartedThread } from '#lib/peers/restartedThread'
import type { Address } from '#types/ids'
import type { DenyKind } from '#types/peer'
import { p2pFault } from '../faults.ts'
import type { OfMainThread, OfP2pThread, P2pListening, P2pSettings } from './protocol.ts'

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./threadEntry${extname(import.meta.url)}`, import.meta.url)

export type P2pThreadDeps = { readonly clock: Clock; readonly log: Log; readonly here: OfMainThread }

type Thread = RestartedThread<OfP2pThread, OfMainThread, P2pSettings, P2pListening>

/** The consensus network in a thread of its own. A thread that ends is started again; its end never ends the node. */
export class P2pThread implements AsyncDisposable {
  readonly #thread: Thread

  private constructor(thread: Thread) {
    this.#thread = thread
  }

  /** @throws Fault P2P_PORT, P2P_PEER (fatal) when the network cannot be joined at the start */
  static async start(deps: P2pThreadDeps, settings: P2pSettings): Promise<P2pThread> {
    const stopped = (reason: string, cause?: unknown): Error => p2pFault('P2P_STOPPED', { reason }, cause)
    return new P2pThread(await RestartedThread.start({ ...deps, entry, name: 'basalt p2p', stopped }, settings))
  }

  /** Returns where the thread listens; undefined: it has ended and is started again. */
  get listening(): P2pListening | undefined {
    return this.#thread.ready
  }

  /** Returns why the thread has ended; undefined: it runs. */
  get failure(): Error | undefined {
    return this.#thread.failure
  }

  /** Calls the thread. The promise rejects with P2P_STOPPED (retry) while there is none. */
  readonly ask: Thread['ask'] = (name, ...args) => this.#thread.ask(name, ...args)

  /** Sets the unsafe block signer, now and for a thread that is started again. */
  setSigner(signer: Address): void {
    this.#thread.settings = { ...this.#thread.settings, signer }
    this.#thread.tell('setSigner', signer)
  }

  /** Denies a peer, an address or a subnet, or ends it, now and for a thread that is started again. */
  async deny(kind: DenyKind, what: string, isDenied: boolean): Promise<void> {
    const entries = await this.ask('deny', kind, what, isDenied)
    const { settings } = this.#thread
    this.#thread.settings = { ...settings, denied: { ...settings.denied, [kind]: entries } }
  }

  blame(number: number): void {
    this.#thread.tell('blame', number)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]()
  }
}
