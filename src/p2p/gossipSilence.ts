import type { Clock } from '#lib/clock'
import { p2pFault } from './faults.ts'
import { type MessageOutcome, messageOutcomes } from './net/peerEvents.ts'

/** Time without a block from connected peers after which gossip counts as silent. */
const silentMs = 60_000

/** Watches whether connected peers send valid blocks. */
export class GossipSilence {
  readonly #clock: Clock
  readonly #startMs: number
  #lastBlockMs: number | undefined
  #peers = 0
  /** outcomes of messages since the last accepted block */
  readonly #outcomes = new Map<MessageOutcome, number>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startMs = clock.elapsedMs()
  }

  /** Milliseconds since the last block; undefined: none yet. */
  get sinceBlockMs(): number | undefined {
    return this.#lastBlockMs === undefined ? undefined : this.#clock.elapsedMs() - this.#lastBlockMs
  }

  accepted(): void {
    this.#lastBlockMs = this.#clock.elapsedMs()
    this.#outcomes.clear()
  }

  /** Takes the number of connected peers, and the outcomes of messages since the report before. */
  report(peers: number, messages: Readonly<Partial<Record<MessageOutcome, number>>>): void {
    this.#peers = peers
    for (const outcome of messageOutcomes) {
      const count = messages[outcome] ?? 0
      if (count > 0) this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + count)
    }
  }

  /** Returns the text for the operator; undefined: gossip is not silent, or no peer is connected. */
  problem(): string | undefined {
    const sinceMs = this.#clock.elapsedMs() - (this.#lastBlockMs ?? this.#startMs)
    if (this.#peers === 0 || sinceMs < silentMs) return undefined
    const [rejected = ''] = [...this.#outcomes].filter(([outcome]) => outcome !== 'accepted').sort(([, a], [, b]) => b - a)[0] ?? []
    return p2pFault('P2P_SILENT', { peers: this.#peers, forSec: Math.round(sinceMs / 1_000), rejected }).message
  }
}
