import { decodeProtocolVersion, decodeSchedule, type PublishedSchedule, scheduleCalls } from '#chainspec/publishedSchedule'
import type { L1Block } from '#derive/ports'
import type { Clock } from '#lib/clock'
import type { Endpoint } from '#lib/endpoint'
import type { Log } from '#lib/log'
import type { Address } from '#types/ids'
import type { Rpc } from './rpc.ts'

export type ProtocolVersionsWatchDeps = {
  /** JSON-RPC client with a limit of `maxScheduleBytes` */
  readonly rpc: Rpc
  readonly endpoints: readonly Endpoint[]
  readonly clock: Clock
  readonly log: Log
}

export type ProtocolVersionsWatchOptions = {
  readonly contract: Address
  /** called with each schedule that differs from the one before */
  readonly onPublished: (schedule: PublishedSchedule) => void
}

/** Limit of a response: the hex of 256 forks and their two ABI words takes 16.5 KB. */
export const maxScheduleBytes = 32_768
const everyMs = 3_600_000
/** Interval after a round in which no endpoint returned a schedule. */
const againMs = 300_000
/** Delay after a log of the contract. A catch-up reads many blocks with logs, which one round serves. */
const afterLogMs = 10_000

/** Watch of the ProtocolVersions contract. Disposing ends it. */
export interface ProtocolVersionsWatch extends Disposable {
  /** Resolves after the first round of requests, whatever its result. */
  readonly first: Promise<void>
  /** Notes an L1 block that derivation has read. */
  onBlock(block: L1Block): void
}

/**
 * Requests the fork schedule of the ProtocolVersions contract from every endpoint at the start, once an hour, and soon after derivation has read a log
 * of the contract. The responses are not proven. A schedule counts when more than half of the endpoints with a schedule return it; otherwise the
 * last one stays. An endpoint without a schedule (unreachable, malformed, a contract that reverts or is empty) is not counted, and is logged at debug level.
 * @see Base's "Dynamic upgrades"
 */
export function watchProtocolVersions(deps: ProtocolVersionsWatchDeps, options: ProtocolVersionsWatchOptions): ProtocolVersionsWatch {
  const { rpc, endpoints, clock, log } = deps
  const { contract, onPublished } = options
  const stop = new AbortController()
  let last: string | undefined
  let timer: Disposable | undefined
  let dueMs = 0
  let isRunning = false
  let hasNewLog = false

  const call = async (endpoint: Endpoint, data: string): Promise<unknown> => {
    const [result] = await rpc.call(endpoint, [{ method: 'eth_call', params: [{ to: contract, data }, 'latest'] }], stop.signal)
    return result
  }

  async function minimumOf(endpoint: Endpoint): Promise<Pick<PublishedSchedule, 'minimum'>> {
    const minimum = decodeProtocolVersion(await call(endpoint, scheduleCalls.minimumProtocolVersion))
    return minimum ? { minimum } : {}
  }

  /** Returns the schedule of one endpoint; undefined: it has none. */
  async function read(endpoint: Endpoint): Promise<PublishedSchedule | undefined> {
    try {
      const times = decodeSchedule(await call(endpoint, scheduleCalls.getSchedule))
      if (times === undefined) log.debug('fork schedule of L1 endpoint not understood', { endpoint: endpoint.name })
      return times?.length ? { times, ...(await minimumOf(endpoint)) } : undefined
    } catch (error) {
      if (!stop.signal.aborted) log.debug('fork schedule of L1 endpoint not available', { endpoint: endpoint.name, error })
      return undefined
    }
  }

  /** @returns whether the endpoints agree on a schedule */
  async function readAll(): Promise<boolean> {
    const found = (await Promise.all(endpoints.map(read))).filter((schedule) => schedule !== undefined)
    if (stop.signal.aborted || found.length === 0) return false
    const texts = found.map((schedule) => JSON.stringify(schedule))
    const at = texts.findIndex((text) => 2 * texts.filter((other) => other === text).length > texts.length)
    const [text, schedule] = [texts[at], found[at]]
    if (schedule === undefined) {
      log.warn('L1 endpoints return different fork schedules, the last known one stays', { endpoints: found.length })
      return false
    }
    if (text !== last) onPublished(schedule)
    last = text
    return true
  }

  function plan(ms: number): void {
    timer?.[Symbol.dispose]()
    dueMs = clock.elapsedMs() + ms
    timer = clock.after(ms, () => void round())
  }

  async function round(): Promise<void> {
    isRunning = true
    hasNewLog = false
    const agree = await readAll()
    isRunning = false
    if (!stop.signal.aborted) plan(hasNewLog ? afterLogMs : agree ? everyMs : againMs)
  }

  return {
    first: round(),
    onBlock({ receipts }): void {
      if (stop.signal.aborted || !receipts.some(({ logs }) => logs.some(({ address }) => address === contract))) return
      hasNewLog = true
      if (!isRunning && dueMs - clock.elapsedMs() > afterLogMs) plan(afterLogMs)
    },
    [Symbol.dispose](): void {
      stop.abort()
      timer?.[Symbol.dispose]()
    },
  }
}
