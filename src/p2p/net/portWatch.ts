import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { type ClosedPort, closedPorts, closedPortTexts, type PortFacts } from './closedPorts.ts'

export type PortWatchDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly port: number
  readonly isPublic: boolean
  readonly facts: () => Pick<PortFacts, 'searches' | 'hasAnswer' | 'failedDials'>
}

const againMs = 3_600_000

/** Logs the ports that are probably closed, each once an hour. */
export class PortWatch {
  readonly #deps: PortWatchDeps
  readonly #startMs: number
  readonly #loggedMs = new Map<ClosedPort, number>()
  readonly #seen = { inbound: false, outbound: false, answer: false }

  constructor(deps: PortWatchDeps) {
    this.#deps = deps
    this.#startMs = deps.clock.elapsedMs()
  }

  connected(direction: 'inbound' | 'outbound'): void {
    this.#seen[direction] = true
  }

  check(): void {
    const { clock, log, port, isPublic, facts } = this.#deps
    const { searches, hasAnswer, failedDials } = facts()
    this.#seen.answer ||= hasAnswer
    const { inbound: hasInbound, outbound: hasOutbound, answer } = this.#seen
    const nowMs = clock.elapsedMs()
    const sinceStartMs = nowMs - this.#startMs
    for (const kind of closedPorts({ sinceStartMs, isPublic, searches, hasAnswer: answer, hasInbound, hasOutbound, failedDials })) {
      if (nowMs - (this.#loggedMs.get(kind) ?? Number.NEGATIVE_INFINITY) < againMs) continue
      this.#loggedMs.set(kind, nowMs)
      log.warn(closedPortTexts[kind], { port })
    }
  }
}
