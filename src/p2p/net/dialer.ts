import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import type { PeerAddress } from './peerAddress.ts'

export type DialerDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly isConnected: (peerId: string) => boolean
  readonly isDenied: (peerId: string) => boolean
  /** number of open connections */
  readonly connections: () => number
  readonly dial: (peer: PeerAddress, signal: AbortSignal) => Promise<void>
  /** peers to dial when there is room, best first */
  readonly candidates: () => readonly PeerAddress[]
}

export type DialerOptions = { readonly kept: readonly PeerAddress[]; readonly maxPeers: number; readonly ownId: string }

const roundMs = 2_000
const dialMs = 30_000
const maxParallel = 8
/** Waits after failures: doubled from the first to the last. */
const [firstWaitMs, lastWaitMs] = [2_000, 300_000]
/** A peer that is to be kept is tried again at least this often, and a dial of it ends soon: after a partition one that hangs would delay the next. */
const [keptWaitMs, keptDialMs] = [5_000, 5_000]
const maxRemembered = 4_096

type Failures = { readonly count: number; readonly againMs: number }

/** Keeps connections to static and trusted peers, and dials found peers while there is room. */
export class Dialer {
  readonly #deps: DialerDeps
  readonly #options: DialerOptions
  readonly #failures = new Map<string, Failures>()
  readonly #dialing = new Set<string>()
  readonly #stop = new AbortController()
  #failedDials = 0

  constructor(deps: DialerDeps, options: DialerOptions) {
    this.#deps = deps
    this.#options = options
  }

  get failedDials(): number {
    return this.#failedDials
  }

  /** Runs until stopped. */
  async run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      this.#round()
      await this.#deps.clock.delay(roundMs, signal).catch(() => {})
    }
  }

  stop(): void {
    this.#stop.abort(new Error('the node stops'))
  }

  #round(): void {
    const { kept, maxPeers } = this.#options
    for (const peer of kept) this.#try(peer, keptWaitMs, keptDialMs)
    let room = maxPeers - this.#deps.connections() - this.#dialing.size
    if (room <= 0) return
    for (const peer of this.#deps.candidates()) {
      if (room <= 0) return
      if (this.#try(peer, lastWaitMs, dialMs)) room--
    }
  }

  #try(peer: PeerAddress, maxWaitMs: number, timeoutMs: number): boolean {
    const { clock, isConnected, isDenied } = this.#deps
    const { peerId } = peer
    if (peerId === this.#options.ownId || this.#dialing.has(peerId) || this.#dialing.size >= maxParallel) return false
    if (isConnected(peerId) || isDenied(peerId) || (this.#failures.get(peerId)?.againMs ?? 0) > clock.elapsedMs()) return false
    this.#dialing.add(peerId)
    void this.#dial(peer, maxWaitMs, timeoutMs)
    return true
  }

  async #dial(peer: PeerAddress, maxWaitMs: number, timeoutMs: number): Promise<void> {
    const { clock, log, dial } = this.#deps
    const { peerId, address } = peer
    try {
      await dial(peer, AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeoutMs)]))
      this.#failures.delete(peerId)
    } catch (error) {
      this.#failedDials++
      const count = (this.#failures.get(peerId)?.count ?? 0) + 1
      const waitMs = Math.min(maxWaitMs, lastWaitMs, firstWaitMs * 2 ** Math.min(count, 10))
      const first = this.#failures.keys().next().value
      if (this.#failures.size >= maxRemembered && first !== undefined) this.#failures.delete(first)
      this.#failures.set(peerId, { count, againMs: clock.elapsedMs() + waitMs })
      if (!this.#stop.signal.aborted)
        log.debug('peer not reached', { peer: address.toString(), failures: count, reason: errorMessage(error) })
    } finally {
      this.#dialing.delete(peerId)
    }
  }
}
